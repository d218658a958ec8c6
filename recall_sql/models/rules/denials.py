"""Plain denials: "I'm not vegan", "I don't live in Berlin", "forget that I'm allergic to walnuts".

A denial takes back exactly what its positive form would state. It says nothing if it is about less than that ("not
only", "not yet", "not at home", "not because …"), if it is doubted ("am I?") or if it isn't the speaker's own word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import regex as re

from recall_sql.facts import Fact
from recall_sql.models.rules.phrases import singular
from recall_sql.models.rules.text import Clause, Sentence
from recall_sql.models.rules.wording import expand

# Wishes, limits and orders are no states: to deny them says something else ("I don't want to go to Paris").
_STATES = frozenset(
    [
        "allergy",
        "dietary",
        "education",
        "family",
        "habit",
        "health",
        "hobby",
        "identity",
        "language",
        "likes",
        "location",
        "pet",
        "possession",
        "work",
    ]
)
_DENIAL = re.compile(
    r"(?i)^(?P<be>(?:I|we)\s(?:am|are)\s)(?:not|no)\s(?P<what>\S.*)$"
    r"|^(?P<have>(?:I|we)\shave\s)(?:no|not\sgot|not)\s(?P<what>(?!been\b)\S.*)$"
    r"|^(?P<do>(?:I|we)\s)do\snot\s(?P<what>\S.*)$"
    r"|^(?P<my>my\sname\sis\s)not\s(?P<what>\S.*)$"
)
_FORGET = re.compile(
    r"(?i)^(?:please\s|you\scan\s|just\s)*(?:forget|ignore|disregard|unlearn|scratch|delete|erase|drop)"
    r"(?:\sabout)?(?:\sthe\sfact)?(?:\sthat)?\s(?=(?:I|we)\s(?:am|are|have|live|work|speak|like|love|eat|drink|own|play|study)\b)"
)
_PARTLY = re.compile(
    r"(?i)(?:\bnot|n'?t|\bno)\s+(?:only|just|merely|simply|solely|always|so|as|too|very|that|all|much|quite|really|"
    r"100\s?%|the|another|like|\w+ly(?<!actually|currently|presently|family)|"
    r"an?\s+(?:strict|full|big|huge|heavy|real|good|very|native|total|\w+ly)|"
    r"(?:\w+\s+)?(?:live|work|study|speak|eat|drink|play|have)\s+(?:alone|full|part|remotely|together|permanently|directly|"
    r"much|both|either|all|just|only|really|\w+ly))\b"
)
_OTHERWISE = re.compile(r"(?i)(?:\bnot|n'?t)\s+(?:only|just)\b|[,\s](?:because|cause|cuz|until|till|unless|yet)\b")
_DOUBTED = re.compile(
    r"(?i)[,\s](?:(?:am|are|do|did|have|was)\s+(?:I|we)|right|correct|eh|huh|remember|(?:is|was)\s+(?:it|that)|no|yes|or\s+not)\s*$"
)
_TAIL = re.compile(
    r"(?i),?\s+(?:after\s+all|at\s+all|in\s+fact|in\s+reality|as\s+it\s+turns\s+out|it\s+turns\s+out|either|anyway|"
    r"thank\s+(?:god|goodness))$"
)
_OR = re.compile(r"(?i)\s+or\s+")
_WORD = re.compile(r"[^\W_]+")
_LISTS = frozenset(["allergy", "dietary", "language", "hobby", "pet", "likes"])


def positives(clause: Clause, sentence: Sentence) -> list[Clause]:
    """What a plain denial denies, as statements, the likeliest wording first; [] if `clause` isn't one."""
    if clause.soft or clause.question or clause.anymore:
        return []
    if _DOUBTED.search(sentence.text) or _OTHERWISE.search(sentence.text):
        return []
    text = _TAIL.sub("", clause.text)
    forgotten = _FORGET.match(text)
    if forgotten:
        return [replace(clause, text=text[forgotten.end() :])]
    denial = _DENIAL.match(text)
    if not denial or _PARTLY.search(clause.raw) or not _denied_here(denial["what"], clause.raw):
        return []
    opening = denial["be"] or denial["have"] or denial["do"] or denial["my"]
    what = _OR.sub(" and ", re.sub(r"(?i)^((?:have|own|keep)\s)?any\s", r"\1", denial["what"]))
    articles = ("", "a ") if denial["have"] and not what.endswith("s") else ("",)  # "no dog"
    return [replace(clause, text=f"{opening}{article}{what}", now=False) for article in articles]


def taken_back(facts: Sequence[Fact], denied: Clause) -> list[Fact]:
    """`facts`, which `denied` would state, as retractions; none of them if the denial goes on behind what it denies."""
    if not facts or any(fact.category not in _STATES or fact.op != "assert" for fact in facts):
        return []
    categories = {fact.category for fact in facts}
    ends = [_ends_with(denied.text, fact) for fact in facts]
    if not (all(ends) or (any(ends) and len(categories) == 1 and categories <= _LISTS)):
        return []
    return [fact.model_copy(update={"op": "retract"}) for fact in facts]


def same_value(denied: str, held: str) -> bool:
    """Whether taking back the value `denied` is about a fact that says `held`. "dog" is about "dog Rex"."""
    a, b = (f" {' '.join(singular(word) for word in _WORD.findall(value.lower()))} " for value in (denied, held))
    return not denied.strip() or denied in ("true", "false") or held in ("true", "false") or a in b or b in a


def _denied_here(what: str, raw: str) -> bool:
    """The "not" stands in front of it as written: "not vegan, allergic to nuts" doesn't deny the allergy."""
    first = next((w for w in _WORD.findall(what) if w.lower() not in ("a", "an", "any", "the")), "")
    return bool(
        re.search(
            rf"(?i)(?:\bnot?|\bor|\bnor)\s+(?:got\s+)?(?:(?:actually|currently|presently|even|am|do\s+not)\s+)?"
            rf"(?:(?:an?|any|the)\s+)?{re.escape(first)}\b",
            expand(raw),
        )
    )


def _ends_with(text: str, fact: Fact) -> bool:
    """The last word is one of the fact's own: "I speak Danish at home" ends with another."""
    words = _WORD.findall((text.split(",")[0] if fact.category == "location" else text).lower())
    own = _WORD.findall(f"{fact.fact_key} {fact.fact_value}".replace("_", " ").lower())
    return any(_alike(words[-1], word) for word in own) if words else False


def _alike(a: str, b: str) -> bool:
    return a == b or (min(len(a), len(b)) >= 4 and a[:4] == b[:4])
