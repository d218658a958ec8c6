"""Corrections and deletions: which record a message points at, and what it shall hold instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any

from recall_sql.models.rules import quantities
from recall_sql.records.intents import Match
from recall_sql.records.rules import fill, matching, phrases, spans, texts
from recall_sql.records.rules import patterns as re
from recall_sql.records.rules.words import fold, stem_list, stems, word_list
from recall_sql.records.schemas import RecordField, Schema

_LATEST = re.compile(
    r"(?i)\b(?:last|latest|most\s+recent|newest|recent|previous|just\s+(?:added|logged|entered|said)|that|it|this)\b(?!\s+(?:week|month|year|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december))"
)
_SAID_LATEST = re.compile(r"(?i)\b(?:last|latest|most\s+recent|newest|previous)\b")
_OLDEST = re.compile(r"(?i)\b(?:oldest|first|earliest)\b")
_ALL = re.compile(r"(?i)\b(?:all|every|everything|both|each)\b")
_COUNT = re.compile(
    r"(?i)\b(?:(?:last|latest|oldest|first|earliest|newest|most\s+recent|previous)\s+(?P<a>\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|couple(?:\s+of)?)|(?P<b>\d{1,3}|two|three|four|five|six|seven|eight|nine|ten)\s+(?:last|latest|oldest|first|earliest|newest|most\s+recent|previous))\b"
)
_TARGET = re.compile(r"(?i)\s(?:to|into|as|=|with|by)\s+(?!be\b)")
_SHOULD = re.compile(
    r"(?i)\b(?:should\s+(?:be|have\s+been|read|say)|(?:was|is|were)\s+(?:actually|really)|(?:was|is)\s+supposed\s+to\s+be|meant(?:\s+to\s+say)?|(?:it|that)\s+was|was|is|were)\b\s*"
)
_VERB = re.compile(
    r"(?i)^(?:change|update|correct|fix|edit|modify|adjust|amend|revise|set|make|rename|move|reschedule|shift|mark|increase|decrease|raise|lower|bump|reduce|replace|switch|put|delete|remove|erase|drop|discard|scrap|cancel|undo|trash|wipe|clear|forget(?:\s+about)?|get\s+rid\s+of|take\s+(?:out|off|away|back)|throw\s+(?:out|away)|strike|scratch|rate|correction\s*:?|actually,?|no,)\s*"
)


@dataclass(frozen=True)
class Change:
    """What an update or delete says. about: the words that point at the record."""

    match: Match
    updates: dict[str, Any]
    about: str
    problem: str = ""


def split(text: str) -> tuple[str, str, str]:
    """("my last payment to Jayden", "200", old value or ''): what is pointed at, what it becomes, what it was."""
    plain = _VERB.sub("", text.strip().rstrip(".!"), count=1)
    m = re.search(
        r"(?i)\b(?:was|is|were|be)?\s*(?:actually\s+)?(?P<new>[^,]{1,60}?),?\s+(?:and\s+)?not\s+(?P<old>(?:[^.?!]|\.\d){1,60})$",
        plain,
    )
    if m and re.search(r"(?i)\b(?:was|is|were|be)\b", plain[: m.end("new")]):
        pieces = list(
            re.finditer(
                r"(?i)\b(?:should\s+(?:have\s+been|be)|was|is|were|be)\b\s*(?:actually\s+)?", plain[: m.end("new")]
            )
        )
        return plain[: pieces[-1].start()], plain[pieces[-1].end() : m.end("new")], m["old"]
    m = re.search(r"(?i)^(?P<about>.*?)\bnot\s+(?P<old>[^,]{1,60}?),?\s+but\s+(?P<new>.+)$", plain)
    if m:
        return m["about"], m["new"], m["old"]
    m = re.match(r"(?i)^from\s+(?P<old>.+?)\s+to\s+(?P<new>.+)$", plain)
    if m:
        return "", m["new"], m["old"]
    should = _SHOULD.search(plain)
    if should and not re.match(r"(?i)(?:change|set|update|move|rename|make)\b", text.strip()):
        return plain[: should.start()], plain[should.end() :], ""
    targets = list(_TARGET.finditer(" " + plain))
    if targets:
        last = _chosen(plain, targets)
        about, new = plain[: max(0, last.start() - 0)], plain[last.end() - 1 :]
        old = re.search(r"(?i)\bfrom\s+(?P<old>[^,]+?)\s*$", about)
        return (about[: old.start()], new, old["old"]) if old and re.search(r"\d", old["old"]) else (about, new, "")
    m = re.match(
        r"(?i)^(?P<about>(?:that|it|this|the\s+last\s+one|(?:my|the)\s+(?:last|latest|most\s+recent)\s+\p{L}+))\s+(?P<new>.+)$",
        plain,
    )
    return (m["about"], m["new"], "") if m else (plain, "", "")


def _chosen(plain: str, targets: list[re.Match[str]]) -> re.Match[str]:
    """The last "to" parts old from new: "my payment to Jayden to 200". A later one belongs to the new value."""
    to = [m for m in targets if m.group().strip().lower() in ("to", "into", "as", "=")]
    return to[-1] if to else targets[-1]


def read_delete(text: str, schema: Schema, now: datetime) -> Change:
    """Which records "delete the two oldest workouts" means."""
    about = _VERB.sub("", text.strip().rstrip(".!?"), count=1)
    about = re.sub(r"(?i)^take\s+|\s+(?:out\s+of|off|from)\s+(?:the|my|our)\s+(?:\p{L}+)$|\s+out$", "", about)
    return Change(_match(about, schema, now, deleting=True), {}, about)


def read_update(text: str, schema: Schema, now: datetime) -> Change:
    """What "update my last payment to Jayden to 200" changes, and in which record."""
    about, new, old = split(text)
    updates = _new_values(about, new, schema, now, text)
    named = _field_named(about, schema)
    match = _match(about, schema, now, deleting=False, changing=tuple(updates), ignore=named)
    if not updates:
        match, updates = _restated(text, schema, now, match)
    if old and updates:
        where = dict(match.where) | _previous(about, old, new, schema, now, updates)
        match = Match(where, match.recency, match.count)
    problem = "" if updates else f"it doesn't say what of the {schema.name} record shall change, or to what"
    return Change(match, updates, about, problem)


def _restated(text: str, schema: Schema, now: datetime, match: Match) -> tuple[Match, dict[str, Any]]:
    """ "Actually, I paid Sarah $50": the record with these texts gets these numbers and days."""
    m = re.match(r"(?i)^(?:actually|correction|sorry|oops|no|i\s+meant|wait)\b[\s,:]*(?=\p{L})", text)
    if not m:
        return match, {}
    plain = text[m.end() :]
    found = spans.find(plain, now)
    data = fill.fill(schema, plain, found, phrases.read(plain, found), now).data
    updates = {name: value for name, value in data.items() if not isinstance(value, str | list | bool)}
    where = {name: value for name, value in data.items() if isinstance(value, str)}
    return (Match(where, None, 1), updates) if where else (match, updates)


def _previous(about: str, old: str, new: str, schema: Schema, now: datetime, updates: dict[str, Any]) -> dict[str, Any]:
    """What the changed field held before: "4 miles, not 3" means three miles."""
    found = {name: value for name, value in _new_values(about, old, schema, now).items() if name in updates}
    changed = next(iter(updates))
    measures, was = spans.find(new, now).measures, spans.find(old, now).measures
    if found or not schema.get(changed).is_number or len(measures) != 1 or len(was) != 1:
        return found
    value = fill.convert(schema.get(changed), replace(measures[0], value=was[0].value))
    return {} if value is None else {changed: value}


def _field_named(about: str, schema: Schema) -> RecordField | None:
    """The field that is called by its name: "the amount of my last payment"."""
    said = stems(about)
    named = [spec for spec in schema.fields if fill.named_in(spec, said) and stems(spec.name) != stems(schema.name)]
    if named:
        return max(named, key=lambda spec: len(spec.name))
    generic = {
        "price": "money",
        "cost": "money",
        "amount": "money",
        "date": "date",
        "day": "date",
        "rat": "rating",
        "how": "",
    }
    for word in said:
        kind = generic.get(word)
        for spec in schema.fields:
            if (
                (kind == "money" and spec.is_money)
                or (kind == "date" and spec.kind in ("date", "timestamp"))
                or (kind == "rating" and "rating" in fill.dimensions(spec))
            ):
                return spec
    return None


def _new_values(about: str, new: str, schema: Schema, now: datetime, said: str = "") -> dict[str, Any]:
    """field → value of the part behind "to": the field that is named, else the one that the value's kind fits."""
    new = new.strip(" .,!'\"")
    if not new:
        return {}
    future = bool(re.match(r"(?i)(?:next|tomorrow|coming|in\s)", new))
    found = spans.find(new, now, future=future)
    named = _field_named(about, schema)
    if named is not None:
        value = value_for(named, new, found, now)
        if value is not None:
            return {named.name: value}
    placed = next((f for f in schema.fields if f.kind == "text" and "place" in dict(texts.roles(f))), None)
    if placed is not None and not found.taken and re.match(r"(?i)(?:move|put|relocate)\b", said):
        return {placed.name: re.sub(r"(?i)^(?:the|my|our)\s+", "", new)}
    whole = not re.search(r"[\p{L}]", _rest(new, found))
    if whole or not any(spec.kind == "text" for spec in schema.fields):
        filled = fill.Filled()
        one = Schema(schema.name, schema.description, schema.fields)
        fill.fill_dates(one, new, found, now, filled)
        fill.fill_numbers(one, new, found, filled)
        return dict(list(filled.data.items())[:2])
    return _from_words(new, found, schema, now)


