"""The tables that SQL from outside sees: the person's own rows, without vectors, as Arrow, for the sandbox."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa

from recall_sql.instance import quoted
from recall_sql.memory import Memory
from recall_sql.records import ask, sandbox, tables
from recall_sql.session import instance_of

OWN = ("chat_facts", "chat_fact_history", "chat_turns", "chat_threads", "chat_summaries")
LIMITS = sandbox.Limits(rows=1_000)


def names(con: duckdb.DuckDBPyConnection) -> list[str]:
    """What SQL may name: the tables of the memory, and one for every kind of record."""
    return [*OWN, *(schema.name for schema in tables.load_all(con))]


def select(memory: Memory, sql: str, *, rows: int = LIMITS.rows) -> tuple[pa.Table, bool]:
    """The rows of a SELECT over the person's tables, and whether there were more. Raises SandboxError."""
    con = memory.con
    limits = sandbox.Limits(rows=rows)
    statement = sandbox.checked(sql, frozenset(names(con)), limits)
    found = {name: _rows(memory, name) for name in names(con) if name.lower() in _mentioned(statement)}
    return sandbox.run(statement, found, limits=limits)


def _mentioned(statement: str) -> set[str]:
    import sqlglot
    from sqlglot import exp

    return {table.name.lower() for table in sqlglot.parse_one(statement, read="duckdb").find_all(exp.Table)}


def _rows(memory: Memory, name: str) -> pa.Table:
    con = memory.con
    if name not in OWN:
        schema = next(schema for schema in tables.load_all(con) if schema.name == name)
        return ask.rows_of(con, schema, memory.user_id)
    vector = {"chat_facts": " exclude (embedding)", "chat_turns": " exclude (embedding, embedding_bits)"}.get(name, "")
    table = f"{quoted(instance_of(con).database)}.main.{quoted(name)}"
    scope: dict[str, Any] = {"agent_id": memory.agent_id, "user_id": memory.user_id}
    sql = f"select *{vector} from {table} where agent_id = $agent_id and user_id = $user_id"
    return con.sql(sql, params=scope).to_arrow_table()
