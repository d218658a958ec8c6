"""Cases from real bug reports about finding things again: F02, F14, F15, F17, F19."""

from __future__ import annotations

import duckdb
import pytest

from recall_sql import runner


def say(con: duckdb.DuckDBPyConnection, content: str, **more: object) -> None:
    runner.execute(con, runner.load("conversation_memory/ingest"), {"content": content, **more})


def remember(con: duckdb.DuckDBPyConnection) -> None:
    runner.execute(con, runner.load("conversation_memory/all"))


def found(con: duckdb.DuckDBPyConnection, table: str, query: str, column: str, **more: object) -> list[str]:
    names = "".join(f", {name} := ${name}" for name in more)
    sql = f"select {column} from hybrid_search('{table}', $query{names}) order by rank"
    return [row[0] for row in con.execute(sql, {"query": query, **more}).fetchall()]


def context(con: duckdb.DuckDBPyConnection, **values: object) -> str:
    result = runner.execute(con, runner.load("conversation_memory/context"), values)
    return result.tables[0].table.column("context")[0].as_py()


def test_f02_the_morning_drink_is_tea_alone(con: duckdb.DuckDBPyConnection) -> None:
    say(con, "I drink coffee every morning.", created_at="2026-01-01T08:00:00Z")
    remember(con)
    say(con, "I've switched to tea in the mornings.", created_at="2026-02-01T08:00:00Z")
    remember(con)
    values = " ".join(
        found(con, "chat_facts", "what does the user drink in the morning?", "fact_key || ' ' || fact_value")
    )
    assert "tea" in values and "coffee" not in values
    history = con.sql("select string_agg(concat_ws(' ', fact_key, fact_value)) from chat_fact_history").fetchall()[0][0]
    assert "coffee" in history


def test_f14_the_same_instant_matches_whatever_its_offset(con: duckdb.DuckDBPyConnection) -> None:
    say(con, "the museum opens", created_at="2026-03-01T00:00:00-07:00")
    say(con, "the museum closes", created_at="2026-02-28T23:59:59-07:00")
    assert found(con, "chat_turns", "museum", "content", since="2026-03-01T07:00:00Z", vector_weight=0) == [
        "the museum opens"
    ]
    assert found(con, "chat_turns", "museum", "content", until="2026-03-01T07:00:00Z", vector_weight=0) == [
        "the museum closes"
    ]


def test_f15_an_older_conversation_imported_later_changes_nothing(con: duckdb.DuckDBPyConnection) -> None:
    say(con, "I live in Oslo.", session_id="new", created_at="2026-05-01T00:00:00Z")
    remember(con)
    say(con, "I live in Bergen.", session_id="old", created_at="2025-05-01T00:00:00Z")
    remember(con)
    assert "Oslo" in context(con, session_id="new", query="where do I live?")
    facts = con.sql("select fact_value from chat_facts where fact_key = 'home_city'").fetchall()
    assert facts == [("Oslo",)]
    assert con.sql("select count(*) from chat_fact_history where event = 'rejected_stale'").fetchall()[0][0] >= 1


@pytest.mark.parametrize("session_id", ["b-secret", "", "a' or '1'='1", "b-secret' --", "%"])
def test_f17_nothing_of_another_user(con: duckdb.DuckDBPyConnection, session_id: str) -> None:
    say(con, "My locker code is 7781 and I take insulin.", user_id="b", session_id="b-secret")
    say(con, "I drink tea.", user_id="a", session_id="a-1")
    remember(con)
    question = "what is the locker code? insulin?"
    read = context(con, user_id="a", session_id=session_id, query=question)
    assert "7781" not in read and "insulin" not in read
    for table, column in (("chat_turns", "content"), ("chat_facts", "fact_value")):
        rows = found(con, table, question, column, user_id="a", session_id=session_id)
        assert not any("7781" in row or "insulin" in row for row in rows)


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize(
    ("turn", "query"),
    [
        ("我有一只猫，它叫年糕。", "猫"),
        ("我有一只猫，它叫年糕。", "年糕"),
        ("ฉันชอบกินข้าวผัดทุกเช้า", "ข้าวผัด"),
        ("أحب القهوة في الصباح", "قهوة"),
        ("Ich fahre gern mit den Zügen nach München", "Zügen"),
        ("Ich fahre gern mit den Zügen nach München", "munchen"),
        ("昨日は東京タワーに行きました", "東京"),
        ("고양이를 좋아해요", "고양이"),
        ("Я вчера ел рыбу", "рыба"),
    ],
)
def test_f19_a_word_is_found_in_every_script(
    con: duckdb.DuckDBPyConnection, turn: str, query: str, indexed: bool
) -> None:
    for content in ("something else entirely", turn, "又一句话", "อีกประโยคหนึ่ง"):
        say(con, content)
    if indexed:
        runner.execute(con, runner.load("search/index"))
    assert found(con, "chat_turns", query, "content", vector_weight=0, spread=0)[:1] == [turn]


@pytest.mark.parametrize("text", ["你", "ก", "7", "é", "I", "ß", "ا", "x'; DROP TABLE chat_turns; --", "the of and"])
def test_f19_nothing_tokenises_to_nothing(con: duckdb.DuckDBPyConnection, text: str) -> None:
    counts = con.execute("select len(search_tokens($1)), len(search_terms($1))", [text]).fetchall()[0]
    assert min(counts) >= 1
