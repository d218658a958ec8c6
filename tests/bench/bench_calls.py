"""Model calls from SQL, in one run on one machine: `python -m tests.bench.bench_calls [--small] [PART …]`.

GENERATE against a server that takes 100 ms a request, beside the ideal for the concurrency and beside a row-by-row
Python UDF; remembered rows; memory over many rows; a faulty server beside a sound one; kill -9. Prints tables, asserts
nothing. The server is a process of its own on the same machine: it takes processor time, but not our interpreter's.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table

import recall_sql
from tests.processes import running

DELAY, CONCURRENCY = 0.1, 16

KILLED = """
import sys, recall_sql
con = recall_sql.connect(sys.argv[2], settings={"llm": sys.argv[1], "concurrency": 16})
con.execute(f"create or replace temp table t as select range as i from range({sys.argv[3]})")
print("ready", flush=True)
con.execute("select count(generate('p' || i)) from t").fetchall()
"""


@contextmanager
def served(delay: float, faults: bool = False) -> Iterator[str]:
    """The address of a server in a process of its own."""
    arguments = [sys.executable, "-m", "tests.bench.slow_server", str(delay), "faults" if faults else "sound"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


def told_by(url: str) -> dict[str, int]:
    """What the server counted."""
    import json
    from urllib.request import urlopen

    with urlopen(url) as reply:
        return json.load(reply)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def opened(folder: Path, name: str, url: str) -> duckdb.DuckDBPyConnection:
    con = recall_sql.connect(folder / f"{name}.duckdb", settings={"llm": f"{url}#m", "concurrency": CONCURRENCY})
    con.execute("set enable_progress_bar = false")
    return con


def throughput(table: Table, folder: Path, rows: int, by_row: int) -> None:
    """GENERATE beside the ideal, and beside a Python UDF that asks row by row."""
    import openai

    with served(DELAY) as url, opened(folder, "throughput", url) as con:
        con.execute("select generate('warm')").fetchall()
        ideal = rows * DELAY / CONCURRENCY
        worked = time.process_time()
        took = seconds(lambda: con.execute(f"select count(generate('p' || range)) from range({rows})").fetchall())
        worked = time.process_time() - worked
        client = openai.OpenAI(base_url=url, api_key="x")

        def plain(prompt: str) -> str:
            message = {"role": "user", "content": prompt}
            return client.chat.completions.create(model="m", messages=[message]).choices[0].message.content

        con.create_function("plain", plain, ["VARCHAR"], "VARCHAR")
        slow = seconds(lambda: con.execute(f"select count(plain('q' || range)) from range({by_row})").fetchall())
    rate = rows / took
    table.add_row(
        f"GENERATE, {rows:,} rows of {DELAY * 1000:.0f} ms, {CONCURRENCY} in flight",
        f"{took:.2f} s",
        f"{ideal:.2f} s",
        f"{ideal / took:.2f} of the ideal ({worked / rows * 1000:.1f} ms of processor a call)",
    )
    table.add_row(
        f"the same row by row, {by_row:,} rows",
        f"{slow:.2f} s",
        f"{by_row / rate:.2f} s",
        f"GENERATE is {rate / (by_row / slow):.1f} × as fast",
    )


def remembered(table: Table, folder: Path, rows: int) -> None:
    """What a row costs whose answer is known; every row a text of its own."""
    with served(0) as url, opened(folder, "remembered", url) as con:
        from recall_sql.calls.flight import Question
        from recall_sql.calls.layer import _keys
        from recall_sql.calls.memo import Entry, stable
        from recall_sql.models.base import Request
        from recall_sql.session import instance_of

        memo = instance_of(con).calls.memo
        common = stable({"system": None, "temperature": 0.0, "max_tokens": 512, "json_schema": None})
        texts = [f"p{number}" for number in range(rows)]
        questions = [Question(Request(text), text, known_by=common) for text in texts]
        keys = _keys("GENERATE", "http:m", url, questions)
        for start in range(0, rows, 20_000):
            part = slice(start, start + 20_000)
            memo.add(
                [
                    Entry(key, "h", "GENERATE", "http:m", "re: " + text)
                    for key, text in zip(keys[part], texts[part], strict=True)
                ]
            )
        query = f"select count({{}}) from (select 'p' || range as t from range({rows}))"
        base = seconds(lambda: con.execute(query.format("upper(t)")).fetchall())
        worked = time.process_time()
        took = [seconds(lambda: con.execute(query.format("generate(t)")).fetchall()) - base for _ in range(3)]
        worked = (time.process_time() - worked) / 3
        asked = told_by(url)["calls"]
    table.add_row(
        f"remembered, {rows:,} distinct rows",
        f"{min(took):.2f} s",
        "20 µs a row",
        f"{min(took) / rows * 1e6:.1f} µs a row ({worked / rows * 1e6:.1f} µs of processor), {asked} calls",
    )


def memory(table: Table, folder: Path, sizes: list[int]) -> None:
    """The process's memory over rows of a thousand distinct prompts, remembered after the first time."""
    found = []
    with served(0) as url, opened(folder, "memory", url) as con:
        for rows in sizes:
            con.execute(f"select count(generate('p' || range % 1000)) from range({rows})").fetchall()
            found.append(f"{rows:,}: {_rss():.0f} MB")
    table.add_row(
        "memory (RSS) after so many rows",
        ", ".join(found),
        "",
        "peak " + f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB",
    )


