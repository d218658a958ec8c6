"""Which rows of a chunk carry the same options, so that what they have in common is done once."""

from __future__ import annotations

from collections.abc import Sequence

from recall_sql.functions.arguments import T


def grouped(options: Sequence[T], texts: Sequence[str | None]) -> list[tuple[T, list[int]]]:
    """Each distinct options object with the rows that have a text. A run of rows with one object is hashed once."""
    groups: dict[T, list[int]] = {}
    last: object = None
    rows: list[int] = []
    for row, option in enumerate(options):
        if texts[row] is None:
            continue
        if option is not last:
            last, rows = option, groups.setdefault(option, [])
        rows.append(row)
    return list(groups.items())
