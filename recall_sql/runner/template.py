"""Renders Jinja so that values never become text.

Every `{{ expression }}` leaves a mark in the text and its value in a `Binder`; only names from the filter `ident` and
the text of macros and blocks stay text. Static text carries marks of the line it came from. `statements.py` reads them.

The marks begin with NUL, which no recipe file may hold, and a word drawn anew by every process, so no value can
imitate one.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import date, time, timedelta
from decimal import Decimal
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from uuid import UUID

from jinja2 import (
    Environment,
    FunctionLoader,
    StrictUndefined,
    Template,
    TemplateRuntimeError,
    TemplateSyntaxError,
    pass_context,
)
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import BlockReference, Context, Macro, Undefined

from recall_sql.errors import InputError
from recall_sql.runner.recipe import read, without_front_matter

_NONCE = str(secrets.randbelow(10**9))  # digits, so that a filter like `upper` can't hide a mark
MARK = re.compile(rf"\x00{_NONCE}([LVI]):([^\0]*)\0")
_NAME_PART = re.compile(r'"((?:[^"]|"")+)"(?=\.|$)|([^.]+)')
_NAME = re.compile(rf"(?:{_NAME_PART.pattern})(?:\.(?:{_NAME_PART.pattern}))*")
_BINDABLE = (bool, int, float, str, bytes, date, time, timedelta, Decimal, UUID)

_binder: ContextVar[Binder] = ContextVar("binder")


class Binder:
    """The values of one rendering, by the names of their placeholders."""

    def __init__(self) -> None:
        self.values: dict[str, object] = {}

    def name(self, hint: str, value: object) -> str:
        """A placeholder for `value`: `hint`, or `hint_2` and so on when that holds another value."""
        number, name = 1, hint
        while name in self.values and not _same(self.values[name], value):
            number += 1
            name = f"{hint}_{number}"
        self.values[name] = value
        return name


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and not isinstance(a, list | dict | tuple) and a == b)


class SqlText(str):
    """Text that is SQL already: what a macro or block of a recipe rendered. Anything done to it gives a plain str."""


class SqlName(str):
    """A quoted name from the filter `ident`."""


class _Output(str):
    """What `bind` returns; `finalize` lets nothing else into the text."""


def render(body: str, search: Sequence[Path], variables: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """The text with its marks, and the values by placeholder. Raises Jinja's own errors."""
    binder = Binder()
    token = _binder.set(binder)
    try:
        text = _template(body, tuple(search)).render(variables)
    finally:
        _binder.reset(token)
    return text, binder.values


def line_mark(line: int, template: str | None) -> str:
    """Marks the text after it as coming from a line of a file; no template means the recipe itself."""
    return f"\0{_NONCE}L:{line}:{template or ''}\0"


@lru_cache(maxsize=64)
def _template(body: str, search: tuple[Path, ...]) -> Template:
    return _environment(search).from_string(body)


