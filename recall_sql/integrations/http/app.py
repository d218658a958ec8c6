"""Puts the application together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import duckdb
from fastapi import Depends, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.openapi.utils import get_openapi
from starlette.applications import Starlette
from starlette.routing import Route

import recall_sql
from recall_sql.errors import ConfigError, InputError
from recall_sql.integrations.http import problems
from recall_sql.integrations.http.doorman import Doorman
from recall_sql.integrations.http.routes import ROUTERS, operations
from recall_sql.integrations.http.service import Options, Service

_ABOUT = """Agent memory: what was said, and what is believed.

Every call is about one agent and one person. A key (`Authorization: Bearer recall_…`) opens one agent, and maybe one
person; without one a server on loopback lets the person at the machine in, as long as no key was made. Errors are
`application/problem+json`."""


def create_app(
    database: duckdb.DuckDBPyConnection | str | Path,
    *,
    host: str = "127.0.0.1",
    no_auth: bool = False,
    rate: float = 50.0,
    body: int = 1024 * 1024,
    grace: float = 10.0,
    model: str | None = None,
    http: bool = True,
    mcp: bool = False,
) -> FastAPI:
    """The memory as an ASGI application. It stores and reads turns between its startup and its shutdown.

    database: a connection, which stays the caller's, or a path. host: where it will be listened, which decides who
    needs a key; no_auth: nobody, on loopback. rate: requests a second that one key may send, 0 for any number. body:
    bytes of a request. grace: seconds that the shutdown may take. model: who extracts; the setting `extractor`, if not
    given. http, mcp: the doors that are open; MCP is under /mcp.

    Raises ConfigError for a database that can't be opened, and for an address seen by others while no key exists.
    """
    service = Service(database, Options(host, no_auth, rate, body, grace, model))
    agents = _mcp_app(service) if mcp else None

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(service.start)
        try:
            async with agents.router.lifespan_context(agents) if agents else nullcontext():
                yield
        finally:
            await run_in_threadpool(service.stop)

    app = FastAPI(
        title="recall-sql",
        version=recall_sql.__version__,
        description=_ABOUT,
        lifespan=lifespan,
        dependencies=[Depends(_known_parameters)],
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
    )
    app.state.service = service
    routers = ROUTERS if http else (operations.router,)
    for router in routers:
        app.include_router(router)
    app.state.routes = [route for router in routers for route in router.routes]
    if agents is not None:
        app.router.routes.append(Route("/mcp", endpoint=agents))
    problems.install(app)
    app.add_middleware(Doorman, service=service)
    app.openapi = lambda: _document(app)
    return app


async def _known_parameters(request: Request) -> None:
    """Refuses a query parameter that the address doesn't have: a filter with a slip in its name filters nothing."""
    if not request.query_params:
        return
    about = request.app.openapi()["paths"][request.scope["route"].path_format][request.method.lower()]
    known = sorted(one["name"] for one in about.get("parameters", ()) if one["in"] == "query")
    if not set(known).issuperset(request.query_params):
        raise InputError(f"unknown query parameter; this address takes {', '.join(known) or 'none'}")


def _mcp_app(service: Service) -> Starlette:
    """The door for agents, at the same gate."""
    try:
        from recall_sql.integrations.mcp import mcp_app
    except ModuleNotFoundError as error:
        raise ConfigError(f"MCP needs the package {error.name}: pip install recall-sql[mcp]") from None
    return mcp_app(service.con, service.gate, host=service.options.host)


def _document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, with our own shape of errors instead of FastAPI's."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes, summary=app.summary
        )
        schemas = made["components"]["schemas"]
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        for shape in (problems.Problem, problems.TrustProblem):
            schemas[shape.__name__] = shape.model_json_schema()
        app.openapi_schema = made
    return app.openapi_schema
