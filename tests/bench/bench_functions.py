"""The functions in SQL beside what they stand on, in one run on one machine: `python -m tests.bench.bench_functions`.

EMBED in SQL beside SentenceTransformer.encode on the same list, the same with half the texts twice, the second run;
VECTOR_SEARCH beside the bare SQL expression; the start of the command. What is compared is run alternately and the
medians are printed, so that a busy neighbour disturbs both alike. Prints a table; asserts nothing.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table

import recall_sql
from recall_sql.models.installed import has, minilm_folder
from tests.bench.bench_embed import distinct_texts

TEXTS = 5_000
ROWS, DIMENSION = 200_000, 384
ROUNDS = 3
SEARCHES = 15
STARTS = 5


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_sql(texts: list[str], folder: Path) -> tuple[float, float]:
    """Seconds for EMBED over `texts` in a new database file, and for the same statement again."""
    with tempfile.TemporaryDirectory(dir=folder) as fresh, recall_sql.connect(Path(fresh) / "bench.duckdb") as con:
        con.execute("set enable_progress_bar = false")
        con.execute("select embed('warm', {memo: false})").fetchall()
        con.execute("create table texts as select unnest(?::varchar[]) as text", [texts])
        first = seconds(lambda: con.execute("create table first as select embed(text) as v from texts").fetchall())
        again = seconds(lambda: con.execute("create table again as select embed(text) as v from texts").fetchall())
    return first, again


def embedding(table: Table, folder: Path) -> None:
    """Adds the rows about EMBED."""
    halves = distinct_texts(TEXTS // 2)
    lists = {
        "distinct": distinct_texts(TEXTS),
        "half duplicates": [text for pair in zip(halves, halves, strict=True) for text in pair],
    }
    encode = _encoder()
    for name, texts in lists.items():
        ours, memo, theirs = [], [], []
        for _ in range(ROUNDS):
            first, again = in_sql(texts, folder)
            ours.append(first)
            memo.append(again)
            if encode is not None:
                theirs.append(seconds(lambda texts=texts: encode(texts)))
        first, again = statistics.median(ours), statistics.median(memo)
        if theirs:
            base = statistics.median(theirs)
            _row(table, f"EMBED, {TEXTS:,} texts, {name}", first, base, f"encode: {base / first:.2f} × its speed")
        else:
            _row(table, f"EMBED, {TEXTS:,} texts, {name}", first, None, "sentence-transformers isn't installed")
        _row(table, "  the same statement again", again, first, f"first run: {first / again:.0f} × its speed")


def _encoder() -> Callable[[list[str]], object] | None:
    if not has("sentence_transformers"):
        return None
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(minilm_folder()), device="cpu")
    model.encode(["warm"])
    return lambda texts: model.encode(texts, normalize_embeddings=True)


def searching(table: Table, folder: Path) -> None:
    """Adds the rows about VECTOR_SEARCH."""
    with recall_sql.connect(folder / "search.duckdb") as con:
        con.execute(
            "create table vectors as select range as n, if(range % 4 = 0, 's1', 's2') as session_id,"
            f" list_transform(range({DIMENSION}), lambda i: (hash(range * {DIMENSION} + i) % 2000 / 1000.0 - 1)::float)"
            f"::float[{DIMENSION}] as embedding from range({ROWS})"
        )
        query = con.execute("select embedding from vectors where n = 4711").fetchall()[0][0]
        kind = f"?::float[{DIMENSION}]"
        score = f"array_cosine_similarity(embedding, {kind})"
        bare = f"select n, {score} as score from vectors{{where}} order by score desc limit 10"
        macro = f"select n, score from vector_search('vectors', {kind}, k := 10{{filter}})"
        for name, where, filter_ in (
            ("all rows", "", ""),
            ("one session", " where session_id in ('s1', '')", ", session_id := 's1'"),
        ):
            theirs, ours = bare.format(where=where), macro.format(filter=filter_)
            times: dict[str, list[float]] = {theirs: [], ours: []}
            for _ in range(SEARCHES):
                for sql, taken in times.items():
                    taken.append(seconds(lambda sql=sql: con.execute(sql, [query]).fetchall()))
            mine, base = statistics.median(times[ours]), statistics.median(times[theirs])
            what = f"VECTOR_SEARCH, top 10 of {ROWS:,} × {DIMENSION}, {name}"
            _row(table, what, mine, base, f"bare SQL: {mine / base:.2f} × its time")


def starting(table: Table) -> None:
    """Adds the rows about starting."""
    for name, code in (
        ("python -c pass", "pass"),
        ("import recall_sql", "import recall_sql"),
        ("recall_sql.connect()", "import recall_sql; recall_sql.connect()"),
        (
            "recall-sql sql 'select 1'",
            "import sys; sys.argv = ['recall-sql', 'sql', 'select 1', '--db', ':memory:']; "
            "from recall_sql.cli import main; main()",
        ),
    ):
        command = [sys.executable, "-c", code]
        times = [
            seconds(lambda command=command: subprocess.run(command, capture_output=True, check=True))
            for _ in range(STARTS)
        ]
        _row(table, f"start: {name}", statistics.median(times), None, "")


def _row(table: Table, what: str, taken: float, base: float | None, beside: str) -> None:
    table.add_row(what, f"{taken:.3f}", "" if base is None else f"{base:.3f}", beside)


def main() -> None:
    """Runs everything and prints one table."""
    table = Table(title=f"DuckDB {duckdb.__version__}, seconds (medians)")
    for heading, side in (("what", "left"), ("ours", "right"), ("beside", "right"), ("which is", "left")):
        table.add_column(heading, justify=side)
    with tempfile.TemporaryDirectory() as folder:
        starting(table)
        searching(table, Path(folder))
        embedding(table, Path(folder))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
