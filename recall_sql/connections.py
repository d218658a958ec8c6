"""One database, many threads: each thread has a connection of its own.

A DuckDB connection serves one thread at a time. The thread that brings a connection goes on with that one, transaction
and all; every other thread gets a cursor of it, which is let go together with the thread.
"""

from __future__ import annotations

import threading

import duckdb

from recall_sql.session import register


class Connections:
    """The connections of one database, by thread. given: belongs to the thread that calls this."""

    def __init__(self, given: duckdb.DuckDBPyConnection) -> None:
        self._given = given
        self._here = threading.local()
        self._here.con = given

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The calling thread's. Raises duckdb.ConnectionException if the given one has been closed."""
        found: duckdb.DuckDBPyConnection | None = getattr(self._here, "con", None)
        if found is None:
            found = self._here.con = register(self._given.cursor())
        return found
