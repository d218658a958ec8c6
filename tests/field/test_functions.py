"""Cases from real bug reports (field/cases.jsonl) that the functions have to stand."""

from __future__ import annotations

import pytest

import recall_sql
from tests.servers import ScriptedServer, chat


def test_f20_a_nul_character_in_a_model_s_answer(con):
    with ScriptedServer(lambda call: chat("Mo\x00chi")) as server:
        assert con.execute(f"select generate('cat?', '{server.model()}')").fetchall() == [("Mochi",)]


def test_f21_a_database_of_384_dimensions_opened_with_a_model_of_1024(db):
    with recall_sql.connect(db) as con:
        con.execute(
            "insert into chat_turns (session_id, role, content, embedding) values ('s', 'user', 'hi', embed('hi'))"
        )
    before = db.read_bytes()
    big = {"embedder": "http://127.0.0.1:9/v1#bge-large", "embedding_dimension": 1024}
    with pytest.raises(recall_sql.ConfigError) as caught:
        recall_sql.connect(db, settings=big)
    message = str(caught.value)
    for words in ("384-dimension vectors of minilm", "bge-large with 1024 dimensions", "maintenance/reembed", str(db)):
        assert words in message
    assert db.read_bytes() == before
    assert not db.with_suffix(".duckdb.wal").exists()
    with recall_sql.connect(db) as con:
        assert con.execute("select count(*) from chat_turns where embedding is not null").fetchall() == [(1,)]


def test_f30_ten_thousand_rows_of_fifty_texts_and_then_again(con):
    con.execute("create table t as select 'text ' || (range % 50) as text from range(10_000)")
    asked = "select coalesce(sum(inputs), 0)::int from recall_calls"
    con.execute("create table first as select text, embed(text) as v from t").fetchall()
    assert con.execute(asked).fetchall() == [(50,)]
    con.execute("create table second as select text, embed(text) as v from t").fetchall()
    assert con.execute(asked).fetchall() == [(50,)]
    assert con.execute("select count(*) from first join second using (text) where first.v <> second.v").fetchall() == [
        (0,)
    ]
