"""Moments that can be stored: those that Python has a value for in every time zone, so that they can be read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from recall_sql.errors import InputError

FIRST_YEAR, LAST_YEAR = 2, 9998
_SAID_AT = ("created_at", "observed_at")


def is_storable(moment: datetime) -> bool:
    """Whether it reads back everywhere; the calendar's first and last day are in another year elsewhere."""
    return FIRST_YEAR <= moment.year <= LAST_YEAR


def check(rows: Iterable[Mapping[str, Any]]) -> None:
    """InputError for a created_at or observed_at that nobody could read back."""
    for row in rows:
        for name in _SAID_AT:
            moment = row.get(name)
            if isinstance(moment, datetime) and not is_storable(moment):
                raise InputError(f"{name} is in the year {moment.year}; years are {FIRST_YEAR} to {LAST_YEAR}")
