"""Facts as Arrow rows: the list of structs that EXTRACT_FACTS and PARSE_FACTS return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

# DuckDB's type and the same in Arrow.
FACTS_TYPE = (
    "STRUCT(category VARCHAR, fact_key VARCHAR, fact_value VARCHAR, confidence DOUBLE, kind VARCHAR, op VARCHAR, "
    "evidence VARCHAR, replaces VARCHAR)[]"
)
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
