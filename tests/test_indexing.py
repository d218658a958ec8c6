"""recall-sql index: search tables, bits for any table, and the HNSW index that is never needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import recall_sql
from recall_sql import extensions, indexing
from recall_sql.cli import cli
from recall_sql.errors import InputError

WIDTH = 8
SETTINGS = {"embedder": "http://127.0.0.1:9/v1#none", "embedding_dimension": WIDTH}
needs_vss = pytest.mark.skipif(
    extensions.extension_file("vss") is None, reason="there is no wheel duckdb-extension-vss for this DuckDB"
)


@pytest.fixture
def con(db: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with recall_sql.connect(db, settings=SETTINGS) as connection:
        made = np.random.default_rng(5).normal(size=(300, WIDTH)).astype(np.float32)
        rows = {
            "user_id": [("ann", "bob")[i % 2] for i in range(300)],
            "role": ["user"] * 300,
            "content": [f"said {i}" for i in range(300)],
            "embedding": pa.FixedSizeListArray.from_arrays(pa.array(made.ravel()), WIDTH),
        }
        connection.register("said", pa.table(rows))
        connection.execute("insert into chat_turns by name from said")
        yield connection


def turns(con: duckdb.DuckDBPyConnection, call: str) -> list[int]:
    return [row[0] for row in con.execute(f"select turn_id from {call} order by rank").fetchall()]


QUERY = "[1, 0.5, -1, 0.1, 0.2, 0.3, -0.4, 0.9]::float[8]"


def test_it_says_what_it_did(con: duckdb.DuckDBPyConnection) -> None:
    assert indexing.index(con) == {
        "turns_read": 300,
        "turns_forgotten": 0,
        "turns_changed": 0,
        "turns_with_bits": 0,
        "turns_with_vectors": 300,
    }
    assert indexing.index(con, at_least=100)["turns_with_bits"] == 300


def test_a_table_of_ones_own_gets_a_column_of_bits(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("create table docs as select turn_id, content, embedding from chat_turns")
    assert indexing.index(con, "docs", at_least=0) == {
        "turns_changed": 300,
        "turns_with_bits": 300,
        "turns_with_vectors": 300,
    }
    assert turns(con, f"vector_search('docs', {QUERY})") == turns(con, f"vector_search('chat_turns', {QUERY})")


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ("1 as id, [1.0]::float[1] as embedding", "docs has no column turn_id"),
        ("1 as turn_id", "docs has no column embedding"),
        ("'a' as turn_id, [1.0]::float[1] as embedding", "docs.turn_id is VARCHAR; it must be a whole number"),
    ],
)
def test_what_a_table_lacks_is_said(con: duckdb.DuckDBPyConnection, columns: str, says: str) -> None:
    con.execute(f"create table docs as select {columns}")
    with pytest.raises(InputError, match=says):
        indexing.index(con, "docs")


@needs_vss
def test_hnsw_finds_and_is_never_short(con: duckdb.DuckDBPyConnection, db: Path) -> None:
    indexing.build_hnsw(con)
    exact = turns(con, f"vector_search('chat_turns', {QUERY})")
    assert "HNSW_INDEX_SCAN" in str(con.execute(f"explain (format json) from hnsw_search({QUERY})").fetchall())
    assert len(set(turns(con, f"hnsw_search({QUERY})")) & set(exact)) >= 9
    # a filter, which the index doesn't know, and deletions, after which it returns fewer
    bobs = turns(con, f"vector_search('chat_turns', {QUERY}, user_id := 'bob')")
    assert turns(con, f"hnsw_search({QUERY}, user_id := 'bob')") == bobs
    con.execute("delete from chat_turns where turn_id > 12")
    assert sorted(turns(con, f"hnsw_search({QUERY}, k := 12)")) == list(range(1, 13))
    assert len(turns(con, f"hnsw_search({QUERY}, k := 50)")) == 12


@needs_vss
def test_a_file_with_an_hnsw_index_opens_and_can_be_written_to(con: duckdb.DuckDBPyConnection, db: Path) -> None:
    indexing.build_hnsw(con)
    con.close()
    with recall_sql.connect(db, settings=SETTINGS) as again:
        again.execute(f"insert into chat_turns (role, content, embedding) values ('user', 'new', {QUERY})")
        assert turns(again, f"hnsw_search({QUERY}, k := 1)") == [301]
        assert indexing.drop_hnsw(again)
        assert not indexing.drop_hnsw(again)
        with pytest.raises(duckdb.CatalogException):
            again.execute(f"from hnsw_search({QUERY})")
    with recall_sql.connect(db, settings=SETTINGS, read_only=True) as reader:
        assert turns(reader, f"vector_search('chat_turns', {QUERY}, k := 1)") == [301]


def test_without_the_extension_the_error_says_what_to_install(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extensions, "extension_file", lambda name: Path("/nowhere/vss.duckdb_extension"))
    with pytest.raises(recall_sql.errors.ConfigError, match="pip install duckdb-extension-vss"):
        indexing.build_hnsw(con)
    assert len(turns(con, f"vector_search('chat_turns', {QUERY})")) == 10


def test_the_command(db: Path) -> None:
    run = CliRunner().invoke
    assert (
        run(cli, ["run", "conversation_memory/ingest", "--var", "content=I like tea", "--db", str(db)]).exit_code == 0
    )
    result = run(cli, ["index", "--db", str(db)])
    assert result.exit_code == 0 and "turns read: 1\n" in result.output and "turns with bits: 0\n" in result.output
    assert run(cli, ["index", "docs", "--hnsw", "--db", str(db)]).exit_code == 2
    assert run(cli, ["index", "--hnsw", "--drop-hnsw", "--db", str(db)]).exit_code == 2
    assert "there was no HNSW index" in run(cli, ["index", "--drop-hnsw", "--db", str(db)]).output
