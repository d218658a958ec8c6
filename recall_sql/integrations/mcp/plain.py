"""Facts and turns as a model likes to read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recall_sql.person_sql import plain

_FACT = ("fact_value", "kind", "source", "confidence", "session_id", "observed_at", "evidence")
_TURN = ("session_id", "position", "role", "content", "created_at", "score", "rank")


def fact(row: Mapping[str, Any]) -> dict[str, Any]:
    """A fact in short: its name and first letters of its id, by which other tools find it."""
    named = {"fact": f"{row['category']}.{row['fact_key']}", "id": str(row["fact_id"])[:8]}
    found = {name.removeprefix("fact_"): row[name] for name in _FACT if row.get(name) is not None}
    return {**named, **plain({**found, **{name: row[name] for name in ("score", "rank") if name in row}})}


def turn(row: Mapping[str, Any]) -> dict[str, Any]:
    """A turn in short."""
    return plain({name: row[name] for name in _TURN if row.get(name) is not None})
