"""What a person and a program see of a run."""

import csv
import io
import json

import duckdb
import pytest
from rich.console import Console

from recall_sql.errors import InputError
from recall_sql.runner import execute, from_text, render_tables
from recall_sql.runner.output import escaped, shown


def printed(sql, format_="table", width=100):
    with duckdb.connect() as con:
        con.execute("set timezone = 'UTC'")
        out = io.StringIO()
        render_tables(execute(con, from_text(sql)), format_, Console(file=out, width=width))
        return out.getvalue()


def test_data_is_not_markup_and_control_characters_are_spelled_out():
    text = printed(
        "select '[bold]x[/bold]' || chr(27) || '[31m' as \"[red]c\", null as n, 'a' || chr(10) || 'b' as lines"
    )
    assert "[bold]x[/bold]\\x1b[31m" in text and "[red]c" in text and "NULL" in text
    assert "\x1b" not in text
    assert escaped("a\tb\r\u202e\x00\n") == "a\\tb\\r\\u202e\\x00\n"


def test_vectors_are_cut():
    assert "[0, 0.1, … 384]" in printed(
        "select list_transform(range(384), lambda i: (i % 10 / 10)::float)::float[384] as v"
    )
    assert shown([1, 2, 3]) == "[1, 2, 3]"
    assert shown([None, {"a": None, "b": True}]) == "[NULL, {a: NULL, b: true}]"
    assert shown(b"a\x00") == "a\\x00"


def test_long_text_wraps_and_no_rows_is_said():
    assert max(len(line) for line in printed(f"select '{'word ' * 50}' as t", width=40).splitlines()) <= 40
    assert "(no rows)" in printed("select 1 as a where false")
    assert printed("create table t (a int)") == ""


def test_json_of_one_several_and_no_results():
    one = """select 1 as a, null as n, date '2026-01-02' as d, timestamptz '2026-01-02 03:04:05+00' as t, 1.50 as x,
        [1.5::float] as l, {'k': 'é'} as s, 'nan'::double as f, sum(2) as h,
        uuid '00000000-0000-0000-0000-000000000005' as u"""
    assert json.loads(printed(one, "json")) == [
        {"a": 1, "n": None, "d": "2026-01-02", "t": "2026-01-02T03:04:05+00:00", "x": 1.5, "l": [1.5], "s": {"k": "é"},
         "f": "nan", "h": 2, "u": "00000000-0000-0000-0000-000000000005"}
    ]  # fmt: skip
    assert json.loads(printed("select 1 as a; select 2 as b", "json")) == {
        "result 1": [{"a": 1}],
        "result 2": [{"b": 2}],
    }
    assert json.loads(printed("create table t (a int)", "json")) == []


def test_titles_that_repeat():
    with duckdb.connect() as con:
        made = from_text("/* recipe\n*/\n-- result: R\nselect 1 as a;\n-- result: R\nselect 2 as a;")
        out = io.StringIO()
        render_tables(execute(con, made), "json", Console(file=out))
    assert json.loads(out.getvalue()) == {"R": [{"a": 1}], "R (2)": [{"a": 2}]}


def test_csv():
    text = printed("select 'a,\"b\"' || chr(10) || 'c' as t, null as n, [1, 2] as l, true as b", "csv")
    assert list(csv.reader(io.StringIO(text))) == [["t", "n", "l", "b"], ['a,"b"\nc', "", "[1, 2]", "true"]]
    assert printed("select 1 as a; select 2 as b", "csv") == "# result 1\na\n1\n\n# result 2\nb\n2\n"


def test_an_unknown_format():
    with pytest.raises(InputError, match="unknown format yaml; there are table, json and csv"):
        printed("select 1", "yaml")
