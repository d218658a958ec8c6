"""Cuts noun phrases down to what a fact stores: trims adverbials, splits lists, makes keys. No category knowledge."""

from __future__ import annotations

import unicodedata

import regex as re

_STOP = re.compile(
    r"(?i)(?:\s+|^)(?:because|cause|since|so(?=\s|$)(?!\s+far)|but|when|whenever|while|although|"
    r"though|unless|whereas|which|who|whom|where|that|if|after|before|until|"
    r"as\s+(?:a\s+(?:hobby|treat|snack|kid|child|pet|rule)|it|they|i|my|well|of|much|long)|"
    r"with\s+(?:my|our|him|her|them|a\s+passion|friends|family)|"
    r"for\s+(?:about|over|almost|nearly|around|the\s+(?:last|past|rest|next|time|moment|most)|\d+|"
    r"a\s+(?:while|living|long|few|couple|year|month)|years|ages|months|many|two|three|four|five|six|"
    r"seven|eight|nine|ten|twenty|fun|me|now|breakfast|lunch|dinner|sure|everything|work|health|"
    r"religious|ethical|environmental)|"
    r"ever|at\s+(?:the\s+moment|home|night|heart|work|all|weekends|the\s+weekend|least)|"
    r"in\s+(?:the\s+(?:morning|evening|afternoon|summer|winter|end|spring|fall|autumn)s?|my\s+\w+|"
    r"general|fact|summer|winter|spring|autumn|fall)|"
    r"on\s+(?:weekends?|the\s+(?:side|weekends?)|\w+days?|my\s+\w+|occasion|a\s+regular)|"
    r"every\s*(?:day|other|single|time|morning|evening|night|week|weekend|month|year|\w+day)?|"
    r"(?:once|twice|three\s+times|four\s+times|several\s+times)\s+(?:a|per)|all\s+the\s+time|"
    r"a\s+(?:lot|ton|bit|little)$|so\s+much|very\s+much|(?:the\s+)?most(?=$|\s+of)|more\s+than|(?:way|"
    r"far)\s+more|over\s+(?!the)|than\s|to\s+death|please|thanks|"
    r"by\s+(?:trade|profession|training|the\s+way|heart)|instead|together|anyway|especially|"
    r"particularly|including|like\s+(?:crazy|mad)|here\b|someday|one\s+day|eventually|soon|out\s+of|"
    r"due\s+to|owing\s+to|thanks\s+to|since|too|as\s+well|either|right|okay|ok|"
    r"yesterday|today|tonight|last\s+(?:year|month|week|summer|night|winter|spring)|this\s+(?:year|month|week|weekend|summer|"
    r"morning)|next\s+(?:week|month|year|summer|winter|spring|fall|autumn|weekend|\w+day)|in\s+\d{4}|"
    r"during|in\s+(?:january|february|march|april|may|june|july|august|september|october|november|"
    r"december)|a\s+(?:year|month|week|few|couple|while|long\s+time)\b|\d+\s+(?:years|months|weeks|"
    r"days)\b|(?:two|three|four|five|six|ten)\s+(?:years|months|weeks)\b|ago|\u2039quote)\b.*$"
)
_EDGE = re.compile(
    r"(?i)^(?:(?:a|an|the|some|any|my|our|all|all\s+(?:kinds|sorts|types)\s+of|any\s+(?:kind|sort|"
    r"type)\s+of|lots\s+of|a\s+bit\s+of|a\s+little|both|eating|drinking|having|kinds\s+of|most|good|"
    r"a\s+good|certain|pure|real)\s+)+"
)
_PUNCT = " \t\n,.!?:;-–—'\"()[]*~"
_SPLIT = re.compile(
    r"(?i)\s*,\s*(?:and|or|plus|&|not)?\s+|\s*,\s*|\s+(?:and|or|nor|plus|&|as\s+well\s+as|and\s+also|"
    r"along\s+with|together\s+with)\s+|\s*/\s*|\s*&\s+"
)
_WHOLE = re.compile(
    r"(?i)\b(?:mac|fish|rock|salt|peanut\s+butter|pb|dungeons|bed|drum|gin|rhythm|arts|bread|black|"
    r"sweet|hide|country|wine|surf|cookies|biscuits|salt|oil|soul|trial|lord|pride|harry|rum|war|"
    r"hot)\s+(and|&)\s+(?=(?:cheese|chips|roll|pepper|jelly|j|dragons|breakfast|bass|tonic|blues|"
    r"crafts|butter|white|sour|seek|western|dine|turf|cream|gravy|vinegar|funk|error|prejudice|coke|"
    r"peace|spicy)\b)"
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*", re.UNICODE)
_GLUE = "\u0001"


def trim(phrase: str) -> str:
    """`phrase` up to the first adverbial or subordinate clause, without surrounding punctuation."""
    return _STOP.sub("", phrase).strip(_PUNCT)


def bare(phrase: str) -> str:
    """Without article, possessive or "all kinds of"."""
    return _EDGE.sub("", phrase).strip(_PUNCT)


def split_list(phrase: str) -> list[str]:
    """ "hiking, chess and mac and cheese" → three items."""
    glued = _WHOLE.sub(
        lambda m: (
            m.group() if m.group()[0].isupper() and m.string[m.end() :][:1].isupper() else m.group().replace(" ", _GLUE)
        ),
        phrase,
    )
    parts = [part for raw in _SPLIT.split(glued) if (part := raw.replace(_GLUE, " ").strip(_PUNCT))]
    if len(parts) == 2 and ", " in glued and not _CONJUNCTION.search(glued):
        return _comma_only(*parts)
    return parts


_CONJUNCTION = re.compile(r"(?i)\b(?:and|or|nor|plus)\b|&|/")


_OPEN_ADJECTIVE = re.compile(r"(?i)\s(?:a|an)\s\w+$")


def _comma_only(first: str, second: str) -> list[str]:
    """ "simple, minimal tools" is one thing; "cooking at home, trying new things" is one thing and an afterthought."""
    if (first[:1].isupper() and second[:1].isupper()) or (
        len(second.split()) == 1 and (first.endswith("ing") or not second.endswith("ing"))
    ):
        return [first, second]
    if _OPEN_ADJECTIVE.search(first) and second[:1].islower():  # "creating a safe, inviting place"
        return [f"{first}, {second}"]
    if len(first.split()) == 1 and first.islower() and not first.endswith("ing") and 2 <= len(second.split()) <= 3:
        return [f"{first}, {second}"]
    return [first]


def snake(phrase: str, limit: int = 5) -> str:
    """A fact key: ASCII where it can be, lower case, words joined by `_`, at most `limit` words."""
    plain = unicodedata.normalize("NFKD", phrase)
    plain = "".join(ch for ch in plain if not unicodedata.combining(ch)).lower()
    return "_".join(w.replace("'", "") for w in _WORD.findall(plain)[:limit])


def singular(word: str) -> str:
    """English singular of a (compound) noun, by rule; good enough for keys."""
    head, _, last = word.rpartition(" ")
    low = last.lower()
    if low.endswith("ies") and len(low) > 4:
        last = last[:-3] + "y"
    elif low.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        last = last[:-2]
    elif (
        low.endswith("s")
        and not low.endswith(("ss", "us", "is"))
        and len(low) > 3
        and low not in ("citrus", "hummus", "glasses", "molasses", "series")
    ):
        last = last[:-1]
    return f"{head} {last}".strip()


_VOWEL = "aeiou"
_NO_DOUBLE = (
    "visit",
    "open",
    "listen",
    "travel",
    "garden",
    "enter",
    "cover",
    "wander",
    "offer",
    "order",
    "paint",
    "draw",
    "show",
    "play",
    "fix",
)


def gerund(verb: str) -> str:
    """ "hike" → "hiking", "run" → "running"."""
    low = verb.lower()
    if low.endswith("ing") and len(low) > 4:
        return verb
    if low.endswith("ie"):
        return verb[:-2] + "ying"
    if low.endswith("e") and not low.endswith(("ee", "ye", "oe")):
        return verb[:-1] + "ing"
    if (
        len(low) >= 3
        and low[-1] not in _VOWEL + "wxy"
        and low[-2] in _VOWEL
        and low[-3] not in _VOWEL
        and low not in _NO_DOUBLE
    ):
        return verb + verb[-1] + "ing"
    return verb + "ing"
