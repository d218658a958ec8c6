"""connect() and register(): every way to open a database, and every way to close one."""

from __future__ import annotations

import os

import duckdb
import pytest

import recall_sql
from recall_sql.session import instance_of
from tests.databases import works

TABLES = {"chat_facts", "chat_turns", "recall_calls", "recall_memo", "recall_meta"}


def tables(con: duckdb.DuckDBPyConnection, database: str) -> set[str]:
    return {
        name
        for (name,) in con.execute(
            "select table_name from duckdb_tables() where database_name = ?", [database]
        ).fetchall()
    }


# -- connect -----------------------------------------------------------------------------------------------------------


def test_a_database_in_memory(con):
    assert works(con)
    assert tables(con, "memory") >= TABLES
    assert con.execute("select len(embed('hello'))").fetchall() == [(384,)]
    assert len(con.execute("from recall_settings()").fetchall()) > 5


def test_a_file_is_opened_again_with_what_it_remembers(db):
    with recall_sql.connect(db) as con:
        assert works(con)
    with recall_sql.connect(str(db)) as con:
        assert con.execute("select count(*) from recall_memo").fetchall() == [(1,)]
        con.execute("select embed('hello')").fetchall()
        assert con.execute("select sum(inputs) from recall_calls").fetchall() == [(1,)]


def test_the_library_and_its_tables_are_not_in_the_file(db):
    recall_sql.connect(db).close()
    with duckdb.connect(db) as plain:
        assert "fact_keys" not in tables(plain, "memory")
        assert plain.execute("select count(*) from duckdb_functions() where database_name = 'memory'").fetchall() == [
            (0,)
        ]


def test_every_column_is_commented(con):
    bare = con.execute(
        "select table_name, column_name from duckdb_columns() where database_name = 'memory' and not internal"
        " and comment is null and table_name in (select table_name from duckdb_tables())"
    ).fetchall()
    assert bare == []


def test_new_tables_go_to_the_file_and_not_to_the_library(con):
    con.execute("create table mine as select 1 as a")
    assert "mine" in tables(con, "memory")


def test_cursors_share_everything(con):
    cursor = con.cursor()
    assert works(cursor)
    cursor.execute("select recall_set('llm', 'rules')").fetchall()
    assert con.execute("select value from recall_settings() where name = 'llm'").fetchall() == [("rules",)]


def test_a_second_connection_to_the_same_file(db):
    with recall_sql.connect(db) as first, recall_sql.connect(db) as second:
        assert instance_of(first) is instance_of(second)
        assert works(first) and works(second)
        assert second.execute("select len(from_one) from (select embed('x') as from_one)").fetchall() == [(384,)]


def test_a_plain_connection_to_the_same_file_has_the_functions_too(db):
    with recall_sql.connect(db) as con, duckdb.connect(db) as plain:
        assert works(plain) and works(con)


def test_settings_of_a_second_connection_are_the_instance_s(db):
    with recall_sql.connect(db) as first, recall_sql.connect(db, settings={"timeout": 5}):
        assert first.execute("select value from recall_settings() where name = 'timeout'").fetchall() == [("5.0",)]


def test_another_embedder_for_a_database_that_is_open_is_refused(db):
    with recall_sql.connect(db) as con:
        with pytest.raises(recall_sql.ConfigError, match="embedder is settled when a database is opened"):
            recall_sql.connect(db, settings={"embedder": "openai:text-embedding-3-small"})
        with pytest.raises(duckdb.InvalidInputException, match="embedder is settled"):
            con.execute("select recall_set('embedder', 'ollama:nomic')").fetchall()
        assert works(con)


def test_duckdb_s_own_options(db):
    with recall_sql.connect(db, config={"threads": 1}) as con:
        assert con.execute("select current_setting('threads')").fetchall() == [(1,)]
        with pytest.raises(recall_sql.ConfigError, match="same read_only and config"):
            recall_sql.connect(db)
        with recall_sql.connect(db, config={"threads": 1}) as second:
            assert works(second)


def test_a_shared_database_in_memory_by_name():
    with recall_sql.connect(":memory:shared") as first, recall_sql.connect(":memory:shared") as second:
        assert instance_of(first) is instance_of(second)
        first.close()
        assert works(second)


def test_databases_in_memory_are_apart(con):
    with recall_sql.connect() as other:
        assert instance_of(other) is not instance_of(con)


