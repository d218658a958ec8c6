"""DETECT_INTENT(message[, opts]): which record a message is about, and what it wants done with it.

With rules it is records/rules; with any other model it is a prompt with a JSON schema. Nothing is written here.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from json_repair import repair_json

from recall_sql.calls import Question
from recall_sql.errors import InputError
from recall_sql.functions import arguments, embed, generate
from recall_sql.functions.arguments import Column
from recall_sql.models import registry
from recall_sql.models.base import Request
from recall_sql.records.intents import ARROW_TYPE, KINDS, Intent, Match
from recall_sql.records.process import moment
from recall_sql.records.schemas import RecordField, Schema, from_json
from recall_sql.records.tables import declare, load_all

if TYPE_CHECKING:
    from recall_sql.instance import Instance

PROMPT_VERSION = "1"
_JSON_TYPES = {"integer": "integer", "number": "number", "decimal": "number", "boolean": "boolean"}
_RECENCY = {"type": ["string", "null"], "enum": ["latest", "oldest", None]}


def answer_schema(schemas: Sequence[Schema]) -> dict[str, Any]:
    """JSON Schema of a model's answer: one of these kinds of record, and only fields that they have."""
    objects = [_object({spec.name: _of_field(spec) for spec in schema.fields}) for schema in schemas]
    fields = {"anyOf": [*objects, {"type": "null"}]}
    match = _object(
        {"where": {"anyOf": objects or [_object({})]}, "recency": _RECENCY, "count": {"type": ["integer", "null"]}}
    )
    properties = {
        "schema": {"type": ["string", "null"], "enum": [*(schema.name for schema in schemas), None]},
        "intent": {"type": "string", "enum": list(KINDS)},
        "confidence": {"type": "number"},
        "data": fields,
        "match": {"anyOf": [match, {"type": "null"}]},
        "updates": fields,
        "reason": {"type": "string"},
    }
    return {**_object(properties), "required": list(properties)}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _of_field(spec: RecordField) -> dict[str, Any]:
    if spec.kind == "enum":
        return {"type": "string", "enum": list(spec.choices)}
    if spec.kind == "list" and spec.item:
        return {"type": "array", "items": _of_field(spec.item)}
    if spec.kind == "struct":
        return _object({part.name: _of_field(part) for part in spec.parts})
    return {"type": "object"} if spec.kind == "json" else {"type": _JSON_TYPES.get(spec.kind, "string")}


class IntentOptions(arguments.Options):
    """schemas: names, or definitions as JSON; all that are declared, if not given. recent: the schema of the user's
    last record, which "change that" is about. now: the moment of the message; the clock, if not given."""

    schemas: tuple[str, ...] | str | None = None
    user: str | None = None
    now: datetime | None = None
    timezone: str | None = None
    recent: str | None = None
    on_error: Literal["fail", "null"] | None = None


@dataclass(frozen=True)
class _Asked:
    text: str
    schemas: tuple[Schema, ...]
    now: datetime
    option: IntentOptions


