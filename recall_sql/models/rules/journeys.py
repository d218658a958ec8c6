"""Value parsers for places lived in and travelled to, and for means of transport."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules import places, quantities
from recall_sql.models.rules.lexicon import mapping
from recall_sql.models.rules.phrases import singular, split_list, trim
from recall_sql.models.rules.values import Context, Groups, Row, parser

_PLACE_STOP = re.compile(
    r"(?i)\s+(?:with|near|where|and\s+(?:work|love|I|have)|but|as|by|for|since|because|right|these|"
    r"at\s|close\s+to|next\s+to|not\s+far|just|from|in\s+(?!the\s+)(?=a\s|an\s|my\s|our\s|january|"
    r"february|march|april|may|june|july|august|september|october|november|december|spring|summer|"
    r"autumn|winter|fall|late|early|mid|\d)|on\s|this|next|last|to\s|until|during|around|after|before|"
    r"together|alone|so|if|via|all|over|again|soon|today|tomorrow|who|which|that|when|while|or\s+so|"
    r"twice|once|every|full|part|most|about|two|three|five|ten|\d)(?:(?<=\s)|\b).*$"
)


_PLACE = re.compile(
    r"^(?:the\s+)?(?:(?:downtown|central|north|south|east|west|northern|southern|eastern|western|"
    r"upstate|rural|sunny|rainy|good\s+old|old|beautiful|lovely|suburban|"
    r"greater)\s+)?[\p{Lu}][\p{L}.'’-]*(?:\s(?:(?:de|del|la|of|the|am|an|upon|da|do|di|und|on|sur|le|"
    r"en|los|las|el|al)\s){0,2}[\p{Lu}][\p{L}.'’-]*){0,3}"
)


def place_parts(phrase: str) -> list[tuple[str, str]]:
    """The places a phrase names, in order, as (kind, name): "Austin, Texas" → [(city, Austin), (state, Texas)]."""
    phrase = _PLACE_STOP.sub("", phrase.strip()).strip(" .,!?'\"-")
    found: list[tuple[str, str]] = []
    for raw in re.split(
        r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|&|then|plus|followed\s+by|"
        r"as\s+well\s+as)\s+(?:then\s+|maybe\s+|possibly\s+)?|\s+in\s+|\s*/\s*",
        phrase,
    ):
        part = re.sub(
            r"(?i)^(?:either|both|maybe|possibly|mainly|the\s+city\s+of|beautiful|sunny|downtown|to|"
            r"in|at|around|all\s+over)\s+",
            "",
            raw,
        ).strip(" .,!?'\"-()")
        if not part:
            continue
        kind = places.kind(part) if len(part) < 40 else None
        if kind and not places.is_common_word(part):
            found.append((kind, places.canonical(part)))
            continue
        cap = _PLACE.match(part)
        if cap and len(cap.group()) > 1 and cap.group().lower() not in _NOT_PLACE:
            name = cap.group()
            known = places.kind(name)
            if known or name == part:
                found.append((known or "unknown", places.canonical(name) if known else re.sub(r"^the\s", "", name)))
                continue
        break
    return found


_NOT_PLACE = frozenset(
    [
        "i",
        *quantities.MONTHS,
        *quantities.WEEKDAYS,
        "christmas",
        "easter",
        "english",
        "spanish",
        "french",
        "german",
        "python",
        "java",
        "rust",
        "excel",
        "javascript",
        "agile",
        "hr",
        "it",
        "seo",
        "ai",
        "uni",
        "university",
        "bed",
        "thanksgiving",
        "new year",
        "ramadan",
        "zoom",
        "java",
        "word",
        "php",
        "ml",
        "ux",
        "django",
        "react",
        "netflix",
        "twitter",
        "facebook",
        "instagram",
        "reddit",
        "google",
        "amazon",
        "apple",
        "microsoft",
        "linkedin",
        "youtube",
        "costco",
        "ikea",
        "heaven",
        "mars",
        "hell",
        "narnia",
        "hogwarts",
    ]
)


def _placed(phrase: str, keys: dict[str, str]) -> list[Row]:
    rows: list[Row] = []
    seen: set[str] = set()
    for kind, name in place_parts(phrase)[:3]:
        key = keys[kind if kind in keys else "city"]
        if key not in seen:
            seen.add(key)
            rows.append({"fact_key": key, "item": name})
    return rows


_PART_OF = re.compile(
    r"(?i)^(?:(?:the|a)\s)?(?:(?:north|south|east|west)(?:ern)?\s)?(?:outskirts|suburbs?|heart|"
    r"cent(?:er|re)|middle|south|north|east|west|edge|area|part|side)\s(?:of|"
    r"outside)\s(?=(?-i:[A-Z]))"
)


@parser
def home(groups: Groups, context: Context) -> list[Row]:
    """Where somebody lives."""
    phrase = _PART_OF.sub("", groups["obj"])
    rows = _placed(
        phrase,
        {
            "city": "home_city",
            "unknown": "home_city",
            "country": "home_country",
            "state": "home_state",
            "region": "home_region",
        },
    )
    if rows:
        return rows
    area = re.match(
        r"(?i)^(?:a|an|the)\s+(?:\w+\s+){0,2}?(?:town|village|city|suburbs?|countryside|farm|island|"
        r"mountains|outskirts|coast|middle\s+of\s+nowhere|woods|apartment|flat|studio|house)\b[^,]*",
        trim(groups["obj"]),
    )
    return (
        [
            {
                "fact_key": "home_area"
                if not re.search(r"(?i)apartment|flat|studio|house", area.group())
                else "housing",
                "item": area.group(),
            }
        ]
        if area
        else []
    )


_BY_NOW = re.compile(
    r"(?i)(?<!right\s)\bnow\b(?!\s+(?:for|with|visiting|and\s+then|until))|\b(?:these\s+days|nowadays)\b"
)


@parser
def home_by_now(groups: Groups, context: Context) -> list[Row]:
    """ "I'm in Prague now" is a home; "I'm in Prague", "… right now" or "… for a week" may be a journey."""
    raw = context.clause.raw
    if not context.clause.now or not _BY_NOW.search(raw) or re.search(r"(?i)\b(?:airport|hotel|train|trip)\b", raw):
        return []
    parts = place_parts(groups["obj"])
    return home(groups, context) if parts and parts[0][0] != "unknown" else []


@parser
def hometown(groups: Groups, context: Context) -> list[Row]:
    """Where somebody comes from: one text, "Porto, Portugal"."""
    names = [name for _, name in place_parts(groups["obj"])[:3]]
    return [{"fact_key": "hometown", "item": ", ".join(names)}] if names else []


@parser
def destinations(groups: Groups, context: Context) -> list[Row]:
    """Cities, countries and regions of a journey, each kind one list value."""
    by_kind: dict[str, list[str]] = {}
    for kind, name in place_parts(groups["obj"])[:12]:
        key = {"country": "countries", "city": "cities"}.get(kind, "regions" if kind != "unknown" else "cities")
        if name not in by_kind.setdefault(key, []):
            by_kind[key].append(name)
    rows = [{"fact_key": key, "item": ", ".join(names)} for key, names in by_kind.items()]
    return rows + (journey_details(context.clause.text, context) if rows else [])


@parser
def known_cities(groups: Groups, context: Context) -> list[Row]:
    """A bare answer "Tokyo and Kyoto": two or more places that the gazetteer knows, one stranger in three allowed."""
    parts = place_parts(groups["obj"])
    wanted = split_list(groups["obj"])
    strange = sum(not places.kind(name) for name in wanted)
    kinds = {kind for kind, _ in parts} - {"unknown"}
    if len(parts) < 2 or len(parts) != len(wanted) or strange * 3 > len(wanted):
        return []
    if len(kinds) != 1 or "state" in kinds:  # "Lisbon, Portugal" answers another question
        return []
    return destinations(groups, context)


@parser
def known_places(groups: Groups, context: Context) -> list[Row]:
    """Destinations of which at least the first is in the gazetteer."""
    parts = place_parts(groups["obj"])
    return destinations(groups, context) if parts and parts[0][0] != "unknown" else []


_LENGTH = re.compile(
    rf"(?i)\b({quantities.NUMBER}|an?|a\s+couple(?:\s+of)?)[\s-]*(day|night|week|"
    rf"month)s?(?![\w])(?!\s+(?:ago|before|later|from\s+now|in\s+advance|left))"
)


_DAYS = {"day": 1, "night": 1, "week": 7, "month": 30}


_IN_MONTH = re.compile(
    rf"(?i)\b(?:in|this|next|for|during|of|mid-?|early|late|around|by|and)\s+(?:the\s+)?(?:(?:early|"
    rf"late|mid|end\s+of|beginning\s+of|"
    rf"middle\s+of)[\s-]+)?({quantities.MONTH})\b(?!\s+\d{{1,2}}\b(?!\d))"
)


_SEASON = re.compile(r"(?i)\b(?:in|this|next)\s+(?:the\s+)?(?:early\s+|late\s+)?(spring|summer|autumn|fall|winter)\b")


_TRAVEL_DATE = re.compile(rf"(?i)\b(?:on|from|leaving|starting|departing)\s+({quantities.DATE})")


def journey_details(text: str, context: Context) -> list[Row]:
    """Length, month and date of the journey a clause speaks of."""
    rows: list[Row] = []
    length = _LENGTH.search(text)
    if length and not re.search(r"(?i)\bin\s+$", text[: length.start()]) and (n := quantities.number(length.group(1))):
        rows.append(
            {"category": "goal", "fact_key": "trip_length_days", "item": str(n * _DAYS[length.group(2).lower()])}
        )
    when = _TRAVEL_DATE.search(text)
    month = _IN_MONTH.search(text)
    season = _SEASON.search(text)
    if when and (iso := quantities.date(when.group(1), context.now)):
        rows.append({"category": "schedule", "fact_key": "travel_date", "item": iso})
    elif month and (found := quantities.month(month.group(1))):
        rows.append({"category": "schedule", "fact_key": "travel_month", "item": found})
    elif season:
        rows.append({"category": "schedule", "fact_key": "travel_season", "item": season.group(1).lower()})
    return rows


@parser
def journey(groups: Groups, context: Context) -> list[Row]:
    """Only the details: "we're going for ten days in May"."""
    return journey_details(context.clause.text, context)


def _mode(phrase: str) -> str | None:
    phrase = re.sub(
        r"(?i)^(?:(?:the|a|an|my|our|taking|riding|travel(?:l?ing)?|going|by|to\s+go|to\s+take|take|"
        r"traveling|travelling|using|on|with|long-distance|overnight|night|high-speed|longer|to|go|"
        r"get\s+around|local|sleeper|regional|use|getting|around|commuting|moving)\s+)+",
        "",
        phrase.strip(),
    )
    for size in (2, 1):
        key = " ".join(phrase.lower().strip(" .,!").split()[:size])
        if key in mapping("modes"):
            rest = phrase.lower().split()[size:]
            if rest and rest[0] in (
                "racing",
                "food",
                "rental",
                "stations",
                "station",
                "games",
                "sets",
                "shows",
                "models",
                "enthusiast",
                "insurance",
                "lessons",
                "class",
            ):
                return None
            return mapping("modes")[key]
    return None


@parser
def mode(groups: Groups, context: Context) -> list[Row]:
    """A means of transport."""
    found = _mode(groups["obj"])
    return [{"item": found}] if found else []


@parser
def mode_over(groups: Groups, context: Context) -> list[Row]:
    """ "trains over flights": both sides must be means of transport."""
    better, worse = _mode(groups["obj"]), _mode(groups["than"])
    return [{"item": better}] if better and worse and better != worse else []


@parser
def timezone(groups: Groups, context: Context) -> list[Row]:
    """A time zone abbreviation; other capitals are none."""
    item = groups["item"]
    return (
        [{"item": item}]
        if re.match(
            r"(?i)(?:utc|gmt|cet|cest|est|edt|pst|pdt|cst|cdt|mst|bst|ist|jst|aest|eet|wet|pacific|"
            r"eastern|central|mountain)",
            item,
        )
        and (re.search(r"(?i)time", item) or item.upper() == item)
        else []
    )


_FACULTY = re.compile(
    r"(?i)\b(?:University|College|Hospital|School|Church|Store|Restaurant|Academy|Gym|Conference|Park "
    r"Street|IKEA|Costco|Walmart|Target|Starbucks|McDonald's|Mass|Festival|Inc|Ltd|Corp)\b"
)


@parser
def travel_to(groups: Groups, context: Context) -> list[Row]:
    """Places of a journey; the verb is weak ("go", "see"), so the gazetteer must know the first of them."""
    if _FACULTY.search(groups["obj"][:60]):
        return []
    parts = place_parts(groups["obj"])
    strong = re.search(
        r"(?i)\b(?:fly|flying|travel|travell?ing|stay(?:ing)?|trip|holiday|vacation|visit(?:ing)?|"
        r"backpack\w*|tour\w*|honeymoon\w*|cruis\w*|head(?:ing|ed))\b",
        context.clause.text,
    )
    if not parts or (
        parts[0][0] == "unknown"
        and not (
            strong
            and re.search(
                r"(?i)\b(?:to|in|around|across|through)\s+$",
                context.clause.text[: context.clause.text.find(groups["obj"])],
            )
        )
    ):
        return []
    return destinations(groups, context)


@parser
def gazetted(groups: Groups, context: Context) -> list[Row]:
    """Only places the gazetteer knows."""
    parts = place_parts(groups["obj"])
    return destinations(groups, context) if parts and all(kind != "unknown" for kind, _ in parts) else []


@parser
def trip_length(groups: Groups, context: Context) -> list[Row]:
    """Days of a "10-day trip"."""
    n = quantities.number(groups["n"])
    return [{"n": str(n * {"day": 1, "night": 1, "week": 7, "month": 30}[groups["unit"].lower()])}] if n else []


@parser
def travel_month(groups: Groups, context: Context) -> list[Row]:
    """The month of travel."""
    found = quantities.month(groups["month"])
    if not found or (
        groups["month"].lower() in ("may", "march", "mar", "sept")
        and groups["month"].islower()
        and not re.search(
            r"(?i)\b(?:in|this|next|during)\s+(?:early\s|late\s|mid-?\s?)?(?:may|march)", context.clause.text
        )
    ):
        return []
    return [{"item": found}]


@parser
def avoid_mode(groups: Groups, context: Context) -> list[Row]:
    """ "I hate flying" → avoids_flying."""
    phrase = re.sub(r"(?i)^(?:(?:an?|the|in|long|long-haul|short)\s+)+", "", groups["obj"].strip())
    found = mapping("modes").get(phrase.lower()) or mapping("modes").get(singular(phrase.lower()))
    word = {"plane": "flying", "car": "driving"}.get(found or "", found)
    if word == "driving" and phrase.lower() in ("car", "cars"):
        word = "car"
    return [{"item": word}] if word else []
