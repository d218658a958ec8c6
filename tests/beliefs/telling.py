"""What the tests of belief share: a clock, candidates in short, and the table as rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb

from recall_sql import Memory

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(minute: float) -> datetime:
    """A moment of the test's clock."""
    return START + timedelta(minutes=minute)


def said(name: str, value: str | None = "true", *, when: float = 0, **more: Any) -> dict[str, Any]:
    """A candidate: 'dietary.vegan', its value, the minute it was said."""
    category, _, fact_key = name.partition(".")
    return {"category": category, "fact_key": fact_key, "fact_value": value, "observed_at": at(when), **more}


def taken_back(name: str, *, when: float = 0, **more: Any) -> dict[str, Any]:
    """A retraction."""
    return said(name, None, when=when, op="retract", **more)


def beliefs(con: duckdb.DuckDBPyConnection, user_id: str = "u1") -> dict[str, str]:
    """What is believed of a user: {'dietary.vegan': 'true'}."""
    query = "select category || '.' || fact_key, fact_value from chat_facts where user_id = ? order by all"
    return dict(con.execute(query, [user_id]).fetchall())


def events(con: duckdb.DuckDBPyConnection, user_id: str = "u1") -> list[str]:
    """The names of all events in order."""
    query = "select event from chat_fact_history where user_id = ? order by event_id"
    return [event for (event,) in con.execute(query, [user_id]).fetchall()]


def memory(con: duckdb.DuckDBPyConnection, user_id: str = "u1") -> Memory:
    """The memory of a user."""
    return Memory(con, user_id=user_id)
