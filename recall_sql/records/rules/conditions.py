"""The conditions of a question: values of the user's own records that it names, names that none of them has, numbers.

A name that no record holds is a condition all the same: "how much did I pay Zoe" is 0, not the total.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from recall_sql.models.rules import quantities
from recall_sql.records.rules import fill, phrases, spans, texts, times
from recall_sql.records.rules import patterns as re
from recall_sql.records.rules.words import fold, lexicon, stem, stem_list, stems, stopwords
from recall_sql.records.schemas import RecordField, Schema

Found = tuple[str, str, Any]  # field, op, value

_COMPARED = re.compile(
    r"(?i)\b(?P<word>over|above|more\s+than|greater\s+than|bigger\s+than|larger\s+than|longer\s+than|higher\s+than|exceed(?:s|ed|ing)?|at\s+least|no\s+less\s+than|minimum\s+of|under|below|less\s+than|fewer\s+than|lower\s+than|shorter\s+than|cheaper\s+than|at\s+most|no\s+more\s+than|up\s+to|exactly|equal\s+to)\s*$"
)
_SIGNS = {
    "at least": ">=",
    "no less than": ">=",
    "minimum of": ">=",
    "at most": "<=",
    "no more than": "<=",
    "up to": "<=",
    "exactly": "=",
    "equal to": "=",
}
_LESS = ("under", "below", "less than", "fewer than", "lower than", "shorter than", "cheaper than")
_OR_MORE = re.compile(
    r"(?i)^\s*(?:\p{L}+\s+)?(?:or\s+(?P<more>more|higher|above|longer|better)|or\s+(?P<less>less|lower|fewer|below)|and\s+(?P<up>up|above))\b"
)
_ASKING = stem_list("asking")


def read(
    text: str,
    schema: Schema,
    found: spans.Spans,
    values: Mapping[str, Sequence[str]],
    period: times.When | None,
    skip: set[str],
) -> list[Found]:
    """(field, op, value) of every condition."""
    conditions, used = _numbers(text, schema, found), set[str]()
    plain = _without_period(text, period)
    conditions += _choices(plain, schema, skip, used)
    conditions += _known_values(plain, schema, values, skip, used)
    conditions += _unknown_names(plain, schema, found, skip, used, {field for field, _, _ in conditions})
    return conditions


def count(word: str) -> int | None:
    """A number in digits or words."""
    return quantities.number(word)


def says(said: tuple[str, ...], value: str) -> bool:
    """Whether a text holds a value, word for word up to endings."""
    wanted = stems(value)
    if (
        not wanted
        or set(wanted) <= stopwords()
        or (len(wanted) == 1 and (wanted[0] in _ASKING or wanted[0][0].isdigit()))
    ):
        return False
    return any(said[i : i + len(wanted)] == wanted for i in range(len(said) - len(wanted) + 1))


def _without_period(text: str, period: times.When | None) -> str:
    return text if period is None else text[: period.span[0]] + " , " + text[period.span[1] :]


# --- numbers ----------------------------------------------------------------------------------------------------------


def _numbers(text: str, schema: Schema, found: spans.Spans) -> list[Found]:
    numeric = [spec for spec in schema.fields if spec.is_number]
    conditions: list[Found] = []
    for measure in found.measures:
        before = _COMPARED.search(text[: measure.span[0]])
        after = _OR_MORE.match(text[measure.span[1] :])
        if before is None and after is None:
            if measure.dimension in ("rating",) or measure.dimension == "money":
                before = re.search(r"(?i)(?P<word>\b(?:of|rated|with|for))\s*$", text[: measure.span[0]])
            if before is None:
                continue
        best = max(numeric, key=lambda spec: fill.fits(spec, measure, text, numeric), default=None)
        if best is None or fill.fits(best, measure, text, numeric) < 0.5:
            continue
        value = fill.convert(best, measure)
        if value is not None:
            plain = float(value) if isinstance(value, Decimal) else value
            conditions.append((best.name, _sign(before, after), int(plain) if plain == int(plain) else plain))
    return conditions


def _sign(before: re.Match[str] | None, after: re.Match[str] | None) -> str:
    if after is not None:
        return "<=" if after["less"] else ">="
    word = re.sub(r"\s+", " ", before["word"].lower()) if before else ""
    if word in ("of", "rated", "with", "for"):
        return "="
    return _SIGNS.get(word, "<" if word in _LESS else ">")


# --- texts ------------------------------------------------------------------------------------------------------------


def _choices(text: str, schema: Schema, skip: set[str], used: set[str]) -> list[Found]:
    conditions: list[Found] = []
    said = stems(text)
    for spec in schema.fields:
        if spec.name in skip:
            continue
        if spec.kind == "enum":
            named = [choice for choice in spec.choices if fill.says(said, choice)]
            if len(named) == 1 and not set(stems(named[0])) <= set(stems(schema.name)):
                conditions.append((spec.name, "is", named[0]))
                used.update(stems(named[0]))
        elif spec.kind == "boolean":
            filled = fill.Filled()
            fill.fill_flags(Schema(schema.name, schema.description, (spec,)), text, filled)
            conditions += [(spec.name, "is", value) for value in filled.data.values()]
            used.update(stems(spec.name) if filled.data else ())
    return conditions


def _known_values(
    text: str, schema: Schema, values: Mapping[str, Sequence[str]], skip: set[str], used: set[str]
) -> list[Found]:
    """Values that the user's records hold and the question names; the longest first, one for each field."""
    said = stems(text)
    own = set(stems(schema.name))
    named = [
        (len(stems(value)), spec, value)
        for spec in schema.fields
        if spec.kind == "text" and spec.name not in skip
        for value in values.get(spec.name, ())
        if says(said, value) and not set(stems(value)) <= own
    ]
    named += _partly(text, schema, values, skip, own) if not named else []
    conditions: list[Found] = []
    taken: set[str] = set()
    for _, spec, value in sorted(named, key=lambda one: -one[0]):
        words = set(stems(value))
        if spec.name in taken or words & used:
            continue
        taken.add(spec.name)
        used.update(words)
        alike = [other for other in values.get(spec.name, ()) if stems(other) == stems(value)]
        several = len({fold(other) for other in alike}) > 1 or any(
            words < set(stems(other)) for other in values.get(spec.name, ())
        )
        conditions.append((spec.name, "has" if several else "same", value))
    return conditions


