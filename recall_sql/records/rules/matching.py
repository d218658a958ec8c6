"""Which schema a message is about: shared words, shared subjects, and units that fit a field.

Words count by where the schema has them (its name, a choice, its description, a field) and for less when several
schemas have them. Subjects are the word families of lexicon.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from recall_sql.records.rules import fill
from recall_sql.records.rules import patterns as re
from recall_sql.records.rules.spans import Spans
from recall_sql.records.rules.texts import roles
from recall_sql.records.rules.words import content, fold, lexicon, stem, stems
from recall_sql.records.schemas import RecordField, Schema

_NOT = re.compile(r"(?i)\b(?:not|excluding|except|other\s+than|but\s+no)\b.*$")


@dataclass(frozen=True)
class Vocabulary:
    """The words of a schema with their weights, and how much of it belongs to which subject."""

    words: dict[str, float]
    subjects: dict[str, float]


@lru_cache(maxsize=1024)
def vocabulary(schema: Schema) -> Vocabulary:
    """What a schema talks about."""
    words: dict[str, float] = {}

    def add(text: str, weight: float) -> None:
        for word in content(text):
            words[word] = max(words.get(word, 0.0), weight)

    add(schema.name, 3.0)
    add(_NOT.sub("", schema.description), 1.6)
    for spec in schema.fields:
        add(spec.name, 1.2)
        add(spec.description, 0.7)
        for choice in (*spec.choices, *(spec.item.choices if spec.item else ())):
            add(choice, 2.2)
    return Vocabulary(words, _subjects(words))


def _subjects(words: dict[str, float]) -> dict[str, float]:
    raw = {
        subject: sum(weight for word, weight in words.items() if word in listed and weight > 0.7)
        for subject, listed in subject_words().items()
    }
    most = max(raw.values(), default=0.0)
    return {subject: value / most for subject, value in raw.items() if most >= 1.5 and value >= 0.34 * most}


@cache
def subject_words() -> dict[str, frozenset[str]]:
    """subject → its words as stems."""
    return {name: frozenset(stem(word) for word in words.split()) for name, words in lexicon()["subjects"].items()}


def scores(text: str, schemas: Sequence[Schema], spans: Spans | None = None) -> list[float]:
    """How much a message is about each schema. 1 and more is evidence, 3 is plenty."""
    said = set(content(text)) - unit_stems()
    vocabularies = [vocabulary(schema) for schema in schemas]
    shared = {word: sum(word in v.words for v in vocabularies) for word in said}
    found = []
    for schema, words in zip(schemas, vocabularies, strict=True):
        direct = sum(words.words[word] / shared[word] ** 0.7 for word in said if word in words.words)
        family = sum(
            strength * min(2, len(said & subject_words()[subject])) for subject, strength in words.subjects.items()
        )
        rivals = sum(bool(set(words.subjects) & set(v.subjects)) for v in vocabularies)
        total = min(direct, 5.0) + min(1.5 * family, 3.0) / rivals**0.3
        found.append(total + (_of_units(schema, spans, text) + _of_keeping(schema, spans, text) if spans else 0.0))
    return found


def _of_units(schema: Schema, spans: Spans, text: str) -> float:
    """Evidence of numbers whose dimension a field has."""
    numeric = [spec for spec in schema.fields if spec.is_number]
    score = 0.0
    for measure in spans.measures:
        kind = measure.dimension
        if kind == "money":
            score += 1.0 * any(spec.is_money for spec in numeric)
        elif kind == "count":
            score += 0.8 * any(_counts(spec, measure.unit) for spec in numeric)
        elif kind != "bare":
            score += 0.8 * any(kind in fill.dimensions(spec) for spec in numeric)
    return min(score, 1.6)


_KEEPING = re.compile(
    r"(?i)^\W*(?:(?:i|we)(?:\s+now|\s+still|\s+just)?\s+|there\s+(?:are|is)\s+|just\s+|please\s+)*"
    r"(?:have|has|had|put|add(?:ed)?|stor(?:e|ed)|stock(?:ed)?|keep|kept|got|get|plac(?:e|ed)|receiv(?:e|ed)|left|mov(?:e|ed)|\d)"
)
_PLACED = re.compile(r"(?i)\b(?:in|on|at|to|into|inside)\s+(?:the|my|our|a|shelf|box|room|aisle|bin|warehouse)\b")


def _of_keeping(schema: Schema, spans: Spans, text: str) -> float:
    """Evidence of things counted and put somewhere, for a schema that counts things and says where they are."""
    counted = any(measure.dimension in ("count", "bare") for measure in spans.measures)
    if not counted or not _KEEPING.match(text) or not _PLACED.search(text):
        return 0.0
    counts = any(
        spec.is_number and spec.required and not fill.dimensions(spec) and not spec.is_money for spec in schema.fields
    )
    place = any(spec.kind == "text" and "place" in dict(roles(spec)) for spec in schema.fields)
    return 1.2 if counts and place else 0.0


@cache
def unit_stems() -> frozenset[str]:
    """Words of units: that two things are measured in hours doesn't make them alike."""
    shared = ("distance", "duration", "mass", "temperature", "percent", "rating")
    return frozenset(stem(word) for word, (kind, _) in fill.unit_table().items() if kind in shared and len(word) > 1)


def _counts(spec: RecordField, unit: str) -> bool:
    return bool(unit) and stem(unit) in stems(spec.words)


def named(text: str, schemas: Sequence[Schema]) -> list[Schema]:
    """The schemas that a text calls by name: "my last payment" is about payments."""
    said = stems(text)
    folded = fold(text)
    found = []
    for schema in schemas:
        wanted = stems(schema.name)
        if (
            any(said[i : i + len(wanted)] == wanted for i in range(len(said)))
            or fold(schema.name.replace("_", " ")) in folded
        ):
            found.append(schema)
    return found
