"""Value parsers for goals, habits and standing instructions (kind RULE): what outlives the message it stands in."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules.lexicon import words
from recall_sql.models.rules.phrases import singular, snake, split_list, trim
from recall_sql.models.rules.values import Context, Groups, Row, parser

_DURABLE_GOAL = re.compile(
    r"(?i)^(?:run|learn|lose|gain|save|buy|become|start|launch|open|write|publish|finish|complete|"
    r"get\s+(?:a|an|my|into|in|fit|back|better|promoted|married|out|healthier|stronger|more|certified|"
    r"rid)|quit|stop|retire|improve|"
    r"build|earn|pay\s+off|graduate|pass|qualify|climb|travel|see\s+the|move|live\s+(?:in|abroad)|"
    r"grow|reduce|cut\s+(?:down|back|out)|eat\s+(?:more|less|healthier|better)|drink\s+(?:more|less)|"
    r"exercise|work\s+out|be\s+(?:more|less|a|an|able|fluent|debt)|"
    r"master|read|hike|cycle|swim|train|sleep|wake|spend\s+(?:more|less)|find\s+(?:a\s+(?:job|"
    r"new\s+job|partner|girlfriend|house|flat)|work)|switch|change\s+(?:careers?|jobs?)|apply|study|"
    r"invest|volunteer|adopt|have\s+(?:kids|a\s+baby|children)|record|release|compete|win|do\s+(?:a|"
    r"my|an)|bench|"
    r"stay\s+(?:fit|healthy|in\s+shape|sober|under|debt|off)|go\s+(?:back\s+to|to\s+(?:university|"
    r"college|grad|med|law))|sail|visit|renovate|establish|create\s+a|raise|break|beat|maintain|"
    r"keep\s+(?:fit|in)|manage|overcome|bike|walk|declutter|meditate|speak|play|teach|donate|"
    r"give\s+up|tone|bulk|land|secure|drop|put\s+on|reach|hit|increase|develop|practi[sc]e|own)\b"
)


_TASK = re.compile(
    r"(?i)\b(?:function|script|code|api|query|app's|this|that|it|these|those|your|you|bug|error|"
    r"recipe|table|button|page\b|file|email|list|sentence|paragraph|equation|problem|question|"
    r"the\s+(?:difference|best|right|following|answer|meeting|document|example)|"
    r"website|site|app|apps|repository|git|deploy\w*|coverage|probabilit\w*|triangles?|proofs?|"
    r"diagrams?|theorem|environment|metadata|seo|accessibility|notation|basics|calculations?|"
    r"performance|implementation|project's|github|docker|css|html|python|flask|react|sql\w*|dataset|"
    r"component|endpoint|server|database|class|method|triangle|formula|here|tonight|today|tomorrow|"
    r"something|lunch|dinner|a\s+(?:minute|second|moment|break|drink|coffee|nap|shower|table|gift|"
    r"present|ticket|room|haircut|look|few|bit|chat)|in\s+touch|some|more\s+about|about\s+(?:the|how)|"
    r"from\s+you|with\s+you)\b"
)


_THIS_YEAR = re.compile(r"(?i)\bthis\s+(?:year|month|summer|winter|spring|autumn|fall|season|decade|semester)\b")


@parser
def goal(groups: Groups, context: Context) -> list[Row]:
    """A lasting aim: its verb must be one people have goals with, its object none of the conversation's tasks."""
    phrase = re.split(r"(?:,\s|\s-\s|\u2039)", groups["obj"])[0].strip(" .!?")
    phrase = re.sub(
        r"(?i)\s+(?:because|since|so\s+(?:that|I)|but|when|if|while|and\s+(?:I|we|need|would|was|am)|"
        r"as\s+(?:I|it|soon)|which|please|right|though|can)\b.*$",
        "",
        phrase,
    )
    phrase = re.sub(r"(?i)^(?:one\s+day|someday|eventually|actually|finally|to)\s+", "", phrase)
    if not groups.get("sure") and not _DURABLE_GOAL.match(phrase):
        return []
    if (
        not phrase
        or len(phrase.split()) > 14
        or _TASK.search(_THIS_YEAR.sub("", phrase))
        or re.match(
            r"(?i)(?:travel\s+by|go\s+by|know|be\s+sure|make\s+sure|see\s+(?:if|how|what)|ask|"
            r"understand|hear|talk|say|tell|thank|figure)\b",
            phrase,
        )
    ):
        return []
    if re.search(r"(?i)\b(?:a|an|the|my|our|for|to|and|of|with|this)$", phrase):
        return []
    if len(phrase.split()) < 2 and not groups.get("sure"):
        return []
    return [
        {
            "item": phrase,
            "key": snake(re.sub(r"(?i)\b(?:a|an|the|my|our|by|in|at)\b\s*", "", trim(phrase) or phrase), 4),
        }
    ]


