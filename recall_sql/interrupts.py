"""Ctrl-C while DuckDB waits in a worker thread for a model: the calls are given up, so that the thread comes home.

DuckDB notices the signal in the main thread, but can't end the statement before its worker has returned, and Python
tells a worker nothing about signals. So a byte that Python writes for every signal is read here. Somebody else's
handler or wake-up descriptor (asyncio's) is left alone: whoever has one decides what Ctrl-C means.
"""

from __future__ import annotations

import signal
import socket
import sys
import threading

_writer: socket.socket | None = None


def watch() -> None:
    """From now on Ctrl-C gives up model calls. Does nothing outside of the main thread."""
    global _writer
    if threading.current_thread() is not threading.main_thread():
        return
    if _writer is None:
        reader, _writer = socket.socketpair()
        _writer.setblocking(False)
        threading.Thread(target=_listen, args=(reader,), name="recall-sql-interrupts", daemon=True).start()
    before = signal.set_wakeup_fd(_writer.fileno(), warn_on_full_buffer=False)
    if before not in (-1, _writer.fileno()):
        signal.set_wakeup_fd(before)


def _listen(reader: socket.socket) -> None:
    while received := reader.recv(64):
        loop = sys.modules.get("recall_sql.calls.loop")  # not there: no model was called yet
        if (
            loop is not None
            and signal.SIGINT in received
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            loop.cancel_all()
