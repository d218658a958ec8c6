"""Says which clauses must not be believed: questions, hypotheticals, quotations, fiction, jokes, pasted text.

Third parties need no guard: patterns are anchored on "I", "we" and "my", so "my friend says I am picky" matches none.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex as re

from recall_sql.models.rules.naming import is_naming
from recall_sql.models.rules.splitting import clauses
from recall_sql.models.rules.text import QUOTE_MARK, Clause, Sentence
from recall_sql.models.rules.wording import requested

_FICTION = re.compile(
    r"(?i)\b(?:role-?\s?play(?:ing)?|pretend(?:ing)?|imagine\b(?!.{0,20}\bmy\s+surprise)|let's\s+say|"
    r"let\s+us\s+say|hypothetical(?:ly)?|thought\s+experiment|"
    r"act\s+(?:as|like)\s+(?:a|an|my|the)|you\s+are\s+(?:a|an)\s|you're\s+(?:a|an)\s(?!\w*\s?(?:life|"
    r"star|genius|legend|angel|great|good|big|huge|real|lifesaver))|"
    r"my\s+(?:d&d\s+|rpg\s+|game\s+)?character\b|in\s+(?:the|my|this)\s+(?:story|novel|game|movie|"
    r"film|book|dream|song|poem|lyrics|sims|scenario|screenplay)|protagonist|"
    r"i\s+dream(?:t|ed)\s+(?:that|i)|once\s+upon\s+a\s+time|the\s+lyrics|song\s+goes|"
    r"suppose\s+(?:that\s+)?(?:i|we|my)\b|supposing|what\s+if\b|"
    r"(?:write|compose|draft|create|generate|make\s+up|tell|give)\s+(?:me\s+|us\s+)?(?:a|an|the|some|"
    r"another)\s+(?:\w+\s+){0,3}?(?:story|poem|song|rap|haiku|"
    r"limerick|dialogue|monologue|script|scene|persona|lyrics|joke|fiction|tale|sonnet|speech|"
    r"diary\s+entry|tweet|post|caption|bio|cover\s+letter|paragraph|essay|letter|email|sentence|"
    r"example)s?)"
)
_PASTE = re.compile(
    r"(?i)\b(?:translat\w*|summari[sz]\w*|rewrit\w*|rephras\w*|proofread\w*|paraphras\w*|correct|fix|"
    r"edit|grammar|analy[sz]e|classify|review|parse|extract|"
    r"sentiment|sentence|phrase|text|passage|article|excerpt|email|letter|review|transcript|message|"
    r"essay|paragraph|quote|lyrics|tweet|post|how\s+(?:do|would|can)\s+(?:you|i|we)\s+"
    r"(?:say|write|spell)|(?:sample|example|test)\s+(?:data|input|sentence)?|output|input|prompt|log|"
    r"dialogue|script|caption|bio)\b[^.!?\n]{0,60}:\s*$"
)
_HOW_SAY = re.compile(
    r"(?i)\b(?:translate|how\s+(?:do|would|can|should)\s+(?:you|i|we|one)\s+(?:say|write|spell|"
    r"pronounce)|what\s+does|what\s+is\s+the\s+meaning|is\s+it\s+correct\s+to\s+say|"
    r"the\s+(?:sentence|phrase|words?|title|song|book|film|movie|lyric|slogan|meme)\b|says?\s+the\s+sign|reads?:)"
)
_JOKE = re.compile(
    r"(?i)(?:\bjust\s+kidding\b|\b(?:only|just)\s+joking\b|\bkidding\b|\bjk\b|\bj/k\b|(?<=\s)/s\b|"
    r"\bnot\s+serious(?:ly)?\b|\bjoking\s+aside\b|\bi\s+wish!|\bapril\s+fools?\b|\bin\s+a\s+(?:past|"
    r"previous|former|parallel|another)\s+life\b|\bso\s+to\s+speak\b|\bfiguratively\b|"
    r"\bmetaphorically\b|\bas\s+they\s+say\b)"
)
_SARCASM = re.compile(
    r"(?i)^(?:yeah\s+right|oh\s+sure|sure,\s+and|as\s+if|yeah,?\s+and|oh\s+yeah|right,\s+and|"
    r"oh\s+great|because\s+obviously)\b|\bthe\s+(?:queen|king|pope|emperor)\s+of\b|\bbatman\b"
)
_IF_YOU = re.compile(r"(?i)^(?:if|when(?:ever)?)\s+you\s+(?!were\b|had\b)")
_CONDITION = re.compile(
    r"(?i)^(?:(?:and|but|so|even|only|or|as)\s+)?(?:what\s+if|if|unless|whether|suppose|supposing|"
    r"assuming|imagine|provided|in\s+case|wish|had\s+I|were\s+I|should\s+I)\b|"
    r"^(?:say|let's\s+say|let\s+us\s+say)\s+(?:that\s+)?(?:I|we|my)\b"
)
_MODAL = re.compile(
    r"(?i)^(?:(?:I|we)\s+(?:might|may|could|would(?!\s+(?:rather|prefer|describe|call\s+myself|"
    r"like\s+(?:to\s+(?:keep|stay|spend|be\s+called|be\s+addressed|go\s+by|go\s+to|"
    r"travel|visit|learn|lose|quit|become|run|write|improve|save|read\s+more|finish|launch|"
    r"get\s+(?:fit|in|better))|you\s+to|"
    r"answers|it\s+if|my|all|short|the\s+budget)|love\s+(?:to\s+keep|it\s+if\s+you)))|should|ought|"
    r"wish|used\s+to|wonder|doubt|dreamed|dreamt|will\s+never\s+be|"
    r"am\s+(?:considering|thinking\s+(?:about|of)|wondering|not\s+sure|unsure|tempted|debating|"
    r"curious|imagining|pretending|supposed\s+to\s+be|toying)|have\s+(?:been\s+)?(?:considered|"
    r"thought\s+about|been\s+thinking|thinking)|thought\s+(?:I|about)|considered|"
    r"was\b(?!\s+(?:born|raised|diagnosed|named|brought|awarded|promoted|hired))|were\b(?!\s+(?:born|raised))|"
    r"had\b(?!.*\b(?:put\s+(?:my|our)|rehome|allergic|surgery|baby|operation|replacement|transplant|stroke|heart\s+attack|"
    r"c-section)\b)|all\s+(?:love|like|hate|know|live|have|need|want|are|do)|almost\b|nearly\b)|maybe\b|perhaps\b|probably\b|possibly\b|hopefully\b|"
    r"one\s+day\b|someday\b|who\s+knows)"
)
_PAST = re.compile(
    r"(?i)^(?:back\s+)?(?:when|while|before|until|after|once|since)\s+(?:I|we)\s+(?:was|were|lived|"
    r"worked|had|used|did|got|became|moved)\b|^(?:back\s+)?in\s+(?:college|high\s+school|uni|"
    r"university)\b|\bin\s+(?:my\s+(?:youth|twenties|childhood|teens))\b|\bas\s+a\s+(?:kid|child|"
    r"teenager|student|teen|boy|girl)\b|\bback\s+then\b|\bin\s+those\s+days\b|\bwhen\s+I\s+was\b|"
    r"\b(?:years|months|weeks|ages)\s+ago\b|\blast\s+(?:year|month|summer|winter|decade)\b|"
    r"\bgrowing\s+up\b|\bused\s+to\b"
)
_PAST_FRAME = re.compile(
    r"(?i)^(?:(?:back\s+)?(?:when|while|whenever)\s+(?:I|we)\s+(?:was|were|lived|worked|had|used)\b|"
    r"as\s+a\s+(?:kid|child|teenager|teen|student|boy|girl|youngster|toddler)\b|growing\s+up\b|"
    r"in\s+my\s+(?:youth|twenties|teens|childhood)\b|back\s+(?:then|in)\b|years\s+ago\b|once\s+upon|"
    r"previously\b|formerly\b)"
)
_PAST_OK = re.compile(
    r"(?i)\b(?:born|grew\s+up|raised|moved|graduated|adopted|got|quit|stopped|switched|became|turned|"
    r"gave\s+up|started|studied|bought|married|sold|diagnosed|went|retired|degree|joined|hired|promoted|prescribed|put\s+me\s+on|broke\s+up|split\s+up|have\s+been|since|"
    r"childhood)\b"
)
_OTHERS_WORDS = re.compile(
    r"(?i)\b(?:according\s+to|(?:she|he|they|people|everyone|everybody|somebody|someone|[A-Z]\w+|"
    r"my\s+\w+(?:\s\w+)?|the\s+\w+)\s+(?:says?|said|tells?(?!\s+you)|told\s+(?:me|us)|thinks?|thought|claims?|"
    r"claimed|believes?|assumes?|assumed|wrote|insists?|reckons?|jokes?|keeps?\s+(?:saying|telling)|"
    r"announced|mentioned|replied|goes|was\s+like|asked)\b(?!\s+me\s+to))"
)
_INVERTED = re.compile(
    r"(?i)^(?:(?:so|and|but|or|then|also|please|hey|hi|ok|okay)[,\s]+)*(?:(?:what|which|who|whom|"
    r"whose|where|when|why|how)\b(?!\s+(?:I|we)\s)|(?:am|are|is|was|were|do|does|did|can|could|would|"
    r"will|should|shall|have|has|had|may|might|must|isn't|aren't|don't|doesn't|didn't|can't|couldn't|"
    r"won't|wouldn't|shouldn't|ain't)\s+(?:I|we|you|he|she|it|they|that|this|there|these|those|my|"
    r"your|the|a|an|any|anyone|someone|people)\b|any\s+(?:idea|tips|advice|suggestions?|"
    r"recommendations?|ideas|good|chance|thoughts)\b|got\s+any|know\s+(?:any|of)|thoughts\b|ideas\b|"
    r"recommendations?\b|suggestions?\b|right$|ok$|okay$)"
)
_IF_INSIDE = re.compile(
    r"(?i)\s(?:if|unless|whether|in\s+case|supposing|assuming)\s(?!you\s+(?:want|like|must|prefer|"
    r"ask)|possible|that\s+(?:helps|matters)|I\s+can\s+help|anyone|it\s+matters)"
)
_THIRD = re.compile(
    r"(?i)^(?:he|she|they|(?:my|our)\s+(?:\w+\s+)?(?:friends?|roommate|flatmate|housemate|colleagues?|"
    r"coworkers?|boss|neighbou?rs?|manager|teacher|landlord|guests?|client|buddy|mate|wife|husband|"
    r"partner|"
    r"girlfriend|boyfriend|son|daughter|kids?|children|sister|brother|mother(?!\s+tongue)|mom|mum|"
    r"father|dad|parents|cousin|aunt|uncle|niece|nephew|grand\w+))\s+(?:\w+\s+)?(?:is|are|has|have|"
    r"was|does|do|loves?|hates?|likes?|cannot|can|eats?|needs?|wants?|prefers?|lives?|works?|"
    r"speaks?)\b(?!.*\b(?:called|named)\b)"
)
_VERB_LIKE = re.compile(r"(?i)^(?:(?:I|we|my|our)\b|\w+\s+here$)")


def sentence_blocks_rest(sentence: Sentence) -> bool:
    """Fiction, roleplay and "translate this:" speak for everything that follows in the message."""
    return bool(_FICTION.search(sentence.text))


def is_paste_header(sentence: Sentence) -> bool:
    """ "Summarize this article:" at the end of a line: what follows is somebody's text."""
    return bool(_PASTE.search(sentence.text))


