"""What is written down, outside the caller's transaction: attempts to reach a model, answers, and what was asked.

One transaction holds the answers and the attempts they came from, so that a process that is killed has both or neither.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa

from recall_sql import resources
from recall_sql.calls.memo import Entry, add_entries
from recall_sql.models.base import Answer

if TYPE_CHECKING:
    from recall_sql.instance import Instance


@dataclass
class Attempt:
    """One request. `done` or `failed` ends it; latency is counted from its making."""

    function: str
    model: str
    inputs: int
    attempt: int = 1
    started: float = field(default_factory=time.perf_counter)
    called_at: float = field(default_factory=time.time)
    latency_ms: float | None = None
    status: str = "error"
    error: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    cost_usd: float | None = None

    def done(self, answer: Answer | None = None) -> None:
        self.latency_ms = (time.perf_counter() - self.started) * 1000
        self.status = "ok"
        if answer is not None:
            self.tokens_in, self.tokens_out = answer.tokens_in, answer.tokens_out
            self.tokens_cached = answer.tokens_cached

    def failed(self, error: BaseException) -> None:
        self.latency_ms = (time.perf_counter() - self.started) * 1000
        given_up = isinstance(error, asyncio.CancelledError)
        self.status = "cancelled" if given_up else str(getattr(error, "status", None) or "error")
        self.error = str(error) or type(error).__name__

    def of_no_use(self, why: str) -> None:
        """It was answered and paid for, but the answer can't be used."""
        self.status, self.error = "invalid", why


@dataclass(frozen=True)
class Asked:
    """What one chunk of rows asked. repeated: rows equal to one before; remembered: distinct inputs the memo knew."""

    function: str
    model: str
    rows: int
    repeated: int
    remembered: int


_CALLS = pa.schema(
    [
        ("called_at", pa.timestamp("us", tz="UTC")),
        ("function", pa.string()),
        ("model", pa.string()),
        ("inputs", pa.int32()),
        ("attempt", pa.int32()),
        ("latency_ms", pa.float64()),
        ("status", pa.string()),
        ("error", pa.string()),
        ("tokens_in", pa.int64()),
        ("tokens_out", pa.int64()),
        ("tokens_cached", pa.int64()),
        ("cost_usd", pa.float64()),
    ]
)
_ASKED = pa.schema(
    [
        ("function", pa.string()),
        ("model", pa.string()),
        ("rows", pa.int64()),
        ("repeated", pa.int64()),
        ("remembered", pa.int64()),
    ]
)
_missing_table = threading.Lock()


def write(
    instance: Instance,
    attempts: Sequence[Attempt] = (),
    entries: Sequence[Entry] = (),
    vectors: np.ndarray | None = None,
    asked: Sequence[Asked] = (),
    cursor: duckdb.DuckDBPyConnection | None = None,
) -> None:
    """Adds attempts to recall_calls, answers to recall_memo, counts to recall_asked: all of it or nothing.

    cursor: one of the instance's own, if there is one in hand.
    """
    if not (attempts or entries or asked):
        return
    with instance.cursor() if cursor is None else nullcontext(cursor) as cursor:
        try:
            _write(cursor, instance.store, attempts, entries, vectors, asked)
        except duckdb.CatalogException:
            _add_tables(cursor, instance.store)
            _write(cursor, instance.store, attempts, entries, vectors, asked)


def _write(
    cursor: duckdb.DuckDBPyConnection,
    store: str,
    attempts: Sequence[Attempt],
    entries: Sequence[Entry],
    vectors: np.ndarray | None,
    asked: Sequence[Asked],
) -> None:
    cursor.execute("begin transaction").fetchall()
    try:
        if entries:
            add_entries(cursor, store, entries, vectors)
        if attempts:
            rows = [vars(one) | {"called_at": int(one.called_at * 1_000_000)} for one in attempts]
            _insert(cursor, f"{store}.recall_calls", rows, _CALLS)
        if asked:
            _insert(cursor, f"{store}.recall_asked", [vars(one) for one in asked], _ASKED)
        cursor.execute("commit").fetchall()
    except BaseException:
        with suppress(duckdb.Error):  # an interrupt may have ended it
            cursor.execute("rollback").fetchall()
        raise


def _insert(cursor: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    columns = [pa.array([row[column.name] for row in rows], column.type) for column in schema]
    cursor.register("new_rows", pa.table(columns, schema=schema))
    names = ", ".join(schema.names)
    cursor.execute(f"insert into {table} ({names}) select {names} from new_rows").fetchall()
    cursor.unregister("new_rows")


def _add_tables(cursor: duckdb.DuckDBPyConnection, store: str) -> None:
    """A file of an earlier version lacks a table of this one."""
    with _missing_table:
        cursor.execute(f"use {store}").fetchall()
        cursor.execute((resources.sql_dir() / "schema" / "02_calls.sql").read_text("utf-8")).fetchall()
