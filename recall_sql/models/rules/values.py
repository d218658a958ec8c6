"""Value parsers: what a pattern's groups become. Each gets groups and clause and returns rows for the templates.

A row may set `fact_key`, `category` or `kind` itself; an empty list means "this is not a fact after all". Parsers are
looked up by name from `patterns.yaml` (`PARSERS`). Here: the frame and the plain ones; the others are filed by subject.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import regex as re

from recall_sql.models.rules import quantities
from recall_sql.models.rules.phrases import bare, singular, snake, split_list, trim
from recall_sql.models.rules.text import Clause

Row = dict[str, str]


Groups = dict[str, str]


@dataclass
class Moment:
    """When something was said, or None. asked: somebody has wanted to know, so what was found may depend on it."""

    at: datetime | None
    asked: bool = False


@dataclass(frozen=True)
class Context:
    """What a parser may look at besides its groups."""

    clause: Clause
    moment: Moment

    @property
    def now(self) -> datetime | None:
        """When it was said, or None."""
        self.moment.asked = True
        return self.moment.at


Parser = Callable[[Groups, Context], list[Row]]


PARSERS: dict[str, Parser] = {}


def parser(function: Parser) -> Parser:
    """Registers a value parser under its own name."""
    PARSERS[function.__name__] = function
    return function


@parser
def flag(groups: Groups, context: Context) -> list[Row]:
    """The pattern's own words say it all."""
    return [{"item": "true", **groups}]


@parser
def count(groups: Groups, context: Context) -> list[Row]:
    """A whole number in digits or words."""
    n = quantities.number(groups["n"])
    return [] if n is None else [{"n": str(n), **{k: v for k, v in groups.items() if k != "n"}}]


@parser
def age(groups: Groups, context: Context) -> list[Row]:
    """An age between 3 and 115."""
    rows = count(groups, context)
    return rows if rows and 3 <= int(rows[0]["n"]) <= 115 else []


@parser
def item(groups: Groups, context: Context) -> list[Row]:
    """One noun phrase, trimmed."""
    phrase = bare(trim(groups["obj"]))
    return [{"item": phrase, "key": snake(phrase)}] if _nounlike(phrase) else []


@parser
def items(groups: Groups, context: Context) -> list[Row]:
    """A list of noun phrases."""
    return [
        {"item": phrase, "key": snake(singular(phrase.lower()))}
        for raw in split_list(trim(groups["obj"]))
        if _nounlike(phrase := bare(trim(raw)))
    ]


_POINTER = re.compile(
    r"(?i)^(?:it|that|this|them|these|those|you|your|yours|him|her|his|their|he|she|they|me|us|one|"
    r"ones|how|what|when|why|who|whatever|"
    r"everything|something|anything|nothing|everyone|someone|anyone|nobody|all|both|none|each|here|"
    r"there|there's|not|no|my|our|myself|so|such|to|the|another|other|others)\b"
)


_MAX_WORDS = 7


def _nounlike(phrase: str) -> bool:
    return bool(phrase) and phrase[0].isalnum() and len(phrase.split()) <= _MAX_WORDS and not _POINTER.match(phrase)


@parser
def as_said(groups: Groups, context: Context) -> list[Row]:
    """The group `obj`, as written, shortened at a comma."""
    value = re.split(r",|;|\u2039", groups["obj"])[0].strip(" .!?")
    return [{"item": value, "key": snake(value, 6)}] if value and len(value.split()) <= 12 else []


@parser
def item_key(groups: Groups, context: Context) -> list[Row]:
    """The matched noun is the key."""
    item = bare(groups["item"])
    return [{"item": item, "key": snake(item)}]