def is_joke(text: str) -> bool:
    """The sentence takes back what it (or the one before it) said."""
    return bool(_JOKE.search(text))


def believable(sentence: Sentence) -> Iterator[Clause]:
    """The clauses of `sentence` that state something about the speaker."""
    text = sentence.text
    if _SARCASM.search(text) or (QUOTE_MARK in text and not _SELF_NAMING.search(text)):
        return
    if _HOW_SAY.search(text) and (sentence.question or ":" in text):
        return
    if sentence.question and not _mixed_question(sentence):
        return
    ruled = _standing_request(sentence)
    if ruled:
        yield requested(ruled.text, bullet=sentence.bullet)
        sentence = Sentence(text[len(ruled.text) :].lstrip(" ,;"), False, sentence.bullet)
    conditional = reported = asking = third = past = False
    for clause in clauses(sentence):
        resumes = clause.conj in ("but", "and", "so", "(", ")", ";", "—") or clause.conj.startswith("and")
        if ":" in text and clause.first and is_paste_header(Sentence(clause.raw + ":")):
            return
        if _CONDITION.match(clause.raw) or clause.conj in ("if", "unless", "whether", "even if", "when", "whenever"):
            conditional = not _IF_YOU.match(clause.raw) and clause.conj not in (
                "if",
                "unless",
                "whether",
                "even if",
                "when",
                "whenever",
            )
            continue
        if conditional and not (clause.conj == "but" or clause.conj == ";"):
            continue
        if _OTHERS_WORDS.search(clause.raw) and not re.match(r"(?i)my\s+(?:doctor|gp|allergist)\b", clause.raw):
            reported = not resumes or clause.first
            continue
        if reported and not resumes:
            continue
        if sentence.question and (_INVERTED.match(clause.raw) or (asking and not _VERB_LIKE.match(clause.text))):
            asking = True
            yield Clause(clause.raw, clause.text, clause.conj, question=True, first=clause.first)
            continue
        other, own = bool(_THIRD.match(clause.text)), bool(_VERB_LIKE.match(clause.text))
        past = (past and clause.conj != "but") or bool(_PAST_FRAME.match(clause.raw))
        if past:
            continue
        if third and not own and not other and not is_naming(clause):  # "my roommate is lactose intolerant, so no milk"
            continue
        third = other or (third and not own)
        if _unstated(clause):
            continue
        yield Clause(
            clause.raw,
            clause.text,
            clause.conj,
            clause.soft,
            clause.anymore,
            clause.now,
            False,
            clause.first,
            clause.bullet,
        )