def test_home_is_understood(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    recall_sql.connect("~/memory.duckdb").close()
    assert (tmp_path / "memory.duckdb").is_file()


NAMES = ["my-memory.duckdb", "o'brien.duckdb", "会議-1.db", "select.duckdb", "a.b.duckdb"]
if os.name != "nt":  # Windows has no such names
    NAMES.append('a "b".duckdb')


@pytest.mark.parametrize("name", NAMES)
def test_any_file_name(tmp_path, name):
    with recall_sql.connect(tmp_path / name) as con:
        assert works(con)
        assert con.execute("from recall_settings()").fetchall()
        assert con.execute("select count(*) from chat_facts").fetchall() == [(0,)]
    with recall_sql.connect(tmp_path / name, read_only=True) as con:
        assert works(con)


# -- read-only ---------------------------------------------------------------------------------------------------------


def test_a_read_only_file_is_used_and_not_written(db):
    recall_sql.connect(db).close()
    before = db.read_bytes()
    with recall_sql.connect(db, read_only=True) as con:
        assert works(con)
        assert con.execute("select count(*) from chat_facts").fetchall() == [(0,)]
        assert con.execute("from recall_settings()").fetchall()
        assert con.execute("select count(*) from recall_sql.recall_calls").fetchall() == [(1,)]
    assert db.read_bytes() == before


def test_a_read_only_file_that_recall_never_wrote_to(db):
    with duckdb.connect(db) as plain:
        plain.execute("create table notes as select 'hello' as note")
    with recall_sql.connect(db, read_only=True) as con:
        assert works(con)
        assert con.execute("select len(embed(note)) from notes").fetchall() == [(384,)]


# -- register ----------------------------------------------------------------------------------------------------------


def test_register_twice_is_harmless():
    con = duckdb.connect()
    assert recall_sql.register(con) is con
    instance = instance_of(con)
    recall_sql.register(con, settings={"timeout": 7})
    assert instance_of(con) is instance and instance.settings.timeout == 7
    assert works(con)


def test_register_a_cursor(db):
    con = duckdb.connect(db)
    cursor = con.cursor()
    recall_sql.register(cursor)
    cursor.close()
    assert works(con)


def test_register_within_a_transaction():
    con = duckdb.connect()
    con.execute("create table mine (a int)")
    con.execute("begin")
    con.execute("insert into mine values (1)")
    with pytest.raises(recall_sql.InputError, match="commit it before"):
        recall_sql.register(con)
    con.execute("commit")
    assert works(recall_sql.register(con))
    con.execute("begin")
    recall_sql.register(con)
    con.execute("rollback")
    assert con.execute("select count(*) from mine").fetchall() == [(1,)]


def test_register_keeps_the_database_and_schema_in_use(db, tmp_path):
    con = duckdb.connect(db)
    con.execute("create schema notes")
    con.execute("use notes")
    recall_sql.register(con)
    con.execute("create table mine as select 1 as a")
    assert con.execute("select schema_name from duckdb_tables() where table_name = 'mine'").fetchall() == [("notes",)]
    assert con.execute("select count(*) from chat_facts").fetchall() == [(0,)]
    assert works(con)


def test_register_puts_its_tables_where_the_connection_is(tmp_path):
    con = duckdb.connect()
    con.execute(f"attach '{tmp_path / 'other.duckdb'}' as other")
    con.execute(f"attach '{tmp_path / 'third.duckdb'}' as third")
    con.execute("use other")
    recall_sql.register(con)
    assert tables(con, "other") >= TABLES
    assert not tables(con, "memory") and not tables(con, "third")
    assert works(con)
    con.execute("use third")
    assert works(con)
    recall_sql.register(con)
    assert con.execute("select current_database()").fetchall() == [("third",)]
    assert con.execute("select count(*) from chat_facts").fetchall() == [(0,)]


def test_a_database_called_like_the_library_is_refused(tmp_path):
    with pytest.raises(recall_sql.ConfigError, match="can't be called recall_sql"):
        recall_sql.connect(tmp_path / "recall_sql.duckdb")
    with (
        duckdb.connect(tmp_path / "recall_sql.duckdb") as con,
        pytest.raises(recall_sql.ConfigError, match="rename it"),
    ):
        recall_sql.register(con)
    with duckdb.connect() as con:
        con.execute("attach ':memory:' as recall_sql")
        with pytest.raises(recall_sql.ConfigError, match="attach it under another"):
            recall_sql.register(con)
        con.execute("detach recall_sql")
        assert works(recall_sql.register(con))


def test_a_function_of_the_same_name_is_reported():
    con = duckdb.connect()
    con.create_function("generate", lambda text: text, ["VARCHAR"], "VARCHAR")
    with pytest.raises(recall_sql.ConfigError, match="has a function generate already"):
        recall_sql.register(con)
    con.remove_function("generate")
    assert works(recall_sql.register(con))


def test_a_connection_without_recall_is_told_so():
    with duckdb.connect() as con, pytest.raises(recall_sql.InputError, match="isn't registered"):
        recall_sql.last_error(con)


def test_last_error_is_the_python_exception(con):
    with pytest.raises(duckdb.InvalidInputException, match="EMBED: text must be VARCHAR"):
        con.execute("select embed(1)").fetchall()
    assert isinstance(recall_sql.last_error(con), recall_sql.InputError)
