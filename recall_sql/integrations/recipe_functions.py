"""Recipes from SQL, for places that speak nothing else: a DuckDB shell on `recall-sql serve`, and dbt.

    from run_recipe('conversation_memory/context', {session_id: 's1', query: 'dinner?'});
    select unnest(recall_compile('conversation_memory/embed'));

Responsible for the two functions and the macro, and for putting them into a database. Not responsible for what a recipe
is (`recall_sql.runner`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from uuid import uuid4

import duckdb
import pyarrow as pa

from recall_sql.errors import InputError
from recall_sql.instance import LIBRARY, Instance
from recall_sql.runner import RunResult, compile_statements, execute, load
from recall_sql.session import instance_of, register

_ROW = "STRUCT(result VARCHAR, row_no BIGINT, row JSON)"
_MACRO = f"""
create or replace macro {LIBRARY}.main.run_recipe(recipe, params := null) as table
select unnest(recall_run(recipe, params), recursive := true)
"""

Column = pa.ChunkedArray


def install(connection: duckdb.DuckDBPyConnection) -> None:
    """Puts recall_run, recall_compile and run_recipe into a database that has recall_sql. Twice is harmless."""
    instance = instance_of(connection)
    known = "from duckdb_functions() where function_name = 'recall_run' and function_type = 'scalar'"
    if connection.execute(known).fetchall():
        return
    for name, work, returns in (("recall_run", _run, f"{_ROW}[]"), ("recall_compile", _compile, "VARCHAR[]")):
        call = _guarded(name, work, instance)
        instance.functions.append(call)  # DuckDB holds a bare pointer
        connection.create_function(
            name, call, None, connection.type(returns), type="arrow", null_handling="special", side_effects=True
        )
    connection.execute(_MACRO).fetchall()


def _guarded(name: str, work: Callable[..., pa.Array], instance: Instance) -> Callable[..., pa.Array]:
    def call(*columns: Column) -> pa.Array:
        try:
            return work(instance, list(_calls(name, columns)))
        except BaseException as error:
            instance.last_error = error
            raise

    return call


def _calls(name: str, columns: Sequence[Column]) -> Iterator[tuple[str | None, dict[str, object]]]:
    """(recipe, parameters) of every row."""
    if not 1 <= len(columns) <= 2:
        raise InputError(f"{name} takes a recipe and a struct of parameters: {name}('NAME', {{session_id: 's1'}})")
    recipes = columns[0].to_pylist()
    given = columns[1].to_pylist() if len(columns) == 2 else [None] * len(recipes)
    for recipe, values in zip(recipes, given, strict=True):
        if not isinstance(recipe, str | None):
            raise InputError(f"{name}: the recipe's name must be VARCHAR, not {columns[0].type}")
        yield recipe, _params(name, values)


def _params(name: str, values: object) -> dict[str, object]:
    """Parameters from a struct, or from the text of a JSON object (which a remote shell has to send)."""
    if isinstance(values, str):
        with suppress(json.JSONDecodeError):
            values = json.loads(values) or {}
    if not isinstance(values, dict | None):
        raise InputError(f"{name}: parameters are a struct, {{session_id: 's1'}}, or JSON, not {values!r}")
    return values or {}


def _run(instance: Instance, calls: list[tuple[str | None, dict[str, object]]]) -> pa.Array:
    """Rows of each recipe's results. It runs on a connection of its own and commits, whatever the caller's does."""
    results = []
    for recipe, values in calls:
        with instance.cursor() as cursor:
            results.append(None if recipe is None else _rows(execute(register(cursor), load(recipe), values)))
    row = pa.struct([("result", pa.string()), ("row_no", pa.int64()), ("row", pa.string())])
    return pa.array(results, pa.list_(row))


def _rows(result: RunResult) -> list[dict[str, object]]:
    rows = []
    for table in result.tables:
        for number, row in enumerate(table.table.to_pylist(), 1):
            text = json.dumps(row, ensure_ascii=False, default=str)
            rows.append({"result": table.title, "row_no": number, "row": text})
    return rows or [{"result": "rows changed", "row_no": 1, "row": json.dumps({"rows_changed": result.rows_changed})}]


def _compile(instance: Instance, calls: list[tuple[str | None, dict[str, object]]]) -> pa.Array:
    """The statements of each recipe, with the values written in. A run of its own: run_id is new every time."""
    compiled = [
        None
        if recipe is None
        else [
            statement.with_literals()
            for statement in compile_statements(
                load(recipe), values, run_id=uuid4(), run_started_at=datetime.now(UTC)
            ).statements
        ]
        for recipe, values in calls
    ]
    return pa.array(compiled, pa.list_(pa.string()))
