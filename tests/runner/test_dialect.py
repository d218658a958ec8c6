"""Tokens, statements, the VECTOR type, literals."""

import doctest
import math
import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import duckdb
import pytest

from recall_sql.errors import InputError
from recall_sql.runner import dialect, literals
from recall_sql.runner.dialect import split, translate
from recall_sql.runner.literals import literal


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("create table t (a int, v VECTOR(384))", "create table t (a int, v FLOAT[384])"),
        ("create table t (v vector( 3 ), w int)", "create table t (v FLOAT[ 3 ], w int)"),
        ('create table t ("my v" VECTOR(3))', 'create table t ("my v" FLOAT[3])'),
        ("create table t (content VECTOR(3), value VECTOR(3))", "create table t (content FLOAT[3], value FLOAT[3])"),
        (
            "create table t (v VECTOR(3)[], s STRUCT(a VECTOR(2)))",
            "create table t (v FLOAT[3][], s STRUCT(a FLOAT[2]))",
        ),
        ("alter table t add column v VECTOR(3)", "alter table t add column v FLOAT[3]"),
        ("alter table t add column if not exists v VECTOR(3)", "alter table t add column if not exists v FLOAT[3]"),
        ("alter table t add v VECTOR(3)", "alter table t add v FLOAT[3]"),
        ("alter table t alter v type VECTOR(3)", "alter table t alter v type FLOAT[3]"),
        ("alter table t alter column v set data type VECTOR(3)", "alter table t alter column v set data type FLOAT[3]"),
        ("select cast([1,2,3] as VECTOR(3))", "select cast([1,2,3] as FLOAT[3])"),
        ("select try_cast(x AS vector(3))", "select try_cast(x AS FLOAT[3])"),
        ("select [1,2,3]::VECTOR(3)", "select [1,2,3]::FLOAT[3]"),
        ("select '会議🙂'; select x :: VECTOR(3), 'é'", "select '会議🙂'; select x :: FLOAT[3], 'é'"),
    ],
)
def test_vector_as_a_type(sql, expected):
    assert translate(sql) == expected
    assert duckdb.connect().extract_statements(expected)


@pytest.mark.parametrize(
    "sql",
    [
        "select vector(3)",
        "select 1, vector(3)",
        "select a from t where vector(3) = 1",
        "select (vector(3))",
        "select f(a, vector(3))",
        "select f(not vector(3)), case when vector(3) then vector(3) else vector(3) end",
        "select 'x VECTOR(3)', \"VECTOR\"(3) -- (a VECTOR(3)\n /* (a VECTOR(3)) */",
        "select $$ (a VECTOR(3)) $$, e'(a VECTOR(3))'",
        "select vector from t",
        "create macro m() as vector(3)",
        "select * from (from vector(3))",
        "insert into vector values (3)",
        "create table vector (a int)",
        "select 'unfinished (a VECTOR(3)",
        "",
    ],
)
def test_vector_as_anything_else(sql):
    assert translate(sql) == sql


def test_statements_end_at_semicolons_of_code():
    sql = "-- é ; \nselect ';' ; ;; /* ; */ select $$;$$, \";\"; -- end ;\n"
    assert [sql[piece.start : piece.end].strip() for piece in split(sql)] == ["select ';'", 'select $$;$$, ";"']


@pytest.mark.parametrize(
    ("sql", "verb", "rows"),
    [
        ("select 1", "select", True),
        ("(select 1)", "select", True),
        ("from t", "from", True),
        ("with a as (insert into t values (1)) select 1", "select", True),
        ("with a as (select 1) insert into t from a", "insert", False),
        ("with a as (select 1) insert into t from a returning x", "insert", True),
        ("insert into t select returning from u", "insert", True),
        ("update t set a = 1", "update", False),
        ("create table t as select 1", "create", False),
        ("merge into t using u on a = b when matched then delete returning merge_action", "merge", True),
        ("begin", "begin", False),
        ("pragma database_size", "pragma", True),
    ],
)
def test_what_a_statement_does(sql, verb, rows):
    [piece] = split(sql)
    assert (piece.verb, piece.returns_rows) == (verb, rows)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -5,
        2**70,
        0.1,
        -0.5,
        1e-7,
        1e300,
        math.inf,
        -math.inf,
        "",
        "o'brien",
        "a\0b",
        "🙂\n",
        Decimal("-1.50"),
        date(2026, 1, 2),
        datetime(2026, 1, 2, 3, 4, 5, 6),
        datetime(2026, 1, 2, tzinfo=UTC),
        time(1, 2, 3),
        timedelta(days=2, seconds=3, microseconds=4),
        timedelta(seconds=-1),
        UUID(int=5),
        b"\0'\xff",
        [],
        [1, 2],
        [0.5, -1.5],
        ["a", None],
        {"a": 1, "b'": ["x"]},
        [{"a": 1}, {"a": None}],
    ],
    ids=repr,
)
def test_a_literal_is_what_the_value_is_bound_as(value):
    con = duckdb.connect()
    bound = con.execute("select $v, typeof($v)", {"v": value}).fetchall()
    written = con.execute(f"select {literal(value)}, typeof({literal(value)})").fetchall()
    assert written[0][0] == bound[0][0]
    if value not in (2**70,):
        assert written[0][1] == bound[0][1] or isinstance(value, Decimal)


def test_nan_and_minus():
    assert math.isnan(duckdb.sql(f"select {literal(math.nan)}").fetchall()[0][0])
    assert duckdb.sql(f"select 1 -{literal(-1)}, 1 -{literal(-1.0)}").fetchall() == [(2, 2.0)]


def test_no_literal_for_an_object():
    with pytest.raises(InputError, match="type object"):
        literal(object())


@pytest.mark.parametrize("module", [dialect, literals])
def test_examples_in_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed


def test_importing_the_runner_is_light():
    code = (
        "import sys, recall_sql; before = set(sys.modules); import recall_sql.runner;"
        "print(sorted({'jinja2', 'yaml', 'rich', 'pyarrow'} & (set(sys.modules) - before)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.stdout.strip(), run.stderr) == ("[]", "")
