"""Names given a clause later: in "We got a puppy. His name is Rex." the second sentence completes the first one's fact.

Only pets and relatives, and only from the clauses right behind: anything said about somebody else in between ends it.
"""

from __future__ import annotations

import regex as re

from recall_sql.facts import Fact
from recall_sql.models.rules.people import proper_name
from recall_sql.models.rules.phrases import singular, snake, split_list
from recall_sql.models.rules.text import Clause

_NAMING = re.compile(
    r"(?i)^(?:and\s)?(?:(?P<who>his|her|its|their)\snames?\s(?:is|are|:)|"
    r"(?P<who>he|she|it|they)\s(?:(?:is|are|was|were)\s(?:called|named)|goes?\sby|answers?\sto)|"
    r"(?:the\s)?names?\s(?:is|are)|"
    r"(?:I|we)\s(?:have\s)?(?:named|calle?d?(?=\s\w+\s(?-i:\p{Lu})))\s(?P<who>him|her|it|them)|"
    r"(?:called|named)(?:\s(?P<who>him|her|it|them))?)"
    r"\s(?P<names>(?-i:\p{L})[\p{L}' &,-]{1,60})$"
)
_STILL_ABOUT_IT = re.compile(r"(?i)^(?:he|she|it|they|his|her|its|their)\b")
_FEMALE = frozenset(
    ["mother", "sister", "daughter", "wife", "girlfriend", "grandmother", "aunt", "niece", "granddaughter", "fiancee"]
)
_MALE = frozenset(
    ["father", "brother", "son", "husband", "boyfriend", "grandfather", "uncle", "nephew", "grandson", "fiance"]
)
_COUNTS = {"children": "child", "grandchildren": "grandchild"}


def is_naming(clause: Clause) -> bool:
    """The clause says what somebody spoken of before is called."""
    return _NAMING.match(clause.text) is not None


class Thread:
    """The nameless pet or relative a message speaks of, clause by clause.

    dropped: facts that a name made superfluous, by identity.
    """

    def __init__(self) -> None:
        self.dropped: dict[int, Fact] = {}
        self._open: Fact | None = None

    def follow(self, clause: Clause, facts: list[Fact]) -> list[Fact]:
        """The facts of a clause, read behind the ones before: `facts` unless it names the open one."""
        naming = _NAMING.match(clause.text)
        if naming and self._open and (not facts or facts[0].category == "identity"):
            named = _named(self._open, (naming.group("who") or "").lower(), naming.group("names"))
            if named:
                if self._open.category == "pet":
                    self.dropped[id(self._open)] = self._open
                self._open = None
                return named
        nameless = [fact for fact in facts if _nameless(fact)]
        if nameless:
            self._open = nameless[-1]
        elif not _STILL_ABOUT_IT.match(clause.text):
            self._open = None
        return facts


def _nameless(fact: Fact) -> bool:
    if fact.op != "assert":
        return False
    if fact.category == "family":
        return fact.fact_value == "true" or fact.fact_key.endswith("_count")
    return fact.category == "pet" and fact.fact_value.islower()


def _named(fact: Fact, who: str, phrase: str) -> list[Fact]:
    """The facts that `phrase`, names in a list, makes of `fact`; none when they can't belong together."""
    names = [name for part in split_list(phrase) if (name := proper_name(part, lower_ok=len(part.split()) == 1))]
    if not names or (who in ("he", "his", "him") and fact.fact_key in _FEMALE):
        return []
    if who in ("she", "her") and fact.fact_key in _MALE:
        return []
    if fact.category == "pet":
        animal = singular(fact.fact_key.replace("_", " "))
        return [
            fact.model_copy(update={"fact_key": f"{snake(animal)}_{snake(name)}", "fact_value": f"{animal} {name}"})
            for name in names
        ]
    if fact.fact_value == "true":
        return [fact.model_copy(update={"fact_value": names[0]})]
    several = fact.fact_key.removesuffix("_count")
    key = f"{_COUNTS.get(several, singular(several))}_names"
    return [fact.model_copy(update={"fact_key": key, "fact_value": ", ".join(names)})]
