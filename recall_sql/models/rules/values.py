"""Value parsers: what a pattern's groups become. Each gets the groups and the clause and returns rows for the templates.

A row may set `fact_key`, `category` or `kind` itself; an empty list means "this is not a fact after all". Parsers are
looked up by name from `patterns.yaml` (`PARSERS`). Category-specific ones only: phrases, numbers and places have modules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import regex as re

from recall_sql.models.rules import places, quantities
from recall_sql.models.rules.lexicon import alternatives, mapping, words
from recall_sql.models.rules.phrases import bare, gerund, singular, snake, split_list, trim
from recall_sql.models.rules.text import Clause

Row = dict[str, str]
Groups = dict[str, str]


@dataclass(frozen=True)
class Context:
    """What a parser may look at besides its groups. now: when it was said, or None."""

    clause: Clause
    now: datetime | None = None


Parser = Callable[[Groups, Context], list[Row]]
PARSERS: dict[str, Parser] = {}


def parser(function: Parser) -> Parser:
    """Registers a value parser under its own name."""
    PARSERS[function.__name__] = function
    return function


# --- plain ones ------------------------------------------------------------------------------------------------------


@parser
def flag(groups: Groups, context: Context) -> list[Row]:
    """The pattern's own words say it all."""
    return [{"item": "true", **groups}]


@parser
def count(groups: Groups, context: Context) -> list[Row]:
    """A whole number in digits or words."""
    n = quantities.number(groups["n"])
    return [] if n is None else [{"n": str(n), **{k: v for k, v in groups.items() if k != "n"}}]


@parser
def age(groups: Groups, context: Context) -> list[Row]:
    """An age between 3 and 115."""
    rows = count(groups, context)
    return rows if rows and 3 <= int(rows[0]["n"]) <= 115 else []


@parser
def item(groups: Groups, context: Context) -> list[Row]:
    """One noun phrase, trimmed."""
    phrase = bare(trim(groups["obj"]))
    return [{"item": phrase, "key": snake(phrase)}] if _nounlike(phrase) else []


@parser
def items(groups: Groups, context: Context) -> list[Row]:
    """A list of noun phrases."""
    return [
        {"item": phrase, "key": snake(singular(phrase.lower()))}
        for raw in split_list(trim(groups["obj"]))
        if _nounlike(phrase := bare(trim(raw)))
    ]


_POINTER = re.compile(
    r"(?i)^(?:it|that|this|them|these|those|you|your|yours|him|her|his|their|he|she|they|me|us|one|ones|how|what|when|why|who|whatever|"
    r"everything|something|anything|nothing|everyone|someone|anyone|nobody|all|both|none|each|here|there|there's|not|no|my|our|myself|so|such|to|the|another|other|others)\b"
)
_MAX_WORDS = 7


def _nounlike(phrase: str) -> bool:
    return bool(phrase) and phrase[0].isalnum() and len(phrase.split()) <= _MAX_WORDS and not _POINTER.match(phrase)


# --- names -----------------------------------------------------------------------------------------------------------

_NAME = re.compile(r"(?:(?:Mr|Mrs|Ms|Dr)\.?\s)?[\p{Lu}][\p{L}'’-]*(?:\s(?:(?:de|da|van|von|der|la|bin|al|di|del)\s)?[\p{Lu}][\p{L}'’-]*){0,3}|[\p{Lo}]{1,12}")
_NOT_NAME = frozenset(
    "i,i'm,so,not,a,an,the,here,sorry,sure,fine,good,okay,ok,just,back,happy,glad,sad,tired,new,very,really,yes,no,also,and,but,from,in,at,on,what,how,"
    "my,is,it,god,christmas,monday,tuesday,wednesday,thursday,friday,saturday,sunday,english,mac,pro,interested,ready,trying,looking,going,done,busy,sick,"
    "hungry,bored,excited,late,lost,confused,married,single,vegan,vegetarian,pescatarian,allergic,diabetic,available,thinking,free,old,born,based,planning,"
    "team,windows,linux,ios,android,none,nothing,all,too,still,always,never,currently,now,curious,stuck,afraid,right,wrong,well,great,pretty,because,"
    "same,looky,new,right,over,down,nobody,everyone,right,back,look,welcome,stop,good,nice,first,last,done,more,there,where,why,winter,summer,everything,muslim,catholic,christian,jewish,hindu,buddhist,atheist,agnostic,me,time,typo,on,out,off,gonna,about,whatever,anything,up,down,self-employed,unemployed,retired,pregnant,lactose,celiac,coeliac".split(",")
)


