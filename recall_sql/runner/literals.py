"""A Python value as a SQL literal of the type DuckDB would bind it as.

Used to print what a recipe compiles to; execution binds the values and never comes here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

from recall_sql.errors import InputError


def literal(value: object) -> str:
    """`value` as SQL text that can be pasted into a DuckDB shell.

    >>> literal("o'brien"), literal(None), literal(-5), literal([1, 2]), literal({"a": True})
    ("'o''brien'", 'NULL', '(-5)', '[1, 2]', "{'a': true}")
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return f"({value})" if value < 0 else str(value)  # a bare minus after a minus would open a comment
        case float():
            return _double(value)
        case str():
            return _text(value)
        case bytes():
            return "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::blob"
        case list() | tuple():
            return _list(value)
        case Mapping():
            return _struct(value)
    return _moment(value)


def _double(value: float) -> str:
    if math.isnan(value):
        return "'nan'::double"
    if math.isinf(value):
        return f"'{'-' if value < 0 else ''}infinity'::double"
    return f"({value!r})::double" if value < 0 else f"{value!r}::double"  # a plain 0.1 would be a DECIMAL


def _text(value: str) -> str:
    quoted = "'" + value.replace("'", "''") + "'"
    if "\0" not in value:
        return quoted
    return "(" + quoted.replace("\0", "' || chr(0) || '") + ")"  # DuckDB 1.5 ends a statement at NUL


def _list(value: list | tuple) -> str:
    if value and all(type(item) is float and math.isfinite(item) for item in value):
        return "[" + ", ".join(repr(item) for item in value) + "]::double[]"
    return "[" + ", ".join(literal(item) for item in value) + "]"


def _struct(value: Mapping) -> str:
    if not value:
        return "map {}"
    return "{" + ", ".join(f"{_text(str(key))}: {literal(item)}" for key, item in value.items()) + "}"


def _moment(value: object) -> str:
    match value:
        case datetime():
            return f"{'timestamp' if value.tzinfo is None else 'timestamptz'} '{value.isoformat(' ')}'"
        case date():
            return f"date '{value.isoformat()}'"
        case time():
            return f"time '{value.isoformat()}'"
        case timedelta():
            return f"interval '{value.days} days {value.seconds} seconds {value.microseconds} microseconds'"
        case UUID():
            return f"'{value}'::uuid"
    raise InputError(f"a value of type {type(value).__name__} can't be written as SQL")
