"""Rows of one person: written, found, changed and deleted by the recipes in recipes/structured_records/.

Every call names a user, and none works without one. What the SQL means is in the recipes; transactions and handlers
are the callers' business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

import duckdb

from recall_sql.errors import InputError, RecipeError
from recall_sql.records.intents import Match, as_json
from recall_sql.records.schemas import Schema
from recall_sql.records.tables import quoted
from recall_sql.runner import Recipe, execute, load


@dataclass(frozen=True)
class Found:
    """A record that fits a description. among: how many fit; chosen: whether the description settles on it."""

    id: UUID
    place: int
    among: int
    chosen: bool
    score: float


def check_user(user_id: object) -> str:
    """The user id. InputError where there is none: no path works without one."""
    if not isinstance(user_id, str) or not user_id.strip():
        raise InputError(f"user_id must name a user, not {user_id!r}: records belong to one person each")
    return user_id


@cache
def _recipe(name: str) -> Recipe:
    return load(f"structured_records/{name}")


def _run(con: duckdb.DuckDBPyConnection, name: str, values: Mapping[str, object]) -> list[dict[str, Any]]:
    try:
        result = execute(con, _recipe(name), values, record=False)
    except RecipeError as error:
        if isinstance(error.__cause__, duckdb.ConstraintException):
            raise InputError(f"the record isn't valid: {error.__cause__}") from error
        raise
    return result.tables[0].table.to_pylist() if result.tables else []


def insert(
    con: duckdb.DuckDBPyConnection, schema: Schema, user_id: str, data: Mapping[str, Any], at: datetime
) -> dict[str, Any]:
    """Writes a record and returns its row."""
    clean = schema.validate(data)
    values = {"table": schema.name, "user_id": check_user(user_id), "at": at, "structure": schema.structure}
    rows = _run(con, "insert", {**values, "data": as_json(clean) or "{}"})
    return one(con, schema, user_id, rows[0]["id"])


def update(
    con: duckdb.DuckDBPyConnection,
    schema: Schema,
    user_id: str,
    ids: Sequence[UUID | str],
    updates: Mapping[str, Any],
    at: datetime,
) -> list[dict[str, Any]]:
    """Changes fields of records of this person and returns the rows. Ids of anybody else's records change nothing."""
    clean = schema.validate(updates, partial=True)
    if not clean:
        raise InputError(f"nothing to change: name at least one of {', '.join(schema.names)}")
    values = {
        "table": schema.name,
        "user_id": check_user(user_id),
        "ids": [str(key) for key in ids],
        "fields": list(clean),
        "updates": as_json(clean),
        "structure": schema.structure,
        "at": at,
    }
    changed = _run(con, "update", values)
    return [one(con, schema, user_id, row["id"]) for row in changed]


def delete(
    con: duckdb.DuckDBPyConnection, schema: Schema, user_id: str, ids: Sequence[UUID | str]
) -> list[dict[str, Any]]:
    """Deletes records of this person and returns what they were."""
    rows = [row for key in ids if (row := get(con, schema, user_id, key)) is not None]
    values = {"table": schema.name, "user_id": check_user(user_id), "ids": [str(row["id"]) for row in rows]}
    _run(con, "delete", values)
    return rows


def get(con: duckdb.DuckDBPyConnection, schema: Schema, user_id: str, record_id: UUID | str) -> dict[str, Any] | None:
    """One record, or None: also where it is somebody else's."""
    cursor = con.execute(
        f"select * from {quoted(schema.name)} where user_id = $user_id and id::varchar = $id",
        {"user_id": check_user(user_id), "id": str(record_id).lower()},
    )
    return next(iter(_dicts(cursor)), None)


def one(con: duckdb.DuckDBPyConnection, schema: Schema, user_id: str, record_id: UUID | str) -> dict[str, Any]:
    """One record that must be there."""
    row = get(con, schema, user_id, record_id)
    if row is None:
        raise InputError(f"{schema.name} has no record {record_id} of this user")
    return row


def listed(
    con: duckdb.DuckDBPyConnection, schema: Schema, user_id: str, where: Mapping[str, Any] | None, limit: int
) -> list[dict[str, Any]]:
    """Records of this person, the newest first."""
    for name in where or {}:
        if name not in ("id", "created_at", "updated_at"):
            schema.get(name)
    plain = {
        name: value if isinstance(value, bool | int | float) or value is None else str(value)
        for name, value in (where or {}).items()
    }
    values = {"table": schema.name, "user_id": check_user(user_id), "where": plain, "limit": limit}
    rows = _run(con, "list", values)
    return [{**row, "id": as_uuid(row["id"])} for row in rows]


def find(con: duckdb.DuckDBPyConnection, schema: Schema, user_id: str, match: Match, at: datetime) -> list[Found]:
    """The records that a description fits, the likeliest first."""
    for name in match.where:
        schema.get(name)
    values = {"table": schema.name, "user_id": check_user(user_id), "match": as_json(asdict(match)), "said_at": at}
    rows = _run(con, "find", values)
    return [Found(as_uuid(row["id"]), row["place"], row["among"], bool(row["chosen"]), row["score"]) for row in rows]


def as_uuid(value: Any) -> UUID:
    """Arrow gives UUIDs as text or bytes."""
    if isinstance(value, UUID):
        return value
    return UUID(bytes=value) if isinstance(value, bytes) else UUID(str(value))


def _dicts(cursor: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
