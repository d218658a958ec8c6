"""Money, numbers and dates out of English words (price-parser, text2num, dateparser). Heavy parts load on first use."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from functools import cache

import regex as re

_SCALE = {
    "k": 1000,
    "grand": 1000,
    "thousand": 1000,
    "m": 1_000_000,
    "mil": 1_000_000,
    "million": 1_000_000,
    "hundred": 100,
    "lakh": 100_000,
    "lakhs": 100_000,
}
_CURRENCIES = (
    (r"US\$|usd|us\s+dollars?|\$|dollars?|bucks?", "usd"),
    (r"€|eur|euros?", "eur"),
    (r"£|gbp|pounds?|quid|sterling", "gbp"),
    (r"¥|jpy|yen", "jpy"),
    (r"₹|inr|rupees?|rs", "inr"),
    (r"chf|(?:swiss\s+)?francs?", "chf"),
    (r"sek|swedish\s+(?:kronor|crowns?)", "sek"),
    (r"nok|norwegian\s+(?:kroner|crowns?)", "nok"),
    (r"dkk|danish\s+(?:kroner|crowns?)", "dkk"),
    (r"kr|kronor|kroner|crowns?", "kr"),
    (r"pln|zł|zlotys?|złoty", "pln"),
    (r"CA\$|C\$|cad|canadian\s+dollars?", "cad"),
    (r"AU\$|A\$|aud|aussie\s+dollars?|australian\s+dollars?", "aud"),
    (r"NZ\$|nzd", "nzd"),
    (r"mxn|pesos?", "mxn"),
    (r"R\$|brl|reais|real", "brl"),
    (r"₩|krw|won", "krw"),
    (r"thb|baht", "thb"),
    (r"₪|ils|shekels?", "ils"),
    (r"S\$|sgd", "sgd"),
    (r"HK\$|hkd", "hkd"),
    (r"czk", "czk"),
    (r"huf|forints?", "huf"),
    (r"try|lira", "try"),
    (r"zar|rand", "zar"),
    (r"aed|dirhams?", "aed"),
    (r"cny|rmb|yuan", "cny"),
    (r"₴|uah|hryvnias?", "uah"),
    (r"ngn|naira", "ngn"),
)
_ORDERED = sorted(_CURRENCIES, key=lambda c: 0 if re.search(r"[A-Z]+\\\$|\s", c[0]) else 1)
_CURRENCY = [(re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])", re.I), code) for pattern, code in _ORDERED]
_ANY = "|".join(pattern for pattern, _ in _ORDERED)
_WORDNUM = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    r"seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|"
    r"million|grand|a\s+hundred|a\s+thousand|a\s+grand|a\s+couple\s+(?:of\s+)?(?:hundred|thousand|grand)|"
    r"half\s+a\s+million)"
)
NUMBER = (
    rf"(?:\d{{1,3}}(?:[,.' ]\d{{3}})+(?:[.,]\d{{1,2}})?|\d+(?:[.,]\d+)?|{_WORDNUM}(?:[\s-]+(?:and\s+)?{_WORDNUM})*)"
)
MONEY = rf"(?:(?:{_ANY})\s?)?{NUMBER}\s?(?:k|m|mil|grand|thousand|million|hundred|lakhs?)?(?:\s?(?:{_ANY}))?(?![\w%°])"
_NUMERAL = re.compile(r"\d(?:[\d.,' ]*\d)?")
_SCALE_WORD = re.compile(r"(?i)\d\s?(k|m|mil|grand|thousand|million|hundred|lakhs?)\b")
_HAS_WORD = re.compile(rf"(?i)\b{_WORDNUM}\b")


@cache
def _digits_of(text: str) -> str:
    """Number words as digits: "twenty-five hundred" → "2500"."""
    from text_to_num import alpha2digit

    text = re.sub(r"(?i)\ba\s+couple\s+(?:of\s+)?(?=hundred|thousand|grand)", "two ", text)
    text = re.sub(r"(?i)\ba\s+(?=hundred|thousand|grand)", "one ", text)
    text = re.sub(r"(?i)\b(hundred|thousand)\s+and\s+", r"\1 ", text)
    return alpha2digit(text.replace("-", " "), "en", threshold=0)


def digits(text: str) -> str:
    """`text` with number words turned into digits, where it has any."""
    if any(ch.isdigit() for ch in text):  # "1 million" would become "1 1000000"
        return text
    return _digits_of(text) if _HAS_WORD.search(text) else text


def number(text: str) -> int | None:
    """The whole number that `text` is or contains, in digits or words."""
    if re.fullmatch(r"(?i)(?:a|an|one)", text.strip()):
        return 1
    if re.fullmatch(r"(?i)a\s+couple(?:\s+of)?|both|twin", text.strip()):
        return 2
    found = re.search(r"\d+", digits(text).replace(",", ""))
    return int(found.group()) if found else None


def money(text: str) -> tuple[str, str] | None:
    """(amount, currency code or '') of a price: "€1.299,50" → ("1299.50", "eur")."""
    from price_parser import Price

    plain = digits(text)
    numeral = _NUMERAL.search(plain)
    if not numeral:
        return None
    amount = Price.fromstring(numeral.group()).amount
    if amount is None:
        return None
    scale = _SCALE_WORD.search(plain)
    if scale:
        amount *= Decimal(_SCALE[scale.group(1).lower()])
    return _plain(amount), currency(plain)


def currency(text: str) -> str:
    """The ISO code (lower case) of the first currency named in `text`, or ''."""
    return next((code for pattern, code in _CURRENCY if pattern.search(text)), "")


def _plain(amount: Decimal) -> str:
    return str(int(amount)) if amount == amount.to_integral_value() else f"{amount:.2f}"


# --- dates -----------------------------------------------------------------------------------------------------------

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORT = {m[:3]: m for m in MONTHS} | {"sept": "september"}
MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|"
    r"mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
DATE = (
    rf"(?:(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH}\b\.?(?:,?\s+\d{{4}})?|"
    rf"{MONTH}\b\.?\s+(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?|"
    r"\d{4}-\d{2}-\d{2}|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}|\d{1,2}/\d{1,2})"
)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b|[/.]\d{2}$")
_RELATIVE = re.compile(rf"(?i)\b(?:next|this|coming)\s+(?={WEEKDAY}|weekend)|^on\s+")
_BASE = datetime(2000, 1, 1)  # stands in for "now" when none is given: only its year is thrown away


def month(text: str) -> str | None:
    """The month named in `text`, capitalised."""
    found = re.search(rf"(?i)\b{MONTH}\b", text)
    if not found:
        return None
    word = found.group().lower()
    return (word if word in MONTHS else _SHORT[word]).capitalize()


def date(text: str, now: datetime | None, *, future: bool = True) -> str | None:
    """ISO date of an absolute or relative date; "MM-DD" when the year is neither said nor to be had from `now`.

    Relative dates without `now` give None: the machine's clock is never asked.
    """
    import dateparser

    text = text.strip(" .,!").lower()
    if _ISO.fullmatch(text):
        return text
    absolute = re.search(rf"(?i)\b{MONTH}\b|\d[/.]\d", text) is not None
    if not absolute and now is None:
        return None
    base = (now or _BASE).replace(tzinfo=None)
    settings = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": "future" if future else "past", "DATE_ORDER": "MDY"}
    plain = _RELATIVE.sub("", re.sub(r"\b(?:the|of)\s+", "", digits(text)))
    parsed = dateparser.parse(plain, languages=["en"], settings=settings)
    if parsed is None:
        return None
    if absolute and not _YEAR.search(text) and now is None:
        return parsed.strftime("%m-%d")
    return parsed.strftime("%Y-%m-%d")


def birthday(text: str) -> str | None:
    """ISO date, or "MM-DD" when no year is said."""
    iso = date(text, None, future=False)
    return iso
