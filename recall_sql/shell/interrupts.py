"""Ctrl-C while a statement runs: the query stops, and so do the model calls it is waiting for.

DuckDB notices the signal at once, but can't roll back before its worker thread has come home from the function that is
waiting for a model; so the calls are given up, too.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from recall_sql.calls.loop import cancel_all


@contextmanager
def stoppable() -> Iterator[None]:
    """Within the block, Ctrl-C gives up model calls and raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield
        return
    before = signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    cancel_all()
    raise KeyboardInterrupt
