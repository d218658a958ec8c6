"""Speed of search and context, upkeep and disk: `python -m tests.bench.bench_search [TURNS …]` (10,000 and 100,000).

Turns of LoCoMo, copied with other names and places (many_turns.py), and LoCoMo's questions. `everyone` has nearly all
turns in one scope, the hardest case; `someone` is a person with up to 2,760 of them. Queries are embedded once before,
as a live loop's memory of vectors would. In the same run the same rows are in SQLite, LanceDB and Chroma, where they
are installed (other_stores.py); recall@10 is measured against comparing every vector with numpy. CPU milliseconds stand
beside those of the clock, because the latter say as much about the neighbours on the machine.

`--million N` fills a table with N million random clustered vectors in a file and searches it with DuckDB's memory
limited to 8 GB. Writes results/search.md (or results/search_large.md).
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pyarrow as pa

import recall_sql
from recall_sql import indexing, runner
from tests.bench.bench_locomo import table
from tests.bench.many_turns import batches, conversations
from tests.bench.other_stores import installed, vectors_of

RESULTS = Path(__file__).parent / "results"
QUESTIONS = 60
WIDTH = 384


def timed(ask: Callable[[int], object], count: int) -> tuple[list[object], list[str]]:
    """The answers, and p50, p95 and median CPU time in milliseconds; every question was asked once before."""
    for place in range(count):
        ask(place)
    answers, wall, cpu = [], [], []
    for place in range(count):
        began, spent = time.perf_counter(), time.process_time()
        answers.append(ask(place))
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - spent) * 1000)
    wall.sort()
    shown = (statistics.median(wall), wall[int(len(wall) * 0.95)], statistics.median(cpu))
    return answers, [f"{value:.1f}" if value < 10 else f"{value:.0f}" for value in shown]


class Exact:
    """The ten nearest by comparing every vector in numpy: what recall is measured against."""

    def __init__(self, count: int, queries: np.ndarray) -> None:
        self._best = np.full((len(queries), 10), -2.0, dtype=np.float32)
        self._ids = np.zeros((len(queries), 10), dtype=np.int64)
        first = 1
        for batch in batches(count):
            scores = queries @ vectors_of(batch).T
            scores = np.concatenate([self._best, scores], axis=1)
            ids = np.broadcast_to(np.arange(first, first + len(batch)), (len(queries), len(batch)))
            ids = np.concatenate([self._ids, ids], axis=1)
            order = np.argsort(-scores, axis=1)[:, :10]
            self._best, self._ids = np.take_along_axis(scores, order, 1), np.take_along_axis(ids, order, 1)
            first += len(batch)

    def recall(self, answers: Sequence[object]) -> str:
        """The share of the ten nearest that the answers hold."""
        hits = sum(len(set(found) & set(right)) for found, right in zip(answers, self._ids.tolist(), strict=True))
        return f"{hits / self._ids.size:.3f}"


def size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


def ours(con: duckdb.DuckDBPyConnection, texts: list[str], exact: Exact) -> list[list[str]]:
    """Lines of the table for recall_sql."""
    lines = []

    def by_vector(more: str) -> Callable[[int], list[int]]:
        # the text, whose vector is at hand: handing 384 numbers to DuckDB one by one takes longer than the search
        sql = f"select turn_id from vector_search('chat_turns', $1{more}) order by rank"
        return lambda place: [row[0] for row in con.execute(sql, [texts[place]]).fetchall()]

    def by_text(sql: str) -> Callable[[int], object]:
        return lambda place: con.execute(sql, [texts[place]]).fetchall()

    for name, more in (("VECTOR_SEARCH, every vector", ", candidates := 0"), ("VECTOR_SEARCH, bits first", "")):
        answers, shown = timed(by_vector(more), len(texts))
        lines.append([name, *shown, exact.recall(answers)])
    lines.append(["VECTOR_SEARCH, someone", *timed(by_vector(", user_id := 'someone'"), len(texts))[1], ""])
    for user in ("everyone", "someone"):
        for name, sql in (
            ("HYBRID_SEARCH", f"select turn_id from hybrid_search('chat_turns', $1, user_id := '{user}')"),
            ("CONTEXT", f"select line from context('conv-26-0-session_1', $1, user_id := '{user}')"),
        ):
            lines.append([f"{name}, {user}", *timed(by_text(sql), len(texts))[1], ""])
    return lines


def measure(count: int, others: bool) -> list[list[str]]:
    asked = conversations()[2]
    texts = [question.text for question in asked[:: len(asked) // QUESTIONS]][:QUESTIONS]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bench.duckdb"
        with recall_sql.connect(path) as con:
            made = [con.execute("select embed($1)", [text]).fetchall()[0][0] for text in texts]
            queries = np.array(made, dtype=np.float32)
            exact = Exact(count, queries)
            for batch in batches(count):
                con.register("rows_to_add", batch)
                con.execute("insert into chat_turns by name select * from rows_to_add").fetchall()
            con.execute("checkpoint")
            before, spent = size(path), time.process_time()
            indexing.index(con, at_least=0)
            upkeep = (time.process_time() - spent) / count * 1e6
            con.execute("checkpoint")
            disk = (before / count, (size(path) - before) / count)
            lines = ours(con, texts, exact)
            runner.execute(
                con,
                runner.load("conversation_memory/ingest"),
                {"content": "one more turn", "user_id": "everyone", "session_id": "s"},
            )
            began, spent = time.perf_counter(), time.process_time()
            runner.execute(con, runner.load("search/index"))
            one = [f"{(time.perf_counter() - began) * 1000:.0f}", "", f"{(time.process_time() - spent) * 1000:.0f}", ""]
            lines.append(["search/index after one new turn", *one])
            lines.append(
                [f"upkeep {upkeep:.0f} µs of CPU a turn; disk {disk[0]:.0f} + {disk[1]:.0f} bytes a turn", *[""] * 4]
            )
        for kind in installed() if others else ():
            if count > kind.largest:
                continue
            store, spent = kind(Path(folder)), time.process_time()
            store.fill(batches(count))
            upkeep = (time.process_time() - spent) / count * 1e6
            answers, shown = timed(lambda place, store=store: store.by_vector(queries[place], None), len(texts))
            lines.append([f"{store.name}: vectors", *shown, exact.recall(answers)])
            answers, shown = timed(lambda place, store=store: store.by_vector(queries[place], "someone"), len(texts))
            lines.append([f"{store.name}: vectors, someone", *shown, ""])
            if store.by_words(texts[0]) is not None:
                shown = timed(lambda place, store=store: store.by_words(texts[place]), len(texts))[1]
                lines.append([f"{store.name}: words", *shown, ""])
            lines.append(
                [
                    f"filled in {upkeep:.0f} µs of CPU a turn; disk {size(store.path) / count:.0f} bytes a turn",
                    *[""] * 4,
                ]
            )
    return [[f"{count:,}", *line] for line in lines]


def large(millions: float, file: Path | None) -> str:
    """VECTOR_SEARCH over a table too large for memory."""
    dice = np.random.default_rng(7)
    centres = dice.normal(size=(2000, WIDTH)).astype(np.float32)

    def clustered(count: int) -> np.ndarray:
        found = centres[dice.integers(0, 2000, count)] + 0.8 * dice.normal(size=(count, WIDTH)).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    rows, step, asked = int(millions * 1_000_000), 50_000, clustered(8)
    with TemporaryDirectory() as folder:
        config = {"memory_limit": "8GB", "temp_directory": folder}
        with recall_sql.connect(file or Path(folder) / "large.duckdb", config=config) as con:
            con.execute(
                f"create table if not exists docs (turn_id bigint, embedding float[{WIDTH}], embedding_bits bit)"
            )
            filled = con.execute("select count(*) from docs").fetchall()[0][0]
            for first in range(filled, rows, step):
                arrays = [
                    pa.array(range(first, first + step)),
                    pa.FixedSizeListArray.from_arrays(pa.array(clustered(step).ravel()), WIDTH),
                ]
                con.register("added", pa.Table.from_arrays(arrays, names=["turn_id", "embedding"]))
                con.execute("insert into docs select *, sign_bits(embedding) from added").fetchall()
            con.execute("checkpoint")

            def ask(more: str) -> Callable[[int], list[int]]:
                sql = f"select turn_id from vector_search('docs', $1::float[{WIDTH}]{more}) order by rank"
                return lambda place: [row[0] for row in con.execute(sql, [asked[place].tolist()]).fetchall()]

            found, first_pass = timed(ask(""), len(asked))
            right, every = timed(ask(", candidates := 0"), len(asked))
            hits = sum(len(set(a) & set(b)) for a, b in zip(right, found, strict=True)) / (10 * len(asked))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    lines = [["every vector", *every, "1.000"], ["bits first", *first_pass, f"{hits:.3f}"]]
    shown = table([f"{rows:,} × {WIDTH}", "p50 ms", "p95 ms", "CPU ms", "recall@10"], lines)
    ratio = float(first_pass[0]) / float(every[0])
    return (
        f"{shown}\n\nBits first takes {ratio:.2f} of the time. DuckDB's memory_limit is 8 GB; the process took at most "
        f"{peak:.1f} GB.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("turns", nargs="*", type=lambda text: int(text.replace("_", "").replace(",", "")))
    parser.add_argument("--alone", action="store_true", help="without the other stores")
    parser.add_argument("--million", type=float)
    parser.add_argument("--file", type=Path, help="with --million: a database to keep and to use again")
    args = parser.parse_args()
    where = f"DuckDB {duckdb.__version__}, {datetime.now(UTC):%Y-%m-%d}, two cores"
    if args.million:
        name, call, body = "search_large.md", f" --million {args.million:g}", large(args.million, args.file)
    else:
        counts = args.turns or [10_000, 100_000]
        name, call = "search.md", "".join(f" {count}" for count in counts)
        lines = [line for count in counts for line in measure(count, not args.alone)]
        body = table(["turns", "", "p50 ms", "p95 ms", "CPU ms", "recall@10"], lines) + "\n"
    text = f"# Speed of search\n\n`python -m tests.bench.bench_search{call}`: {where}.\n\n{body}"
    print(text)
    (RESULTS / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
