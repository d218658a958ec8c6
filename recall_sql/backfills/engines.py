"""Who embeds and extracts the partitions of a backfill: this process, or several on this machine.

Ray, on as many machines as there are, is integrations/ray.py; it hands partitions out and in as `Shared` says.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import SecretStr

from recall_sql.backfills import ledger, partition
from recall_sql.backfills.worker import Order, Worker, give_out, make_template, take_in
from recall_sql.errors import InputError, RecallError
from recall_sql.session import instance_of

if TYPE_CHECKING:
    from recall_sql.backfills.run import Backfill


class Engine(Protocol):
    """Who embeds and extracts."""

    def read(self, run: Backfill, numbers: Sequence[int]) -> Iterator[int]:
        """Reads partitions that are stored, puts each back and marks it, and gives its number when that is done."""
        ...


class Here:
    """This process, one partition after the other."""

    def read(self, run: Backfill, numbers: Sequence[int]) -> Iterator[int]:
        """See Engine."""
        for number in numbers:
            started = time.perf_counter()
            with partition.transaction(run.con):
                partition.take(run.con, run.staged_file, number)
                partition.work(run.con, run.by_session, {**run.values, **partition.TABLES})
                partition.put_back(run.con)
                ledger.mark(run.con, run.job, [number], "read", time.perf_counter() - started)
            yield number


class Shared:
    """What engines with workers have in common: partitions go out as files and come in as files."""

    def __init__(self, run: Backfill) -> None:
        values = instance_of(run.con).settings.values
        if values.budget is not None:
            raise InputError("a budget can't be kept by several workers: unset it, or leave out --workers and --engine")
        settings = {
            name: value.get_secret_value() if isinstance(value, SecretStr) else value
            for name in values.model_fields_set
            if (value := getattr(values, name)) is not None
        }
        recipes = run.by_session
        search = [str(folder) for folder in recipes[0].search] if recipes else []
        self.run = run
        self.order = Order(str(run.job.work_dir), [one.name for one in recipes], search, run.values, settings)
        make_template(self.order)

    def give_out(self, number: int) -> None:
        """Writes a partition for a worker."""
        give_out(self.run.con, self.run.staged_file, self.order, number)

    def take_in(self, number: int, seconds: float) -> None:
        """Lands what a worker found, once."""
        run = self.run
        if ledger.is_read(run.con, run.job, number):
            return
        with partition.transaction(run.con):
            take_in(run.con, self.order, number)
            ledger.mark(run.con, run.job, [number], "read", seconds)
        self.order.clear(number)


class Processes:
    """Worker processes on this machine, each of one core. If one dies the run ends, and can be gone on with."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def read(self, run: Backfill, numbers: Sequence[int]) -> Iterator[int]:
        """See Engine."""
        shared, waiting = Shared(run), iter(numbers)
        pool = ProcessPoolExecutor(self._workers, get_context("spawn"), _open, (shared.order,))
        out: dict[Future[dict[str, Any]], int] = {}
        try:
            while True:
                while len(out) < 2 * self._workers and (number := next(waiting, None)) is not None:
                    shared.give_out(number)
                    out[pool.submit(_read, number)] = number
                if not out:
                    return
                for future in wait(out, return_when=FIRST_COMPLETED).done:
                    number = out.pop(future)
                    shared.take_in(number, future.result()["seconds"])
                    yield number
        except BrokenProcessPool as error:
            raise RecallError("a worker process died; the same command goes on with what is left") from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_worker: Worker


def _open(order: Order) -> None:
    """What a worker process begins with."""
    import signal

    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who started it
    _worker = Worker(order)


def _read(number: int) -> dict[str, Any]:
    return _worker.read(number)
