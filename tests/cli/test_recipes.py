"""run, compile, list and sql."""

import csv
import io
import json

import recall_sql
from tests.cli.running import query, write


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
