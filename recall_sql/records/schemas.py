"""What a record schema is: a name, a description and typed fields, read from a pydantic model or from JSON Schema.

Responsible for reading definitions, for the DuckDB type of every field and for validating values. Tables are tables.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from recall_sql.errors import InputError

RESERVED = ("id", "user_id", "created_at", "updated_at")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_MONEY = re.compile(
    r"(?i)\b(?:money|dollars?|euros?|usd|eur|price|cost|amount|fee|fare|salary|budget|paid|spent|spend|currency|total|balance|bill)\b"
)
_FORMATS = {"date": "date", "date-time": "timestamp", "time": "time", "decimal": "decimal", "uuid": "text"}
_PLAIN = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
_SQL = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "time": "TIME",
    "json": "JSON",
}
_PYTHON: dict[str, Any] = {
    "text": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "date": date,
    "timestamp": datetime,
    "time": time,
    "decimal": Decimal,
    "json": Any,
}
_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "minLength": "min_length",
    "maxLength": "max_length",
    "pattern": "pattern",
    "minItems": "min_length",
    "maxItems": "max_length",
}


@dataclass(frozen=True)
class RecordField:
    """One field. kind: text, integer, number, decimal, boolean, date, timestamp, time, enum, list, struct or json."""

    name: str
    kind: str
    description: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    item: RecordField | None = None
    parts: tuple[RecordField, ...] = ()
    bounds: tuple[tuple[str, Any], ...] = ()
    digits: tuple[int, int] = (18, 2)

    @property
    def words(self) -> str:
        """Name and description as one text."""
        return f"{self.name.replace('_', ' ')} {self.description}"

    @property
    def is_number(self) -> bool:
        return self.kind in ("integer", "number", "decimal")

    @property
    def is_money(self) -> bool:
        return self.kind in ("integer", "number", "decimal") and bool(_MONEY.search(self.words))

    @cached_property
    def sql_type(self) -> str:
        """The DuckDB type: DECIMAL for exact numbers, ENUM for choices, lists and structs as they are."""
        if self.kind == "decimal":
            return f"DECIMAL({self.digits[0]},{self.digits[1]})"
        if self.kind == "enum":
            return "ENUM(" + ", ".join("'" + choice.replace("'", "''") + "'" for choice in self.choices) + ")"
        if self.kind == "list" and self.item:
            return f"{self.item.sql_type}[]"
        if self.kind == "struct":
            return "STRUCT(" + ", ".join(f'"{part.name}" {part.sql_type}' for part in self.parts) + ")"
        return _SQL[self.kind]

    @cached_property
    def structure(self) -> Any:
        """The type in the notation of DuckDB's from_json."""
        if self.kind == "list" and self.item:
            return [self.item.structure]
        if self.kind == "struct":
            return {part.name: part.structure for part in self.parts}
        return "VARCHAR" if self.kind == "enum" else self.sql_type

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Checks and converts one value."""
        return TypeAdapter(_annotation(self))


def _annotation(spec: RecordField) -> Any:
    if spec.kind == "enum":
        kind: Any = Literal[spec.choices]
    elif spec.kind == "list" and spec.item:
        kind = list[_annotation(spec.item)]
    elif spec.kind == "struct":
        kind = dict[str, Any]
    else:
        kind = _PYTHON[spec.kind]
    bounds: dict[str, Any] = dict(spec.bounds)
    if spec.kind == "decimal":
        bounds |= {"max_digits": spec.digits[0]}
    if spec.kind in ("number", "decimal"):
        bounds |= {"allow_inf_nan": False}
    return Annotated[kind, Field(**bounds)] if bounds else kind


class _Definition(BaseModel):
    """The file of `recall-sql schema add`."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    name: str
    description: str = ""
    definition: dict[str, Any] = Field(alias="schema")


