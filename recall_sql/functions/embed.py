"""EMBED(text[, opts]): a text as a unit-length vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from recall_sql.errors import ConfigError
from recall_sql.functions import arguments
from recall_sql.functions.arguments import Column
from recall_sql.models import registry
from recall_sql.models.base import Embedder

if TYPE_CHECKING:
    from recall_sql.instance import Instance


def run(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """FLOAT[dimension] per row; NULL for NULL."""
    column, opts = arguments.split("EMBED", columns)
    texts = arguments.texts("EMBED", "text", column)
    options = arguments.options("EMBED", arguments.Options, opts, len(texts))
    return vectors(instance, texts, options)


def vectors(instance: Instance, texts: list[str | None], options: Sequence[arguments.Options]) -> pa.Array:
    """A FixedSizeListArray of the texts' vectors, NULL for None. Rows are grouped by the options they carry."""
    result = np.zeros((len(texts), instance.dimension), dtype=np.float32)
    groups: dict[arguments.Options, list[int]] = {}
    for row, text in enumerate(texts):
        if text is not None:
            groups.setdefault(options[row], []).append(row)
    for option, rows in groups.items():
        memo = instance.settings.memo if option.memo is None else option.memo
        model = embedder(instance, option.model)
        address = registry.parse(option.model or instance.settings.embedder).base_url
        result[rows] = instance.calls.embed([texts[row] or "" for row in rows], model, memo=memo, address=address)
    nulls = pa.array([text is None for text in texts], pa.bool_())
    return pa.FixedSizeListArray.from_arrays(pa.array(result.ravel()), instance.dimension, mask=nulls)


def embedder(instance: Instance, model: str | None = None) -> Embedder:
    """The embedder in force, or the one that `model` names. ConfigError if its vectors have another length."""
    settings = instance.settings
    name = model or settings.embedder
    key = settings.api_key.get_secret_value() if settings.api_key else None
    asked = settings.embedding_dimension
    found = registry.embedder(
        name,
        dimensions=None if asked == registry.dimension_of(name) else asked,  # its own length needs no asking
        api_key=key,
        timeout=settings.timeout,
    )
    if found.dimension != instance.dimension:
        raise ConfigError(
            f"EMBED: {name} makes {found.dimension}-dimension vectors, but this database was opened for "
            f"{instance.dimension}; open one for it with RECALL_EMBEDDER={name}"
        )
    return found
