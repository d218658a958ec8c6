"""Value parsers for money and things owned."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules import quantities
from recall_sql.models.rules.lexicon import alternatives, mapping
from recall_sql.models.rules.phrases import bare, singular, snake, split_list, trim
from recall_sql.models.rules.values import Context, Groups, Row, parser

_PER = re.compile(
    r"(?i)\b(?:per|a|an|each|/)\s*(day|night|month|week|person|head|year)\b|\b(daily|nightly|monthly|"
    r"weekly)\b|/\s?(day|night|month|week|person)"
)


_PERIOD = {
    "day": "daily",
    "night": "nightly",
    "month": "monthly",
    "week": "weekly",
    "person": "per_person",
    "head": "per_person",
    "year": "yearly",
}


_RANGE = re.compile(rf"(?i)(?:between\s+)?({quantities.MONEY})\s*(?:-|–|to|and)\s*({quantities.MONEY})")


@parser
def budget(groups: Groups, context: Context) -> list[Row]:
    """A ceiling on spending, its currency and period in the key: max_usd, nightly_max_eur."""
    phrase = groups["obj"]
    pair = _RANGE.search(phrase)
    found = re.search(rf"(?i){quantities.MONEY}", phrase)
    if not found:
        return []
    text = pair.group(2) if pair else found.group()
    parsed = quantities.money(text)
    if not parsed or float(parsed[0]) < 5:
        return []
    amount, code = parsed
    code = code or quantities.currency(phrase)
    if (
        pair
        and (low := quantities.money(pair.group(1)))
        and re.search(r"(?i)\b(?:k|grand|thousand)\b|\dk\b", text)
        and float(low[0]) > float(amount)
    ):
        amount = low[0]
    if not code and not groups.get("sure") and not re.search(r"(?i)\dk\b|grand|thousand|\d{3}", text):
        return []
    per = _PER.search(phrase) or re.search(
        r"(?i)(?<none>\Z\A)?\b(daily|nightly|monthly|weekly)\s(?:\w+\s)?(?:budget|limit|max)", context.clause.text
    )
    prefix = (
        {"daily": "daily", "nightly": "nightly", "monthly": "monthly", "weekly": "weekly"}.get(
            (per.group(2) or "").lower()
        )
        if per
        else None
    )
    if per and not prefix:
        prefix = _PERIOD[(per.group(1) or per.group(3)).lower()]
    key = f"{prefix}_max_{code or 'amount'}" if prefix else f"max_{code or 'amount'}"
    return [{"fact_key": key, "item": amount}]


@parser
def income(groups: Groups, context: Context) -> list[Row]:
    """A salary as said."""
    parsed = quantities.money(groups["obj"])
    if not parsed or float(parsed[0]) < 100:
        return []
    code = parsed[1] or quantities.currency(groups["obj"])
    return [{"fact_key": f"salary_{code}" if code else "salary", "item": parsed[0]}]


@parser
def vehicle(groups: Groups, context: Context) -> list[Row]:
    """ "a red Volvo", "a 2015 Toyota Corolla", "an old motorcycle"."""
    phrase = bare(trim(re.split(r",|\(", groups["obj"])[0]))
    phrase = re.sub(r"(?i)\s+(?:to|named|called|from|around|and|that|which|last|yesterday|today)\b.*$", "", phrase)
    low = phrase.lower()
    moto = re.search(rf"(?i)\b{alternatives('moto_makes')}\b", low)
    make = moto or re.search(rf"(?i)\b{alternatives('car_makes')}\b", low)
    kind = re.search(rf"(?i)\b{alternatives('vehicles')}s?\b", low)
    if not phrase or len(phrase.split()) > 6 or not (make or kind):
        return []
    key = snake(singular(kind.group().lower())) if kind else "motorcycle" if moto else "car"
    return [{"fact_key": key, "item": phrase}]


@parser
def belonging(groups: Groups, context: Context) -> list[Row]:
    """A thing of the lexicon that is owned."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        if re.match(r"(?i)(?:one|no)\b", part) or re.search(r"(?i)\b(?:question|problem|issue)\b", part):
            break
        phrase = re.sub(r"(?i)\s(?:by|near|in|at|on|with|from|for|called|named)\s.*$", "", bare(part))
        kind = re.search(
            rf"(?i)\b({alternatives('belongings')})s?(?:\s(?:\d\w*|pro|max|mini|air|plus|se|ultra|oled))*$", phrase
        )
        if kind and len(phrase.split()) <= 5:
            rows.append({"fact_key": snake(kind.group(1).lower()), "item": phrase})
        elif re.search(rf"(?i)\b(?:{alternatives('vehicles')}|{alternatives('car_makes')})$", phrase):
            rows += vehicle({"obj": phrase}, context)
    return rows


