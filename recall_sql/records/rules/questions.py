"""Questions in words as a small plan: what to compute, of which field, over which records. planner.py makes it SQL.

Kinds: total, count, average, smallest, largest, list, latest, when, whether, distinct values, a field of a record, each
by period or by field, with conditions on values, numbers and days. What it doesn't understand gives None, not a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recall_sql.records.rules import conditions, fill, matching, naming, spans, times
from recall_sql.records.rules import patterns as re
from recall_sql.records.rules.texts import roles
from recall_sql.records.rules.words import content, stem, stems
from recall_sql.records.schemas import RecordField, Schema

Values = Mapping[str, Mapping[str, Sequence[str]]]  # schema → field → the user's distinct texts


@dataclass(frozen=True)
class Condition:
    """field op value. op: same (text without case and accents), has (contains), =, >, >=, <, <=, is."""

    field: str
    op: str
    value: Any


@dataclass(frozen=True)
class Question:
    """A plan. kind: sum, count, avg, min, max, distinct, list, latest, first, when, whether, field, top."""

    schema: Schema
    kind: str
    measure: RecordField | None = None
    by: RecordField | None = None
    per: str | None = None
    conditions: tuple[Condition, ...] = ()
    period: times.When | None = None
    factor: float = 1.0
    descending: bool = True
    limit: int | None = None
    confidence: float = 0.8
    explanation: str = ""
    shown: tuple[RecordField, ...] = field(default=())


_AVERAGE = re.compile(r"(?i)\b(?:average|mean|avg|typical(?:ly)?|on\s+average|usually)\b")
_TOTAL = re.compile(r"(?i)\b(?:total|sum|altogether|overall|in\s+all|add\s+up|combined|cumulative)\b")
_MOST = re.compile(
    r"(?i)\b(?:most\s+expensive|highest|biggest|largest|greatest|maximum|max|longest|farthest|furthest|heaviest|best|top|priciest|worst|strongest|most\s+severe|peak|record|slowest|costliest)\b"
)
_LEAST = re.compile(
    r"(?i)\b(?:least\s+expensive|lowest|smallest|cheapest|minimum|min|shortest|lightest|least|weakest|mildest|fewest|fastest|quickest)\b"
)
_LATEST = re.compile(
    r"(?i)\b(?:last|latest|most\s+recent(?:ly)?|newest)\b(?!\s+(?:week|weekend|month|year|quarter|night|few|couple|\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|thirty|\p{L}+day|january|february|march|april|may|june|july|august|september|october|november|december)\b)"
)
_FIRST = re.compile(r"(?i)\b(?:first|oldest|earliest)\b")
_LAST_N = re.compile(
    r"(?i)\b(?:last|latest|newest|most\s+recent|past|recent|top|first|oldest)\s+(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|twenty)\s+(?!(?:days?|weeks?|months?|years?|hours?|minutes?|quarters?)\b)"
)
_HOW_MANY = re.compile(r"(?i)\b(?:how\s+many|number\s+of|count(?:\s+(?:of|my|the|all))?|how\s+often)\b")
_HOW_MUCH = re.compile(r"(?i)\bhow\s+much\b")
_DISTINCT = re.compile(r"(?i)\b(?:different|distinct|unique)\b")
_WHETHER = re.compile(r"(?i)^(?:do|did|have|has|was|were|is|are|am)\s+(?:i|we|my|the|there|any)\b")


def read(text: str, schemas: Sequence[Schema], now: datetime, values: Values | None = None) -> Question | None:
    """The plan of a question about one of `schemas`; None where it isn't clear what it asks."""
    found = spans.find(text, now)
    schema, sure = choose(text, schemas, found, values or {})
    if schema is None:
        return None
    period = times.period(text, now)
    by, per = naming.grouping(text, schema)
    plan = _kind(text, schema, found)
    if plan is None and (by or per):
        plan = ("list", None, 1.0, ())
    if plan is None:
        return None
    kind, measure, factor, shown = plan
    limits = _LAST_N.search(text)
    limit = conditions.count(limits[1]) if limits else None
    skip = {measure.name} if measure is not None and kind in ("field", "distinct", "top") else set()
    where = conditions.read(
        text, schema, found, (values or {}).get(schema.name, {}), period, skip | ({by.name} if by else set())
    )
    question = Question(
        schema,
        kind,
        measure,
        by,
        per,
        tuple(Condition(*one) for one in where),
        period,
        factor,
        descending=not _LEAST.search(text),
        limit=limit,
        confidence=min(0.95, 0.5 + 0.12 * sure),
        shown=shown,
    )
    return _settled(question, text)


