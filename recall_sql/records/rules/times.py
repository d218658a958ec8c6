"""Dates and periods in English, counted from the message's moment in the user's zone. The clock is never asked.

`find` gives every expression of a text with the day it names (for a record) and the days it covers (for a question).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from recall_sql.models.rules import quantities
from recall_sql.models.rules.quantities import MONTH, MONTHS
from recall_sql.records.rules import patterns as re

FAR_PAST, FAR_FUTURE = date(1, 1, 1), date(9999, 12, 31)
DAY = timedelta(days=1)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_N = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirty|"
    r"a\s+couple\s+of|a\s+few|couple|few)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SHORT_DAY = r"(?:mon|tues?|wed|thurs?|thu|fri|sat|sun)\b\.?"


@dataclass(frozen=True)
class When:
    """A time expression. day: the one it names. start, end: the days it covers, end excluded. at: the clock time."""

    day: date
    start: date
    end: date
    span: tuple[int, int]
    at: time | None = None
    bare: bool = True  # a point or period as such, not "since" or "before"


@dataclass(frozen=True)
class _Clock:
    today: date
    future: bool


Rule = Callable[[re.Match[str], _Clock], tuple[date, date, date] | None]  # day, start, end


def _one(day: date) -> tuple[date, date, date]:
    return day, day, day + DAY


def _iso(m: re.Match[str], clock: _Clock) -> tuple[date, date, date] | None:
    return _valid(int(m["y"]), int(m["m"]), int(m["d"]))


def _valid(year: int, month: int, day: int) -> tuple[date, date, date] | None:
    try:
        return _one(date(year, month, day))
    except ValueError:
        return None


def _numeric(m: re.Match[str], clock: _Clock) -> tuple[date, date, date] | None:
    """3/5 and 3/5/26 are month first unless that can't be; 5.3.2026 is day first."""
    first, second = int(m["a"]), int(m["b"])
    day_first = m["sep"] == "." or first > 12
    day, month = (first, second) if day_first else (second, first)
    if m["y"]:
        return _valid(int(m["y"]) + (2000 if len(m["y"]) == 2 else 0), month, day)
    return _without_year(month, day, clock) if m["sep"] == "/" else None


def _without_year(month: int, day: int, clock: _Clock) -> tuple[date, date, date] | None:
    """The nearest such day on the side of today that the sentence is about."""
    for year in range(clock.today.year + (1 if clock.future else 0), clock.today.year - 9, -1):
        found = _valid(year, month, day)
        if found and not clock.future and found[0] <= clock.today:
            return found
        if found and clock.future:
            this_year = _valid(clock.today.year, month, day)
            return this_year if this_year and this_year[0] >= clock.today else found
    return None


def _named(m: re.Match[str], clock: _Clock) -> tuple[date, date, date] | None:
    month = _month(m["month"])
    day = int(m["d1"] or m["d2"])
    return _valid(int(m["y"]), month, day) if m["y"] else _without_year(month, day, clock)


def _month(word: str) -> int:
    return next(number for number, name in enumerate(MONTHS, 1) if name.startswith(word.lower()[:3]))


def _fixed(m: re.Match[str], clock: _Clock) -> tuple[date, date, date]:
    word = re.sub(r"\s+", " ", m.group().lower())
    if "before yesterday" in word:
        return _one(clock.today - 2 * DAY)
    if "after tomorrow" in word:
        return _one(clock.today + 2 * DAY)
    if "yesterday" in word or word.startswith(("last night", "last evening")):
        return _one(clock.today - DAY)
    return _one(clock.today + DAY if "tomorrow" in word else clock.today)


def _count(word: str) -> int:
    low = word.lower().strip()
    if "few" in low:
        return 3
    return 2 if "couple" in low else quantities.number(low) or 1


