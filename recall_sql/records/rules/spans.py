"""The measured parts of a message: money, quantities with their units, ratings, plain numbers, times, quotations.

Each is found once and knows where it stands; which field it fills is fill.py's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cache

from recall_sql.models.rules import quantities
from recall_sql.records.rules import patterns as re
from recall_sql.records.rules import times
from recall_sql.records.rules.words import fold, lexicon, stem


@dataclass(frozen=True)
class Measure:
    """A number of the text. dimension: money, distance, …, count, bare. unit: the word behind it, as written."""

    value: Decimal
    dimension: str
    unit: str
    span: tuple[int, int]
    factor: float = 1.0
    currency: str = ""
    scaled: bool = False  # "5k": five thousand, or five kilometres


@dataclass(frozen=True)
class Spans:
    """All measured parts of one text."""

    measures: tuple[Measure, ...]
    whens: tuple[times.When, ...]
    quotes: tuple[tuple[str, tuple[int, int]], ...]
    clock: tuple[object, tuple[int, int]] | None
    codes: tuple[tuple[str, str, tuple[int, int]], ...] = ()  # (email, url or phone; the text; where)

    @property
    def taken(self) -> list[tuple[int, int]]:
        """Where they stand."""
        spans = [m.span for m in self.measures] + [w.span for w in self.whens] + [span for _, span in self.quotes]
        spans += [span for _, _, span in self.codes]
        return sorted(spans + ([self.clock[1]] if self.clock else []))


_QUOTE = re.compile(r"[\"“”«»„]([^\"“”«»„]{1,200})[\"“”«»„]|(?<!\w)['‘]([^'‘’]{2,120})['’](?!\w)")
_WORDS = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen|grand)(?![\p{L}])"
)
_DIGITS = r"\d{1,3}(?:[,.'  ]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)?|[.,]\d+"
_NUMBER = re.compile(
    rf"(?ix)(?<![\p{{L}}\d])(?P<sign>[-−–](?=[\s$€£]*\d)|minus\s+)?\s?(?P<cur>(?:US|A|C|NZ)?\$|€|£|¥|₹|(?:usd|eur|gbp|chf)\s)?\s?(?P<sign2>[-−])?"
    rf"(?P<num>(?:{_DIGITS})(?:\s+and\s+a\s+half)?|half\s+(?:an?\s+)?(?=hour|mile|dozen|million|thousand)|(?:an?\s+couple\s+of\s+)(?:hundred|thousand|grand|dozen)|"
    rf"an?\s+(?=hundred|thousand|grand|million|dozen)(?:{_WORDS}(?:[\s-]+(?:and\s+)?{_WORDS})*)|"
    rf"{_WORDS}(?:[\s-]+(?:and\s+(?={_WORDS}[\s-]))?{_WORDS})*(?:\s+and\s+an?\s+half)?)"
    r"(?P<scale>\s?(?:k|m|mil|grand|thousand|million|hundred|lakhs?)(?![\p{L}\d]))?"
)
_AFTER_CURRENCY = re.compile(
    r"(?i)^\s?(?:\$|€|£|¥|₹|us\s+dollars?|dollars?|bucks?|euros?|eur|usd|gbp|quid|pounds?\s+sterling|rupees?|yen|francs?|chf|pesos?|kronor|kroner|kr|zlotys?|pln|cad|aud|inr|jpy|sek|nok|dkk)(?![\p{L}])"
)
_CENTS = re.compile(r"(?i)^\s?(?:and\s+)?(\d{1,2})?\s?(?:cents?|pence|¢)(?![\p{L}])")
_UNIT = re.compile(r"^[\s-]?(°\s?[cCfF]?|%|[\p{L}]+)")
_OUT_OF = re.compile(r"(?i)^\s*(?:/|out\s+of)\s*(\d+(?:\.\d+)?)(?:\s*stars?)?(?![\d/])")
_RATING = re.compile(
    r"(?i)(?P<whole>(?<![\d/])(?P<n>\d{1,3}(?:\.\d+)?)\s*/\s*(?P<of>\d{1,3})\s*stars?\b)"
    r"|\b(?:rat(?:ed|ing|e)|scored?|severity|pain|intensity|gave\s+it|level)\b[^\d.!?]{0,25}?(?P<whole2>(?P<n2>\d{1,3}(?:\.\d+)?)\s*/\s*(?P<of2>5|10|100))(?![\d/])"
    r"|(?P<whole>(?<![\d/])(?P<n>\d{1,2}(?:\.\d+)?)\s*/\s*(?P<of>10))(?![\d/])"
)
_CODES = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"(?i)\b(?:https?://|www\.)\S+")),
    (
        "phone",
        re.compile(r"(?<![\w$€£.,-])(?:\+\d[\d ().-]{6,18}\d|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}|\d{3}-\d{4})(?![\w-])"),
    ),
)
_SETS = re.compile(r"(?i)(?<![\d.])(\d{1,2})\s*(?:x|×|sets?\s+(?:of|x)|by)\s*(\d{1,4})(?![\d:])(?:\s*reps?)?")
_COLON = re.compile(r"(?<![\d:])(?:(\d{1,2}):)?(\d{1,2}):(\d{2})(?![\d:])")
_COMPOUND = re.compile(
    r"(?i)(?<![\d.])(\d+(?:[.,]\d+)?)\s*(?:h|hrs?|hours?)\s*(?:and\s+)?(\d{1,2})\s*(?:m|mins?|minutes?)?(?![\p{L}\d])"
)
_HALF_HOUR = re.compile(
    r"(?i)\b(?:(?:one|an)\s+and\s+a\s+half\s+hours?|an\s+hour\s+and\s+a\s+half|(an?)\s+(hour|minute|day|week|month|mile|kilometer|kilometre|pound|kilo|liter|litre|dozen)|half\s+an?\s+(hour|mile|dozen)|three\s+quarters\s+of\s+an\s+hour|a\s+quarter\s+of\s+an\s+hour)\b(?!\s+(?:ago|back))"
)


@cache
def unit_table() -> dict[str, tuple[str, float]]:
    """unit word → (dimension, factor)."""
    return {
        word: (dimension, float(factor))
        for dimension, units in lexicon()["units"].items()
        for word, factor in units.items()
    }


def find(text: str, now: datetime, *, future: bool = False) -> Spans:
    """Every measured part. Quotations first, then times, then numbers; nothing is counted twice."""
    quotes = tuple(((m[1] or m[2]).strip(), m.span()) for m in _QUOTE.finditer(text))
    masked = _masked(text, [span for _, span in quotes])
    codes = tuple((kind, m.group().strip(), m.span()) for kind, pattern in _CODES for m in pattern.finditer(masked))
    masked = _masked(masked, [span for _, _, span in codes])
    ratings = tuple(_ratings(masked))
    masked = _masked(masked, [rating.span for rating in ratings])
    whens = tuple(times.find(masked, now, future=future))
    masked = _masked(masked, [when.span for when in whens])
    clock = times.clock_time(masked)
    if clock and _is_duration(masked, clock[1]):
        clock = None
    if clock:
        masked = _masked(masked, [clock[1]])
    measures = sorted([*ratings, *_measures(masked)], key=lambda m: m.span)
    return Spans(tuple(_joined(text, measures)), whens, quotes, clock, codes)


def _joined(text: str, measures: list[Measure]) -> list[Measure]:
    """ "25 minutes and 30 seconds", "5 feet 11 inches": one quantity, in the base unit of its dimension."""
    joined: list[Measure] = []
    for measure in measures:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.dimension == measure.dimension in ("duration", "distance", "mass")
            and last.unit != measure.unit
            and last.factor > measure.factor
            and re.fullmatch(r"(?i)[\s,]*(?:and\s+)?", text[last.span[1] : measure.span[0]])
        ):
            total = last.value * Decimal(str(last.factor)) + measure.value * Decimal(str(measure.factor))
            base = {"duration": "seconds", "distance": "m", "mass": "g"}[last.dimension]
            joined[-1] = Measure(total, last.dimension, base, (last.span[0], measure.span[1]))
        else:
            joined.append(measure)
    return joined


def _ratings(text: str) -> Iterator[Measure]:
    """4/5 stars, rated it 8/10: not the fourth of May."""
    for m in _RATING.finditer(text):
        out_of = m["of"] or m["of2"]
        yield Measure(
            _decimal(m["n"] or m["n2"]),
            "rating",
            "out of " + out_of,
            m.span("whole") if m["whole"] else m.span("whole2"),
        )


def _masked(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + "\x01" * (end - start) + text[end:]
    return text


def _is_duration(text: str, span: tuple[int, int]) -> bool:
    """ "5k in 25:30" is how long it took, not when it was."""
    return (
        bool(re.search(r"(?i)\b(?:in|took|for|time\s+of|lasted)\s*$", text[: span[0]]))
        and ":" in text[span[0] : span[1]]
    )


def _measures(text: str) -> Iterator[Measure]:
    taken: list[tuple[int, int]] = []
    for finder in (_of_sets, _of_durations, _of_numbers):
        for measure in finder(_masked(text, taken)):
            taken.append(measure.span)
            yield measure


def _of_sets(text: str) -> Iterator[Measure]:
    """3x10, 3 sets of 10: two numbers side by side."""
    for m in _SETS.finditer(text):
        if "by" in m.group().lower():
            continue
        middle = m.start(2)
        yield Measure(Decimal(m[1]), "count", "sets", (m.start(), middle))
        yield Measure(Decimal(m[2]), "count", "reps", (middle, m.end()))


_PARTS = {
    "and a half": Decimal("1.5"),
    "three quarters": Decimal("0.75"),
    "a quarter": Decimal("0.25"),
    "half": Decimal("0.5"),
}


def _of_durations(text: str) -> Iterator[Measure]:
    """1h 30, an hour and a half, 25:30."""
    for m in _COMPOUND.finditer(text):
        seconds = _decimal(m[1]) * 3600 + int(m[2]) * 60
        yield Measure(seconds, "duration", "seconds", m.span())
    for m in _HALF_HOUR.finditer(text):
        low = m.group().lower()
        amount = next((part for words, part in _PARTS.items() if words in low), Decimal(1))
        unit = m[2] or m[3] or "hour"
        if unit == "dozen":
            yield Measure(amount * 12, "count", "", m.span())
            continue
        dimension, factor = unit_table()[unit]
        yield Measure(amount, dimension, unit, m.span(), factor)
    for m in _COLON.finditer(text):
        hours, minutes, seconds = int(m[1] or 0), int(m[2]), int(m[3])
        yield Measure(Decimal(hours * 3600 + minutes * 60 + seconds), "duration", "seconds", m.span())


_NUMBERED = re.compile(
    r"(?i)\b(?:room|shelf|aisle|bin|rack|row|warehouse|locker|gate|platform|floor|building|drawer|zone|bay|slot|apartment|apt|chapter|"
    r"episode|season|part|volume|vol|route|highway|terminal|lane|section|garage|cabinet|flight|bus|line|exit|world\s+war|type)\s+$"
)


def _of_numbers(text: str) -> Iterator[Measure]:
    end = -1
    for m in _NUMBER.finditer(text):
        if re.match(r"(?:st|nd|rd|th)\b|\s+by\s+\p{Lu}", text[m.end() :]) or text[: m.start()].endswith("#"):
            continue
        value = _value(m)
        if value is None or m.start() < end or (_NUMBERED.search(text[: m.start()]) and not m["cur"]):
            continue
        measure = _with_unit(text, m, -value if m["sign"] or m["sign2"] else value)
        end = measure.span[1]
        yield measure


_ALONE = {"one": 1, "hundred": 100, "thousand": 1000, "million": 10**6, "grand": 1000, "dozen": 12}
_SCALES = {
    "k": 1000,
    "mil": 10**6,
    "grand": 1000,
    "thousand": 1000,
    "million": 10**6,
    "hundred": 100,
    "lakh": 10**5,
    "lakhs": 10**5,
}


def _value(m: re.Match[str]) -> Decimal | None:
    """The number by the parser of money that the fact extractor uses; dozens and halves are ours."""
    raw = m["num"].lower().strip()
    if raw.startswith("half"):
        return Decimal("0.5")
    if raw in _ALONE and not m["scale"]:
        return Decimal(_ALONE[raw])
    dozens = "dozen" in raw
    half = raw.endswith("half")
    raw = re.sub(r"\s+and\s+an?\s+half$", "", raw)
    if dozens:
        raw = re.sub(r"\bdozen\b", "", raw).strip() or "one"
        raw = "1" if raw in ("a", "an") else raw
    parsed = quantities.money(raw.lstrip(".,") if raw[0] not in ".," else "0" + raw)
    if parsed is None:
        return None
    value = Decimal(parsed[0])
    if re.fullmatch(r"\d+[.,]\d{3,}", raw) and not re.fullmatch(r"\d{1,3}[.,]\d{3}", raw):
        value = _decimal(raw)
    scale = (m["scale"] or "").strip().lower()
    value *= _SCALES.get(scale, 1)
    return value * (12 if dozens else 1) + (Decimal("0.5") if half else 0)


def _decimal(raw: str) -> Decimal:
    try:
        return Decimal(raw.replace(",", "."))
    except InvalidOperation:
        return Decimal(0)


def _with_unit(text: str, m: re.Match[str], value: Decimal) -> Measure:
    scale = (m["scale"] or "").strip().lower()
    rest = text[m.end() :]
    money = _AFTER_CURRENCY.match(rest)
    if m["cur"] or money:
        end = m.end() + (money.end() if money else 0)
        if scale == "m":
            value *= 10**6
        cents = _CENTS.match(text[end:])
        if cents and cents[1]:
            value, end = value + Decimal(cents[1]) / 100, end + cents.end()
        return Measure(value, "money", "", (m.start(), end), currency=quantities.currency(text[m.start() : end]))
    cents = _CENTS.match(rest)
    if cents and not cents[1]:
        return Measure(value / 100, "money", "", (m.start(), m.end() + cents.end()))
    out_of = _OUT_OF.match(rest)
    if out_of:
        return Measure(value, "rating", "out of " + out_of[1], (m.start(), m.end() + out_of.end()))
    if scale == "m":
        return Measure(value, "distance", "m", m.span(), 1.0)
    if scale == "grand":
        return Measure(value, "money", "", m.span())
    if scale == "k":
        return Measure(value, "bare", "k", m.span(), scaled=True)
    return _measured(m, rest, value)


def _measured(m: re.Match[str], rest: str, value: Decimal) -> Measure:
    unit = _UNIT.match(rest)
    word = fold(unit[1].replace(" ", "")) if unit else ""
    known = unit_table().get(word)
    if known and not (word in ("s", "m", "h", "k", "l", "g", "mi") and rest[:1].isspace() and word in ("s", "k")):
        return Measure(value, known[0], word, (m.start(), m.end() + unit.end()), known[1])
    if (
        word
        and stem(word)
        and not re.match(
            r"(?i)[\s]*(?:to|for|from|at|in|on|and|by|with|of|as|the|my|a|i|last|this|today|yesterday|each|is|was|per|or|because|after|before|more|times|out|due)\b",
            rest,
        )
    ):
        return Measure(value, "count", word, m.span())
    return Measure(value, "bare", "", m.span())
