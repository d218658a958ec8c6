"""Load over HTTP: 50 clients, three ingests to two retrievals: `python -m tests.bench.bench_http [SECONDS …]`.

The server is a process of its own with its real extractor and embedder, and the clients share the machine with it.
Each client begins its next request when the last one is answered. Latency is what a client waits, queueing included.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import duckdb
import httpx2
import numpy as np
import psutil

import recall_sql

ROOT = Path(__file__).parents[2]
RESULT = Path(__file__).with_name("results") / "http.md"
CLIENTS, USERS = 50, 50
SAID = (
    "I have {n} cats.", "My budget is ${n}00.", "I live in Berlin.", "I'm vegetarian.", "I love hiking near lake {n}.",
    "What do you think about trip number {n}?", "We stayed {n} nights in Rome last year.", "My sister is called Ana.",
)  # fmt: skip
ASKED = (
    "What pets do I have?",
    "How much can I spend?",
    "Where do I live?",
    "What should we eat?",
    "Who is my sister?",
)


async def client(
    http: httpx2.AsyncClient, who: int, until: float, seconds: defaultdict[str, list[float]], faults: Counter[str]
) -> None:
    """One user's requests, one after another."""
    dice = random.Random(who)
    while time.monotonic() < until:
        if dice.random() < 0.6:
            kind, body = "ingest", {"content": dice.choice(SAID).format(n=dice.randint(2, 99)), "thread_id": f"t{who}"}
        else:
            kind, body = "retrieve", {"query": dice.choice(ASKED), "thread_id": f"t{who}"}
        started = time.perf_counter()
        try:
            answer = await http.post(f"/v1/agents/bench/{kind}", params={"user_id": f"u{who % USERS}"}, json=body)
            if answer.status_code not in (200, 202):
                faults[f"{kind} {answer.status_code}"] += 1
        except httpx2.HTTPError as error:
            faults[f"{kind} {type(error).__name__}"] += 1
        seconds[kind].append(time.perf_counter() - started)


async def load(
    address: str, process: psutil.Process, length: int
) -> tuple[defaultdict[str, list[float]], Counter[str], list[float]]:
    """Seconds of every request by kind, what failed, and the server's MB at the start, in the middle and at the end."""
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    faults: Counter[str] = Counter()
    limits = httpx2.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    async with httpx2.AsyncClient(base_url=address, timeout=60, limits=limits) as http:
        until = time.monotonic() + length
        clients = [asyncio.create_task(client(http, who, until, seconds, faults)) for who in range(CLIENTS)]
        memory = []
        for moment in (2, length / 2, length):
            await asyncio.sleep(max(0, until - length + moment - time.monotonic()))
            memory.append(process.memory_info().rss / 1e6)
        await asyncio.gather(*clients)
    return seconds, faults, memory


def caught_up(address: str) -> float:
    """Seconds until every turn has been read and landed."""
    started = time.monotonic()
    while True:
        text = httpx2.get(f"{address}/metrics").text
        turns = {status: float(n) for status, n in re.findall(r'recall_turns\{status="(\w+)"\} ([\d.e+]+)', text)}
        if sum(turns.values()) == turns["done"]:
            return time.monotonic() - started
        time.sleep(0.2)


def measure(length: int) -> str:
    """What `length` seconds of it gave."""
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "bench.duckdb"
        recall_sql.connect(db).close()
        arguments = ["serve", "--db", str(db), "--http", "--http-port", "0", "--rate-limit", "0"]
        server = subprocess.Popen(
            [sys.executable, "-m", "recall_sql", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+:\d+", server.stdout.readline())
            assert found is not None
            process = psutil.Process(server.pid)
            httpx2.post(f"{found[0]}/v1/agents/bench/ingest?wait=true", json={"content": "I have a dog."}, timeout=60)
            seconds, faults, memory = asyncio.run(load(found[0], process, length))
            behind = caught_up(found[0])
        finally:
            server.terminate()
            ended = server.wait(30)
    return told(length, seconds, faults, memory, behind, ended)


def told(
    length: int,
    seconds: defaultdict[str, list[float]],
    faults: Counter[str],
    memory: list[float],
    behind: float,
    ended: int,
) -> str:
    """The numbers in words and a table."""
    lines = [
        f"{CLIENTS} clients, {length} s, {os.cpu_count()} cores for server, clients and whatever else ran: the "
        f"machine's load was {os.getloadavg()[0]:.1f}.",
        "",
        "| | requests | requests/s | p50 ms | p95 ms | p99 ms |",
        "|---|---|---|---|---|---|",
    ]
    whole = [second for found in seconds.values() for second in found]
    for name, found in (*sorted(seconds.items()), ("all", whole)):
        p50, p95, p99 = np.percentile(np.array(found) * 1000, [50, 95, 99])
        lines.append(f"| {name} | {len(found):,} | {len(found) / length:.0f} | {p50:.0f} | {p95:.0f} | {p99:.0f} |")
    start, middle, end = memory
    lines += [
        "",
        f"Errors: {sum(faults.values())}{f' ({dict(faults)})' if faults else ''}. Memory of the server: {start:.0f} MB "
        f"after 2 s, {middle:.0f} MB in the middle, {end:.0f} MB at the end. Every turn had been read {behind:.1f} s "
        f"after the last request. Told to end, the server exited with {ended}.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parts = [measure(int(length)) for length in sys.argv[1:] or ["30", "100"]]
    head = f"`python -m tests.bench.bench_http`: DuckDB {duckdb.__version__}, three ingests to two retrievals.\n"
    RESULT.write_text("\n".join([head, *parts]), "utf-8")
    print("\n".join(parts))
