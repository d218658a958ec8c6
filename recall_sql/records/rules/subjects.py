"""Whose record a message is: "Ana spent 20 euros" is what Ana did, "Lidl groceries 45 euros" what the user did."""

from __future__ import annotations

from functools import cache
from typing import Any

from recall_sql.records.rules import patterns as re
from recall_sql.records.rules.words import fold, irregular, lexicon, stem, stopwords, word_list
from recall_sql.records.schemas import Schema

_OPENING = (
    r"(?i)^(?:(?:log|add|record|note(?:\s+down)?|track|save|remember|fyi|btw|also|so|today|yesterday|earlier|tonight|"
    r"(?:this|last|on|next)\s+\p{L}+(?:\s+(?:morning|evening|night|afternoon))?)\b\s*[:,]?\s+(?:that\s+)?)+(?-i:(?=\p{Lu}))"
)
_NAMES = r"(?:(?:Mrs?|Ms|Dr)\.?\s+)?\p{Lu}[\p{L}'’-]+(?:\s+\p{Lu}[\p{L}'’-]+)?"
_DONE_BY = re.compile(
    rf"(?P<names>{_NAMES}(?:(?:,|\s+and|\s*&)\s+{_NAMES}){{0,3}})\s+(?:ha[sd]\s+|have\s+)?"
    r"(?:(?:just|also|already|always|only|then|\p{Ll}+ly)\s+)*(?P<verb>\p{Ll}{2,})(?![\p{L}'’-])(?P<rest>[^\n]*)"
)
_TO_THE_USER = r"(?i)\s+(?:me|us)\b"
_WITHOUT_OBJECT = (
    r"(?i)\s*(?:$|[,.;:!?(–—-]|(?:for|at|from|on|in|with|by|to|via|of|off|today|yesterday|this|last|again|and)\b)"
)
_WHO = (
    r"(?i)^name$|(?:^|_)(?:who|person|child|baby|kid|pet|animal|dog|cat|player|employee|member|customer|client|patient|"
    r"student|driver|worker|athlete|buyer|borrower|lender|sender|payer|giver|donor|team|done_by|paid_by|participant)s?(?:_|$)"
)


def is_somebody_elses(text: str) -> bool:
    """Whether `text` begins with a name and what its bearer did; a shop that begins a note has done nothing."""
    m = _DONE_BY.match(re.sub(_OPENING, "", text))
    if not m:
        return False
    verb, rest = fold(m["verb"]), m["rest"]
    if (
        not _is_deed(verb)
        or verb in word_list("nobodys_deeds")
        or (verb in word_list("to_the_user") and re.match(_TO_THE_USER, rest))
    ):
        return False
    if verb not in word_list("preterites") and re.match(_WITHOUT_OBJECT, rest):  # "Shoes bought for 30 euros"
        return False
    return not any(_is_common(word) for word in re.findall(r"[\p{L}'’-]{2,}", m["names"]) if word != "and")


def tells_who(schema: Schema) -> bool:
    """Whether its records say who did it, so that a name as the subject belongs into them."""
    return any(spec.kind == "text" and re.search(_WHO, spec.name) for spec in schema.fields)


def _is_deed(verb: str) -> bool:
    """A past form that looks like one."""
    if verb == "read":
        return True
    if verb in irregular():
        return verb != irregular()[verb] and not verb.endswith(("s", "ing", "e"))
    return len(verb) > 3 and verb.endswith("ed") and verb not in word_list("participles")


def _is_common(word: str) -> bool:
    """A word that has its capital only because it begins the note: a weekday, a meal, a bill, a deed."""
    low = fold(word).removesuffix("'s")
    return (
        bool({low, stem(low)} & _common()) or low.endswith(("ing", "ly")) or stem(low) in stopwords() or _is_deed(low)
    )


@cache
def _common() -> frozenset[str]:
    """Every word of lexicon.yaml, as it stands there."""
    words: set[str] = set()

    def gather(part: Any) -> None:
        if isinstance(part, dict):
            for name, value in part.items():
                gather(name)
                gather(value)
        elif isinstance(part, list):
            for value in part:
                gather(value)
        elif isinstance(part, str):
            words.update(fold(word) for word in re.findall(r"[\p{L}'’-]{2,}", part))

    gather(lexicon())
    return frozenset(words)