def _shift(day: date, unit: str, count: int) -> date:
    low = unit.lower()
    if low.startswith(("month", "year", "quarter")):
        months = count * (12 if low.startswith("year") else 3 if low.startswith("quarter") else 1)
        index = day.year * 12 + day.month - 1 + months
        year, month = divmod(index, 12)
        if not 1 <= year <= 9998:
            return day
        last = ((date(year + month // 11, (month + 1) % 12 + 1, 1)) - DAY).day
        return date(year, month + 1, min(day.day, last))
    days = {"d": 1, "w": 7, "f": 14}.get(low[0], 0) if not low.startswith("weekend") else 7
    return day + timedelta(days=days * count)


def _ago(m: re.Match[str], clock: _Clock) -> tuple[date, date, date]:
    return _one(_shift(clock.today, m["unit"], -_count(m["n"])))


def _ahead(m: re.Match[str], clock: _Clock) -> tuple[date, date, date]:
    return _one(_shift(clock.today, m["unit"], _count(m["n"])))


def _recent(m: re.Match[str], clock: _Clock) -> tuple[date, date, date]:
    """The last three weeks: the days up to and with today."""
    start = _shift(clock.today, m["unit"], -_count(m["n"]))
    return clock.today, start + (DAY if m["unit"].lower().startswith("day") else timedelta()), clock.today + DAY


def _weekday(m: re.Match[str], clock: _Clock) -> tuple[date, date, date]:
    which = (m["which"] or "").lower()
    wanted = next(i for i, name in enumerate(_DAYS) if name.startswith(m["day"].lower()[:3]))
    ahead = (wanted - clock.today.weekday()) % 7
    if which in ("next", "coming", "this coming") or (clock.future and which not in ("last", "past", "this past")):
        return _one(clock.today + timedelta(days=ahead or 7))
    behind = (-ahead) % 7
    if which == "this":
        return _one(clock.today - timedelta(days=clock.today.weekday()) + timedelta(days=wanted))
    return _one(clock.today - timedelta(days=behind or (7 if which else 0)))


def _period(m: re.Match[str], clock: _Clock) -> tuple[date, date, date]:
    """Last, this and next week (from Monday), weekend, month, quarter, year; the day is as far away as it sounds."""
    unit = m["unit"].lower()
    step = {"last": -1, "previous": -1, "past": -1, "next": 1}.get(m["which"].lower().split()[-1], 0)
    start = _beginning(clock.today, unit)
    start, end = _shift(start, unit, step), _shift(start, unit, step + 1)
    if unit == "weekend":
        end = start + 2 * DAY
        if step == -1 and clock.today.weekday() >= 5:
            return start, start, end
        return start, start, end
    return _shift(clock.today, unit, step), start, end


def _beginning(day: date, unit: str) -> date:
    if unit == "weekend":
        return day - timedelta(days=day.weekday()) + 5 * DAY
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    return day.replace(month=1, day=1)


def _month_only(m: re.Match[str], clock: _Clock) -> tuple[date, date, date]:
    month = _month(m["month"])
    year = int(m["y"]) if m["y"] else clock.today.year - (1 if month > clock.today.month and not clock.future else 0)
    if not m["y"] and "last" in m.group().lower() and month == clock.today.month:
        year -= 1
    start = date(year, month, 1)
    return start, start, _shift(start, "month", 1)


def _year(m: re.Match[str], clock: _Clock) -> tuple[date, date, date]:
    start = date(int(m["y"]), 1, 1)
    return start, start, date(start.year + 1, 1, 1)


def _quarter(m: re.Match[str], clock: _Clock) -> tuple[date, date, date]:
    start = date(int(m["y"] or clock.today.year), int(m["q"]) * 3 - 2, 1)
    return start, start, _shift(start, "quarter", 1)


def _ordinal(m: re.Match[str], clock: _Clock) -> tuple[date, date, date] | None:
    """The 5th: of this month, or of the one before where it hasn't been yet."""
    day = int(m["d"])
    found = _valid(clock.today.year, clock.today.month, day) if day <= 31 else None
    if found and not clock.future and found[0] > clock.today:
        earlier = _shift(clock.today.replace(day=1), "month", -1)
        return _valid(earlier.year, earlier.month, day)
    return found


_UNIT = r"(?P<unit>days?|weeks?|fortnights?|months?|years?|weekends?|quarters?)"
_RULES: list[tuple[re.Pattern[str], Rule]] = [
    (re.compile(pattern, re.I), rule)
    for pattern, rule in (
        (r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)", _iso),
        (
            r"(?<![\d.,/$€£])(?P<a>\d{1,2})(?P<sep>[/.])(?P<b>\d{1,2})(?:(?P=sep)(?P<y>\d{4}|\d{2}))?(?![\d/]|\.\d)",
            _numeric,
        ),
        (
            rf"\b(?:on\s+)?(?:(?:the\s+)?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{MONTH})\b\.?"
            rf"|(?P<month>{MONTH})\b\.?\s+(?:the\s+)?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*(?:km|kg|min|%|dollars|euros|bucks)))"
            r"(?:,?\s+(?P<y>\d{4})\b)?",
            _named,
        ),
        (
            r"\b(?:the\s+)?day\s+(?:before\s+yesterday|after\s+tomorrow)\b|\byesterday(?:['’]s|\s+(?:morning|afternoon|evening|night))?\b|\blast\s+(?:night|evening)(?:['’]s)?\b|\btomorrow(?:['’]s)?\b"
            r"|\btoday(?:['’]s)?\b|\btonight(?:['’]s)?\b|\bthis\s+(?:morning|afternoon|evening|noon)\b|\bjust\s+now\b",
            _fixed,
        ),
        (rf"\b(?P<n>{_N})\s+{_UNIT}\s+(?:ago|back|earlier)\b", _ago),
        (rf"\bin\s+(?P<n>{_N})\s+{_UNIT}\b(?!\s+time)|\b(?P<n>{_N})\s+{_UNIT}\s+from\s+now\b", _ahead),
        (
            rf"\b(?:in\s+|over\s+|during\s+|within\s+)?(?:the\s+)?(?:last|past|previous)\s+(?P<n>{_N})\s+{_UNIT}\b",
            _recent,
        ),
        (
            rf"\b(?:on\s+)?(?P<which>this\s+past|this\s+coming|last|past|this|next|coming)?\s*\b(?P<day>{_WEEKDAY})(?:'s|’s|s)?\b"
            rf"|\b(?:on\s+(?P<which>last|next|this)?\s*|(?P<which>last|next|this)\s+)(?P<day>{_SHORT_DAY})(?!\w)",
            _weekday,
        ),
        (
            r"\b(?:in\s+|over\s+|during\s+|on\s+)?(?:the\s+)?(?P<which>this\s+past|last|this|next|previous|past)\s+(?P<unit>weekend|week|month|quarter|year)\b(?:'s|’s)?",
            _period,
        ),
        (
            rf"\b(?:in|during|for|since|last|this|next|of|until|before|after|from|to)\s+(?:last\s+)?(?P<month>{MONTH})\b\.?(?:,?\s+(?P<y>\d{{4}}))?(?!\s+\d)",
            _month_only,
        ),
        (rf"\b(?P<month>{MONTH})\s+(?P<y>\d{{4}})\b", _month_only),
        (
            r"\b(?:in|during|since|for|of|until|before|after|last|this)\s+q(?P<q>[1-4])\b(?:\s+(?:of\s+)?(?P<y>\d{4}))?|\bq(?P<q>[1-4])\s+(?P<y>\d{4})\b",
            _quarter,
        ),
        (r"\b(?:in|during|since|for|of|until|before|after)\s+(?P<y>(?:19|20)\d{2})\b", _year),
        (r"\b(?:on\s+)?the\s+(?P<d>\d{1,2})(?:st|nd|rd|th)\b(?!\s+(?:of|time|" + MONTH + r"))", _ordinal),
    )
]
_CLOCK = re.compile(
    r"(?i)\b(?:at\s+|around\s+|@\s*)?(?:(?P<h>\d{1,2})(?::(?P<m>\d{2}))?\s*(?P<half>am|pm|a\.m\.|p\.m\.)(?!\w)"
    r"|(?P<h24>\d{1,2}):(?P<m24>\d{2})(?!\d|:)|(?P<word>noon|midnight)\b|(?<=\bat\s)(?P<oclock>\d{1,2})\s*o'?clock)"
)
_RANGE = re.compile(r"(?i)\b(?:between|from)\s*$")
_LINK = re.compile(r"(?i)^\s*(?:and|to|until|till|through|-|–)\s*$")
_EDGE = re.compile(r"(?i)\b(?P<word>since|before|after|until|till|up\s+to|as\s+of|starting|from)\s*(?:the\s+)?$")
_INNER_EDGE = re.compile(r"(?i)^(?P<word>since|before|after|until|from)\b")


def find(text: str, now: datetime, *, future: bool = False) -> list[When]:
    """Every time expression, in order. future: dates without a year, and weekdays, lie ahead instead of behind."""
    return [when for when in _found(text, _Clock(now.date(), future))]


def clock_time(text: str) -> tuple[time, tuple[int, int]] | None:
    """The first time of day and where it stands."""
    for m in _CLOCK.finditer(text):
        if m["word"]:
            return time(12 if m["word"].lower() == "noon" else 0), m.span()
        hour, minute = int(m["h"] or m["h24"] or m["oclock"]), int(m["m"] or m["m24"] or 0)
        if m["half"] and 1 <= hour <= 12:
            hour = hour % 12 + (12 if m["half"].lower().startswith("p") else 0)
        if hour < 24 and minute < 60:
            return time(hour, minute), m.span()
    return None


def period(text: str, now: datetime) -> When | None:
    """The days a question is about: "since March", "between 3 May and 9 May", "last week". None if it names none."""
    found = list(_found(text, _Clock(now.date(), False)))
    if not found:
        return None
    first = found[0]
    if len(found) > 1 and _LINK.match(text[first.span[1] : found[1].span[0]]):
        begins = _RANGE.search(text[: first.span[0]]) or re.match(r"(?i)(?:from|between)\b", text[first.span[0] :])
        if begins:
            start = text[: first.span[0]].lower().rfind(begins.group().strip().lower()) if first.span[0] else 0
            span = (max(0, min(start, first.span[0])), found[1].span[1])
            return replace(first, end=found[1].end, span=span, bare=False)
    return _edged(text, first)


def _edged(text: str, when: When) -> When:
    """With "since", "before", "after" taken into account."""
    before = _EDGE.search(text[: when.span[0]])
    inner = _INNER_EDGE.match(text[when.span[0] : when.span[1]])
    edge = before or inner
    if edge is None:
        return when
    word = re.sub(r"\s+", " ", edge["word"].lower())
    span = (before.start() if before else when.span[0], when.span[1])
    if word in ("since", "as of", "starting", "from"):
        return replace(when, end=FAR_FUTURE, span=span, bare=False)
    if word == "after":
        return replace(when, start=when.end, end=FAR_FUTURE, span=span, bare=False)
    end = when.start if word == "before" else when.end
    return replace(when, start=FAR_PAST, end=end, span=span, bare=False)


def _found(text: str, clock: _Clock) -> Iterator[When]:
    taken: list[tuple[int, int]] = []
    found: list[When] = []
    for pattern, rule in _RULES:
        for m in pattern.finditer(text):
            if any(m.start() < end and start < m.end() for start, end in taken):
                continue
            days = rule(m, clock)
            if days is not None:
                taken.append(m.span())
                found.append(When(days[0], days[1], days[2], m.span()))
    yield from sorted(found, key=lambda when: when.span)
