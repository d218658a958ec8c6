"""Opens a database file, and says what is wrong with one that can't be opened, and what to do about it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import duckdb

from recall_sql.errors import ConfigError, InputError
from recall_sql.instance import LIBRARY


def address_of(database: str | os.PathLike[str]) -> str:
    """The path or name as text, ~ understood. InputError for what is neither."""
    path = os.fspath(database)
    if not isinstance(path, str):
        raise InputError(f"a database is named by text or a Path, not {path!r}")
    return os.path.expanduser(path)


def open_file(path: str, read_only: bool, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """A connection to the file. Raises ConfigError naming what is wrong and the remedy."""
    if path != "" and not path.startswith(":memory:") and "://" not in path:
        _check_file(path, read_only)
    try:
        connection = duckdb.connect(path, read_only=read_only, config=config)
    except duckdb.Error as error:
        raise ConfigError(f"can't open {path}: {_why(str(error))}") from error
    if path != "" and not path.startswith(":memory:") and "://" not in path:
        _check_that_it_is_a_database(connection, path)
    if not connection.execute("select current_setting('disabled_compression_methods')").fetchall()[0][0]:
        # ALPRD gains nothing on vectors, and DuckDB 1.5 spends three times as long on reading them (docs/decisions.md)
        connection.execute("set global disabled_compression_methods = 'alprd'").fetchall()
    return connection


def _check_file(path: str, read_only: bool) -> None:
    file = Path(path)
    if file.is_dir():
        raise ConfigError(f"{path} is a directory; name a database file in it, for example {file / 'memory.duckdb'}")
    if read_only and not file.exists():
        raise ConfigError(f"{path} doesn't exist, and a read-only connection can't create it")
    if not file.parent.is_dir():
        raise ConfigError(f"{path} can't be created: there is no directory {file.parent}")
    if file.stem.lower() == LIBRARY:
        raise ConfigError(
            f"{path}: a database can't be called {LIBRARY}, which is the function library's name; rename the file"
        )


def _check_that_it_is_a_database(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """DuckDB opens a CSV, JSON or Parquet file as a database in memory with a view of it: what is written is lost."""
    kept = "select path is not null from duckdb_databases() where database_name = current_database()"
    if not connection.execute(kept).fetchall()[0][0]:
        connection.close()
        raise ConfigError(f"{path} isn't a DuckDB database file; name another, or one that doesn't exist yet")


def _why(message: str) -> str:
    """DuckDB's message with the remedy in front, for the cases a person meets."""
    text = " ".join(message.split())
    if re.search("set lock|Conflicting lock|used by another process", text):
        return f"{_who_holds_it(text)} ({text})"
    if re.search("with version number|newer version of DuckDB", text):
        return (
            f"another version of DuckDB wrote it, and this one ({duckdb.__version__}) can't read it; "
            f"install that version of the duckdb package ({text})"
        )
    if "not a valid DuckDB database" in text:
        return f"it isn't a DuckDB database file ({text})"
    if "different configuration" in text:
        return (
            "this process has it open already; give the same read_only and config as that connection, or close it "
            f"({text})"
        )
    return text


def _who_holds_it(text: str) -> str:
    holder = re.search(r"(?:held|open) in (.+? \(PID \d+\))", text)
    who = f"another process has it open: {holder.group(1)}" if holder else "another process has it open"
    if "read-only mode" in text:
        return f"{who}, read-only; open it with read_only=True too, or close that process"
    return f"{who}; close it first: while one process may write to a file, no other can open it, not even read-only"
