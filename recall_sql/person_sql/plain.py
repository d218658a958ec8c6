"""Values as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

import pyarrow as pa

from recall_sql.errors import InputError


def values(table: pa.Table) -> list[list[Any]]:
    """The rows of what somebody's SELECT gave, as Python's values. InputError where one of them has none."""
    try:
        return [list(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]
    except (OverflowError, ValueError):  # infinity, 44 BC, an interval of a million years
        raise InputError("a date, time or interval is out of range; cast it to varchar to see it") from None


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
