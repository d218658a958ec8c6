"""The reply: the model reads the context, both turns are stored, and facts wait for the next run."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

import recall_sql
from recall_sql import runner
from recall_sql.errors import RecipeError
from tests.servers import ScriptedServer, chat, error


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(
        lambda call: error(400, "no") if "explode" in call.prompt else chat("Try the harbour.")
    ) as running:
        yield running


@pytest.fixture
def con(server: ScriptedServer) -> Iterator[duckdb.DuckDBPyConnection]:
    with recall_sql.connect(settings={"llm": server.model(), "retries": 0}) as connection:
        yield connection


def reply(con: duckdb.DuckDBPyConnection, message: str, **more: object) -> str:
    values = {"message": message, "user_id": "lena", "session_id": "s1", **more}
    return runner.execute(con, runner.load("conversation_memory/reply"), values).tables[0].table.to_pylist()[0]["reply"]


def test_it_answers_from_what_is_known_and_stores_both_turns(
    con: duckdb.DuckDBPyConnection, server: ScriptedServer
) -> None:
    con.execute(
        "insert into chat_facts (user_id, category, fact_key, fact_value, kind, confidence, observed_at) "
        "values ('lena', 'dietary', 'pescatarian', 'true', 'PREFERENCE', 0.9, now())"
    )
    assert reply(con, "Where shall I eat? I have a cat called Mochi.") == "Try the harbour."
    sent = server.calls[-1]
    assert sent.prompt == "Where shall I eat? I have a cat called Mochi."
    assert "dietary: pescatarian" in sent.json["messages"][0]["content"]
    rows = con.sql("select position, role, content from chat_turns order by position").fetchall()
    assert rows == [(1, "user", "Where shall I eat? I have a cat called Mochi."), (2, "assistant", "Try the harbour.")]
    assert con.sql("select count(*) from chat_facts where category = 'pet'").fetchall() == [(0,)]
    runner.execute(con, runner.load("conversation_memory/all"))
    assert con.sql("select count(*) from chat_facts where category = 'pet'").fetchall() == [(1,)]


def test_the_next_reply_reads_the_last_turns(con: duckdb.DuckDBPyConnection, server: ScriptedServer) -> None:
    reply(con, "I land at nine.")
    reply(con, "And then?")
    assert "user: I land at nine.\nassistant: Try the harbour." in server.calls[-1].json["messages"][0]["content"]


def test_a_failed_call_leaves_everything_as_it_was(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(RecipeError):
        reply(con, "explode")
    assert con.sql("select count(*) from chat_turns").fetchall() == [(0,)]


def test_without_store_nothing_is_kept_and_an_empty_message_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    reply(con, "just asking", store=False)
    assert con.sql("select count(*) from chat_turns").fetchall() == [(0,)]
    with pytest.raises(RecipeError, match="empty"):
        reply(con, " \0 ")