_IMPERATIVE = re.compile(
    r"(?i)^(?:(?:please|pl[sz]+|kindly|and|but|so|ok|okay|also|hey|oh|just|one\s+(?:more\s+)?thing|from\s+now\s+on|"
    r"going\s+forward)[,:]?\s+)*(?:always|never|don't|do\s+not|from\s+now\s+on|keep|use|stop|refrain|answer|"
    r"reply|respond|write|speak|explain\s+(?:things|everything|concepts)|avoid|be|stick|"
    r"whenever\s+(?:I|you)|every\s+time\s+(?:I|you)|when\s+(?:I\s+(?:ask|say|write|send|share|paste|"
    r"mention)|you\s+(?:answer|reply|respond|write|talk|explain|give|suggest|recommend))|"
    r"going\s+forward|in\s+(?:the\s+)?future|as\s+of\s+(?:now|today)|henceforth|address|"
    r"refer\s+to\s+me)\b"
)
_REASON = re.compile(
    r"(?i)\s*(?:[;(—–]|,)\s*(?:because|since|as|cause|and|but|so)?\s*(?=(?:I|I'm|I've|my|we|we're|our|"
    r"can|could|what|how)\b)|\s+(?:because|since|as|cause|and|but|so)\s+(?=(?:I|I'm|I've|my|we|"
    r"we're)\b)"
)
_TRIGGER = re.compile(r"(?i)\b(?:when|whenever|if|every\s+time)\b[^,]*,?$")


