"""connect() and register(): every way to open a database, and every way to close one."""

from __future__ import annotations

import gc
import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

import recall_sql
from recall_sql.session import instance_of
from tests.processes import python, running

TABLES = {"chat_facts", "chat_turns", "recall_calls", "recall_memo", "recall_meta"}


def works(con: duckdb.DuckDBPyConnection) -> bool:
    """EMBED answers and remembers, and the library is reached by its full name."""
    con.execute("select embed('hello')").fetchall()
    con.execute("from recall_sql.recall_settings()").fetchall()
    store = instance_of(con).store
    return con.execute(f"select count(*) from {store}.recall_memo").fetchall()[0][0] >= 1


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


@pytest.mark.parametrize(
    "name", ["my-memory.duckdb", "o'brien.duckdb", 'a "b".duckdb', "会議-1.db", "select.duckdb", "a.b.duckdb"]
)
def test_any_file_name(tmp_path, name):
    if os.name == "nt" and '"' in name:
        pytest.skip("Windows forbids quotes in file names")
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


# -- bad files ---------------------------------------------------------------------------------------------------------


def refused(*arguments, **options) -> str:
    with pytest.raises(recall_sql.ConfigError) as caught:
        recall_sql.connect(*arguments, **options)
    return str(caught.value)


def test_a_directory(tmp_path):
    assert "is a directory; name a database file in it" in refused(tmp_path)


def test_no_such_directory(tmp_path):
    assert "there is no directory" in refused(tmp_path / "nowhere" / "memory.duckdb")


def test_a_read_only_file_that_is_not_there(db):
    assert "doesn't exist, and a read-only connection can't create it" in refused(db, read_only=True)
    assert not db.exists()


@pytest.mark.parametrize("content", [b"garbage", b"", bytes(range(256)) * 100])
def test_a_file_that_is_no_database(db, content):
    db.write_bytes(content)
    assert "it isn't a DuckDB database file" in refused(db)
    assert db.read_bytes() == content


@pytest.mark.skipif(not duckdb.__version__.startswith("1."), reason="DuckDB 2.0 reads its own files")
def test_a_file_of_a_newer_duckdb(db):
    db.write_bytes(gzip.decompress((Path(__file__).parent / "data" / "written_by_duckdb_2_0.gz").read_bytes()))
    assert "another version of DuckDB wrote it, and this one (1." in refused(db)


def test_tables_of_a_newer_recall_sql(db):
    with recall_sql.connect(db) as con:
        con.execute("update recall_meta set value = '99' where name = 'schema_version'")
    assert "a newer recall_sql made these tables (schema version 99" in refused(db)


HOLD = """
import sys, time, duckdb
con = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "True")
print("open", flush=True)
time.sleep(60)
"""


def test_a_file_that_another_process_writes_to(db):
    recall_sql.connect(db).close()
    with running(HOLD, db, False) as process:
        for read_only in (False, True):
            message = refused(db, read_only=read_only)
            assert "another process has it open" in message and "not even read-only" in message
            assert os.name == "nt" or f"(PID {process.pid})" in message
    recall_sql.connect(db).close()


@pytest.mark.skipif(os.name == "nt", reason="Windows locks otherwise")
def test_a_file_that_another_process_reads(db):
    recall_sql.connect(db).close()
    with running(HOLD, db, True):
        assert "open it with read_only=True too" in refused(db)
        with recall_sql.connect(db, read_only=True) as con:
            assert works(con)


def test_a_name_that_is_no_text():
    with pytest.raises(recall_sql.InputError, match="named by text or a Path"):
        recall_sql.connect(b"memory.duckdb")
    with pytest.raises(TypeError):
        recall_sql.connect(None)


def test_a_bad_setting_is_found_before_the_file_is_touched(db):
    assert "unknown setting 'lmm'; did you mean 'llm'?" in refused(db, settings={"lmm": "x"})
    assert not db.exists()


# -- closing -----------------------------------------------------------------------------------------------------------

ORDERS = """
import gc, sys, duckdb, recall_sql
how, db = sys.argv[1:]
first = recall_sql.connect(db)
if how.startswith('second'):
    second = recall_sql.connect(db)
elif how.startswith('plain'):
    second = duckdb.connect(db)
else:
    second = first.cursor()
if how.endswith('close'):
    first.close()
del first
gc.collect()
second.execute("set enable_progress_bar = false")  # else it is printed between the answers on a slow day
for number in range(3):
    second.execute(f"select embed(t.a::varchar || '{number}') from range(10) t(a)").fetchall()
second.execute("select recall_set('llm', 'rules')").fetchall()
print(second.execute("select count(*), (select sum(inputs) from recall_calls)::int from recall_memo").fetchall())
second.close()
third = recall_sql.connect(db)
third.execute("set enable_progress_bar = false")
print(third.execute("select count(embed(t.a::varchar || '1')) from range(10) t(a)").fetchall())
"""


