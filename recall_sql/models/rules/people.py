"""Value parsers for names and relatives."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules import places, quantities
from recall_sql.models.rules.lexicon import alternatives, mapping, words
from recall_sql.models.rules.phrases import singular, snake, split_list
from recall_sql.models.rules.values import Context, Groups, Row, parser

_NAME = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr)\.?\s)?[\p{Lu}][\p{L}'’-]*(?:\s(?:(?:de|da|van|von|der|la|bin|al|di|"
    r"del)\s)?[\p{Lu}][\p{L}'’-]*){0,3}|[\p{Lo}]{1,12}"
)


_NOT_NAME = frozenset(
    [
        "i",
        "i'm",
        "so",
        "not",
        "a",
        "an",
        "the",
        "here",
        "sorry",
        "sure",
        "fine",
        "good",
        "okay",
        "ok",
        "just",
        "back",
        "happy",
        "glad",
        "sad",
        "tired",
        "new",
        "very",
        "really",
        "yes",
        "no",
        "also",
        "and",
        "but",
        "from",
        "in",
        "at",
        "on",
        "what",
        "how",
        "my",
        "is",
        "it",
        "god",
        "christmas",
        *quantities.WEEKDAYS,
        "english",
        "mac",
        "pro",
        "interested",
        "ready",
        "trying",
        "looking",
        "going",
        "done",
        "busy",
        "sick",
        "hungry",
        "bored",
        "excited",
        "late",
        "lost",
        "confused",
        "married",
        "single",
        "vegan",
        "vegetarian",
        "pescatarian",
        "allergic",
        "diabetic",
        "available",
        "thinking",
        "free",
        "old",
        "born",
        "based",
        "planning",
        "team",
        "windows",
        "linux",
        "ios",
        "android",
        "none",
        "nothing",
        "all",
        "too",
        "still",
        "always",
        "never",
        "currently",
        "now",
        "curious",
        "stuck",
        "afraid",
        "right",
        "wrong",
        "well",
        "great",
        "pretty",
        "because",
        "same",
        "looky",
        "new",
        "right",
        "over",
        "down",
        "nobody",
        "everyone",
        "right",
        "back",
        "look",
        "welcome",
        "stop",
        "good",
        "nice",
        "first",
        "last",
        "done",
        "more",
        "there",
        "where",
        "why",
        "winter",
        "summer",
        "everything",
        "muslim",
        "catholic",
        "christian",
        "jewish",
        "hindu",
        "buddhist",
        "atheist",
        "agnostic",
        "me",
        "time",
        "typo",
        "on",
        "out",
        "off",
        "gonna",
        "about",
        "whatever",
        "anything",
        "up",
        "down",
        "self-employed",
        "unemployed",
        "retired",
        "pregnant",
        "lactose",
        "celiac",
        "coeliac",
        "with",
        "without",
        "yesterday",
        "today",
        "tonight",
        "spelled",
        "spelt",
        "pronounced",
        "written",
        "hard",
        "long",
        "short",
        "difficult",
        "common",
        "important",
        "taken",
        "mentioned",
    ]
)


def proper_name(text: str, *, lower_ok: bool = False) -> str | None:
    """The person or pet name `text` starts with, or None."""
    text = text.strip(" ,.!'\"")
    found = _NAME.match(text)
    if found:
        name = found.group().strip(" '-")
        first = name.split()[0].lower()
        return None if first in _NOT_NAME else name
    if not lower_ok:
        return None
    word = re.match(r"[\p{L}][\p{L}'-]{1,20}(?=$|[\s,.!])", text)
    if not word or word.group().lower() in _NOT_NAME or len(text.split()) > 3 or _VERBAL.search(word.group()):
        return None
    return word.group().capitalize()


_VERBAL = re.compile(r"(?<=[a-z]{3})(?:ing|ed)$")  # "my name is misspelled" names nobody


@parser
def name(groups: Groups, context: Context) -> list[Row]:
    """A person's name after words that can only introduce one."""
    found = proper_name(groups["obj"], lower_ok=context.clause.raw.islower() or "name" in context.clause.low)
    return [{"item": found}] if found and not _NOT_CALLED.match(found) else []


_NOT_CALLED = re.compile(
    r"(?i)(?:later|back|when|if|tomorrow|tonight|asap|now|anytime|maybe|crazy|old|lazy|by|at|tonight|"
    r"please|soon|mad|stupid|biased|weird|names?|again|out|over|up)\b"
)


@parser
def bare_name(groups: Groups, context: Context) -> list[Row]:
    """ "I'm Lina": a capitalised word that is no nationality, place, diet or adjective we know."""
    phrase = re.sub(r"(?i)(?:\s+(?:here|from|and|with|by)\b|,).*$", "", groups["obj"]).strip()
    found = proper_name(phrase)
    if not found or found != phrase or len(found.split()) > 3:
        return []
    low = found.lower()
    known = (
        words("nationalities")
        | words("languages")
        | words("diets")
        | words("conditions")
        | words("religions")
        | words("jobs")
    )
    if low in known or (found.isupper() and len(found) > 1) or low.endswith(("ing", "ed")) or singular(low) in known:
        return []
    if places.kind(found) == "country":
        return []
    return [{"item": found}]


