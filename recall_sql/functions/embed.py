"""EMBED(text[, opts]): a text as a unit-length vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from recall_sql.errors import ConfigError, RecallError
from recall_sql.functions import arguments
from recall_sql.functions.arguments import Column
from recall_sql.functions.grouping import grouped
from recall_sql.models import registry
from recall_sql.models.base import Embedder

if TYPE_CHECKING:
    from recall_sql.instance import Instance


class EmbedOptions(arguments.Options):
    on_error: Literal["fail", "null"] | None = None


def run(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """FLOAT[dimension] per row; NULL for NULL."""
    column, opts = arguments.split("EMBED", columns)
    texts = arguments.texts("EMBED", "text", column)
    options = arguments.options("EMBED", EmbedOptions, opts, len(texts))
    return vectors(instance, texts, options)


def vectors(instance: Instance, texts: list[str | None], options: Sequence[arguments.Options]) -> pa.Array:
    """A FixedSizeListArray of the texts' vectors, NULL for None. Rows are grouped by the options they carry."""
    result = np.zeros((len(texts), instance.dimension), dtype=np.float32)
    empty = np.array([text is None for text in texts], dtype=bool)
    for option, rows in grouped(options, texts):
        settings = instance.settings
        memo = settings.memo if option.memo is None else option.memo
        model = embedder(instance, option.model)
        address = registry.parse(option.model or settings.embedder).base_url
        may_fail = (getattr(option, "on_error", None) or settings.on_error) == "null"
        failed: dict[int, RecallError] | None = {} if may_fail else None
        given = [texts[row] or "" for row in rows]
        result[rows] = instance.calls.embed(given, model, memo=memo, address=address, failed=failed)
        empty[[rows[place] for place in failed or ()]] = True
    return pa.FixedSizeListArray.from_arrays(pa.array(result.ravel()), instance.dimension, mask=pa.array(empty))


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
