"""A backfill of so many turns: `python -m tests.bench.bench_backfill 10000 100000 1000000`, which takes two hours.

Turns from tests/bench/generate_turns.py, 50 a session; the rules extractor, MiniLM on onnxruntime, one process. Each
size in a process of its own, for its peak of memory. Stages: ingest (read, check, sort, store), embed, extract, land,
search index. SIZE:no-embed leaves embedding turns out, SIZE:index everything but ingest and the search index: a turn
is embedded and extracted by itself, so their rates don't depend on how many there are. --engines compares one process,
two, and Ray with two workers, at the first SIZE, and gives what a partition costs beside the work on it. --profile says
which functions a backfill of 2,000 turns spends its time in. Writes results/backfill.md when asked for three sizes or
more.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.bench.generate_turns import write

RESULTS = Path(__file__).parent / "results" / "backfill.md"
PARTS = {
    "no-embed": "search/index, conversation_memory/extract, conversation_memory/land",
    "index": "search/index",
}
STAGES = {
    "embed": "conversation_memory/embed",
    "extract": "conversation_memory/extract",
    "land": "conversation_memory/land",
    "search index": "search/index",
}


def run_one(folder: str, database: str, how: str, options: dict[str, Any]) -> dict[str, Any]:
    """One backfill in this process: seconds by stage, peak of memory in MB, what came of it."""
    import resource

    import recall_sql

    recipe = "conversation_memory/all"
    if how:
        recipe = str(Path(database).with_name("parts.sql"))
        Path(recipe).write_text(f"/* recipe\nname: parts\nruns: [{PARTS[how]}]\n*/\n", "utf-8")
    con = recall_sql.connect(database, config={"memory_limit": "2GB"})
    con.execute("set enable_progress_bar = false")
    started, worked = time.perf_counter(), _processor_seconds()
    done = recall_sql.backfill(con, folder, recipe=recipe, **options)
    total, worked = time.perf_counter() - started, _processor_seconds() - worked
    steps = con.execute(
        "select s.recipe, sum(s.seconds) from (select unnest(from_json(steps, "
        '\'[{"recipe": "varchar", "seconds": "double"}]\')) as s from recall_runs where status = \'ok\') group by all'
    ).fetchall()
    by_recipe = dict(steps)
    seconds = {name: by_recipe.get(recipe, 0.0) for name, recipe in STAGES.items()}
    seconds["ingest"] = done.seconds["stage"] + done.seconds["store"]
    counts = con.execute(
        "select (select count(*) from chat_turns), (select count(*) from chat_turns where role = 'user'),"
        " (select count(*) from chat_facts), (select count(*) from chat_fact_history),"
        " (select count(distinct content) from chat_turns)"
    ).fetchall()[0]
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "total": total,
        "processor": worked,
        "read": done.seconds["read"],
        "seconds": seconds,
        "peak_mb": peak / 1024,
        "partitions": done.partitions,
        **dict(zip(("turns", "user_turns", "facts", "events", "distinct"), counts, strict=True)),
    }


def _processor_seconds() -> float:
    """Of this process and those it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def apart(folder: Path, size: int, name: str, *, how: str = "", **options: Any) -> dict[str, Any]:
    """The same in a process of its own. size: turns; below zero, so many partitions with next to nothing in them."""
    source = Path(os.environ.get("RECALL_BENCH_TURNS", folder)) / str(size)
    if not source.exists() and size < 0:
        source.mkdir()
        said = ({"role": "assistant", "content": "ok", "session_id": f"s{n // 10}"} for n in range(-10 * size))
        (source / "ok.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said), "utf-8")
    elif not source.exists():
        write(size, source)
    database = folder / f"{name}.duckdb"
    command = [sys.executable, "-m", "tests.bench.bench_backfill", "--one", str(source), str(database)]
    command += [json.dumps(options), how]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    database.unlink()
    return json.loads(found.splitlines()[-1])


def sizes_table(results: dict[str, dict[str, Any]]) -> list[list[str]]:
    """A row per stage: turns a second at each size."""
    rows = []
    for stage in ("ingest", "embed", "extract", "land", "search index"):
        cells = []
        for found in results.values():
            seconds = found["seconds"][stage]
            cells.append(f"{found['turns'] / seconds:,.0f}" if seconds > 0.05 else "–")
        rows.append([f"{stage}, turns/s", *cells])
    every = list(results.values())
    return [
        *rows,
        ["all, turns/s", *(f"{one['turns'] / one['total']:,.0f}" for one in every)],
        ["all, seconds", *(f"{one['total']:,.0f}" for one in every)],
        ["processor ms a turn", *(f"{1000 * one['processor'] / one['turns']:.2f}" for one in every)],
        ["peak of memory, MB", *(f"{one['peak_mb']:,.0f}" for one in every)],
        ["sessions", *(f"{one['turns'] // 50:,}" for one in every)],
        ["texts like no other", *(f"{one['distinct'] / one['turns']:.0%}" for one in every)],
        ["beliefs, events", *(f"{one['facts']:,}, {one['events']:,}" for one in every)],
    ]


def engines_table(folder: Path, size: int) -> list[list[str]]:
    """One process, two, and Ray with two workers; and what a partition costs that has next to nothing in it."""
    rows, first = [], None
    for name, options in {
        "one process": {},
        "two processes": {"workers": 2},
        "Ray, two workers": {"engine": "ray", "workers": 2},
    }.items():
        whole = apart(folder, size, "engine", partition_turns=500, **options)
        many, few = (apart(folder, -count, "engine", partition_turns=10, **options) for count in (40, 10))
        each = (many["read"] - few["read"]) / 30
        first = first or whole["read"]
        rows.append(
            [name, f"{whole['turns'] / whole['read']:,.0f}", f"{first / whole['read']:.2f}", f"{1000 * each:,.0f}"]
        )
    return rows


def profile(folder: Path) -> None:
    """Where the time goes in the part that isn't DuckDB's or onnxruntime's own."""
    write(2000, folder / "2000")
    profiler = cProfile.Profile()
    profiler.enable()
    run_one(str(folder / "2000"), str(folder / "profile.duckdb"), "", {})
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(15)


def shown(title: str, header: list[str], rows: list[list[str]]) -> str:
    table = Table(title=title)
    for name in header:
        table.add_column(name)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    lines = [header, ["---"] * len(header), *rows]
    return f"## {title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", default=["10000", "100000"])
    parser.add_argument("--engines", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        source, database, options, how = asked.one
        print(json.dumps(run_one(source, database, how, json.loads(options))))
        return
    command = " ".join(["python -m tests.bench.bench_backfill", *sys.argv[1:]])
    where = f"{os.cpu_count()} cores, DuckDB {version('duckdb')} limited to 2 GB"
    told = [f"`{command}`, {datetime.now(UTC):%Y-%m-%d}, {where}.\n"]
    with tempfile.TemporaryDirectory(prefix="bench-backfill-") as temporary:
        folder = Path(temporary)
        if asked.profile:
            profile(folder)
            return
        if asked.engines:
            rows = engines_table(folder, int(asked.sizes[0]))
            header = ["who reads", "turns/s embedded and extracted", "beside one process", "ms a partition costs"]
            told.append(shown(f"Engines, {int(asked.sizes[0]):,} turns", header, rows))
        else:
            results = {}
            for text in asked.sizes:
                size, _, how = text.partition(":")
                name = f"{int(size):,}" + (f", {how}" if how else "")
                results[name] = apart(folder, int(size), "size", how=how)
                print(name, json.dumps(results[name]), flush=True)
            told.append(shown("Backfill, one process", ["turns", *results], sizes_table(results)))
    if len(asked.sizes) >= 3 or asked.engines:
        name = "backfill_engines.md" if asked.engines else "backfill.md"
        RESULTS.with_name(name).write_text("\n".join(told), "utf-8")


if __name__ == "__main__":
    main()
