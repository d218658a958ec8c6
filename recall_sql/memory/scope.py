"""Whose memory it is, on which connection, and how its methods run recipes. No method for people is here."""

from __future__ import annotations

import copy
import re
import threading
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from recall_sql import moments
from recall_sql.connections import Connections
from recall_sql.errors import InputError, RecallError, RecipeError
from recall_sql.runner import Recipe, RunResult, execute, load
from recall_sql.runner.conflicts import execute_retrying
from recall_sql.session import register

if TYPE_CHECKING:
    from recall_sql.records import Records

Row = dict[str, Any]
S = TypeVar("S", bound="Scope")

_WHERE = re.compile(r" \(line \d+ of [^)]*\)$")


class RefusedError(RecallError):
    """A direct write that the rules of belief don't allow. The message names who wanted and who stands in the way."""


class Scope:
    """One bot's view of one person, usable from many threads."""

    def __init__(self, con: Any, *, agent_id: str = "default", user_id: str = "default") -> None:
        _check_names(agent_id, user_id)
        self._connections = Connections(register(native(con)))
        self._lock = threading.Lock()
        self._records: Records | None = None
        self.agent_id = agent_id
        self.user_id = user_id

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The calling thread's connection: the given one, or a cursor of it in any other thread."""
        return self._connections.con

    def _run(self, recipe: str, *, scoped: bool = True, short: bool = False, **values: Any) -> RunResult:
        return _execute(self.con, shipped(recipe), self._given(scoped, values), short=short)

    def _read(self, recipe: str, *, scoped: bool = True, **values: Any) -> RunResult:
        """Runs a recipe that changes nothing; such runs aren't recorded."""
        return execute(self.con, shipped(recipe), self._given(scoped, values), record=False)

    def _given(self, scoped: bool, values: dict[str, Any]) -> dict[str, Any]:
        moments.check([values])
        if scoped:
            values = {"agent_id": self.agent_id, "user_id": self.user_id, **values}
        return {name: value for name, value in values.items() if value is not None}


def of_another(memory: S, agent_id: str, user_id: str) -> S:
    """The memory of another bot or person, in the same database and on the same connections; costs nothing."""
    _check_names(agent_id, user_id)
    other = copy.copy(memory)
    other.agent_id, other.user_id = agent_id, user_id
    return other


def _check_names(agent_id: object, user_id: object) -> None:
    for name, value in (("agent_id", agent_id), ("user_id", user_id)):
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{name} is empty: name whose memory it is")


def rows(result: RunResult) -> list[Row]:
    """The rows of a run's first result table."""
    return result.tables[0].table.to_pylist()


def run(con: Any, recipe: str, **params: Any) -> RunResult:
    """Run a shipped recipe, or a .sql file, with parameters, and return its result tables.

    con: as for `Memory`, used by this thread. Conflicts with other transactions are retried. Raises InputError for a
    bad parameter, RefusedError for a direct write that trust forbids, RecipeError otherwise.
    """
    return _execute(register(native(con)), load(recipe), params)


def _execute(
    con: duckdb.DuckDBPyConnection, recipe: Recipe, values: Mapping[str, object], *, short: bool = False
) -> RunResult:
    try:
        return execute_retrying(con, recipe, values, short=short)
    except RecipeError as error:
        _, refused, why = str(error).partition("refused: ")
        if refused:
            raise RefusedError(_WHERE.sub("", why)) from error
        raise


shipped = cache(load)  # the recipes in the package don't change while it runs


def native(con: Any) -> duckdb.DuckDBPyConnection:
    """The DuckDB connection in a SQLAlchemy one; a DuckDB connection as it is."""
    if isinstance(con, duckdb.DuckDBPyConnection):
        return con
    pooled = getattr(con, "connection", con)
    inner = getattr(pooled, "driver_connection", pooled)
    for name in ("native", "_ConnectionWrapper__c"):
        inner = getattr(inner, name, inner)
    if not isinstance(inner, duckdb.DuckDBPyConnection):
        raise InputError(f"a DuckDB or SQLAlchemy connection is needed, not {type(con).__name__}")
    return inner
