"""API keys in the table recall_keys: made, listed, revoked, recognised.

A key is `recall_`, eight letters by which people name it, `_`, and 256 random bits. Only its SHA-256 is stored: with
that much chance in it there is nothing to guess, so a slow hash would only slow every call down.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime

import duckdb

from recall_sql.access.principal import ROLES, Principal, Role, Unauthorized
from recall_sql.errors import InputError
from recall_sql.instance import quoted
from recall_sql.session import instance_of

_FORM = re.compile(r"recall_[0-9a-f]{8}_[A-Za-z0-9_-]{43}", re.ASCII)
_COLUMNS = "key_id, agent_id, user_id, role, label, created_at, revoked_at"


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is stored, without its secret. user_id: None for every person of the agent."""

    key_id: str
    agent_id: str
    user_id: str | None
    role: Role
    label: str | None
    created_at: datetime
    revoked_at: datetime | None


def add_key(
    con: duckdb.DuckDBPyConnection,
    *,
    agent_id: str,
    user_id: str | None = None,
    role: Role = "reader",
    label: str | None = None,
) -> tuple[str, Key]:
    """Makes a key. Returns the secret, which can't be had again, and the key. InputError for an empty word."""
    if role not in ROLES:
        raise InputError(f"there is no role {role!r}; roles: {', '.join(ROLES)}")
    for name, value in (("agent_id", agent_id), ("user_id", user_id)):
        if value is not None and (not value.strip() or "\x00" in value):
            raise InputError(f"{name} is empty or holds a NUL: name whose memory the key opens")
    key_id = secrets.token_hex(4)
    secret = f"recall_{key_id}_{secrets.token_urlsafe(32)}"
    row = con.execute(
        f"insert into {_table(con)} (key_id, secret_hash, agent_id, user_id, role, label)"
        f" values ($1, $2, $3, $4, $5, $6) returning {_COLUMNS}",
        [key_id, _hash(secret), agent_id, user_id, role, label],
    ).fetchall()[0]
    return secret, Key(*row)


def keys(con: duckdb.DuckDBPyConnection) -> list[Key]:
    """Every key, revoked ones too, the oldest first."""
    return [
        Key(*row) for row in con.execute(f"select {_COLUMNS} from {_table(con)} order by created_at, key_id").fetchall()
    ]


def revoke_key(con: duckdb.DuckDBPyConnection, key_id: str) -> Key:
    """From now on the key opens nothing; calls under way are finished. InputError if there is no such key."""
    changed = con.execute(
        f"update {_table(con)} set revoked_at = coalesce(revoked_at, current_timestamp)"
        f" where key_id = $1 returning {_COLUMNS}",
        [key_id],
    ).fetchall()
    if not changed:
        raise InputError("there is no such key; `recall-sql keys list` shows their ids")
    return Key(*changed[0])


def authenticate(con: duckdb.DuckDBPyConnection, secret: str) -> Principal:
    """Whose key it is. Unauthorized, without saying why, if it is unknown or revoked."""
    if _FORM.fullmatch(secret):
        found = con.execute(
            f"select agent_id, user_id, role, key_id from {_table(con)} where secret_hash = $1 and revoked_at is null",
            [_hash(secret)],
        ).fetchall()
        if found:
            return Principal(*found[0])
    raise Unauthorized("the key isn't valid")


def were_made(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether a key was ever made, revoked or not."""
    return bool(con.execute(f"select 1 from {_table(con)} limit 1").fetchall())


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _table(con: duckdb.DuckDBPyConnection) -> str:
    return f"{quoted(instance_of(con).database)}.main.recall_keys"
