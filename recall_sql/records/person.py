"""A person's rights over their records: everything held, and everything gone.

Beliefs and turns are `recipes/beliefs/export.sql` and `forget.sql`; these tables are declared by users, so which there
are is known only at run time.
"""

from __future__ import annotations

import json
from typing import Any

import duckdb

from recall_sql.instance import quoted
from recall_sql.records import tables
from recall_sql.records.store import check_user


def held(con: duckdb.DuckDBPyConnection, user_id: str) -> dict[str, list[dict[str, Any]]]:
    """The person's records by schema, as JSON values. Schemas that hold nothing of theirs are left out."""
    person = check_user(user_id)
    found = {}
    for schema in tables.load_all(con):
        rows = con.execute(
            f"select to_json(record) from {quoted(schema.name)} as record where record.user_id = $1"
            " order by created_at",
            [person],
        ).fetchall()
        if rows:
            found[schema.name] = [json.loads(row) for (row,) in rows]
    return found


def erase(con: duckdb.DuckDBPyConnection, user_id: str) -> int:
    """Deletes the person's records in every schema and returns how many there were. All or nothing."""
    person = check_user(user_id)
    gone = 0
    with tables.transaction(con):
        for schema in tables.load_all(con):
            deleted = con.execute(f"delete from {quoted(schema.name)} where user_id = $1", [person]).fetchall()
            gone += deleted[0][0]
    return gone