def proper_name(text: str, *, lower_ok: bool = False) -> str | None:
    """The person or pet name `text` starts with, or None."""
    text = text.strip(" ,.!'\"")
    found = _NAME.match(text)
    if found:
        name = found.group().strip(" '-")
        first = name.split()[0].lower()
        return None if first in _NOT_NAME else name
    if not lower_ok:
        return None
    word = re.match(r"[\p{L}][\p{L}'-]{1,20}(?=$|[\s,.!])", text)
    if not word or word.group().lower() in _NOT_NAME or len(text.split()) > 3:
        return None
    return word.group().capitalize()


@parser
def name(groups: Groups, context: Context) -> list[Row]:
    """A person's name after words that can only introduce one."""
    found = proper_name(groups["obj"], lower_ok=context.clause.raw.islower() or "name" in context.clause.low)
    return [{"item": found}] if found and not _NOT_CALLED.match(found) else []


_NOT_CALLED = re.compile(r"(?i)(?:later|back|when|if|tomorrow|tonight|asap|now|anytime|maybe|crazy|old|lazy|by|at|tonight|please|soon|mad|stupid|biased|weird|names?|again|out|over|up)\b")


@parser
def bare_name(groups: Groups, context: Context) -> list[Row]:
    """"I'm Lina": a capitalised word that is no nationality, place, diet or adjective we know."""
    phrase = re.sub(r"(?i)(?:\s+(?:here|from|and|with|by)\b|,).*$", "", groups["obj"]).strip()
    found = proper_name(phrase)
    if not found or found != phrase or len(found.split()) > 3:
        return []
    low = found.lower()
    known = words("nationalities") | words("languages") | words("diets") | words("conditions") | words("religions") | words("jobs")
    if low in known or found.isupper() and len(found) > 1 or low.endswith(("ing", "ed")) or singular(low) in known:
        return []
    if places.kind(found) == "country":
        return []
    return [{"item": found}]


@parser
def named_pet(groups: Groups, context: Context) -> list[Row]:
    """"a cat called Mochi", "two dogs, Rex and Bo", "a dog": one row per pet."""
    animal = _animal(groups["animal"])
    names = [n for raw in split_list(groups.get("names") or "") if (n := proper_name(raw, lower_ok=len(raw.split()) == 1 and bool(groups.get("called"))))]
    if names:
        return [{"fact_key": f"{snake(animal)}_{snake(n)}", "item": f"{animal} {n}"} for n in names]
    number = quantities.number(groups.get("n") or "a")
    if number and number > 1:
        return [{"fact_key": f"{snake(animal)}s", "item": f"{number} {_plural(animal)}"}]
    breed = (groups.get("breed") or "").strip().lower()
    return [{"fact_key": snake(animal), "item": f"{breed} {animal}".strip()}]


_PUP = {"kitten": "cat", "kitty": "cat", "puppy": "dog", "pup": "dog", "bunny": "rabbit", "lab": "labrador", "doggo": "dog", "kittie": "cat"}


def _animal(word: str) -> str:
    low = word.lower()
    single = low if low in words("animals") else singular(low)
    single = {"puppie": "puppy", "mice": "mouse", "bunnie": "bunny"}.get(single, single)
    return _PUP.get(single, single)


def _plural(animal: str) -> str:
    return {"mouse": "mice", "fish": "fish", "goldfish": "goldfish", "sheep": "sheep"}.get(animal, animal + "s")


_PET_ITEM = re.compile(
    rf"(?i)^(?P<n>an?|one|two|three|four|five|six|seven|\d|a\s+couple\s+of|my|our|both)?\s*(?:(?:[\w-]+\s+){{0,3}}?)(?P<animal>{alternatives('animals')})(?:s|es)?(?=$|[\s,])(?!\s(?:{alternatives('animals')})s?\b)"
    r"(?:,?\s+(?P<called>called|named|and\s+(?:named|called)\s+(?:him|her|it|them)|by\s+the\s+name\s+of|who\s+is\s+called|whose\s+name\s+is)\s+(?P<names>.+)|,?\s+(?P<names>[A-Z].*))?"
)


@parser
def pets(groups: Groups, context: Context) -> list[Row]:
    """"two cats and a dog named Rex": every pet of the list."""
    phrase = groups["obj"]
    whole = _PET_ITEM.match(phrase)
    if not whole:
        return []
    if whole.group("names"):
        rows = named_pet({k: v or "" for k, v in whole.groupdict().items()}, context)
        # "two cats, Milo and Otis, and a dog": names end where an article starts
        rest = re.search(r"(?i)(?:,|\band)\s+(?=(?:an?|one|two|three)\s)(.+)$", whole.group("names"))
        if rest:
            head = whole.group("names")[: rest.start()]
            rows = named_pet({**{k: v or "" for k, v in whole.groupdict().items()}, "names": head}, context)
            rows += pets({"obj": rest.group(1)}, context)
        return rows
    rows = []
    for part in split_list(trim(phrase)):
        found = _PET_ITEM.match(part)
        if found:
            rows += named_pet({k: v or "" for k, v in found.groupdict().items()}, context)
    return rows