_TOPICS: tuple[tuple[str, str], ...] = (
    (r"\b(?:metric|imperial|celsius|fahrenheit|kilomet|miles|kilograms?|units)\b", "units"),
    (r"\b(?:24[\s-]hour|12[\s-]hour|am/pm)\b", "time_format"),
    (r"\b(?:emojis?|emoticons?|smileys?)\b", "emoji"),
    (
        r"\b(?:bullet(?:ed)?\s*(?:points|lists)?|numbered\s+lists?|lists?|tables?|markdown|headings?|"
        r"paragraphs?|prose|bold|plain\s+text)\b",
        "format",
    ),
    (
        r"\b(?:short|brief|concise|long|length|verbose|sentences?|words|succinct|detailed|"
        r"to\s+the\s+point|one-liner|tl;?dr|summary)\b",
        "answer_length",
    ),
    (
        r"\b(?:english|spanish|french|german|italian|portuguese|dutch|polish|russian|arabic|hindi|"
        r"chinese|mandarin|japanese|korean|turkish|swedish|danish|norwegian|finnish|greek|ukrainian|"
        r"czech)\b",
        "answer_language",
    ),
    (
        r"\b(?:formal|informal|casual|friendly|polite|tone|sarcas\w+|jokes?|humou?r|blunt|"
        r"professional|apologi[sz]\w*|compliment\w*|flatter\w*|praise)\b",
        "tone",
    ),
    (
        r"\b(?:jargon|simple\s+(?:words|terms|language)|plain\s+(?:english|language)|layman|eli5|technical\s+terms)\b",
        "plain_language",
    ),
    (r"\b(?:sources?|cite|citations?|references?|links?)\b", "sources"),
    (
        r"\b(?:call\s+me(?!\s*(?:$|[,.!])|\s+(?:before|after|at|on|in|during|between|until|till|from|outside|while|when|whenever|"
        r"if|unless|about|for|early|late|again|back|first|twice|ever|every|today|tonight|tomorrow|over|via|without|(?:this|next)\s+"
        r"(?:week|month)|\w+days?)\b)|my\s+name|address\s+me|refer\s+to\s+me|mr|mrs|sir|ma'am|madam)\b",
        "address",  # what to be called, not when to be rung up
    ),
    (r"\b(?:pronouns?)\b", "pronouns"),
    (r"\b(?:currency|euros|dollars|pounds)\b", "currency"),
    (r"\b(?:step[\s-]by[\s-]step|steps|examples?|code|comments?|type\s+hints|python|typescript)\b", "explanations"),
    (r"\b(?:british|american)\s+(?:english|spelling)\b", "spelling"),
)


_TOPIC = [(re.compile(p, re.I), key) for p, key in _TOPICS]


_SMALL = frozenset(
    [
        "a",
        "an",
        "the",
        "to",
        "me",
        "my",
        "your",
        "you",
        "in",
        "of",
        "and",
        "or",
        "with",
        "for",
        "at",
        "on",
        "please",
        "always",
        "never",
        "do",
        "not",
        "any",
        "be",
        "is",
        "are",
        "it",
        "when",
        "from",
        "now",
        "i",
        "all",
        "that",
        "by",
        "if",
        "ever",
        "would",
        "rather",
        "did",
        "hate",
        "like",
    ]
)


