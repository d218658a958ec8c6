"""What a question names: the number it measures, the field it calls, who or where it asks for, what it groups by."""

from __future__ import annotations

from recall_sql.records.rules import fill
from recall_sql.records.rules import patterns as re
from recall_sql.records.rules.texts import roles
from recall_sql.records.rules.words import stem, stems
from recall_sql.records.schemas import RecordField, Schema

_PER = re.compile(
    r"(?i)\b(?:per|each|every|by|grouped\s+by|group\s+by|for\s+each|broken\s+down\s+by|break(?:down)?\s+(?:it\s+)?(?:down\s+)?by|across)\s+(?:the\s+|my\s+)?(?P<what>[\p{L}_]+(?:\s+[\p{L}_]+)?)"
)
_ADVERB = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
    "quarterly": "quarter",
}
PERIODS = ("day", "week", "month", "quarter", "year")


def measured(text: str, schema: Schema) -> tuple[RecordField, float] | None:
    """The numeric field that a question names, by its name or unit, and the factor to the unit asked for."""
    said = stems(text)
    numeric = [spec for spec in schema.fields if spec.is_number]
    for spec in numeric:
        m = re.search(
            r"(?i)\bhow\s+many\s+([\p{L}]+)|\bin\s+([\p{L}]+)\s*\??$|\b(?:total|average|number\s+of)\s+([\p{L}]+)", text
        )
        unit = next((group.lower() for group in m.groups() if group), "") if m else ""
        known, target = fill.unit_table().get(unit), fill.target_unit(spec)
        if known and target and known[0] == target[0] and len(unit) > 1:
            return spec, target[1] / known[1]
        if known and len(unit) > 1 and known[0] in fill.dimensions(spec):
            return spec, 1.0
    named = [spec for spec in numeric if _is_called(spec, said, schema)]
    if named:
        return max(named, key=lambda spec: len(spec.name)), 1.0
    for pattern, dimension in _HOW:
        if re.search(pattern, text):
            fitting = [
                spec
                for spec in numeric
                if (dimension == "money" and spec.is_money) or dimension in fill.dimensions(spec)
            ]
            if fitting:
                return fitting[0], 1.0
    return None


_HOW = (
    (r"(?i)\bhow\s+far\b|\bdistance\b|\bmileage\b", "distance"),
    (
        r"(?i)\bhow\s+long\b|\bduration\b|\bhow\s+much\s+time\b|\btime\s+(?:did|have|spent)\b|\bhours\b|\bminutes\b",
        "duration",
    ),
    (r"(?i)\bhow\s+heavy\b|\bweight\b|\bweigh\b", "mass"),
    (r"(?i)\bcalories\b", "energy"),
    (r"(?i)\brat(?:ing|ed|e)\b|\bstars\b", "rating"),
    (
        r"(?i)\bmoney\b|\bspen[dt]|\bspending\b|\bcosts?\b|\bpric|\bexpensive\b|\bcheap|\bpa(?:id|y)\b|\bearn|\bamounts?\b",
        "money",
    ),
)


def _is_called(spec: RecordField, said: tuple[str, ...], schema: Schema) -> bool:
    words = [
        stem(word)
        for word in spec.name.split("_")
        if word not in ("in", "of", "the", "km", "minutes", "total", "number", "hours", "kg", "min")
    ]
    return bool(words) and all(word in said for word in words) and stems(spec.name) != stems(schema.name)


def field_called(text: str, schema: Schema) -> RecordField | None:
    said = stems(text)
    own = set(stems(schema.name))
    called = [
        spec
        for spec in schema.fields
        if _is_called(spec, said, schema)
        and not set(stems(spec.name)) <= own
        and spec.kind not in ("date", "timestamp")
    ]
    return max(called, key=lambda spec: len(spec.name)) if called else None


def main_number(schema: Schema) -> RecordField | None:
    """The number that a total is about: money, else the required one, else the only one or a count."""
    numeric = [spec for spec in schema.fields if spec.is_number]
    required = [spec for spec in numeric if spec.required]
    money = [spec for spec in numeric if spec.is_money and (spec.required or not required)]
    return next(iter(money or required or numeric), None)


def label(schema: Schema) -> RecordField | None:
    """The text that a record is known by."""
    texts = [spec for spec in schema.fields if spec.kind in ("text", "enum")]
    return next((spec for spec in texts if spec.required), texts[0] if texts else None)


def who(text: str, schema: Schema) -> RecordField | None:
    """The field that "who", "where" or "what kind" asks for."""
    low = text.lower()
    wanted = (
        ("place", "receiver")
        if re.search(r"\bwhere\b", low)
        else ("creator",)
        if re.search(r"\b(?:wrote|author|written|directed|made)\b", low)
        else ("receiver", "giver", "companion", "creator")
        if re.search(r"\bwho\b|\bwhom\b|\bpeople\b|\bperson\b", low)
        else ("thing", "title", "receiver")
    )
    for role in wanted:
        for spec in schema.fields:
            if spec.kind in ("text", "enum") and role in dict(roles(spec)):
                return spec
    return label(schema)


def most_of_all(text: str) -> bool:
    """ "Who did I pay the most?", "which exercise do I do most often?": the leader of a ranking."""
    return bool(
        re.search(
            r"(?i)^(?:who|whom|what|which|where)\b.*\b(?:the\s+most|most\s+often|most|most\s+frequent(?:ly)?|most\s+common(?:ly)?|the\s+least)\s*(?:money|times|often|to|on|at|for|in|this\s+\w+|last\s+\w+)?\s*\??$|\bmost\s+(?:common|frequent)\b",
            text,
        )
    )


def grouping(text: str, schema: Schema) -> tuple[RecordField | None, str | None]:
    for word, period in _ADVERB.items():
        if re.search(rf"(?i)\b{word}\b", text):
            return None, period
    for m in _PER.finditer(text):
        words = m["what"].lower().split()
        first = stem(words[0])
        if first in PERIODS and not (
            m.group().lower().startswith("every") and re.search(r"(?i)\b(?:every)\s+day\b", text)
        ):
            return None, first
        if re.match(r"(?i)(?:every|each)\b", m.group()) and re.search(r"(?i)^(?:show|list|what|which)\b", text):
            continue
        spec = next(
            (s for s in schema.fields if s.kind in ("text", "enum", "boolean", "integer") and first in stems(s.name)),
            None,
        )
        if spec is None and first in (
            stem("person"),
            stem("people"),
            stem("recipient"),
            stem("merchant"),
            stem("store"),
            stem("type"),
            stem("kind"),
            stem("category"),
        ):
            spec = who(
                "who"
                if first in (stem("person"), stem("people"), stem("recipient"), stem("merchant"), stem("store"))
                else "what",
                schema,
            )
        if spec is not None:
            return spec, None
    return None, None