@parser
def relative(groups: Groups, context: Context) -> list[Row]:
    """A relation of the user, with a name or 'true'."""
    rel = re.sub(r"[\s-]+", " ", groups["rel"].lower())
    hyphened = groups["rel"].lower()
    key = mapping("relation_keys").get(hyphened, mapping("relation_keys").get(rel, rel))
    named = proper_name(groups.get("obj") or "", lower_ok=bool(groups.get("called")))
    if groups.get("obj") and not named:
        return []
    return [{"fact_key": snake(key), "item": named or "true"}]


@parser
def relatives(groups: Groups, context: Context) -> list[Row]:
    """"two kids, Mia and Leo", "a daughter and a son", "three sisters"."""
    rows: list[Row] = []
    for part in re.split(r"(?i),?\s+(?:and|plus)\s+(?=an?\s|one\s|two\s|three\s|\d)|,\s+(?=an?\s)", groups["obj"]):
        found = _RELATIVE_ITEM.match(part.strip())
        if not found:
            break
        rows += _relative_rows(found)
    return rows


_RELATIVE_ITEM = re.compile(
    rf"(?i)^(?P<n>an?|one|two|three|four|five|six|seven|eight|\d{{1,2}}|a\s+couple\s+of|twin)\s+(?:(?:[\w-]+\s+){{0,2}}?)(?P<rel>{alternatives('relations')}|children|siblings|grandchildren|grandkids|kiddos|boys|girls|boy|girl)s?(?![\w-])"
    r"(?:,?\s*(?:\w+\s+)?(?P<called>called|named)\s+(?P<names>.+)|,?\s*\(?(?P<names>[A-Z]\w+(?:(?:,|\s+and|\s+&|,\s+and)\s+[A-Z]\w+)*))?"
)
_COUNTED = {"toddler": "children_count", "kid": "children_count", "child": "children_count", "children": "children_count", "kiddo": "children_count", "kiddos": "children_count", "siblings": "siblings_count",
            "grandchildren": "grandchildren_count", "grandkids": "grandchildren_count", "boys": "sons_count", "girls": "daughters_count",
            "boy": "sons_count", "girl": "daughters_count", "son": "sons_count", "daughter": "daughters_count", "brother": "brothers_count", "sister": "sisters_count"}


def _relative_rows(found: re.Match[str]) -> list[Row]:
    rel = re.sub(r"\s+", " ", found.group("rel").lower())
    n = quantities.number(found.group("n")) or 2
    key = mapping("relation_keys").get(rel, rel)
    names = [x for raw in split_list(found.group("names") or "") if (x := proper_name(raw))]
    rows: list[Row] = []
    if n == 1 and rel not in ("kid", "child", "children", "toddler"):
        rows.append({"fact_key": snake({"boy": "son", "girl": "daughter"}.get(key, key)), "item": names[0] if names else "true"})
        return rows
    counted = _COUNTED.get(rel) or (f"{snake(key)}s_count")
    rows.append({"fact_key": counted, "item": str(n)})
    if names:
        single = {"kids": "child", "kid": "child", "children": "child", "siblings": "sibling", "boys": "son", "girls": "daughter"}.get(rel, singular(key))
        rows.append({"fact_key": f"{snake(single)}_names" if len(names) > 1 else snake(single), "item": ", ".join(names)})
    return rows


# --- places ----------------------------------------------------------------------------------------------------------

_PLACE_STOP = re.compile(r"(?i)\s+(?:with|near|where|and\s+(?:work|love|I|have)|but|as|by|for|since|because|right|these|at\s|close\s+to|next\s+to|not\s+far|just|from|in\s+(?!the\s+)(?=a\s|an\s|my\s|our\s|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|fall|late|early|mid|\d)|on\s|this|next|last|to\s|until|during|around|after|before|together|alone|so|if|via|all|over|again|soon|today|tomorrow|who|which|that|when|while|or\s+so|twice|once|every|full|part|most|about|two|three|five|ten|\d).*$")
_PLACE = re.compile(r"^(?:the\s+)?(?:(?:downtown|central|north|south|east|west|northern|southern|eastern|western|upstate|rural|sunny|rainy|good\s+old|old|beautiful|lovely|suburban|greater)\s+)?[\p{Lu}][\p{L}.'’-]*(?:\s(?:(?:de|del|la|of|the|am|an|upon|da|do|di|und|on|sur|le|en|los|las|el|al)\s){0,2}[\p{Lu}][\p{L}.'’-]*){0,3}")


