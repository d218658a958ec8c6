"""Parameters: what is accepted as which type, and what the refusal says."""

import math
from datetime import UTC, date, datetime

import pytest
from pydantic import ValidationError

from recall_sql.errors import InputError
from recall_sql.runner.params import Param, bind, check_names, coerce


def param(type_, **more):
    return Param(name="p", type=type_, **more)


@pytest.mark.parametrize(
    ("declared", "given", "value"),
    [
        (param("text"), "", ""),
        (param("text"), "5", "5"),
        (param("int"), "-7", -7),
        (param("int"), 2**70, 2**70),
        (param("float"), "1e3", 1000.0),
        (param("float"), 3, 3.0),
        (param("float"), "inf", math.inf),
        (param("bool"), "Yes", True),
        (param("bool"), "0", False),
        (param("bool"), False, False),
        (param("timestamp"), "2026-01-02", datetime(2026, 1, 2)),
        (param("timestamp"), "2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (param("timestamp"), date(2026, 1, 2), datetime(2026, 1, 2)),
        (param("date"), "2026-01-02", date(2026, 1, 2)),
        (param("json"), '{"a": [1, null]}', {"a": [1, None]}),
        (param("json"), [1, 2], [1, 2]),
        (param("ident"), "my table", "my table"),
        (param("choice", choices=("auto", "user")), "user", "user"),
        (param("list"), "a, b", ["a", "b"]),
        (param("list"), '["a, b", "c"]', ["a, b", "c"]),
        (param("list"), ("x",), ["x"]),
        (param("int", default=None), None, None),
        (param("timestamp", default=None), "", None),
        (param("text", default=None), "", ""),
    ],
)
def test_accepted(declared, given, value):
    result = coerce(declared, given)
    assert result == value and type(result) is type(value)


@pytest.mark.parametrize(
    ("declared", "given", "message"),
    [
        (param("text"), 5, "parameter p: expected text, got int 5 \\(quote it\\)"),
        (param("text"), "\ud83d", "expected text"),
        (param("int"), "five", "expected int, got str 'five'"),
        (param("int"), True, "expected int, got bool True"),
        (param("int"), 1.5, "expected int, got float 1.5"),
        (param("int", min=0), -1, "at least 0"),
        (param("int", max=9), "10", "at most 9"),
        (param("float", min=0), "nan", "at least 0"),
        (param("bool"), "maybe", "true or false"),
        (param("bool"), 1, "true or false"),
        (param("timestamp"), "yesterday", "expected timestamp, got str 'yesterday'"),
        (param("date"), datetime(2026, 1, 2), "expected date"),
        (param("json"), "{", "expected json"),
        (param("json"), {1, 2}, "expected json, got set"),
        (param("ident"), " ", "can't be empty"),
        (param("ident"), "a\0b", "NUL"),
        (param("choice", choices=("a", "b")), "c", "one of: a, b"),
        (param("list"), "[1]", "expected list"),
        (param("list"), '["a"', "expected list"),
        (param("list"), 3, "a list of text"),
        (param("int"), None, "got NULL \\(it can't be NULL\\)"),
        (param("int", secret=True), "hunter2", "got str \\*\\*\\*"),
    ],
)
def test_refused(declared, given, message):
    with pytest.raises(InputError, match=message):
        coerce(declared, given)


@pytest.mark.parametrize(
    "declaration",
    [
        {"name": "run_id", "type": "text"},
        {"name": "Upper", "type": "text"},
        {"name": "a-b", "type": "text"},
        {"name": "p", "type": "varchar"},
        {"name": "p", "type": "choice"},
        {"name": "p", "type": "text", "choices": ["a"]},
        {"name": "p", "type": "text", "min": 1},
        {"name": "p", "type": "int", "default": "x"},
        {"name": "p", "type": "int", "default": 0, "min": 1},
        {"name": "p", "type": "int", "tipe": 1},
    ],
)
def test_declarations_that_make_no_sense(declaration):
    with pytest.raises((ValidationError, InputError)):
        Param(**declaration)


def test_defaults_missing_and_unknown_names():
    params = [param("text"), Param(name="max_turns", type="int", default=2)]
    assert bind(params, {"p": "x"}, "r") == {"p": "x", "max_turns": 2}
    with pytest.raises(InputError, match="r needs the parameter p, of type text"):
        bind(params, {}, "r")
    with pytest.raises(
        InputError, match=r"r has no parameter maxturns; did you mean max_turns\? It takes: p, max_turns"
    ):
        check_names(["maxturns"], params, "r")
    with pytest.raises(InputError, match=r"r has no parameter q\. It takes: none"):
        check_names(["q"], [], "r")
