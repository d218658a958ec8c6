"""Stores turns of many requests at once: what arrives while one transaction is written goes into the next.

One thread writes, so requests don't conflict with each other, and a commit, which waits for the disk, is shared.
A request is answered when its turns are on the disk, and not before. The storing itself is the recipe
conversation_memory/ingest_batch.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa

from recall_sql.errors import RecallError
from recall_sql.runner import load
from recall_sql.runner.conflicts import execute_retrying
from recall_sql.session import register

_MOST_AT_ONCE = 128  # requests
_MOST_WAITING = 2_000
_SOURCE = "recall_incoming_turns"
_SCHEMA = pa.schema(
    [
        ("request", pa.int64()),
        ("nth", pa.int64()),
        *((name, pa.string()) for name in ("agent_id", "user_id", "session_id", "role", "content")),
        ("created_at", pa.timestamp("us", tz="UTC")),
        *((name, pa.string()) for name in ("source_key", "idempotency_key", "request_hash")),
    ]
)


class Busy(RecallError):
    """More turns wait to be stored than is good; or none is stored any more. The same request may succeed later."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A turn that is in the database. outcome: stored, known (by its source_key); of the request repeated, conflict."""

    turn_id: int
    outcome: str


@dataclass(frozen=True)
class Request:
    """Turns that are stored all or not at all. turns: role, content, and maybe created_at and source_key."""

    agent_id: str
    user_id: str
    session_id: str
    turns: Sequence[Mapping[str, Any]]
    idempotency_key: str | None = None
    request_hash: str | None = None
    stored: Future[list[Stored]] = field(default_factory=Future)

    @property
    def name(self) -> tuple[str, str, str] | None:
        """What two requests may not share within one transaction."""
        return (self.agent_id, self.user_id, self.idempotency_key) if self.idempotency_key else None

    def rows(self, number: int) -> list[dict[str, Any]]:
        """Its turns as rows of the recipe's table."""
        scope = {"agent_id": self.agent_id, "user_id": self.user_id, "session_id": self.session_id}
        key = {"idempotency_key": self.idempotency_key, "request_hash": self.request_hash}
        return [{"request": number, "nth": nth, **scope, **turn, **key} for nth, turn in enumerate(self.turns, 1)]


class Intake:
    """Works on a cursor of its own of `con`, in a thread of its own."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = register(con.cursor())
        self._waiting: queue.Queue[Request | None] = queue.Queue(_MOST_WAITING)
        self._thread = threading.Thread(target=self._work, name="recall-sql-intake", daemon=True)
        self._lock, self._open = threading.Lock(), False

    def start(self) -> None:
        """From now on what is put is stored."""
        self._open = True
        self._thread.start()

    def put(self, request: Request) -> Future[list[Stored]]:
        """Its turns in order, as soon as they are stored. Raises Busy where they can't be taken."""
        with self._lock:  # nothing comes behind the end
            if not self._open:
                raise Busy("the server is stopping; nothing was stored")
            try:
                self._waiting.put_nowait(request)
            except queue.Full:
                raise Busy("more turns wait to be stored than there should; nothing was stored") from None
        return request.stored

    def stop(self) -> None:
        """Stores what was put, and nothing more."""
        with self._lock:
            was_open, self._open = self._open, False
        if was_open:
            self._waiting.put(None)
            self._thread.join()
        self._con.close()

    def _work(self) -> None:
        ended, held_back = False, list[Request]()
        while not ended or held_back:
            batch = held_back or [first for first in [self._waiting.get()] if first]
            ended = ended or not batch
            while not ended and len(batch) < _MOST_AT_ONCE and not self._waiting.empty():
                request = self._waiting.get()
                ended = request is None
                batch += [request] if request else []
            now, held_back = _first_of_each_name([request for request in batch if _is_wanted(request)])
            if now:
                self._store(now)

    def _store(self, batch: Sequence[Request]) -> None:
        try:
            found = self._run(batch)
        except Exception as error:  # each request is told, whatever it is
            if len(batch) == 1:
                batch[0].stored.set_exception(error)
                return
            for request in batch:  # one request's fault isn't the others'
                self._store([request])
            return
        for request, stored in zip(batch, found, strict=True):
            request.stored.set_result(stored)

    def _run(self, batch: Sequence[Request]) -> list[list[Stored]]:
        rows = [row for number, request in enumerate(batch) for row in request.rows(number)]
        self._con.register(_SOURCE, pa.Table.from_pylist(rows, schema=_SCHEMA))
        try:
            recipe = load("conversation_memory/ingest_batch")
            result = execute_retrying(self._con, recipe, {"source": _SOURCE}, short=True)
        finally:
            self._con.unregister(_SOURCE)
        found: list[list[Stored]] = [[] for _ in batch]
        for row in result.tables[0].table.to_pylist():
            found[row["request"]].append(Stored(row["turn_id"], row["outcome"]))
        return found


def _is_wanted(request: Request) -> bool:
    """Whether somebody still waits for it, as with a task that was not cancelled; from here on it can't be."""
    return request.stored.running() or request.stored.set_running_or_notify_cancel()


def _first_of_each_name(batch: Sequence[Request]) -> tuple[list[Request], list[Request]]:
    """What may be stored together, and what waits for it, since it has the name of one of them."""
    now, later, names = list[Request](), list[Request](), set[tuple[str, str, str]]()
    for request in batch:
        (later if request.name in names else now).append(request)
        if request.name is not None:
            names.add(request.name)
    return now, later
