"""What tests of opening and closing databases share."""

from __future__ import annotations

import duckdb

from recall_sql.session import instance_of


def works(con: duckdb.DuckDBPyConnection) -> bool:
    """EMBED answers and remembers, and the library is reached by its full name."""
    con.execute("select embed('hello')").fetchall()
    con.execute("from recall_sql.recall_settings()").fetchall()
    store = instance_of(con).store
    return con.execute(f"select count(*) from {store}.recall_memo").fetchall()[0][0] >= 1