def run(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """One intent per row; NULL for NULL."""
    column, opts = arguments.split("DETECT_INTENT", columns)
    texts = arguments.texts("DETECT_INTENT", "message", column)
    options = arguments.options("DETECT_INTENT", IntentOptions, opts, len(texts))
    known = {schema.name: schema for schema in _declared(instance, options)}
    asked = [
        None if text is None else _Asked(text, _schemas(option, known), moment(option.now, option.timezone), option)
        for text, option in zip(texts, options, strict=True)
    ]
    return pa.array(
        [None if intent is None else intent.as_row() for intent in _detect_all(instance, asked)], ARROW_TYPE
    )


def detect(
    instance: Instance,
    message: str,
    schemas: Sequence[Schema],
    now: datetime,
    *,
    model: str | None = None,
    recent: str | None = None,
) -> Intent:
    """The same for one message, from Python."""
    option = IntentOptions(model=model, recent=recent)
    found = _detect_all(instance, [_Asked(message, tuple(schemas), now, option)])[0]
    return found if found is not None else Intent(False, "none", reason="the model gave no answer")


def _declared(instance: Instance, options: Sequence[IntentOptions]) -> list[Schema]:
    needed = any(o.schemas is None or any(not s.lstrip().startswith("{") for s in _listed(o.schemas)) for o in options)
    if not needed:
        return []
    with instance.cursor() as cursor:
        return load_all(cursor)


def _listed(schemas: tuple[str, ...] | str) -> tuple[str, ...]:
    return (schemas,) if isinstance(schemas, str) else schemas


def _schemas(option: IntentOptions, known: dict[str, Schema]) -> tuple[Schema, ...]:
    if option.schemas is None:
        return tuple(known.values())
    found = []
    for given in _listed(option.schemas):
        if given.lstrip().startswith("{"):
            found.append(_definition(given))
        elif given in known:
            found.append(known[given])
        else:
            raise InputError(f"no schema '{given}' is declared; there are: {', '.join(known) or 'none'}")
    return tuple(found)


@lru_cache(maxsize=256)
def _definition(text: str) -> Schema:
    return from_json(text)


def _detect_all(instance: Instance, asked: Sequence[_Asked | None]) -> list[Intent | None]:
    found: list[Intent | None] = [None] * len(asked)
    by_model: dict[tuple[str, str | None, bool | None], list[int]] = {}
    for row, one in enumerate(asked):
        if one is None:
            continue
        model = one.option.model or instance.settings.extractor
        by_model.setdefault((model, one.option.on_error, one.option.memo), []).append(row)
    for (model, _, _), rows in by_model.items():
        inputs = [one for row in rows if (one := asked[row]) is not None]
        if model == "rules":
            for row, intent in zip(rows, _by_rules(instance, inputs), strict=True):
                found[row] = intent
            continue
        questions = [_question(instance, one) for one in inputs]
        answers = generate.ask(instance, "DETECT_INTENT", questions, model, inputs[0].option)
        for row, one, text in zip(rows, inputs, answers, strict=True):
            found[row] = None if text is None else read_answer(text, one.schemas)
    return found


# --- rules ------------------------------------------------------------------------------------------------------------


def _by_rules(instance: Instance, asked: Sequence[_Asked]) -> list[Intent]:
    """What the rules make of each message. Those that share no word with any schema are embedded together."""
    from recall_sql.records.rules.detect import detect as by_rules

    unclear: list[int] = []
    found: list[Intent] = []
    for number, one in enumerate(asked):
        noted = partial(_note, unclear, number)
        found.append(by_rules(one.text, one.schemas, one.now, recent=one.option.recent, similarity=noted))
    if unclear and _local_embedder(instance.settings.embedder):
        alike = _likeness(instance, [asked[number] for number in unclear])
        for number in unclear:
            one = asked[number]
            found[number] = by_rules(one.text, one.schemas, one.now, recent=one.option.recent, similarity=alike)
    return found


def _note(unclear: list[int], number: int, text: str, schemas: Sequence[Schema]) -> None:
    unclear.append(number)


def _likeness(instance: Instance, asked: Sequence[_Asked]) -> Callable[[str, Sequence[Schema]], list[float]]:
    """Cosine of message and description, over vectors that are made in one go."""
    texts = list(dict.fromkeys(text for one in asked for text in (_clean(one.text), *map(_described, one.schemas))))
    vectors = embed.vectors(instance, texts, [arguments.Options()] * len(texts)).to_pylist()
    place = dict(zip(texts, vectors, strict=True))

    def alike(text: str, schemas: Sequence[Schema]) -> list[float]:
        own = place[_clean(text)]
        return [sum(a * b for a, b in zip(own, place[_described(schema)], strict=True)) for schema in schemas]

    return alike


def _clean(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("\x00", "")).strip()


def _described(schema: Schema) -> str:
    return f"{schema.name.replace('_', ' ')}: {schema.description}"


@cache
def _local_embedder(name: str) -> bool:
    return registry.parse(name).provider == "minilm" and any(
        row["name"] == "minilm" and row["ready"] for row in registry.available()
    )


# --- models -----------------------------------------------------------------------------------------------------------


def _question(instance: Instance, asked: _Asked) -> Question:
    prompt = template("intent_user.jinja").render(
        text=asked.text, schemas=asked.schemas, now=asked.now, recent=asked.option.recent
    )
    system = template("intent_system.jinja").render()
    request = Request(
        prompt=prompt,
        system=system,
        temperature=0.0,
        max_tokens=instance.settings.max_tokens,
        json_schema=answer_schema(asked.schemas),
    )
    return Question(request, asked.text, PROMPT_VERSION, check=partial(_check, asked.schemas))


def _check(schemas: tuple[Schema, ...], answer: str) -> None:
    try:
        read_answer(answer, schemas)
    except InputError as error:
        raise InputError(f"isn't an intent: {error}") from None


def read_answer(answer: str, schemas: Sequence[Schema]) -> Intent:
    """A model's answer as an intent, checked against the schema it names. InputError where it is none."""
    given = repair_json(answer.rsplit("</think>", 1)[-1], return_objects=True)
    if not isinstance(given, dict) or given.get("intent") not in KINDS:
        raise InputError("no object with an intent in it")
    kind, confidence = given["intent"], given.get("confidence")
    sure = min(1.0, max(0.0, float(confidence))) if isinstance(confidence, int | float) else 0.5
    reason = str(given.get("reason") or "")
    schema = next((schema for schema in schemas if schema.name == given.get("schema")), None)
    if kind == "none" or schema is None:
        why = reason or f"there is no schema '{given.get('schema')}'"
        return Intent(False, "none", confidence=sure, reason=why)
    match = _match(given.get("match"), schema)
    if kind in ("update", "delete") and match is None:
        return Intent(False, kind, schema.name, sure, reason="the model didn't say which record")
    try:
        data = schema.validate(_known(given.get("data"), schema)) if kind == "insert" else None
        updates = schema.validate(_known(given.get("updates"), schema), partial=True) if kind == "update" else None
    except InputError as error:
        return Intent(False, kind, schema.name, sure, reason=str(error))
    if kind == "update" and not updates:
        return Intent(False, kind, schema.name, sure, match=match, reason="the model didn't say what shall change")
    return Intent(True, kind, schema.name, sure, data, match, updates, reason)


def _known(given: Any, schema: Schema) -> dict[str, Any]:
    values = given if isinstance(given, dict) else {}
    return {name: value for name, value in values.items() if name in schema.names and value is not None}


def _match(given: Any, schema: Schema) -> Match | None:
    if not isinstance(given, dict):
        return None
    where = _known(given.get("where"), schema)
    recency = given.get("recency") if given.get("recency") in ("latest", "oldest") else None
    count = given.get("count", 1)
    if not where and recency is None and count == 1:
        return None
    return Match(where, recency, count if isinstance(count, int) and count > 0 else None)


@cache
def template(name: str) -> Any:
    """A prompt of recall_sql/prompts."""
    from jinja2 import Environment, StrictUndefined

    source = resources.files("recall_sql").joinpath("prompts", name).read_text("utf-8")
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False, default=str)
    return environment.from_string(source)


