"""Remembers answers in the database: `recall_memo`, read by a join and written outside the caller's transaction.

Keys are hashes, so the table holds no text of anybody's. Rows are only ever added or deleted; the same key twice is
harmless and either row is right.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from recall_sql.instance import Instance


def digest(*parts: str) -> str:
    """32 hex digits (128 bits of BLAKE2b) over the parts, in order and separated."""
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        hasher.update(len(raw).to_bytes(8, "little"))
        hasher.update(raw)
    return hasher.hexdigest()


def stable(value: Any) -> str:
    """JSON of `value` that is the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


@dataclass(frozen=True)
class Entry:
    """One answer to remember. input_hash: digest of the input text alone, by which a person's inputs are forgotten."""

    key: str
    input_hash: str
    function: str
    model: str
    answer: str | None = None


class Memo:
    """`recall_memo` of one database instance."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    def answers(self, keys: Sequence[str]) -> dict[str, str]:
        """The remembered answers among `keys`."""
        found = self._find(keys, "answer")
        return dict(zip(found["key"].to_pylist(), found["answer"].to_pylist(), strict=True))

    def vectors(self, keys: Sequence[str], dimension: int) -> tuple[list[str], np.ndarray]:
        """The remembered keys among `keys` and their vectors, float32 of shape (found, dimension)."""
        found = self._find(keys, "embedding")
        flat = found["embedding"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return found["key"].to_pylist(), np.asarray(flat, dtype=np.float32).reshape(-1, dimension)

    def add(self, entries: Sequence[Entry], vectors: np.ndarray | None = None) -> None:
        """Remember `entries`; for embeddings with their vectors, float32 of shape (len(entries), dimension)."""
        if not entries:
            return
        columns: Mapping[str, Any] = {
            "key": pa.array([entry.key for entry in entries], pa.string()),
            "input_hash": pa.array([entry.input_hash for entry in entries], pa.string()),
            "function": pa.array([entry.function for entry in entries], pa.string()),
            "model": pa.array([entry.model for entry in entries], pa.string()),
            "answer": pa.array([entry.answer for entry in entries], pa.string()),
            "embedding": _lists(vectors, len(entries)),
        }
        with self._instance.cursor() as cursor:
            cursor.register("new_memo", pa.table(columns))
            cursor.execute(
                f"insert into {self._instance.store}.recall_memo (key, input_hash, function, model, answer, embedding)"
                " select key, input_hash, function, model, answer, embedding from new_memo"
            ).fetchall()

    def _find(self, keys: Sequence[str], column: str) -> pa.Table:
        with self._instance.cursor() as cursor:
            cursor.register("wanted", pa.table({"key": pa.array(keys, pa.string())}))
            return cursor.sql(
                f"select key, any_value({column}) as {column} from {self._instance.store}.recall_memo"
                f" semi join wanted using (key) where {column} is not null group by key"
            ).to_arrow_table()


def _lists(vectors: np.ndarray | None, count: int) -> pa.Array:
    if vectors is None:
        return pa.nulls(count, pa.list_(pa.float32()))
    width = vectors.shape[1]
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int32)
    return pa.ListArray.from_arrays(offsets, np.ascontiguousarray(vectors, dtype=np.float32).ravel())