@parser
def relative(groups: Groups, context: Context) -> list[Row]:
    """A relation of the user, with a name or 'true'."""
    rel = re.sub(r"[\s-]+", " ", groups["rel"].lower())
    hyphened = groups["rel"].lower()
    key = mapping("relation_keys").get(hyphened, mapping("relation_keys").get(rel, rel))
    named = proper_name(groups.get("obj") or "", lower_ok=bool(groups.get("called")))
    if groups.get("obj") and not named:
        return []
    return [{"fact_key": snake(key), "item": named or "true"}]


@parser
def relatives(groups: Groups, context: Context) -> list[Row]:
    """ "two kids, Mia and Leo", "a daughter and a son", "three sisters"."""
    rows: list[Row] = []
    for part in re.split(r"(?i),?\s+(?:and|plus)\s+(?=an?\s|one\s|two\s|three\s|\d)|,\s+(?=an?\s)", groups["obj"]):
        found = _RELATIVE_ITEM.match(part.strip())
        if not found:
            break
        rows += _relative_rows(found)
    return rows


_RELATIVE_ITEM = re.compile(
    rf"(?i)^(?P<n>an?|one|two|three|four|five|six|seven|eight|\d{{1,2}}|a\s+couple\s+of|"
    rf"twin)\s+(?:(?:[\w-]+\s+){{0,2}}?)(?P<rel>{alternatives('relations')}|children|siblings|"
    rf"grandchildren|grandkids|kiddos|boys|girls|boy|girl)s?(?![\w-])"
    r"(?:,?\s*(?:\w+\s+)?(?P<called>called|named)\s+(?P<names>.+)|[,:]?\s*\(?(?P<names>[A-Z]\w+(?:(?:,|"
    r"\s+and|\s+&|,\s+and)\s+(?:little\s|baby\s)?[A-Z]\w+)*))?"
)


_COUNTED = {
    "toddler": "children_count",
    "kid": "children_count",
    "child": "children_count",
    "children": "children_count",
    "kiddo": "children_count",
    "kiddos": "children_count",
    "siblings": "siblings_count",
    "grandchildren": "grandchildren_count",
    "grandkids": "grandchildren_count",
    "boys": "sons_count",
    "girls": "daughters_count",
    "boy": "sons_count",
    "girl": "daughters_count",
    "son": "sons_count",
    "daughter": "daughters_count",
    "brother": "brothers_count",
    "sister": "sisters_count",
}


def _relative_rows(found: re.Match[str]) -> list[Row]:
    rel = re.sub(r"\s+", " ", found.group("rel").lower())
    n = quantities.number(found.group("n")) or 2
    key = mapping("relation_keys").get(rel, rel)
    listed = re.sub(r"\b(?:little|baby)\s", "", found.group("names") or "")
    names = [x for raw in split_list(listed) if (x := proper_name(raw))]
    rows: list[Row] = []
    if n == 1 and rel not in ("kid", "child", "children", "toddler"):
        rows.append(
            {"fact_key": snake({"boy": "son", "girl": "daughter"}.get(key, key)), "item": names[0] if names else "true"}
        )
        return rows
    counted = _COUNTED.get(rel) or (f"{snake(key)}s_count")
    rows.append({"fact_key": counted, "item": str(n)})
    if names:
        single = {
            "kids": "child",
            "kid": "child",
            "children": "child",
            "siblings": "sibling",
            "grandchildren": "grandchild",
            "grandkids": "grandchild",
            "boys": "son",
            "girls": "daughter",
        }.get(rel, singular(key))
        rows.append(
            {"fact_key": f"{snake(single)}_names" if len(names) > 1 else snake(single), "item": ", ".join(names)}
        )
    return rows


@parser
def persona(groups: Groups, context: Context) -> list[Row]:
    """A type of person: key and value are the noun itself."""
    item = groups["item"]
    return [
        {"item": "true", "key": snake({"introverted": "introvert", "extroverted": "extrovert"}.get(item.lower(), item))}
    ]


@parser
def named_relatives(groups: Groups, context: Context) -> list[Row]:
    """ "my kids, Ben and Lucy": their names in one list."""
    rel = {
        "kids": "child",
        "children": "child",
        "twins": "child",
        "boys": "son",
        "girls": "daughter",
        "grandkids": "grandchild",
        "grandchildren": "grandchild",
    }.get(groups["rel"].lower(), singular(groups["rel"].lower()))
    return [{"fact_key": f"{rel}_names", "item": ", ".join(split_list(groups["names"]))}]


@parser
def siblings(groups: Groups, context: Context) -> list[Row]:
    """ "the youngest of five": four siblings."""
    n = quantities.number(groups["n"])
    return [{"n": str(n - 1)}] if n and n > 1 else []


@parser
def newborn(groups: Groups, context: Context) -> list[Row]:
    """ "we had a baby girl"."""
    rel = {"girl": "daughter", "boy": "son"}.get(groups["rel"].lower(), groups["rel"].lower())
    return [{"fact_key": rel, "item": proper_name(groups.get("obj") or "") or "true"}]


@parser
def spouse(groups: Groups, context: Context) -> list[Row]:
    """ "married to Tom"."""
    named = proper_name(groups["obj"])
    return [{"fact_key": "spouse" if groups["how"].lower() == "married" else "fiance", "item": named}] if named else []
