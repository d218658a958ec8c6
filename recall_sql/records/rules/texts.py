"""Text fields: which phrase of the sentence is whose value.

A field's role (receiver, author, place, purpose …) comes from its name and description by lexicon.yaml; a phrase
fits by the preposition before it, by whether it looks like a name, and by what is called by the field's own name.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from recall_sql.records.rules import patterns as re
from recall_sql.records.rules.phrases import Chunk, Sentence
from recall_sql.records.rules.spans import Measure, Spans, unit_table
from recall_sql.records.rules.words import fold, lexicon, stem, stem_list, stems, stopwords, word_list
from recall_sql.records.schemas import RecordField, Schema

_ACTIVITY = re.compile(
    r"(?i)^(?:activity|exercise|workout|sport|type|kind|habit|workout_type|exercise_type|activity_type|name|exercise_name|activity_name|workout_name)$"
)
_CODE_FIELD = re.compile(
    r"(?i)^(?:e_?mail|phone|mobile|cell|url|link|website|homepage|fax)|(?:email|phone|url)(?:_\w+)?$"
)
_SIZE = re.compile(
    r"(?i)\b(?:dosage|dose|duration|distance|quantity|size|strength|amount|how\s+(?:long|far|much|many))\b"
)
_SMALL = "|".join(
    (
        r"(?:of|the|and|in|a|an|to|or|&|vs\.?|de|la|le|des|du|von|der",
        r"(?:on|with|at|from|for|by)(?=\s(?:the|a|an|my|his|her)\s))",
    )
)
_TITLE = re.compile(
    rf"[\p{{Lu}}\d][\p{{L}}\p{{M}}\d'’.!?-]*(?:(?::\s|\s)(?:{_SMALL}\s)*[\p{{Lu}}][\p{{L}}\p{{M}}\d'’!?-]*|\s\d+(?![\d.]*\s*\p{{L}}))*"
)


def fill(
    schema: Schema, text: str, spans: Spans, sentence: Sentence, data: dict[str, Any], used: list[tuple[int, int]]
) -> None:
    """Adds the values of the text fields and lists to `data`."""
    wanted = [spec for spec in schema.fields if spec.name not in data and _is_text(spec)]
    chunks = _candidates(schema, text, spans, sentence, data)
    pairs = [
        (score(spec, chunk, sentence, wanted) + (0.35 if spec.required else 0), number, spec, chunk)
        for spec in wanted
        for number, chunk in enumerate(chunks)
        if not _CODE_FIELD.search(spec.name)
    ]
    taken: set[int] = set()
    for fit, number, spec, chunk in sorted(pairs, key=lambda pair: (-pair[0], pair[1])):
        if fit < 1 or spec.name in data or number in taken:
            continue
        value = value_of(spec, chunk, text)
        if value:
            data[spec.name] = listed(value) if spec.kind == "list" else value
            taken.add(number)
            taken |= {
                other for other, part in enumerate(chunks) if part.start == chunk.start and part.role == chunk.role
            }
    _fill_codes(wanted, spans, data)
    _fill_labelled(wanted, text, data)
    _fill_sizes(wanted, text, spans, data, used)


def _is_text(spec: RecordField) -> bool:
    return spec.kind == "text" or (spec.kind == "list" and spec.item is not None and spec.item.kind == "text")


def listed(value: str) -> list[str]:
    return [part.strip() for part in re.split(r"\s*,\s*|\s+(?:and|&)\s+", value) if part.strip()]


# --- what there is to choose from -------------------------------------------------------------------------------------


def _candidates(schema: Schema, text: str, spans: Spans, sentence: Sentence, data: dict[str, Any]) -> list[Chunk]:
    chosen = {fold(str(value)) for spec in schema.fields if spec.kind == "enum" and (value := data.get(spec.name))}
    chunks: list[Chunk] = []
    for number, chunk in enumerate(sentence.chunks):
        following = sentence.chunks[number + 1] if number + 1 < len(sentence.chunks) else None
        if _is_container(chunk, following, text, spans):
            continue
        if set(stems(chunk.text)) <= set(stems(schema.name)):
            continue
        bare = _without(chunk, chosen)
        if bare and not _is_field_name(schema, bare):
            chunks.append(bare)
    activity = lexicon()["activities"].get(sentence.verb)
    if activity:
        chunks.append(Chunk("activity", activity, sentence.verb_span[0]))
    return chunks


_CONTAINERS = word_list("containers")


def _is_container(chunk: Chunk, following: Chunk | None, text: str, spans: Spans) -> bool:
    """ "30 bottles of oil", "a shipment of 50 cases": what counts stands behind the of."""
    last = chunk.text.split()[-1]
    if following is None or not (last.lower() in _CONTAINERS or (chunk.after_measure and stem(last) in _units(spans))):
        return False
    return bool(re.search(r"(?i)\bof\b", text[chunk.start : following.start]))


def _units(spans: Spans) -> set[str]:
    return {stem(measure.unit) for measure in spans.measures if measure.unit}


def _without(chunk: Chunk, chosen: set[str]) -> Chunk | None:
    """Without a word that is the value of a choice already: a "mild" headache."""
    words = [word for word in chunk.text.split() if fold(word) not in chosen]
    return replace(chunk, text=" ".join(words)) if words else None


def _is_field_name(schema: Schema, chunk: Chunk) -> bool:
    said = stems(chunk.text)
    return any(said == stems(spec.name) for spec in schema.fields if spec.is_number) and chunk.role in (
        "loose",
        "object",
        "subject",
    )


# --- how well they fit ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2048)
def roles(spec: RecordField) -> tuple[tuple[str, float], ...]:
    """The roles of a field with how sure each is: by name, else by description."""
    found: dict[str, float] = {}
    for role, named, described in _role_patterns():
        if named.fullmatch(spec.name):
            found[role] = 1.0
        elif described is not None and described.search(spec.description):
            found[role] = 0.9
        elif any(named.fullmatch(part) for part in spec.name.split("_")):
            found[role] = 0.7
    if spec.name == "name" or spec.name.endswith("_name"):
        found.setdefault("title", 0.8)
    if len(found) > 1 and "purpose" in found and found["purpose"] == 1.0 and max(found.values()) == 1.0:
        found = {role: sure for role, sure in found.items() if role == "purpose" or sure >= 0.9}
    return tuple(found.items()) or (("thing", 0.45),)


@cache
def _role_patterns() -> list[tuple[str, re.Pattern[str], re.Pattern[str] | None]]:
    return [
        (
            role,
            re.compile(f"(?i)(?:{entry['name']})"),
            re.compile(f"(?i)(?:{entry['text']})") if entry["text"] else None,
        )
        for role, entry in lexicon()["roles"].items()
        if entry["name"]
    ]


def score(spec: RecordField, chunk: Chunk, sentence: Sentence, wanted: list[RecordField]) -> float:
    """How well a phrase fits a text field, 0 to about 6."""
    best = 0.0
    for role, sure in roles(spec):
        entry = lexicon()["roles"][role]
        fit = entry["score"].get(chunk.role, 0.0) * sure
        if chunk.role == "activity" and _ACTIVITY.match(spec.name):
            fit = 2.9
        if not fit:
            continue
        if entry.get("person"):
            if role == "receiver" and chunk.role == "subject":
                fit = 1.8 if sentence.verb in _CHARGES else -1
            fit += (
                0.8
                if chunk.proper
                else 0.5
                if _is_somebody(chunk.text)
                else -1.1
                if chunk.role in ("object", "at", "from", "subject")
                else -0.4
            )
        elif role == "title":
            fit += 0.8 if chunk.proper else -0.3
        elif role == "thing" and chunk.proper and chunk.role == "object" and _has_person(wanted):
            fit -= 1.2
        elif role == "thing" and chunk.after_measure:
            fit += 0.5
        if role == "thing" and _known_words(spec) & set(stems(chunk.text)):
            fit += 1
        if role == "place" and set(stems(spec.description)) & set(stems(chunk.text)) - stopwords():
            fit += 1
        best = max(best, fit)
    if (
        best
        and _ACTIVITY.match(spec.name)
        and chunk.role in ("object", "for", "loose")
        and stem(chunk.text.split()[-1]) in _units_of_all()
    ):
        best -= 1.5
    return best


_CHARGES = stem_list("charges")
_SOMEBODY = re.compile(
    r"(?i)(?:er|or|ist|ian|man|woman|lord|lady)s?$|\b(?:mom|mum|dad|friend|wife|husband|roommate|boss|son|neighbou?r|coach|vet|bank|school|gym|company|store|shop|university|church|kid|guy|salon|clinic|hospital|pharmacy|landlord|agency|office|uncle|aunt|cousin|team|club|hotel|airline|city|government)$"
)
_NOBODY = re.compile(
    r"(?i)\b(?:dinner|water|beer|paper|computer|printer|power|order|letter|butter|burger|charger|flower|supper|shower|number|sweater|internet|monitor|router|heater|cooler|tractor|motor|door|floor|mirror|liquor|counter|poster|folder|freezer|mixer|toaster|blender|speaker|controller|pepper|paper|cover|layer|river|weather|fever|ladder)s?$"
)


def _is_somebody(text: str) -> bool:
    """Whether a lower-case noun names a person or a business: the plumber, my dentist, the gym."""
    return bool(_SOMEBODY.search(text)) and not _NOBODY.search(text)


@cache
def _units_of_all() -> frozenset[str]:
    return frozenset(stem(word) for word in unit_table()) | word_list("unit_nouns")


def _has_person(wanted: list[RecordField]) -> bool:
    return any(lexicon()["roles"][role].get("person") for spec in wanted for role, _ in roles(spec))


@lru_cache(maxsize=2048)
def _known_words(spec: RecordField) -> frozenset[str]:
    """Examples named in the description: "(e.g. running, yoga)"."""
    m = re.search(r"(?i)(?:e\.?g\.?|such\s+as|like|for\s+example|:|including)[,\s]+(.+)$", spec.description)
    return frozenset(stems(m[1])) if m else frozenset()


# --- values -----------------------------------------------------------------------------------------------------------


def value_of(spec: RecordField, chunk: Chunk, text: str) -> str:
    """The phrase as the field's value: a whole title, a canonical activity, a pain."""
    value = chunk.text
    kinds = {role for role, _ in roles(spec)}
    if "title" in kinds and chunk.role not in ("quote", "activity"):
        value = _title(value, chunk, text)
    if any(lexicon()["roles"][role].get("person") for role in kinds):
        value = _name(value)
    hurts = re.fullmatch(
        r"(?i)(.+?)\s+(?:hurts?|aches|(?:is|are|has\s+been|have\s+been)\s+(?:hurting|aching|sore))(?:\s+(?:a\s+lot|badly|again))?",
        value,
    )
    if hurts and "thing" in kinds:
        return f"{hurts[1].lower()} pain"
    example = _example(spec, value)
    if example:
        return example
    if _ACTIVITY.match(spec.name) and spec.name != "name":
        last = re.sub(
            r"(?i)^(?:(?:morning|evening|afternoon|night|quick|long|short|easy|nice|good|great|daily|brisk|hard|slow|fast|little|light)\s+)+",
            "",
            value,
        )
        return (
            lexicon()["activities"].get(stem(last), value)
            if len(last.split()) == 1 and not last.endswith("s")
            else value
        )
    return value