@dataclass(frozen=True)
class Schema:
    """A kind of record. model: the pydantic class it came from, if it did, whose own validators count too."""

    name: str
    description: str
    fields: tuple[RecordField, ...]
    definition: dict[str, Any] = field(default_factory=dict, compare=False, hash=False)
    model: type[BaseModel] | None = field(default=None, compare=False, hash=False)

    @property
    def required(self) -> tuple[RecordField, ...]:
        return tuple(spec for spec in self.fields if spec.required)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.fields)

    def get(self, name: str) -> RecordField:
        """A field by name. InputError if there is none."""
        found = next((spec for spec in self.fields if spec.name == name), None)
        if found is None:
            raise InputError(f"{self.name} has no field '{name}'; it has {', '.join(self.names)}")
        return found

    @cached_property
    def structure(self) -> str:
        """All fields in the notation of DuckDB's from_json."""
        return json.dumps({spec.name: spec.structure for spec in self.fields})

    def as_json(self) -> str:
        """The definition as it is stored in recall_schemas."""
        return json.dumps(
            {"name": self.name, "description": self.description, "schema": self.definition}, ensure_ascii=False
        )

    def validate(self, data: Mapping[str, Any], *, partial: bool = False) -> dict[str, Any]:
        """`data` with every value in its type. partial: for an update, where missing fields stay as they are.

        Raises InputError that lists everything wrong with it.
        """
        problems = [f"{self.name} has no field '{name}'" for name in data if name not in self.names]
        clean: dict[str, Any] = {}
        for spec in self.fields:
            if data.get(spec.name) is None:
                if spec.required and (not partial or spec.name in data):
                    problems.append(f"required field '{spec.name}' is missing")
                elif spec.name in data:
                    clean[spec.name] = None
                continue
            try:
                clean[spec.name] = _converted(spec, data[spec.name])
            except ValidationError as error:
                first = error.errors()[0]
                problems.append(f"field '{spec.name}': {first['msg'].lower()}, not {_short(data[spec.name])}")
        if not problems and self.model and not partial:
            problems += _by_model(self.model, clean)
        if problems:
            raise InputError("; ".join(problems))
        return clean


def _converted(spec: RecordField, value: Any) -> Any:
    if spec.kind == "enum" and isinstance(value, str):
        value = next((choice for choice in spec.choices if choice.lower() == value.strip().lower()), value)
    if spec.kind == "text":
        value = str(value) if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else value
        value = value.replace("\x00", "").strip() if isinstance(value, str) else value
        if value == "" and spec.required:
            value = None
    if spec.kind == "decimal" and isinstance(value, float):
        value = str(value)
    converted = spec.adapter.validate_python(value)
    if spec.kind == "decimal":
        return converted.quantize(Decimal(1).scaleb(-spec.digits[1]))
    if spec.kind == "timestamp" and converted.tzinfo is None:
        return converted.replace(tzinfo=UTC)
    return converted


def _by_model(model: type[BaseModel], clean: dict[str, Any]) -> list[str]:
    try:
        model.model_validate(clean)
    except ValidationError as error:
        return [f"field '{'.'.join(map(str, e['loc'])) or '(all)'}': {e['msg']}" for e in error.errors()]
    return []


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


# --- reading definitions ----------------------------------------------------------------------------------------------


def from_model(name: str, description: str, model: type[BaseModel]) -> Schema:
    """A schema from a pydantic class."""
    definition = model.model_json_schema()
    return read(name, description or (model.__doc__ or "").strip(), definition, model)


def from_json(text: str) -> Schema:
    """A schema from the JSON of a file: {name, description, schema}, or a JSON Schema with title and description."""
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"a schema must be JSON: {error}") from None
    if not isinstance(given, dict):
        raise InputError("a schema must be a JSON object with name, description and schema")
    if "properties" in given and "schema" not in given:
        given = {
            "name": given.get("name") or given.get("title") or "",
            "description": given.get("description") or "",
            "schema": given,
        }
    try:
        parsed = _Definition.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"schema definition: {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from None
    return read(parsed.name, parsed.description, parsed.definition)


