"""Values as JSON can hold them, and facts and turns as a model likes to read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

_FACT = ("fact_value", "kind", "source", "confidence", "session_id", "observed_at", "evidence")
_TURN = ("session_id", "position", "role", "content", "created_at", "score", "rank")


def plain(value: Any) -> Any:
    """The same value in JSON's types: moments in ISO 8601, bytes in hex, what isn't a number as a word."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    return str(value)


def fact(row: Mapping[str, Any]) -> dict[str, Any]:
    """A fact in short: its name and first letters of its id, by which other tools find it."""
    named = {"fact": f"{row['category']}.{row['fact_key']}", "id": str(row["fact_id"])[:8]}
    found = {name.removeprefix("fact_"): row[name] for name in _FACT if row.get(name) is not None}
    return {**named, **plain({**found, **{name: row[name] for name in ("score", "rank") if name in row}})}


def turn(row: Mapping[str, Any]) -> dict[str, Any]:
    """A turn in short."""
    return plain({name: row[name] for name in _TURN if row.get(name) is not None})
