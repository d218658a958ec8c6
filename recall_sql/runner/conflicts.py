"""Runs a recipe again when another connection changed the same rows meanwhile.

DuckDB refuses the second of two transactions that write the same row; its work is undone, so it can simply be done
again. Retries within the process wait for each other, so that each of them gets its turn, and so do short writes at
their first try; long runs (which may call models) try once without waiting.
"""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

import duckdb

from recall_sql.errors import RecipeError
from recall_sql.runner.execute import Progress, RunResult, execute, in_transaction
from recall_sql.runner.recipe import Recipe

T = TypeVar("T")
PATIENCE = 60.0  # seconds
_turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


def execute_retrying(
    con: duckdb.DuckDBPyConnection,
    recipe: Recipe,
    values: Mapping[str, object] | None = None,
    *,
    on_progress: Progress | None = None,
    short: bool = False,
    patience: float = PATIENCE,
) -> RunResult:
    """`execute`, repeated for up to `patience` seconds while other transactions are in the way.

    In a caller's transaction nothing is repeated, since what it did before would have to be repeated as well.
    short: a write that is likely to meet others, and quick; it waits for its turn from the start.
    """
    work = partial(execute, con, recipe, values, on_progress=on_progress)
    return retrying(con, work, short=short, patience=patience)


def retrying(
    con: duckdb.DuckDBPyConnection, work: Callable[[], T], *, short: bool = True, patience: float = PATIENCE
) -> T:
    """The same for anything that is one transaction on `con` and leaves nothing behind when it fails."""
    if in_transaction(con):
        return work()
    if not short:
        try:
            return work()
        except (RecipeError, duckdb.Error) as error:
            if not is_conflict(error):
                raise
    give_up = time.monotonic() + patience
    while True:
        with _turns[_database(con)]:
            try:
                return work()
            except (RecipeError, duckdb.Error) as error:
                if not is_conflict(error) or time.monotonic() > give_up:
                    raise
        time.sleep(random.uniform(0.001, 0.02))  # not everybody waits for a turn


def is_conflict(error: BaseException) -> bool:
    """Whether a transaction failed because of another one, and not because of anything in it."""
    cause = error if isinstance(error, duckdb.Error) else error.__cause__
    if isinstance(cause, duckdb.TransactionException):
        return "conflict" in str(cause).lower() or "Failed to commit" in str(cause)
    return isinstance(cause, duckdb.ConstraintException) and "duplicate key" in str(cause).lower()


def _database(con: duckdb.DuckDBPyConnection) -> str:
    found = "select path, database_oid from duckdb_databases() where database_name = current_database()"
    return str(con.execute(found).fetchall())