def _settled(question: Question, text: str) -> Question:
    """With the kind that follows from the rest, and the explanation."""
    from dataclasses import replace

    if question.kind == "list" and question.limit is None and (question.by or question.per):
        numeric = naming.main_number(question.schema)
        question = replace(question, kind="sum" if numeric and _money_words(text) else "count", measure=numeric)
    if question.kind == "top" and question.by is None:
        question = replace(question, by=question.measure, measure=naming.main_number(question.schema))
    return replace(question, explanation=explain(question))


def _money_words(text: str) -> bool:
    return bool(re.search(r"(?i)\b(?:spen[dt]|spending|pa(?:y|id)|cost|amount|much|expenses?|earn)", text))


# --- which schema -----------------------------------------------------------------------------------------------------


def choose(text: str, schemas: Sequence[Schema], found: spans.Spans, values: Values) -> tuple[Schema | None, float]:
    """The schema that a question is about, and how sure that is (in points, 1 and more is evidence)."""
    named = matching.named(text, schemas)
    scores = matching.scores(text, schemas, found)
    said = stems(text)
    points = []
    for schema, score in zip(schemas, scores, strict=True):
        known = values.get(schema.name, {})
        hits = sum(conditions.says(said, value) for listed in known.values() for value in listed[:500])
        points.append(score + (2.0 if schema in named else 0.0) + min(hits, 2) * 1.0 + _asks_for(text, schema))
    order = sorted(range(len(schemas)), key=lambda i: -points[i])
    if not order or points[order[0]] < 1.0:
        return None, 0.0
    if len(order) > 1 and points[order[0]] - points[order[1]] < 0.2:
        return None, 0.0
    return schemas[order[0]], points[order[0]]


def _asks_for(text: str, schema: Schema) -> float:
    """A little for a schema that has a field for what is asked."""
    money = any(spec.is_money for spec in schema.fields)
    if re.search(r"(?i)\bhow\s+much\s+(?:money|did|have|was|were|do)|\bspen[dt]|\bcost", text) and money:
        return 0.6
    left = re.search(
        r"(?i)\bhow\s+many\b.*\b(?:left|in\s+stock|remain|on\s+hand|available|do\s+(?:we|i)\s+(?:still\s+)?have)"
        r"|^do\s+(?:we|i)\s+(?:still\s+)?have\s+(?:any|enough|some)\b",
        text,
    )
    if left and any(
        spec.is_number and spec.required and fill.COUNTS.search(spec.words.replace("_", " ")) for spec in schema.fields
    ):
        return 1.0
    if re.search(r"(?i)\bhow\s+far\b", text) and any(
        "distance" in fill.dimensions(spec) for spec in schema.fields if spec.is_number
    ):
        return 0.8
    return 0.0


# --- what to compute --------------------------------------------------------------------------------------------------

Plan = tuple[str, RecordField | None, float, tuple[RecordField, ...]]


def _kind(text: str, schema: Schema, found: spans.Spans) -> Plan | None:
    """(kind, field, factor of the unit asked for, fields to show)."""
    asked = naming.measured(text, schema)
    spec, factor = asked if asked else (None, 1.0)
    if re.match(r"(?i)\s*when\b", text) or re.search(r"(?i)\b(?:what|which)\s+(?:day|date)\b", text):
        return ("first" if _FIRST.search(text) else "when"), None, 1.0, ()
    if _AVERAGE.search(text):
        spec = spec or naming.main_number(schema)
        return ("avg", spec, factor, ()) if spec else None
    if naming.most_of_all(text):
        return "top", naming.who(text, schema), 1.0, ()
    if _MOST.search(text) or _LEAST.search(text):
        return _extreme(text, schema, spec, factor)
    if _HOW_MANY.search(text):
        return _count(text, schema, spec, factor)
    if _LATEST.search(text) or (_FIRST.search(text) and not _LAST_N.search(text)):
        return _latest(text, schema, spec)
    if _HOW_MUCH.search(text) or _TOTAL.search(text) or re.search(r"(?i)\bhow\s+(?:far|long)\b", text):
        spec = spec or naming.main_number(schema)
        return ("sum", spec, factor, ()) if spec else ("count", None, 1.0, ())
    if _WHETHER.match(text) and not re.search(r"(?i)\bany\b.*\b(?:show|list)\b", text):
        return "whether", None, 1.0, ()
    return _listing(text, schema, spec)


