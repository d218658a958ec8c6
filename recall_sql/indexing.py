"""What speeds search up and is never needed: the words of turns in tables, bits beside vectors, an HNSW index.

The work is in recipes/search and sql/extensions; here is what recipes can't do: see whether a table has a column, load
an extension.
"""

from __future__ import annotations

from typing import Any

import duckdb

from recall_sql import extensions, resources
from recall_sql.errors import InputError
from recall_sql.instance import quoted, settle
from recall_sql.runner import execute, load
from recall_sql.session import HNSW, hnsw_index, instance_of

_KINDS = ("BIGINT", "INTEGER", "UBIGINT", "UINTEGER", "SMALLINT", "USMALLINT", "HUGEINT")


def index(
    con: duckdb.DuckDBPyConnection, table: str = "chat_turns", *, at_least: int = 20_000, verify: bool = False
) -> dict[str, int]:
    """Brings the search tables of `chat_turns` up to date (recipe search/index) and gives large tables their
    embedding_bits (recipe search/compact), any table that has a whole-number turn_id and an embedding.

    at_least: how many vectors make a table large. verify: compares the bits that are there with their vectors.
    Returns what the recipes count. Raises InputError for a table that has no such columns.
    """
    columns = dict(con.execute(f"select column_name, column_type from (describe {quoted(table)})").fetchall())
    for name in ("turn_id", "embedding"):
        if name not in columns:
            raise InputError(f"{table} has no column {name}: bits are kept by turn_id for the vectors in embedding")
    if columns["turn_id"] not in _KINDS:
        raise InputError(f"{table}.turn_id is {columns['turn_id']}; it must be a whole number")
    counted: dict[str, int] = {}
    if table == "chat_turns":
        counted.update(_counts(con, "search/index"))
    if "embedding_bits" not in columns:
        con.execute(f"alter table {quoted(table)} add column embedding_bits bit").fetchall()
    counted.update(_counts(con, "search/compact", turns=table, at_least=at_least, verify=verify))
    return counted


def _counts(con: duckdb.DuckDBPyConnection, recipe: str, **values: Any) -> dict[str, int]:
    return execute(con, load(recipe), values).tables[0].table.to_pylist()[0]


def build_hnsw(con: duckdb.DuckDBPyConnection) -> None:
    """An HNSW index on chat_turns.embedding, kept in the database file, and the macro HNSW_SEARCH.

    Slow: minutes for some ten thousand turns. ConfigError where the extension vss can't be had. From then on, whoever
    writes to the file needs the extension.
    """
    extensions.load(con, "vss")
    con.execute("set hnsw_enable_experimental_persistence = true").fetchall()
    drop_hnsw(con)
    con.execute(f"create index {HNSW} on chat_turns using hnsw (embedding) with (metric = 'cosine')").fetchall()
    settle(con)
    con.execute((resources.sql_dir() / "extensions" / "hnsw_search.sql").read_text("utf-8")).fetchall()


def drop_hnsw(con: duckdb.DuckDBPyConnection) -> bool:
    """Removes the index, if there is one, and says whether there was."""
    found = hnsw_index(con, instance_of(con).database)
    if found:
        con.execute(f"drop index {HNSW}").fetchall()
        con.execute("drop macro table if exists recall_sql.main.hnsw_search").fetchall()
        settle(con)
    return found
