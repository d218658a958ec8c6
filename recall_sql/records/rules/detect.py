"""The way in for messages: form of the sentence → schema → fields, or the reason why it is left alone."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal

from recall_sql.errors import InputError
from recall_sql.records.intents import Intent
from recall_sql.records.rules import changes, fill, forms, matching, phrases, spans, subjects
from recall_sql.records.rules import patterns as re
from recall_sql.records.rules.texts import roles
from recall_sql.records.rules.words import word_list
from recall_sql.records.schemas import Schema

EVIDENCE = 1.0  # the least a message must have in common with a schema
MARGIN = 0.35  # by how much the best schema must lead
# How alike message and each description are, −1 to 1; None where no embedder is at hand.
Similarity = Callable[[str, Sequence[Schema]], Sequence[float] | None]
ALIKE, ALIKE_LEAD = 0.30, 0.06


def detect(
    message: str,
    schemas: Sequence[Schema],
    now: datetime,
    *,
    recent: str | None = None,
    similarity: Similarity | None = None,
) -> Intent:
    """What `message` wants. recent: the schema of the user's last record, for "change that to 200"."""
    text = unicodedata.normalize("NFC", message.replace("\x00", "")).strip()
    kind, why = forms.kind(text)
    if kind == "none":
        return Intent(False, "none", confidence=0.9, reason=why)
    if not schemas:
        return Intent(False, "none", reason="no schema is declared")
    plain = forms.strip_polite(text)
    if kind == "query":
        return _query(plain, schemas, now)
    if kind in ("update", "delete"):
        found = _change(kind, plain, schemas, now, recent)
        if found.matched or kind == "delete" or not re.match(r"(?i)(?:put|rate)\b", plain):
            return found
        inserted = _insert(text, schemas, now, similarity)  # "put 12 boxes on shelf A3" begins like an update
        return inserted if inserted.matched else found
    if subjects.is_somebody_elses(plain):
        schemas = [schema for schema in schemas if subjects.tells_who(schema)]
        if not schemas:
            return Intent(False, "none", confidence=0.9, reason=forms.SOMEBODY_ELSES)
    return _insert(text, schemas, now, similarity)


def _query(text: str, schemas: Sequence[Schema], now: datetime) -> Intent:
    from recall_sql.records.rules import questions

    question = questions.read(text, schemas, now)
    if question is None:
        return Intent(False, "none", confidence=0.6, reason="it asks about something else than the records there are")
    return Intent(True, "query", question.schema.name, question.confidence, reason=question.explanation)


def _change(kind: str, text: str, schemas: Sequence[Schema], now: datetime, recent: str | None) -> Intent:
    schema, sure, why = changes.choose(text, schemas, now, recent)
    if schema is None:
        return Intent(False, "none", confidence=0.5, reason=why)
    if kind == "delete":
        change = changes.read_delete(text, schema, now)
        if not change.match.where and change.match.recency is None and change.match.count is None:
            return Intent(False, "delete", schema.name, sure, match=change.match, reason=_NOT_ALL.format(schema.name))
        if not change.match.where and change.match.recency is None and change.match.count == 1:
            return Intent(
                False,
                "delete",
                schema.name,
                sure,
                match=change.match,
                reason=f"it doesn't say which {schema.name} record",
            )
        return Intent(True, "delete", schema.name, sure, match=change.match, reason=_which(schema, change))
    change = changes.read_update(text, schema, now)
    if change.problem:
        return Intent(False, "update", schema.name, sure, match=change.match, reason=change.problem)
    try:
        updates = schema.validate(change.updates, partial=True)
    except InputError as error:
        return Intent(False, "update", schema.name, sure, match=change.match, reason=str(error))
    return Intent(True, "update", schema.name, sure, match=change.match, updates=updates, reason=_which(schema, change))


_NOT_ALL = (
    "it would delete every {} record, and a message deletes only what it describes, such as the last one or all to "
    "somebody; forget (recall-sql forget --user-id, forget(everything=True)) erases all that is held about a person"
)


def _which(schema: Schema, change: changes.Change) -> str:
    how = [f"{name} = {value}" for name, value in change.match.where.items()]
    if change.match.recency:
        how.append(change.match.recency)
    if change.match.count != 1:
        how.append("all" if change.match.count is None else f"{change.match.count} of them")
    return f"{schema.name} record: {', '.join(how) or 'the only one'}"


# --- statements -------------------------------------------------------------------------------------------------------


def _insert(text: str, schemas: Sequence[Schema], now: datetime, similarity: Similarity | None) -> Intent:
    ahead = bool(re.search(r"(?i)\b(?:by|due|until|deadline|expir\w+|appointment|scheduled)\b", text))
    found = spans.find(text, now, future=ahead)
    sentence = phrases.read(text, found)
    planned = not ahead and any(when.day > now.date() for when in found.whens)
    if planned:
        schemas = [schema for schema in schemas if _PLANS.search(schema.description)]
        if not schemas:
            return Intent(False, "none", confidence=0.8, reason="it is about something that hasn't happened")
    if word_list("foreign") & set(re.findall(r"[\p{L}'’]+", text.lower())):
        return Intent(False, "none", confidence=0.5, reason="it isn't in English, which is all that the rules read")
    if _INCOMING.search(text):
        schemas = [schema for schema in schemas if not _pays_out(schema)]
        if not schemas:
            return Intent(False, "none", confidence=0.6, reason="the money came to the user")
    evidence = matching.scores(text, schemas, found)
    filled = [fill.fill(schema, text, found, sentence, now) for schema in schemas]
    ranked = sorted(
        range(len(schemas)), key=lambda i: (evidence[i] < EVIDENCE, -_rank(evidence[i], schemas[i], filled[i]))
    )
    best = ranked[0]
    if evidence[best] < EVIDENCE or _too_close(ranked, evidence, schemas, filled):
        chosen = _by_similarity(text, schemas, evidence, filled, similarity)
        if chosen is None:
            why = (
                "no schema is clearly meant"
                if evidence[best] < EVIDENCE
                else f"{schemas[best].name} or {schemas[ranked[1]].name}? It fits both"
            )
            return Intent(False, "none", confidence=0.5, reason=why)
        best = chosen
    return _checked(text, schemas, best, evidence, filled[best], now)


