"""A recipe's parameters: how they are declared, and how a given value becomes the value that is bound.

Values from a command line are strings and are read by the declared type; values from Python must already have it.
Knows nothing about SQL.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from recall_sql.errors import InputError

RESERVED = ("run_id", "run_started_at")

ParamType = Literal["text", "int", "float", "bool", "timestamp", "date", "json", "ident", "choice", "list"]


class Param(BaseModel):
    """One declared parameter. Without `default` it must be given; with `default: null` it may be NULL."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    type: ParamType
    default: Any = None
    help: str = ""
    min: float | None = None
    max: float | None = None
    choices: tuple[str, ...] = ()
    secret: bool = False

    @model_validator(mode="after")
    def _declared_sensibly(self) -> Param:
        if self.name in RESERVED:
            raise ValueError(f"{self.name} is always defined and can't be a parameter")
        if not (self.name.isidentifier() and self.name.isascii() and self.name == self.name.lower()):
            raise ValueError("a parameter's name is lower-case letters, digits and _, and doesn't begin with a digit")
        if (self.type == "choice") != bool(self.choices):
            raise ValueError("`choices` belongs to a parameter of type choice, and must not be empty there")
        if (self.min is not None or self.max is not None) and self.type not in ("int", "float"):
            raise ValueError("`min` and `max` belong to parameters of type int or float")
        if not self.required and self.default is not None:
            coerce(self, self.default)
        return self

    @property
    def required(self) -> bool:
        """Whether a run must give it."""
        return "default" not in self.model_fields_set

    @property
    def nullable(self) -> bool:
        """Whether NULL is one of its values."""
        return not self.required and self.default is None


def check_names(names: Iterable[str], params: Sequence[Param], recipe: str) -> None:
    """Refuses a name that no parameter has."""
    known = [param.name for param in params]
    for name in names:
        if name in known:
            continue
        close = get_close_matches(name, known, n=1)
        hint = f"; did you mean {close[0]}?" if close else "."
        raise InputError(f"{recipe} has no parameter {name}{hint} It takes: {', '.join(known) or 'none'}")


def bind(params: Sequence[Param], given: Mapping[str, object], recipe: str) -> dict[str, object]:
    """The value of every parameter: as given, or its default. Raises InputError naming the parameter."""
    values: dict[str, object] = {}
    for param in params:
        if param.name not in given and param.required:
            about = f" ({param.help})" if param.help else ""
            raise InputError(f"{recipe} needs the parameter {param.name}, of type {param.type}{about}")
        try:
            values[param.name] = coerce(param, given.get(param.name, param.default))
        except InputError as error:
            raise InputError(f"{recipe}: {error}") from None
    return values


def coerce(param: Param, value: object) -> object:
    """`value` as the parameter's type, within its bounds; InputError names the parameter, the type and the value."""
    if value is None:
        if param.nullable:
            return None
        raise _refused(param, value, "it can't be NULL")
    if value == "" and param.nullable and param.type != "text":
        return None  # --var as_of= on a command line
    try:
        result = _READERS[param.type](value)
    except (ValueError, TypeError, OverflowError) as error:
        raise _refused(param, value, str(error) if isinstance(error, _Reason) else "") from None
    if param.choices and result not in param.choices:
        raise _out_of_bounds(param, value, f"one of: {', '.join(param.choices)}")
    if param.min is not None and not result >= param.min:
        raise _out_of_bounds(param, value, f"at least {param.min:g}")
    if param.max is not None and not result <= param.max:
        raise _out_of_bounds(param, value, f"at most {param.max:g}")
    return result


class _Reason(ValueError):
    """A ValueError whose text is worth showing."""


def _refused(param: Param, value: object, reason: str) -> InputError:
    shown = "***" if param.secret else repr(value) if len(repr(value)) < 80 else repr(value)[:77] + "…"
    got = f"{type(value).__name__} {shown}" if value is not None else "NULL"
    return InputError(f"parameter {param.name}: expected {param.type}, got {got}" + (f" ({reason})" if reason else ""))


def _out_of_bounds(param: Param, value: object, bound: str) -> InputError:
    return InputError(f"parameter {param.name}: {'***' if param.secret else value} isn't {bound}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _Reason("quote it" if isinstance(value, int | float | date) else "")
    value.encode()  # a lone surrogate can't be stored: UnicodeEncodeError is a ValueError
    return str(value)


def _ident(value: object) -> str:
    text = _text(value)
    if not text.strip() or "\0" in text:
        raise _Reason("a name of a table or column can't be empty or hold NUL")
    return text


def _int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError
    return int(value)


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return float(value)


def _bool(value: object) -> bool:
    if isinstance(value, str):
        return _WORDS[value.strip().lower()] if value.strip().lower() in _WORDS else _bool(None)
    if not isinstance(value, bool):
        raise _Reason("true or false")
    return value


_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _timestamp(value: object) -> datetime:
    if isinstance(value, str):
        return datetime.fromisoformat(value.strip())
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    raise TypeError


def _date(value: object) -> date:
    if isinstance(value, str):
        return date.fromisoformat(value.strip())
    if isinstance(value, datetime) or not isinstance(value, date):
        raise TypeError
    return value


def _json(value: object) -> object:
    """Text is read as JSON; anything else must be what JSON can hold."""
    if isinstance(value, str):
        return json.loads(value, parse_constant=lambda word: math.nan)
    json.dumps(value)
    return value


def _list(value: object) -> list[str]:
    if isinstance(value, str):
        value = json.loads(value) if value.lstrip().startswith("[") else [part.strip() for part in value.split(",")]
    if not isinstance(value, list | tuple):
        raise _Reason("a list of text")
    return [_text(item) for item in value]


_READERS = {
    "text": _text,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "timestamp": _timestamp,
    "date": _date,
    "json": _json,
    "ident": _ident,
    "choice": _text,
    "list": _list,
}