def _name(value: str) -> str:
    """ "my friend Tom" is Tom, and "Tolkien was great" is Tolkien."""
    value = re.sub(r"^(?:\p{Ll}[\p{L}'’-]*\s+){1,2}(?=\p{Lu})", "", value)
    named = re.match(
        r"\p{Lu}\S*(?:\s(?:(?:de|la|van|von|der|di|da|al|bin|and|&)\s)*\p{Lu}\S*)*(?=\s(?!and\b)\p{Ll})", value
    )
    value = named.group() if named else value
    return re.sub(r"\s+(?:was|is|were|are|who|which|that|has|had)\s.*$", "", value)


def _title(value: str, chunk: Chunk, text: str) -> str:
    """The whole of a title that begins in the phrase: "the novel Circe" is Circe, "Lord of the Rings" has its The."""
    inner = (
        re.search(r"(?:^|(?<=^(?:[\p{Ll}-]+\s){1,3})|(?<=^\p{Lu}\p{Ll}+\s))(?=\p{Lu})", value)
        if not chunk.proper
        else None
    )
    start = chunk.start + (inner.start() if inner else 0)
    m = _TITLE.match(text, start) if chunk.proper or inner else None
    if m is None:
        return value
    article = re.search(r"(?:The|A|An|My)\s+$", text[:start])
    return (article.group() if article else "") + m.group().strip(" .,")


