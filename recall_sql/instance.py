"""What recall_sql knows of one running DuckDB database: its settings, its model calls, and how to reach its tables.

Every connection and cursor of a database shares one `Instance`, because DuckDB keeps functions per database and not per
connection. How a database gets one is the business of session.py.
"""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import duckdb

from recall_sql.errors import ConfigError

if TYPE_CHECKING:
    from recall_sql.calls import CallLayer
    from recall_sql.settings import Settings

LIBRARY = "recall_sql"  # the attached in-memory catalog that holds the macros


@dataclass(frozen=True)
class Home:
    """Where a database lives. database: its catalog name, in which our tables are. path: its file, None in memory.

    address: what `duckdb.connect` takes to reach the same running database again, None where nothing does (':memory:').
    """

    database: str
    path: str | None
    read_only: bool
    address: str | None


class Instance:
    """One DuckDB database with recall_sql in it. dimension: length of the vectors EMBED gives there."""

    def __init__(self, home: Home, settings: Settings) -> None:
        self.id = uuid.uuid4().hex
        self.database, self.path, self.read_only = home.database, home.path, home.read_only
        self.settings = settings
        self.dimension = 0
        self.functions: list[Any] = []  # DuckDB holds bare pointers to them
        self.last_error: BaseException | None = None
        self.recent_queries = RecentVectors(64)
        self._address = home.address
        self._config: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._connections: list[weakref.ref[duckdb.DuckDBPyConnection]] = []
        self._keeper: duckdb.DuckDBPyConnection | None = None

    @cached_property
    def calls(self) -> CallLayer:
        """The path of every model call; made at the first one, since it imports what a session may never need."""
        from recall_sql.calls import CallLayer

        return CallLayer(self)

    @property
    def store(self) -> str:
        """Qualified schema of recall_memo and recall_calls: the database, or the library where that is read-only."""
        return f"{LIBRARY}.main" if self.read_only else f"{quoted(self.database)}.main"

    def adopt(self, connection: duckdb.DuckDBPyConnection, config: dict[str, Any] | None = None) -> None:
        """Remember a connection of this instance, from which cursors of our own can be made."""
        with self._lock:
            self._config = config or self._config
            self._connections = [ref for ref in self._connections if ref() not in (None, connection)]
            self._connections.append(weakref.ref(connection))
            if self._address is None and (self._keeper is None or _closed(self._keeper)):
                self._keeper = connection.cursor()

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor of our own, for one piece of work: what it writes commits at once, whatever the caller's does.

        Nothing is held between two pieces of work, so that a file is let go as soon as its user closes it.
        """
        cursor = self._fresh_cursor()
        try:
            yield cursor
        finally:
            cursor.close()

    def _fresh_cursor(self) -> duckdb.DuckDBPyConnection:
        # a new cursor and never a statement on somebody else's connection: it may be the one that is calling us
        for known in [*(ref() for ref in self._connections), self._keeper]:
            if known is not None:
                with suppress(duckdb.ConnectionException):  # it is closed
                    return known.cursor()
        return self._reconnect()

    def _reconnect(self) -> duckdb.DuckDBPyConnection:
        """Every connection we knew is gone, yet somebody uses the functions: one more to the same database."""
        lost = ConfigError(
            "the connection that recall_sql was given is closed; call recall_sql.register() with the one in use"
        )
        if self._address is None:
            raise lost
        try:
            return duckdb.connect(self._address, read_only=self.read_only, config=self._config)
        except duckdb.Error as error:
            raise lost from error

    def let_go(self) -> None:
        """Free a database in memory that nobody but our own cursor holds any more."""
        with self._lock:
            if self._keeper is None or any(ref() is not None for ref in self._connections):
                return
            with suppress(duckdb.ConnectionException):  # closed together with the connection it came from
                if self._keeper.execute("from duckdb_connection_count()").fetchall() != [(1,)]:
                    return
                self._keeper.close()
            self._keeper = None


class RecentVectors:
    """The vectors of the last `size` texts that were asked for. Safe from many threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._vectors: dict[str, list[float]] = {}

    def get(self, text: str) -> list[float] | None:
        with self._lock:
            vector = self._vectors.pop(text, None)
            if vector is not None:
                self._vectors[text] = vector
            return vector

    def keep(self, vectors: Mapping[str, list[float]]) -> None:
        with self._lock:
            self._vectors.update(vectors)
            for text in list(self._vectors)[: max(0, len(self._vectors) - self._size)]:
                del self._vectors[text]


def quoted(name: str) -> str:
    """A SQL identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def closing_cursor(connection: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """A cursor that is closed at the end; the connection's own open result stays untouched."""
    cursor = connection.cursor()
    try:
        yield cursor
    finally:
        cursor.close()


def _closed(connection: duckdb.DuckDBPyConnection) -> bool:
    try:
        connection.cursor().close()
    except duckdb.ConnectionException:
        return True
    return False


def settle(connection: duckdb.DuckDBPyConnection) -> None:
    """A checkpoint, after comments on tables: DuckDB 1.5 can't replay them from its log, so a process that dies before
    the next one would leave a file that nobody can open. Not possible while somebody else writes, and then left out.
    """
    with suppress(duckdb.TransactionException):
        connection.execute("checkpoint").fetchall()
