"""Facts as Arrow rows: the list of structs that EXTRACT_FACTS and PARSE_FACTS return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

# catalog.FACTS in Arrow.
ARROW_TYPE = pa.list_(
    pa.struct(
        [
            ("category", pa.string()),
            ("fact_key", pa.string()),
            ("fact_value", pa.string()),
            ("confidence", pa.float64()),
            ("kind", pa.string()),
            ("op", pa.string()),
            ("evidence", pa.string()),
            ("replaces", pa.string()),
        ]
    )
)


def as_array(rows: Sequence[Sequence[Mapping[str, Any]] | None]) -> pa.Array:
    """One list of facts per row; NULL for None."""
    return pa.array(rows, ARROW_TYPE)
