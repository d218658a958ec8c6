"""count_tokens(text): how many tokens a text is to the model that will read it, by that model's tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from recall_sql.errors import ConfigError
from recall_sql.functions import arguments
from recall_sql.functions.arguments import Column
from recall_sql.models.installed import PIP_ONNX, has

if TYPE_CHECKING:
    from recall_sql.instance import Instance


def run(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """INTEGER per row, without the marks a chat template adds; NULL for NULL, and where no tokenizer is set."""
    texts = arguments.texts("count_tokens", "text", columns[0])
    path = instance.settings.tokenizer
    if path is None:
        return pa.nulls(len(texts), pa.int32())
    given = [text for text in texts if text is not None]
    counts = iter(len(found.ids) for found in _tokenizer(path).encode_batch(given, add_special_tokens=False))
    return pa.array([None if text is None else next(counts) for text in texts], pa.int32())


@lru_cache(maxsize=4)
def _tokenizer(path: str) -> Any:
    if not has("tokenizers"):
        raise ConfigError(f"the setting tokenizer needs the package tokenizers: {PIP_ONNX}")
    from tokenizers import Tokenizer

    file = Path(path).expanduser()
    if not file.is_file():
        raise ConfigError(f"setting 'tokenizer': there is no file {path}; it is a model's tokenizer.json")
    try:
        made = Tokenizer.from_file(str(file))
    except Exception as error:  # the package raises the bare class
        raise ConfigError(f"setting 'tokenizer': {path} can't be read: {error}") from error
    made.no_truncation()
    made.no_padding()
    return made
