"""backfill on the command line: what it says on the way, before it begins, and after Ctrl-C."""

import json
import signal
import sys
import threading

import pytest

from tests.backfills.conversations import messages, write_jsonl
from tests.cli.running import process, query, write
from tests.servers import ScriptedServer, chat

ALL = messages(120)
FACT = {"category": "pet", "fact_key": "cat", "fact_value": "Mochi", "confidence": 0.9}
ANSWER = json.dumps({"facts": [FACT]})


@pytest.fixture
def source(tmp_path):
    return str(write_jsonl(tmp_path / "all.jsonl", ALL))


@pytest.fixture
def asked(monkeypatch):
    """A model of known price that extracts: 10 tokens in and 5 out cost 20 millionths of a dollar."""
    write("prices.csv", "model,input,cached,output", "http:scripted,1,1,2")
    monkeypatch.setenv("RECALL_PRICES", "prices.csv")
    with ScriptedServer(lambda call: chat(ANSWER)) as server:
        monkeypatch.setenv("RECALL_EXTRACTOR", server.model())
        yield server


def test_progress_says_rows_rate_time_left_and_cost(recall, source, asked):
    code, out, err = recall("backfill", source, "--partition-turns", "30", "--log-format", "json")
    assert code == 0 and out.startswith("120 turns added in ")
    events = [json.loads(line) for line in err.splitlines()]
    reading = [event for event in events if event["event"] == "reading"]
    assert len(reading) == query("select count(*) from recall_backfill_partitions")[0][0] > 2
    done = [event["done"] for event in reading]
    assert done == sorted(done) and done[-1] == 120 and {event["of"] for event in reading} == {120}
    assert all(event["rate"] > 0 and event["left"] >= 0 for event in reading) and reading[-1]["left"] == 0
    costs = [event["usd"] for event in reading]
    assert costs == sorted(costs) and costs[-1] == pytest.approx(20e-6 * len(asked.calls))
    assert events[0]["event"] == "staging" and events[-1]["event"] == "finished"


def test_progress_in_words(recall, source):
    _, _, err = recall("backfill", source)
    assert "120 messages in 1 partitions\nstored 120 of 120 turns\nread 120 of 120 turns, " in err
    assert " a second, 0 s left, 0.00 USD\nlanding: conversation_memory/all\n" in err


def test_a_dry_run_and_an_estimate_make_no_database(recall, source, asked, tmp_path):
    code, out, _ = recall("backfill", source, "--dry-run", "--format", "json")
    assert code == 0 and json.loads(out) | {"partitions": 0} == {
        "files": 1, "format": "jsonl", "messages": 120, "new": 120, "sessions": 12, "partitions": 0, "left_out": 0,
        "goes_on": False,
    }  # fmt: skip
    code, out, _ = recall("backfill", source, "--estimate", "--format", "json")
    lines = {line["function"]: line for line in json.loads(out)}
    assert code == 0 and lines["EMBED"]["inputs"] == len({row["content"] for row in ALL})
    assert lines["EXTRACT_FACTS"]["usd_at_most"] > 0 and asked.calls == []
    assert not list(tmp_path.glob("*.duckdb*"))


def test_what_can_not_be_read_is_one_line(refused, source):
    assert "there is no file absent/*.parquet" in refused("backfill", "absent/*.parquet")
    assert "--address is of a Ray cluster: it needs --engine ray" in refused("backfill", source, "--address", "auto")


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT to another process")
def test_ctrl_c_says_how_far_it_is_and_the_same_command_goes_on(recall, source, monkeypatch):
    held, let_go = threading.Event(), threading.Event()

    def answer(call):
        if call.number >= 40:  # in the second or third partition
            held.set()
            let_go.wait(60)
        return chat(ANSWER)

    with ScriptedServer(answer) as server:
        monkeypatch.setenv("RECALL_EXTRACTOR", server.model())
        with process("backfill", source, "--partition-turns", "30") as running:
            try:
                assert held.wait(60)
                running.send_signal(signal.SIGINT)
                _, err = running.communicate(timeout=60)
            finally:
                running.kill()
                let_go.set()
        assert running.returncode == 130
        assert " of 120 turns are read; the same command goes on from there" in err.decode()
        done = query("select count(*) from recall_backfill_partitions where status = 'read'")[0][0]
        assert done >= 1
        code, _, err = recall("backfill", source, "--partition-turns", "30")
        assert code == 0 and err.startswith(f"going on: {done} of ")
    assert query("select count(*), count(distinct turn_id) from chat_fact_payloads")[0][0] == sum(
        row["role"] == "user" for row in ALL
    )
