"""One event loop for the process, on a thread of its own: HTTP clients live on it and keep their connections."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="recall-sql-calls", daemon=True).start()
    return loop


def submit(work: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Starts `work` on the loop; the caller waits on the future from its own thread."""
    return asyncio.run_coroutine_threadsafe(work, _loop())


def cancel_all() -> None:
    """Gives up every piece of work under way: its caller gets CancelledError. For a person who pressed Ctrl-C."""
    loop = _loop()
    loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