def _example(spec: RecordField, value: str) -> str:
    """The example of the description that the value is a form of, as the description writes it."""
    wanted = stems(value)
    m = re.search(r"(?i)(?:e\.?g\.?|such\s+as|like|for\s+example|including)[,\s]+(.+?)\)?\.?$", spec.description)
    if not m:
        return ""
    examples = [part.strip() for part in re.split(r",\s*(?:or\s+|and\s+)?|\s+or\s+|\s+and\s+|/", m[1])]
    return next((part for part in examples if part and stems(part) == wanted), "")


def _fill_codes(wanted: list[RecordField], spans: Spans, data: dict[str, Any]) -> None:
    """Addresses and phone numbers go to the field that is called like them."""
    names = {
        "email": r"e-?mail",
        "url": r"url|link|website|site|homepage",
        "phone": r"phone|mobile|cell|tel|fax|number",
    }
    for kind, value, _ in spans.codes:
        spec = next(
            (one for one in wanted if re.search(rf"(?i){names[kind]}", one.name) and data.get(one.name) != value), None
        )
        if spec is not None:
            data[spec.name] = value


def _fill_labelled(wanted: list[RecordField], text: str, data: dict[str, Any]) -> None:
    """ "category: food", "note: with ice": what is called by the field's name beats everything."""
    for spec in wanted:
        name = r"[\s_-]".join(map(re.escape, spec.name.split("_")))
        m = re.search(rf"(?i)\b{name}\s*(?::|=|\bis\b|\bwas\b)\s*[\"“']?([^,;\n\"”]+)", text)
        if m and (value := m[1].strip(" .'")):
            data[spec.name] = listed(value) if spec.kind == "list" else value


_PORTIONS = stem_list("portions")


def _is_size(measure: Measure) -> bool:
    """A count is one only of pills and the like: "two aspirin" is not a dose."""
    return measure.dimension != "count" or stem(measure.unit or "") in _PORTIONS


def _fill_sizes(
    wanted: list[RecordField], text: str, spans: Spans, data: dict[str, Any], used: list[tuple[int, int]]
) -> None:
    """A dose or a duration kept as text: the words as they were said."""
    for spec in wanted:
        if (
            spec.kind != "text"
            or not _SIZE.search(spec.words.replace("_", " "))
            or not _SIZE.search(spec.name.replace("_", " "))
        ):
            continue
        free = [
            m for m in spans.measures if m.span not in used and m.dimension not in ("money", "bare") and _is_size(m)
        ]
        if free:
            data[spec.name] = text[slice(*free[0].span)].strip()
            used.append(free[0].span)
