"""Opens a database: functions, macro library, schema, versions.

What recall_sql keeps of an open database is an `Instance` (instance.py); which functions there are is functions/; the
tables and macros are SQL files in sql/.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import duckdb

from recall_sql import extensions, resources
from recall_sql.errors import ConfigError, InputError
from recall_sql.files import address_of, open_file
from recall_sql.instance import LIBRARY, Home, Instance, closing_cursor, quoted, settle

if TYPE_CHECKING:
    from recall_sql.settings import Settings

__all__ = ["LIBRARY", "Instance", "closing_cursor", "connect", "instance_of", "last_error", "quoted", "register"]

SCHEMA_VERSION = 3
HNSW = "chat_turns_hnsw"  # the one index of an extension that we make

# DuckDB calls a function through a bare pointer and forgets to keep it alive when the connection that registered it is
# closed, which crashes the process. So instances and their functions are never dropped: a few kilobytes each.
_instances: dict[str, Instance] = {}
_opening = threading.RLock()


def connect(
    database: str | os.PathLike[str] = ":memory:",
    *,
    read_only: bool = False,
    config: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    check_embedding: bool = True,
) -> duckdb.DuckDBPyConnection:
    """Opens a DuckDB database with the functions, the macro library and the tables in place.

    database: path of the file (~ is the home directory), or ':memory:', or ':memory:NAME' to share one by its name.
    config: DuckDB's own options. settings: as for `recall_set`. check_embedding: False opens a database whose vectors
    another model made (the recipe maintenance/reembed needs that).
    Returns a normal DuckDB connection. Raises ConfigError naming what is wrong with the file and what to do.
    """
    from recall_sql.settings import Settings

    address = address_of(database)
    checked = Settings(settings)  # before the file is touched
    connection = open_file(address, read_only, config or {})
    try:
        shared = address if address not in ("", ":memory:") else None
        instance = _install(connection, checked, settings or {}, check_embedding, shared)
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
    """Does the same to a connection somebody else opened, and returns it. Twice is harmless.

    The tables go to the connection's current database. A result that hasn't been read yet is lost, as with any
    statement. Raises InputError within an open transaction, which wouldn't see the functions.
    """
    from recall_sql.settings import Settings

    instance = _install(connection, Settings(settings), settings or {}, check_embedding, None)
    instance.adopt(connection)
    return connection


def instance_of(connection: duckdb.DuckDBPyConnection) -> Instance:
    """The instance behind a connection or cursor; InputError if recall_sql isn't registered in it."""
    found = _find(connection)
    if found is None:
        raise InputError(
            "recall_sql isn't registered in this connection: open it with recall_sql.connect() or register()"
        )
    return found


def last_error(connection: duckdb.DuckDBPyConnection) -> BaseException | None:
    """The Python exception behind the last error of a SQL function, which DuckDB passes on as text only."""
    return instance_of(connection).last_error


# --- putting recall_sql in --------------------------------------------------------------------------------------------


def _install(
    connection: duckdb.DuckDBPyConnection,
    checked: Settings,
    overrides: dict[str, Any],
    check_embedding: bool,
    address: str | None,
) -> Instance:
    with _opening:
        for other in _instances.values():
            other.let_go()
        instance = _find(connection)
        if instance is None:
            instance = _new_instance(connection, checked, check_embedding, address)
            _instances[instance.id] = instance
        else:
            for name, value in overrides.items():
                instance.settings.set(name, value)
        _set_search_path(connection, instance)
        return instance


def _find(connection: duckdb.DuckDBPyConnection) -> Instance | None:
    with closing_cursor(connection) as cursor, suppress(duckdb.CatalogException):  # there is no such function
        return _instances.get(cursor.execute("select recall_instance(0)").fetchall()[0][0])
    return None