def place_parts(phrase: str) -> list[tuple[str, str]]:
    """The places a phrase names, in order, as (kind, name): "Austin, Texas" → [(city, Austin), (state, Texas)]."""
    phrase = _PLACE_STOP.sub("", " " + phrase.strip()).strip(" .,!?'\"-")
    found: list[tuple[str, str]] = []
    for raw in re.split(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|&|then|plus|followed\s+by|as\s+well\s+as)\s+(?:then\s+|maybe\s+|possibly\s+)?|\s+in\s+|\s*/\s*", phrase):
        part = re.sub(r"(?i)^(?:either|both|maybe|possibly|mainly|the\s+city\s+of|beautiful|sunny|downtown|to|in|at|around|all\s+over)\s+", "", raw).strip(" .,!?'\"-()")
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


_NOT_PLACE = frozenset("i,january,february,march,april,may,june,july,august,september,october,november,december,monday,tuesday,wednesday,thursday,friday,saturday,sunday,christmas,easter,english,spanish,french,german,python,java,rust,excel,javascript,agile,hr,it,seo,ai,uni,university,bed,thanksgiving,new year,ramadan,zoom,java,word,php,ml,ux,django,react,netflix,twitter,facebook,instagram,reddit,google,amazon,apple,microsoft,linkedin,youtube,costco,ikea,heaven,mars,hell,narnia,hogwarts".split(","))


def _placed(phrase: str, keys: dict[str, str]) -> list[Row]:
    rows: list[Row] = []
    seen: set[str] = set()
    for kind, name in place_parts(phrase)[:3]:
        key = keys[kind if kind in keys else "city"]
        if key not in seen:
            seen.add(key)
            rows.append({"fact_key": key, "item": name})
    return rows


_PART_OF = re.compile(r"(?i)^(?:(?:the|a)\s)?(?:(?:north|south|east|west)(?:ern)?\s)?(?:outskirts|suburbs?|heart|cent(?:er|re)|middle|south|north|east|west|edge|area|part|side)\s(?:of|outside)\s(?=(?-i:[A-Z]))")


@parser
def home(groups: Groups, context: Context) -> list[Row]:
    """Where somebody lives."""
    phrase = _PART_OF.sub("", groups["obj"])
    rows = _placed(phrase, {"city": "home_city", "unknown": "home_city", "country": "home_country", "state": "home_state", "region": "home_region"})
    if rows:
        return rows
    area = re.match(r"(?i)^(?:a|an|the)\s+(?:\w+\s+){0,2}?(?:town|village|city|suburbs?|countryside|farm|island|mountains|outskirts|coast|middle\s+of\s+nowhere|woods|apartment|flat|studio|house)\b[^,]*", trim(groups["obj"]))
    return [{"fact_key": "home_area" if not re.search(r"(?i)apartment|flat|studio|house", area.group()) else "housing", "item": area.group()}] if area else []


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
    """A bare answer "Tokyo and Kyoto": two or more places, all of them in the gazetteer."""
    parts = place_parts(groups["obj"])
    wanted = [p for p in split_list(groups["obj"])]
    if any(not places.kind(w) for w in wanted) or len(parts) < 2 or len(parts) != len(wanted) or any(kind == "unknown" for kind, _ in parts) or {k for k, _ in parts} & {"state"}:
        return []
    if len({k for k, _ in parts}) > 1:  # "Lisbon, Portugal" answers another question
        return []
    return destinations(groups, context)


_LENGTH = re.compile(rf"(?i)\b({quantities.NUMBER}|an?|a\s+couple(?:\s+of)?)[\s-]*(day|night|week|month)s?(?![\w])(?!\s+(?:ago|before|later|from\s+now|in\s+advance|left))")
_DAYS = {"day": 1, "night": 1, "week": 7, "month": 30}
_IN_MONTH = re.compile(rf"(?i)\b(?:in|this|next|for|during|of|mid-?|early|late|around|by|and)\s+(?:the\s+)?(?:(?:early|late|mid|end\s+of|beginning\s+of|middle\s+of)[\s-]+)?({quantities.MONTH})\b(?!\s+\d{{1,2}}\b(?!\d))")
_SEASON = re.compile(r"(?i)\b(?:in|this|next)\s+(?:the\s+)?(?:early\s+|late\s+)?(spring|summer|autumn|fall|winter)\b")
_TRAVEL_DATE = re.compile(rf"(?i)\b(?:on|from|leaving|starting|departing)\s+({quantities.DATE})")


def journey_details(text: str, context: Context) -> list[Row]:
    """Length, month and date of the journey a clause speaks of."""
    rows: list[Row] = []
    length = _LENGTH.search(text)
    if length and not re.search(r"(?i)\bin\s+$", text[: length.start()]) and (n := quantities.number(length.group(1))):
        rows.append({"category": "goal", "fact_key": "trip_length_days", "item": str(n * _DAYS[length.group(2).lower()])})
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
