"""Puts a clause into the form patterns expect: contractions undone, fillers gone, the subject in front."""

from __future__ import annotations

from dataclasses import replace

import regex as re

from recall_sql.models.rules import places
from recall_sql.models.rules.text import Clause

_CONTRACTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.I), to)
    for pattern, to in (
        (r"\bi'?m\b", "I am"),
        (r"\bi'?ve\b", "I have"),
        (r"\bi'd\b", "I would"),
        (r"\bi'll\b", "I will"),
        (r"\b(we|you|they)'re\b", r"\1 are"),
        (r"\b(we|you|they)'ve\b", r"\1 have"),
        (r"\b(we|you|they|he|she)'d\b", r"\1 would"),
        (r"\b(we|you|they|he|she|it)'ll\b", r"\1 will"),
        (r"\bcan(?:'?t|not)\b", "cannot"),
        (r"\bwon'?t\b", "will not"),
        (r"\bain't\b", "am not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should)n'?t\b", r"\1 not"),
        (r"\b(that|there|what|who|where|here)s\b", r"\1 is"),
        (
            r"\b(it|that|there|here|he|she|what|who|where|name|budget|birthday|limit|max|goal|job|degree|hometown|diet|"
            r"nickname|email|age|favou?rite(?:\s\w+)?)'s\b(?!\s+(?:name|budget|birthday|job|age)\b)",
            r"\1 is",
        ),
        (r"\b((?:my|our)\s(?:\w+\s)?\w+)'s\s(?=(?:called|named|a|an|not|about|around|in|on|at|\d)\b)", r"\1 is "),
        (r"\bu\b(?!\.)", "you"),
        (r"\bur\b", "your"),
        (r"\bw/?\s(?=(?:my|our|a|an|the|him|her|them|friends|family)\b)", "with "),
        (r"\bpl[sz]+\b|^kindly\b", "please"),
        (r"\bbf\b", "boyfriend"),
        (r"\bgf\b", "girlfriend"),
        (r"\b(\d+)\s?yrs?\b", r"\1 years"),
        (r"\bi should like\b", "I would like"),
        (r"\bi am work\b", "I am working"),
        (r"^(?:for )?me,? i\b", "I"),
        (r"\bi (like|love|enjoy|hate) very much\b(?: the\b)?", r"I \1"),
        (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\bgotta\b", "have to"),
        (r"\bkinda\b", "kind of"),
        (r"\bsorta\b", "sort of"),
        (r"\bhave got\b(?! to)", "have"),
        (r"\bi\b", "I"),
        (r"\bme and (my \w+)\b|\bmyself and (my \w+)\b", "we"),
    )
)


# Cheap sign that one of the above can match: most clauses have none.
_CONTRACTED = re.compile(
    r"'|(?-i:\bi\b)|\b(?:im|ive|cannot|(?:can|won|ain|do|does|did|is|are|was|were|have|has|had|would|could|should)n?t|"
    r"gonna|wanna|gotta|kinda|sorta|have\sgot|u|ur|w|bf|gf|pl[sz]+|kindly|\d+\s?yrs?|should\slike|am\swork|me,?\si|very\smuch|"
    r"(?:that|there|what|who|where|here)s|me\sand\smy|myself\sand\smy|names)\b",
    re.I,
)


