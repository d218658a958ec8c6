"""The rolling summary: one row per conversation, extended from where it stopped, kept when a call fails."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

import recall_sql
from recall_sql import runner
from tests.servers import ScriptedServer, chat, error


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    def script(call):
        return error(400, "no") if "explode" in call.prompt else chat(f"Summary {call.number}.")

    with ScriptedServer(script) as running:
        yield running


@pytest.fixture
def con(server: ScriptedServer) -> Iterator[duckdb.DuckDBPyConnection]:
    with recall_sql.connect(settings={"llm": server.model(), "retries": 0}) as connection:
        yield connection


def say(con: duckdb.DuckDBPyConnection, *texts: str, session_id: str = "s1") -> None:
    for text in texts:
        runner.execute(con, runner.load("conversation_memory/ingest"), {"content": text, "session_id": session_id})


def update(con: duckdb.DuckDBPyConnection, **values: object) -> None:
    runner.execute(con, runner.load("rolling_summary/update"), {"leave": 1, "min_turns": 2, **values})


def summaries(con: duckdb.DuckDBPyConnection) -> list[tuple]:
    return con.sql(
        "select s.session_id, summary, content from chat_summaries s "
        "join chat_turns t on t.turn_id = through_turn_id order by 1"
    ).fetchall()


def test_it_is_extended_from_where_it_stopped(con: duckdb.DuckDBPyConnection, server: ScriptedServer) -> None:
    say(con, "one", "two", "three")
    update(con)
    assert summaries(con) == [("s1", "Summary 0.", "two")]
    update(con)
    assert len(server.calls) == 1  # nothing new was said
    say(con, "four", "five")
    update(con)
    assert summaries(con) == [("s1", "Summary 1.", "four")]
    asked = server.calls[1].prompt
    assert "Summary so far: Summary 0." in asked and "user: three\nuser: four" in asked
    assert "two" not in asked and "five" not in asked


def test_a_failed_call_leaves_the_old_one_and_the_others(con: duckdb.DuckDBPyConnection) -> None:
    say(con, "one", "two", "three")
    update(con)
    say(con, "explode", "four", "five")
    say(con, "a", "b", "c", session_id="s2")
    update(con)
    assert [row[:2] for row in summaries(con)] == [("s1", "Summary 0."), ("s2", "Summary 2.")] or [
        row[:2] for row in summaries(con)
    ] == [("s1", "Summary 0."), ("s2", "Summary 1.")]


def test_both_layers_in_one_run_when_asked(con: duckdb.DuckDBPyConnection, server: ScriptedServer) -> None:
    say(con, *(f"message {n}, I have a cat called Mochi" for n in range(10)))
    runner.execute(con, runner.load("conversation_memory/all"))
    assert (len(server.calls), summaries(con)) == (0, [])
    runner.execute(con, runner.load("conversation_memory/all"), {"summarize": True})
    assert [row[1] for row in summaries(con)] == ["Summary 0."]
    assert con.sql("select count(*) from chat_facts").fetchall()[0][0] >= 1
    assert con.sql("select count(*) from search_turns").fetchall() == [(10,)]