def _new_instance(
    connection: duckdb.DuckDBPyConnection, settings: Settings, check_embedding: bool, address: str | None
) -> Instance:
    from recall_sql.functions import install, remove

    if _in_transaction(connection):
        raise InputError(
            "a transaction is open, and wouldn't see the functions: commit it before recall_sql.register()"
        )
    home = _home(connection, address)
    instance = Instance(home, settings)
    with closing_cursor(connection) as cursor:
        cursor.execute(f"use {quoted(home.database)}").fetchall()
        stored = _stored_embedding(cursor)
        wanted = _wanted_embedding(settings, stored)
        if check_embedding:
            _check_embedding(instance, stored, wanted)
        _check_names(cursor)
        instance.dimension = wanted[1]
        settings.fix("embedder", "embedding_dimension")
        instance.adopt(connection)
        has_hnsw = hnsw_index(cursor, instance.database)
        if has_hnsw and not instance.read_only:  # without its extension nobody may write to the table
            extensions.load(cursor, "vss")
        if not instance.read_only:
            _create_tables(cursor, wanted)
        install(cursor, instance)
        try:
            _load_library(cursor, instance)
            if has_hnsw:
                cursor.execute((resources.sql_dir() / "extensions" / "hnsw_search.sql").read_text("utf-8")).fetchall()
        except BaseException:
            remove(cursor)
            cursor.execute(f"detach database if exists {LIBRARY}").fetchall()
            raise
    return instance


def hnsw_index(cursor: duckdb.DuckDBPyConnection, database: str) -> bool:
    """Whether the turns of a database have an HNSW index (recall_sql/indexing.py makes it)."""
    found = f"from duckdb_indexes() where database_name = {_text(database)} and index_name = {_text(HNSW)}"
    return bool(cursor.execute(found).fetchall())


def _home(connection: duckdb.DuckDBPyConnection, address: str | None) -> Home:
    databases = connection.execute(
        "select database_name, path, readonly, database_name = current_database() as current"
        " from duckdb_databases() where not internal order by database_oid"
    ).fetchall()
    name, path, read_only, _ = next((row for row in databases if row[3]), (None, None, False, False))
    if name is None:
        raise ConfigError("the connection's current database is one of DuckDB's own; USE a database first")
    if name.lower() == LIBRARY:
        raise ConfigError(f"a database can't be called {LIBRARY}, which is the function library's name; rename it")
    # the first database is the one the connection was opened with: only its path leads to this running DuckDB again
    return Home(name, path, bool(read_only), address or databases[0][1])


