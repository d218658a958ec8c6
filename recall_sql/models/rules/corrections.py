"""Statements about earlier statements: "sorry, typo, it's Lina", "I'm not vegetarian any more", "forget my budget".

Works on the facts already held (`known`: dicts with alias, fact_id, category, fact_key, fact_value; all but the last
three may be missing). Whether the change is allowed is decided in SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import regex as re

from recall_sql.facts import Fact
from recall_sql.models.rules import denials, quantities
from recall_sql.models.rules.phrases import singular

_MARK = (
    r"(?:(?:sorry|oops|whoops|ah|oh|no|wait|ugh|apologies|my\s+bad|hmm|actually|correction|typo|"
    r"misspoke|edit|mistyped|misspelled|autocorrect|"
    r"that's\s+a\s+typo|that\s+was\s+a\s+typo|i\s+made\s+a\s+(?:typo|mistake)|small\s+correction|"
    r"my\s+mistake|slip\s+of\s+the\s+(?:tongue|keyboard)|that\s+was\s+wrong|scratch\s+that|"
    r"strike\s+that|i\s+misspoke|i\s+mistyped)\b[\s,.:;!–—-]*)"
)
_CORRECTION = re.compile(
    rf"(?i)^(?P<marks>{_MARK}*)(?:(?:i\s+(?:meant|mean)(?:\s+to\s+(?:say|write|type))?|"
    rf"it's\s+(?:actually|really|spelled|spelt|supposed\s+to\s+be)|it\s+is\s+(?:actually|spelled)|"
    rf"that\s+should\s+(?:be|have\s+been|read)|should\s+(?:be|have\s+been)|make\s+(?:that|it)|"
    r"(?P<plain>it's|it\s+is|that's|i'm|actually)|correct\s+spelling\s+is|"
    r"the\s+correct\s+(?:\w+\s)?is|i\s+said\s+(?P<old>[\w' ]{1,30}?),?\s+(?:but\s+)?i\s+meant|"
    r"(?:it's\s+|it\s+is\s+)?not\s+(?P<old>[\w' ]{1,30}?)\s*(?:,|but)\s*(?:it's|"
    r"but)?)\s*:?\s*)?(?P<new>(?:[^,.!?;]|[.,](?=\d)){1,40}?)(?:,?\s+(?:and\s+)?(?:not|instead\s+of|rather\s+than)\s+"
    r"(?P<old2>(?:[^,.!?;]|[.,](?=\d)){1,40}))?[.!]*$"
)
_TYPO = re.compile(r"(?i)\b(?:typo|meant|mistyp\w+|misspell?\w*|autocorrect|correction|misspoke|spelled|spelt)\b")
_ENOUGH = 0.5  # difflib ratio below which two spellings are not the same name


def corrected(text: str, known: Sequence[dict[str, Any]]) -> Fact | None:
    """The known fact that a short correction changes, with its new value; None when that is not exactly one."""
    if not known or len(text) > 120:
        return None
    found = _CORRECTION.match(text.strip().replace("’", "'"))
    if not found or not (
        found.group("marks")
        or re.match(r"(?i)^(?:i\s+mean|i\s+said|make|it's\s+actually|that\s+should|should|not\s)", text.strip())
        or found.group("old2")
    ):
        return None
    new = found.group("new").strip(" '\"")
    old = found.group("old") or found.group("old2")
    if not new or re.match(
        r"(?i)^(?:to|for|no|any|every|nothing|that|not|a\s+lot|sorry|about|the\s+delay|i|you|can|what|how|my|we|it)\b",
        new,
    ):
        return None
    target = _named(old, known) if old else _nearest(new, known, strict=not _TYPO.search(text))
    return _replacement(target, new, old, text) if target else None


def _named(old: str, known: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    same = [fact for fact in known if _says(fact, old.strip())]
    return same[0] if len(same) == 1 else None


def _says(fact: dict[str, Any], old: str) -> bool:
    """The known fact has the value `old`: as written, as an amount ("£1,800" is 1800), or as one name of its list."""
    value = str(fact.get("fact_value", ""))
    if value.lower() == old.lower() or old.lower() in value.lower().split(", "):
        return True
    return _NUMERIC.fullmatch(value) is not None and _amount(old) == _amount(value)


def _counts(fact: dict[str, Any], new: str) -> bool:
    """The known fact is a number of what `new` counts: "three kids" and children_count."""
    noun = singular(new.lower().split()[-1])
    noun = {"kid": "children", "child": "children", "grandkid": "grandchildren"}.get(noun, noun)
    return str(fact.get("fact_key", "")).startswith((f"{noun}_", f"{noun}s_", f"trip_length_{noun}"))


_NUMERIC = re.compile(r"\d+(?:\.\d+)?")


def _amount(text: str) -> str | None:
    """The number in `text`, in digits or words, as a plain numeral."""
    parsed = quantities.money(text)
    if parsed:
        return parsed[0]
    whole = quantities.number(text)
    return None if whole is None else str(whole)


def _nearest(new: str, known: Sequence[dict[str, Any]], *, strict: bool) -> dict[str, Any] | None:
    """The known fact whose value looks most like `new`; numbers only resemble numbers."""
    numeric = _amount(new) is not None
    counted = [fact for fact in known if numeric and _counts(fact, new)]
    if len(counted) == 1:
        return counted[0]
    scored = []
    for fact in known:
        value = str(fact.get("fact_value", ""))
        if value.lower() in ("true", "false", new.lower()) or numeric != any(ch.isdigit() for ch in value):
            continue
        ratio = SequenceMatcher(None, value.lower(), new.lower()).ratio()
        scored.append((ratio, fact))
    scored.sort(key=lambda pair: -pair[0])
    if not scored:
        return None
    best = scored[0]
    clear = len(scored) == 1 or best[0] - scored[1][0] > 0.1
    if numeric and len(scored) == 1:
        return best[1]
    return best[1] if best[0] >= (0.6 if strict else _ENOUGH) and clear else None


def _replacement(target: dict[str, Any], new: str, old: str | None, text: str) -> Fact:
    value, held = new, str(target.get("fact_value", ""))
    if _NUMERIC.fullmatch(held):
        value = _amount(new) or new
    elif old and ", " in held:
        value = ", ".join(new if name.lower() == old.strip().lower() else name for name in held.split(", "))
    return Fact(
        category=str(target["category"]),
        fact_key=str(target["fact_key"]),
        fact_value=value,
        confidence=0.9,
        evidence=text.strip()[:200],
        replaces=reference(target),
    )


def reference(known: dict[str, Any]) -> str | None:
    """How a fact names a known one: its alias, else its fact_id."""
    name = known.get("alias") or known.get("fact_id")
    return str(name) if name is not None else None


def aimed(fact: Fact, known: Sequence[dict[str, Any]]) -> Fact:
    """A retraction pointed at the one known fact it can mean; unchanged when there is none or several."""
    by_key: dict[str, dict[str, Any]] = {}
    for k in known:  # what is believed, then the same as it was said
        if k.get("category") == fact.category:
            by_key.setdefault(str(k.get("fact_key")), k)
    same_category = list(by_key.values())
    exact = [k for k in same_category if k.get("fact_key") == fact.fact_key]
    if not exact and fact.category == "pet":
        exact = [k for k in same_category if str(k.get("fact_key", "")).startswith(fact.fact_key + "_")]
    if not exact and fact.fact_key in ("max_amount", "diet", "goal", "hobby", "travel_date"):
        exact = same_category
    if len(exact) != 1 or not denials.same_value(fact.fact_value, str(exact[0].get("fact_value", ""))):
        return fact
    target = exact[0]
    return fact.model_copy(
        update={
            "fact_key": str(target["fact_key"]),
            "fact_value": fact.fact_value or str(target.get("fact_value", "")),
            "replaces": reference(target),
        }
    )
