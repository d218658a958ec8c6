"""Which part of a message fills which field: every pair gets a score, and the best pairs win.

Numbers go by dimension and unit, dates by kind, choices by their words, texts by where they stand in the sentence and
by what the field's name and description say about it. What is unclear stays empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, time
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from recall_sql.records.rules import patterns as re
from recall_sql.records.rules import texts
from recall_sql.records.rules.phrases import Sentence
from recall_sql.records.rules.spans import Measure, Spans, unit_table
from recall_sql.records.rules.words import fold, lexicon, stem, stem_list, stems
from recall_sql.records.schemas import RecordField, Schema

COUNTS = re.compile(
    r"(?i)\b(?:quantity|qty|count|counts?|units?|number\s+of|how\s+many|amount\s+of|pieces|items|stock|times|total\s+number|servings|glasses|cups|bottles|pills|tablets)\b"
)
_RATING = re.compile(
    r"(?i)\b(?:rating|stars?|score|severity|intensity|pain|level|rate|grade|mood|scale|difficulty|effort|out\s+of|1\s*(?:-|to|–)\s*(?:5|10))\b"
)
_EACH = re.compile(r"(?i)^\s*(?:each|apiece|per\s|a\s+(?:piece|unit|bottle|box|pack)|/\s*(?:unit|piece))")
_UNIT_PRICE = re.compile(r"(?i)\b(?:unit|each|per|price)\b")


@dataclass
class Filled:
    """The fields a message fills. twice: a field that two parts of the message claim equally."""

    data: dict[str, Any] = field(default_factory=dict)
    twice: str = ""
    score: float = 0.0
    used: list[tuple[int, int]] = field(default_factory=list)


def fill(schema: Schema, text: str, spans: Spans, sentence: Sentence, now: datetime) -> Filled:
    """The values of `schema` that `text` names, in Python types."""
    filled = Filled()
    fill_choices(schema, text, filled)
    fill_dates(schema, text, spans, now, filled)
    fill_numbers(schema, text, spans, filled)
    texts.fill(schema, text, spans, sentence, filled.data, filled.used)
    fill_flags(schema, text, filled)
    return filled


# --- choices and flags ------------------------------------------------------------------------------------------------


def fill_choices(schema: Schema, text: str, filled: Filled) -> None:
    said = stems(text)
    for spec in schema.fields:
        inner = spec.item if spec.kind == "list" and spec.item else spec
        if inner.kind != "enum":
            continue
        found = [choice for choice in inner.choices if says(said, choice)]
        longest = [choice for choice in found if not any(choice != other and _within(choice, other) for other in found)]
        if spec.kind == "list" and longest:
            filled.data[spec.name] = longest
        elif len(longest) == 1:
            filled.data[spec.name] = longest[0]
            filled.score += 1


def says(said: tuple[str, ...], choice: str) -> bool:
    wanted = stems(choice)
    if not wanted:
        return False
    activity = {stem(word) for word in lexicon()["activities"].get(wanted[0], "").split()}
    spans = any(said[i : i + len(wanted)] == wanted for i in range(len(said)))
    canonical = len(wanted) == 1 and any(
        stem(name) == wanted[0] and verb in said for verb, name in lexicon()["activities"].items()
    )
    return spans or canonical or bool(activity & set(said))


def _within(choice: str, other: str) -> bool:
    return set(stems(choice)) < set(stems(other))


def fill_flags(schema: Schema, text: str, filled: Filled) -> None:
    """A yes-or-no field is true where its name is said, false where it is said with a no before it."""
    for spec in schema.fields:
        if spec.kind != "boolean":
            continue
        name = [re.escape(word) for word in spec.name.lower().split("_") if word not in ("is", "was", "has", "had")]
        m = re.search(
            r"(?i)\b(?P<no>(?:not|no|never|without|wasn't|isn't|didn't|non-?|un)\s*(?:an?\s+|been\s+)?)?"
            + "[ _-]".join(name),
            text,
        )
        if m:
            filled.data[spec.name] = not m["no"]


# --- dates ------------------------------------------------------------------------------------------------------------


def fill_dates(schema: Schema, text: str, spans: Spans, now: datetime, filled: Filled) -> None:
    wanted = [spec for spec in schema.fields if spec.kind in ("date", "timestamp", "time")]
    whens = list(spans.whens)
    for spec in wanted:
        if spec.kind == "time":
            if spans.clock:
                filled.data[spec.name] = spans.clock[0]
                filled.used.append(spans.clock[1])
            continue
        if not whens:
            if spec.kind == "timestamp" and spans.clock and len(wanted) == 1:
                filled.data[spec.name] = datetime.combine(now.date(), time_of(spans), now.tzinfo)
            continue
        when = _best_when(spec, text, whens, len([s for s in wanted if s.kind != "time"]))
        if when is None:
            continue
        whens.remove(when)
        filled.used.append(when.span)
        moment = datetime.combine(when.day, time_of(spans), now.tzinfo)
        filled.data[spec.name] = when.day if spec.kind == "date" else moment
        filled.score += 0.5


def time_of(spans: Spans) -> time:
    return spans.clock[0] if spans.clock and isinstance(spans.clock[0], time) else time(0)


_BEGINS = re.compile(r"(?i)\b(?:start|begin|from|departure|check_?in|since|opened)\w*")
_FINISHES = re.compile(r"(?i)\b(?:end|until|due|deadline|expir\w*|return|check_?out|finish\w*|through|best_before)\w*")


def _best_when(spec: RecordField, text: str, whens: list[Any], fields: int) -> Any:
    """The time expression for a date field: with several fields, the words before it decide."""
    if fields == 1:
        return whens[0]
    name = spec.name.replace("_", " ")
    for when in whens:
        before = text[max(0, when.span[0] - 12) : when.span[0]] + text[when.span[0] : when.span[0] + 6]
        ends = re.search(r"(?i)\b(?:to|until|till|by|due|through|expir\w+|before)\b", before)
        if _FINISHES.search(name):
            if ends:
                return when
        elif not ends:
            return when
    return None


# --- numbers ----------------------------------------------------------------------------------------------------------


def fill_numbers(schema: Schema, text: str, spans: Spans, filled: Filled) -> None:
    wanted = [spec for spec in schema.fields if spec.is_number and spec.name not in filled.data]
    pairs = [
        (fits(spec, measure, text, wanted) + (0.1 if spec.required else 0), -measure.span[0], spec, measure)
        for spec in wanted
        for measure in spans.measures
    ]
    taken: set[tuple[int, int]] = set()
    for score, _, spec, measure in sorted(pairs, key=lambda pair: (-pair[0], -pair[1])):
        if score < 1 or spec.name in filled.data or measure.span in taken:
            continue
        value = convert(spec, measure)
        if value is None:
            continue
        rivals = [m for s, _, f, m in pairs if f is spec and m is not measure and s >= score and m.span not in taken]
        if any(_is_rival(measure, rival, text) for rival in rivals):
            filled.twice = spec.name
        filled.data[spec.name] = value
        filled.score += score / 3
        filled.used.append(measure.span)
        taken.add(measure.span)


def _is_rival(measure: Measure, rival: Measure, text: str) -> bool:
    """Whether another number claims the same field as a record of its own."""
    if rival.dimension != measure.dimension and "bare" not in (rival.dimension, measure.dimension):
        return False
    between = (
        text[measure.span[1] : rival.span[0]]
        if measure.span[0] < rival.span[0]
        else text[rival.span[1] : measure.span[0]]
    )
    return bool(re.search(r"(?i)(?:\band\b|,|;|\bplus\b|&|\bthen\b|\n)", between))


def fits(spec: RecordField, measure: Measure, text: str, wanted: list[RecordField]) -> float:
    """How well a number fits a field, 0 to 6."""
    named = _is_named(spec, measure, text)
    if named and measure.dimension in ("bare", "count", "rating"):
        return 5.5
    kinds = dimensions(spec)
    if measure.dimension == "money":
        if not spec.is_money:
            return 0
        each = bool(_EACH.match(text[measure.span[1] :]))
        per_unit = bool(_UNIT_PRICE.search(spec.name.replace("_", " ")))
        return 5.2 if each == per_unit else 4.2
    if measure.dimension in kinds:
        return 5 + (
            0.5 if measure.unit and target_unit(spec) and target_unit(spec) == unit_table().get(measure.unit) else 0
        )
    if spec.is_money and measure.unit in ("pound", "pounds") and not kinds:
        return 4
    if measure.dimension == "rating":
        return 5 if _RATING.search(spec.words) else 0
    if measure.scaled and "distance" in kinds:
        return 4.5
    if measure.dimension == "count":
        return _fits_count(spec, measure, kinds)
    if measure.dimension != "bare":
        return 3 if measure.unit and stem(measure.unit) in stems(spec.words) else 0
    return _fits_bare(spec, kinds, wanted)


def _fits_count(spec: RecordField, measure: Measure, kinds: frozenset[str]) -> float:
    unit = stem(measure.unit) if measure.unit else ""
    if unit and unit in stems(spec.name.replace("_", " ")) and not spec.is_money:
        return 5.5
    if unit and unit in stems(spec.description) and not spec.is_money:
        return 4.5
    if kinds:
        return 0
    if (COUNTS.search(spec.words.replace("_", " ")) and not spec.is_money) or re.search(
        r"(?i)^(?:quantity|qty|count)$", spec.name
    ):
        return 3.5
    return 1.2 if spec.is_money and not _RATING.search(spec.words) else 0


def _fits_bare(spec: RecordField, kinds: frozenset[str], wanted: list[RecordField]) -> float:
    if spec.is_money and not kinds:
        return 3
    if kinds:
        return 1.2 if len(wanted) == 1 else 0.5
    if COUNTS.search(spec.words):
        return 2.5
    if _RATING.search(spec.words):
        return 1.4
    return 1.6 if spec.required and sum(other.required for other in wanted) == 1 else 0.6


def _is_named(spec: RecordField, measure: Measure, text: str) -> bool:
    """Whether the field's name stands right before the number: "severity 7", "rated it 4", "quantity: 12"."""
    words = [stem(word) for word in spec.name.split("_") if len(word) > 2 and word not in ("number", "total", "the")]
    before = stems(text[max(0, measure.span[0] - 28) : measure.span[0]])[-3:]
    return any(word in before for word in words if word not in _WEAK)


