"""Splits a sentence into clauses with one statement each, and gives coordinated halves their subject back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import regex as re

from recall_sql.models.rules.text import MAX_CLAUSE, Clause, Sentence
from recall_sql.models.rules.wording import _squeeze, expand, normalise

_SUBJECT = (
    r"(?:i|i'[mvdl]\w*|im|ive|we|we'\w+|my|our|he|he's|she|she's|they|they're|you|you're|your|it|it's|"
    r"its|this|that|that's|there|"
    r"there's|his|her|their|the)"
)


_OPENER = (
    r"(?:please|note|remember|keep\sin\smind|bear\sin\smind|can|could|would|will|should|do|does|did|"
    r"is|are|what|what's|which|who|where|when|why|"
    r"how|if|unless|whether|"
    r"because|since|although|though|while|until|let|let's|don't|never|always|but|so|any|any\sideas|"
    r"for|not|name's|budget's|"
    r"budget|nothing|no|make|give|suggest|recommend|keep|thanks|thank|after|before|even|maybe|perhaps)"
)


_CONJ = (
    r"(?:and\s+so|and\s+yet|and|but|so|because|cause|cuz|bc|since|though|although|plus|however|yet|or|"
    r"nor|while|whereas|then|also|"
    r"even\s+though|even\s+if|if|unless|when|whenever|whether|as\s+long\s+as|given\s+that|seeing\s+as|considering|as)"
)


_BOUNDARY = re.compile(
    rf"(?i)\s*(?:[—();|]|–(?!\d)|(?<!budget|limit|languages|hobbies|interests|allergies|children|kids|cats|dogs|"
    rf"instruments|sisters|brothers|sons|daughters):(?=\s))+\s*(?:{_CONJ}\s+)?|"
    rf"\s+-{{1,2}}>?(?:->)?\s+(?:{_CONJ}\s+)?"
    rf"|,\s*(?:{_CONJ}\s+)?(?=(?:{_SUBJECT}|{_OPENER})(?![\w'-]))"
    rf"|,\s*(?:but|so|because|since|though|although|however|if|unless|when|while)\s+"
    r"|,\s*(?:and\s+|but\s+|so\s+)?(?=(?:now|nowadays|these\s+days|today|instead|currently|lately|then|later)"
    r",?\s+(?:I|i|we|my|our|im|i'm)\b)"
    rf"|\s+{_CONJ}\s+(?={_SUBJECT}(?![\w'-]))(?!the\b)"
    r"|\s+(?:and\s+)?(?=(?:his|her|its|their)\s+names?\s+(?:is|are)\b|(?:she|he)(?:'s|\s+is)\s+(?:called|named)\b)"
    r"|\s+(?:but|because|although|though|unless|whereas)\s+"
    r"|\s+so\s+(?=please|can|could|what|any|no|nothing|don't|keep|make|i\b)"
    r"|\s+and\s+(?=please|can|could|what|where|how|don't)"
)


_CONJ_IN = re.compile(rf"(?i){_CONJ}(?=\s*$)")


_CARRY_VERB = (
    r"(?:live|work|love|hate|like|prefer|speak|have|drive|play|study|enjoy|drink|eat|teach|run|am|"
    r"do\snot|don't|cannot|can't|never|"
    r"own|adore|dislike|suffer|take|use|moved|grew|studied|commute|collect|read|paint|want|plan|need|"
    r"hope|wear|avoid|get|follow|"
    r"work|volunteer|smoke|go|wake|weigh|earn|coach|manage|rent|walk|swim|write|sing|cycle|cook|bake|travel|was\sborn|graduated|"
    r"started|got|adopted|bought|keep)"
)


_CARRY_PRED = (
    r"(?:(?:originally|severely|very|happily|now|currently|recently|deathly|highly|also|"
    r"a\sbit)\s)*(?:allergic\sto|vegetarian|vegan|pescatarian|based\sin|from|married|single|divorced|"
    r"living\sin|working|studying|looking|"
    r"planning|learning|born|lactose|gluten|diabetic|intolerant|an?\s|the\s(?:mother|father)|"
    r"\d{2}\s(?=years)|fluent|afraid|scared|obsessed|into|pregnant|retired|"
    r"training|saving|trying|hoping|raised|terrified|interested|asthmatic|travell?ing|flying|married)"
)


_CARRY = re.compile(
    rf"(?i)(?:,?\s+(and|but|or|plus)\s+|,\s+)(?=(?:also\s+|now\s+|currently\s+|mostly\s+|usually\s+|"
    rf"really\s+|just\s+|sometimes\s+)*(?:{_CARRY_VERB}\s|{_CARRY_PRED}))"
)


_HEAD = re.compile(
    r"(?i)^(?:(I|we)\s+(am|are|have\sbeen|was|were)\s+(not\s+)?|(I|we)\s+(do\s+not\s+|cannot\s+|never\s+)?)"
)


_OPEN_VERB = re.compile(r"\b(?:to|would|could|will|might|should|can|let|help|may)\s+(?:not\s+)?[a-z]{2,}(?!\S*ing\b)")


_REACTION = re.compile(
    r"(?i)\b(hives|rash|swell\s+up|break\s+out\s+in\s+hives|reaction|anaphylaxis)\s+(?:when(?:ever)?|"
    r"if|every\s+time)\s+I\s+(?:eat|touch|have|drink|take|am\s+near)\s+"
)


# "My first language isn't English, it's Polish" says the same as "My first language is Polish".
_NOT_BUT = re.compile(
    r"(?i)^(my\s[\w\s]{2,30}?)\s?(?:isn'?t|is\s+not|'s\s+not)\s[^,.;]{1,40},?\s+(?:it'?s|it\s+is|but)\s+(?!not\b)(?=\S)"
    r"(?=[\p{L}\d£$€])(\S.*)$"
)


# "I'm not allergic to walnuts but to peanuts", "I don't live in Berlin but in Bern": both halves have one verb.
_NOT_HERE_BUT = re.compile(
    r"(?i)\b(?P<all>(?P<who>I|we)(?:\s+(?P<am>am|are)\s+not|'(?P<am>m|re)\s+not|\s+(?:do\s+not|don'?t))\s+"
    r"(?P<verb>(?<=not\s)(?:allergic|from|based|living|working|fluent)|live|work|come|study)\b[^,.;]{1,40}?),?\s+but\s+"
    r"(?:rather\s+)?(?=(?:to|in|at|for|from|as)\s)"
)


def _with_both_verbs(text: str) -> str:
    def replacement(match: re.Match[str]) -> str:
        who, verb = match["who"], match["verb"]
        again = f"{who} {'are' if who.lower() == 'we' else 'am'} {verb}" if match["am"] else f"{who} {verb}"
        return f"{match['all']}, but {again} "

    return _NOT_HERE_BUT.sub(replacement, text) if " but " in text else text


_LABEL = re.compile(
    r"(?i)(?:(?:quick|short|brief|little)\s+)?(?:intro(?:duction)?|background|context|bio|about\s+me|"
    r"a\s+bit\s+about\s+me|me|hi|hello|hey|hi\s+there|hey\s+there|hello\s+there)"
)


_IN_A_ROLE = re.compile(r"(?i)((?:as|being)\san?\s[\w-]+(?:\s[\w-]+){0,2}?)\s+(?=(?:I|I'm|I've|my|we)\s)")


_PAIR = re.compile(r"(?:[Mm]y|[Oo]ur)\s+[\w-]+(?:\s+[A-Z]?[\w-]+)?|[A-Z][\w-]+|[Mm]e")


def clauses(sentence: Sentence) -> Iterator[Clause]:
    """The clauses of a sentence, with subjects restored ("…and live in Berlin" becomes "I live in Berlin")."""
    body = _REACTION.sub(r"\1 from ", _NOT_BUT.sub(r"\1 is \2", _with_both_verbs(sentence.text)))
    if len(body) > 40 * MAX_CLAUSE:
        return
    start, conj, first = 0, "", True
    role = _IN_A_ROLE.match(body)  # "As a pharmacist I work weekends"
    if role:
        yield from _coordinated(role.group(1), "", sentence, True)
        start = role.end()
    for match in _BOUNDARY.finditer(body):
        if match.start() < start:
            continue
        piece = body[start : match.start()]
        if "and" in match.group() and _one_subject(piece.strip(), body[match.end() :]):
            continue
        if piece.strip():
            yield from _coordinated(piece.strip(), conj, sentence, first)
            first = first and bool(_LABEL.fullmatch(piece.strip()))
        found = _CONJ_IN.search(match.group())
        conj = found.group().lower() if found else match.group().strip()[:1]
        start = match.end()
    piece = body[start:].strip()
    if piece:
        yield from _coordinated(piece, conj, sentence, first)


def _one_subject(before: str, after: str) -> bool:
    """ "My wife and I", "me and my wife": what stands on both sides of the "and" acts together."""
    if re.fullmatch(r"(?i)me|myself", before):
        return after[:3].lower() in ("my ", "our")
    return _PAIR.fullmatch(before) is not None and after[:2] in ("I ", "I'")


# "I'm Hannah, 33, UX researcher from Oslo"
_INTRO = re.compile(
    r"(?:(?:[Hh]i|[Hh]ello|[Hh]ey)[,!\s]+)?(?:I am|I'm|"
    r"[Ii]m)\s(?P<name>\p{Lu}\p{Ll}+(?:\s\p{Lu}\p{Ll}+)?),\s(?P<rest>(?!I\b)\d{1,2}\b.*|[\w\s-]+,\s.*|"
    r"\p{Ll}[\w\s-]+)$"
)


def _coordinated(raw: str, conj: str, sentence: Sentence, first: bool) -> Iterator[Clause]:
    """Splits "I'm 34 and live in Berlin" in two, giving the second its subject. Both keep the whole as evidence."""
    if len(raw) > MAX_CLAUSE:
        return
    intro = _INTRO.match(raw) if first else None
    if intro:
        yield from _introduction(intro, Clause(raw, raw, conj, question=sentence.question, first=True))
        return
    whole = normalise(Clause(raw, raw, conj, question=sentence.question, first=first, bullet=sentence.bullet))
    for i, text in enumerate(_halves(whole.text)):
        yield replace(whole, text=_squeeze(text), first=whole.first and i == 0)


def _introduction(intro: re.Match[str], clause: Clause) -> Iterator[Clause]:
    """ "I'm Hannah, 33, UX researcher" as "I am Hannah", "I am 33", "I am a UX researcher"."""
    yield replace(clause, text=f"I am {intro.group('name')}")
    for part in re.split(r",\s+(?:and\s+)?", intro.group("rest")):
        article = "" if _PREDICATE.match(part) else "a "
        yield replace(clause, text=f"I am {article}{_squeeze(expand(part))}")


_PREDICATE = re.compile(r"(?i)(?:an?|the|\d+|from|based|living|originally|married|single|vegan|vegetarian)\b")


def _halves(text: str) -> list[str]:
    """The coordinated parts of a first-person clause, each a clause of its own; [text] when it has one part."""
    head = _HEAD.match(text)
    if not head:
        return [text]
    subject = f"{head.group(1) or head.group(4)} "
    to_be = f"{subject}{head.group(2)} {head.group(3) or ''}" if head.group(1) else ""
    parts, prefix, start = [], "", 0
    for match in _CARRY.finditer(text):
        before, after = text[start : match.start()], text[match.end() :]
        verb = _BARE_VERB.match(after) is not None
        if not (_carries_verb(before, after, match.group(1)) if verb else to_be and _carries_predicate(before, after)):
            continue
        parts.append(prefix + before)
        start = match.end()
        negated = verb and match.group(1) == "or" and " do not " in before
        prefix = f"{subject}do not " if negated else subject if verb else to_be
    return [*parts, prefix + text[start:]]


_BARE_VERB = re.compile(rf"(?i)(?:\w+ly\s+|also\s+|now\s+|just\s+)*{_CARRY_VERB}\s")
_AS_IF = re.compile(r"(?i)like\s(?:I|we|he|she|it|they|my|the|a)\b")
_NOMINAL = re.compile(r"(?:I|we)\s(?:am|are)\s(?:an?\s|\d|[A-Z]|(?:I|we)\s(?:am|are)\s)")


def _carries_verb(before: str, after: str, conjunction: str | None) -> bool:
    """Whether "… and live" has the subject of what is before it; after "want to …" it is another infinitive."""
    if _AS_IF.match(after) or _OPEN_VERB.search(before):
        return False
    return conjunction is not None or not after.lower().startswith(("like ", "plan ", "need "))


def _carries_predicate(before: str, after: str) -> bool:
    """Whether "…, a nurse" says what the subject is: only behind another noun, a number or a name."""
    return not re.match(r"(?i)an?\s", after) or _NOMINAL.match(before) is not None
