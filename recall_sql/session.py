"""Opens a database: functions, macro library, schema, versions.

An `Instance` is what recall_sql knows of one running DuckDB database. Every connection and cursor of that database
shares it, because DuckDB keeps functions per instance and not per connection.
"""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from recall_sql import resources
from recall_sql.calls import CallLayer
from recall_sql.errors import ConfigError, InputError
from recall_sql.models import registry
from recall_sql.settings import Settings

LIBRARY = "recall_sql"  # the attached in-memory catalog that holds the macros
SCHEMA_VERSION = 1

# DuckDB calls a function through a bare pointer and forgets to keep it alive when the connection that registered it is
# closed, which crashes the process. So instances, and with them their functions, are never dropped: a few kilobytes each.
_instances: dict[str, Instance] = {}
_opening = threading.RLock()


class Instance:
    """One DuckDB database with recall_sql in it: its settings, its model calls, and where its tables are."""

    def __init__(self, database: str, path: str | None, read_only: bool, settings: Settings) -> None:
        self.id = uuid.uuid4().hex
        self.database = database
        self.path = path
        self.read_only = read_only
        self.settings = settings
        self.dimension = 0
        self.calls = CallLayer(self)
        self.functions: list[Any] = []
        self.last_error: BaseException | None = None
        self._config: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._connections: list[weakref.ref[duckdb.DuckDBPyConnection]] = []
        self._own: duckdb.DuckDBPyConnection | None = None

    @property
    def store(self) -> str:
        """Qualified schema of recall_memo and recall_calls: the database, or the library where that is read-only."""
        return f"{LIBRARY}.main" if self.read_only else f"{quoted(self.database)}.main"

    def adopt(self, connection: duckdb.DuckDBPyConnection, config: dict[str, Any] | None = None) -> None:
        """Remember a connection of this instance, from which a cursor of our own can be made."""
        with self._lock:
            self._config = config or self._config
            self._connections = [ref for ref in self._connections if ref() is not None]
            if any(ref() is connection for ref in self._connections):
                return
            self._connections.append(weakref.ref(connection))
            weakref.finalize(connection, self._connection_gone).atexit = False

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection of our own to the same database. What it writes commits at once, whatever the caller's does."""
        with self._lock:
            if self._own is None or _closed(self._own):
                self._own = self._fresh_cursor()
            if self._own is not None:
                yield self._own
                return
            with self._reopened() as connection:
                yield connection

    def _fresh_cursor(self) -> duckdb.DuckDBPyConnection | None:
        # never a statement on somebody else's connection: it may be the one that is calling us
        for ref in self._connections:
            connection = ref()
            if connection is not None:
                with suppress(duckdb.ConnectionException):  # it is closed
                    return connection.cursor()
        return None

    @contextmanager
    def _reopened(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Every connection we knew is closed, yet somebody still uses the functions: a second connection to the file."""
        if self.path is None:
            raise ConfigError("the connection that registered recall_sql is closed; call recall_sql.register(con) again")
        connection = duckdb.connect(self.path, read_only=self.read_only, config=self._config)
        try:
            yield connection
        finally:
            connection.close()

    def _connection_gone(self) -> None:
        """A connection was collected without being closed: if only our own cursor is left, let the database go."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            own = self._own
            if own is not None and not _closed(own):
                alone = own.execute("select * from duckdb_connection_count()").fetchone()
                if alone == (1,):
                    own.close()
                    self._own = None
        finally:
            self._lock.release()


def connect(
    database: str | os.PathLike[str] = ":memory:",
    *,
    read_only: bool = False,
    config: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    check_embedding: bool = True,
) -> duckdb.DuckDBPyConnection:
    """Opens a DuckDB database with the functions, the macro library and the tables in place.

    database: path of the file, or ':memory:'. config: DuckDB's own options. settings: as for `recall_set`.
    check_embedding: False opens a database whose vectors another model made (the recipe maintenance/reembed needs that).
    Returns a normal DuckDB connection. Raises ConfigError naming what is wrong with the file and what to do.
    """
    path = os.fspath(database)
    checked = Settings(settings)  # before the file is touched
    connection = _open_file(path, read_only, config or {})
    try:
        instance = _install(connection, checked, settings or {}, check_embedding)
        instance.adopt(connection, config)
    except BaseException:
        connection.close()
        raise
    return connection


def register(
    connection: duckdb.DuckDBPyConnection,
    *,
    settings: dict[str, Any] | None = None,
    check_embedding: bool = True,
) -> duckdb.DuckDBPyConnection:
    """Does the same to a connection somebody else opened, and returns it. Twice is harmless."""
    instance = _install(connection, Settings(settings), settings or {}, check_embedding)
    instance.adopt(connection)
    return connection


def instance_of(connection: duckdb.DuckDBPyConnection) -> Instance:
    """The instance behind a connection or cursor; InputError if recall_sql isn't registered in it."""
    found = _find(connection)
    if found is None:
        raise InputError("recall_sql isn't registered in this connection: open it with recall_sql.connect() or register()")
    return found


def last_error(connection: duckdb.DuckDBPyConnection) -> BaseException | None:
    """The Python exception behind the last error of a SQL function, which DuckDB passes on as text only."""
    return instance_of(connection).last_error


def quoted(name: str) -> str:
    """A SQL identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


# --- opening a file ---------------------------------------------------------------------------------------------------


def _open_file(path: str, read_only: bool, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    on_disk = path != "" and not path.startswith(":memory:")
    if on_disk:
        file = Path(path)
        if file.is_dir():
            raise ConfigError(f"{path} is a directory; name a database file in it, for example {file / 'memory.duckdb'}")
        if read_only and not file.exists():
            raise ConfigError(f"{path} doesn't exist, and a read-only connection can't create it")
        if not file.parent.is_dir():
            raise ConfigError(f"{path} can't be created: there is no directory {file.parent}")
        if file.stem.lower() == LIBRARY:
            raise ConfigError(f"{path}: a database can't be called {LIBRARY}, which is the function library's name; rename the file")
    try:
        return duckdb.connect(path, read_only=read_only, config=config)
    except duckdb.Error as error:
        raise ConfigError(f"can't open {path}: {_why(str(error))}") from error


def _why(message: str) -> str:
    """DuckDB's message with the remedy in front, for the cases a person meets."""
    text = " ".join(message.split())
    if "Could not set lock" in text or "Conflicting lock" in text or "being used by another process" in text:
        return f"another process has it open; close that one, or open the file with read_only=True while it isn't writing ({text})"
    if "newer" in text and "version" in text or "storage version" in text or "version number" in text:
        return f"a different (newer) DuckDB wrote it; upgrade the duckdb package ({text})"
    if "not a valid DuckDB database" in text:
        return f"it isn't a DuckDB database file ({text})"
    return text


# --- putting recall_sql in --------------------------------------------------------------------------------------------


def _install(
    connection: duckdb.DuckDBPyConnection, checked: Settings, overrides: dict[str, Any], check_embedding: bool
) -> Instance:
    with _opening:
        instance = _find(connection)
        if instance is None:
            instance = _new_instance(connection, checked)
            with closing_cursor(connection) as cursor:
                stored = _stored_embedding(cursor, instance)
                wanted = _wanted_embedding(instance.settings, stored)
                if check_embedding:
                    _check_embedding(instance, stored, wanted)
                instance.dimension = wanted[1]
                _prepare(cursor, connection, instance, wanted)
            _instances[instance.id] = instance
        else:
            for name, value in overrides.items():
                instance.settings.set(name, value)
        _set_search_path(connection, instance)
        return instance


def _find(connection: duckdb.DuckDBPyConnection) -> Instance | None:
    with closing_cursor(connection) as cursor:
        known = cursor.execute("select 1 from duckdb_functions() where function_name = 'recall_instance' limit 1").fetchone()
        if known is None:
            return None
        row = cursor.execute("select recall_instance(0)").fetchone()
    return _instances.get(row[0]) if row else None


def _new_instance(connection: duckdb.DuckDBPyConnection, settings: Settings) -> Instance:
    database, path, read_only = connection.execute(
        "select database_name, path, readonly from duckdb_databases() where database_name = current_database()"
    ).fetchall()[0]
    return Instance(database, path, bool(read_only), settings)


def _prepare(
    cursor: duckdb.DuckDBPyConnection,
    connection: duckdb.DuckDBPyConnection,
    instance: Instance,
    wanted: tuple[str, int],
) -> None:
    from recall_sql.functions import install

    instance.adopt(connection)
    cursor.execute(f"use {quoted(instance.database)}")
    if not instance.read_only:
        _create_tables(cursor, wanted)
    install(cursor, instance)
    _load_library(cursor, instance)


def _create_tables(cursor: duckdb.DuckDBPyConnection, embedding: tuple[str, int]) -> None:
    version = _meta(cursor, "schema_version")
    if version is not None and int(version) > SCHEMA_VERSION:
        raise ConfigError(f"a newer recall_sql made these tables (schema version {version}, this one knows {SCHEMA_VERSION}); upgrade it")
    if version is not None:
        return
    cursor.execute("begin transaction")
    try:
        for script in sorted((resources.sql_dir() / "schema").glob("*.sql")):
            cursor.execute(script.read_text("utf-8").replace("{{ dimension }}", str(embedding[1])))
        cursor.executemany(
            "insert or replace into recall_meta (name, value) values (?, ?)",
            [
                ("schema_version", str(SCHEMA_VERSION)),
                ("embedding_model", embedding[0]),
                ("embedding_dimension", str(embedding[1])),
            ],
        )
        cursor.execute("commit")
    except BaseException:
        cursor.execute("rollback")
        raise


def _load_library(cursor: duckdb.DuckDBPyConnection, instance: Instance) -> None:
    """Macros and vocabulary, in a catalog of their own so that the user's file isn't littered."""
    cursor.execute(f"attach if not exists ':memory:' as {LIBRARY}")
    vocabulary = resources.sql_dir() / "vocabulary"
    for name in ("fact_keys", "source_trust"):
        cursor.execute(
            f"create or replace table {LIBRARY}.main.{name} as from read_csv(?, header := true, all_varchar := {name == 'fact_keys'})",
            [str(vocabulary / f"{name}.csv")],
        )
    if instance.read_only:
        cursor.execute(f"use {LIBRARY}")
        cursor.execute((resources.sql_dir() / "schema" / "02_calls.sql").read_text("utf-8"))
        cursor.execute(f"use {quoted(instance.database)}")
    for script in sorted((resources.sql_dir() / "library").glob("*.sql")):
        cursor.execute(script.read_text("utf-8"))


def _set_search_path(connection: duckdb.DuckDBPyConnection, instance: Instance) -> None:
    path = f"{quoted(instance.database)}.main,{LIBRARY}.main"
    connection.execute("set search_path = '" + path.replace("'", "''") + "'").fetchall()


# --- which model made the vectors -------------------------------------------------------------------------------------


def _stored_embedding(cursor: duckdb.DuckDBPyConnection, instance: Instance) -> tuple[str, int] | None:
    cursor.execute(f"use {quoted(instance.database)}")
    model, dimension = _meta(cursor, "embedding_model"), _meta(cursor, "embedding_dimension")
    return (model, int(dimension)) if model and dimension else None


def _meta(cursor: duckdb.DuckDBPyConnection, name: str) -> str | None:
    with suppress(duckdb.CatalogException):  # a database that recall_sql has never written to
        row = cursor.execute("select value from recall_meta where name = ?", [name]).fetchone()
        return row[0] if row else None
    return None


def _wanted_embedding(settings: Settings, stored: tuple[str, int] | None) -> tuple[str, int]:
    model = settings.embedder
    dimension = settings.embedding_dimension or registry.dimension_of(model)
    if dimension is None and stored is not None and stored[0] == model:
        dimension = stored[1]
    if dimension is None:
        raise ConfigError(f"the length of {model}'s vectors isn't known: set RECALL_EMBEDDING_DIMENSION (or settings={{'embedding_dimension': …}})")
    return model, dimension


def _check_embedding(instance: Instance, stored: tuple[str, int] | None, wanted: tuple[str, int]) -> None:
    if stored is None or stored == wanted:
        return
    raise ConfigError(
        f"this database holds {stored[1]}-dimension vectors of {stored[0]}, but {wanted[0]} with {wanted[1]} dimensions is set. "
        f"Set RECALL_EMBEDDER={stored[0]} to go on with it, or make its vectors anew: recall-sql run maintenance/reembed --db {instance.path or '…'}"
    )


# --- small helpers ----------------------------------------------------------------------------------------------------


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
        connection.execute("select 1").fetchall()  # on DuckDB 2.0 an unread result keeps the connection busy
    except duckdb.ConnectionException:
        return True
    return False