_WEAK = stem_list("weak_names")


@lru_cache(maxsize=2048)
def dimensions(spec: RecordField) -> frozenset[str]:
    """What a numeric field measures, by the units and words of its name, else of its description."""
    for text in (spec.name.replace("_", " "), spec.description):
        words = [fold(word) for word in re.findall(r"[\p{L}°%]+", text)]
        found = {
            unit_table()[word][0]
            for word in words
            if word in unit_table() and (len(word) > 1 or text != spec.description)
        }
        found |= {kind for kind, listed in _dimension_words().items() if any(stem(word) in listed for word in words)}
        if spec.is_money:
            found -= (
                {"volume", "mass", "rating", "duration", "distance", "percent", "energy"}
                if text == spec.description
                else {"volume"}
            )
        if found:
            return frozenset(found)
    return frozenset()


@cache
def _dimension_words() -> dict[str, frozenset[str]]:
    return {
        kind: frozenset(stem(word) for word in words.split()) for kind, words in lexicon()["dimension_words"].items()
    }


@lru_cache(maxsize=2048)
def target_unit(spec: RecordField) -> tuple[str, float] | None:
    """The unit a field is kept in, as far as its name or description tells."""
    for text in (spec.name.replace("_", " "), spec.description):
        for word in re.findall(r"[\p{L}°%]+", text):
            known = unit_table().get(fold(word))
            if known and (len(word) > 1 or text != spec.description):
                return known
    return None


def convert(spec: RecordField, measure: Measure) -> Any:
    """The number in the field's unit and type; None where it can't be."""
    value = measure.value
    target = target_unit(spec)
    kinds = dimensions(spec)
    if measure.scaled and "distance" in kinds and not spec.is_money:
        value = value / Decimal(str(target[1])) if target else value / 1000
    elif target and target[0] == measure.dimension and target[0] not in ("temperature", "percent", "energy", "rating"):
        value = value * Decimal(str(measure.factor)) / Decimal(str(target[1]))
    elif measure.dimension == "duration" and measure.unit == "seconds" and measure.factor == 1 and not target:
        value = value / 60
    if spec.kind == "integer":
        whole = value.to_integral_value()
        return int(whole) if abs(whole - value) < Decimal("0.005") or (target and value > 10) else None
    return float(round(value, 6)) if spec.kind == "number" else round(value, 6)


def named_in(spec: RecordField, words: Iterable[str]) -> bool:
    """Whether the field is called by its name."""
    said = set(words)
    return all(stem(word) in said for word in spec.name.split("_"))
