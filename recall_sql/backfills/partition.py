"""One partition between the tables and whoever reads it: taken out, worked on, put back, in one transaction.

The rows are temp tables of the connection; what they hold is SQL, in recipes/backfill/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from recall_sql.runner import Recipe, accepted_params, execute, load

# What recipes that read session by session call their tables → where the partition has them
TABLES = {"turns": "temp.part_turns", "threads": "temp.part_threads", "payloads": "temp.part_payloads"}


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All of it or nothing."""
    con.execute("begin transaction").fetchall()
    try:
        yield
        con.execute("commit").fetchall()
    except BaseException:
        _roll_back(con)
        raise


def _roll_back(con: duckdb.DuckDBPyConnection) -> None:
    try:
        con.execute("rollback").fetchall()
    except duckdb.TransactionException:
        return  # DuckDB ended it with the error


def take(con: duckdb.DuckDBPyConnection, staged: Path, number: int) -> None:
    """Makes the temp tables of a partition's sessions."""
    con.execute(
        "create or replace temp table part_sessions as"
        " select distinct agent_id, user_id, session_id from read_parquet($1) where part = $2",
        [str(staged), number],
    ).fetchall()
    execute(con, load("backfill/take"), record=False)


def work(con: duckdb.DuckDBPyConnection, recipes: Sequence[Recipe], values: Mapping[str, object]) -> None:
    """Runs the recipes on the partition alone. values: TABLES among them."""
    for recipe in recipes:
        execute(con, recipe, values_of(recipe, values))


def put_back(con: duckdb.DuckDBPyConnection) -> None:
    """Writes what was found out into the tables, and drops the temp ones."""
    execute(con, load("backfill/settle"), record=False)
    drop(con)


def drop(con: duckdb.DuckDBPyConnection) -> None:
    """Drops the temp tables of a partition."""
    for name in ("sessions", "turns", "turn_ids", "unembedded", "threads", "payloads"):
        con.execute(f"drop table if exists temp.part_{name}").fetchall()


def values_of(recipe: Recipe, values: Mapping[str, object]) -> dict[str, object]:
    """Those that the recipe takes."""
    takes = {param.name for param in accepted_params(recipe)}
    return {name: value for name, value in values.items() if name in takes}


def by_session(recipe: Recipe) -> list[Recipe]:
    """The recipes within a recipe that can be run partition by partition, in order."""
    inner = [found for name in recipe.runs for found in by_session(load(name, recipe.search))]
    return [*inner, recipe] if recipe.partition_by == "session" else inner
