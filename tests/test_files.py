"""Files that can't be opened, and what is said of them."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import duckdb
import pytest

import recall_sql
from tests.databases import works
from tests.processes import running


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
