"""Beliefs where several machines read them: in a DuckLake, or as partitioned Parquet.

    publish(con, "ducklake:beliefs.ducklake", data_path="beliefs/")
    publish(con, "beliefs/")

A DuckLake has its catalog in a DuckDB file or in PostgreSQL and its rows in Parquet; who reads it sees one state or the
next. What is written there is SQL, `recipes/lake/publish.sql`. Plain Parquet needs no extension, and is written whole.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import duckdb

from recall_sql import extensions
from recall_sql.errors import ConfigError, InputError
from recall_sql.runner import RunResult, execute, from_text, load
from recall_sql.session import quoted

LAKE = "recall_lake"
_TABLES = ("chat_facts", "chat_fact_history")
_WRITTEN = """/* recipe
name: lake/parquet
description: What was written as Parquet.
*/
-- result: In the lake
select (select count(*) from chat_facts) as facts, (select count(*) from chat_fact_history) as events;
"""


def publish(con: duckdb.DuckDBPyConnection, target: str, *, data_path: str | None = None) -> RunResult:
    """Brings the beliefs at `target` up to date. target: 'ducklake:…' as ATTACH takes it, or a folder for Parquet.

    data_path: where a new DuckLake keeps its Parquet files. Raises ConfigError where the lake can't be opened.
    """
    if target.startswith("ducklake:"):
        return _into_ducklake(con, target, data_path)
    if data_path is not None:
        raise InputError("--data-path is of a DuckLake: name one as ducklake:CATALOG")
    if "://" in target:
        raise InputError(f"{target}: Parquet is published into a folder of this machine; a DuckLake's may be anywhere")
    return _as_parquet(con, Path(target).expanduser())


def _into_ducklake(con: duckdb.DuckDBPyConnection, target: str, data_path: str | None) -> RunResult:
    extensions.load(con, "ducklake")
    where = f" (data_path {_text(str(data_path))})" if data_path else ""
    try:
        con.execute(f"attach {_text(target)} as {LAKE}{where}").fetchall()
    except duckdb.Error as error:
        raise ConfigError(f"can't open {target}: {' '.join(str(error).split())}") from error
    try:
        tables = {"lake_facts": f"{LAKE}.main.chat_facts", "lake_history": f"{LAKE}.main.chat_fact_history"}
        return execute(con, load("lake/publish"), tables)
    finally:
        con.execute(f"detach {LAKE}").fetchall()


def _as_parquet(con: duckdb.DuckDBPyConnection, folder: Path) -> RunResult:
    """Each table is written beside the one that is there, and then takes its place."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in _TABLES:
        fresh, old, place = folder / f".{table}.new", folder / f".{table}.old", folder / table
        for leftover in (fresh, old):
            shutil.rmtree(leftover, ignore_errors=True)
        con.execute(
            f"copy {quoted(table)} to {_text(str(fresh))}"
            " (format parquet, partition_by (agent_id), write_partition_columns)"
        ).fetchall()
        fresh.mkdir(exist_ok=True)  # there was nothing to write
        if place.exists():
            os.replace(place, old)
        os.replace(fresh, place)
        shutil.rmtree(old, ignore_errors=True)
    return execute(con, from_text(_WRITTEN, "lake/parquet"), record=False)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
