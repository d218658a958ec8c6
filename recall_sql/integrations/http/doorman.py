"""Stands before every route: who calls, how often, and under which name of this machine.

It asks before a body is read, so that nobody without a key makes the server work, and counts every answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import MutableMapping
from typing import Any

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recall_sql.access import AccessError, Forbidden, Principal, is_loopback
from recall_sql.integrations.http.problems import problem, too_often
from recall_sql.integrations.http.service import Service

_TOO_LARGE = "a request may have {} bytes; send less at once"
OPEN = frozenset(("/healthz", "/openapi.json"))


class Doorman:
    """ASGI middleware that puts the principal into the request's state, or answers itself."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, answering = time.perf_counter(), 500, False

        async def noting(message: Message) -> None:
            nonlocal status, answering
            if message["type"] == "http.response.start":
                status, answering = message["status"], True
            await send(message)

        try:
            refused = None if scope["path"] in OPEN else await self._refused(scope)
            if refused is None:
                await self._app(scope, self._bounded(receive), noting)
            else:
                await refused(scope, receive, noting)
        except asyncio.CancelledError:  # the server waited for this request as long as it may when it stops
            if answering:
                raise
            refused = problem(503, "the server is stopping; try again", headers={"Retry-After": "5"})
            await refused(scope, receive, noting)
        finally:
            route = getattr(scope.get("route"), "path", "(none)")
            self._service.metrics.answered(_known(scope["method"]), route, status, time.perf_counter() - started)

    def _bounded(self, receive: Receive) -> Receive:
        """413 as soon as more has come than a request may have, whatever its Content-Length said."""
        left = self._service.options.body

        async def bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, _TOO_LARGE.format(self._service.options.body))
            return message

        return bounded

    async def _refused(self, scope: MutableMapping[str, Any]) -> JSONResponse | None:
        """The answer to somebody who isn't let in; None, and the principal is known, for anybody else."""
        headers = Headers(scope=scope)
        address = (scope.get("client") or ("",))[0]
        try:
            principal = await run_in_threadpool(self._enter, headers)
        except Forbidden as error:
            return problem(403, str(error))
        except AccessError as error:
            if wait := self._service.failures.take(address):
                return too_often(wait)
            return problem(401, str(error), headers={"WWW-Authenticate": "Bearer"})
        if wait := self._service.calls.take(principal.key_id or address):
            return too_often(wait)
        said = headers.get("content-length", "")
        if said.isascii() and said.isdigit() and int(said) > self._service.options.body:
            return problem(413, _TOO_LARGE.format(self._service.options.body))
        scope.setdefault("state", {})["principal"] = principal
        return None

    def _enter(self, headers: Headers) -> Principal:
        principal = self._service.gate.enter(self._service.con, _bearer(headers))
        if principal.key_id is None and not is_loopback(_name(headers.get("host", ""))):
            # a web page whose name was made to lead here reaches this machine through its user's browser
            raise Forbidden("without a key this server is called 127.0.0.1 or localhost")
        return principal


def _bearer(headers: Headers) -> str | None:
    """The key; what else stands in the header is a wrong key, not none."""
    given = headers.get("authorization")
    if given is None:
        return None
    scheme, _, secret = given.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _name(host: str) -> str:
    """127.0.0.1:8080 and [::1]:8080 without the port."""
    return host.partition("]")[0].strip("[") if host.startswith("[") else host.partition(":")[0]


def _known(method: str) -> str:
    return method if method in ("GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS") else "(other)"
