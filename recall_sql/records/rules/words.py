"""Words as the rules compare them: folded, without endings, irregular verbs in their base form. No meaning in here."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import yaml

from recall_sql.records.rules import patterns as re

WORD = re.compile(r"[\p{L}\p{M}][\p{L}\p{M}'’-]*|\d[\d.,]*")


@cache
def lexicon() -> dict[str, Any]:
    """lexicon.yaml, read once."""
    text = resources.files("recall_sql").joinpath("records", "rules", "lexicon.yaml").read_text("utf-8")
    return yaml.safe_load(text)


@cache
def irregular() -> dict[str, str]:
    """Past form → base form."""
    return {form: base for base, forms in lexicon()["irregular"].items() for form in forms.split()}


@cache
def stopwords() -> frozenset[str]:
    """Words that say nothing about the subject of a message, as stems."""
    return frozenset(stem(word) for word in lexicon()["stopwords"].split())


@cache
def word_list(name: str) -> frozenset[str]:
    """A list of lexicon.yaml as it stands there."""
    return frozenset(str(lexicon()["words"][name]).split())


@cache
def stem_list(name: str) -> frozenset[str]:
    """The same as stems."""
    return frozenset(stem(word) for word in word_list(name))


def fold(text: str) -> str:
    """Lower case, without accents and without curly quotes."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "'"))
    return "".join(ch for ch in plain if not unicodedata.combining(ch)).casefold()


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A common form of "payment", "payments", "paid", "paying", good enough to compare."""
    low = fold(word).removesuffix("'s").strip("'-")
    low = irregular().get(low, low)
    if len(low) <= 3:
        return low
    for ending, least, instead in _ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) >= least:
            base = low[: len(low) - len(ending)] + instead
            if ending in ("ing", "ed", "er") and len(base) > 3 and base[-1] == base[-2] and base[-1] not in "ls":
                base = base[:-1]
            low = irregular().get(base, base)
            break
    return low[:-1] if len(low) > 3 and low.endswith("e") else low


_ENDINGS = (
    ("ments", 3, ""),
    ("ment", 3, ""),
    ("ies", 2, "y"),
    ("ied", 2, "y"),
    ("sses", 2, "ss"),
    ("shes", 2, "sh"),
    ("ches", 2, "ch"),
    ("xes", 2, "x"),
    ("ings", 3, ""),
    ("ing", 3, ""),
    ("ed", 3, ""),
    ("ss", 2, "ss"),
    ("us", 3, "us"),
    ("is", 3, "is"),
    ("s", 3, ""),
)


@lru_cache(maxsize=20_000)
def stems(text: str) -> tuple[str, ...]:
    """The stems of all words, in order; hyphenated and underscored words in parts."""
    return tuple(stem(word) for word in WORD.findall(re.sub(r"[_/-]", " ", text)))


def content(text: str) -> list[str]:
    """The stems that carry meaning."""
    return [word for word in stems(text) if word not in stopwords() and not word[0].isdigit() and len(word) > 1]
