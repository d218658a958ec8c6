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

import duckdb
import numpy as np
import pyarrow as pa

from recall_sql.settings import parse_age

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


class Keys:
    """Makes memo keys that share their first parts: as `digest`, of those and one text more."""

    def __init__(self, *parts: str) -> None:
        self._hasher = hashlib.blake2b(digest_size=16)
        self._hasher.update("\x00".join(parts).encode("utf-8", "surrogatepass"))
        self._hasher.update(b"\x00\x01")

    def of(self, text: str) -> str:
        hasher = self._hasher.copy()
        hasher.update(text.encode("utf-8", "surrogatepass"))
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
        if entries:
            with self._instance.cursor() as cursor:
                add_entries(cursor, self._instance.store, entries, vectors)

    def forget(
        self,
        *,
        text: str | None = None,
        function: str | None = None,
        model: str | None = None,
        older_than: str | None = None,
    ) -> int:
        """Drops the answers that match everything given (all of them, if nothing is) and returns how many they were."""
        seconds = None if older_than is None else parse_age(older_than)
        with self._instance.cursor() as cursor:
            return cursor.execute(
                f"delete from {self._instance.store}.recall_memo"
                " where ($text is null or input_hash = $text) and ($function is null or function = upper($function))"
                " and ($model is null or model = $model)"
                " and ($seconds is null or created_at < current_timestamp - to_seconds($seconds::double))",
                {
                    "text": None if text is None else digest(text),
                    "function": function,
                    "model": model,
                    "seconds": seconds,
                },
            ).fetchall()[0][0]

    def _find(self, keys: Sequence[str], column: str) -> pa.Table:
        """Keys are matched first, on their own column, and the wide one is read for the rows that matched only."""
        table, age = f"{self._instance.store}.recall_memo", self._instance.settings.memo_max_age
        young = f" and created_at >= current_timestamp - to_seconds({parse_age(age)}::double)" if age else ""
        with self._instance.cursor() as cursor:
            cursor.register("wanted", pa.table({"key": pa.array(keys, pa.string())}))
            return cursor.sql(
                f"select replace(key::varchar, '-', '') as key, {column} from {table} where {column} is not null and"
                f" rowid in (select max(m.rowid) from {table} as m join (select key::uuid as key from wanted) as w"
                f" using (key) where m.{column} is not null{young} group by m.key)"
            ).to_arrow_table()


def add_entries(
    cursor: duckdb.DuckDBPyConnection, store: str, entries: Sequence[Entry], vectors: np.ndarray | None
) -> None:
    """Writes `entries` with a cursor that may have more to write in the same transaction."""
    columns: Mapping[str, Any] = {
        "key": pa.array([entry.key for entry in entries], pa.string()),
        "input_hash": pa.array([entry.input_hash for entry in entries], pa.string()),
        "function": pa.array([entry.function for entry in entries], pa.string()),
        "model": pa.array([entry.model for entry in entries], pa.string()),
        "answer": pa.array([entry.answer for entry in entries], pa.string()),
        "embedding": _lists(vectors, len(entries)),
    }
    cursor.register("new_memo", pa.table(columns))
    cursor.execute(
        f"insert into {store}.recall_memo (key, input_hash, function, model, answer, embedding)"
        " select key, input_hash, function, model, answer, embedding from new_memo"
    ).fetchall()
    cursor.unregister("new_memo")


def _lists(vectors: np.ndarray | None, count: int) -> pa.Array:
    if vectors is None:
        return pa.nulls(count, pa.list_(pa.float32()))
    width = vectors.shape[1]
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int32)
    return pa.ListArray.from_arrays(offsets, np.ascontiguousarray(vectors, dtype=np.float32).ravel())
