"""Value parsers for likes, dislikes and hobbies."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules.lexicon import words
from recall_sql.models.rules.phrases import bare, gerund, singular, snake, split_list, trim
from recall_sql.models.rules.values import Context, Groups, Row, _nounlike, items, parser

_DEICTIC = re.compile(
    r"(?i)^(?:it|that|this|them|these|those|you|your|yours|him|her|his|their|he|she|they|me|us|my|our|"
    r"how|what|when|where|why|who|whatever|everything|something|anything|"
    r"nothing|all|both|none|each|no|not|here|there|seeing\s+(?:how|you|your|the)|hearing|knowing|"
    r"being\s+(?:here|able|with|part|around)|talking\s+(?:to|with)\s+(?:you|him|her)|chatting|"
    r"working\s+with\s+you|"
    r"such|so|like|if|doing\s+(?:this|that|it)|having\s+(?:you|this)|getting\s+(?:to|your)|another|"
    r"other|one|for|going\s+to\s+bed|asking|bothering|saying|more|less|to)\b"
)


_CHAT_NOUN = re.compile(
    r"(?i)\b(?:ideas?|suggestions?|options?|ones?|plans?|sounds?|looks?|ways?|thoughts?|facts?|"
    r"features?|answers?|questions?|vibes?|energy|enthusiasm|concepts?|approach|responses?|"
    r"jokes?|attitude|spirit|perspective|advice|details?|specifics|tips?|results?|version|draft|"
    r"outline|list|design|choices?|point|explanation|recommendations?|feedback|help|job\s+you|title|"
    r"feeling)$"
)


_TASTE_NAMES = re.compile(r"(?i)^the\s+(.+)$")


def taste_object(phrase: str) -> str | None:
    """The thing liked or disliked, or None when it points into the conversation ("it", "that idea")."""
    phrase = re.sub(
        r"(?i)^(?:the\s+(?:taste|smell|texture|flavou?r|feeling|thought|idea|sound|concept|feel)\s+of|"
        r"a\s+good|all\s+things|anything\s+(?:with|related\s+to|to\s+do\s+with)|everything\s+about|"
        r"watching\s+the|a\s+nice|a)\s+",
        "",
        phrase.strip(),
    )
    if _DEICTIC.match(phrase) or _CHAT_NOUN.search(trim(phrase)):
        return None
    named = _TASTE_NAMES.match(phrase)
    if named:
        inner = trim(named.group(1))
        if inner.lower() in words("drinks") | words("sports") | words("activities"):
            return inner
        if inner.lower() not in words("the_tastes") and not inner[:1].isupper():
            return None
        return "the " + inner if inner.lower() in words("the_tastes") else inner
    found = bare(trim(phrase))
    if _POINTING.search(found) or _HANGING.search(found) or found.lower() in _ADJECTIVES:
        return None
    return found if _nounlike(found) and not _DEICTIC.match(found) and not _CHAT_NOUN.search(found) else None


_POINTING = re.compile(
    r"(?i)\b(?:this|these|those|them|him|her|it|that|you|your|i|we|he|she|they|is|are|was|can|'s|s)\b"
)


_HANGING = re.compile(r"(?i)\b(?:to|of|in|on|with|for|about|from|at|a|an|the|my|and)$")


_ADJECTIVES = frozenset(
    [
        "people",
        "person",
        "men",
        "women",
        "guys",
        "a",
        "an",
        "big",
        "huge",
        "both",
        "real",
        "total",
        "great",
        "such",
        "true",
        "magical",
        "the",
    ]
)


_VERB_OBJECT = re.compile(r"(?i)^to\s+(?:be\s+)?(\p{L}+)(\s.*)?$")


_IDLE_VERBS = frozenset(
    [
        "say",
        "admit",
        "bother",
        "ask",
        "break",
        "be",
        "interrupt",
        "see",
        "think",
        "complain",
        "disappoint",
        "know",
        "hear",
        "tell",
        "imagine",
        "believe",
        "keep",
        "make",
        "have",
        "use",
        "get",
        "add",
        "do",
        "start",
        "help",
        "avoid",
        "take",
        "mention",
        "try",
        "point",
        "order",
        "change",
        "schedule",
        "set",
        "find",
        "include",
        "create",
        "understand",
        "share",
        "buy",
        "book",
        "give",
        "consider",
        "leave",
    ]
)


@parser
def tastes(groups: Groups, context: Context) -> list[Row]:
    """Things liked or disliked, one row each."""
    phrase = re.sub(r"(?i)^both\s+(?=.+\sand\s)", "", groups["obj"])
    verb = _VERB_OBJECT.match(phrase)
    if verb:
        if verb.group(1).lower() in _IDLE_VERBS:
            return []
        done = f"{gerund(verb.group(1))}{trim(verb.group(2) or '') and ' ' + trim(verb.group(2))}"
        return [{"item": done, "key": snake(done), **({"suffix": ""})}] if len(done.split()) <= 7 else []
    phrase = re.split(r"(?i)\s+(?:over|more\s+than|rather\s+than|instead\s+of|better\s+than)\s+", phrase)[0]
    phrase = (
        re.sub(r"(?i)^(?:eating|drinking|having|listening\s+to|watching|playing\s+with)\s+(?=\w)", "", phrase)
        if groups.get("strip")
        else phrase
    )
    rows, parts = [], split_list(trim(phrase))
    if len(parts) == 1 and parts[0].endswith("ing") and " " not in parts[0]:
        return [{"item": done, "key": snake(done)} for done in _whole_activity(phrase, parts[0], context)]
    for part in parts:
        found = taste_object(part)
        if not found or (rows and _belongs_to(rows[-1]["item"], found)):
            break
        rows.append({"item": found, "key": snake(re.sub(r"(?i)^the\s+", "", found))})
    return rows


_LOADED = re.compile(r"(?i)^(?:\w+ing\s\S+|\S.*\s(?:about|of|in|with|like)\s\S)")


def _belongs_to(before: str, phrase: str) -> bool:
    """ "sharing my skills and knowledge": the second is another object of the verb or preposition, no second taste."""
    return _LOADED.match(before) is not None and not phrase.split()[0].endswith("ing")


_CLAUSE_END = re.compile(
    r"(?i)\s*(?:[,;(\u2039]|\s(?:because|cause|since|so|but|when|whenever|while|although|though|unless|which|who|that|if|"
    r"after|before|until|as|and|or|please|too|either|right|anymore)\b).*$"
)
_LIGHT = frozenset(["playing", "doing", "going", "making", "getting", "being", "having", "taking", "trying", "seeing"])


def _whole_activity(phrase: str, activity: str, context: Context) -> list[str]:
    """ "driving at night" is what is disliked, not driving; "playing for fun" without a game says nothing."""
    whole = _CLAUSE_END.sub("", phrase).strip(" .!")
    if _DISLIKING.search(context.clause.text) and len(whole.split()) <= 5 and not _TIRED_END.search(whole):
        return [whole]
    return [] if activity.lower() in _LIGHT else [activity]


_DISLIKING = re.compile(r"(?i)\b(?:not|never|cannot|hate|dislike|detest|loathe|despise|stand|bear|sick|tired|fed)\b")
_TIRED_END = re.compile(r"(?i)\b(?:to|of|the|a|my|your|at\s+all|anyway|much|it|me|so\s+much|ever)$")


@parser
def hobby(groups: Groups, context: Context) -> list[Row]:
    """Activities from the lexicon only."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        part = re.sub(r"(?i)^(?:going|doing|practi[sc]ing)\s+", "", bare(part))
        activity = re.sub(r"(?i)^to\s+", "", part)
        activity = (
            activity
            if activity.lower() in words("activities")
            else gerund(activity.split()[0]) + activity[len(activity.split()[0]) :]
            if activity
            else ""
        )
        opening = activity.split(" ")[0].lower()
        if (
            opening in words("activities")
            and activity.lower() not in words("activities")
            and 1 < len(activity.split()) <= 4
            and not re.search(
                r"(?i)\b(?:this|that|another|her|his|their|my|some|as|it|more|again|been)\b",
                activity + context.clause.text[:14],
            )
        ):
            rows.append({"item": activity, "key": snake(activity)})
            continue
        if activity.lower() in words("activities") or part.lower() in words("sports") | words("activities"):
            rows.append(
                {
                    "item": activity.lower() if activity.lower() in words("activities") else part,
                    "key": snake(activity if activity.lower() in words("activities") else part),
                }
            )
    return rows