def _count(text: str, schema: Schema, spec: RecordField | None, factor: float) -> Plan:
    if _DISTINCT.search(text):
        which = naming.field_called(text, schema) or naming.who(text, schema)
        return ("distinct", which, 1.0, ()) if which else ("count", None, 1.0, ())
    if spec is not None and not re.search(r"(?i)\bhow\s+(?:many\s+times|often)\b", text):
        return "sum", spec, factor, ()
    m = re.search(r"(?i)\b(?:how\s+many|number\s+of)\s+((?:[\p{L}-]+\s+){0,3}?[\p{L}-]+)", text)
    noun = set(stems(m[1])) if m else set()
    amounts = [f for f in schema.fields if f.is_number and f.required and fill.COUNTS.search(f.words.replace("_", " "))]
    is_schema = noun & (
        set(stems(schema.name)) | {stem("time"), stem("record"), stem("entry"), stem("kind"), stem("type")}
    )
    if amounts and not is_schema:
        return "sum", amounts[0], 1.0, ()
    return "count", None, 1.0, ()


def _extreme(text: str, schema: Schema, spec: RecordField | None, factor: float) -> Plan | None:
    most = not _LEAST.search(text)
    low = text.lower()
    if re.search(r"\b(?:longest|shortest)\s+(?:run|walk|ride|swim|hike|jog|distance|trip|drive|flight|race)", low):
        low = low.replace("longest", "farthest").replace("shortest", "farthest")
    wanted = _by_adjective(low, schema) or _by_adjective(text.lower(), schema) or spec or naming.main_number(schema)
    if wanted is None:
        return None
    if (
        re.search(r"\bworst\b", low)
        and "rating" in fill.dimensions(wanted)
        and not re.search(r"sever|pain|intens", wanted.words.lower())
    ):
        most = False
    if re.search(r"\b(?:fastest|quickest)\b", low):
        most = False
    if re.match(r"(?i)\s*(?:which|who|where)\b", text) or (
        re.match(r"(?i)\s*what\s+(?!was|is|were|are|'s)(?!\s)", text) and not re.match(r"(?i)\s*what(?:'s|’s)", text)
    ):
        label = naming.label(schema)
        return ("latest_by_" + ("max" if most else "min"), wanted, 1.0, (label,) if label else ())
    return ("max" if most else "min"), wanted, factor, ()


def _by_adjective(low: str, schema: Schema) -> RecordField | None:
    """The field that "cheapest", "longest" or "heaviest" is about."""
    for pattern, dimensions in _ADJECTIVES:
        if not re.search(pattern, low):
            continue
        for dimension in dimensions:
            for spec in schema.fields:
                if spec.is_number and (
                    (dimension == "money" and spec.is_money)
                    or dimension in fill.dimensions(spec)
                    or dimension in stems(spec.name)
                ):
                    return spec
    return None


_ADJECTIVES = (
    (r"expensive|cheap|pric|cost", ("money",)),
    (r"longest|shortest", ("duration", "distance", "page")),
    (r"farthest|furthest", ("distance",)),
    (r"heav|lightest", ("mass", "weight")),
    (r"fastest|quickest|slowest", ("duration",)),
    (r"\b(?:best|highest[\s-]rated|lowest[\s-]rated|worst)", ("rating", "sever", "severity", "intens")),
    (r"severe|strongest|weakest|mildest", ("sever", "severity", "intens", "pain", "rating")),
)