_FILLER = re.compile(
    r"(?i),?\s*\b(?:actually|honestly|basically|literally|personally|definitely|really|absolutely|totally|truly|simply|"
    r"obviously|also|just|currently|still|already|by\s+the\s+way|btw|of\s+course|in\s+fact|for\s+the\s+record|fyi|"
    r"to\s+be\s+honest|tbh|as\s+it\s+happens|as\s+you\s+(?:may\s+|might\s+)?know|presently|certainly|"
    r"strongly|deeply|genuinely|thoroughly|greatly|particularly|passionately|utterly|sadly|"
    r"unfortunately|ngl|imo|imho|rn|istg|fr|yk|innit|thx|sorry(?=\s*$)|thanks(?=\s*$)|"
    r"luckily|fortunately|happily|proudly|officially|finally|recently|even|lol|haha+|ha|"
    r"to\s+be\s+clear|by\s+now|in\s+particular|"
    r"i\s+must\s+say|i\s+have\s+to\s+say|i\s+have\s+to\s+admit|i\s+admit|i\s+confess|"
    r"for\s+what\s+it's\s+worth|though|tho|"
    r"as\s+well|too(?=\s*$)|you\s+know|if\s+that\s+(?:helps|matters)|if\s+it\s+(?:helps|matters)|"
    r"if\s+you're\s+wondering|"
    r"in\s+case\s+(?:you|it|that)\s+\w+(?:\s\w+)?|for\s+your\s+information|for\s+context|"
    r"if\s+possible|please\s+note|at\s+all(?=\s*$)|please(?=\s*$))"
    r"\b,?"
)


_NOW = re.compile(
    r"(?i),?\s*\b(?:now(?!\s+on)|nowadays|these\s+days|at\s+the\s+moment|right\s+now|at\s+present|"
    r"lately|again|once\s+more|as\s+of\s+"
    r"(?:today|now|this\s+\w+|last\s+\w+)|at\s+this\s+point)\b,?"
)


_SOFT = re.compile(
    r"(?i),?\s*\b(?:usually|mostly|generally|typically|normally|kind\s+of|sort\s+of|pretty\s+much|"
    r"more\s+or\s+less|primarily|"
    r"mainly|often|for\s+the\s+most\s+part|tend\s+to|somewhat|roughly\s+speaking|essentially|largely|"
    r"most\s+of\s+the\s+time|as\s+a\s+rule|technically|sometimes|occasionally|i\s+(?:guess|think|"
    r"suppose|believe|reckon)(?=\s*[,.]?$))\b,?"
)


_SOFT_LEAD = re.compile(
    r"(?i)^(?:I\s+(?:think|guess|believe|suppose|reckon|would\s+say|feel\s+like|"
    r"consider\s+myself)(?:\s+that)?|as\s+far\s+as\s+I\s+know)\s+(?=I\b|my\b|we\b)"
)


_ANYMORE = re.compile(r"(?i),?\s*\b(?:any\s?more|any\s+longer|no\s+more(?=\s*$))\b,?")


_NO_LONGER = re.compile(r"(?i)\b(am|are|have)\s+no\s+longer\b")


_STOPPED_BEING = re.compile(r"(?i)^(I|we)\s+(?:have\s+)?(?:stopped|quit|given\s+up|gave\s+up)\s+being\s+")


_NO_LONGER_VERB = re.compile(r"(?i)\bno\s+longer\b")