@parser
def pastime(groups: Groups, context: Context) -> list[Row]:
    """Whatever is named as a hobby ("my hobbies are …", "in my free time I …")."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        verbal = bool(groups.get("verb")) or part.lower().startswith("to ")
        part = re.sub(r"(?i)^(?:to|going|doing|mostly|I)\s+", "", part)
        first, _, rest = bare(part).partition(" ")
        if (
            not first
            or _DEICTIC.match(part)
            or first.lower() in _IDLE_VERBS
            or first.lower() in ("work", "relax", "am", "sleep", "watch", "go", "like", "love")
        ):
            continue
        phrase = f"{gerund(first)} {rest}".strip() if verbal else bare(part)
        if _nounlike(phrase):
            rows.append({"item": phrase, "key": snake(phrase)})
    return rows


@parser
def favorite(groups: Groups, context: Context) -> list[Row]:
    """ "my favourite film is Alien"."""
    if re.match(r"(?i)(?:one|thing|part|way|moment|memory|bit|of|out)\b", groups["what"]):
        return []
    value = re.sub(r"(?i)^(?:definitely|probably|always|called|by\s+far|the)\s+", "", trim(groups["obj"]))
    if not value or _DEICTIC.match(value) or len(value.split()) > 8:
        return []
    return [{"item": value, "key": snake("favorite " + groups["what"].strip())}]


@parser
def preferred(groups: Groups, context: Context) -> list[Row]:
    """ "I prefer X (to Y)": the taste for X."""
    phrase = re.split(
        r"(?i)\s+(?:to|over|than|rather\s+than|instead\s+of|more\s+than)\s+(?!\w+ing$)|\s+(?:over|"
        r"rather\s+than|instead\s+of|to)\s+",
        groups["obj"],
    )[0]
    phrase = re.sub(r"(?i)(?<=\w)\s(?:person|guy|girl|man|woman|drinker)\b.*$", "", phrase)
    return tastes({"obj": phrase}, context)


@parser
def playing(groups: Groups, context: Context) -> list[Row]:
    """Sports and instruments."""
    what = groups["obj"].lower()
    return [{"key": snake(what), "item": what}]


_AGENTS = {
    "runner": "running",
    "jogger": "jogging",
    "gamer": "gaming",
    "swimmer": "swimming",
    "skier": "skiing",
    "photographer": "photography",
    "cook": "cooking",
    "baker": "baking",
    "gardener": "gardening",
    "cyclist": "cycling",
    "angler": "fishing",
    "fisherman": "fishing",
    "birder": "birdwatching",
    "birdwatcher": "birdwatching",
    "chess player": "chess",
    "tennis player": "tennis",
    "triathlete": "triathlons",
    "marathoner": "marathons",
    "marathon runner": "marathons",
    "astronomer": "astronomy",
    "musician": "music",
    "poet": "poetry",
    "woodworker": "woodworking",
    "martial artist": "martial arts",
    "home brewer": "home brewing",
    "board gamer": "board games",
    "pianist": "piano",
    "guitarist": "guitar",
    "drummer": "drums",
    "mountain biker": "mountain biking",
    "beekeeper": "beekeeping",
    "yogi": "yoga",
    "crafter": "crafting",
    "quilter": "quilting",
    "knitter": "knitting",
    "biker": "biking",
    "collector": "collecting",
    "writer": "writing",
    "skater": "skating",
    "trail runner": "trail running",
    "boulderer": "bouldering",
    "dancer": "dancing",
    "diver": "diving",
    "rower": "rowing",
}


@parser
def agent(groups: Groups, context: Context) -> list[Row]:
    """ "a keen cyclist" → cycling."""
    word = re.sub(r"\s+", " ", groups["obj"].lower())
    activity = _AGENTS.get(word) or gerund(re.sub(r"(?:er|or)$", "", word))
    return [{"key": snake(activity), "item": activity}]


@parser
def collecting(groups: Groups, context: Context) -> list[Row]:
    """ "I collect old maps" → collecting old maps."""
    return [
        {"item": f"collecting {row['item']}", "key": f"collecting_{row['key']}"} for row in items(groups, context)[:3]
    ]


@parser
def doing(groups: Groups, context: Context) -> list[Row]:
    """A verb phrase as an activity: "paint landscapes" → painting landscapes."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        first, _, rest = part.partition(" ")
        first = first.lower()
        if first in _IDLE_VERBS - {"do", "make", "keep"} or first in (
            "am",
            "are",
            "work",
            "relax",
            "sleep",
            "go",
            "need",
            "want",
            "have",
        ):
            if first == "go" and rest.endswith("ing"):
                rows.append({"item": rest, "key": snake(rest)})
            continue
        phrase = rest if first in ("do", "play") and rest else f"{gerund(first)} {rest}".strip()
        if phrase and len(phrase.split()) <= 5:
            rows.append({"item": phrase, "key": snake(phrase)})
    return rows


@parser
def is_favorite(groups: Groups, context: Context) -> list[Row]:
    """ "Alien is my favourite film"."""
    item = taste_object(re.sub(r"(?i)^(?:and|but)\s+", "", groups["obj"]))
    if not item or re.match(r"(?i)(?:what|which|that|here)\b", item):
        return []
    what = (groups.get("what") or "").strip()
    what = re.sub(r"(?i)^(?:of|ever|in|to|because|these|so|now)\b.*$", "", what)
    if re.match(r"(?i)(?:thing|one|part|way|place|activity)s?\b", what):
        what = ""
    return [{"item": item, "key": snake(f"favorite {singular(what)}") if what else snake(item)}]