def _latest(text: str, schema: Schema, spec: RecordField | None) -> Plan:
    asked = spec if spec and re.match(r"(?i)\s*how\b", text) else None
    asked = asked or (
        naming.field_called(text, schema) if re.match(r"(?i)\s*(?:what|who|where|which|how)\b", text) else None
    )
    if asked is None and re.match(r"(?i)\s*(?:who|where)\b", text):
        asked = naming.who(text, schema)
    if asked is None and _HOW_MUCH.search(text):
        asked = naming.main_number(schema)
    kind = "oldest" if _FIRST.search(text) and not _LATEST.search(text) else "latest"
    return kind, None, 1.0, (asked,) if asked else ()


def _listing(text: str, schema: Schema, spec: RecordField | None) -> Plan | None:
    asked = naming.field_called(text, schema)
    if re.match(r"(?i)\s*what\b.*\bfor\s*\??\s*$", text):
        asked = next((one for one in schema.fields if one.kind == "text" and "purpose" in dict(roles(one))), asked)
        return ("field", asked, 1.0, ()) if asked else None
    if re.match(r"(?i)\s*what\b.*\b(?:spend|spent)\b(?!.*\bon\s*\??$)", text) and (money := naming.main_number(schema)):
        return "sum", money, 1.0, ()
    if re.match(r"(?i)\s*(?:who|whom|where)\b", text):
        asked = asked or naming.who(text, schema)
        return ("field", asked, 1.0, ()) if asked else None
    if (
        re.match(r"(?i)\s*(?:what|which)(?:'s|’s|\s+(?:is|are|was|were))?\s+(?:the\s+|my\s+)?", text)
        and asked is not None
    ):
        return "field", asked, 1.0, ()
    if (
        asked is not None
        and spec is None
        and re.match(r"(?i)\s*(?:list|show|give|tell)\b.*\b(?:all|every|the|my)\b", text)
        and stems(asked.name) != stems(schema.name)
        and _plural_of(text, asked)
    ):
        return "field", asked, 1.0, ()
    if re.match(
        r"(?i)\s*(?:what|which|show|list|give|find|display|get|tell|search|any|all|look|see|pull|print|fetch|export|report|compare|break|summari[sz]e|my|the|rank|sort|group|do|did)\b",
        text,
    ):
        return "list", None, 1.0, ()
    return ("list", None, 1.0, ()) if matching.named(text, [schema]) else None


def _plural_of(text: str, spec: RecordField) -> bool:
    return bool(re.search(rf"(?i)\b{re.escape(spec.name.split('_')[0])}e?s\b", text))


def explain(question: Question) -> str:
    """The plan in a sentence."""
    what = {
        "sum": "Total",
        "count": "Number of records",
        "avg": "Average",
        "min": "Smallest",
        "max": "Largest",
        "list": "Records",
        "latest": "The latest record",
        "oldest": "The oldest record",
        "when": "The last day",
        "first": "The first day",
        "whether": "Whether there is a record",
        "distinct": "Number of different values",
        "field": "Values",
        "top": "The leader",
    }.get(question.kind, "The record with the " + ("largest" if question.kind.endswith("max") else "smallest"))
    parts = [what]
    if question.measure is not None:
        parts.append(
            f"of {question.measure.name}"
            if question.kind not in ("latest_by_max", "latest_by_min")
            else question.measure.name
        )
    parts.append(f"in {question.schema.name}")
    if question.by is not None:
        parts.append(f"by {question.by.name}")
    if question.per:
        parts.append(f"by {question.per}")
    if question.conditions:
        signs = {"same": "is", "has": "contains", "is": "is"}
        parts.append(
            "where " + " and ".join(f"{c.field} {signs.get(c.op, c.op)} {c.value}" for c in question.conditions)
        )
    if question.period:
        parts.append(_days(question.period))
    return " ".join(parts)


def _days(period: times.When) -> str:
    if period.start == times.FAR_PAST:
        return f"before {period.end}"
    if period.end == times.FAR_FUTURE:
        return f"from {period.start} on"
    last = period.end - times.DAY
    return f"on {period.start}" if last == period.start else f"from {period.start} to {last}"


def subject_words(schema: Schema) -> set[str]:
    """The words a schema is called by."""
    return set(content(schema.name))