_LEAD = re.compile(
    r"(?i)^(?:(?:hi|hello|hey|hiya|well|so|oh|ok|okay|yes|yeah|yep|no(?=,)|nope|sure|right(?=,)|and|"
    r"but|plus|or|then|because|since(?=\s+(?:I|my|we|our)\b)|"
    r"as|given\s+that|seeing\s+as|considering(?:\s+that)?|ah|um|uh|hmm|look(?=,)|listen(?=,)|anyway|"
    r"first(?:\s+off)?|firstly|second(?:ly)?|lastly|good\s+"
    r"(?:morning|evening|afternoon)|thanks|thank\s+you|cheers|sorry|however|like(?=,)|note\s+that|"
    r"note|reminder|heads\s+up|quick\s+"
    r"(?:note|background|intro|update|fyi)|update|great|perfect|cool|nice|again|for\s+me|in\s+general|"
    r"everyone(?=[,!])|there(?=[,!])|all(?=[,!])|folks|guys|dear|wow|yay|"
    r"one\s+(?:more\s+)?(?:thing|other\s+thing)|another\s+thing|little\s+about\s+me|"
    r"a\s+bit\s+about\s+me|about\s+me|(?:some\s+)?background|context|"
    r"(?:please\s+)?(?:remember|keep\s+in\s+mind|bear\s+in\s+mind|be\s+aware|take\s+into\s+account|"
    r"know|consider|don't\s+forget|do\s+not\s+forget|note)(?:\s+that|(?=\s+(?:I|my|we)\b))|"
    r"(?:just\s+)?so\s+(?:that\s+)?you\s+(?:know|are\s+aware)|you\s+should\s+know(?:\s+that)?|"
    r"it\s+may\s+help\s+to\s+know\s+that|"
    r"I\s+(?:should|must|ought\s+to|want\s+to|forgot\s+to|need\s+to|would\s+like\s+to|have\s+to|"
    r"wanted\s+to|can|will|might)\s+(?:add|say|mention|note|tell\s+you|point\s+out|let\s+you\s+know|"
    r"clarify|confess|admit)(?:\s+that)?|"
    r"I\s+(?:told\s+you|said|mentioned|already\s+said|already\s+told\s+you|already\s+mentioned|"
    r"keep\s+telling\s+you)(?:\s+(?:earlier|before|that))*|"
    r"the\s+(?:thing|truth|fact|problem|issue)\s+is(?:\s+that)?|it\s+turns\s+out(?:\s+that)?|"
    r"turns\s+out|which\s+is\s+why|that\s+is\s+why|"
    r"I\s+(?:had|have|would)\s+been\s+meaning\s+to\s+(?:tell\s+you|say|mention)(?:\s+that)?|"
    r"as\s+I\s+(?:said|mentioned)|like\s+I\s+said|"
    r"thinking(?=\s+(?:I|we)\b)|did\s+I\s+(?:mention|say|tell\s+you)(?:\s+that)?|"
    r"I\s+(?:just\s+)?(?:found\s+out|learned|learnt|realized|realised)(?:\s+that)?)(?:[,.!:]*\s+|"
    r"$))++(?=\S)"
)


# A time or place in front of the subject goes behind the verb, so that patterns stay anchored on the subject.
_ADJUNCT = re.compile(
    r"(?i)^((?:in|at|on|for|during|since|after|before|every|each|most|by|until|over|with|outside|this|"
    r"next|as\s+of|when\s+it\s+comes\s+to)\b"
    r"[^,]{1,45}?),?\s+(?=(?:I|we|my|our)\s)"
)


_WE = re.compile(
    r"^(?:(?:[Mm]y|[Oo]ur)\s+[\w'-]+(?:\s+[A-Z]?[\w-]+)?|[A-Z][\w-]+|[Mm]e|[Yy]ou)\s+and\s+(?:I|me|myself)\s+(?=\w)"
)


_HERE = re.compile(r"(?i)^(?:an?\s+)?([^\W\d][\w'-]*(?:\s[\w'-]+){0,3}?),?\s+(?:here|speaking)$")


_AS_A = re.compile(
    r"(?i)^(?:as(?=\s)|being(?=\s+(?:an?|vegan|vegetarian|allergic|diabetic|pregnant|someone)(?:\s|"
    r"$))|speaking\s+as)\s+(an?\s+(?!result|rule|matter|reminder|whole|side|bonus|gift|start|test|"
    r"joke|treat|follow|heads)|someone\s+(?:who\s+(?:is|'s)|with)\s+)?(.{3,60})$"
)


_AS_WHO = re.compile(r"(?i)^(?:as|being)\s+someone\s+who\s+(?!is\b)(\w+?)(?:es|s)\s+(.{2,60})$")


_IRREGULAR = {
    "ha": "have",
    "doe": "do",
    "enjoy": "enjoy",
    "studi": "study",
    "teach": "teach",
    "us": "use",
    "lov": "love",
    "liv": "live",
    "hat": "hate",
    "driv": "drive",
}


