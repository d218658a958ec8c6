"""Writes a database file anew, so that nothing deleted is left in it.

DuckDB puts freed blocks on a list and reuses them some day; until then their bytes are in the file. Copying every table
into a new file and putting that in the old one's place leaves none.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from pathlib import Path

import duckdb

from recall_sql.errors import ConfigError, InputError
from recall_sql.session import quoted


def rewrite(path: Path) -> int:
    """Replaces `path` by a copy without free blocks; bytes gained. The copy is complete before the original goes."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such database file")
    fresh = path.with_name(path.name + ".compacting")
    _remove(fresh)
    before = path.stat().st_size
    try:
        _copy(path, fresh)
        os.replace(fresh, path)
        _remove(_wal(path))
    finally:
        _remove(fresh)
    return before - path.stat().st_size


def _copy(path: Path, fresh: Path) -> None:
    try:
        connection = duckdb.connect(str(path))
    except duckdb.Error as error:
        raise ConfigError(f"{path} can't be compacted while it is open elsewhere: close it first ({error})") from error
    with closing(connection):
        if connection.execute(
            "select count(*) from duckdb_functions() where function_name = 'recall_instance'"
        ).fetchone() != (0,):
            raise ConfigError(f"{path} can't be compacted while this process has it open: close its connections first")
        connection.execute("checkpoint")
        name = connection.execute("select current_database()").fetchall()[0][0]
        connection.execute(f"attach '{str(fresh).replace(chr(39), chr(39) * 2)}' as compacted")
        connection.execute(f"copy from database {quoted(name)} to compacted")
        _keep_comments(connection, name)
        connection.execute("checkpoint compacted")
        connection.execute("detach compacted")


def _keep_comments(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """COPY FROM DATABASE leaves the comments behind on some versions."""
    tables = connection.execute(
        "select 'table', schema_name, table_name, null, comment from duckdb_tables()"
        " where database_name = $1 and comment is not null union all"
        " select 'column', schema_name, table_name, column_name, comment from duckdb_columns()"
        " where database_name = $1 and comment is not null and not internal",
        [name],
    ).fetchall()
    for what, schema, table, column, comment in tables:
        target = ".".join(quoted(part) for part in ("compacted", schema, table, *([column] if column else [])))
        text = comment.replace("'", "''")
        with suppress(duckdb.CatalogException):  # a column of a view
            connection.execute(f"comment on {what} {target} is '{text}'")


def _wal(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _wal(path).unlink(missing_ok=True)