def _rest(text: str, found: spans.Spans) -> str:
    for start, end in reversed(found.taken):
        text = text[:start] + text[end:]
    return re.sub(r"(?i)\b(?:about|around|on|at|be|the|reps?|sets?|of|for|and)\b", "", text)


def _from_words(new: str, found: spans.Spans, schema: Schema, now: datetime) -> dict[str, Any]:
    sentence = phrases.read(new, found)
    filled = fill.fill(schema, new, found, sentence, now)
    if filled.data and not all(isinstance(value, str) for value in filled.data.values()):
        return {
            name: value for name, value in filled.data.items() if not isinstance(value, str) or _is_choice(schema, name)
        } or filled.data
    if len(filled.data) == 1:
        return filled.data
    texts_only = [spec for spec in schema.fields if spec.kind == "text"]
    names = [
        spec
        for spec in texts_only
        if phrases.is_proper(new)
        and any(role in dict(texts.roles(spec)) for role in ("receiver", "title", "creator", "companion"))
    ]
    chosen = names[0] if names else texts_only[0] if len(texts_only) == 1 else None
    return {chosen.name: new} if chosen else {}


def _is_choice(schema: Schema, name: str) -> bool:
    return schema.get(name).kind == "enum"


def value_for(spec: RecordField, text: str, found: spans.Spans, now: datetime) -> Any:
    """A text as the value of one field; None where it isn't one."""
    if spec.is_number:
        values = [fill.convert(spec, measure) for measure in found.measures]
        return next((value for value in values if value is not None), None)
    if spec.kind in ("date", "timestamp"):
        when = found.whens[0] if found.whens else None
        if when is None:
            return None
        return when.day if spec.kind == "date" else datetime.combine(when.day, fill.time_of(found), now.tzinfo)
    if spec.kind == "enum":
        return next((choice for choice in spec.choices if fill.says(stems(text), choice)), None)
    if spec.kind == "boolean":
        low = fold(text)
        return True if low in ("true", "yes", "done", "on") else False if low in ("false", "no", "off") else None
    if spec.kind == "list":
        return texts.listed(text)
    return re.sub(r"(?i)^(?:the|a|an)\s+(?=\p{Ll})", "", text) if spec.kind == "text" else None