def _standing_request(sentence: Sentence) -> Sentence | None:
    """The imperative a sentence opens with: "when you write to me" belongs to it, "because I'm …" doesn't."""
    if sentence.question or not _IMPERATIVE.match(sentence.text):
        return None
    for match in _REASON.finditer(sentence.text):
        if not _TRIGGER.search(sentence.text[: match.start()]):
            return Sentence(sentence.text[: match.start()])
    return Sentence(sentence.text)


_SELF_NAMING = re.compile(r"(?i)\b(?:call(?:ed)?|named?|nickname)\b")


def _mixed_question(sentence: Sentence) -> bool:
    """A question with something asked in it, so that its other clauses can be statements; "I'm vegan?" is a doubt."""
    return any(_INVERTED.match(c.raw) or _INVERTED.match(c.text) for c in clauses(sentence)) or bool(
        re.match(r"(?i)(?:did\s+i\s+(?:mention|say|tell))", sentence.text)
    )


_STOPPED = re.compile(r"(?i)\b(?:stopped|quit|gave\s+up|given\s+up)\s+being\b")


def _unstated(clause: Clause) -> bool:
    """Wishes, possibilities, the past."""
    if _MODAL.match(clause.text):
        return True
    if _IF_INSIDE.search(clause.text):
        return True
    if clause.anymore and _STOPPED.search(clause.raw):
        return False  # "I stopped being vegetarian last year" is about now
    return bool(_PAST.search(clause.text) or _PAST.search(clause.raw)) and not _PAST_OK.search(clause.text)
