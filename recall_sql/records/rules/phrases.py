"""Cuts a message into its verb, the phrase in front of it, its object, and the phrases after each preposition.

No grammar to speak of: one pass over the words, in which prepositions, commas and measured parts end a phrase.
"""

from __future__ import annotations

from dataclasses import dataclass

from recall_sql.records.rules import patterns as re
from recall_sql.records.rules.spans import Spans
from recall_sql.records.rules.words import fold, irregular, lexicon, stem, word_list

_PREPOSITION = "|".join(
    (
        "because of|due to|thanks to|caused by|triggered by|written by|called|named|titled",
        "to|for|from|by|at|in|on|with|of|about|after|before|during|into|near|using|via|against|inside|around|along",
        "through|when|over|under|per|as|since|without",
    )
)
_TOKEN = re.compile(r"[\p{L}\p{M}\d][\p{L}\p{M}\d'’&.+/-]*(?<![.\-/])|[,;:()!?\x01\x02]|[–—]|\.(?=\s|$)|[&+]")
_ASIDE = re.compile(
    r"(?i)^(?:\s|[,.!]|hey\b|hi\b|hello\b|ok(?:ay)?\b|so\b|well\b|also\b|and\b|then\b|oh\b|btw\b|by\s+the\s+way\b|fyi\b|please\b|pls\b|note(?:\s+to\s+self)?\s*:|"
    r"(?:can|could|would|will)\s+you\s+(?:please\s+)?(?=log|add|record|note|track|save|put|write|enter|store|remember)|"
    r"(?:i(?:\s+would|'d)\s+like|i\s+want|i\s+need)\s+(?:you\s+)?to\s+(?=log|add|record|note|track|save|put|enter|store)|"
    r"(?:log|add|record|note(?:\s+down)?|track|save|put\s+down|write\s+down|enter|jot\s+down|store|remember|new|create|insert|register|feeling|having|experiencing|experienced|suffering\s+from|dealing\s+with)\b(?!\s+(?:on|off)\b)\s*:?(?:\s+(?:that|this|the\s+fact\s+that|down))?|"
    r"i(?:['’]ve|['’]m|\s+am|\s+have)?\b(?:\s+(?:been|feeling|having|experiencing|just|also|finally|already|then|actually|recently|only|did|had\s+to|got\s+to|went\s+to|managed\s+to|finally))*|we(?:'ve|\s+have)?\b(?:\s+(?:just|also))*|there(?:['’]s|\s+(?:are|is|were|was))\b|(?:an?\s+|my\s+|new\s+)?\p{L}+(?:\s\p{L}+)?\s*:(?=\s*\S)|just\b|finally\b|earlier\b|been\b(?=\s+\p{L}+ing\b)|today\b\s*:?|yesterday\b\s*:?)"
)
_ENDS = frozenset(",;:()!?.–—\x01\x02")
_BREAKS = word_list("clause_words")
_LEAD = re.compile(
    r"(?i)^(?:really|very|pretty|quite|super|extremely|kinda|kind\s+of|a\s+bit|a\s+little|the|a|an|my|our|some|his|her|their|this|that|these|those|another|about|around|roughly|approximately|almost|nearly|exactly|only|just|total|each|i|we|it|is|was|were|has|had|have|been|of|and)\s+"
)
_TRAIL = re.compile(
    r"(?i)\s+(?:again|too|also|today|now|please|as\s+well|each|is|was|were|are|has|have|and|or|it|me|this|that|out|i|total|really|ago|is\s+now|right\s+now|so\s+far|at|in|on|for|to|the|(?-i:a)|my)$"
)


@dataclass(frozen=True)
class Chunk:
    """A phrase. role: the preposition before it, or object, subject, loose, quote. start: where it stands."""

    role: str
    text: str
    start: int
    proper: bool = False
    after_measure: bool = False  # it follows a number directly: "12 boxes"


@dataclass(frozen=True)
class Sentence:
    """verb: its stem, or '' where the message has none. chunks: in order."""

    verb: str
    verb_word: str
    chunks: tuple[Chunk, ...]
    verb_span: tuple[int, int] = (0, 0)


def read(text: str, spans: Spans) -> Sentence:
    """The phrases of a message, without what has been measured already."""
    text = re.sub(r"[\x01\x02]", " ", text)
    measured = {measure.span for measure in spans.measures}
    for start, end in spans.taken:
        text = text[:start] + ("\x01" if (start, end) in measured else "\x02") * (end - start) + text[end:]
    begin = _begin(text)
    verb, verb_word, verb_span = _verb(text, begin)
    raw = _cut(text, begin, verb_span)
    chunks = [chunk for chunk in (_tidy(*part) for part in raw) if chunk is not None]
    chunks = [chunk for chunk in chunks if not (chunk.role == "loose" and _is_past(fold(chunk.text.split()[0])))]
    chunks += [Chunk("quote", quote, span[0], True) for quote, span in spans.quotes]
    return Sentence(verb, verb_word, tuple(sorted(chunks, key=lambda chunk: chunk.start)), verb_span)


def _begin(text: str) -> int:
    """Where the sentence proper begins, behind greetings, "please log" and "I have just"."""
    begin = 0
    while True:
        m = _ASIDE.match(text[begin:])
        if not m or not m.group():
            return begin
        begin += m.end()


