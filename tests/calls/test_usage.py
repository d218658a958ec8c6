"""RECALL_USAGE(), expiry and forgetting of the memo, and what a run would cost."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import recall_sql
from recall_sql.calls.estimate import estimate_run
from recall_sql.cli import cli
from recall_sql.errors import InputError
from recall_sql.runner import from_text, load
from recall_sql.session import instance_of
from tests.servers import ScriptedServer, chat, error


@pytest.fixture
def server():
    with ScriptedServer(lambda call: chat("fine")) as running:
        yield running


@pytest.fixture
def con(server):
    with recall_sql.connect(settings={"llm": server.model(), "retries": 1, "backoff": 0.001}) as connection:
        yield connection


def usage(con: duckdb.DuckDBPyConnection, arguments: str = "") -> dict[str, object]:
    (row,) = con.sql(f"from recall_usage({arguments}) where function = 'GENERATE'").to_arrow_table().to_pylist()
    return row


def test_rows_calls_and_what_was_saved(con, server):
    server.script = lambda call: error(500) if call.number == 0 else chat("fine")
    query = "select count(generate('p' || range % 4)) from range(10)"
    con.execute(query).fetchall()
    con.execute(query).fetchall()
    row = usage(con)
    assert {name: row[name] for name in ("rows", "calls", "errors", "saved_by_dedupe", "saved_by_memo")} == {
        "rows": 20,
        "calls": 5,
        "errors": 1,
        "saved_by_dedupe": 12,
        "saved_by_memo": 4,
    }
    assert (row["model"], row["tokens_in"], row["tokens_out"], row["cost_usd"]) == ("http:scripted", 40, 20, None)
    assert 0 < row["p50_ms"] <= row["p95_ms"]
    assert con.execute("from recall_usage(since := now() + interval 1 day)").fetchall() == []


def test_it_works_in_a_file_that_is_only_read(db, server):
    recall_sql.connect(db).close()
    with recall_sql.connect(db, read_only=True, settings={"llm": server.model()}) as con:
        con.execute("select generate('a')").fetchall()
        assert con.execute("select count(*) from recall_sql.recall_asked").fetchall() == [(1,)]


def test_a_file_of_an_earlier_version_gets_the_table_it_lacks(db, server):
    with recall_sql.connect(db) as con:
        con.execute("drop table recall_asked")
    with recall_sql.connect(db, settings={"llm": server.model()}) as con:
        assert con.execute("select generate('a')").fetchall() == [("fine",)]
        assert usage(con)["calls"] == 1


# -- the memo ----------------------------------------------------------------------------------------------------------


def test_an_answer_can_be_too_old(con, server):
    con.execute("select generate('a')").fetchall()
    con.execute("select recall_set('memo_max_age', '1 hour')").fetchall()
    con.execute("select generate('a')").fetchall()
    assert len(server.calls) == 1
    con.execute("update recall_memo set created_at = created_at - interval 2 hours")
    con.execute("select generate('a')").fetchall()
    con.execute("select generate('a')").fetchall()
    assert len(server.calls) == 2
    with pytest.raises(duckdb.InvalidInputException, match="an age is written like"):
        con.execute("select recall_set('memo_max_age', 'long')").fetchall()


def test_forgetting_by_text_function_model_and_age(con):
    con.execute("select generate('a'), generate('b'), embed('a')").fetchall()
    memo = instance_of(con).calls.memo
    assert memo.forget(text="a", function="generate") == 1
    assert memo.forget(model="http:other") == 0
    assert memo.forget(older_than="1 hour") == 0
    assert memo.forget(function="EMBED") == 1
    assert memo.forget() == 1


def test_on_the_command_line(db: Path, server):
    def run(*arguments: str) -> str:
        result = CliRunner().invoke(cli, [*arguments, "--db", str(db)], standalone_mode=False)
        assert result.exception is None, result.exception
        return result.stdout

    with recall_sql.connect(db, settings={"llm": server.model()}) as con:
        con.execute("select generate('a'), generate('b')").fetchall()
    shown = json.loads(run("memo", "stats", "--format", "json"))
    assert shown["Remembered"][0]["answers"] == 2 and shown["Used"][0]["calls"] == 2
    assert run("memo", "clear", "--input", "a") == "1 answer forgotten.\n"
    assert run("memo", "clear") == "1 answer forgotten.\n"
    result = CliRunner().invoke(cli, ["memo", "clear", "--older-than", "soon", "--db", str(db)], standalone_mode=False)
    assert "--older-than: an age is written like" in str(result.exception)


# -- estimates ---------------------------------------------------------------------------------------------------------


def test_an_estimate_counts_what_is_not_remembered_and_calls_nothing(con, server):
    con.execute("create table t as select 'p' || range % 5 as p from range(5000)")
    con.execute("select generate('p0')").fetchall()
    recipe = from_text("create table u as select generate(p) as a from t; select count(*) from u", "test")
    (line,) = estimate_run(con, recipe, {})
    assert (line.function, line.model, line.inputs, line.tokens_out_at_most) == ("GENERATE", "http:scripted", 4, 2048)
    assert line.usd_at_most is None
    assert len(server.calls) == 1
    assert con.execute("select count(*) from duckdb_tables() where table_name = 'u'").fetchall() == [(0,)]
    assert con.execute("select sum(rows)::int from recall_asked").fetchall() == [(1,)]


def test_an_estimate_of_a_recipe_leaves_everything_as_it_was(con, server):
    con.execute("insert into chat_threads (session_id) values ('s')")
    con.execute("insert into chat_turns (session_id, position, role, content) values ('s', 1, 'user', 'I eat vegan')")
    lines = estimate_run(con, load("conversation_memory/extract"), {"model": server.model()})
    assert [(line.function, line.inputs) for line in lines] == [("EXTRACT_FACTS", 1)]
    assert server.calls == []
    assert con.execute("select extracted_through from chat_threads").fetchall() == [(0,)]
    assert con.execute("select count(*) from recall_runs").fetchall() == [(0,)]


def test_what_can_not_be_taken_back_is_not_estimated(con):
    with pytest.raises(InputError, match="COPY can't be taken back"):
        estimate_run(con, from_text("copy (select generate('a')) to '/tmp/never.csv'", "test"), {})


def test_estimate_on_the_command_line(db: Path, server, monkeypatch):
    monkeypatch.setenv("RECALL_LLM", server.model())
    script = db.with_name("ask.sql")
    script.write_text("select generate('hello')", "utf-8")
    recall_sql.connect(db).close()
    arguments = ["run", str(script), "--estimate", "--format", "json", "--db", str(db)]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert result.exception is None, result.exception
    assert [line["inputs"] for line in json.loads(result.stdout)] == [1] and server.calls == []
