"""How far a backfill has come, in the tables recall_backfills and recall_backfill_partitions.

Its writes belong to the caller's transaction, so that a partition counts as done exactly if its rows are there.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import duckdb

from recall_sql import resources
from recall_sql.backfills.staging import Staged
from recall_sql.instance import settle


@dataclass(frozen=True)
class Job:
    """A backfill under way. identity: what makes it the same when it is asked for again."""

    backfill_id: UUID
    work_dir: Path
    status: str


def create_tables(con: duckdb.DuckDBPyConnection) -> None:
    """A database that an earlier version made has no such tables yet."""
    if con.execute("select 1 from duckdb_tables() where table_name = 'recall_backfills' and not temporary").fetchall():
        return
    con.execute((resources.sql_dir() / "schema" / "07_backfill.sql").read_text("utf-8")).fetchall()
    settle(con)


def unfinished(con: duckdb.DuckDBPyConnection, identity: str) -> Job | None:
    """The backfill that this one goes on with, if its rows are still waiting."""
    found = con.execute(
        "select backfill_id, work_dir, status from recall_backfills"
        " where identity = $1 and status in ('staging', 'staged') order by started_at desc limit 1",
        [identity],
    ).fetchall()
    if not found:
        return None
    backfill_id, folder, status = found[0]
    return Job(backfill_id, Path(folder), status)


def give_up_others(con: duckdb.DuckDBPyConnection, source: str) -> None:
    """Ends unfinished backfills of the same source: it has changed, or is read in another way now."""
    for (folder,) in con.execute(
        "update recall_backfills set status = 'given_up', finished_at = current_timestamp"
        " where source = $1 and status in ('staging', 'staged') returning work_dir",
        [source],
    ).fetchall():
        shutil.rmtree(folder, ignore_errors=True)


def begin(con: duckdb.DuckDBPyConnection, source: str, identity: str, recipe: str, params: str, work_dir: Path) -> Job:
    """Writes down that a source is being read."""
    backfill_id = uuid4()
    folder = work_dir / backfill_id.hex[:12]
    con.execute(
        "insert into recall_backfills (backfill_id, source, identity, recipe, params, work_dir, status)"
        " values ($1, $2, $3, $4, $5, $6, 'staging')",
        [backfill_id, source, identity, recipe, params, str(folder)],
    ).fetchall()
    return Job(backfill_id, folder, "staging")


def staged(con: duckdb.DuckDBPyConnection, job: Job, found: Staged) -> None:
    """Writes down the partitions that wait, and what was left out."""
    con.execute(
        "update recall_backfills set status = 'staged', messages = $2, left_out = $3 where backfill_id = $1",
        [job.backfill_id, found.messages, found.left_out],
    ).fetchall()
    for table in ("recall_backfill_partitions", "recall_backfill_left_out"):
        con.execute(f"delete from {table} where backfill_id = $1", [job.backfill_id]).fetchall()
    _insert(
        con,
        "recall_backfill_partitions (backfill_id, partition, sessions, messages, status)",
        [(job.backfill_id, *partition, "staged") for partition in found.partitions],
    )
    _insert(
        con,
        "recall_backfill_left_out (backfill_id, file, place, problem)",
        [(job.backfill_id, one.file, one.place or 0, one.what) for one in found.problems],
    )


def _insert(con: duckdb.DuckDBPyConnection, target: str, rows: Sequence[tuple]) -> None:
    if rows:
        con.executemany(f"insert into {target} values ({', '.join('?' * len(rows[0]))})", rows)


def partitions(con: duckdb.DuckDBPyConnection, job: Job) -> list[tuple[int, int, str]]:
    """(partition, messages, status) in order."""
    return con.execute(
        "select partition, messages, status from recall_backfill_partitions where backfill_id = $1 order by partition",
        [job.backfill_id],
    ).fetchall()


def mark(
    con: duckdb.DuckDBPyConnection, job: Job, numbers: Sequence[int], status: str, seconds: float | None = None
) -> None:
    """Writes down how far partitions are."""
    con.execute(
        "update recall_backfill_partitions set status = $3, seconds = $4, finished_at = current_timestamp"
        " where backfill_id = $1 and list_contains($2, partition)",
        [job.backfill_id, list(numbers), status, seconds],
    ).fetchall()


def is_read(con: duckdb.DuckDBPyConnection, job: Job, number: int) -> bool:
    """Whether a partition has been put back into the tables."""
    return con.execute(
        "select status = 'read' from recall_backfill_partitions where backfill_id = $1 and partition = $2",
        [job.backfill_id, number],
    ).fetchall()[0][0]


def finish(con: duckdb.DuckDBPyConnection, job: Job) -> None:
    """Writes down that all is done."""
    con.execute(
        "update recall_backfills set status = 'done', finished_at = current_timestamp where backfill_id = $1",
        [job.backfill_id],
    ).fetchall()