def add_schema(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """recall_add_schema(definition): declares a kind of record; says what was done to its table."""
    definitions = arguments.texts("recall_add_schema", "definition", columns[0])
    done = []
    with instance.cursor() as cursor:
        for definition in definitions:
            schema = None if definition is None else from_json(definition)
            done.append(None if schema is None else f"{schema.name} {declare(cursor, schema)}")
    return pa.array(done, pa.string())


class AskOptions(arguments.Options):
    """user: whose records. schemas: names; all that are declared, if not given."""

    user: str | None = None
    schemas: tuple[str, ...] | None = None
    now: datetime | None = None
    timezone: str | None = None


_ASKED = pa.struct([(name, pa.string()) for name in ("sql", "result", "explanation", "error")])


def ask(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """recall_ask(question, {user}): the SQL, the result as JSON, an explanation, or an error. NULL for NULL."""
    from recall_sql.records import ask as asking
    from recall_sql.records.intents import as_json
    from recall_sql.records.store import check_user

    column, opts = arguments.split("recall_ask", columns)
    texts = arguments.texts("recall_ask", "question", column)
    options = arguments.options("recall_ask", AskOptions, opts, len(texts))
    rows: list[dict[str, Any] | None] = []
    with instance.cursor() as cursor:
        known = {schema.name: schema for schema in load_all(cursor)}
        for text, option in zip(texts, options, strict=True):
            if text is None:
                rows.append(None)
                continue
            schemas = _schemas(IntentOptions(schemas=option.schemas), known)
            model = option.model or instance.settings.extractor
            at = moment(option.now, option.timezone)
            found = asking.ask(cursor, instance, text, schemas, check_user(option.user), at, model=model)
            result = json.loads(as_json({"result": found["result"]}) or "{}")["result"]
            shown = None if "error" in found else json.dumps(result, ensure_ascii=False)
            rows.append(
                {"sql": found["sql"], "result": shown, "explanation": found["explanation"], "error": found.get("error")}
            )
    return pa.array(rows, _ASKED)
