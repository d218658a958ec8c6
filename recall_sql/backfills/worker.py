"""A worker of its own: opens its DuckDB once, loads its models once, and turns the folder of a partition into another.

It knows nothing of the memory the partition comes from, nor of who started it: a pool of processes here, or Ray
(integrations/ray.py). What it writes appears under its name when it is complete, so a worker may die at any moment.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from recall_sql.backfills import partition
from recall_sql.runner import execute, load
from recall_sql.session import connect, instance_of

_TABLES = {**partition.TABLES, "facts": "temp.part_facts"}
_LOGS = {"memo": "recall_memo", "calls": "recall_calls", "asked": "recall_asked"}


@dataclass(frozen=True)
class Order:
    """What every worker of a backfill is told. settings: those in force where the memory is. recipes: names, and the
    folders they are looked up in."""

    folder: str
    recipes: Sequence[str]
    search: Sequence[str]
    values: Mapping[str, object]
    settings: Mapping[str, Any]

    def input(self, number: int) -> Path:
        """Where a partition is written for a worker."""
        return Path(self.folder) / "in" / f"{number:06}"

    def output(self, number: int) -> Path:
        """Where the worker leaves what it found."""
        return Path(self.folder) / "out" / f"{number:06}"

    @property
    def template(self) -> Path:
        """A new database, of which every partition gets a copy."""
        return Path(self.folder) / "template.duckdb"

    def clear(self, number: int) -> None:
        """A partition that has been put back needs its files no more."""
        for folder in (self.input(number), self.output(number)):
            shutil.rmtree(folder, ignore_errors=True)


class Worker:
    """Reads partitions, one after the other. cores: that it may use."""

    def __init__(self, order: Order, cores: int = 1) -> None:
        os.environ["OMP_NUM_THREADS"] = str(cores)
        self._order, self._cores = order, cores
        self._recipes = [load(name, order.search) for name in order.recipes]

    def read(self, number: int) -> dict[str, Any]:
        """Reads a partition, unless it has been read; gives its number and the seconds it took.

        Answers are remembered in a database beside the partition: if this worker dies, the next one doesn't ask again.
        """
        started, target = time.perf_counter(), self._order.output(number)
        if not target.exists():
            source = self._order.input(number)
            with closing(self._opened(source / "worker.duckdb")) as con:
                self._load(con, source)
                partition.work(con, self._recipes, {**self._order.values, **_TABLES})
                self._write(con, target)
        return {"number": number, "seconds": time.perf_counter() - started}

    def _opened(self, file: Path) -> duckdb.DuckDBPyConnection:
        if not file.exists():
            fresh = file.with_suffix(f".{os.getpid()}")
            shutil.copyfile(self._order.template, fresh)
            fresh.rename(file)
        con = connect(file, config={"threads": self._cores}, settings=dict(self._order.settings))
        con.execute("set enable_progress_bar = false")
        return con

    def _load(self, con: duckdb.DuckDBPyConnection, source: Path) -> None:
        for name in ("turns", "threads", "payloads", "facts"):
            con.execute(
                f"create or replace temp table part_{name} as from read_parquet($1)", [str(source / f"{name}.parquet")]
            ).fetchall()
        con.execute(
            "create or replace temp table part_unembedded as select turn_id from part_turns where embedding is null"
        ).fetchall()

    def _write(self, con: duckdb.DuckDBPyConnection, target: Path) -> None:
        fresh = target.with_name(f"{target.name}.{os.getpid()}")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        store = instance_of(con).store
        queries = {
            "turns": "select turn_id, embedding from part_turns semi join part_unembedded using (turn_id)",
            "threads": "from part_threads",
            "payloads": "from part_payloads",
            **{name: f"from {store}.{table}" for name, table in _LOGS.items()},
        }
        for name, query in queries.items():
            con.execute(f"copy ({query}) to $1 (format parquet)", [str(fresh / f"{name}.parquet")]).fetchall()
        fresh.rename(target)


def make_template(order: Order) -> None:
    """Workers copy a database rather than make one: one that dies while it makes tables leaves a file that DuckDB 1.5
    can't open any more."""
    if order.template.exists():
        return
    fresh = order.template.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    connect(fresh, settings=dict(order.settings)).close()
    fresh.rename(order.template)


def give_out(con: duckdb.DuckDBPyConnection, staged: Path, order: Order, number: int) -> None:
    """Writes a partition for a worker, if it isn't there."""
    target = order.input(number)
    if target.exists() or order.output(number).exists():
        return
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    partition.take(con, staged, number)
    execute(con, load("backfill/export"), {"folder": str(fresh)}, record=False)
    partition.drop(con)
    fresh.rename(target)


def take_in(con: duckdb.DuckDBPyConnection, order: Order, number: int) -> None:
    """Puts what a worker found back into the tables."""
    execute(con, load("backfill/receive"), {"folder": str(order.output(number))}, record=False)
    partition.put_back(con)
