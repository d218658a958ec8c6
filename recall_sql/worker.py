"""The background worker: reads turns that nobody has read, lands what they say, embeds and indexes them.

    worker = Worker(con)
    worker.start()
    worker.wake()                          # after turns were stored
    worker.wait([1, 2], timeout=30)        # {1: 'done', 2: 'done'}
    worker.stop()

Which turns there are to read, who claims them and what becomes of those that fail is SQL: extraction_queue.sql in
sql/library/, and recipes/queue/. Reading and landing are the recipes conversation_memory/extract and land, each one
transaction, so a process that dies at any moment leaves a turn read and landed once, or not yet. One database has one
process, and that one worker.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from typing import Any

import duckdb

from recall_sql.connections import Connections
from recall_sql.errors import RecallError
from recall_sql.runner import RunResult, load
from recall_sql.runner.conflicts import execute_retrying
from recall_sql.session import register

_log = logging.getLogger(__name__)

CRASHED = "the process ended while this turn was being read"
STOPPED = "the worker was stopped while this turn was being read"
_TIDY_EVERY = 2.0  # seconds between embedding and indexing while turns keep coming
_PAUSE = 5.0  # seconds after something went wrong that isn't about a turn
_POLL = 30.0  # seconds after which it looks for itself, should nobody have told it


class Worker:
    """Works on a cursor of its own of `con`, in a thread of its own.

    model: who extracts; the setting `extractor`, if not given. batch: turns read in one transaction. wait_seconds: how
    long a turn that failed waits for its second try (then four times as long each time, an hour at most).
    give_up_after: tries.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        *,
        model: str | None = None,
        batch: int = 64,
        wait_seconds: float = 5.0,
        give_up_after: int = 8,
    ) -> None:
        self._con, self._connections = register(con.cursor()), Connections(con)
        self._model, self._batch = model, batch
        self._patience = {"wait_seconds": float(wait_seconds), "give_up_after": give_up_after}
        self._thread = threading.Thread(target=self._work, name="recall-sql-worker", daemon=True)
        self._woken, self._stopping, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self._watched: defaultdict[int, list[Future[str]]] = defaultdict(list)
        self._untidy, self._tidied_at = True, 0.0
        self.counts: Counter[str] = Counter()  # turns by what became of them, since the start
        self.last_error: str | None = None

    # --- for those who store turns ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begins with what the last process left."""
        if self._con.execute(_CLAIMED).fetchall():
            self._run("queue/requeue", error=CRASHED, wait_seconds=0.0)
        self._thread.start()

    def wake(self) -> None:
        """Says that there may be something to do."""
        self._untidy = True
        self._woken.set()

    def wait(self, turn_ids: Iterable[int], timeout: float) -> dict[int, str]:
        """Waits until each turn is done or was tried in vain, and tells their status; after `timeout` seconds as it is
        then. Turns that nobody reads (an assistant's) have none."""
        ids = sorted(set(turn_ids))
        with self.watching(ids) as futures:
            wait_for(futures, timeout)
        return self.statuses(ids)

    @contextmanager
    def watching(self, turn_ids: Iterable[int]) -> Iterator[list[Future[str]]]:
        """For those who wait in their own way: a future for every turn that isn't settled yet. Wakes the worker."""
        watched: dict[int, Future[str]] = {turn_id: Future() for turn_id in turn_ids}
        with self._lock:
            for turn_id, future in watched.items():
                self._watched[turn_id].append(future)
        try:
            known = self.statuses(list(watched))
            self.wake()
            yield [watched[turn_id] for turn_id, status in known.items() if status not in ("done", "failed")]
        finally:
            with self._lock:
                for turn_id, future in watched.items():
                    self._watched[turn_id].remove(future)
                    if not self._watched[turn_id]:
                        del self._watched[turn_id]

    def statuses(self, turn_ids: Sequence[int]) -> dict[int, str]:
        """Where the turns stand, as in extraction_queue()."""
        found = "select turn_id, status from extraction_queue() where turn_id in (select unnest($1::bigint[]))"
        return dict(self._connections.con.execute(found, [list(turn_ids)]).fetchall())

    def stop(self, grace: float = 10.0) -> None:
        """Finishes what is being read, or gives it back after `grace` seconds. Nothing is claimed afterwards."""
        self._stopping.set()
        self._woken.set()
        if not self._thread.is_alive():
            return
        self._thread.join(grace)
        while self._thread.is_alive():
            _cancel_model_calls()
            self._con.interrupt()
            self._thread.join(2.0)

    @property
    def alive(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive()

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._woken.clear()
            try:
                more = self._step()
            except (KeyboardInterrupt, duckdb.InterruptException):  # by `stop`
                more = False
            except (RecallError, duckdb.Error) as error:
                self._failed("the worker pauses", error)
                more = False
                self._stopping.wait(_PAUSE)
            if not more and not self._stopping.is_set():
                self._woken.wait(self._until_the_next())
        self._con.close()

    def _step(self) -> bool:
        """Reads and lands one batch; whether there was one."""
        claimed = self._claim()
        if claimed:
            self._read(claimed)
        self._land()
        self._tell(claimed)
        if self._untidy and (not claimed or time.monotonic() - self._tidied_at > _TIDY_EVERY):
            self._tidy()
        return bool(claimed)

    def _claim(self) -> list[int]:
        if not self._con.execute(_DUE).fetchall():
            return []  # looked at first, since every run of a recipe is recorded
        return self._run("queue/claim", most=self._batch).tables[0].table.column("turn_id").to_pylist()

    def _read(self, turn_ids: Sequence[int]) -> None:
        ids, since = [str(turn_id) for turn_id in turn_ids], _now(self._con)
        try:
            self._run("conversation_memory/extract", turn_ids=ids, model=self._model)
            error, alone = self._what_the_model_said(since), False
        except (RecallError, duckdb.Error, KeyboardInterrupt) as failure:
            error, alone = _one_line(failure), len(ids) > 1
            if not self._stopping.is_set():
                self._failed(f"{len(ids)} turns could not be read", failure)
        if self._stopping.is_set():
            self._run("queue/requeue", turn_ids=ids, error=STOPPED, untried=True)
        elif self._con.execute(_CLAIMED).fetchall():
            back = self._run("queue/requeue", turn_ids=ids, error=error, alone=alone, **self._patience)
            _log.warning("%d of %d turns were not read: %s", back.rows_changed, len(ids), error)

    def _land(self) -> None:
        waiting = [turn_id for (turn_id,) in self._con.execute(_UNLANDED).fetchall()]
        if not waiting:
            return
        try:
            self._run("conversation_memory/land")
        except (RecallError, duckdb.Error) as error:
            if len(waiting) == 1:
                raise
            self._failed("landing one by one", error)
            self._land_each(waiting)

    def _land_each(self, turn_ids: Sequence[int]) -> None:
        """One answer that can't be landed doesn't keep the others waiting."""
        failure: Exception | None = None
        for turn_id in turn_ids:
            try:
                self._run("conversation_memory/land", turn_ids=[str(turn_id)])
            except (RecallError, duckdb.Error) as error:
                self._failed(f"what was read from turn {turn_id} can't be landed", error)
                failure = error
        if failure is not None:
            raise failure

    def _tidy(self) -> None:
        """Vectors and words, for search; it finds turns without them, more slowly."""
        self._untidy = False
        try:
            if self._con.execute(_WITHOUT_VECTOR).fetchall():
                self._run("conversation_memory/embed")
            self._run("search/index")
        except (RecallError, duckdb.Error):
            self._untidy = True
            raise
        finally:
            self._tidied_at = time.monotonic()

    def _tell(self, turn_ids: Sequence[int]) -> None:
        known = self.statuses(turn_ids) if turn_ids else {}
        self.counts.update(known.values())
        with self._lock:
            for turn_id, status in known.items():
                for future in self._watched.get(turn_id, ()):
                    if status in ("done", "waiting", "failed") and not future.done():
                        future.set_result(status)

    def _until_the_next(self) -> float:
        """Seconds until a turn that failed is due, or until it looks for itself."""
        due = self._con.execute(_NEXT_DUE).fetchall()[0][0]
        return _POLL if due is None else min(_POLL, max(0.0, due))

    def _what_the_model_said(self, since: Any) -> str:
        found = self._con.execute(_LAST_CALL_ERROR, [since]).fetchall()
        return found[0][0] if found else "the extractor gave no answer; recall_calls may say more"

    def _run(self, recipe: str, **values: Any) -> RunResult:
        given = {name: value for name, value in values.items() if value is not None}
        return execute_retrying(self._con, load(recipe), given, short=recipe.startswith("queue/"))

    def _failed(self, what: str, error: BaseException) -> None:
        self.last_error = f"{what}: {_one_line(error)}"
        _log.warning("%s", self.last_error)


_CLAIMED = "select 1 from chat_turn_attempts where claimed_at is not null limit 1"
_DUE = """
select 1 from extraction_queue() where status = 'pending' or (status = 'waiting' and next_try_at <= now()) limit 1
"""
_WITHOUT_VECTOR = "select 1 from chat_turns where embedding is null limit 1"
_UNLANDED = "select turn_id from chat_fact_payloads where not landed order by turn_id"
_NEXT_DUE = "select epoch(min(next_try_at)) - epoch(now()) from chat_turn_attempts where claimed_at is null"
_LAST_CALL_ERROR = """
select error from recall_calls
where function = 'EXTRACT_FACTS' and error is not null and called_at >= $1
order by called_at desc
limit 1
"""


def _now(con: duckdb.DuckDBPyConnection) -> Any:
    return con.execute("select now()").fetchall()[0][0]


_TRACE = re.compile(r"\s+At:\s.*$", re.DOTALL)  # what DuckDB puts behind the error of a Python function


def _one_line(error: BaseException) -> str:
    return " ".join(_TRACE.sub("", str(error)).split())[:1000]


def _cancel_model_calls() -> None:
    loop = sys.modules.get("recall_sql.calls.loop")  # not there: no model was called yet
    if loop is not None:
        loop.cancel_all()
