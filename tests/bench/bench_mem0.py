"""Beside mem0: `python -m tests.bench.bench_mem0 MEM0_PYTHON [TURNS]` (make bench-mem0 makes its environment).

The same turns (generate_turns), the same scripted model that takes 50 ms (memory_server), the same embedding weights
by the same code. Both read every message of a user; mem0 together with the reply to it. Writes results/mem0.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import recall_sql
from tests.bench.bench_backfill import shown
from tests.bench.generate_turns import rows

DELAY = 0.05
ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).parent / "results" / "mem0.md"


@contextmanager
def served(turns: Path) -> Iterator[str]:
    """The address of a scripted model in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.memory_server", str(DELAY), str(turns)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


def counted(url: str) -> dict[str, int]:
    with urlopen(url) as reply:
        return json.load(reply)


def ours(turns: Path, folder: Path, name: str, **settings: Any) -> dict[str, Any]:
    """A backfill with a model as the extractor."""
    with served(turns) as url:
        con = recall_sql.connect(folder / f"{name}.duckdb", settings={"extractor": f"{url}/v1#m", **settings})
        con.execute("set enable_progress_bar = false")
        con.execute("select embed('warm')").fetchall()
        started = time.perf_counter()
        recall_sql.backfill(con, turns)
        seconds = time.perf_counter() - started
        kept = con.execute("select count(*) from chat_facts").fetchall()[0][0]
        con.close()
        return {"seconds": seconds, "kept": kept, **counted(url)}


def theirs(python: str, turns: Path, folder: Path) -> dict[str, Any]:
    """mem0, in its environment."""
    place = folder / "mem0"
    place.mkdir()
    with served(turns) as url:
        command = [python, "-m", "tests.bench.mem0_run", f"{url}/v1", str(turns), str(place)]
        found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout
        return {**json.loads(found.splitlines()[-1]), **counted(url)}


def main() -> None:
    python, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    with tempfile.TemporaryDirectory(prefix="bench-mem0-") as temporary:
        folder = Path(temporary)
        turns = folder / "turns.jsonl"
        said = list(rows(count))
        turns.write_text("".join(json.dumps(row, default=str) + "\n" for row in said), "utf-8")
        users = sum(row["role"] == "user" for row in said)
        results = {
            "mem0": theirs(python, turns, folder),
            "recall_sql": ours(turns, folder, "plain"),
            "recall_sql, pack 8": ours(turns, folder, "packed", pack=8),
        }
    table = [
        [
            name,
            f"{found['calls'] / users:.2f}",
            f"{found['tokens'] / users:,.0f}",
            f"{count / found['seconds']:,.1f}",
            f"{results['mem0']['seconds'] / found['seconds']:.1f}",
            f"{found['kept']:,}",
        ]
        for name, found in results.items()
    ]
    header = ["", "calls a user turn", "prompt tokens a user turn", "turns/s", "times mem0", "memories kept"]
    version = subprocess.run(
        [python, "-c", "from importlib.metadata import version; print(version('mem0ai'))"],
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.strip()
    title = f"{count:,} turns, {users:,} of users; a model that takes {DELAY * 1000:.0f} ms; mem0ai {version}"
    RESULTS.write_text(shown(title, header, table), "utf-8")


if __name__ == "__main__":
    main()
