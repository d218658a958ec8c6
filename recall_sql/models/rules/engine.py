"""Compiles `patterns.yaml` and runs it over clauses. Decides nothing about belief: `guards.py` chose the clauses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import regex as re
import yaml

from recall_sql.facts import Fact
from recall_sql.models.rules import (
    dates,
    health,
    holdings,
    journeys,
    origins,
    people,
    pets,
    quantities,
    standing,
    tastes,
    values,
    work,
)
from recall_sql.models.rules.lexicon import alternatives, words
from recall_sql.models.rules.text import Clause

_FILE = Path(__file__).with_name("patterns.yaml")
_PARSER_MODULES = (
    values,
    people,
    pets,
    journeys,
    tastes,
    work,
    health,
    holdings,
    dates,
    standing,
)  # importing them registers their parsers
_MACRO = re.compile(r"(?<!\\[pP])\{(lex:)?(\w+)\}")
_QUANTIFIER = re.compile(r"^\d+(?:,\d*)?$")
_TIMEOUT = 0.25  # seconds a single regex may take on a clause of at most MAX_CLAUSE characters
_SOFT_CONFIDENCE = 0.7


@dataclass(frozen=True)
class Pattern:
    """One entry of patterns.yaml, compiled. Field meanings are documented at the head of that file."""

    id: str
    category: str
    when: re.Pattern[str]
    parse: values.Parser
    key: str
    value: str
    anywhere: bool = False
    fallback: bool = False
    ask: bool = False
    first: bool = False
    kind: str = "KNOWLEDGE"
    op: str = "assert"
    confidence: float = 0.95
    needs: frozenset[str] = frozenset()
    lexical_needs: frozenset[str] = frozenset()
    own: bool = False  # opens with the speaker: "I", "we", "my" or "our"
    negative: bool = False  # speaks of "not" or "never" itself; the others never match a negated clause
    skip: re.Pattern[str] | None = None


def _macros(raw: dict[str, str]) -> dict[str, str]:
    known = {
        "MONEY": quantities.MONEY,
        "DATE": quantities.DATE,
        "MONTH": quantities.MONTH,
        "WEEKDAY": quantities.WEEKDAY,
        "lexlang": origins.LANGUAGE_WORD,
    }
    for name, body in raw.items():
        known[name] = _expand(body, known)
    return known


def _expand(body: str, macros: dict[str, str]) -> str:
    def replacement(match: re.Match[str]) -> str:
        lexical, name = match.groups()
        if lexical:
            return alternatives(name)
        return match.group() if _QUANTIFIER.match(name) else macros[name]

    return _MACRO.sub(replacement, body)


def _lexical_needs(raw: list[str]) -> frozenset[str]:
    """First words of the lexicon blocks that a clause must share one with."""
    return frozenset(
        re.split(r"[\s-]", word)[0] for entry in raw if entry.startswith("LEX ") for word in words(entry[4:])
    )


def _compile(entry: dict[str, Any], macros: dict[str, str]) -> Pattern:
    when = str(entry["when"])
    skip = entry.get("skip")
    plain = _expand(when, macros).replace("\\s", " ")
    return Pattern(
        id=entry["id"],
        category=entry.get("out", entry["category"]),
        when=re.compile(_expand(when, macros), re.I),
        parse=values.PARSERS[entry["parse"]],
        key=entry["key"],
        value=entry["value"],
        anywhere=entry.get("at") == "anywhere",
        fallback=bool(entry.get("fallback")),
        ask=bool(entry.get("ask")),
        first=bool(entry.get("first")),
        kind=entry.get("kind", "KNOWLEDGE"),
        op=entry.get("op", "assert"),
        confidence=float(entry.get("confidence", 0.95)),
        needs=frozenset(need.lower() for need in entry.get("needs", []) if not need.startswith("LEX ")),
        own=when.startswith(("{I}", "{MY}", "{AM}")),
        negative="not" in plain or "never" in plain,
        lexical_needs=_lexical_needs(entry.get("needs", [])),
        skip=re.compile(_expand(str(skip), macros), re.I) if skip else None,
    )


@cache
def book() -> tuple[Pattern, ...]:
    """The compiled patterns in file order. Compiled once per process, on first use."""
    raw = yaml.load(_FILE.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    macros = _macros(raw["macros"])
    return tuple(_compile(entry, macros) for entry in raw["patterns"])


@lru_cache(maxsize=8192)
def _candidates(opening: str) -> tuple[Pattern, ...]:
    """The patterns that can match a clause that opens with these words: partial matching asks each of them once."""
    first, space, second = opening.partition(" ")
    if second:
        among = _candidates(first + space)
    elif first.lower() in _OWN:
        among = book()
    else:
        among = _others()
    return tuple(p for p in among if p.anywhere or p.when.match(opening, partial=True, timeout=_TIMEOUT))


_OWN = frozenset(["i", "we", "my", "our"])


@cache
def _others() -> tuple[Pattern, ...]:
    """The patterns that don't insist on opening with "I", "we", "my" or "our"."""
    return tuple(p for p in book() if p.anywhere or not p.own)


