"""Writing SQL from outside: read as a SELECT over the person's rows, and landed through the rules of belief.

A statement never runs on the database. What it would write is a SELECT that runs in the sandbox; the rows that come out
are candidates for `beliefs/believe`, or turns for `conversation_memory/ingest`.

    insert into chat_facts (category, fact_key, fact_value) …     said:       asserts
    update chat_facts set fact_value = … where …                  said anew:  asserts in place of the fact that is there
    delete from chat_facts where …                                taken back: retracts; history keeps it
    insert into chat_turns (session_id, role, content) …          heard:      stored, and read for facts
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from recall_sql import moments
from recall_sql.access import Forbidden
from recall_sql.errors import InputError
from recall_sql.memory import Memory, Row, run
from recall_sql.person_sql.plain import values
from recall_sql.person_sql.tables import LIMITS, select

if TYPE_CHECKING:
    from sqlglot import exp

_FACT = {
    "category": "varchar", "fact_key": "varchar", "fact_value": "varchar", "kind": "varchar", "confidence": "double",
    "session_id": "varchar", "evidence": "varchar", "observed_at": "timestamptz",
}  # fmt: skip
_CHANGE = {name: _FACT[name] for name in ("fact_key", "fact_value", "kind", "confidence", "evidence")}
_TURN = {
    "session_id": "varchar", "role": "varchar", "content": "varchar", "created_at": "timestamptz",
    "source_key": "varchar",
}  # fmt: skip
_ACCEPTED = (
    "execute takes one statement: insert into chat_facts (category, fact_key, fact_value, …), update chat_facts set "
    "fact_value = … where …, delete from chat_facts where …, or insert into chat_turns (session_id, role, content, …)"
)


@dataclass(frozen=True)
class _Write:
    """What a statement does, as a SELECT of the rows it is about."""

    verb: str  # insert, update or delete
    table: str
    columns: tuple[str, ...]
    select: str


def execute(memory: Memory, sql: str, source: str, *, as_system: bool = False) -> dict[str, Any]:
    """Carries a statement out: {rows, events, refused}, or {rows, events} for turns. All of it, or nothing.

    source: who says so, for facts. as_system: turns of the role system may be written, which a context passes on as
    instructions. Raises InputError for what isn't accepted, SandboxError for SQL that fails.
    """
    write = read(sql)
    table, more = select(memory, write.select)
    if more:
        raise InputError(f"the statement is about more than {LIMITS.rows} rows; split it")
    rows = [dict(zip(table.column_names, row, strict=True)) for row in values(table)]
    if write.table == "chat_turns":
        if not as_system and any(str(row.get("role")).lower() == "system" for row in rows):
            raise Forbidden("turns of the role system need a key of role admin; nothing was written")
        return _hear(memory, rows)
    return _believe(memory, write, rows, source)


def _hear(memory: Memory, rows: list[Row]) -> dict[str, Any]:
    stored = memory.add_turns({name: value for name, value in _past(row).items() if value is not None} for row in rows)
    return {"rows": len(stored), "events": memory.extract() if stored else {}}


def _past(row: Row) -> Row:
    """What is said later than now is said now: nobody could contradict it until then."""
    said = row.get("created_at")
    return {**row, "created_at": min(said, datetime.now(UTC))} if said else row


def _believe(memory: Memory, write: _Write, rows: list[Row], source: str) -> dict[str, Any]:
    now = datetime.now(UTC)
    shape = {name: pa.string() for name in ("agent_id", "user_id", "op", "source", "replaces", *_FACT)}
    shape |= {"confidence": pa.float64(), "observed_at": pa.timestamp("us", tz="UTC")}
    scope = {"agent_id": memory.agent_id, "user_id": memory.user_id, "source": source}
    moments.check(rows)
    candidates = [
        {
            **{name: row.get(name) for name in _FACT},
            **scope,
            "observed_at": min(row.get("observed_at") or now, now),  # what is said tomorrow can't be said yet
            "confidence": 1.0 if row.get("confidence") is None else row["confidence"],
            "op": "retract" if write.verb == "delete" else "assert",
            "replaces": row.get("fact_id"),
        }
        for row in rows
    ]
    if not candidates:
        return {"rows": 0, "events": {}, "refused": []}
    con = memory.con
    con.register("recall_person_candidates", pa.Table.from_pylist(candidates, schema=pa.schema(shape)))
    try:
        done = run(con, "beliefs/believe", source="recall_person_candidates", fact_scope="session")
    finally:
        con.unregister("recall_person_candidates")
    events = {row["event"]: row["times"] for row in done.tables[0].table.to_pylist()}
    return {"rows": len(rows), "events": events, "refused": _refused(memory, str(done.run_id))}


def _refused(memory: Memory, run_id: str) -> list[Row]:
    found = memory.con.execute(
        "select coalesce(category, before_category) || '.' || coalesce(fact_key, before_key), event, reason"
        " from chat_fact_history where run_id = $1 and agent_id = $2 and user_id = $3"
        " and (event like 'rejected%' or event = 'nothing_to_retract') order by event_id",
        [run_id, memory.agent_id, memory.user_id],
    ).fetchall()
    return [{"fact": fact, "event": event, "reason": reason} for fact, event, reason in found]


# --- reading ----------------------------------------------------------------------------------------------------------


def read(sql: str) -> _Write:
    """What a statement is about. InputError, with what is accepted, unless it is one of the four."""
    import sqlglot
    from sqlglot import exp

    if len(sql) > LIMITS.characters:
        raise InputError(f"the SQL is longer than {LIMITS.characters} characters")
    try:
        trees = [tree for tree in sqlglot.parse(sql, read="duckdb") if tree is not None]
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        raise InputError(f"the SQL can't be read: {' '.join(str(error).split())[:300]}") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Insert | exp.Update | exp.Delete):
        raise InputError(_ACCEPTED)
    tree = trees[0]
    if isinstance(tree, exp.Insert):
        return _insert(tree)
    return _update(tree) if isinstance(tree, exp.Update) else _delete(tree)


def _insert(tree: exp.Insert) -> _Write:
    from sqlglot import exp

    target = tree.this
    if not isinstance(target, exp.Schema) or tree.expression is None:
        raise InputError(f"name the columns: insert into TABLE (column, …) …. {_ACCEPTED}")
    _nothing_else(tree, "this", "expression")
    table = _table(target.this, "chat_facts", "chat_turns")
    columns = tuple(part.name.lower() for part in target.expressions)
    known = _FACT if table == "chat_facts" else _TURN
    required = ("category", "fact_key", "fact_value") if table == "chat_facts" else ("role", "content")
    _check_columns(columns, known, required, table)
    listed = ", ".join(_quoted(name) for name in columns)
    typed = ", ".join(f"{_quoted(name)}::{known[name]} as {_quoted(name)}" for name in columns)
    values = tree.expression.sql("duckdb")
    return _Write("insert", table, columns, f"select {typed} from ({values}) as given({listed})")


def _update(tree: exp.Update) -> _Write:
    from sqlglot import exp

    _nothing_else(tree, "this", "expressions", "where")
    table = _table(tree.this, "chat_facts")
    changes: dict[str, str] = {}
    for part in tree.expressions:
        if not isinstance(part, exp.EQ) or not isinstance(part.this, exp.Column) or part.this.table:
            raise InputError(_ACCEPTED)
        changes[part.this.name.lower()] = part.expression.sql("duckdb")
    _check_columns(tuple(changes), _CHANGE, (), table)
    kept = [name for name in ("category", "fact_key", "fact_value", "kind", "session_id") if name not in changes]
    new = [f"({value})::{_CHANGE[name]} as {_quoted(name)}" for name, value in changes.items()]
    selected = ", ".join(["fact_id::varchar as fact_id", *kept, *new])
    return _Write("update", table, tuple(changes), f"select {selected} from chat_facts {_where(tree)}")


def _delete(tree: exp.Delete) -> _Write:
    _nothing_else(tree, "this", "where")
    table = _table(tree.this, "chat_facts")
    kept = "fact_id::varchar as fact_id, session_id, category, fact_key, kind"
    return _Write("delete", table, (), f"select {kept} from chat_facts {_where(tree)}")


def _where(tree: exp.Update | exp.Delete) -> str:
    where = tree.args.get("where")
    if where is None:
        raise InputError("say which facts: a WHERE is missing (where true means all of them)")
    return where.sql("duckdb")


def _table(node: Any, *allowed: str) -> str:
    from sqlglot import exp

    plain = isinstance(node, exp.Table) and not any(value for name, value in node.args.items() if name != "this")
    if not plain or not isinstance(node.this, exp.Identifier) or node.name.lower() not in allowed:
        raise InputError(f"it can't write to {node.sql('duckdb')[:100]}. {_ACCEPTED}")
    return str(node.name).lower()


def _check_columns(columns: tuple[str, ...], known: dict[str, str], required: tuple[str, ...], table: str) -> None:
    unknown = [name for name in columns if name not in known]
    if unknown:
        raise InputError(f"{table}.{unknown[0]} isn't written by SQL; columns: {', '.join(known)}")
    missing = [name for name in required if name not in columns]
    if missing:
        raise InputError(f"{table} needs {', '.join(missing)}")
    if len(set(columns)) < len(columns):
        raise InputError("a column is named twice")


def _nothing_else(tree: exp.Expression, *accepted: str) -> None:
    """No RETURNING, ON CONFLICT, FROM, USING, WITH …"""
    more = [name for name, value in tree.args.items() if value and name not in accepted]
    if more:
        raise InputError(f"{more[0].rstrip('_').replace('_', ' ').upper()} isn't accepted here. {_ACCEPTED}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
