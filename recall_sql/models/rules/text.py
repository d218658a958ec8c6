"""Cleans a message and cuts it into sentences; says what a sentence and a clause are.

Splitting sentences into clauses is `splitting.py`, putting a clause into the form patterns expect is `wording.py`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import regex as re

MAX_CLAUSE = 320  # characters; nobody states a fact about themself in a longer clause, pasted text does


_QUOTES = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "`": "'",
        "´": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "\u00a0": " ",
        "\u202f": " ",
        "\u200b": None,
        "\ufeff": None,
        "\u0000": None,
        "‑": "-",
    }
)


_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)


_INLINE_CODE = re.compile(r"`[^`\n]{1,200}`")


_QUOTED_LINE = re.compile(r"(?m)^[ \t]*>.*$")


_URL = re.compile(r"(?:https?://|www\.)\S+")


_QUOTATION = re.compile(
    r'"([^"\n]{1,400})"|(?<=[\s(:,])\'([A-Z][^\'\n]{1,300}(?:\'[a-z][^\'\n]{1,200})*)\'(?=[\s.,!?)]|$)'
)


_SPEECH = re.compile(r"(?i)\b(?:i|i'm|i've|my|me|we|our|you|your)\b")


QUOTE_MARK = "\u2039quote\u203a"  # what a masked quotation leaves behind


def clean(text: str) -> str:
    """NFC, NUL and zero-width characters out, straight quotes; code, quoted lines, links and quotations masked."""
    text = unicodedata.normalize("NFC", text)
    if "`" in text or "~~~" in text:
        text = _INLINE_CODE.sub(" ", _CODE.sub("\n", text))
    text = text.translate(_QUOTES)
    if ">" in text:
        text = _QUOTED_LINE.sub("", text)
    if "://" in text or "www." in text:
        text = _URL.sub(" ", text)
    if '"' in text or "'" in text:
        text = _QUOTATION.sub(_mask_quotation, text)
    return text


def _mask_quotation(match: re.Match[str]) -> str:
    """A quoted name or title stays ('a cat called "Mochi"'); quoted speech goes."""
    inner = match.group(1) or match.group(2) or ""
    if len(inner.split()) <= 5 and not _SPEECH.search(inner):
        return inner if match.group(1) else match.group(0)
    return f" {QUOTE_MARK} "


_ABBREVIATION = re.compile(
    r"(?i)\b(?:mr|mrs|ms|dr|st|prof|vs|etc|e\.g|i\.e|approx|no|jr|sr|u\.s|u\.k|a\.m|p\.m|[A-Z])\.$"
)


_SENTENCE_END = re.compile(r"[.!?…]+[\"')\]]*(?=\s|$)|[\n\r]+|\s\|\s|;\s|[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]+")


_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


@dataclass(frozen=True)
class Sentence:
    """One sentence as written. `question`: ends in a question mark. `bullet`: an item of a list."""

    text: str
    question: bool = False
    bullet: bool = False


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of cleaned text, in order."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        end = match.group()
        if end == "." and _ABBREVIATION.search(text[max(start, match.start() - 8) : match.end()]):
            continue
        yield from _sentence(text[start : match.start()], end)
        start = match.end()
    yield from _sentence(text[start:], "")


def _sentence(body: str, end: str) -> Iterator[Sentence]:
    bullet = bool(_BULLET.match(body))
    body = _BULLET.sub("", body).strip() if bullet else body.strip()
    if body and any(ch.isalpha() for ch in body):
        yield Sentence(body, "?" in end, bullet)


@dataclass(frozen=True)
class Clause:
    """A stretch with one statement.

    raw: as written (the evidence). text: contractions expanded, fillers removed, subject restored. conj: the word that
    joins it to the clause before. soft: hedged ("usually", "I think"). anymore: "any more", "no longer".
    now: "now", "again", "these days". question: stands in a sentence with a question mark. first: opens its sentence.
    """

    raw: str
    text: str
    conj: str = ""
    soft: bool = False
    anymore: bool = False
    now: bool = False
    question: bool = False
    first: bool = False
    bullet: bool = False

    @property
    def low(self) -> str:
        return self.text.lower()