_NAMING = re.compile(
    r"(?i)^(?!.*\b(?:not|never|stop|always|from\s+now)\b).*\b(?:call\sme|address\sme\sas|(?:addressed|referred\sto)\sas)\s(?-i:\p{Lu})[\w.]+(?:\s\p{Lu}\w+)?$"
)


@parser
def instruction(groups: Groups, context: Context) -> list[Row]:
    """A standing rule in the user's words, with a key by topic."""
    phrase = re.split(r"\u2039|;", groups["obj"])[0].strip(" .!?,")
    phrase = re.sub(r"(?i)(?:,?\s+)?\b(?:please|thanks|thank\s+you|ok(?:ay)?)$", "", phrase).strip(" ,")
    if _NAMING.search(phrase):  # that is a name, identity/preferred_name
        return []
    if not 1 < len(phrase.split()) <= 24 or (
        re.search(
            r"(?i)\b(?:this|these|that|above|below|following|attached|previous|prior|earlier|"
            r"instructions?|prompt|system)\b",
            phrase,
        )
        and not re.search(r"(?i)from\s+(?:this|that)\s+(?:point|moment|day)|\bthat\s+(?:I|my|you)\b", phrase)
    ):
        return []
    if re.match(r"(?i)(?:always|never)\b", phrase) and re.match(
        r"(?i)(?:wanted|been|had|thought|wondered|loved|hated|liked|mind|heard|tried|seen|knew|happy|"
        r"good|nice|a\s|the\s|great|fun|forget\s+to\s+smile|gonna|going|trust\s+the|too|really|on|"
        r"in)\b",
        re.sub(r"(?i)^(?:always|never)\s+", "", phrase),
    ):
        return []
    key = next((name for pattern, name in _TOPIC if pattern.search(phrase)), None)
    if key is None:
        key = "_".join([w for w in snake(phrase, 20).split("_") if w and w not in _SMALL][:4]) or snake(phrase, 4)
    return [{"item": phrase[0].upper() + phrase[1:], "key": key}]


@parser
def drink(groups: Groups, context: Context) -> list[Row]:
    """What is drunk at a time of the day; the time makes the key (morning_drink)."""
    what = trim(
        re.sub(
            r"(?i)^(?:(?:a|an|my|some|the|only|one|two|three|a\s+(?:cup|glass|mug|pot)\s+of|"
            r"cups?\s+of|black|strong)\s+)+(?=\w)",
            lambda m: "black " if "black" in m.group().lower() else "",
            groups["obj"],
        )
    )
    first = split_list(what)
    if not first or len(first[0].split()) > 3:
        return []
    time = groups.get("time", "").lower()
    part = next(
        (
            key
            for word, key in (
                ("morning", "morning"),
                ("breakfast", "morning"),
                ("wake", "morning"),
                ("afternoon", "afternoon"),
                ("lunch", "lunch"),
                ("evening", "evening"),
                ("dinner", "evening"),
                ("night", "evening"),
                ("bed", "evening"),
                ("day", "daily"),
            )
            if word in time
        ),
        "",
    )
    item = singular(first[0]) if singular(first[0].lower()) in words("drinks") else first[0]
    return [{"fact_key": f"{part}_drink", "item": item}] if part else []


@parser
def routine(groups: Groups, context: Context) -> list[Row]:
    """An activity with its frequency ("go running three times a week")."""
    phrase = re.split(r",|\u2039", groups["obj"])[0].strip(" .")
    verb = re.sub(
        r"(?i)^(?:go\s+(?:to\s+(?:the\s+)?|for\s+(?:a\s+)?|out\s+for\s+(?:a\s+)?)?|do\s+|"
        r"take\s+(?:a\s+)?|have\s+(?:a\s+)?)",
        "",
        phrase,
    )
    if (
        not verb
        or len(phrase.split()) > 8
        or re.match(
            r"(?i)(?:need|want|have\s+to|think|wonder|hear|see|feel|say|tell|ask|forget|hope|"
            r"get\s+(?:this|that|an\s+error|asked)|know|love|like|hate|wish|am|miss|use\s+this|pay|"
            r"try\s+to)\b",
            phrase,
        )
    ):
        return []
    often = groups["often"].strip().lower()
    key = snake(re.sub(r"(?i)\b(?:a|an|the|my|for|in|at)\b\s*", "", trim(verb) or verb), 3)
    if not key or key == "go":
        return []
    return [{"item": f"{phrase} {often}", "key": snake(re.sub(r"(?i)\b(?:a|an|the|my|for|in|at)\b\s*", "", verb), 3)}]


