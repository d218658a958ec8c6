"""VECTOR_SEARCH: the nearest rows of a table, filtered before the top k."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

import recall_sql


@pytest.fixture
def con():
    """100 vectors around the circle: row n points n * 3.6 degrees away from the x axis."""
    with recall_sql.connect(
        settings={"embedder": "http://127.0.0.1:9/v1#none", "embedding_dimension": 2}
    ) as connection:
        connection.execute(
            "create table points as select n, ['s1', 's2', ''][n % 3 + 1] as session_id,"
            " ['ann', 'bob'][n % 2 + 1] as user_id,"
            " 'a' || (n % 4) as agent_id, [cos(radians(n * 3.6)), sin(radians(n * 3.6))]::float[2] as embedding"
            " from range(100) t(n)"
        )
        yield connection


X = "[1.0, 0.0]::float[2]"


def found(con: duckdb.DuckDBPyConnection, arguments: str) -> list[int]:
    return [row[0] for row in con.execute(f"select n from vector_search({arguments}) order by rank").fetchall()]


def test_nearest_first_with_score_and_rank(con):
    rows = con.execute(f"select n, score, rank from vector_search('points', {X}, k := 4)").fetchall()
    assert rows[0] == (0, pytest.approx(1), 1)
    assert {row[0] for row in rows[1:3]} == {1, 99}
    assert [row[2] for row in rows] == [1, 2, 3, 4]
    assert [row[1] for row in rows] == sorted((row[1] for row in rows), reverse=True)


def test_every_column_of_the_table_comes_along(con):
    columns = [name for name, *_ in con.execute(f"describe from vector_search('points', {X})").fetchall()]
    assert columns == ["n", "session_id", "user_id", "agent_id", "embedding", "score", "rank"]


def test_ten_by_default(con):
    assert len(found(con, f"'points', {X}")) == 10
    assert found(con, f"'points', {X}, k := 0") == []
    assert len(found(con, f"'points', {X}, k := 1000")) == 100


def test_filters_apply_before_the_top_k(con):
    ours = found(con, f"'points', {X}, k := 5, session_id := 's2', user_id := 'bob'")
    expected = [
        row[0]
        for row in con.execute(
            f"select n from points where session_id in ('s2', '') and user_id = 'bob'"
            f" order by array_cosine_similarity(embedding, {X}) desc limit 5"
        ).fetchall()
    ]
    assert len(ours) == 5 and set(ours) == set(expected)
    assert all(n % 4 == 3 for n in found(con, f"'points', {X}, k := 7, agent_id := 'a3'"))


def test_rows_of_no_session_belong_to_all(con):
    sessions = con.execute(f"select distinct session_id from vector_search('points', {X}, k := 50, session_id := 's1')")
    assert {row[0] for row in sessions.fetchall()} == {"s1", ""}
    assert found(con, f"'points', {X}, session_id := 'nobody', k := 99") == found(
        con, f"'points', {X}, session_id := '', k := 99"
    )


@pytest.mark.parametrize("session", ["o'brien", "会議-1", "🙂", "x'; DROP TABLE points; --", "team-a"])
def test_any_id(con, session):
    con.execute("insert into points values (1000, ?, 'ann', 'a0', [1, 0])", [session])
    rows = con.execute(f"select n from vector_search('points', {X}, k := 1, session_id := ?)", [session]).fetchall()
    assert rows == [(1000,)] or rows == [(0,)]
    assert con.execute("select count(*) from points").fetchall() == [(101,)]


def test_min_score(con):
    assert set(found(con, f"'points', {X}, k := 50, min_score := 0.99")) == {0, 1, 2, 98, 99}
    assert found(con, f"'points', {X}, min_score := 1.1") == []


def test_rows_without_a_vector_or_with_zeros_are_never_near(con):
    con.execute("insert into points values (500, '', 'ann', 'a0', null), (501, '', 'ann', 'a0', [0, 0])")
    assert len(found(con, f"'points', {X}, k := 1000")) == 100
    assert found(con, "'points', [0, 0]") == []
    con.execute("delete from points where n < 500")
    assert found(con, f"'points', {X}") == []
    con.execute("delete from points")
    assert found(con, f"'points', {X}") == []


def test_a_query_of_null_finds_nothing(con):
    assert found(con, "'points', null") == []


def test_a_column_of_another_name(con):
    con.execute(
        "create view turned as select n, embedding as vec, [embedding[2], embedding[1]]::float[2] as other from points"
    )
    assert found(con, f"""'turned', {X}, k := 1, "column" := 'vec'""") == [0]
    assert found(con, f"'turned', {X}, k := 1, vector_column := 'other'") == [25]


@pytest.mark.parametrize("scope", ["session_id", "user_id", "agent_id"])
def test_a_filter_on_a_column_the_table_lacks_is_an_error(con, scope):
    con.execute("create table bare as select n, embedding from points")
    with pytest.raises(duckdb.Error, match=f"the table has no column {scope}"):
        found(con, f"'bare', {X}, {scope} := 'x'")
    assert found(con, f"'bare', {X}, k := 1") == [0]


def test_what_is_wrong_with_the_call(con):
    with pytest.raises(duckdb.Error, match="nowhere"):
        found(con, f"'nowhere', {X}")
    with pytest.raises(duckdb.Error, match="vec"):
        found(con, f"'points', {X}, vector_column := 'vec'")
    with pytest.raises(
        duckdb.InvalidInputException, match="VECTOR_SEARCH: the query vector has 3 components, this database's have 2"
    ):
        found(con, "'points', [1, 2, 3]::float[3]")
    with pytest.raises(duckdb.InvalidInputException, match="VECTOR_SEARCH: the query vector must hold finite numbers"):
        found(con, "'points', ['nan'::float, 0]")
    with pytest.raises(duckdb.InvalidInputException, match="VECTOR_SEARCH: query must be VARCHAR"):
        found(con, "'points', 7")


@pytest.mark.parametrize(
    "vector", ["[1.0, 0.0]", "[1, 0]", "[1.0, 0.0]::double[]", "[1, 0]::float[2]", "array_value(1::float, 0::float)"]
)
def test_vectors_of_every_type(con, vector):
    assert found(con, f"'points', {vector}, k := 1") == [0]


def test_parameters(con):
    sql = "select n from vector_search('points', ?::float[2], k := ?, session_id := ?, min_score := ?)"
    for _ in range(2):
        rows = con.execute(sql, [[1.0, 0.0], 2, "s1", 0.5]).fetchall()
        assert len(rows) == 2 and rows[0] == (0,)
    con.execute("prepare nearest as select n from vector_search('points', $1::float[2], k := 1)")
    assert con.execute("execute nearest([0, 1])").fetchall() == [(25,)]


def test_a_view_and_a_schema(con):
    con.execute("create schema other; create table other.points as from points where n between 10 and 20")
    con.execute("create view few as from points where n between 40 and 60")
    assert found(con, f"'few', {X}, k := 1")[0] in (40, 60)
    assert found(con, f"'other.points', {X}, k := 1") == [10]


def test_for_every_row_of_another_table(con):
    con.execute(
        "create table questions as select * from (values (1, [1, 0]::float[2]), (2, [0, 1]::float[2])) q(id, v)"
    )
    rows = con.execute("select id, n from questions, vector_search('points', v, k := 1) order by id").fetchall()
    assert rows == [(1, 0), (2, 25)]


def test_from_a_cursor_by_its_full_name(con):
    with con.cursor() as cursor:
        assert cursor.execute(f"select n from recall_sql.vector_search('points', {X}, k := 1)").fetchall() == [(0,)]


def test_by_text():
    with recall_sql.connect() as con:
        con.execute(
            "insert into chat_turns (session_id, role, content, embedding)"
            " select 's1', 'user', text, embed(text) from (values ('I eat no meat'), ('The train leaves at nine'),"
            " ('My cat is called Mochi')) x(text)"
        )
        rows = con.execute("select content from vector_search('chat_turns', 'which pet do I have?', k := 1)").fetchall()
        assert rows == [("My cat is called Mochi",)]
        query = "select content from vector_search('chat_turns', ?, k := 1, session_id := 's1')"
        assert con.execute(query, ["what food do I avoid?"]).fetchall() == [("I eat no meat",)]


def test_the_same_as_the_bare_expression(con):
    dice = np.random.default_rng(7)
    vectors = dice.normal(size=(3000, 2)).astype(np.float32)
    con.execute("create table many (n int, embedding float[2])")
    con.executemany("insert into many values (?, ?)", [(n, v.tolist()) for n, v in enumerate(vectors[:300])])
    bare = f"select n from many order by array_cosine_similarity(embedding, {X}) desc limit 20"
    assert found(con, f"'many', {X}, k := 20") == [row[0] for row in con.execute(bare).fetchall()]
