"""Reads the arguments of a SQL function: texts, and options given as a model string or a struct."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from recall_sql.errors import InputError
from recall_sql.functions import catalog

Column = pa.ChunkedArray


class Options(BaseModel):
    """Base of a function's options; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = None
    memo: bool | None = None


T = TypeVar("T", bound=Options)


def texts(function: str, argument: str, column: Column) -> list[str | None]:
    """The column as Python strings. InputError if it isn't text."""
    if pa.types.is_null(column.type):
        return [None] * len(column)
    if not _is_text(column.type):
        raise InputError(f"{function}: {argument} must be VARCHAR, not {column.type}; cast it")
    return column.to_pylist()


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):  # an ENUM
        return _is_text(kind.value_type)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def split(function: str, columns: Sequence[Column], most: int = 2) -> list[Column | None]:
    """The argument columns, padded with None to `most`. InputError if there are none or too many."""
    if not 1 <= len(columns) <= most:
        count = "1 argument" if most == 1 else f"1 to {most} arguments"
        raise InputError(f"{function} takes {count}, not {len(columns)}: {catalog.usage(function)}")
    return [*columns, *[None] * (most - len(columns))]


def options(function: str, kind: type[T], column: Column | None, rows: int) -> list[T]:
    """One options object per row, from a model string or a struct. InputError names an unknown option or bad value."""
    if column is None or pa.types.is_null(column.type):
        return [kind()] * rows
    if _is_text(column.type):
        return _each(column.to_pylist(), lambda model: kind() if model is None else kind(model=model))
    if not pa.types.is_struct(column.type):
        raise InputError(
            f"{function}: the second argument must be a model string or a struct of options, not {column.type}"
        )
    names = [field.name for field in column.type]
    for name in names:
        if name not in kind.model_fields:
            close = difflib.get_close_matches(name, kind.model_fields, 1)
            hint = f"did you mean '{close[0]}'? " if close else ""
            raise InputError(f"{function}: unknown option '{name}'; {hint}options: {', '.join(kind.model_fields)}")
    return _each(column.to_pylist(), lambda given: _option(function, kind, given))


def _option(function: str, kind: type[T], given: dict[str, Any] | None) -> T:
    present = {name: value for name, value in (given or {}).items() if value is not None}
    try:
        return kind(**present)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{function}: option '{name}': {message}, not {first['input']!r}") from None


def _each(values: list[Any], make: Any) -> list[Any]:
    """`make` of every value, made once for equal neighbours (a constant struct arrives once per row)."""
    made: list[Any] = []
    last: Any = made
    for value in values:
        if not made or value != last:
            current, last = make(value), value
        made.append(current)
    return made