_BE_FRAGMENT = re.compile(
    r"(?i)^(?:(?:severely|deathly|highly|very|mildly|super|happily|originally|strictly|strict|a|"
    r"an)\s+)*(?:allergic\s+to|intolerant(?=\s+to)|lactose[\s-]intolerant|gluten[\s-](?:free|"
    r"intolerant)|"
    r"(?:vegetarian|vegan|pescatarian|pescetarian|celiac|coeliac|diabetic)(?=$|[,.]|\s+(?:here|since|"
    r"for|and|but|now|so|because)\b)|based\s+in|living\s+in|residing\s+in|located\s+in|settled\s+in|"
    r"working\s+(?:as|at|for|in)|studying|married|single|divorced|"
    r"widowed|engaged|pregnant|born\s+(?:in|on|and\s+(?:raised|bred))|from(?=\s+(?-i:[A-Z]))|"
    r"planning\s+(?:a|an|to|on|my|our)|looking\s+to|looking\s+for|learning|saving\s+(?:up|for)|"
    r"training\s+for|hoping\s+to|"
    r"trying\s+to|thinking\s+of|travell?ing\s+(?:to|with)|going\s+to(?=\s+(?-i:[A-Z]))|flying\s+to|"
    r"heading\s+to|visiting|retired|unemployed|self-employed|color[\s-]?blind|"
    r"colou?r[\s-]?blind|fluent\s+in|raised\s+in|employed|scared\s+of|afraid\s+of|\d{1,"
    r"2}\s+years\s+old|left-handed|dyslexic|asthmatic|native\s+\w+\s+speaker|mother\s+of|father\s+of|"
    r"dad\s+(?:of|to)|mom\s+(?:of|to)|mum\s+(?:of|to)|parent\s+of|big\s+fan\s+of|huge\s+fan\s+of|"
    r"not\s+a\s+fan\s+of|obsessed\s+with)(?![\w'])"
)


_DO_FRAGMENT = re.compile(
    r"(?i)^(?:love(?!\s+(?:and|is|was|can|will|it|you|this|that|to\s+(?:see|hear)|how|the\s+way|your|"
    r"for|of|from|makes?))|hate(?!\s+(?:it|to\s+say|is|and|when))|prefer|cannot\s+stand|"
    r"do\s+not\s+(?:eat|like|drink|smoke|drive|fly)|been|never\s+(?:eat|drink|fly)|moved\s+to|"
    r"grew\s+up|"
    r"suffer\s+from|live\s+in|work\s+(?:as|at|for)|speak|play\s+the|got\s+(?:a|an|one|two|three|four|"
    r"\d)\s|have\s+(?:two|three|four|asthma|diabetes)|adopted|enjoy(?=\s+\w+ing\b)|dislike|"
    r"can\s+not\s+stand|"
    r"drive\s+an?\s+(?=[A-Z])|broke\s+up\s+with|split\s+up\s+with|quit\s+(?:my|smoking|drinking)|lost\s+(?:my|our)\s+(?:job|dog|cat)|"
    r"bought\s+(?:an?|my|our)\s|joined\s|turned\s+\d\d|cannot\s+(?:do|have|eat|drink)\s|started\s+(?:a\s+new\s+job|working|learning|at)|"
    r"working\s+from\s+home|moved\s+(?:in|out|from|back)|graduated\s|retired\s+(?:from|last|in)|teaching\s|own\s+an?|would\s+rather|want\s+to\s+(?:keep|stay|spend)|"
    r"need\s+to\s+(?:keep|stay)|allergic)\b"
)


_SPACES = re.compile(r"\s+")


def _squeeze(text: str) -> str:
    return _SPACES.sub(" ", text).strip(" ,.!-")


def expand(text: str) -> str:
    """Contractions undone: "I'm" is "I am", "don't" is "do not", a lone "i" is "I"."""
    if not _CONTRACTED.search(text):
        return text
    for pattern, to in _CONTRACTIONS:
        text = pattern.sub(to, text)
    return text


def _keep_comma(match: re.Match[str]) -> str:
    """What a removed word leaves: "a nurse, currently living in Bonn" keeps its comma."""
    found = match.group()
    return ", " if found.startswith(",") != found.endswith(",") else " "


def _without_lead(text: str) -> str:
    lead = _LEAD.match(text)
    return text[lead.end() :] if lead else text


