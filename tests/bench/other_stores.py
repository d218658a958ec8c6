"""The same turns in other stores that run in this process: SQLite (FTS5 and sqlite-vec), LanceDB, Chroma.

Each store takes batches of rows (many_turns.batches) and answers a query's words or its vector with turn ids, best
first. Ids count from 1 in the order of the rows, as chat_turns does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
os.environ.setdefault("LANCE_LOG", "error")
os.environ.setdefault("RUST_LOG", "error")


class Store(Protocol):
    """name: with what it searches. largest: up to how many turns it is filled in this bench."""

    name: str
    largest: int

    def fill(self, batches: Iterator[pa.Table]) -> None: ...
    def by_vector(self, vector: np.ndarray, user: str | None) -> list[int]: ...
    def by_words(self, query: str) -> list[int] | None: ...


def vectors_of(batch: pa.Table) -> np.ndarray:
    """One row of float32 per turn."""
    column = batch["embedding"].combine_chunks()
    return column.values.to_numpy().reshape(len(column), -1)


class Sqlite:
    """sqlite-vec compares every vector; FTS5 has Porter's stemmer. Both in one file, through apsw."""

    name = "SQLite: FTS5, sqlite-vec"
    largest = 1_000_000

    def __init__(self, folder: Path) -> None:
        import apsw
        import sqlite_vec

        self.path = folder / "turns.sqlite"
        self.con = apsw.Connection(str(self.path))
        self.con.enable_load_extension(True)
        self.con.load_extension(sqlite_vec.loadable_path())
        self.con.execute("pragma journal_mode = wal; pragma synchronous = normal")
        self.con.execute("create virtual table words using fts5(content, tokenize = 'porter unicode61')")
        self.con.execute(
            "create virtual table vectors using vec0(user_id text, embedding float[384] distance_metric=cosine)"
        )

    def fill(self, batches: Iterator[pa.Table]) -> None:
        turn = 0
        for batch in batches:
            ids = range(turn + 1, turn + len(batch) + 1)
            turn += len(batch)
            with self.con:
                texts = batch["content"].to_pylist()
                self.con.executemany("insert into words (rowid, content) values (?, ?)", zip(ids, texts, strict=True))
                rows = zip(ids, batch["user_id"].to_pylist(), map(bytes, vectors_of(batch)), strict=True)
                self.con.executemany("insert into vectors (rowid, user_id, embedding) values (?, ?, ?)", rows)

    def by_vector(self, vector: np.ndarray, user: str | None) -> list[int]:
        sql = "select rowid from vectors where embedding match ? and k = 10"
        if user is None:
            return [row[0] for row in self.con.execute(f"{sql} order by distance", [bytes(vector)])]
        return [row[0] for row in self.con.execute(f"{sql} and user_id = ? order by distance", [bytes(vector), user])]

    def by_words(self, query: str) -> list[int] | None:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        sql = "select rowid from words where words match ? order by rank limit 10"
        return [row[0] for row in self.con.execute(sql, [words])]


class Lance:
    """LanceDB without a vector index, so that it compares every vector; its own full-text index for the words."""

    name = "LanceDB: flat, its FTS"
    largest = 1_000_000

    def __init__(self, folder: Path) -> None:
        import lancedb

        self.path = folder / "lance"
        self.db = lancedb.connect(self.path)

    def fill(self, batches: Iterator[pa.Table]) -> None:
        turn = 0

        def numbered() -> Iterator[pa.RecordBatch]:
            nonlocal turn
            for batch in batches:
                ids = pa.array(range(turn + 1, turn + len(batch) + 1), pa.int64())
                turn += len(batch)
                chosen = batch.select(["user_id", "content", "embedding"]).append_column("turn_id", ids)
                yield from chosen.combine_chunks().to_batches()

        first = next(rows := numbered())
        self.table = self.db.create_table("turns", pa.Table.from_batches([first]))
        for more in rows:
            self.table.add(pa.Table.from_batches([more]))
        self.table.optimize()
        self.table.create_fts_index("content")

    def by_vector(self, vector: np.ndarray, user: str | None) -> list[int]:
        search = self.table.search(vector, vector_column_name="embedding").distance_type("cosine").limit(10)
        if user is not None:
            search = search.where(f"user_id = '{user}'", prefilter=True)
        return search.select(["turn_id"]).to_arrow()["turn_id"].to_pylist()

    def by_words(self, query: str) -> list[int] | None:
        found = self.table.search(query, query_type="fts").limit(10).select(["turn_id"])
        return found.to_arrow()["turn_id"].to_pylist()


class Chroma:
    """Chroma always searches an HNSW index, with its defaults; it has no ranking by words."""

    name = "Chroma: HNSW"
    largest = 100_000

    def __init__(self, folder: Path) -> None:
        import chromadb

        self.path = folder / "chroma"
        client = chromadb.PersistentClient(str(self.path), chromadb.Settings(anonymized_telemetry=False))
        self.turns = client.create_collection("turns", metadata={"hnsw:space": "cosine"}, embedding_function=None)

    def fill(self, batches: Iterator[pa.Table]) -> None:
        turn = 0
        for batch in batches:
            users, texts, made = batch["user_id"].to_pylist(), batch["content"].to_pylist(), vectors_of(batch)
            self.turns.add(
                ids=[str(turn + i + 1) for i in range(len(batch))],
                embeddings=made,
                documents=texts,
                metadatas=[{"user_id": user} for user in users],
            )
            turn += len(batch)

    def by_vector(self, vector: np.ndarray, user: str | None) -> list[int]:
        where = None if user is None else {"user_id": user}
        found = self.turns.query(query_embeddings=[vector], n_results=10, where=where, include=[])
        return [int(name) for name in found["ids"][0]]

    def by_words(self, query: str) -> list[int] | None:
        return None


_NEEDS = {Sqlite: ("apsw", "sqlite_vec"), Lance: ("lancedb",), Chroma: ("chromadb",)}


def installed() -> Sequence[type[Store]]:
    """The stores whose packages are here (make bench puts them into an environment of their own)."""
    return [store for store, packages in _NEEDS.items() if all(find_spec(name) for name in packages)]