@pytest.mark.parametrize("how", ["second close", "second collect", "plain close", "plain collect", "cursor collect"])
@pytest.mark.parametrize("where", ["file", ":memory:", ":memory:named"])
def test_the_first_connection_goes_while_another_uses_the_functions(tmp_path, how, where):
    if where == ":memory:" and not how.startswith("cursor"):
        pytest.skip("nothing else leads to an unnamed database in memory")
    if where == ":memory:named" and how.startswith("plain"):
        pytest.skip("a plain connection to it is the same case as a second one")
    database = tmp_path / "memory.duckdb" if where == "file" else where
    assert python(ORDERS, how, database).splitlines() == ["[(30, 30)]", "[(10,)]"]


def test_functions_are_in_use_on_another_thread_while_their_connection_closes(tmp_path):
    code = """
import sys, threading, recall_sql
first, second = recall_sql.connect(sys.argv[1]), recall_sql.connect(sys.argv[1])
rows = []
second.execute("set enable_progress_bar = false")
query = "select count(embed((a % 300)::varchar)) from range(60000) t(a)"
work = threading.Thread(target=lambda: rows.append(second.execute(query).fetchall()))
work.start()
first.close()
del first
work.join()
print(rows)
"""
    assert python(code, tmp_path / "memory.duckdb") == "[[(60000,)]]"


@pytest.mark.parametrize("how", ["con.close()", "del con", "con = None", "con.close(); del con"])
def test_a_file_is_let_go_when_its_connections_are(db, how):
    code = f"""
import gc, sys, recall_sql
con = recall_sql.connect(sys.argv[1])
con.execute("select embed('hello')").fetchall()
{how}
gc.collect()
print('done', flush=True)
import time; time.sleep(60)
"""
    with running(code, db), recall_sql.connect(db) as con:
        assert con.execute("select count(*) from recall_memo").fetchall() == [(1,)]


def test_a_database_in_memory_is_freed_once_the_next_one_opens():
    con = recall_sql.connect()
    con.execute("select embed('hello')").fetchall()
    instance = instance_of(con)
    del con
    gc.collect()
    recall_sql.connect().close()
    assert instance._keeper is None


def test_registered_with_a_connection_of_unknown_options_and_closed(db):
    first = recall_sql.register(duckdb.connect(db, config={"threads": 1}))
    second = duckdb.connect(db, config={"threads": 1})
    first.close()
    with pytest.raises(duckdb.InvalidInputException, match=r"call recall_sql.register\(\) with the one in use"):
        second.execute("select embed('hello')").fetchall()
    assert works(recall_sql.register(second))


def test_a_result_outlives_its_connection_variable(db):
    relation = recall_sql.connect(db).sql("select len(embed('hello')) as n")
    gc.collect()
    assert relation.fetchall() == [(384,)]


# -- threads -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 4])
def test_many_rows_on_several_duckdb_threads(db, threads):
    with recall_sql.connect(db, config={"threads": threads}) as con:
        con.execute("create table texts as select 'text ' || (range % 64) as text from range(400_000)")
        assert con.execute("select count(distinct embed(text)[1]) from texts").fetchall() == [(64,)]
        asked = con.execute("select sum(inputs) from recall_calls").fetchall()[0][0]
        assert 64 <= asked <= 64 * threads  # two threads may meet the same new text at once


def test_cursors_on_threads(con):
    seen: list[int] = []

    def work(number: int) -> None:
        with con.cursor() as cursor:
            rows = cursor.execute(f"select embed('{number} ' || (a % 20)) from range(200) t(a)").fetchall()
            seen.append(len(rows))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == [200] * 8
    assert con.execute("select count(distinct key) from recall_memo").fetchall() == [(160,)]


# -- starting ----------------------------------------------------------------------------------------------------------


def test_opening_a_database_imports_no_model_and_no_arrow():
    code = """
import sys, recall_sql
recall_sql.connect().execute('select 1').fetchall()
print([name for name in ('torch', 'transformers', 'openai', 'onnxruntime', 'pandas', 'pyarrow') if name in sys.modules])
"""
    assert python(code) == "[]"


def test_a_path_relative_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    con = recall_sql.connect("memory.duckdb")
    plain = duckdb.connect(Path("memory.duckdb"))
    con.close()
    assert works(plain)


def test_a_process_that_dies_leaves_a_file_that_opens(tmp_path):
    path = tmp_path / "memory.duckdb"
    code = f"""
import os, recall_sql
from recall_sql.records import Records
con = recall_sql.connect({str(path)!r})
Records(con).add_schema("payments", "Money paid to somebody", {{"properties": {{"amount": {{"type": "number"}}}}}})
con.execute("insert into chat_turns (content, role) values ('kept', 'user')").fetchall()
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 9
    con = recall_sql.connect(path)
    assert con.sql("select content from chat_turns").fetchall() == [("kept",)]
    assert con.sql("select count(*) from payments").fetchall() == [(0,)]
    con.close()
