"""The SQLAlchemy URL `recall:///memory.duckdb`: every pooled connection has the functions, the macros and the tables.

Responsible for opening the database once for an engine and for handing out its connections. The SQL that statements
become is duckdb-engine's, whose dialect this one extends; the inspector is `sqlalchemy_reflection`.

    engine = create_engine("recall:///memory.duckdb")                       # or recall:// for one in memory
    engine = create_engine("recall:///memory.duckdb?read_only=true&llm=ollama:qwen3")
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import duckdb
from duckdb_engine import Dialect as DuckDBDialect
from sqlalchemy import event, pool
from sqlalchemy.dialects import registry
from sqlalchemy.engine import URL, Engine

from recall_sql.errors import ConfigError
from recall_sql.integrations.sqlalchemy_reflection import CatalogReflection, DuckDBType, Vector
from recall_sql.session import connect, register
from recall_sql.settings import Values

__all__ = ["DuckDBType", "RecallDialect", "Vector"]

_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


class RecallDialect(CatalogReflection, DuckDBDialect):
    """DuckDB with recall_sql in it. The pool's connections are cursors of one connection, which the engine owns."""

    driver = "recall"
    supports_statement_cache = True
    supports_native_uuid = True
    returns_native_bytes = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._owner: duckdb.DuckDBPyConnection | None = None
        self._opening = threading.Lock()

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        """A queue, for a database in memory too: its connections are of the same database."""
        return pool.QueuePool

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """`engine.dispose()` lets the file go; a connection that comes back to the pool gets its search path back."""
        event.listen(engine, "engine_disposed", lambda disposed: disposed.dialect._close_owner())
        event.listen(engine, "checkin", _restore_search_path)

    def create_connect_args(self, url: URL) -> tuple[tuple[()], dict[str, Any]]:
        """The arguments of `recall_sql.connect` from a URL: read_only, settings of recall_sql, options of DuckDB."""
        arguments: dict[str, Any] = {"database": url.database or ":memory:", "settings": {}, "config": {}}
        for name, value in url.query.items():
            if not isinstance(value, str):
                raise ConfigError(f"the URL gives {name} twice")
            if name == "read_only":
                arguments["read_only"] = _truth(name, value)
            else:
                arguments["settings" if name in Values.model_fields else "config"][name] = value
        return (), arguments

    def connect(self, *_: Any, **arguments: Any) -> PooledConnection:
        """A connection for the pool."""
        with self._opening:
            if self._owner is None:
                self._owner = connect(**arguments)
            return PooledConnection(register(self._owner.cursor()))

    def _close_owner(self) -> None:
        with self._opening:
            if self._owner is not None:
                self._owner.close()
            self._owner = None

    def is_disconnect(self, error: Exception, connection: Any, cursor: Any) -> bool:
        """Whether the database was closed, so that the pool must connect anew."""
        return isinstance(error, duckdb.ConnectionException)


class PooledConnection:
    """A DuckDB connection as SQLAlchemy wants one: it makes cursors, of which several may be open at once.

    DuckDB keeps one result per connection. So before the next statement takes its place, the rows that nobody has read
    yet are read for the cursor they belong to.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.native = connection
        self.notices: list[str] = []
        self._search_path = connection.execute("select current_setting('search_path')").fetchall()[0][0]
        self._reading: PooledCursor | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def cursor(self) -> PooledCursor:
        """A cursor in this connection's transaction."""
        return PooledCursor(self)

    def make_room(self, cursor: PooledCursor | None) -> None:
        """The next result belongs to `cursor`."""
        if self._reading is not None and self._reading is not cursor:
            self._reading.keep_rows()
        self._reading = cursor

    def begin(self) -> None:
        """Begins a transaction."""
        self.make_room(None)
        self.native.begin()

    def commit(self) -> None:
        """Commits; unread rows can still be read."""
        self.make_room(None)
        self.native.commit()

    def rollback(self) -> None:
        """Rolls back, if there is a transaction; unread rows are gone."""
        self._reading = None
        try:
            self.native.rollback()
        except duckdb.TransactionException as error:
            if "no transaction is active" not in str(error):
                raise

    def restore_search_path(self) -> None:
        """Undoes what a USE has changed."""
        self.native.execute("set search_path = '" + self._search_path.replace("'", "''") + "'").fetchall()

    def close(self) -> None:
        """Closes the connection; the database stays open until the engine is disposed."""
        self._reading = None
        self.native.close()


class PooledCursor:
    """A DB-API cursor over the one result of a DuckDB connection."""

    arraysize = 1

    def __init__(self, connection: PooledConnection) -> None:
        self.connection = connection
        self.description: list[tuple[Any, ...]] | None = None
        self._kept: list[tuple[Any, ...]] | None = None

    @property
    def rowcount(self) -> int:
        """-1: DuckDB tells the number of changed rows as a result only."""
        return -1

    def execute(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] | None = None) -> None:
        """Runs a statement."""
        self._run(self.connection.native.execute, statement, parameters or None)

    def executemany(self, statement: str, parameters: Sequence[Any]) -> None:
        """Runs a statement once for each set of parameters."""
        self._run(self.connection.native.executemany, statement, list(parameters))

    def _run(self, method: Any, statement: str, parameters: Any) -> None:
        self.connection.make_room(self)
        self._kept = None
        method(statement, parameters)
        self.description = self.connection.native.description

    def keep_rows(self) -> None:
        """Reads what is left of the result, so that the connection is free for the next."""
        self._kept = self.connection.native.fetchall() if self.description else []

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, None at the end."""
        if self._kept is None:
            return self.connection.native.fetchone()
        return self._kept.pop(0) if self._kept else None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next `size` rows."""
        wanted = self.arraysize if size is None else size
        if self._kept is None:
            return self.connection.native.fetchmany(wanted)
        rows, self._kept = self._kept[:wanted], self._kept[wanted:]
        return rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        if self._kept is None:
            return self.connection.native.fetchall()
        rows, self._kept = self._kept, []
        return rows

    def close(self) -> None:
        """Drops what is left of the result."""
        if self.connection._reading is self:
            self.connection._reading = None
        self._kept = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection.native, name)


def _restore_search_path(pooled: PooledConnection | None, _: Any) -> None:
    if pooled is not None:  # None: the connection was given up
        with suppress(duckdb.Error):  # it is closed
            pooled.restore_search_path()


def _truth(name: str, value: str) -> bool:
    if value.lower() not in _TRUE + _FALSE:
        raise ConfigError(f"the URL says {name}={value}; expected true or false")
    return value.lower() in _TRUE


registry.register("recall", __name__, RecallDialect.__name__)
