"""The compact first pass: bits beside vectors, kept by a recipe, and searches that find the same with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import recall_sql
from recall_sql import runner

WIDTH = 32
ROWS = 6000


def vectors(seed: int, count: int) -> np.ndarray:
    """Unit vectors in clusters, as those of texts are."""
    dice = np.random.default_rng(seed)
    centres = np.random.default_rng(1).normal(size=(40, WIDTH))
    found = centres[dice.integers(0, 40, count)] + 0.7 * dice.normal(size=(count, WIDTH))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """6,000 turns of two users with vectors of 32 components. The embedder is never asked."""
    made = vectors(2, ROWS)
    with recall_sql.connect(
        settings={"embedder": "http://127.0.0.1:9/v1#none", "embedding_dimension": WIDTH}
    ) as connection:
        rows = {
            "user_id": [("ann", "bob")[i % 2] for i in range(ROWS)],
            "role": ["user"] * ROWS,
            "position": range(ROWS),
            "content": [f"word{i % 97} said{i}" for i in range(ROWS)],
            "embedding": pa.FixedSizeListArray.from_arrays(pa.array(made.ravel()), WIDTH),
        }
        connection.register("said", pa.table(rows))
        connection.execute("insert into chat_turns by name from said")
        yield connection


def compact(con: duckdb.DuckDBPyConnection, **values: object) -> tuple[int, int, int]:
    result = runner.execute(con, runner.load("search/compact"), {"at_least": 0, **values})
    return tuple(result.tables[0].table.to_pylist()[0].values())


def nearest(con: duckdb.DuckDBPyConnection, query: np.ndarray, more: str = "") -> list[tuple]:
    sql = f"select turn_id, round(score, 5) from vector_search('chat_turns', $1::float[{WIDTH}]{more}) order by rank"
    return con.execute(sql, [query.tolist()]).fetchall()


def test_small_memories_get_no_bits(con: duckdb.DuckDBPyConnection) -> None:
    assert compact(con, at_least=ROWS + 1) == (0, 0, ROWS)
    assert compact(con, at_least=ROWS) == (ROWS, ROWS, ROWS)
    assert compact(con, at_least=ROWS) == (0, ROWS, ROWS)


def test_a_bit_says_whether_the_component_is_positive(con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute("select sign_bits([0.5, -0.5, 0.0, 2.0]::float[4])::varchar").fetchall() == [("1001",)]
    assert con.execute("select sign_bits(null::float[4])").fetchall() == [(None,)]


def test_the_first_pass_finds_what_comparing_every_vector_finds(con: duckdb.DuckDBPyConnection) -> None:
    compact(con)
    found = exact = 0
    for query in vectors(3, 20):
        expected = nearest(con, query, ", candidates := 0")
        exact += len(expected)
        found += len(set(expected) & set(nearest(con, query)))
    assert found >= 0.99 * exact


def test_few_candidates_are_a_first_pass_indeed(con: duckdb.DuckDBPyConnection) -> None:
    # with as many candidates as hits, only the bits decide: they are an approximation, so something is missed
    compact(con)
    missed = [
        set(nearest(con, query, ", candidates := 0")) - set(nearest(con, query, ", candidates := 10"))
        for query in vectors(3, 20)
    ]
    assert any(missed)


def test_filters_apply_before_the_first_pass(con: duckdb.DuckDBPyConnection) -> None:
    query = vectors(3, 1)[0]
    expected = nearest(con, query, ", user_id := 'bob', candidates := 0")
    compact(con)
    con.execute("update chat_turns set user_id = 'carl' where turn_id in (1, 3, 5)")
    assert nearest(con, query, ", user_id := 'bob', k := 10") == expected
    assert {row[0] for row in nearest(con, query, ", user_id := 'carl'")} == {1, 3, 5}


def test_rows_without_bits_are_found_too_and_bits_never_change_a_score(con: duckdb.DuckDBPyConnection) -> None:
    query = vectors(3, 1)[0]
    compact(con)
    con.execute(
        f"insert into chat_turns (user_id, role, content, embedding) values ('ann', 'user', 'new', $1::float[{WIDTH}])",
        [query.tolist()],
    )
    newest, score = nearest(con, query)[0]
    assert (newest, score) == (ROWS + 1, 1.0)
    con.execute("delete from chat_turns where turn_id = $1", [newest])
    assert nearest(con, query) == nearest(con, query, ", candidates := 0")
    con.execute("update chat_turns set embedding = null where turn_id = $1", [nearest(con, query)[0][0]])
    assert nearest(con, query) == nearest(con, query, ", candidates := 0")
    assert compact(con)[1:] == (ROWS - 1, ROWS - 1)


def test_vectors_written_by_hand_are_verified_when_asked(con: duckdb.DuckDBPyConnection) -> None:
    compact(con)
    con.execute("update chat_turns set embedding = [-x for x in embedding] where turn_id = 7")
    assert compact(con)[0] == 0
    assert compact(con, verify=True)[0] == 1
    assert con.execute("from chat_turns where embedding_bits <> sign_bits(embedding)").fetchall() == []


def test_hybrid_search_finds_the_same_with_bits(db: Path) -> None:
    said = [
        "I collect old maps.",
        "My cat sleeps all day.",
        "Atlases and globes fill my shelf.",
        "The weather is fine.",
    ]
    with recall_sql.connect(db) as con:
        con.executemany("insert into chat_turns (role, content) values ('user', $1)", [[text] for text in said])
        runner.execute(con, runner.load("conversation_memory/embed"))
        sql = "select turn_id, score from hybrid_search('chat_turns', 'cartography and cats') order by rank"
        expected = con.execute(sql).fetchall()
        assert len(expected) == 4
        compact(con)
        assert con.execute(sql).fetchall() == expected
        con.execute("update chat_turns set embedding_bits = null where turn_id = 3")
        assert con.execute(sql).fetchall() == expected
        con.execute("update chat_turns set embedding = null, embedding_bits = null where turn_id = 3")
        assert len(con.execute(sql).fetchall()) == 4


def test_a_table_of_ones_own_needs_no_such_columns(con: duckdb.DuckDBPyConnection) -> None:
    query = vectors(3, 1)[0]
    con.execute("create table mine as select turn_id as id, content, embedding from chat_turns")
    sql = f"select id from vector_search('mine', $1::float[{WIDTH}], k := 5) order by rank"
    expected = [row[0] for row in nearest(con, query, ", k := 5, candidates := 0")]
    assert [row[0] for row in con.execute(sql, [query.tolist()]).fetchall()] == expected
    con.execute(
        "create table half as select content, embedding, sign_bits(embedding) as embedding_bits from chat_turns"
    )
    sql = (
        f"select count(*) from vector_search('half', $1::float[{WIDTH}], k := 5)"  # bits, and nothing to know a row by
    )
    assert con.execute(sql, [query.tolist()]).fetchall() == [(5,)]


def test_a_database_from_before_there_were_bits(db: Path) -> None:
    with recall_sql.connect(db) as con:
        con.execute("insert into chat_turns (role, content) values ('user', 'hello')")
        con.execute("alter table chat_turns drop column embedding_bits")
        con.execute("update recall_meta set value = '1' where name = 'schema_version'")
    with recall_sql.connect(db, read_only=True) as con:
        assert con.execute("select content from hybrid_search('chat_turns', 'hello')").fetchall() == [("hello",)]
    with recall_sql.connect(db) as con:
        assert con.execute("select content, embedding_bits from chat_turns").fetchall() == [("hello", None)]
        assert con.execute("select value from recall_meta where name = 'schema_version'").fetchall() != [("1",)]