def _rss() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


def faults(table: Table, folder: Path, rows: int) -> None:
    """5 % of requests get 429, 2 % 500, 1 % a connection that breaks in the middle of the body."""
    results, told = [], {}
    for faulty in (False, True):
        with served(0.005, faulty) as url, opened(folder, f"faults {faulty}", url) as con:
            query = f"select range, generate('p' || range) from range({rows}) order by 1"
            took = seconds(lambda con=con, query=query: results.append(con.execute(query).fetchall()))
            told = told_by(url)
            seen = con.execute("select count(*) filter (status <> 'ok'), max(attempt) from recall_calls").fetchall()[0]
    same = "equal" if results[0] == results[1] else "DIFFERENT"
    twice = told["answered"] - told["distinct"]
    table.add_row(
        f"{rows:,} rows, 8 % of requests fail",
        f"{took:.1f} s",
        f"{told['distinct']:,} answered",
        f"results {same}; {told['calls']:,} calls, {seen[0]} failed, {twice} answered twice, at most {seen[1]} tries",
    )


def killed(table: Table, folder: Path, rows: int, times: int) -> None:
    """kill -9 at a random moment, then the same statement again."""
    with served(0.02) as url:
        db = folder / "killed.duckdb"
        recall_sql.connect(db).close()
        for _ in range(times):
            with running(KILLED, f"{url}#m", db, rows) as process:
                until = told_by(url)["calls"] + random.randint(1, rows // times)
                while process.poll() is None and told_by(url)["calls"] < until:
                    time.sleep(random.uniform(0, 0.02))
                process.kill()
                process.wait(30)
        with opened(folder, "killed", url) as con:
            count = con.execute(f"select count(generate('p' || range)) from range({rows})").fetchall()[0][0]
        told = told_by(url)
    again = told["answered"] - rows
    table.add_row(
        f"kill -9, {times} times, {rows:,} rows",
        f"{count:,} answered",
        f"{told['calls']:,} calls",
        f"{again} answers asked again, {again / times:.1f} a kill ({CONCURRENCY} in flight)",
    )


PARTS = {
    "throughput": lambda table, folder, part: throughput(table, folder, 2_000 // part, 200 // part),
    "remembered": lambda table, folder, part: remembered(table, folder, 100_000 // part),
    "memory": lambda table, folder, part: memory(
        table, folder, [rows // part for rows in (10_000, 100_000, 1_000_000)]
    ),
    "faults": lambda table, folder, part: faults(table, folder, 5_000 // part),
    "killed": lambda table, folder, part: killed(table, folder, 2_000, 20 if part == 1 else 4),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true", help="A tenth of everything.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="Only these.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.parts or PARTS:
            table = Table("what", "measured", "beside", "ratio")
            PARTS[name](table, Path(folder), 10 if given.small else 1)
            Console(width=160).print(table)  # as it comes: the whole takes minutes


if __name__ == "__main__":
    main()
