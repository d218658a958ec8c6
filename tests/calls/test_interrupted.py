"""Ctrl-C and kill -9 in processes of their own: no answered call is lost, and none is made again."""

from __future__ import annotations

import os
import signal
import time

import duckdb
import pytest

import recall_sql
from tests.processes import running
from tests.servers import ScriptedServer, chat

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows sends no signals to another process")

IN_FLIGHT = 4
ROWS = 60
ASK = f"""
import sys, recall_sql
con = recall_sql.connect(sys.argv[2], settings={{"llm": sys.argv[1], "concurrency": {IN_FLIGHT}}})
con.execute("create or replace table t as select range as i from range({ROWS})")
con.execute("checkpoint")  # 1.5.5 can't replay the comments of a new file's tables
print("ready", flush=True)
try:
    con.execute("create or replace table u as select generate('p' || i) as a from t").fetchall()
except BaseException as error:
    print(type(error).__name__, flush=True)
con.close()
"""


@pytest.fixture
def server():
    with ScriptedServer(lambda call: chat("fine", delay=0.05)) as running_server:
        yield running_server


def wait_for_calls(server: ScriptedServer, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(server.calls) < count:
        assert time.monotonic() < deadline, "the process asks nothing"
        time.sleep(0.005)


def remembered(db) -> int:
    with duckdb.connect(str(db)) as con:
        return con.execute("select count(*) from recall_memo").fetchall()[0][0]


def test_ctrl_c_ends_the_statement_and_keeps_every_answer(db, server):
    recall_sql.connect(db).close()
    with running(ASK, server.model(), db) as process:
        wait_for_calls(server, 20)
        process.send_signal(signal.SIGINT)
        process.wait(30)
        asked = len(server.calls)
        assert asked < ROWS
    assert remembered(db) >= asked - IN_FLIGHT
    with recall_sql.connect(db, settings={"llm": server.model()}) as con:
        assert con.execute(f"select count(generate('p' || range)) from range({ROWS})").fetchall() == [(ROWS,)]
    assert len(server.calls) <= ROWS + IN_FLIGHT


def test_kill_9_loses_at_most_what_is_in_flight(db, server):
    kills = 3
    recall_sql.connect(db).close()
    for round_ in range(kills):
        with running(ASK, server.model(), db) as process:
            wait_for_calls(server, len(server.calls) + 9 + 4 * round_)
            process.kill()
            process.wait(30)
    with recall_sql.connect(db, settings={"llm": server.model()}) as con:
        assert con.execute(f"select count(generate('p' || range)) from range({ROWS})").fetchall() == [(ROWS,)]
    # in flight, or answered and not yet on the disk: one round of requests each
    assert ROWS <= len(server.calls) <= ROWS + kills * 2 * IN_FLIGHT
