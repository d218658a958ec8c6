"""One event loop for the process, on a thread of its own: HTTP clients live on it and keep their connections."""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any

IDLE = 4  # times the work of writing nothing is written, so that it never takes more than a fifth of a processor
GRACE = 1.0  # seconds for requests that are given up to come to their end

_under_way = threading.Condition()
_waiting: set[threading.Event] = set()  # one for every call of `run`


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="recall-sql-calls", daemon=True).start()
    return loop


def submit(work: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Starts `work` on the loop; the caller waits on the future from its own thread."""
    return asyncio.run_coroutine_threadsafe(work, _loop())


def run(work: Coroutine[Any, Any, Any], news: threading.Event, keep: Callable[[], None]) -> None:
    """Runs `work` to its end, and `keep` in the caller's thread soon after `work` sets `news`, and once at the end.

    Whatever interrupts the caller, the requests are given up, and `keep` gets what was answered before.
    """
    ended = threading.Event()

    async def whole() -> None:
        try:
            await work
        finally:
            ended.set()
            news.set()

    future = submit(whole())
    with _under_way:
        _waiting.add(ended)
    try:
        while not (ended.is_set() or future.done()):
            news.wait(0.5)
            news.clear()
            worked = time.thread_time()
            keep()
            ended.wait(min(IDLE * (time.thread_time() - worked), 0.5))
        future.result(GRACE)
    except KeyboardInterrupt:
        cancel_all()  # other threads may work for the same statement
        raise
    finally:
        if not ended.is_set():
            future.cancel()
            ended.wait(GRACE)
        try:
            keep()
        finally:
            with _under_way:
                _waiting.discard(ended)
                _under_way.notify_all()


@atexit.register
def _come_home() -> None:
    """DuckDB 1.5 lets an interrupted statement go while its worker still waits here: what it has is written first."""
    with _under_way:
        if _waiting:
            cancel_all()
            _under_way.wait_for(lambda: not _waiting, 2 * GRACE)
            time.sleep(0.2)  # and has left DuckDB, which aborts the process if one of its threads is still inside


def cancel_all() -> None:
    """Gives up every piece of work under way: its caller gets CancelledError. For a person who pressed Ctrl-C."""
    loop = _loop()
    loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
