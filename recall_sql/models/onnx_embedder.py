"""EMBED through onnxruntime: texts in, unit-length vectors out, as SentenceTransformer.encode gives them.

Responsible for tokenising, grouping texts by token count, pooling and order; the network is `onnx_graph.py`.
Imports neither torch nor transformers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from recall_sql.errors import ConfigError
from recall_sql.models.onnx_graph import BertShape, open_session

TOKENS_PER_RUN = 2048  # activations of a run stay in the CPU's cache; more is not faster


class OnnxEmbedder:
    """A BERT-type sentence-transformers folder with mean pooling, run by onnxruntime on the CPU.

    folder: holds config.json, model.safetensors, tokenizer.json, modules.json. model: name for logs and memo.
    threads: cores to use; all by default. Raises ConfigError where the folder is incomplete or of another kind.
    """

    provider = "onnx"
    max_batch = 2048

    def __init__(self, folder: Path, *, model: str, threads: int | None = None) -> None:
        shape = BertShape.from_folder(folder)
        self.model, self.dimension = model, shape.hidden
        self._tokenizer = _tokenizer(folder, shape.max_tokens)
        self._session = open_session(folder, shape, threads or _cores())

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (len(texts), dimension). A text's vector is the same whatever else is in `texts`."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]
        for group in _same_length_groups([len(row) for row in ids]):
            (states,) = self._session.run(None, {"ids": np.array([ids[row] for row in group], np.int64)})
            vectors[group] = states.mean(axis=1)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _same_length_groups(lengths: list[int]) -> Iterator[list[int]]:
    """Row numbers in groups of equal token count, each of at most TOKENS_PER_RUN tokens (or one row)."""
    group: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[row]
        if group and (lengths[group[0]] != length or (len(group) + 1) * length > TOKENS_PER_RUN):
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def _tokenizer(folder: Path, max_tokens: int) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise ConfigError(f"{folder} has no tokenizer.json; the onnx backend needs one")
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _cores() -> int:
    allowed = os.environ.get("OMP_NUM_THREADS", "")  # as everywhere: what one of several workers on a machine may use
    if allowed.isdigit() and int(allowed):
        return int(allowed)
    return getattr(os, "process_cpu_count", os.cpu_count)() or 1
