"""The SDK's own client, awaited for tests that are written without async, and a server on a loopback port."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import TracebackType
from typing import Any

import anyio.from_thread
import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult


class Talk:
    """A client that is connected while the `with` block runs. target: whatever `mcp.Client` takes."""

    def __init__(self, target: Any, **options: Any) -> None:
        self._target, self._options = target, options

    def __enter__(self) -> Talk:
        self._stack = ExitStack()
        try:
            self._portal = self._stack.enter_context(anyio.from_thread.start_blocking_portal())
            target = self._target() if callable(self._target) else self._target
            client = self._portal.call(partial(Client, target, **self._options))
            self.client = self._stack.enter_context(self._portal.wrap_async_context_manager(client))
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def do(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """What a method of the client gives."""
        return self._portal.call(partial(getattr(self.client, method), *args, **kwargs))

    def ask(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """A call as it comes back."""
        return self.do("call_tool", tool, arguments)

    def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool gives: an object, or text. AssertionError if it is an error."""
        result = self.ask(tool, arguments)
        assert not result.is_error, text(result)
        return text(result) if result.structured_content is None else json.loads(text(result))

    def refused(self, tool: str, **arguments: Any) -> str:
        """The error of a tool."""
        result = self.ask(tool, arguments)
        assert result.is_error, text(result)
        return text(result)

    def tools(self) -> list[str]:
        """The names of the tools it is shown."""
        return [tool.name for tool in self.do("list_tools").tools]


def text(result: CallToolResult) -> str:
    """The one text that a result is."""
    (content,) = result.content
    return content.text


def with_key(url: str, key: str | None) -> Any:
    """The transport to a server, with a key in every request."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return lambda: streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers, timeout=60))


@contextmanager
def listening(app: Any) -> Iterator[str]:
    """Serves an ASGI app on a free loopback port in a thread of this process; its address."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen(128)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()
