"""HYBRID_SEARCH: what it finds, that it is never behind, its filters, and tables other than chat_turns."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from recall_sql import runner

TURNS = [
    ("lena", "s1", 1, "user", "I want to visit Kyoto in April.", "2026-01-01"),
    ("lena", "s1", 2, "assistant", "Cherry blossom season! What's your budget?", "2026-01-01"),
    ("lena", "s1", 3, "user", "Three thousand dollars, and I prefer trains.", "2026-01-01"),
    ("lena", "s2", 1, "user", "My dentist moved to Elm Street.", "2026-02-01"),
    ("lena", "", 1, "user", "Everywhere: trains are fun.", "2026-03-01"),
    ("otto", "s1", 1, "user", "Kyoto trains bore me.", "2026-01-01"),
]


@pytest.fixture
def con(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    con.executemany(
        "insert into chat_turns (user_id, session_id, position, role, content, created_at) values (?, ?, ?, ?, ?, ?)",
        TURNS,
    )
    return con


def search(con: duckdb.DuckDBPyConnection, query: str, tbl: str = "chat_turns", **more: Any) -> list[tuple]:
    more = {"vector_weight": 0, **more}
    names = "".join(f", {name} := ${name}" for name in more)
    column = more.get("text_column", "content")
    sql = f"select {column}, score, rank from hybrid_search($tbl, $query{names})"
    return con.execute(sql, {"tbl": tbl, "query": query, **more}).fetchall()


def contents(con: duckdb.DuckDBPyConnection, query: str, **more: Any) -> list[str]:
    return [row[0] for row in search(con, query, **more)]


def index(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    return runner.execute(con, runner.load("search/index")).tables[0].table.to_pylist()[0]


def test_the_best_comes_first_with_score_and_rank(con: duckdb.DuckDBPyConnection) -> None:
    rows = search(con, "Which train does she prefer?", user_id="lena", spread=0)
    assert rows[0][0] == "Three thousand dollars, and I prefer trains."
    assert [row[2] for row in rows] == list(range(1, len(rows) + 1))
    assert [row[1] for row in rows] == sorted((row[1] for row in rows), reverse=True) and 0 < rows[0][1] <= 1


def test_words_count_for_the_turns_beside_them(con: duckdb.DuckDBPyConnection) -> None:
    assert "Cherry blossom season! What's your budget?" in contents(con, "trains", user_id="lena", session_id="s1")
    assert len(contents(con, "trains", user_id="lena", session_id="s1", spread=0)) == 2


def test_every_filter_applies_before_the_top_k(con: duckdb.DuckDBPyConnection) -> None:
    assert contents(con, "trains", user_id="otto", k=1) == ["Kyoto trains bore me."]
    assert set(contents(con, "trains", user_id="lena", session_id="s2", spread=0)) == {"Everywhere: trains are fun."}
    assert contents(con, "trains budget", roles=["assistant"], k=5) == ["Cherry blossom season! What's your budget?"]
    assert contents(con, "trains", since="2026-03-01") == ["Everywhere: trains are fun."]
    assert "Everywhere: trains are fun." not in contents(con, "trains", until="2026-03-01")
    assert contents(con, "trains", agent_id="nobody") == []


def test_neighbours_come_along_under_the_rank_of_their_hit(con: duckdb.DuckDBPyConnection) -> None:
    rows = search(con, "prefer", user_id="lena", k=1, spread=0, neighbours=2)
    assert [(row[0][:5], row[2]) for row in rows] == [("I wan", 1), ("Cherr", 1), ("Three", 1)]


def test_a_turn_is_found_in_the_statement_after_its_insert_update_and_delete(con: duckdb.DuckDBPyConnection) -> None:
    index(con)
    con.execute(
        "insert into chat_turns (user_id, session_id, position, content, role) "
        "values ('lena', 's9', 1, 'A zeppelin!', 'user')"
    )
    assert contents(con, "zeppelin") == ["A zeppelin!"]
    con.execute("update chat_turns set content = 'An airship!' where content = 'A zeppelin!'")
    assert (contents(con, "zeppelin"), contents(con, "airship")) == ([], ["An airship!"])
    con.execute("delete from chat_turns where content = 'An airship!'")
    assert contents(con, "airship") == []


def test_the_index_changes_nothing_but_the_work(con: duckdb.DuckDBPyConnection) -> None:
    before = contents(con, "trains in Kyoto")
    assert index(con) == {"turns_read": 6, "turns_forgotten": 0}
    assert contents(con, "trains in Kyoto") == before
    assert index(con) == {"turns_read": 0, "turns_forgotten": 0}
    con.execute("update chat_turns set content = 'gone by boat' where user_id = 'otto'")
    con.execute("delete from chat_turns where session_id = 's2'")
    assert index(con) == {"turns_read": 1, "turns_forgotten": 2}
    live = con.sql("select count(*) from search_postings anti join chat_turns using (turn_id)").fetchall()
    assert live == [(0,)] and con.sql("select count(*) from search_turns").fetchall() == [(5,)]


def test_statistics_are_tables(con: duckdb.DuckDBPyConnection) -> None:
    index(con)
    assert con.sql("select count(*) from search_postings where term = 'train'").fetchall() == [(3,)]
    assert con.sql("select min(length), max(window_length) > max(length) from search_turns").fetchall()[0] == (7, True)


def test_the_order_is_the_same_every_time(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "insert into chat_turns (content, role, session_id, position) "
        "select 'same words', 'user', 'x' || i, 1 from range(500) t(i)"
    )
    sql = "select turn_id from hybrid_search('chat_turns', 'same words', k := 50, vector_weight := 0)"
    assert len({tuple(con.sql(sql).fetchall()) for _ in range(3)}) == 1


def test_meaning_finds_what_words_do_not_and_a_missing_vector_is_no_loss(con: duckdb.DuckDBPyConnection) -> None:
    runner.execute(con, runner.load("conversation_memory/embed"))
    assert contents(con, "teeth doctor", vector_weight=0.4, user_id="lena")[0] == "My dentist moved to Elm Street."
    con.execute("update chat_turns set embedding = null where content like 'Three%'")
    assert contents(con, "prefer trains", vector_weight=0.4, user_id="lena", spread=0)[0].startswith("Three")


def test_recency_lifts_the_newer_of_two_equal_statements(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "insert into chat_turns (role, content, session_id, position, created_at) values "
        "('user', 'The API answers in 300 ms on average', 'a', 1, '2026-01-01'), "
        "('user', 'The API answers in 250 ms', 'b', 1, '2026-06-01')"
    )
    assert "300" in contents(con, "average time the API answers")[0]
    assert "250" in contents(con, "average time the API answers", recency=0.6)[0]


def test_any_table_with_a_text_column(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "create table notes as select unnest(['hello world', 'bye bye world', 'greetings']) as body, 1 as position"
    )
    assert [row[:1] for row in search(con, "worlds", "notes", text_column="body")] == [
        ("hello world",),
        ("bye bye world",),
    ]
    assert con.execute("select * from hybrid_search('notes', 'bye', text_column := 'body')").fetchall()[0][:2] == (
        "bye bye world",
        1,
    )


def test_facts_are_weighed_by_confidence(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "insert into chat_facts (category, fact_key, fact_value, confidence, observed_at) values "
        "('pet', 'cat_mochi', 'Mochi', 0.4, now()), ('pet', 'cat_biscuit', 'Biscuit', 0.9, now())"
    )
    rows = con.execute(
        "select fact_value, score from hybrid_search('chat_facts', 'the cat', vector_weight := 0)"
    ).fetchall()
    assert [row[0] for row in rows] == ["Biscuit", "Mochi"] and rows[0][1] > rows[1][1]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("'notes', 'x'", "text_column"),
        ("'notes', 'x', text_column := 'body', user_id := 'u'", "no column user_id"),
        ("'notes', 'x', text_column := 'body', since := '2026-01-01'", "created_at"),
        ("'notes', 'x', text_column := 'body', roles := ['user']", "no column role"),
    ],
)
def test_what_a_table_lacks_is_said(con: duckdb.DuckDBPyConnection, call: str, says: str) -> None:
    con.execute("create table notes as select 'hello' as body")
    with pytest.raises(duckdb.Error, match=says):
        con.sql(f"from hybrid_search({call})").fetchall()


@pytest.mark.parametrize("query", ["", "🙂", "the of and", "'; drop table chat_turns; --", "\0"])
def test_an_odd_query_is_no_error(con: duckdb.DuckDBPyConnection, query: str) -> None:
    search(con, query)
    assert con.sql("select count(*) from chat_turns").fetchall() == [(6,)]


def test_another_cursor_reaches_it_by_its_full_name(con: duckdb.DuckDBPyConnection) -> None:
    cursor = con.cursor()
    assert (
        cursor.execute(
            "select count(*) from recall_sql.hybrid_search('chat_turns', 'Kyoto', vector_weight := 0)"
        ).fetchall()[0][0]
        > 0
    )
