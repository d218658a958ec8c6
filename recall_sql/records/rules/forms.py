"""What kind of sentence a message is: a statement to keep, a correction, a deletion, a question, or none of these."""

from __future__ import annotations

from recall_sql.records.rules import patterns as re

_POLITE = re.compile(
    r"(?i)^(?:\s|[,.!]|hey\b|hi\b|hello\b|ok(?:ay)?\b|oh\b|so\b|well\b|sorry\b|oops\b|wait\b|actually\b(?=,?\s+(?:please\s+)?(?:delete|remove|change|update|make|set|correct))|please\b|pls\b|now\b|then\b|and\b|"
    r"(?:can|could|would|will)\s+you(?:\s+please)?\b|(?:i(?:\s+would|'d)\s+like|i\s+want|i\s+need)\s+(?:you\s+)?to\s+(?=delete|remove|change|update|correct|fix|edit|erase|see|know)|"
    r"let'?s\b|just\b|go\s+ahead\s+and\b|you\s+can\b)"
)
_DELETE = re.compile(
    r"(?i)^(?:delete|remove|erase|drop|discard|scrap|cancel|undo|trash|wipe|clear|forget(?:\s+about)?|get\s+rid\s+of|take\s+(?:out|off|away|back)|take\s+(?:the|my|that|all)\s+[^.?!]{1,40}?\s+(?:out|off)|throw\s+(?:out|away)|strike|scratch|unlog)\b(?!\s+(?:off\s+to|by\s+the))"
)
_UPDATE = re.compile(
    r"(?i)^(?:change|update|correct|fix|edit|modify|adjust|amend|revise|set|make|rename|move|reschedule|shift|mark|increase|decrease|raise|lower|bump|reduce|replace|switch|put|rate|add\s+(?:a|the)\s+(?:note|description|comment|rating)\b[^.]*\bto\s+(?:my|the|that))\b"
)
_CORRECTION = re.compile(
    r"(?i)^(?:correction\b|actually\b|no,|i\s+meant\b|(?:sorry|oops)\b.*\b(?:was|meant|should)\b|(?:it|that)\s+was\s+(?=[\d$€£]|(?:on|at|by|with|for)\s)|(?:it|that)\s+(?:was|should|is)\s+(?:actually|really|supposed|be|have\s+been)\b)"
    r"|\b(?:should\s+(?:be|have\s+been|read|say)|(?:was|is|were)\s+(?:actually|really)\b|(?:was|is)\s+supposed\s+to\s+be)\b|\b(?:was|is|were)\s+(?:[^.?!]|\.\d){1,40}?,?\s+(?:and\s+)?not\s+(?:[^.?!]|\.\d){1,40}$|\bnot\s+[^.?!,]{1,40},?\s+but\s+"
)
_QUESTION = re.compile(
    r"(?i)^(?:how\b(?!\s+(?:about|come))|what(?:'s|’s|s)?\b|which\b|when(?:'s)?\b|where\b|who(?:m|'s)?\b|whose\b|why\b|(?:do|did|does|was|were|is|are|am)\s+(?:i|we|my|the|any|there|you|it|that)\b|(?:have|has|had|can|could)\s+(?:i|we|any|there|you)\b|"
    r"(?:show|list|give|tell|find|display|get|fetch|print|summari[sz]e|count|calculate|compute|sum|add\s+up|total|search|look\s+up|break\s+down|compare|rank|sort|group|average|report|export|see|know|pull\s+up)\b(?=.*\b(?:me|my|all|the|how|what|every|which|total|average|number|up|by|per|last|latest|recent|i|we|of)\b)|"
    r"(?:(?:my\s+|the\s+)?(?:total|average|mean|sum|number|count|highest|lowest|maximum|minimum|max|min|biggest|largest|smallest|longest|shortest|latest|most\s+recent|breakdown)\b)(?=.*\b(?:of|my|i|did|for|this|last|per|by|in|on|to|spent|paid|spending)\b)|"
    r"(?:any|all)\s+(?:my\s+)?\p{L}+(?:\s+\p{L}+){0,3}\s*\?$)"
)
_SHOW_ME = re.compile(r"(?i)^(?:give|get|tell|show)\s+(?:me|us)\b")
_FUTURE = re.compile(
    r"(?i)\b(?:i(?:'ll|’ll|\s+will|\s+shall|'m\s+going\s+to|\s+am\s+going\s+to|'m\s+gonna|\s+might|\s+may|\s+could|\s+would|\s+should|\s+want\s+to|\s+wanna|\s+plan(?:\s+to|\s+on)|'m\s+planning|\s+am\s+planning|\s+hope\s+to|\s+need\s+to|\s+have\s+to|\s+must|'d\s+like\s+to|'d\s+love\s+to|\s+wish|\s+intend)|"
    r"thinking\s+(?:about|of)|considering|going\s+to\s+(?:pay|buy|run|read|start|take|go|do|send|swim|spend|order|try|eat|make)|planning\s+(?:to|on)|remind\s+me|let'?s|we\s+should|what\s+if|should\s+i|if\s+i|i\s+wonder|maybe\s+i|tomorrow\s+i|don'?t\s+forget|about\s+to)\b"
)
_DENIED = re.compile(
    r"(?i)\b(?:i|we)\s+(?:did\s*n[o'’]?t|didn’t|did\s+not|have\s*n[o'’]t|haven’t|have\s+not|never|don'?t|don’t|do\s+not|could\s*n[o'’]t|couldn’t|was\s*n[o'’]t|wasn’t|forgot\s+to|skipped|almost|nearly|refused\s+to|no\s+longer)\b|^(?:didn'?t|no|never|not|skipped|forgot)\b(?!\s*:)"
)
_OTHERS = re.compile(
    r"(?i)^(?:my\s+(?:\p{L}+\s+){0,2}?(?:friend|wife|husband|brother|sister|boss|colleague|neighbou?r|cousin|mother|father|mom|mum|dad|boyfriend|girlfriend|partner|roommate|coworker|uncle|aunt|son|daughter|kid|child|grandma|grandpa|grandmother|grandfather)(?:\s+\p{Lu}\p{L}+)?|he|she|they|someone|somebody|people|everyone)\s+(?:\p{L}+\s+)?(?:just\s+|also\s+|always\s+)?(?:\p{L}+(?:ed|s)|ran|paid|bought|spent|read|had|were|took|got|swam|ate|sent|gave|said|told|went|did|slept|drank|made|saw|lost|won|felt)\b"
)
_CHAT = re.compile(
    r"(?i)^\W*(?:hi|hello|hey|thanks?|thank\s+you|thx|good\s+(?:morning|evening|night|afternoon)|how\s+are\s+you|bye|goodbye|see\s+you|ok(?:ay)?|cool|great|nice|yes|no|sure|lol|haha+|help|sorry|awesome|perfect|got\s+it|never\s*mind|what'?s\s+up|good\s+job|well\s+done)\b(?:[\s,!.]+(?:there|you|so\s+much|a\s+lot|everyone|friend|today|again|very\s+much|for\s+(?:the|your)\s+help|that'?s\s+all|how\s+are\s+you.*))*\W*$"
)
_STATE = re.compile(
    r"(?i)^(?:the|this|that|it|these|those)\b[^,.]{0,40}?\b(?:is|was|are|were|has\s+been|isn['’]t|wasn['’]t|doesn['’]t|looks?|seems?)\b"
)
_SAYS_MORE = re.compile(
    r"(?i)\d|[\"“”]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|hundred|thousand|dozen|pain|ache|rash|cough|fever|hurts?|by\s+\p{Lu})"
)
_TITLED = re.compile(
    r"(?:Where|What|Who|When|How|Which|Why|Do|Did|Are|Is|Show)\b(?:\s(?:the|a|of|in|\p{Ll}{1,3}))*(?:\s\p{Lu}[\p{L}'’]+)+\s*(?:-|–|,|\sby\s\p{Lu})"
)
SOMEBODY_ELSES = "it is about somebody else"  # why such a message is left alone
_TOO_LONG = 1200  # characters; a record is said in a sentence or two


