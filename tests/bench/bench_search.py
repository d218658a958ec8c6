"""Speed of search and context, upkeep and disk: `python -m tests.bench.bench_search [TURNS …]` (10,000 and 100,000).

Synthetic turns of about 20 tokens in conversations of 40, all of one user, with clustered vectors of 384; so every
query has the whole table in its scope. Queries are embedded once before, as a live loop's memo would. SQLite FTS5 (in
the standard library) answers the same queries over the same rows. CPU seconds stand beside wall-clock ones, because the
latter say as much about the neighbours on the machine. Writes results/search.md.
"""

from __future__ import annotations

import random
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pyarrow as pa

import recall_sql
from recall_sql import runner
from tests.bench.bench_embed import distinct_texts
from tests.bench.bench_locomo import table

RESULTS = Path(__file__).parent / "results" / "search.md"
QUERIES = [
    "vegetarian breakfast in Kyoto",
    "cheap flight to Lisbon",
    "my doctor's birthday",
    "quiet garden walk",
    "piano",
]
ROUNDS = 6


def rows(count: int) -> pa.Table:
    """The same turns every time."""
    dice = np.random.default_rng(7)
    centres = dice.normal(size=(200, 384)).astype(np.float32)
    vectors = centres[dice.integers(0, 200, count)] + 0.8 * dice.normal(size=(count, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = distinct_texts(min(count, 20_000))
    pick = random.Random(3)
    began = datetime(2024, 1, 1, tzinfo=UTC)
    return pa.table(
        {
            "user_id": ["u"] * count,
            "session_id": [f"s{i // 40}" for i in range(count)],
            "position": [i % 40 + 1 for i in range(count)],
            "role": ["user" if i % 2 == 0 else "assistant" for i in range(count)],
            "content": [pick.choice(texts) for _ in range(count)],
            "created_at": [began + timedelta(minutes=i) for i in range(count)],
            "embedding": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 384),
        }
    )


def timed(ask: Callable[[str], object]) -> tuple[float, float, float]:
    """p50 and p95 in milliseconds of wall clock, and median CPU milliseconds."""
    wall, cpu = [], []
    for query in QUERIES:
        ask(query)
    for query in QUERIES * ROUNDS:
        began, spent = time.perf_counter(), time.process_time()
        ask(query)
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - spent) * 1000)
    wall.sort()
    return statistics.median(wall), wall[int(len(wall) * 0.95)], statistics.median(cpu)


def ways(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return {
        "HYBRID_SEARCH": "select turn_id from hybrid_search('chat_turns', ?, user_id := 'u')",
        "HYBRID_SEARCH, words alone": (
            "select turn_id from hybrid_search('chat_turns', ?, user_id := 'u', vector_weight := 0)"
        ),
        "VECTOR_SEARCH, exact": "select turn_id from vector_search('chat_turns', ?, user_id := 'u')",
        "CONTEXT": "select line from context('s1', ?, user_id := 'u')",
    }


def fts5(found: pa.Table) -> tuple[float, float, float]:
    with sqlite3.connect(":memory:") as con:
        con.execute("create virtual table turns using fts5(content, tokenize = 'porter unicode61')")
        con.executemany("insert into turns (content) values (?)", [(text,) for text in found["content"].to_pylist()])

        def ask(query: str) -> list[tuple]:
            words = " OR ".join(f'"{word}"' for word in query.split())
            return con.execute("select rowid from turns where turns match ? order by rank limit 10", [words]).fetchall()

        return timed(ask)


def measure(count: int) -> list[list[str]]:
    found = rows(count)
    with TemporaryDirectory() as folder, recall_sql.connect(Path(folder) / "bench.duckdb") as con:
        con.register("rows_to_add", found)
        con.execute("insert into chat_turns by name select * from rows_to_add")
        con.execute("checkpoint")
        before = (Path(folder) / "bench.duckdb").stat().st_size
        spent = time.process_time()
        runner.execute(con, runner.load("search/index"))
        indexing = (time.process_time() - spent) / count * 1e6
        con.execute("checkpoint")
        disk = ((Path(folder) / "bench.duckdb").stat().st_size - before) / count
        lines = [
            [
                f"{count:,}",
                name,
                *(f"{value:.0f}" for value in timed(lambda query, sql=sql: con.execute(sql, [query]).fetchall())),
            ]
            for name, sql in ways(con).items()
        ]
        values = {"content": "one more turn", "user_id": "u", "session_id": "s1"}
        runner.execute(con, runner.load("conversation_memory/ingest"), values)
        began, spent = time.perf_counter(), time.process_time()
        runner.execute(con, runner.load("search/index"))
        one = (time.perf_counter() - began) * 1000, (time.process_time() - spent) * 1000
    lines.append([f"{count:,}", "search/index after one new turn", f"{one[0]:.0f}", "", f"{one[1]:.0f}"])
    lines.append([f"{count:,}", "SQLite FTS5, words alone", *(f"{value:.0f}" for value in fts5(found))])
    lines.append([f"{count:,}", f"index: {indexing:.0f} µs CPU and {disk:.0f} bytes a turn", "", "", ""])
    return lines


def report(counts: list[int]) -> str:
    lines = [line for count in counts for line in measure(count)]
    where = f"DuckDB {duckdb.__version__}, {datetime.now(UTC):%Y-%m-%d}, two cores"
    head = f"# Speed\n\n`python -m tests.bench.bench_search`: {where}.\n\n"
    return head + table(["turns", "", "p50 ms", "p95 ms", "CPU ms"], lines) + "\n"


if __name__ == "__main__":
    text = report([int(count.replace("_", "").replace(",", "")) for count in sys.argv[1:]] or [10_000, 100_000])
    print(text)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text, "utf-8")