_INCOMING = re.compile(
    r"(?i)\b(?:owes?|owed|pays?|paid|sent|gave|refund(?:ed|s)?|transferred|venmoed|lent|returned|reimbursed)\s+(?:me|us)\b"
    r"|^refund\b|\brefunded\b|\b(?:got|received|earned)\b[^.]{0,30}\d[^.]{0,20}\bfrom\b"
)


def _pays_out(schema: Schema) -> bool:
    """Whether its records are money that leaves the user: an amount, somebody who gets it, and nobody who gives it."""
    has = {role for spec in schema.fields if spec.kind == "text" for role, _ in roles(spec)}
    return any(spec.is_money and spec.required for spec in schema.fields) and "receiver" in has and "giver" not in has


_PLANS = re.compile(
    r"(?i)\b(?:appointment|event|task|to-?do|plan|upcoming|due|booking|reservation|remind|schedul|deadline|future|trip)"
)


def _rank(evidence: float, schema: Schema, filled: fill.Filled) -> float:
    missing = sum(spec.name not in filled.data for spec in schema.required)
    optional = sum(name in filled.data for name in schema.names) - (len(schema.required) - missing)
    return evidence + 0.5 * (len(schema.required) - missing) - 1.2 * missing + 0.2 * min(optional, 3)


def _too_close(ranked: list[int], evidence: list[float], schemas: Sequence[Schema], filled: list[fill.Filled]) -> bool:
    if len(ranked) < 2:
        return False
    first, second = ranked[:2]
    if evidence[second] < EVIDENCE:
        return False
    lead = _rank(evidence[first], schemas[first], filled[first]) - _rank(
        evidence[second], schemas[second], filled[second]
    )
    return lead < MARGIN


def _by_similarity(
    text: str,
    schemas: Sequence[Schema],
    evidence: list[float],
    filled: list[fill.Filled],
    similarity: Similarity | None,
) -> int | None:
    """The schema whose description is most like the message, among those whose required fields it fills."""
    alike = similarity(text, schemas) if similarity else None
    if alike is None:
        return None
    full = [i for i, schema in enumerate(schemas) if all(spec.name in filled[i].data for spec in schema.required)]
    ranked = sorted(full, key=lambda i: -(alike[i] + 0.03 * evidence[i]))
    if not ranked or alike[ranked[0]] < ALIKE:
        return None
    rivals = [alike[i] for i in range(len(schemas)) if i != ranked[0]]
    return ranked[0] if alike[ranked[0]] - max(rivals, default=-1.0) >= ALIKE_LEAD else None


def _checked(
    text: str, schemas: Sequence[Schema], best: int, evidence: list[float], filled: fill.Filled, now: datetime
) -> Intent:
    schema = schemas[best]
    sure = min(0.97, 0.55 + 0.09 * min(evidence[best], 4) + 0.04 * len(filled.data))
    if filled.twice or _two_statements(text, schemas, now, schema):
        return Intent(
            False,
            "insert",
            schema.name,
            0.5,
            reason="the message holds two or more records; say them one at a time",
        )
    missing = [spec.name for spec in schema.required if spec.name not in filled.data]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        reason = f"required field {names} is missing" if len(missing) == 1 else f"required fields {names} are missing"
        return Intent(False, "insert", schema.name, round(sure / 2, 3), data=filled.data, reason=reason)
    if not filled.data:
        return Intent(False, "none", confidence=0.5, reason=f"it names no field of {schema.name}")
    try:
        data = schema.validate(filled.data)
    except InputError as error:
        return Intent(False, "insert", schema.name, round(sure / 2, 3), data=filled.data, reason=str(error))
    shown = ", ".join(f"{name} = {_shown(value)}" for name, value in data.items())
    return Intent(True, "insert", schema.name, sure, data=data, reason=f"{schema.name}: {shown}")


def _shown(value: object) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


_CLAUSE = re.compile(r"(?i)(?:[.;!]\s+|\n+|,?\s+and\s+(?:then\s+|also\s+|i\s+|we\s+)*|,\s*then\s+)")


def _two_statements(text: str, schemas: Sequence[Schema], now: datetime, schema: Schema) -> bool:
    """Whether two clauses, each with a verb of its own, are records each: "ran 5 km and read 30 pages"."""
    parts = [part for part in _CLAUSE.split(text) if part.strip()]
    if not 2 <= len(parts) <= 8:
        return False
    whole = 0
    for part in parts:
        found = spans.find(part, now)
        sentence = phrases.read(part, found)
        if not sentence.verb and whole:
            continue
        evidence = matching.scores(part, schemas, found)
        best = max(range(len(schemas)), key=lambda i: evidence[i])
        filled = fill.fill(schemas[best], part, found, sentence, now)
        if (
            evidence[best] >= EVIDENCE
            and schemas[best].required
            and all(spec.name in filled.data for spec in schemas[best].required)
        ):
            whole += 1
    return whole > 1