# --- which record -----------------------------------------------------------------------------------------------------


def _match(
    about: str,
    schema: Schema,
    now: datetime,
    *,
    deleting: bool,
    changing: Sequence[str] = (),
    ignore: RecordField | None = None,
) -> Match:
    counted = _COUNT.search(about)
    count: int | None = quantities.number(counted["a"] or counted["b"]) if counted else 1
    plain = (
        about[: counted.start()]
        + re.sub(r"\d+|two|three|four|five|six|seven|eight|nine|ten|couple(?:\s+of)?", "", counted.group(), flags=re.I)
        + about[counted.end() :]
        if counted
        else about
    )
    where = _criteria(plain, schema, now, ignore)
    if ignore is not None:
        where.pop(ignore.name, None)
    recency: Any = (
        "oldest" if _OLDEST.search(about) else "latest" if _SAID_LATEST.search(_without_periods(about)) else None
    )
    if _ALL.search(about) and not recency:
        count = 2 if re.search(r"(?i)\bboth\b", about) else None
    elif recency is None and not where and (not about.strip() or _LATEST.search(about)):
        recency = "latest"
    return Match(where, recency, count)


def _without_periods(about: str) -> str:
    return re.sub(
        r"(?i)\b(?:last|previous)\s+(?:week|weekend|month|year|night|\w+day|january|february|march|april|may|june|july|august|september|october|november|december)\b",
        "",
        about,
    )