def _partly(
    text: str, schema: Schema, values: Mapping[str, Sequence[str]], skip: set[str], own: set[str]
) -> list[tuple[int, RecordField, str]]:
    """Words of the question that are part of a longer value: "MMA" of "MMA session"."""
    said = [word for word in re.findall(r"[\p{L}\p{M}'-]{3,}", text) if stem(word) not in _ASKING | stopwords() | own]
    found = []
    for spec in schema.fields:
        if spec.kind != "text" or spec.name in skip:
            continue
        for word in said:
            if any(stem(word) in stems(value) for value in values.get(spec.name, ())) and not set(stems(word)) <= set(
                stems(spec.name)
            ):
                found.append((1, spec, word))
    return found


def _unknown_names(
    text: str, schema: Schema, found: spans.Spans, skip: set[str], used: set[str], decided: set[str]
) -> list[Found]:
    """Phrases that stand where a field's value stands, though no record has them."""
    plain = re.sub(
        r"(?i)^\W*(?:how\s+(?:much|many|far|long|often)|what|which|who|when|where|show|list|give|tell)\b\s*(?:me\s+)?",
        "",
        text,
    ).rstrip("?!. ")
    plain = re.sub(r"(?i)\b(?:did|do|have|has|had|does|was|were)\s+(?:i|we|my)\b\s*(?:ever\s+)?", "I ", plain)
    sentence = phrases.read(plain, spans.find(plain, _ANY_MOMENT))
    free = [spec for spec in schema.fields if spec.kind == "text" and spec.name not in skip | decided]
    conditions: list[Found] = []
    for chunk in sentence.chunks:
        said = set(stems(chunk.text))
        words = said - stopwords() - _ASKING - set(stems(schema.name))
        if not words or said & used or _names_field(chunk, schema):
            continue
        if not chunk.proper and (chunk.role in ("object", "loose", "subject") or words <= _own_words(schema)):
            continue
        scored = [
            (texts.score(spec, chunk, sentence, free), spec)
            for spec in free
            if spec.name not in {c[0] for c in conditions}
        ]
        best = max(scored, key=lambda one: one[0], default=None)
        if best is not None and best[0] >= 1.5:
            value = (
                " ".join(w for w in chunk.text.split() if stem(w) not in _ASKING) if not chunk.proper else chunk.text
            )
            conditions.append((best[1].name, "has" if not chunk.proper else "same", value))
    return conditions


def _names_field(chunk: phrases.Chunk, schema: Schema) -> bool:
    said = set(stems(chunk.text))
    return any(said <= set(stems(spec.name)) | {"of", "my"} for spec in schema.fields) or all(
        word in fill.unit_table() or fold(word) in ("day", "week", "month", "year", "quarter")
        for word in map(fold, chunk.text.split())
    )


def _own_words(schema: Schema) -> set[str]:
    verbs = {stem(word) for word in lexicon()["activities"]}
    return set(stems(schema.name)) | verbs


_ANY_MOMENT = datetime(2000, 1, 1)  # only where the times stand matters
