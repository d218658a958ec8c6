"""search_tokens(text[, language]) and search_terms(query[, language]): what a text is found by.

Deterministic and without a model. Words are cut by script, not by blanks alone: letters and digits hold together,
scripts written without blanks become pairs of characters, and words are stemmed where Snowball has a stemmer for their
script.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa
import regex
import Stemmer

from recall_sql.errors import InputError
from recall_sql.functions import arguments
from recall_sql.functions.arguments import Column

if TYPE_CHECKING:
    from recall_sql.instance import Instance

LANGUAGE = "english"
_LONGEST = 64  # characters of a word that are kept: beyond that it is a blob, not a word
_LONGEST_RUN = 65_536  # characters, where there are no blanks between words

# Scripts that are written without blanks between words, or whose words carry particles: found by pairs of characters.
_UNSPACED = (
    r"\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}"
    r"\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}"
)
# Sets are repeated, and groups only so often: regex remembers every turn of a repeated group, which for a word of
# 16 MB is more than it allows itself.
_PIECES = regex.compile(
    rf"(?P<number>\p{{Nd}}++(?:[.,:]\p{{Nd}}++){{0,31}}+(?![\p{{L}}\p{{M}}]))"
    rf"|(?P<unspaced>[{_UNSPACED}][{_UNSPACED}\p{{M}}]*+)"
    rf"|(?P<word>[[\p{{L}}\p{{N}}]--[{_UNSPACED}]]"
    rf"[[\p{{L}}\p{{N}}\p{{M}}]--[{_UNSPACED}]]*+"
    rf"(?:['’][[\p{{L}}\p{{M}}]--[{_UNSPACED}]]++){{0,31}}+)",
    regex.V1,
)
_ENDINGS = frozenset(("s", "t", "d", "m", "ll", "re", "ve"))  # what English puts behind an apostrophe
_SINGLE = regex.compile(r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]")
_CLUSTER = regex.compile(r"\X")
# Marks that are spelling aids in these scripts and vowels in others.
_ACCENTS = regex.compile(
    r"(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}]\p{Mn}*)\p{Mn}+|\u0640"
)
_SCRIPTS = [
    (regex.compile(rf"\p{{Script={script}}}"), language)
    for script, language in (
        ("Cyrillic", "russian"),
        ("Greek", "greek"),
        ("Arabic", "arabic"),
        ("Devanagari", "hindi"),
        ("Tamil", "tamil"),
        ("Armenian", "armenian"),
    )
]

# Function words of English: a question is made of them, and they say nothing about what is looked for.
_FUNCTION_WORDS = frozenset(
    regex.findall(
        r"[a-z']+",
        """
        a about am an and any are as at be been being but by can could did do does doing done for from had
        has have having he her hers him his how i i'd i'll i'm i've if in into is it it's its just me my no
        not of on or our ours really she should so some tell than that that's the their theirs them then
        there these they this those to too us very was we were what what's when where which while who whom
        whose why will with would you you're you've your yours
        """,
    )
)


def tokens_of(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """VARCHAR[] per row: the tokens of the text; NULL for NULL."""
    return _each("search_tokens", columns, tokens)


def terms_of(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """VARCHAR[] per row: the terms of the query; NULL for NULL."""
    return _each("search_terms", columns, terms)


def _each(name: str, columns: Sequence[Column], find: Callable[[str, str], list[str]]) -> pa.Array:
    column, languages = arguments.split(name, columns)
    texts = arguments.texts(name, "text", column)
    spoken = [LANGUAGE] * len(texts) if languages is None else arguments.texts(name, "language", languages)
    found = [
        None if text is None else find(text, language or LANGUAGE) for text, language in zip(texts, spoken, strict=True)
    ]
    return pa.array(found, pa.list_(pa.string()))


def tokens(text: str, language: str = LANGUAGE) -> list[str]:
    """Every token of a text in order. Never empty if the text has a letter or a digit."""
    return [_stem(word, language) for word, _ in _words(text)]


def terms(query: str, language: str = LANGUAGE) -> list[str]:
    """What a query looks for: its distinct tokens, without English function words unless it has nothing else."""
    words = list(_words(query))
    content = [word for word in words if word[0] not in _FUNCTION_WORDS] or words
    # a single character says less than the pairs it is part of
    pairs = [word for word in content if not word[1]] or content
    return list(dict.fromkeys(_stem(word, language) for word, _ in pairs))


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """(word, whether it is a lone character of an unspaced script that its pairs cover too)."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    for piece in _PIECES.finditer(folded):
        found = piece.group()
        if piece.lastgroup == "unspaced":
            clusters = _CLUSTER.findall(found[:_LONGEST_RUN])
            for first, second in pairwise(clusters):
                yield first + second, False
            for cluster in clusters:
                if len(clusters) == 1 or _SINGLE.match(cluster):
                    yield cluster, len(clusters) > 1
        elif piece.lastgroup == "number":
            yield found[: _LONGEST * 4].replace(",", "")[:_LONGEST], False
        else:
            for part in _parts(found[:_LONGEST]):
                yield part, False


def _parts(word: str) -> list[str]:
    """don't is one word, l'homme is two."""
    before, mark, after = word.rpartition("'")
    return [word] if not mark or after in _ENDINGS else [*_parts(before), after]


@lru_cache(maxsize=200_000)
def _stem(word: str, language: str) -> str:
    stemmed = word if word[0].isdigit() else _stemmer(_language_of(word, language)).stemWord(word)
    bare = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", stemmed)))
    return bare or word


def _language_of(word: str, language: str) -> str:
    return next((spoken for script, spoken in _SCRIPTS if script.match(word)), language)


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    if language not in Stemmer.algorithms():
        raise InputError(f"there is no stemmer for {language!r}; there are {', '.join(Stemmer.algorithms())}")
    return Stemmer.Stemmer(language)