def _verb(text: str, begin: int) -> tuple[str, str, tuple[int, int]]:
    """The first word that is a past form, or a known verb of some subject; '' if there is none near the front."""
    for number, m in enumerate(_TOKEN.finditer(text, begin)):
        word = m.group()
        low = fold(word)
        if number > 7:
            break
        if (low in _PARTICIPLES and number) or (word[0].isupper() and re.search(r"[\p{L}\d:]\s*$", text[: m.start()])):
            continue
        if _is_past(low) or (
            number == 0
            and (
                (stem(word) in _verbs() and not word[0].isupper())
                or (stem(word) in _verbs() and begin == m.start() and low in _BASE_FORMS)
            )
        ):
            return stem(word), word, m.span()
    return "", "", (begin, begin)


_PARTICIPLES = word_list("participles")
_BASE_FORMS = word_list("base_forms")


def _is_past(low: str) -> bool:
    if low in ("cost", "costs"):
        return True
    base = irregular().get(low)
    if base is not None:
        return (
            low != base
            and not low.endswith(("s", "ing"))
            and low
            not in (
                "left",
                "people",
                "children",
                "feet",
                "bike",
                "cycle",
                "ride",
                "make",
                "drive",
                "write",
                "wake",
                "lose",
                "exercise",
                "expense",
                "purchase",
                "bicycle",
            )
        )
    return low.endswith("ed") and len(low) >= 4 and low not in _PARTICIPLES


def _verbs() -> frozenset[str]:
    return frozenset(lexicon()["activities"]) | frozenset(stem(word) for word in _BASE_FORMS)


def _cut(text: str, begin: int, verb_span: tuple[int, int]) -> list[tuple[str, str, int, bool]]:
    """(role, words, start, follows a number) of every phrase."""
    parts: list[tuple[str, str, int, bool]] = []
    has_verb = verb_span[1] > verb_span[0]
    role, first, last = ("subject" if has_verb else "object"), None, begin
    after_measure = measured = False
    pattern = re.compile(rf"(?i)(?:{_PREPOSITION})(?![\p{{L}}\d'-])")
    position = begin
    while m := _TOKEN.search(text, position):
        position = m.end()
        token, low = m.group(), fold(m.group())
        preposition = pattern.match(text, m.start()) if token[0].isalpha() else None
        if token == "." and _ABBREVIATED.search(text[: m.start()]):
            continue
        is_verb = has_verb and m.start() == verb_span[0]
        if low == "and" and first is not None and role != "subject" and _goes_on(text, m.end()):
            continue
        if is_verb or preposition or token in _ENDS or low in _BREAKS:
            if first is not None:
                parts.append((role, text[first:last], first, after_measure))
            first = None
            if preposition:
                role, position, after_measure = " ".join(preposition.group().lower().split()), preposition.end(), False
            elif is_verb:
                role, after_measure = "object", False
            elif token in ("\x01", "\x02"):
                role = (
                    role
                    if role in ("object", "of") or (not parts and role == "object")
                    else role
                    if not measured and role != "subject"
                    else "loose"
                )
                after_measure = token == "\x01"
                role = "object" if role not in ("object", "of") else role
            elif low == "and" and role != "subject":
                role, after_measure = ("also" if role == "object" and parts else role), False
            else:
                role, after_measure = "loose", False
            measured = token in ("\x01", "\x02")
            last = position
            continue
        if first is None:
            first = m.start()
        last = m.end()
    if first is not None:
        parts.append((role, text[first:last], first, after_measure))
    return parts


_ABBREVIATED = re.compile(r"(?:\b(?:Dr|Mr|Mrs|Ms|St|Prof|Jr|Sr|Mt)|(?<![\p{L}])\p{Lu}(?:\.\p{Lu})*)$")
_NEXT = re.compile(r"\s*([\p{L}\p{M}'’-]+|.)")


def _goes_on(text: str, position: int) -> bool:
    """Whether "and" joins two nouns of one phrase: no number and no verb follows it."""
    m = _NEXT.match(text, position)
    if m is None or not m[1][0].isalpha():
        return False
    low = fold(m[1])
    following = _TOKEN.search(text, m.end())
    return not _is_past(low) and low not in _BREAKS_AFTER_AND and not (following and following.group() == "\x01")


_BREAKS_AFTER_AND = word_list("after_and")


def _tidy(role: str, words: str, start: int, after_measure: bool) -> Chunk | None:
    phrase = words.strip(" .,-'")
    while (m := _LEAD.match(phrase)) and m.end() < len(phrase) and not (start and _article_of_title(m.group())):
        start += m.end()
        phrase = phrase[m.end() :]
    phrase = re.sub(r"['’]s$", "", phrase)
    while m := _TRAIL.search(phrase):
        phrase = phrase[: m.start()]
    phrase = re.sub(r"(?i)^(?:him|her|them|me|us)\s+back$", "", phrase.strip(" .,-'&+"))
    if not phrase or fold(phrase) in _EMPTY:
        return None
    return Chunk(role, phrase, start, is_proper(phrase), after_measure)


def _article_of_title(word: str) -> bool:
    return word[0].isupper() and word.strip() in ("The", "A", "An", "My", "This", "These", "Some")


_EMPTY = word_list("empty_phrases")


def is_proper(phrase: str) -> bool:
    """Whether it looks like a name: it begins with a capital and isn't a word that only begins the sentence."""
    return bool(_CAPITAL.match(phrase)) and fold(phrase).split()[0] not in _NOT_NAMES


_CAPITAL = re.compile(r"[\p{Lu}\p{Lo}\d]")
_NOT_NAMES = word_list("not_names")
