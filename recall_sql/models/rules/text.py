"""Turns a message into clauses the patterns can be matched against: cleaned, split, contractions undone, fillers gone.

Knows about the surface of English only. What may be believed is `guards.py`; what it means is `patterns.yaml`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

import regex as re

MAX_CLAUSE = 320  # characters; nobody states a fact about themself in a longer clause, pasted text does

_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
                         "\u00a0": " ", "\u202f": " ", "\u200b": None, "\ufeff": None, "\u0000": None, "‑": "-"})
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_INLINE_CODE = re.compile(r"`[^`\n]{1,200}`")
_QUOTED_LINE = re.compile(r"(?m)^[ \t]*>.*$")
_URL = re.compile(r"(?:https?://|www\.)\S+")
_QUOTATION = re.compile(r'"([^"\n]{1,400})"|(?<=[\s(:,])\'([A-Z][^\'\n]{1,300}(?:\'[a-z][^\'\n]{1,200})*)\'(?=[\s.,!?)]|$)')
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


# --- sentences -------------------------------------------------------------------------------------------------------

_ABBREVIATION = re.compile(r"(?i)\b(?:mr|mrs|ms|dr|st|prof|vs|etc|e\.g|i\.e|approx|no|jr|sr|u\.s|u\.k|a\.m|p\.m|[A-Z])\.$")
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


# --- clauses ---------------------------------------------------------------------------------------------------------


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


_SUBJECT = (
    r"(?:i|i'[mvdl]\w*|im|ive|we|we'\w+|my|our|he|he's|she|she's|they|they're|you|you're|your|it|it's|its|this|that|that's|there|"
    r"there's|his|her|their|the)"
)
_OPENER = (
    r"(?:please|can|could|would|will|should|do|does|did|is|are|what|what's|which|who|where|when|why|how|if|unless|whether|"
    r"because|since|although|though|while|until|let|let's|don't|never|always|but|so|any|any\sideas|for|not|name's|budget's|"
    r"budget|nothing|no|make|give|suggest|recommend|keep|thanks|thank|after|before|even|maybe|perhaps)"
)
_CONJ = (
    r"(?:and\s+so|and\s+yet|and|but|so|because|cause|cuz|bc|since|though|although|plus|however|yet|or|nor|while|whereas|then|also|"
    r"even\s+though|even\s+if|if|unless|when|whenever|whether|as\s+long\s+as|given\s+that|seeing\s+as|considering|as)"
)
_BOUNDARY = re.compile(
    rf"(?i)\s*(?:[—();|]|–(?!\d)|(?<!languages|hobbies|interests|allergies|children|kids|cats|dogs|instruments|sisters|brothers|sons|daughters):(?=\s))+\s*(?:{_CONJ}\s+)?|\s+-{{1,2}}>?(?:->)?\s+(?:{_CONJ}\s+)?"
    rf"|,\s*(?:{_CONJ}\s+)?(?=(?:{_SUBJECT}|{_OPENER})(?![\w'-]))"
    rf"|,\s*(?:but|so|because|since|though|although|however|if|unless|when|while)\s+"
    rf"|\s+{_CONJ}\s+(?={_SUBJECT}(?![\w'-]))(?!the\b)"
    r"|\s+(?:but|because|although|though|unless|whereas)\s+"
    r"|\s+so\s+(?=please|can|could|what|any|no|nothing|don't|keep|make|i\b)"
    r"|\s+and\s+(?=please|can|could|what|where|how|don't)"
)
_CONJ_IN = re.compile(rf"(?i){_CONJ}(?=\s*$)")

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
        (r"\b(it|that|there|here|he|she|what|who|where|name|budget|birthday|limit|max|goal|job|degree|hometown|diet|"
         r"nickname|email|age|favou?rite(?:\s\w+)?)'s\b(?!\s+(?:name|budget|birthday|job|age)\b)", r"\1 is"),
        (r"\b((?:my|our)\s(?:\w+\s)?\w+)'s\s(?=(?:called|named|a|an|not|about|around|in|on|at|\d)\b)", r"\1 is "),
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
_FALSE_IS = re.compile(r"\bits? is\b", re.I)  # "its" is possessive more often than "it's": both read the same to us

_FILLER = re.compile(
    r"(?i),?\s*\b(?:actually|honestly|basically|literally|personally|definitely|really|absolutely|totally|truly|simply|"
    r"obviously|also|just|currently|still|already|by\s+the\s+way|btw|of\s+course|in\s+fact|for\s+the\s+record|fyi|"
    r"to\s+be\s+honest|tbh|as\s+it\s+happens|as\s+you\s+(?:may\s+|might\s+)?know|presently|certainly|strongly|deeply|genuinely|thoroughly|greatly|particularly|passionately|utterly|sadly|unfortunately|"
    r"luckily|fortunately|happily|proudly|officially|finally|recently|even|lol|haha+|ha|to\s+be\s+clear|by\s+now|in\s+particular|"
    r"i\s+must\s+say|i\s+have\s+to\s+say|i\s+have\s+to\s+admit|i\s+admit|i\s+confess|for\s+what\s+it's\s+worth|though|tho|"
    r"as\s+well|too(?=\s*$)|you\s+know|if\s+that\s+(?:helps|matters)|if\s+it\s+(?:helps|matters)|if\s+you're\s+wondering|"
    r"in\s+case\s+(?:you|it|that)\s+\w+(?:\s\w+)?|for\s+your\s+information|for\s+context|if\s+possible|please\s+note|at\s+all(?=\s*$)|please(?=\s*$))"
    r"\b,?"
)
_NOW = re.compile(
    r"(?i),?\s*\b(?:now(?!\s+on)|nowadays|these\s+days|at\s+the\s+moment|right\s+now|at\s+present|lately|again|once\s+more|as\s+of\s+"
    r"(?:today|now|this\s+\w+|last\s+\w+)|at\s+this\s+point)\b,?"
)
_SOFT = re.compile(
    r"(?i),?\s*\b(?:usually|mostly|generally|typically|normally|kind\s+of|sort\s+of|pretty\s+much|more\s+or\s+less|primarily|"
    r"mainly|often|for\s+the\s+most\s+part|tend\s+to|somewhat|roughly\s+speaking|essentially|largely|"
    r"most\s+of\s+the\s+time|as\s+a\s+rule|technically|sometimes|occasionally|i\s+(?:guess|think|suppose|believe|reckon)(?=\s*[,.]?$))\b,?"
)
_SOFT_LEAD = re.compile(r"(?i)^(?:I\s+(?:think|guess|believe|suppose|reckon|would\s+say|feel\s+like|consider\s+myself)(?:\s+that)?|as\s+far\s+as\s+I\s+know)\s+(?=I\b|my\b|we\b)")
_ANYMORE = re.compile(r"(?i),?\s*\b(?:any\s?more|any\s+longer|no\s+more(?=\s*$))\b,?")
_NO_LONGER = re.compile(r"(?i)\b(am|are|have)\s+no\s+longer\b")
_STOPPED_BEING = re.compile(r"(?i)^(I|we)\s+(?:have\s+)?(?:stopped|quit|given\s+up|gave\s+up)\s+being\s+")
_NO_LONGER_VERB = re.compile(r"(?i)\bno\s+longer\b")
_LEAD = re.compile(
    r"(?i)^(?:(?:hi|hello|hey|hiya|well|so|oh|ok|okay|yes|yeah|yep|no(?=,)|nope|sure|right(?=,)|and|but|plus|or|then|because|since|"
    r"as|given\s+that|seeing\s+as|considering(?:\s+that)?|ah|um|uh|hmm|look(?=,)|listen(?=,)|anyway|first(?:\s+off)?|firstly|second(?:ly)?|lastly|good\s+"
    r"(?:morning|evening|afternoon)|thanks|thank\s+you|cheers|sorry|however|like(?=,)|note\s+that|note|reminder|heads\s+up|quick\s+"
    r"(?:note|background|intro|update|fyi)|update|great|perfect|cool|nice|again|for\s+me|in\s+general|everyone(?=[,!])|there(?=[,!])|all(?=[,!])|folks|guys|dear|wow|yay|"
    r"one\s+(?:more\s+)?(?:thing|other\s+thing)|another\s+thing|little\s+about\s+me|a\s+bit\s+about\s+me|about\s+me|(?:some\s+)?background|context|"
    r"(?:please\s+)?(?:remember|keep\s+in\s+mind|bear\s+in\s+mind|be\s+aware|take\s+into\s+account|know|consider|don't\s+forget|do\s+not\s+forget|note)(?:\s+that|(?=\s+(?:I|my|we)\b))|"
    r"(?:just\s+)?so\s+(?:that\s+)?you\s+(?:know|are\s+aware)|you\s+should\s+know(?:\s+that)?|it\s+may\s+help\s+to\s+know\s+that|"
    r"I\s+(?:should|must|ought\s+to|want\s+to|forgot\s+to|need\s+to|would\s+like\s+to|have\s+to|wanted\s+to|can|will|might)\s+(?:add|say|mention|note|tell\s+you|point\s+out|let\s+you\s+know|clarify|confess|admit)(?:\s+that)?|"
    r"I\s+(?:told\s+you|said|mentioned|already\s+said|already\s+told\s+you|already\s+mentioned|keep\s+telling\s+you)(?:\s+(?:earlier|before|that))*|"
    r"the\s+(?:thing|truth|fact|problem|issue)\s+is(?:\s+that)?|it\s+turns\s+out(?:\s+that)?|turns\s+out|as\s+I\s+(?:said|mentioned)|like\s+I\s+said|"
    r"thinking(?=\s+(?:I|we)\b)|did\s+I\s+(?:mention|say|tell\s+you)(?:\s+that)?|I\s+(?:just\s+)?(?:found\s+out|learned|learnt|realized|realised)(?:\s+that)?)(?:[,.!:]*\s+|$))++(?=\S)"
)
# A time or place in front of the subject goes behind the verb, so that patterns stay anchored on the subject.
_ADJUNCT = re.compile(
    r"(?i)^((?:in|at|on|for|during|since|after|before|every|each|most|by|until|over|with|outside|this|next|as\s+of|when\s+it\s+comes\s+to)\b"
    r"[^,]{1,45}?),?\s+(?=(?:I|we|my|our)\s)"
)
_WE = re.compile(r"^(?:(?:[Mm]y|[Oo]ur)\s+[\w'-]+(?:\s+[A-Z]?[\w-]+)?|[A-Z][\w-]+|[Mm]e|[Yy]ou)\s+and\s+(?:I|me|myself)\s+(?=\w)")
_HERE = re.compile(r"(?i)^(?:an?\s+)?([^\W\d][\w'-]*(?:\s[\w'-]+){0,3}?),?\s+(?:here|speaking)$")
_AS_A = re.compile(r"(?i)^(?:as(?=\s)|being(?=\s+(?:an?|vegan|vegetarian|allergic|diabetic|pregnant|someone)(?:\s|$))|speaking\s+as)\s+(an?\s+(?!result|rule|matter|reminder|whole|side|bonus|gift|start|test|joke|treat|follow|heads)|someone\s+(?:who\s+(?:is|'s)|with)\s+)?(.{3,60})$")
_AS_WHO = re.compile(r"(?i)^(?:as|being)\s+someone\s+who\s+(?!is\b)(\w+?)(?:es|s)\s+(.{2,60})$")
_IRREGULAR = {"ha": "have", "doe": "do", "enjoy": "enjoy", "studi": "study", "teach": "teach", "us": "use", "lov": "love",
              "liv": "live", "hat": "hate", "driv": "drive"}
_BE_FRAGMENT = re.compile(
    r"(?i)^(?:(?:severely|deathly|highly|very|mildly|super|happily|originally|strictly|strict|a|an)\s+)*(?:allergic\s+to|intolerant(?=\s+to)|lactose[\s-]intolerant|gluten[\s-](?:free|intolerant)|"
    r"(?:vegetarian|vegan|pescatarian|pescetarian|celiac|coeliac|diabetic)(?=$|[,.]|\s+(?:here|since|for|and|but|now|so|because)\b)|based\s+in|living\s+in|residing\s+in|located\s+in|settled\s+in|working\s+(?:as|at|for|in)|studying|married|single|divorced|"
    r"widowed|engaged|pregnant|born\s+(?:in|on|and\s+(?:raised|bred))|from(?=\s+(?-i:[A-Z]))|planning\s+(?:a|an|to|on|my|our)|looking\s+to|looking\s+for|learning|saving\s+(?:up|for)|training\s+for|hoping\s+to|"
    r"trying\s+to|thinking\s+of|travell?ing\s+(?:to|with)|going\s+to(?=\s+(?-i:[A-Z]))|flying\s+to|heading\s+to|visiting|retired|unemployed|self-employed|color[\s-]?blind|"
    r"colou?r[\s-]?blind|fluent\s+in|raised\s+in|employed|scared\s+of|afraid\s+of|\d{1,2}\s+years\s+old|left-handed|dyslexic|asthmatic|native\s+\w+\s+speaker|mother\s+of|father\s+of|"
    r"dad\s+(?:of|to)|mom\s+(?:of|to)|mum\s+(?:of|to)|parent\s+of|big\s+fan\s+of|huge\s+fan\s+of|not\s+a\s+fan\s+of|obsessed\s+with)(?![\w'])"
)
_DO_FRAGMENT = re.compile(
    r"(?i)^(?:love(?!\s+(?:and|is|was|can|will|it|you|this|that|to\s+(?:see|hear)|how|the\s+way|your|for|of|from|makes?))|hate(?!\s+(?:it|to\s+say|is|and|when))|prefer|cannot\s+stand|do\s+not\s+(?:eat|like|drink|smoke|drive|fly)|been|never\s+(?:eat|drink|fly)|moved\s+to|grew\s+up|"
    r"suffer\s+from|live\s+in|work\s+(?:as|at|for)|speak|play\s+the|got\s+(?:a|an|one|two|three|four|\d)\s|have\s+(?:two|three|four|asthma|diabetes)|adopted|enjoy(?=\s+\w+ing\b)|dislike|can\s+not\s+stand|"
    r"drive\s+an?\s+(?=[A-Z])|own\s+an?|would\s+rather|want\s+to\s+(?:keep|stay|spend)|need\s+to\s+(?:keep|stay)|allergic)\b"
)
_CARRY_VERB = (
    r"(?:live|work|love|hate|like|prefer|speak|have|drive|play|study|enjoy|drink|eat|teach|run|am|do\snot|don't|cannot|can't|never|"
    r"own|adore|dislike|suffer|take|use|moved|grew|studied|commute|collect|read|paint|want|plan|need|hope|wear|avoid|get|follow|"
    r"work|volunteer|smoke|cook|bake|travel|was\sborn|graduated|started|got|adopted|bought|keep)"
)
_CARRY_PRED = (
    r"(?:(?:originally|severely|very|happily|now|currently|recently|deathly|highly|also|a\sbit)\s)*(?:allergic\sto|vegetarian|vegan|pescatarian|based\sin|from|married|single|divorced|living\sin|working|studying|looking|"
    r"planning|learning|born|lactose|gluten|diabetic|intolerant|an?\s|the\s(?:mother|father)|\d{2}\s(?=years)|fluent|afraid|scared|obsessed|into|pregnant|retired|"
    r"training|saving|trying|hoping|raised|terrified|interested|asthmatic|travell?ing|flying|married)"
)
_CARRY = re.compile(rf"(?i)(?:,?\s+(and|but|or|plus)\s+|,\s+)(?=(?:also\s+|now\s+|currently\s+|mostly\s+|usually\s+|really\s+|just\s+|sometimes\s+)*(?:{_CARRY_VERB}\s|{_CARRY_PRED}))")
_HEAD = re.compile(r"(?i)^(?:(I|we)\s+(am|are|have\sbeen|was|were)\s+(not\s+)?|(I|we)\s+(do\s+not\s+|cannot\s+|never\s+)?)")
_OPEN_VERB = re.compile(r"\b(?:to|would|could|will|might|should|can|let|help|may)\s+(?:not\s+)?[a-z]{2,}(?!\S*ing\b)")


_REACTION = re.compile(r"(?i)\b(hives|rash|swell\s+up|break\s+out\s+in\s+hives|reaction|anaphylaxis)\s+(?:when(?:ever)?|if|every\s+time)\s+I\s+(?:eat|touch|have|drink|take|am\s+near)\s+")


_LABEL = re.compile(r"(?i)(?:(?:quick|short|brief|little)\s+)?(?:intro(?:duction)?|background|context|bio|about\s+me|a\s+bit\s+about\s+me|me|hi|hello|hey|hi\s+there|hey\s+there|hello\s+there)")
_IN_A_ROLE = re.compile(r"(?i)((?:as|being)\san?\s[\w-]+(?:\s[\w-]+){0,2}?)\s+(?=(?:I|I'm|I've|my|we)\s)")
_PAIR = re.compile(r"(?:[Mm]y|[Oo]ur)\s+[\w'-]+(?:\s+[A-Z]?[\w-]+)?|[A-Z][\w-]+|[Mm]e")


def clauses(sentence: Sentence) -> Iterator[Clause]:
    """The clauses of a sentence, with subjects restored ("…and live in Berlin" becomes "I live in Berlin")."""
    body = _REACTION.sub(r"\1 from ", sentence.text)
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
        if "and" in match.group() and _PAIR.fullmatch(piece.strip()) and body[match.end() :][:2] in ("I ", "I'"):
            continue  # "My wife and I" is one subject
        if piece.strip():
            yield from _coordinated(piece.strip(), conj, sentence, first)
            first = first and bool(_LABEL.fullmatch(piece.strip()))
        found = _CONJ_IN.search(match.group())
        conj = found.group().lower() if found else match.group().strip()[:1]
        start = match.end()
    piece = body[start:].strip()
    if piece:
        yield from _coordinated(piece, conj, sentence, first)


# "I'm Hannah, 33, UX researcher from Oslo"
_INTRO = re.compile(r"(?:(?:[Hh]i|[Hh]ello|[Hh]ey)[,!\s]+)?(?:I am|I'm|[Ii]m)\s(?P<name>\p{Lu}\p{Ll}+(?:\s\p{Lu}\p{Ll}+)?),\s(?P<rest>(?!I\b)\d{1,2}\b.*|[\w\s-]+,\s.*|\p{Ll}[\w\s-]+)$")


def _coordinated(raw: str, conj: str, sentence: Sentence, first: bool) -> Iterator[Clause]:
    """Splits "I'm 34 and live in Berlin" in two, giving the second its subject."""
    if len(raw) > MAX_CLAUSE:
        return
    intro = _INTRO.match(raw)
    if intro and first:
        for part in (intro.group("name"), *re.split(r",\s+(?:and\s+)?", intro.group("rest"))):
            article = "" if part == intro.group("name") or re.match(r"(?i)(?:an?|the|\d+|from|based|living|originally|married|single|vegan|vegetarian)\b", part) else "a "
            yield Clause(raw, f"I am {article}{_squeeze(expand(part))}", conj, question=sentence.question, first=True)
        return
    whole = normalise(Clause(raw, raw, conj, question=sentence.question, first=first, bullet=sentence.bullet))
    head = _HEAD.match(whole.text)
    # The split is looked for in the expanded text; the evidence of both halves is the whole clause.
    if not head:
        yield whole
        return
    start, prefix_be, prefix_do = 0, "", ""
    if head.group(1):
        prefix_be, prefix_do = f"{head.group(1)} {head.group(2)} {head.group(3) or ''}", f"{head.group(1)} "
    else:
        prefix_be, prefix_do = "", f"{head.group(4)} "
    parts: list[str] = []
    for match in _CARRY.finditer(whole.text):
        before, after = whole.text[start : match.start()], whole.text[match.end() :]
        bare = re.match(rf"(?i)(?:\w+ly\s+|also\s+|now\s+|just\s+)*{_CARRY_VERB}\s", after)
        if bare and re.match(r"(?i)like\s(?:I|we|he|she|it|they|my|the|a)\b", after) or bare and match.group(1) is None and after.lower().startswith(("like ", "plan ", "need ")):
            continue
        if bare and (_OPEN_VERB.search(before) or (match.group(1) is None and not prefix_do)):
            continue
        if not bare and not prefix_be:
            continue
        if not bare and re.match(r"(?i)an?\s", after) and not re.match(r"(?:I|we)\s(?:am|are)\s(?:an?\s|\d|[A-Z]|(?:I|we)\s(?:am|are)\s)", before):
            continue
        parts.append(before)
        negative = "do not " if bare and match.group(1) == "or" and " do not " in f" {before} " else ""
        start = match.end() - len(prefix := (prefix_do + negative if bare else prefix_be))
        # Virtual prefix: rebuilt below by slicing, so keep it in the text itself.
        parts.append(prefix)
        start = match.end()
    if not parts:
        yield whole
        return
    parts.append(whole.text[start:])
    texts = [parts[0]] + [parts[i] + parts[i + 1] for i in range(1, len(parts), 2)]
    for i, text in enumerate(texts):
        yield replace(whole, text=_squeeze(text), first=whole.first and i == 0)


_SPACES = re.compile(r"\s+")


def _squeeze(text: str) -> str:
    return _SPACES.sub(" ", text).strip(" ,.!-")


def expand(text: str) -> str:
    """Contractions undone: "I'm" is "I am", "don't" is "do not", a lone "i" is "I"."""
    for pattern, to in _CONTRACTIONS:
        text = pattern.sub(to, text)
    return text


def _keep_comma(match: re.Match[str]) -> str:
    """What a removed word leaves: "a nurse, currently living in Bonn" keeps its comma."""
    found = match.group()
    return ", " if found.startswith(",") and not found.endswith(",") else " "


def requested(raw: str, *, bullet: bool = False) -> Clause:
    """A standing request: contractions undone and politeness gone, but every other word kept."""
    text = _squeeze(expand(raw))
    text = _squeeze(_LEAD.sub("", text, count=1))
    return Clause(raw, re.sub(r"(?i),?\s*please$", "", text), first=True, bullet=bullet)


def normalise(clause: Clause) -> Clause:
    """`clause` with `text` in the form patterns expect, and its flags set."""
    text = _squeeze(expand(clause.text))
    text = _LEAD.sub("", text, count=1) if _LEAD.match(text) else text
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
    text = _LEAD.sub("", text, count=1) if _LEAD.match(text) else text
    lead2 = _SOFT_LEAD.match(text)
    if lead2:
        text = text[lead2.end() :]
    text = _restore_subject(text, clause)
    return replace(clause, text=_squeeze(text), soft=bool(lead or lead2 or soft_free != plain), anymore=anymore,
                   now=now_free != soft_free)


def _restore_subject(text: str, clause: Clause) -> str:
    moved = _ADJUNCT.match(text)
    if moved and not text.lower().startswith(("for example", "in my dream", "in the story", "in case")):
        return f"{text[moved.end():]} {moved.group(1)[0].lower()}{moved.group(1)[1:]}"
    we = _WE.match(text)
    if we:
        partner = re.match(r"(?i)(?:my|our)\s+(?:\w+\s)?(wife|husband|girlfriend|boyfriend|partner|fianc[eé]e?|spouse)\b", we.group())
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