def strip_polite(text: str) -> str:
    """Without what only opens a request: "hey, could you please"."""
    while (m := _POLITE.match(text)) and m.group():
        text = text[m.end() :]
    return text.strip()


def kind(text: str) -> tuple[str, str]:
    """(insert, update, delete, query or none; why, where it is none)."""
    plain = strip_polite(text)
    if not plain or not re.search(r"\p{L}|\d", plain):
        return "none", "the message is empty"
    if _CHAT.match(text.strip()):
        return "none", "it is small talk"
    if len(plain) > _TOO_LONG:
        return "none", f"the message is longer than a record is ({len(plain)} characters)"
    if _DELETE.match(plain):
        return "delete", ""
    if re.match(
        r"(?i)should\s+i\b|what\s+if\b|(?:what|which|where|who|how|when)\b.*\bshould\s+(?:i|we)\b|how\s+(?:do|can|should)\s+(?:i|you|one|we)\b|how\s+are\s+you\b|what\s+(?:do|are|would)\s+you\b|what(?:'s|\s+is)\s+your\b|(?:do|are|have)\s+you\b|who\s+are\s+you|tell\s+me\s+(?:about\b(?!\s+my)|a\s+joke)|recommend\b|what(?:['’]s|\s+is|\s+are)\s+(?:an?|some|the)\s+(?:good|best|great|nice|healthy|easiest)\b(?!.*\b(?:my|i)\b)",
        plain,
    ):
        return "none", "it asks for advice, not about records"
    if _UPDATE.match(plain):
        return "update", ""
    if (_QUESTION.match(plain) and not _TITLED.match(plain)) or plain.endswith("?"):
        return "query", ""
    if _CORRECTION.search(plain):
        return "update", ""
    if _FUTURE.search(plain):
        return "none", "it is about something that hasn't happened"
    if _DENIED.search(plain):
        return "none", "it says that something did not happen"
    if _STATE.match(plain) and not _SAYS_MORE.search(plain):
        return "none", "it says how something is, not what was done"
    if _OTHERS.match(plain):
        return "none", SOMEBODY_ELSES
    return "insert", ""
