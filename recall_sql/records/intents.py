"""What a message wants done with which record: the answer of DETECT_INTENT, whoever gives it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa

Kind = Literal["insert", "update", "delete", "query", "none"]
KINDS = ("insert", "update", "delete", "query", "none")

ARROW_TYPE = pa.struct(
    [
        ("matched", pa.bool_()),
        ("schema", pa.string()),
        ("intent", pa.string()),
        ("confidence", pa.float64()),
        ("data", pa.string()),
        ("match", pa.string()),
        ("updates", pa.string()),
        ("reason", pa.string()),
    ]
)


@dataclass(frozen=True)
class Match:
    """Which records an update or a delete is about.

    where: field → value, compared without case and accents. recency: latest, oldest or None. count: how many; None for
    all of them, which only "all" in a message means.
    """

    where: dict[str, Any] = field(default_factory=dict)
    recency: Literal["latest", "oldest"] | None = None
    count: int | None = 1


@dataclass(frozen=True)
class Intent:
    """What a message wants. matched: it is about a record of `schema` and can be carried out as it stands."""

    matched: bool
    intent: Kind
    schema: str | None = None
    confidence: float = 0.0
    data: dict[str, Any] | None = None
    match: Match | None = None
    updates: dict[str, Any] | None = None
    reason: str = ""

    def as_row(self) -> dict[str, Any]:
        """As the row of DETECT_INTENT, with data, match and updates as JSON."""
        return {
            "matched": self.matched,
            "schema": self.schema,
            "intent": self.intent,
            "confidence": round(self.confidence, 3),
            "data": as_json(self.data),
            "match": as_json(asdict(self.match)) if self.match else None,
            "updates": as_json(self.updates),
            "reason": self.reason,
        }


def as_json(value: Mapping[str, Any] | None) -> str | None:
    """JSON with dates as text and decimals as numbers, where they lose nothing by it; None for None."""
    return None if value is None else json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        number = float(value)
        return number if len(value.as_tuple().digits) <= 15 else str(value)
    return str(value)
