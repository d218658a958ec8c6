"""Backfills: years of conversations from files, read in partitions of whole sessions and in bounded memory.

    recall_sql.backfill(con, "chats/*.parquet")

is `import` and `run conversation_memory/all` in pieces that survive a kill: the same call goes on where one stopped.
source.py finds and reads files, staging.py sorts rows into partitions, partition.py takes one out of the tables and
puts it back, engines.py and worker.py read them, ledger.py remembers how far it is, run.py puts all in order.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recall_sql.backfills.engines import Engine, Here, Processes
from recall_sql.backfills.run import PARTITION_TURNS, Backfill, Done, Event, Plan
from recall_sql.backfills.staging import Reading
from recall_sql.errors import InputError
from recall_sql.importers.fields import role_names
from recall_sql.importers.landing import Scope
from recall_sql.runner import load
from recall_sql.session import register

__all__ = [
    "PARTITION_TURNS",
    "Backfill",
    "Done",
    "Engine",
    "Event",
    "Here",
    "Plan",
    "Processes",
    "backfill",
    "prepared",
]


def backfill(con: Any, source: str | os.PathLike[str], **options: Any) -> Done:
    """Reads conversations of any number and size into the memory, and runs a recipe on them. Arguments: see `prepared`.

    Killed or interrupted, the same call goes on with what is left. Raises InputError, before anything is stored, for a
    source that isn't there or holds rows that can't be read.
    """
    return prepared(con, source, **options).run()


def prepared(
    con: Any,
    source: str | os.PathLike[str],
    *,
    recipe: str = "conversation_memory/all",
    values: Mapping[str, object] | None = None,
    format: str = "auto",
    mapping: Mapping[str, str] | None = None,
    role_map: Mapping[str, str] | None = None,
    agent_id: str | None = None,
    user_id: str | None = None,
    session_id: str | None = None,
    timezone: str = "UTC",
    skip_empty: bool = False,
    skip_bad: bool = False,
    limit: int | None = None,
    partition_turns: int = PARTITION_TURNS,
    work_dir: str | os.PathLike[str] | None = None,
    engine: str | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    on_event: Event | None = None,
) -> Backfill:
    """A backfill that can be planned, estimated and run.

    source: a file, a pattern, a directory or an address that DuckDB reads, of Parquet, JSON Lines or CSV. values: of
    the recipe's parameters. mapping, role_map, ids, timezone, skip_empty: as for `import_file`. skip_bad: leave rows
    out that can't be read. limit: read so many rows. partition_turns: about how many turns are read in one piece.
    work_dir: where rows wait; beside the database, if not given. engine: 'local', 'ray', or one of your own. workers:
    how many processes, or actors of Ray; one and all cores, if not given. address: of a Ray cluster. on_event: called
    with a name and what it is about.
    """
    reading = Reading(
        mapping or {},
        role_names(role_map or {}),
        Scope(agent_id, user_id, session_id, default_session=""),
        timezone,
        skip_empty,
        skip_bad,
        limit,
    )
    return Backfill(
        register(con),
        os.fspath(source),
        load(recipe),
        reading,
        values=values,
        format=format,
        partition_turns=partition_turns,
        work_dir=Path(work_dir) if work_dir is not None else None,
        engine=_engine(engine, workers, address),
        on_event=on_event,
    )


def _engine(engine: str | Engine, workers: int | None, address: str | None) -> Engine:
    if not isinstance(engine, str):
        return engine
    if workers is not None and workers < 1:
        raise InputError(f"--workers {workers}: at least 1")
    if engine == "ray":
        from recall_sql.integrations.ray import Ray

        return Ray(address, workers)
    if engine != "local":
        raise InputError(f"unknown engine {engine!r}; there are local and ray")
    if address is not None:
        raise InputError("--address is of a Ray cluster: it needs --engine ray")
    return Here() if workers in (None, 1) else Processes(workers)
