"""Every way to close a database while somebody else uses it, and files that are let go."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

import recall_sql
from recall_sql.session import instance_of
from tests.databases import works
from tests.processes import python, running

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


# Nothing but a cursor leads to an unnamed database in memory, and a plain connection to a named one is a second one.
@pytest.mark.parametrize(
    ("where", "how"),
    [
        *(
            ("file", how)
            for how in ("second close", "second collect", "plain close", "plain collect", "cursor collect")
        ),
        (":memory:", "cursor collect"),
        *((":memory:named", how) for how in ("second close", "second collect", "cursor collect")),
    ],
)
def test_the_first_connection_goes_while_another_uses_the_functions(tmp_path, how, where):
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