_NOT_OWNED = re.compile(
    r"(?i)\b(?:mistakes?|feelings?|business|company|question|idea|opinion|problems?|issues?|shop|store|restaurant|bar|"
    r"farm|startup|agency|stocks?|shares?|part|side|copy|lot|few|bit|way|percent)\b"
)


@parser
def owned(groups: Groups, context: Context) -> list[Row]:
    """Whatever is called owned: the last noun is the key."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        phrase = re.sub(r"(?i)\s(?:by|near|in|at|on|with|from|for|of|called|named)\s.*$", "", bare(part))
        if not phrase or len(phrase.split()) > 4 or _NOT_OWNED.search(phrase):
            break
        rows.append({"item": phrase, "key": snake(singular(phrase.lower().split()[-1]))})
    return rows


@parser
def branded(groups: Groups, context: Context) -> list[Row]:
    """A thing known by its maker: "a Nikon Z6" is a camera; a phrase that says what it is needs no such help."""
    phrase = re.sub(r"(?i)\s(?:by|near|in|at|on|with|from|for|called|named|to)\b.*$", "", bare(trim(groups["obj"])))
    brands = mapping("brands")
    said = phrase.split()
    at = next((i for i, word in enumerate(said) if word.lower() in brands), None)
    if at is None or at > 2 or len(said) > 6 or re.search(_KNOWN_THING, phrase):
        return []
    model = said[at + 1 :]  # "Z6", "Galaxy S23": in capitals or with a digit, else it is something about a Nikon
    if not all(word[:1].isupper() or any(ch.isdigit() for ch in word) for word in model):
        return []
    if said[at].islower() and not context.clause.raw.islower():
        return []
    maker = said[at].lower()
    return [{"fact_key": brands[maker], "item": phrase}]


_KNOWN_THING = (
    rf"(?i)\b(?:{alternatives('belongings')}|{alternatives('vehicles')}|{alternatives('car_makes')}|stock|shares|store|shop|"
    r"job|account|card|subscription|course|certificate|interview)\b"
)


@parser
def my_thing(groups: Groups, context: Context) -> list[Row]:
    """ "my laptop is a ThinkPad"."""
    item = bare(trim(groups["obj"]))
    return (
        [{"fact_key": snake(groups["what"]), "item": item}]
        if item
        and len(item.split()) <= 5
        and not re.match(r"(?i)(?:bit|lot|mess|little|disaster|good|great|total|complete|nightmare|problem)\b", item)
        else []
    )


@parser
def forget(groups: Groups, context: Context) -> list[Row]:
    """ "forget my budget": which fact that is, `known` decides; without it the usual key."""
    what = re.sub(r"(?i)^travel\s+", "", groups["what"].lower())
    target = {
        "budget": ("budget", "max_amount"),
        "name": ("identity", "name"),
        "age": ("identity", "age"),
        "birthday": ("identity", "birthday"),
        "diet": ("dietary", "diet"),
        "address": ("location", "home_city"),
        "destination": ("destination", "cities"),
        "job": ("work", "job_title"),
        "employer": ("work", "employer"),
        "hometown": ("location", "hometown"),
        "date": ("schedule", "travel_date"),
        "dates": ("schedule", "travel_date"),
        "goal": ("goal", "goal"),
        "hobby": ("hobby", "hobby"),
        "hobbies": ("hobby", "hobby"),
        "location": ("location", "home_city"),
        "phone number": ("identity", "phone"),
        "email": ("identity", "email"),
        "salary": ("work", "salary"),
        "trip length": ("goal", "trip_length_days"),
    }[what]
    return [{"category": target[0], "fact_key": target[1], "item": ""}]


@parser
def gone_thing(groups: Groups, context: Context) -> list[Row]:
    """A vehicle or belonging that is gone."""
    phrase = bare(trim(groups["obj"]))
    return vehicle({"obj": phrase}, context) or belonging({"obj": phrase}, context)
