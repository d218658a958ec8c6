"""Small functions of recall_sql's own: settings from SQL, and what the macros need underneath."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from recall_sql.calls.memo import digest
from recall_sql.errors import InputError
from recall_sql.functions import arguments, embed
from recall_sql.functions.arguments import Column

if TYPE_CHECKING:
    from recall_sql.instance import Instance


def identify(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """VARCHAR: the instance's id."""
    return pa.array([instance.id] * (len(columns[0]) if columns else 1), pa.string())


def set_setting(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """VARCHAR per row: the value that is in force now."""
    if len(columns) != 2:
        raise InputError("recall_set takes a name and a value: recall_set('llm', 'ollama:qwen3')")
    names = arguments.texts("recall_set", "name", columns[0])
    for name, value in zip(names, columns[1].to_pylist(), strict=True):
        if name is None:
            raise InputError("recall_set: the name of a setting can't be NULL")
        instance.settings.set(name, value)
    shown = {row["name"]: row["value"] for row in instance.settings.rows()}
    return pa.array([shown[name] for name in names if name is not None], pa.string())


def list_settings(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """A list of (name, value, origin, description) per row."""
    rows = instance.settings.rows()
    kind = pa.list_(pa.struct([(name, pa.string()) for name in ("name", "value", "origin", "description")]))
    return pa.array([rows] * (len(columns[0]) if columns else 1), kind)


def query_vector(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """What VECTOR_SEARCH was asked for: a text is embedded, a vector is taken as it is."""
    column = columns[0]
    if not (pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type)):
        return _embedded(instance, arguments.texts("VECTOR_SEARCH", "query", column))
    rows = [None if row is None else _vector(row, instance.dimension) for row in column.to_pylist()]
    return pa.array(rows, pa.list_(pa.float32(), instance.dimension))


def _embedded(instance: Instance, texts: list[str | None]) -> pa.Array:
    """The texts' vectors. The last few are kept at hand: one search asks for the vector of its query several times."""
    recent = instance.recent_queries
    known = {text: recent.get(text) for text in dict.fromkeys(texts) if text is not None}
    missing = [text for text, vector in known.items() if vector is None]
    if missing:
        made = embed.vectors(instance, missing, [arguments.Options()] * len(missing)).to_pylist()
        known.update(zip(missing, made, strict=True))
        recent.keep({text: known[text] for text in missing if known[text] is not None})
    return pa.array(
        [None if text is None else known[text] for text in texts], pa.list_(pa.float32(), instance.dimension)
    )


def _vector(given: list[Any], dimension: int) -> list[float]:
    if len(given) != dimension:
        raise InputError(
            f"VECTOR_SEARCH: the query vector has {len(given)} components, this database's have {dimension}"
        )
    if not all(isinstance(number, int | float | Decimal) and math.isfinite(number) for number in given):
        raise InputError("VECTOR_SEARCH: the query vector must hold finite numbers only")
    return [float(number) for number in given]


def input_hash(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """What recall_memo knows a text by, so that what was remembered of it can be forgotten."""
    texts = arguments.texts("recall_input_hash", "text", columns[0])
    return pa.array([None if text is None else digest(text) for text in texts], pa.string())