_OPENING = re.compile(r"\S+(?:\s\S+)?(?:\s|$)")


def matches(clause: Clause, moment: values.Moment) -> list[Fact]:
    """The facts the patterns find in one clause; fallback patterns only when the others found nothing."""
    low = clause.low
    facts: list[Fact] = []
    opening = _OPENING.match(clause.text)
    candidates = _candidates(opening.group()) if opening and opening.end() < 40 else book()
    tokens = _tokens(low)
    context = values.Context(clause, moment)
    negated = _NEGATED.match(clause.text) is not None
    present = {word for word in _needles() if word in low}
    fitting = [p for p in candidates if _fits(p, clause, present, tokens) and (p.negative or not negated)]
    for fallback in (False, True):
        for pattern in fitting:
            if pattern.fallback is fallback:
                facts += _apply(pattern, clause, context)
        if facts:
            break
    return facts


_NEGATED = re.compile(
    r"(?i)(?:I|we)\s(?:am|are|have|was|were|will|would|did|do)\s(?:not|never)\b|(?:I|we)\s(?:cannot|never)\b"
)
_WORDS = re.compile(r"[^\W\d_]+")


def _tokens(low: str) -> set[str]:
    """The words of a clause, plural `s` also stripped."""
    found = set(_WORDS.findall(low))
    return found | {word[:-1] for word in found if word.endswith("s")}


@cache
def _needles() -> tuple[str, ...]:
    """Every string that some pattern needs."""
    return tuple(sorted({word for pattern in book() for word in pattern.needs}))


def _fits(pattern: Pattern, clause: Clause, present: set[str], tokens: set[str]) -> bool:
    """Whether a clause of this sort, with these words, is worth the pattern's time."""
    if (clause.question and not pattern.ask) or (pattern.first and not clause.first):
        return False
    if pattern.needs and pattern.needs.isdisjoint(present):
        return False
    return not (pattern.lexical_needs and pattern.lexical_needs.isdisjoint(tokens))


def _apply(pattern: Pattern, clause: Clause, context: values.Context) -> Iterator[Fact]:
    search = pattern.when.search if pattern.anywhere else pattern.when.match
    try:
        found = search(clause.text, timeout=_TIMEOUT)
        if not found or (pattern.skip and pattern.skip.search(clause.text, timeout=_TIMEOUT)):
            return
    except TimeoutError:  # the clause is not worth more time; other patterns may still match
        return
    groups = {name: value or "" for name, value in found.groupdict().items()}
    for row in pattern.parse(groups, context):
        yield _fact(pattern, {**groups, **row}, clause)


def _fact(pattern: Pattern, row: dict[str, str], clause: Clause) -> Fact:
    category = row.get("category", pattern.category)
    key = row.get("fact_key") or pattern.key.format_map(_Blank(row))
    value = row["item"] if "fact_key" in row and "item" in row else pattern.value.format_map(_Blank(row))
    return Fact(
        category=category,
        fact_key=key or "value",
        fact_value=value.strip(),
        confidence=min(pattern.confidence, _SOFT_CONFIDENCE) if clause.soft else pattern.confidence,
        kind=row.get("kind", pattern.kind),
        op=pattern.op,
        evidence=clause.raw[:200],
    )


class _Blank(dict[str, str]):
    """Template variables; a missing one is empty."""

    def __missing__(self, key: str) -> str:
        return ""