def _in_transaction(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether two statements share a transaction; each has its own otherwise."""
    first, second = (connection.execute("select txid_current()").fetchall() for _ in range(2))
    return first == second


def _check_names(cursor: duckdb.DuckDBPyConnection) -> None:
    """Neither the library nor a function may hide or be hidden by something of the user's."""
    from recall_sql.functions import all_functions

    for function in all_functions():
        with suppress(duckdb.CatalogException):  # there is none: asked this way, it takes a twentieth of a catalog scan
            cursor.execute(f"explain select {function.name}(null)").fetchall()
            raise ConfigError(f"this database has a function {function.name} already, which recall_sql brings itself")
    if cursor.execute(f"from duckdb_databases() where lower(database_name) = {_text(LIBRARY)}").fetchall():
        raise ConfigError(
            f"a database called {LIBRARY} is attached, which is the function library's name; attach it under another"
        )


def _create_tables(cursor: duckdb.DuckDBPyConnection, embedding: tuple[str, int]) -> None:
    version = _meta(cursor, "schema_version")
    if version is not None and int(version) > SCHEMA_VERSION:
        raise ConfigError(
            f"a newer recall_sql made these tables (schema version {version}, this one knows {SCHEMA_VERSION}); "
            "upgrade recall-sql"
        )
    if version is not None and int(version) == SCHEMA_VERSION:
        return
    cursor.execute("begin transaction").fetchall()
    try:
        for script in sorted((resources.sql_dir() / "schema").glob("*.sql")):  # an older database gets what it lacks
            cursor.execute(script.read_text("utf-8").replace("{{ dimension }}", str(embedding[1]))).fetchall()
        cursor.execute(
            f"insert or replace into recall_meta (name, value) values ('schema_version', '{SCHEMA_VERSION}')"
        ).fetchall()
        cursor.execute(
            "insert or ignore into recall_meta (name, value)"
            f" values ('embedding_model', {_text(embedding[0])}), ('embedding_dimension', '{embedding[1]}')"
        ).fetchall()
        cursor.execute("commit").fetchall()
    except BaseException:
        cursor.execute("rollback").fetchall()
        raise
    settle(cursor)


def _load_library(cursor: duckdb.DuckDBPyConnection, instance: Instance) -> None:
    """Macros and vocabulary, in a catalog of their own so that the user's file isn't littered."""
    cursor.execute(f"attach ':memory:' as {LIBRARY} (read_write)").fetchall()  # also beside a read-only file
    vocabulary = resources.sql_dir() / "vocabulary"
    for name, as_text in (("fact_keys", True), ("source_trust", False)):
        cursor.execute(
            f"create or replace table {LIBRARY}.main.{name} as"
            f" from read_csv({_text(str(vocabulary / f'{name}.csv'))}, header := true, all_varchar := {as_text})"
        ).fetchall()
    if instance.read_only:
        cursor.execute(f"use {LIBRARY}").fetchall()
        cursor.execute((resources.sql_dir() / "schema" / "02_calls.sql").read_text("utf-8")).fetchall()
        _set_search_path(cursor, instance)  # macros over those tables find them here
    for script in sorted((resources.sql_dir() / "library").glob("*.sql")):
        cursor.execute(script.read_text("utf-8").replace("{{ dimension }}", str(instance.dimension))).fetchall()


def _set_search_path(connection: duckdb.DuckDBPyConnection, instance: Instance) -> None:
    """Our tables and the library, behind the schema that the connection uses now."""
    here = connection.execute("select current_database(), current_schema()").fetchall()[0]
    schemas = dict.fromkeys([here, (instance.database, "main"), (LIBRARY, "main")])
    path = ",".join(f"{quoted(database)}.{quoted(schema)}" for database, schema in schemas)
    connection.execute("set search_path = '" + path.replace("'", "''") + "'").fetchall()


# --- which model made the vectors -------------------------------------------------------------------------------------


def _stored_embedding(cursor: duckdb.DuckDBPyConnection) -> tuple[str, int] | None:
    model, dimension = _meta(cursor, "embedding_model"), _meta(cursor, "embedding_dimension")
    return (model, int(dimension)) if model and dimension else None


def _meta(cursor: duckdb.DuckDBPyConnection, name: str) -> str | None:
    with suppress(duckdb.CatalogException):  # a database that recall_sql has never written to
        rows = cursor.execute(f"select value from recall_meta where name = {_text(name)}").fetchall()
        return rows[0][0] if rows else None
    return None


def _wanted_embedding(settings: Settings, stored: tuple[str, int] | None) -> tuple[str, int]:
    """The embedder that is set and the length of its vectors; that of the stored ones where its name doesn't tell."""
    from recall_sql.models import registry

    model, asked = settings.embedder.strip(), settings.embedding_dimension
    ref = registry.parse(model)
    if ref.provider in registry.ALONE:
        model = ref.provider  # however it was written
    known = registry.dimension_of(model)
    if known and asked and asked != known and ref.provider != "openai":  # whose models shorten their vectors
        raise ConfigError(
            f"{model} makes {known}-dimension vectors, but RECALL_EMBEDDING_DIMENSION is {asked}; unset it"
        )
    dimension = asked or known
    if dimension is None and stored is not None and stored[0] == model:
        dimension = stored[1]
    if dimension is None:
        raise ConfigError(
            f"the length of {model}'s vectors isn't known: set RECALL_EMBEDDING_DIMENSION "
            "(or settings={'embedding_dimension': …})"
        )
    return model, dimension


def _check_embedding(instance: Instance, stored: tuple[str, int] | None, wanted: tuple[str, int]) -> None:
    if stored is None or stored == wanted:
        return
    raise ConfigError(
        f"this database holds {stored[1]}-dimension vectors of {stored[0]}, but {wanted[0]} with {wanted[1]} "
        f"dimensions is set. Set RECALL_EMBEDDER={stored[0]} to go on with it, or make its vectors anew: "
        f"recall-sql run maintenance/reembed --var dimension={wanted[1]} --db {instance.path or '…'}"
    )


def _text(value: str) -> str:
    """A SQL string. (Binding a parameter makes DuckDB import pandas where it is installed: a third of a second.)"""
    return "'" + value.replace("'", "''") + "'"