def requested(raw: str, *, bullet: bool = False) -> Clause:
    """A standing request: contractions undone and politeness gone, but every other word kept."""
    text = _squeeze(expand(raw))
    text = _squeeze(_LEAD.sub("", text, count=1))
    return Clause(raw, re.sub(r"(?i),?\s*please$", "", text), first=True, bullet=bullet)


_TEXTING = re.compile(r"(?<![\w'])(?:i|im|ive|i'm|i've)(?![\w'.])")
_TO_A_PLACE = re.compile(
    r"\b(?:in|to|from|near|around|outside|visit|visiting)\s(?!visit|see\b|go\b|travel)(?P<two>(?P<one>[a-z][a-z'-]{3,})(?:\s[a-z][a-z'-]{2,})?)"
)


def _capitals(text: str) -> str:
    """The places of an all-lower-case clause written as places are: patterns ask for a capital."""

    def replacement(match: re.Match[str]) -> str:
        name = next((n for n in (match.group("two"), match.group("one")) if places.is_sizeable(n)), None)
        return match.group().replace(name, name.title(), 1) if name else match.group()

    return _TO_A_PLACE.sub(replacement, text)


def normalise(clause: Clause) -> Clause:
    """`clause` with `text` in the form patterns expect, and its flags set."""
    text = _squeeze(expand(clause.text))
    if clause.raw.islower() or _TEXTING.search(clause.raw):
        text = _capitals(text)
    text = _without_lead(text)
    lead = _SOFT_LEAD.match(text)
    if lead:
        text = text[lead.end() :]
    plain = _FILLER.sub(_keep_comma, text)
    soft_free = _SOFT.sub(_keep_comma, plain)
    now_free = _NOW.sub(_keep_comma, soft_free)
    done = _ANYMORE.sub(_keep_comma, now_free)
    anymore = done != now_free
    text = _squeeze(done)
    if "no longer" in text.lower():
        text = _NO_LONGER_VERB.sub("do not", _NO_LONGER.sub(r"\1 not", text))
        anymore = True
    if _STOPPED_BEING.match(text):
        text, anymore = _STOPPED_BEING.sub(r"\1 am not ", text), True
    text = _without_lead(text)
    lead2 = _SOFT_LEAD.match(text)
    if lead2:
        text = text[lead2.end() :]
    text = _restore_subject(text, clause)
    return replace(
        clause,
        text=_squeeze(text),
        soft=bool(lead or lead2 or soft_free != plain),
        anymore=anymore,
        now=now_free != soft_free,
    )


def _restore_subject(text: str, clause: Clause) -> str:
    moved = _ADJUNCT.match(text)
    if moved and not text.lower().startswith(("for example", "in my dream", "in the story", "in case")):
        return f"{text[moved.end() :]} {moved.group(1)[0].lower()}{moved.group(1)[1:]}"
    we = _WE.match(text)
    if we:
        partner = re.match(
            r"(?i)(?:my|our)\s+(?:\w+\s)?((?:wife|husband|girlfriend|boyfriend|partner|fianc[eé]e?|spouse)\b"
            r"(?:\s(?-i:\p{Lu})\S+)?)",
            we.group(),
        )
        return "we " + text[we.end() :] + (f" along with my {partner.group(1)}" if partner else "")
    here = _HERE.match(text)
    if here:
        return f"I am {here.group(1)}"
    who = _AS_WHO.match(text)
    if who:
        verb = who.group(1)
        return f"I {_IRREGULAR.get(verb, verb)} {who.group(2)}"
    as_a = _AS_A.match(clause.raw) if clause.raw.lower().startswith(("as ", "being ", "speaking ")) else None
    if as_a:
        with_ = "I have " if (as_a.group(1) or "").rstrip().endswith("with") else "I am "
        return with_ + ((as_a.group(1) or "") if "someone" not in (as_a.group(1) or "") else "") + as_a.group(2)
    if _BE_FRAGMENT.match(text):
        return f"I am {text}"
    if _DO_FRAGMENT.match(text):
        return f"I {text[0].lower()}{text[1:]}"
    return text