def read(name: str, description: str, definition: Mapping[str, Any], model: type[BaseModel] | None = None) -> Schema:
    """A schema from JSON Schema. InputError names what can't be a column."""
    _check_name("schema", name)
    if not description.strip():
        raise InputError(f"schema '{name}' needs a description: it tells which messages are meant")
    properties = definition.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise InputError(f"schema '{name}' has no properties")
    required = set(definition.get("required") or ())
    unknown = required - set(properties)
    if unknown:
        raise InputError(f"schema '{name}' requires '{min(unknown)}', which isn't among its properties")
    fields = []
    for key, spec in properties.items():
        _check_name("field", key)
        if key.lower() in RESERVED:
            raise InputError(f"schema '{name}': every record has a column '{key}' already; call the field otherwise")
        fields.append(_field(key, spec, definition.get("$defs") or {}, key in required))
    if len({spec.name.lower() for spec in fields}) != len(fields):
        raise InputError(f"schema '{name}': field names must differ in more than case")
    return Schema(name, description.strip(), tuple(fields), dict(definition), model)


def _check_name(what: str, name: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"'{name}' can't be the name of a {what}: letters, digits and _ only, at most 63")


def _field(name: str, spec: Any, defs: Mapping[str, Any], required: bool) -> RecordField:
    spec = _resolved(name, spec, defs)
    description = str(spec.get("description") or "")
    shown = {"name": name, "description": description, "required": required}
    bounds = tuple((_BOUNDS[key], spec[key]) for key in _BOUNDS if isinstance(spec.get(key), int | float | str))
    if spec.get("enum") or "const" in spec:
        choices = spec.get("enum") or [spec["const"]]
        return RecordField(kind="enum", choices=tuple(str(c) for c in choices if c is not None), **shown)
    kind = spec.get("type")
    if kind == "array":
        item = _field(name, spec.get("items") or {"type": "string"}, defs, True)
        return RecordField(kind="list", item=item, bounds=bounds, **shown)
    if kind == "object":
        parts = spec.get("properties") or {}
        inner = tuple(_field(key, part, defs, False) for key, part in parts.items())
        return RecordField(kind="struct" if inner else "json", parts=inner, **shown)
    if kind in ("string", "number") and spec.get("format") in _FORMATS:
        kind = _FORMATS[spec["format"]]
        bounds = tuple(
            bound for bound in bounds if kind not in ("date", "time", "timestamp") or bound[0] in ("ge", "le")
        )
    elif kind in _PLAIN:
        kind = _PLAIN[kind]
    else:
        raise InputError(f"field '{name}': no DuckDB type for {_short(dict(spec))}")
    if kind == "number" and spec.get("multipleOf") == 0.01:
        kind = "decimal"
    money = bool(_MONEY.search(f"{name.replace('_', ' ')} {description}"))
    return RecordField(kind=kind, bounds=bounds, digits=(18, 2) if money else (18, 4), **shown)


def _resolved(name: str, spec: Any, defs: Mapping[str, Any]) -> dict[str, Any]:
    """Without $ref, without "or null"; pydantic's Decimal (number or pattern) as {number, decimal}."""
    if not isinstance(spec, Mapping):
        raise InputError(f"field '{name}': its definition must be an object")
    if "$ref" in spec:
        target = defs.get(str(spec["$ref"]).rsplit("/", 1)[-1])
        if target is None:
            raise InputError(f"field '{name}': {spec['$ref']} isn't defined")
        return _resolved(name, {**target, **{k: v for k, v in spec.items() if k != "$ref"}}, defs)
    if isinstance(spec.get("type"), list):
        kinds = [kind for kind in spec["type"] if kind != "null"]
        return _resolved(name, {**spec, "type": kinds[0] if len(kinds) == 1 else kinds or "string"}, defs)
    given = spec.get("anyOf") or spec.get("oneOf") or spec.get("allOf") or ()
    options = [option for option in given if option != {"type": "null"}]
    if not options:
        return dict(spec)
    rest = {k: v for k, v in spec.items() if k not in ("anyOf", "oneOf", "allOf")}
    kinds = {option.get("type") for option in options}
    if kinds == {"number", "string"}:
        number = next(option for option in options if option.get("type") == "number")
        return {**number, **rest, "format": "decimal"}
    if len(options) == 1:
        return _resolved(name, {**options[0], **rest}, defs)
    raise InputError(f"field '{name}' may be one of several types; a column has one")
