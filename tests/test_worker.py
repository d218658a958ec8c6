"""The background worker: every turn is read once, whatever fails, dies or is forgotten meanwhile."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

import recall_sql
from recall_sql import Memory, run
from recall_sql.worker import CRASHED, STOPPED, Worker
from tests.processes import running
from tests.servers import Call, Reply, ScriptedServer, chat

FACT = {"category": "pet", "fact_key": "cat", "fact_value": "yes", "confidence": 0.9}


def answers(call: Call) -> Reply:
    return chat(json.dumps({"facts": [{**FACT, "fact_key": f"cat_{abs(hash(call.prompt)) % 1000}"}]}))


@contextmanager
def working(con: duckdb.DuckDBPyConnection, **options: object) -> Iterator[Worker]:
    worker = Worker(con, **options)
    worker.start()
    try:
        yield worker
    finally:
        worker.stop(grace=0.2)
        assert not worker.alive


def until(condition: Callable[[], object], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it didn't happen"
        time.sleep(0.02)


def queue(con: duckdb.DuckDBPyConnection) -> list[tuple[int, str]]:
    return con.cursor().execute("select turn_id, status from recall_sql.extraction_queue() order by 1").fetchall()


def test_what_is_stored_is_read_landed_embedded_and_indexed(con: duckdb.DuckDBPyConnection) -> None:
    memory = Memory(con)
    memory.add("s", "user", "I'm vegetarian.")  # before there is a worker
    with working(con) as worker:
        memory.add("s", "user", "I have two dogs.")
        memory.add("s", "assistant", "Nice!")
        assert worker.wait([1, 2, 3], timeout=20) == {1: "done", 2: "done"}
        until(lambda: con.cursor().execute("from search_turns").fetchall() and not worker._untidy)
    assert {row["fact_key"] for row in memory.facts()} == {"vegetarian", "dogs"}
    assert con.sql("select count(embedding) from chat_turns").fetchall() == [(3,)]
    assert con.sql("from chat_turn_attempts").fetchall() == []
    assert worker.counts == {"done": 2} and worker.last_error is None
    assert con.sql(
        "select turn_id, count(*) from chat_fact_history group by 1 order by 1".replace("turn_id", "source_turn_id")
    ).fetchall() == [(1, 1), (2, 1)]


def test_waiting_ends_when_the_time_is_over(con: duckdb.DuckDBPyConnection) -> None:
    Memory(con).add("", "user", "I'm vegetarian.")
    worker = Worker(con)  # not started
    assert worker.wait([1], timeout=0.01) == {1: "pending"}
    assert worker.wait([], timeout=0.01) == {}


def test_a_turn_that_fails_is_tried_again_and_keeps_no_other_waiting(con: duckdb.DuckDBPyConnection) -> None:
    healed = threading.Event()

    def script(call: Call) -> Reply:
        return (
            Reply(status=400, body={"error": {"message": "no"}})
            if "dogs" in call.prompt and not healed.is_set()
            else answers(call)
        )

    memory = Memory(con)
    with ScriptedServer(script) as server, working(con, model=server.model(), wait_seconds=0.3) as worker:
        for content in ("I have cats", "I have dogs", "I have birds"):
            memory.add(content[-4:], "user", content)
        assert worker.wait([1, 2, 3], timeout=20) == {1: "done", 2: "waiting", 3: "done"}
        attempts, error = con.cursor().execute("select attempts, last_error from chat_turn_attempts").fetchall()[0]
        assert attempts >= 1 and "400" in error
        healed.set()
        until(lambda: queue(con) == [(1, "done"), (2, "done"), (3, "done")])
    assert con.sql("from chat_turn_attempts").fetchall() == []


def test_a_turn_is_given_up_in_the_end_and_can_still_be_read(con: duckdb.DuckDBPyConnection) -> None:
    memory = Memory(con)
    with ScriptedServer(lambda call: Reply(status=400, body={})) as server:
        with working(con, model=server.model(), wait_seconds=0.01, give_up_after=3) as worker:
            memory.add("", "user", "I'm vegetarian.")
            worker.wake()
            until(lambda: queue(con) == [(1, "failed")])
            asked = len(server.calls)
            memory.add("", "user", "I have two dogs.")
            worker.wake()
            until(lambda: queue(con) == [(1, "failed"), (2, "failed")])
        assert asked == 3 and len(server.calls) == 6
    run(con, "conversation_memory/all")
    assert queue(con) == [(1, "done"), (2, "done")] and con.sql("from chat_turn_attempts").fetchall() == []


def test_after_a_batch_that_failed_whole_each_turn_is_tried_alone(con: duckdb.DuckDBPyConnection) -> None:
    memory = Memory(con)
    memory.add("", "user", "I'm vegetarian.")
    memory.add("", "user", "I have two dogs.")
    with working(con, model="nobody:nothing", wait_seconds=0.2) as worker:
        until(
            lambda: (
                con.cursor().execute("select count(*) from chat_turn_attempts where attempts > 1").fetchall() == [(2,)]
            )
        )
        assert worker.last_error is not None and "nobody" in worker.last_error
    runs = con.sql(
        "select params from recall_runs where recipe = 'conversation_memory/extract' order by started_at"
    ).fetchall()
    asked = [json.loads(params)["turn_ids"] for (params,) in runs]
    assert asked[0] == ["1", "2"] and all(len(ids) == 1 for ids in asked[1:])
    memory.add("", "user", "I live in Berlin.")
    with working(con) as worker:
        until(lambda: [status for _, status in queue(con)] == ["done"] * 3)


def test_told_to_stop_it_gives_back_what_it_was_reading(con: duckdb.DuckDBPyConnection) -> None:
    with ScriptedServer(lambda call: Reply(delay=30)) as server:
        Memory(con).add("", "user", "I'm vegetarian.")
        with working(con, model=server.model()):
            until(lambda: server.calls)
            started = time.monotonic()
        assert time.monotonic() - started < 10
    (row,) = con.sql("select attempts, claimed_at, last_error from chat_turn_attempts").fetchall()
    assert row == (0, None, STOPPED)
    with working(con) as worker:
        assert worker.wait([1], timeout=20) == {1: "done"}


def test_what_is_forgotten_while_it_is_read_leaves_nothing(con: duckdb.DuckDBPyConnection) -> None:
    let_go = threading.Event()

    def script(call: Call) -> Reply:
        let_go.wait(20)
        return answers(call)

    memory = Memory(con)
    with ScriptedServer(script) as server, working(con, model=server.model()) as worker:
        memory.add("gone", "user", "I have a secret cat.")
        memory.add("stays", "user", "I have a dog.")
        worker.wake()
        until(lambda: server.calls)
        memory.remove_thread("gone")
        let_go.set()
        assert worker.wait([1, 2], timeout=20) == {2: "done"}
    assert con.sql("select turn_id from chat_fact_payloads").fetchall() == [(2,)]
    assert con.sql("select distinct source_turn_id from chat_fact_history").fetchall() == [(2,)]
    assert con.sql("from chat_turn_attempts").fetchall() == []


SERVE = """
import sys, time, recall_sql
from recall_sql.worker import Worker
con = recall_sql.connect(sys.argv[1])
recall_sql.Memory(con).add("s", "user", "I have a cat.")
worker = Worker(con, model=sys.argv[2])
worker.start()
print("started", flush=True)
time.sleep(60)
"""


def test_a_process_that_is_killed_loses_nothing_and_does_nothing_twice(db: Path) -> None:
    recall_sql.connect(db).close()
    with ScriptedServer(lambda call: Reply(delay=30)) as server, running(SERVE, db, server.model()) as process:
        until(lambda: server.calls)
        process.kill()
        process.wait()
    with recall_sql.connect(db) as con:
        assert queue(con) == [(1, "running")]
        with working(con) as worker:
            assert worker.wait([1], timeout=20) == {1: "done"}
        assert con.sql("select event, source_turn_id from chat_fact_history").fetchall() == [("created", 1)]


def test_a_turn_that_ends_the_process_each_time_is_given_up(con: duckdb.DuckDBPyConnection) -> None:
    Memory(con).add("", "user", "I'm vegetarian.")
    for _ in range(8):
        run(con, "queue/claim")
        run(con, "queue/requeue", error=CRASHED, wait_seconds=0.0)
    assert queue(con) == [(1, "failed")]
    assert con.sql("select attempts, alone, last_error from chat_turn_attempts").fetchall() == [(8, True, CRASHED)]


def test_what_was_read_and_not_landed_is_landed(con: duckdb.DuckDBPyConnection) -> None:
    memory = Memory(con)
    memory.add("", "user", "I'm vegetarian.")
    run(con, "conversation_memory/extract")
    assert queue(con) == [(1, "read")]
    with working(con):
        until(lambda: queue(con) == [(1, "done")])
    assert len(memory.facts()) == 1


def test_a_turn_written_while_the_watermark_moved_is_read_all_the_same(con: duckdb.DuckDBPyConnection) -> None:
    memory, late = Memory(con), con.cursor()
    memory.add("s", "user", "I have two dogs.")
    late.execute("begin transaction")
    late.execute("select count(*) from chat_turns").fetchall()  # the reply recipe reads before it asks a model
    memory.add("s", "user", "Hm.")
    run(con, "conversation_memory/all")
    late.execute(
        "insert into chat_turns (session_id, position, role, content) values ('s', 2, 'user', 'I''m vegetarian.')"
    )
    late.execute("commit")
    assert con.sql("select extracted_through from chat_threads").fetchall() == [(2,)]
    run(con, "conversation_memory/all")
    assert {row["fact_key"] for row in memory.facts()} == {"dogs", "vegetarian"}


def test_reading_some_turns_leaves_the_watermark_before_the_others(con: duckdb.DuckDBPyConnection) -> None:
    for content in ("I have two dogs.", "I'm vegetarian.", "I live in Berlin."):
        Memory(con).add("s", "user", content)
    for ids, reached in ((["2"], 0), (["1"], 2), (["3"], 3)):
        run(con, "conversation_memory/extract", turn_ids=ids)
        assert con.sql("select extracted_through from chat_threads").fetchall() == [(reached,)]
