"""Value parsers for pets."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules import quantities
from recall_sql.models.rules.lexicon import alternatives, words
from recall_sql.models.rules.people import proper_name
from recall_sql.models.rules.phrases import singular, snake, split_list, trim
from recall_sql.models.rules.values import Context, Groups, Row, parser


@parser
def named_pet(groups: Groups, context: Context) -> list[Row]:
    """ "a cat called Mochi", "two dogs, Rex and Bo", "a dog": one row per pet."""
    animal = _animal(groups["animal"])
    names = [
        n
        for raw in split_list(groups.get("names") or "")
        if (n := proper_name(raw, lower_ok=len(raw.split()) == 1 and bool(groups.get("called"))))
    ]
    if names:
        return [{"fact_key": f"{snake(animal)}_{snake(n)}", "item": f"{animal} {n}"} for n in names]
    number = quantities.number(groups.get("n") or "a")
    if number and number > 1:
        return [{"fact_key": f"{snake(animal)}s", "item": f"{number} {_plural(animal)}"}]
    breed = (groups.get("breed") or "").strip().lower()
    return [{"fact_key": snake(animal), "item": f"{breed} {animal}".strip()}]


_PUP = {
    "kitten": "cat",
    "kitty": "cat",
    "puppy": "dog",
    "pup": "dog",
    "bunny": "rabbit",
    "lab": "labrador",
    "doggo": "dog",
    "kittie": "cat",
}


def _animal(word: str) -> str:
    low = word.lower()
    single = low if low in words("animals") else singular(low)
    single = {"puppie": "puppy", "mice": "mouse", "bunnie": "bunny"}.get(single, single)
    return _PUP.get(single, single)


def _plural(animal: str) -> str:
    return {"mouse": "mice", "fish": "fish", "goldfish": "goldfish", "sheep": "sheep"}.get(animal, animal + "s")


_PET_ITEM = re.compile(
    rf"(?i)^(?P<n>an?|one|two|three|four|five|six|seven|\d|a\s+couple\s+of|my|our|"
    rf"both)?\s*(?:(?:[\w-]+\s+){{0,3}}?)(?P<animal>{alternatives('animals')})(?:s|es)?(?=$|"
    rf"[\s,])(?!\s(?:{alternatives('animals')})s?\b)"
    r"(?:,?\s+(?P<called>called|named|and\s+(?:named|called)\s+(?:him|her|it|them)|"
    r"by\s+the\s+name\s+of|who\s+is\s+called|whose\s+name\s+is)\s+(?P<names>.+)|,"
    r"?\s+(?P<names>[A-Z].*))?"
)


@parser
def pets(groups: Groups, context: Context) -> list[Row]:
    """ "two cats and a dog named Rex": every pet of the list."""
    phrase = groups["obj"]
    whole = _PET_ITEM.match(phrase)
    if not whole:
        return []
    if whole.group("names"):
        rows = named_pet({k: v or "" for k, v in whole.groupdict().items()}, context)
        # "two cats, Milo and Otis, and a dog": names end where an article starts
        rest = re.search(r"(?i)(?:,|\band)\s+(?=(?:an?|one|two|three)\s)(.+)$", whole.group("names"))
        if rest:
            head = whole.group("names")[: rest.start()]
            rows = named_pet({**{k: v or "" for k, v in whole.groupdict().items()}, "names": head}, context)
            rows += pets({"obj": rest.group(1)}, context)
        return rows
    rows = []
    for part in split_list(trim(phrase)):
        found = _PET_ITEM.match(part)
        if found:
            rows += named_pet({k: v or "" for k, v in found.groupdict().items()}, context)
    return rows


@parser
def my_pet(groups: Groups, context: Context) -> list[Row]:
    """ "my cat Mochi", "our dogs are Rex and Bo"."""
    text = groups.get("names") or ""
    text = re.split(
        r"(?i)\s+(?:is|has|likes?|loves?|was|who|which|hates?|keeps?|just|needs?|will|gets?|for|to|with|in|on)\b", text
    )[0]
    return named_pet(
        {"animal": groups["animal"], "names": text, "called": groups.get("called") or "", "n": ""}, context
    )


@parser
def pet_kind(groups: Groups, context: Context) -> list[Row]:
    """ "I keep chickens": the kind in the plural, no number."""
    animal = _animal(groups["animal"])
    return [{"fact_key": f"{snake(animal)}s", "item": _plural(animal)}]
