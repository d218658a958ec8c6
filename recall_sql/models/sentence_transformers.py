"""EMBED through the sentence-transformers package: any model of the hub or of a folder. Needs torch, starts slowly.

Only loading and calling; the default model has a faster way, `onnx_embedder.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recall_sql.errors import ConfigError
from recall_sql.models.installed import PIP_LOCAL


class SentenceTransformersEmbedder:
    """name: a folder, or a model of the hub ('BAAI/bge-small-en-v1.5'). model: name for logs and memo, if another.

    A model that is on this machine is used as it is; another is fetched from the hub, unless HF_HUB_OFFLINE is set.
    Raises ConfigError with the remedy.
    """

    provider = "sentence-transformers"
    max_batch = 1024

    def __init__(self, name: str, *, model: str | None = None) -> None:
        self.model = model or name
        self._encoder = _load(name)
        self.dimension = _dimension(self._encoder)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (len(texts), dimension), unit length."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        vectors = self._encoder.encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(vectors, np.float32)


def _load(name: str) -> Any:
    try:
        from huggingface_hub import constants
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    except ImportError as error:
        raise ConfigError(
            f"'sentence-transformers:{name}' needs the sentence-transformers package ({error}): {PIP_LOCAL}"
        ) from error
    if Path(name).is_absolute() and not Path(name).is_dir():
        raise ConfigError(f"'sentence-transformers:{name}': there is no such folder")
    logging.disable_progress_bar()
    failure: Exception | None = None
    for local_only in (True,) if constants.HF_HUB_OFFLINE or Path(name).is_dir() else (True, False):
        try:
            return SentenceTransformer(name, local_files_only=local_only)
        except (OSError, ValueError) as error:  # what transformers and huggingface_hub raise for what they can't find
            failure = error
    raise ConfigError(_not_found(name, constants.HF_HUB_OFFLINE, failure)) from failure


def _not_found(name: str, offline: bool, error: Exception | None) -> str:
    if Path(name).is_dir():
        why = f"that folder holds no model it can load ({' '.join(str(error).split())[:200]})"
    elif offline:
        why = "it is not in the local Hugging Face cache, and HF_HUB_OFFLINE is set"
    else:
        why = f"it is not on this machine and can't be fetched ({' '.join(str(error).split())[:200]})"
    return (
        f"'sentence-transformers:{name}': {why}. Check the name, give the path of a downloaded folder "
        f"(sentence-transformers:/path), download it once with the network on and HF_HUB_OFFLINE unset, "
        "or use the installed model 'minilm'"
    )


def _dimension(encoder: Any) -> int:
    ask = getattr(encoder, "get_embedding_dimension", None) or encoder.get_sentence_embedding_dimension
    return ask()
