"""`recall-sql serve --http` as a process of its own: started, killed under load, started again, ended."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

import recall_sql
from recall_sql import extensions
from recall_sql.cli import cli
from recall_sql.integrations import quack
from recall_sql.runner import execute
from recall_sql.runner.checks import checks
from tests.integrations.test_quack import free_port
from tests.processes import ROOT

HAVE_QUACK = all(extensions.extension_file(name) for name in quack.EXTENSIONS)
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows ends processes without a signal")


@contextmanager
def serve(db: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address, until the block ends."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-m", "recall_sql", "serve", "--db", str(db), "--http", "--http-port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        assert process.stdout is not None
        lines = []
        while not (found := re.search(r"http://[\d.]+:\d+", lines[-1] if lines else "")):
            lines.append(process.stdout.readline())
            assert lines[-1], "".join(lines)
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


def post(address: str, body: Any, **more: str) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **more}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def tell(address: str, who: int, nth: int) -> tuple[int, Any]:
    """Each turn says something of its own, under a key of its own."""
    content = f"My number {who}-{nth} is lucky. I have {nth + 2} cats."
    address = f"{address}/v1/agents/a1/ingest?user_id=u{who}"
    return post(address, {"content": content, "thread_id": f"t{who}"}, **{"Idempotency-Key": f"{who}-{nth}"})


def by_status(address: str) -> dict[str, float]:
    """How many turns are how far."""
    with urllib.request.urlopen(f"{address}/metrics", timeout=60) as answer:
        lines = re.findall(r'^recall_turns\{status="(\w+)"\} ([\d.]+)$', answer.read().decode(), re.MULTILINE)
    return {status: float(count) for status, count in lines}


def test_killed_under_load_nothing_acknowledged_is_lost_and_nothing_is_done_twice(db: Path) -> None:
    acknowledged: dict[tuple[int, int], int] = {}
    enough = threading.Event()

    def keep_telling(address: str, who: int) -> None:
        for nth in range(10_000):
            try:
                status, answer = tell(address, who, nth)
            except OSError:
                return  # it was killed: nobody knows whether this one is there
            assert status == 202, answer
            acknowledged[who, nth] = answer["turns"][0]["turn_id"]
            if len(acknowledged) >= 60:
                enough.set()

    with serve(db, "--rate-limit", "0") as (process, address):
        clients = [threading.Thread(target=keep_telling, args=(address, who)) for who in range(6)]
        for client in clients:
            client.start()
        assert enough.wait(60)
        process.kill()
        process.wait()
        for client in clients:
            client.join(60)

    with serve(db, "--rate-limit", "0") as (process, address):
        last = max(acknowledged, key=lambda one: acknowledged[one])
        status, again = tell(address, *last)
        assert status == 202
        assert again["turns"] == [{"turn_id": acknowledged[last], "outcome": "repeated", "status": None}]
        deadline = time.monotonic() + 60
        while sum((found := by_status(address)).values()) > found["done"]:
            assert time.monotonic() < deadline, found
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0

    with recall_sql.connect(db) as con:
        stored = dict(con.execute("select turn_id, content from chat_turns").fetchall())
        assert all(f"{who}-{nth} is" in stored[turn_id] for (who, nth), turn_id in acknowledged.items())
        assert len(set(stored.values())) == len(stored)
        landed = con.execute("select count(*), count(*) filter (landed) from chat_fact_payloads").fetchall()
        assert landed == [(len(stored), len(stored))]
        twice = "select source_turn_id, fact_key from chat_fact_history group by all having count(*) > 1"
        assert con.execute(twice).fetchall() == []
        assert con.execute("from chat_turn_attempts").fetchall() == []
        for check in checks():
            tables = execute(con, check, record=False).tables
            assert not [row for table in tables for row in table.table.to_pylist()], check.name


def test_told_to_end_it_stores_what_it_accepted_and_lets_the_file_go(db: Path) -> None:
    with serve(db) as (process, address):
        status, _ = post(f"{address}/v1/agents/a1/ingest", {"content": "I'm vegetarian.", "thread_id": "t"})
        assert status == 202
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert not db.with_name(db.name + ".wal").exists()
    with recall_sql.connect(db) as con:
        assert con.execute("select count(*) from chat_turns").fetchall() == [(1,)]
        assert con.execute("from chat_turn_attempts where claimed_at is not null").fetchall() == []


def test_http_mcp_and_shells_are_doors_of_one_database(db: Path) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` isn't installed")
    port = free_port()
    shells = ["--quack", "--port", str(port), "--token", "secret"] * HAVE_QUACK
    with serve(db, "--mcp", *shells) as (process, address):
        post(f"{address}/v1/agents/default/facts", {"text": "Mochi", "category": "pet", "fact_key": "cat"})
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        status, answer = post(f"{address}/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        assert status == 200 and answer["result"]["serverInfo"]["name"] == "recall-sql"
        asked = {"name": "facts", "arguments": {}}
        status, answer = post(f"{address}/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked})
        assert status == 200 and "Mochi" in json.dumps(answer)
        if HAVE_QUACK:
            with duckdb.connect() as shell:
                for name in quack.EXTENSIONS:
                    shell.load_extension(str(extensions.extension_file(name)))
                there = "from quack_query($1, 'select fact_value from chat_facts', token := 'secret')"
                assert shell.execute(there, [f"quack:localhost:{port}"]).fetchall() == [("Mochi",)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    recall_sql.connect(db).close()


def test_a_port_in_use_is_an_error_in_one_line(db: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = CliRunner().invoke(cli, ["serve", "--db", str(db), "--http", "--http-port", str(port)])
    assert found.exit_code == 1 and f"can't listen on 127.0.0.1, port {port}" in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1


def test_the_port_of_another_door_is_an_error(db: Path) -> None:
    for door in ("--http", "--mcp"):
        found = CliRunner().invoke(cli, ["serve", "--db", str(db), door, "--port", "0"])
        assert found.exit_code == 2 and "--http-port" in found.output


def test_a_request_that_comes_too_slowly_for_the_end_is_told(db: Path) -> None:
    with serve(db, "--grace", "1") as (process, address):
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as slow:
            head = "POST /v1/agents/a1/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            slow.sendall(f'{head}Content-Length: 99\r\n\r\n{{"content":'.encode())
            assert post(f"{address}/v1/agents/a1/ingest", {"content": "hi"})[0] == 202  # it has been read so far
            process.send_signal(signal.SIGTERM)
            assert b" 503 " in slow.recv(1000)
        assert process.wait(30) == 0
        assert process.stdout is not None and "Traceback" not in process.stdout.read()
