"""Value parsers for dates, appointments and availability."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules import quantities
from recall_sql.models.rules.phrases import bare, snake
from recall_sql.models.rules.values import Context, Groups, Row, parser


@parser
def when(groups: Groups, context: Context) -> list[Row]:
    """A date, resolved against when it was said; relative dates stay as said without that."""
    iso = quantities.date(groups["date"], context.now)
    value = iso or groups["date"].strip()
    if not value:
        return []
    time = groups.get("time")
    return [
        {
            "item": f"{value} {time.strip()}" if time else value,
            **({"key": snake(bare(groups["obj"]))} if groups.get("obj") else {}),
        }
    ]


@parser
def birthday(groups: Groups, context: Context) -> list[Row]:
    """ISO date or MM-DD."""
    iso = quantities.birthday(groups["date"])
    return [{"item": iso}] if iso else []


@parser
def birth_year(groups: Groups, context: Context) -> list[Row]:
    """A year between 1900 and 2030."""
    return [{"item": groups["year"]}] if 1900 <= int(groups["year"]) <= 2030 else []


@parser
def availability(groups: Groups, context: Context) -> list[Row]:
    """When somebody is free, in their words."""
    phrase = re.split(r",|\u2039", groups["obj"])[0].strip(" .")
    phrase = re.sub(
        r"(?i)^on\s+", "", re.split(r"(?i)\s+(?:if|so|for\s+(?:a|the)|to|but|because|and\s+I|works?)\b", phrase)[0]
    )
    ok = re.search(
        rf"(?i)\b(?:{quantities.WEEKDAY}s?|weekends?|weekdays?|mornings?|evenings?|afternoons?|nights?|"
        rf"\d{{1,2}}\s?(?:am|pm)?|noon|lunch\w*|work|school|days?|week|month)\b",
        phrase,
    )
    return [{"item": phrase}] if ok and len(phrase.split()) <= 8 else []


@parser
def appointment(groups: Groups, context: Context) -> list[Row]:
    """An event with its date."""
    what = bare(groups["obj"])
    if re.match(r"(?i)(?:question|problem|quick|feeling|idea|few|lot)\b", what) or len(what.split()) > 4:
        return []
    said = groups["date"].strip()
    iso = quantities.date(said, context.now) or said
    if iso != said and re.search(r"(?i)\bmonth$", said):
        iso = iso[:7]
    time = (groups.get("time") or "").strip()
    return [{"fact_key": snake(what), "item": f"{iso} {time}".strip()}]


@parser
def regular(groups: Groups, context: Context) -> list[Row]:
    """A weekly fixture."""
    return [{"key": snake(bare(groups["obj"])), "item": groups["date"].strip()}]