@lru_cache(maxsize=16)
def _environment(search: tuple[Path, ...]) -> Environment:
    environment = Environment(
        loader=FunctionLoader(lambda name: _source(name, search)),
        undefined=StrictUndefined,
        extensions=[_BindEverything],
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.context_class = _Context
    environment.filters.update(bind=_bind, ident=ident, count=count, tojson=_tojson)
    return environment


def _source(name: str, search: Sequence[Path]) -> tuple[str, str, Any] | None:
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    for folder in search:
        path = folder / name
        if path.is_file():
            return without_front_matter(read(path))[0], str(path), partial(_unchanged, path, path.stat().st_mtime_ns)
    return None


def _unchanged(path: Path, since: int) -> bool:
    return path.is_file() and path.stat().st_mtime_ns == since


class _BindEverything(Extension):
    """Rewrites `{{ expression }}` to `{{ (expression) | bind('hint') }}` and marks the lines of static text."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        expression: list[Token] | None = None
        previous = ""
        for token in stream:
            if previous == "block_begin" and token.value in ("filter", "print"):
                message = f"{{% {token.value} %}} isn't available in recipes"
                raise TemplateSyntaxError(message, token.lineno, stream.name)
            if token.type == "data":
                yield Token(token.lineno, "data", _with_lines(token.value, token.lineno, stream.name))
            elif token.type == "variable_begin":
                expression = []
                yield token
            elif token.type == "variable_end" and expression is not None:
                yield from _bound(expression, token.lineno)
                expression = None
                yield token
            elif expression is not None:
                expression.append(token)
            else:
                yield token
            previous = token.type


def _bound(expression: list[Token], line: int) -> Iterator[Token]:
    if not expression:
        return
    yield Token(expression[0].lineno, "lparen", "(")
    yield from expression
    for kind, value in (("rparen", ")"), ("pipe", "|"), ("name", "bind"), ("lparen", "(")):
        yield Token(line, kind, value)
    yield Token(line, "string", _hint(expression))
    yield Token(line, "rparen", ")")


def _hint(expression: list[Token]) -> str:
    """A readable placeholder name: that of the variable, if the expression is one; else v."""
    if not all(token.type in ("name", "dot") for token in expression):
        return "v"
    name = "_".join(token.value for token in expression if token.type == "name").lower()
    return name if name.isascii() and not name.startswith("_") else "v"


def _with_lines(text: str, line: int, template: str | None) -> str:
    marked = [line_mark(line + i, template) + part for i, part in enumerate(text.split("\n"))]
    return "\n".join(marked)


class _Context(Context):
    """Calls as usual, but what a macro or block rendered is known to be SQL."""

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        rendered = isinstance(function, Macro | BlockReference)
        if "caller" in kwargs and not rendered:
            raise TemplateRuntimeError("{% call %} needs a macro")
        result = super().call(function, *args, **kwargs)
        return SqlText(result) if rendered and isinstance(result, str) else result


@pass_context  # so that constants aren't folded into the text when the template is compiled
def _bind(context: Context, value: object, hint: str) -> str:
    if isinstance(value, SqlText):
        return _Output(value)
    if isinstance(value, SqlName):
        return _Output(f"\0{_NONCE}I:\0{value}")
    name = _binder.get().name(hint, _plain(value))
    return _Output(f"\0{_NONCE}V:{name}\0${name}")


@pass_context
def _finalize(context: Context, value: object) -> object:
    if not isinstance(value, _Output):
        raise TemplateRuntimeError("only {{ … }} may put something into a recipe")
    return value


def _plain(value: Any) -> object:
    """The value as DuckDB can bind it. Raises TemplateRuntimeError for what is no value."""
    if isinstance(value, Undefined):
        str(value)  # StrictUndefined raises here, with the name in its message
    if isinstance(value, str):
        if MARK.search(value):
            raise TemplateRuntimeError("SQL text from {% set %} or a filter can't be placed; make it a macro")
        return str(value)
    if value is None or isinstance(value, _BINDABLE):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return value.tolist()
    if isinstance(value, list | tuple | range | Iterator):
        return [_plain(item) for item in value]
    raise TemplateRuntimeError(f"a {type(value).__name__} is not a value that SQL knows")


def ident(value: object) -> SqlName:
    """The filter for names of tables and columns: `a.b` becomes `"a"."b"`; a part may come quoted already."""
    if isinstance(value, Undefined):
        str(value)  # raises
    if not isinstance(value, str):
        raise InputError(f"ident needs the name of a table or column, not {value!r}")
    parts = [(quoted or plain).replace('""', '"' if quoted else '""') for quoted, plain in _NAME_PART.findall(value)]
    if "\0" in value or not _NAME.fullmatch(value) or not all(part.strip() for part in parts):
        raise InputError(f"{value!r} is not the name of a table or column")
    return SqlName(".".join('"' + part.replace('"', '""') + '"' for part in parts))


def count(value: object) -> SqlName:
    """The filter for a whole number where SQL takes no parameter, as the length in a type: `FLOAT[{{ n | count }}]`."""
    if isinstance(value, Undefined):
        str(value)  # raises
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"count needs a whole number, not {value!r}")
    return SqlName(value)


def _tojson(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
