"""What went wrong, as application/problem+json (RFC 9457). No answer repeats a value that was sent."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import duckdb
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.routing import Match

from recall_sql.access import Forbidden, Unauthorized
from recall_sql.errors import ConfigError, InputError, ModelError, RecallError, RecipeError
from recall_sql.integrations.http.intake import Busy
from recall_sql.memory import RefusedError
from recall_sql.records.sandbox import SandboxError
from recall_sql.runner.conflicts import is_conflict
from recall_sql.session import last_error

_log = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """What every error looks like (RFC 9457). Some kinds say more."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str


class TrustProblem(Problem):
    """A write that the rules of belief refuse. event: the rule. source wanted it, held_by stands in the way."""

    event: str
    source: str | None = None
    held_by: str | None = None


def problem(
    status: int, detail: str, *, kind: str | None = None, headers: Mapping[str, str] | None = None, **more: Any
) -> JSONResponse:
    """An answer. kind: what programs tell it by, besides the status."""
    title = HTTPStatus(status).phrase
    name = f"urn:recall-sql:{kind or re.sub('[^a-z]+', '-', title.lower())}"
    body = {"type": name, "title": title, "status": status, "detail": detail, **more}
    return JSONResponse(body, status, dict(headers or {}), MEDIA_TYPE)


def too_often(seconds: float) -> JSONResponse:
    """429, with the time to wait."""
    return problem(429, "too many requests", headers={"Retry-After": str(max(1, math.ceil(seconds)))})


def described(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For a route's documentation: what besides success it may answer."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{_name(status)}"}}},
        }
        for status in sorted({400, 401, 403, 413, 422, 429, 503, *statuses})
    }


def _name(status: int) -> str:
    return "TrustProblem" if status == 409 else "Problem"


# --- from exceptions --------------------------------------------------------------------------------------------------

_SOURCES = re.compile(r"(?P<source>[A-Z]+) may not (?:change what (?P<held_by>[A-Z]+) said|set a RULE)")
_BY_THE_RECIPE = "Invalid Input Error: "  # what error('…') in a recipe says about a value
_OUR_NOISE = re.compile(r" \(line \d+ of [^)]*\)")


def _refused(_request: Request, error: Exception) -> JSONResponse:
    text = str(error)
    event = text.partition(",")[0]
    if text.startswith("there is no fact") or event == "nothing_to_retract":
        return problem(404, "there is no such fact")
    if event == "rejected_invalid":
        return problem(422, text)
    if not event.startswith("rejected_"):
        return problem(409, text, kind="ambiguous", event="ambiguous")
    sources = _SOURCES.search(text)
    found = sources.groupdict() if sources else {}
    return problem(409, text, kind="refused", event=event, **found)


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    if any(fault["type"] == "json_invalid" for fault in faults):
        return problem(400, "the body isn't JSON")
    shown = [{"where": ".".join(map(str, fault["loc"])), "what": fault["msg"]} for fault in faults[:20]]
    return problem(422, f"{shown[0]['where']}: {shown[0]['what']}", errors=shown)


def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:  # the router knows the methods of one route alone
        routes = [route for route in request.app.state.routes if route.matches(request.scope)[0] is Match.PARTIAL]
        methods = {method for route in routes for method in route.methods or ()}
        return problem(405, "this address has other methods", headers={"Allow": ", ".join(sorted(methods))})
    return problem(error.status_code, str(error.detail), headers=error.headers)


def _unauthorized(_request: Request, error: Exception) -> JSONResponse:
    return problem(401, str(error), headers={"WWW-Authenticate": "Bearer"})


def _forbidden(_request: Request, error: Exception) -> JSONResponse:
    return problem(403, str(error))


def _unprocessable(_request: Request, error: Exception) -> JSONResponse:
    return problem(422, _OUR_NOISE.sub("", str(error)))


def _unavailable(_request: Request, error: Exception) -> JSONResponse:
    again = error.retry_after if isinstance(error, ModelError) and error.retry_after else 5
    return problem(503, _OUR_NOISE.sub("", str(error)), headers={"Retry-After": str(math.ceil(again))})


def _recipe(request: Request, error: Exception) -> JSONResponse:
    """A recipe that failed: because a model did, because of others' transactions, or because of a bug of ours."""
    behind = last_error(request.app.state.service.con)
    if isinstance(behind, ModelError | ConfigError) and str(behind) in str(error):
        return _unavailable(request, behind)
    if isinstance(error, RecipeError) and is_conflict(error):
        return problem(503, "others are changing the same rows; try again", headers={"Retry-After": "1"})
    if isinstance(behind, InputError) and str(behind) in str(error):
        return _unprocessable(request, behind)
    said = str(error.__cause__) if isinstance(error.__cause__, duckdb.InvalidInputException) else ""
    if said.startswith(_BY_THE_RECIPE) and "Python exception" not in said:
        return problem(422, said.removeprefix(_BY_THE_RECIPE))
    return _unforeseen(request, error)


def _unforeseen(_request: Request, error: Exception) -> JSONResponse:
    _log.error("unforeseen %s", type(error).__name__, exc_info=error)
    return problem(500, "something went wrong here; the server's log says what")


def install(app: FastAPI) -> None:
    """From now on every error of the app is a problem."""
    for kind, handler in (
        (RequestValidationError, _invalid),
        (HTTPException, _http),
        (Unauthorized, _unauthorized),
        (Forbidden, _forbidden),
        (RefusedError, _refused),
        (InputError, _unprocessable),
        (SandboxError, _unprocessable),
        (ModelError, _unavailable),
        (ConfigError, _unavailable),
        (Busy, _unavailable),
        (RecallError, _recipe),
        (duckdb.Error, _recipe),
        (Exception, _unforeseen),
    ):
        app.add_exception_handler(kind, handler)
