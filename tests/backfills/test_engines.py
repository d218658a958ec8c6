"""Who reads the partitions makes no difference to the memory; a worker that dies loses nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

import recall_sql
from recall_sql.errors import InputError, RecallError
from tests.backfills.conversations import messages, write_jsonl
from tests.backfills.memories import assert_same
from tests.servers import ScriptedServer, chat

ALL = messages(120)


@pytest.fixture
def source(tmp_path) -> Path:
    return write_jsonl(tmp_path / "all.jsonl", ALL)


@pytest.fixture
def plain(source):
    with recall_sql.connect() as con:
        recall_sql.backfill(con, source)
        yield con


def test_processes_give_the_same_memory(db, source, plain):
    with recall_sql.connect(db) as con:
        recall_sql.backfill(con, source, partition_turns=30, workers=2)
        assert_same(con, plain)
        assert con.execute("select count(*) > 0 from recall_calls where function = 'EMBED'").fetchall() == [(True,)]
        assert not list(db.parent.glob("*.backfill"))


def test_workers_ask_the_model_that_is_set_here(db, source):
    answer = '{"facts": [{"category": "pet", "fact_key": "cat", "fact_value": "Mochi", "confidence": 0.9}]}'
    with (
        ScriptedServer(lambda call: chat(answer)) as server,
        recall_sql.connect(db, settings={"extractor": server.model(), "api_key": "sk-of-this-process"}) as con,
    ):
        recall_sql.backfill(con, source, partition_turns=60, workers=2)
        users = [row for row in ALL if row["role"] == "user"]
        assert len(server.calls) == len({(row["content"], row["created_at"], row["session_id"]) for row in users})
        assert {call.headers["authorization"] for call in server.calls} == {"Bearer sk-of-this-process"}
        usage = con.execute("select rows, calls from recall_usage() where function = 'EXTRACT_FACTS'").fetchall()
        assert usage == [(len(users), len(server.calls))]
        assert con.execute("select distinct fact_value from chat_facts").fetchall() == [("Mochi",)]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_worker_that_dies_ends_the_run_which_goes_on(db, source, plain):
    def kill_one(name, about):
        if name == "reading":
            workers = [one for one in psutil.Process().children() if "spawn_main" in " ".join(one.cmdline())]
            os.kill(workers[0].pid, signal.SIGKILL)

    with recall_sql.connect(db) as con:
        with pytest.raises(RecallError, match="a worker process died"):
            recall_sql.backfill(con, source, partition_turns=10, workers=2, on_event=kill_one)
        read = con.execute("select count(*) from recall_backfill_partitions where status = 'read'").fetchall()[0][0]
        assert read >= 1
        assert recall_sql.backfill(con, source, partition_turns=10, workers=2).goes_on
        assert_same(con, plain)


def test_a_budget_is_kept_by_one_process(con, source):
    con.execute("select recall_set('budget', '5 USD')").fetchall()
    with pytest.raises(InputError, match="budget"):
        recall_sql.backfill(con, source, workers=2)
    assert recall_sql.backfill(con, source).goes_on


def test_engines_that_are_not_there(con, source):
    with pytest.raises(InputError, match="unknown engine 'spark'"):
        recall_sql.backfill(con, source, engine="spark")
    with pytest.raises(InputError, match="needs --engine ray"):
        recall_sql.backfill(con, source, address="auto")
    with pytest.raises(InputError, match="at least 1"):
        recall_sql.backfill(con, source, workers=0)
