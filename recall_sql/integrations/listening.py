"""Runs an ASGI application (HTTP, MCP) until a signal ends it: open requests are answered, then the caller goes on."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from recall_sql.errors import ConfigError

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Server(uvicorn.Server):
    """uvicorn raises the signal again when it is done, which would end the process before the database is closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve_until_signal(
    app: ASGIApp, *, host: str = "127.0.0.1", port: int = 8000, grace: float = 10.0, ready: Callable[[str], Any] = print
) -> None:
    """Listens until SIGINT or SIGTERM, then waits for open requests, `grace` seconds at most. Main thread only.

    port: 0 takes a free one. ready: is told the address when it is listened there. Raises ConfigError for an address
    that can't be had.
    """
    with _listening(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listener.getsockname()[1]}")
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # addresses hold ids, and what people ask
            server_header=False,
            timeout_graceful_shutdown=max(1, round(grace)),
        )
        _Server(config).run(sockets=[listener])


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(2048)
        except (OSError, OverflowError) as error:
            raise ConfigError(f"can't listen on {host}, port {port}: {error}") from error
        yield listener