@parser
def learning_goal(groups: Groups, context: Context) -> list[Row]:
    """ "learning to drive" → learn to drive."""
    return goal({"obj": f"learn {groups['how']}to {groups['obj']}", "sure": "yes"}, context)


@parser
def drink_habit(groups: Groups, context: Context) -> list[Row]:
    """What is drunk when; a drink without a time is a habit only with "every" or "always"."""
    time = groups.get("time") or (
        context.clause.text
        if re.search(
            r"(?i)\b(?:morning|day|breakfast|evening|afternoon|night|bed|dinner|lunch|wake)", context.clause.text
        )
        else ""
    )
    return drink({"obj": groups["obj"], "time": time}, context) if time else []


@parser
def sure_goal(groups: Groups, context: Context) -> list[Row]:
    """Whatever is called a goal."""
    return goal({**groups, "sure": "yes"}, context)


@parser
def training(groups: Groups, context: Context) -> list[Row]:
    """ "training for a marathon", "saving for a house": the participle is part of the goal."""
    verb = re.search(
        r"(?i)\b(training|preparing|practi[sc]ing|studying|saving|working|prepping)\b", context.clause.text
    )
    phrase = trim(groups["obj"])
    if re.search(r"(?i)(?:^|\s)(?:a|an|the|my|our|this|that|these|it)$|^(?:this|that|these|it|\d)\b", phrase):
        return []
    if (
        not phrase
        or not verb
        or (
            re.match(
                r"(?i)(?:it|this|that|them|you|me|my\s+(?:boss|company)|an?\s+(?:meeting|company|call|"
                r"while|bit|startup|firm|client|living)|(?-i:[A-Z])\w+\b|the\s+(?:company|government|same)|"
                r"\d|hours|weeks|months|years|two|three)\b",
                phrase,
            )
            and verb.group(1).lower() == "working"
        )
    ):
        return []
    full = (
        phrase
        if phrase.lower().startswith("saving")
        else f"{verb.group(1).lower()} {'to buy' if ' to buy ' in context.clause.text else 'for'} {phrase}"
    )
    return (
        [{"item": full, "key": snake(re.sub(r"(?i)\b(?:a|an|the|my|our|up)\b\s*", "", full), 4)}]
        if len(full.split()) <= 10
        else []
    )


@parser
def style_rule(groups: Groups, context: Context) -> list[Row]:
    """A style request; a one-off about something at hand ("don't give the first option") is none."""
    phrase = groups["obj"]
    if re.match(r"(?i)(?:do\s+not|stop|no\s+more|quit|refrain)\b", phrase):
        lasting = re.search(
            r"(?i)\b(?:emojis?|jargon|bullet|markdown|exclamation|apologi[sz]\w*|my\s+(?:age|weight|"
            r"name|ex|height)|me\s+(?:sir|ma'am|madam|mr|mrs|miss|dude|buddy|man|bro|unsolicited|long|"
            r"lectures?|advice|disclaimers?)|disclaimers?|sugar-?coat\w*|address\w*\s+me\s+\w+|"
            r"call(?:ing)?\s+me\s+\w+|swear\w*|repeat\w*|"
            r"unsolicited|small\s+talk|caps|abbreviations|"
            r"from\s+now|again|anymore|ever|questions|answers?|repl\w+|responses?|jokes|spoilers?|"
            r"sarcas\w*|filler|slang|tables|headings|alcohol|meat|pork|restaurants?\s+with|hostels|"
            r"flights|red-?eyes?|english|compliment\w*|with\s+(?:a\s+)?(?:question|great|sure)|"
            r"seafood|gluten|dairy|nuts)\b",
            phrase,
        )
        if not lasting:
            return []
    return instruction({"obj": phrase}, context)
