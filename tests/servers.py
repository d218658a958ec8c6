"""An OpenAI-compatible HTTP server on loopback whose answers and faults are written out in the test that uses it.

    with ScriptedServer(lambda call: chat("Hello")) as server:
        ...                      # requests to server.url, 'http://127.0.0.1:PORT/v1'
        server.calls[0].json     # what was asked

The script sees every call (from many threads at once) and returns a Reply. Only the standard library; no model.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Call:
    """One request as it arrived. number: 0 for the server's first."""

    number: int
    path: str
    headers: dict[str, str]
    json: Any

    @property
    def prompt(self) -> str:
        """Content of the last chat message."""
        return self.json["messages"][-1]["content"]

    @property
    def texts(self) -> list[str]:
        """The texts of an embedding request."""
        given = self.json["input"]
        return [given] if isinstance(given, str) else given


@dataclass(frozen=True)
class Reply:
    """What goes back. body: anything JSON can hold, or bytes as they are. delay: seconds before it goes out.

    cut: the connection closes in the middle of the body, after a Content-Length that promised all of it.
    """

    body: Any = field(default_factory=dict)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False


Script = Callable[[Call], Reply]


class ScriptedServer:
    """Serves `script` on a free port while the `with` block runs. calls: every request so far, in order of arrival."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.calls: list[Call] = []
        self.in_flight = self.most_in_flight = 0
        self._lock = threading.Lock()
        self._http = _HTTPServer(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def model(self, name: str = "scripted") -> str:
        """The model string that leads here."""
        return f"{self.url}#{name}"

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, path: str, headers: dict[str, str], body: Any) -> Reply:
        with self._lock:
            call = Call(len(self.calls), path, headers, body)
            self.calls.append(call)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            reply = self.script(call)
            time.sleep(reply.delay)
            return reply
        finally:
            with self._lock:
                self.in_flight -= 1


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    owner: ScriptedServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body leave in one packet
    disable_nagle_algorithm = True
    server: _HTTPServer

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"null")
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.owner.answer(self.path, headers, body))

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.owner.answer(self.path, headers, None))

    def _send(self, reply: Reply) -> None:
        payload = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload[: len(payload) // 2] if reply.cut else payload)
        self.wfile.flush()
        self.close_connection = self.close_connection or reply.cut

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, TimeoutError):  # the client gave up, which is what some tests are about
            self.close_connection = True

    def log_message(self, *arguments: object) -> None:
        """Quiet: the test reads `calls`."""


# -- bodies ------------------------------------------------------------------------------------------------------------


def chat(
    text: str | None,
    *,
    finish_reason: str = "stop",
    refusal: str | None = None,
    usage: dict[str, Any] | None = None,
    **reply: Any,
) -> Reply:
    """A chat completion. usage: a dict, or {} to leave it out; by default 10 tokens in, 5 out."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
    }
    counts = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15} if usage is None else usage
    return Reply({**body, "usage": counts} if counts else body, **reply)


def embeddings(vectors: Iterable[Sequence[float]], *, indexes: Sequence[int] | None = None, **reply: Any) -> Reply:
    """An embeddings answer. indexes: instead of 0, 1, 2 …"""
    vectors = list(vectors)
    numbers = range(len(vectors)) if indexes is None else indexes
    data = [
        {"object": "embedding", "index": number, "embedding": list(vector)}
        for number, vector in zip(numbers, vectors, strict=True)
    ]
    body = {"object": "list", "model": "scripted", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    return Reply(body, **reply)


def error(status: int, message: str = "scripted fault", **reply: Any) -> Reply:
    """An error as OpenAI words it."""
    return Reply({"error": {"message": message, "type": "scripted", "code": None}}, status=status, **reply)