def _criteria(about: str, schema: Schema, now: datetime, ignore: RecordField | None = None) -> dict[str, Any]:
    """field → value that the pointed-at record has."""
    words = set(stems(schema.name)) | stem_list("pointing")
    words |= set(stems(ignore.name)) | {"of"} if ignore is not None else set()
    found = spans.find(about, now)
    sentence = phrases.read(about, found)
    chunks = []
    for chunk in sentence.chunks:
        kept = [word for word in chunk.text.split() if not (set(stems(word)) <= words)]
        text = re.sub(r"['’]s$", "", " ".join(kept))
        if chunk.role != "quote" and {fold(word) for word in kept} <= word_list("empty_phrases"):
            continue  # the "my" of "all my expenses"
        if text:
            chunks.append(phrases.Chunk(chunk.role, text, chunk.start, phrases.is_proper(text), chunk.after_measure))
    trimmed = phrases.Sentence("", "", tuple(chunks))
    filled = fill.Filled()
    fill.fill_choices(schema, about, filled)
    fill.fill_dates(schema, about, found, now, filled)
    fill.fill_numbers(schema, about, found, filled)
    texts.fill(schema, about, found, trimmed, filled.data, filled.used)
    left = [
        chunk
        for chunk in chunks
        if not any(isinstance(v, str) and fold(chunk.text) in fold(v) for v in filled.data.values())
    ]
    for chunk in left:
        spec = _any_text(schema, chunk, filled.data)
        if spec is not None:
            filled.data[spec.name] = chunk.text
    return {name: _criterion(value) for name, value in filled.data.items() if not isinstance(value, bool)}


def _criterion(value: Any) -> Any:
    """A day without its midnight, a list of one as its item."""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time(0) else value.isoformat(" ")
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    return value.isoformat() if isinstance(value, date) else value


def _any_text(schema: Schema, chunk: phrases.Chunk, data: dict[str, Any]) -> RecordField | None:
    """The text field that a phrase of no clear role may be the value of: "the MMA payment", "Tuesday's run"."""
    if chunk.role not in ("object", "loose", "quote", "subject", "of"):
        return None
    said = set(stems(chunk.text))
    if (said & set(stems(schema.description)) and not chunk.proper) or {
        s for spec in schema.fields for s in stems(spec.name)
    } >= said:
        return None
    free = [spec for spec in schema.fields if spec.kind == "text" and spec.name not in data]
    roles = ("title", "receiver", "companion", "creator") if chunk.proper else ("thing", "purpose", "title", "place")
    for role in roles:
        for spec in free:
            if role in dict(texts.roles(spec)):
                return spec
    return None


def choose(text: str, schemas: Sequence[Schema], now: datetime, recent: str | None) -> tuple[Schema | None, float, str]:
    """The schema that a correction or deletion is about, how sure, and why not where it isn't clear."""
    about, new, _ = split(text)
    for part in (about, text):
        named = matching.named(part, schemas)
        if len(named) == 1:
            return named[0], 0.9, ""
    found = spans.find(text, now)
    ranked = sorted(zip(matching.scores(text, schemas, found), schemas, strict=True), key=lambda pair: -pair[0])
    if ranked and ranked[0][0] >= 1.2 and (len(ranked) == 1 or ranked[0][0] - ranked[1][0] >= 0.5):
        return ranked[0][1], min(0.85, 0.5 + 0.1 * ranked[0][0]), ""
    if new and re.match(r"(?i)(?:move|put|relocate)\b", text) and not spans.find(new, now).taken:
        placed = [s for s in schemas if any("place" in dict(texts.roles(f)) for f in s.fields if f.kind == "text")]
        if len(placed) == 1:
            return placed[0], 0.6, ""
    last = next((schema for schema in schemas if schema.name == recent), None)
    points_back = re.search(r"(?i)\b(?:that|it|this|last\s+one|last\s+(?:entry|record))\b", about) or not about.strip()
    if last and points_back and (not new or _new_values(about, new, last, now)):
        return last, 0.7, ""
    if points_back and new:
        values = [(schema, _new_values(about, new, schema, now)) for schema in schemas]
        fitting = [schema for schema, found in values if found]
        needed = [schema for schema, found in values if any(schema.get(name).required for name in found)]
        fitting = needed if len(needed) == 1 else fitting
        if len(fitting) == 1:
            return fitting[0], 0.6, ""
    return None, 0.0, "it isn't clear which kind of record is meant: " + ", ".join(schema.name for schema in schemas)
