"""Runs: one transaction, results, errors that say where, the record."""

import json
import logging
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from recall_sql.errors import InputError, RecipeError
from recall_sql.runner import execute, from_text, load

RUNS = """create table recall_runs (run_id uuid, recipe text, params text, status text, started_at timestamptz,
    finished_at timestamptz, error text, steps json, rows_changed bigint)"""
NASTY = ["team-a", "o'brien", "会議-1", "🙂", "x'; DROP TABLE chat_facts; --"]
FIELD = Path(__file__).parents[3] / "shared" / "field" / "cases.jsonl"


@pytest.fixture
def con():
    with duckdb.connect() as connection:
        connection.execute("create table chat_facts (session_id text, fact_value text)")
        connection.execute(RUNS)
        yield connection


def recipe(body, params="", **more):
    return from_text(f"/* recipe\n{params}\n*/\n{body}", "r", **more)


def rows(con, sql):
    return con.execute(sql).fetchall()


def test_a_run_changes_shows_and_counts(con):
    made = recipe(
        "-- step: store\ninsert into chat_facts values ({{ s }}, 'a'), ({{ s }}, 'b');\n"
        "update chat_facts set fact_value = 'c' where fact_value = 'b';\n"
        "-- step: show\n-- result: Facts\nselect fact_value from chat_facts order by all;\n",
        "params: {s: {type: text}}",
    )
    seen = []
    result = execute(con, made, {"s": "s1"}, on_progress=lambda *progress: seen.append(progress))
    assert (result.recipe, result.status, result.rows_changed) == ("r", "ok", 3)
    assert [(step.name, step.statements, step.rows) for step in result.steps] == [("store", 2, 3), ("show", 1, 2)]
    assert [(table.title, table.table.to_pylist()) for table in result.tables] == [
        ("Facts", [{"fact_value": "a"}, {"fact_value": "c"}])
    ]
    assert result.started_at <= result.finished_at and result.seconds >= 0
    assert seen == [("store", 0, 3), ("store", 1, 3), ("show", 2, 3), ("show", 3, 3)]


@pytest.mark.parametrize("session_id", NASTY)
def test_f18_session_ids_are_stored_listed_and_forgotten(con, session_id):
    params = "params: {session_id: {type: text}}"
    execute(con, recipe("insert into chat_facts values ({{ session_id }}, 'v')", params), {"session_id": session_id})
    show = recipe("-- result: R\nselect session_id from chat_facts where session_id = {{ session_id }}", params)
    assert execute(con, show, {"session_id": session_id}).tables[0].table.to_pylist() == [{"session_id": session_id}]
    execute(
        con, recipe("delete from chat_facts where session_id = {{ session_id }}", params), {"session_id": session_id}
    )
    assert rows(con, "select * from chat_facts") == []


@pytest.mark.parametrize("text", ["{{ 7*7 }} and {% for x in y %}", "it's 100 % of $content, $1 ? :x", "{# no #}"])
def test_f29_text_is_stored_as_written(con, text):
    made = recipe("insert into chat_facts values ('s', {{ content }});", "params: {content: {type: text}}")
    execute(con, made, {"content": text})
    again = recipe("insert into chat_facts select 's2', fact_value from chat_facts")
    execute(con, again)
    assert rows(con, "select distinct fact_value from chat_facts") == [(text,)]


@pytest.mark.skipif(not FIELD.is_file(), reason=f"{FIELD} is not on this machine")
def test_the_field_cases_are_those_tested_here():
    cases = {case["id"]: case["given"] for case in map(json.loads, FIELD.read_text().splitlines())}
    assert all(session_id in cases["F18"] for session_id in NASTY)
    assert "{{ 7*7 }} and {% for x in y %}" in cases["F29"]


def test_an_error_rolls_everything_back_and_says_where(con):
    made = recipe(
        "-- step: one\ninsert into chat_facts values ('s', 'v');\n\n"
        "-- step: two\n\nselect\n  1,\n  nope\nfrom chat_facts;"
    )
    with pytest.raises(RecipeError, match=r"r, step two, line 11: Binder Error: .*nope.* not found") as caught:
        execute(con, made)
    assert (caught.value.recipe, caught.value.step, caught.value.line) == ("r", "two", 11)
    assert isinstance(caught.value.__cause__, duckdb.BinderException)
    assert "\n" not in str(caught.value)
    assert rows(con, "select count(*) from chat_facts") == [(0,)]
    execute(con, recipe("insert into chat_facts values ('s', 'v')"))


def test_a_late_row_fails_like_an_early_one(con):
    made = recipe(
        "insert into chat_facts values ('s', 'v');\nselect if(i = 150000, error('late'), i) from range(200000) r(i);"
    )
    with pytest.raises(RecipeError, match=r"r, step 2, line 5: .*late"):
        execute(con, made)
    assert rows(con, "select count(*) from chat_facts") == [(0,)]


def test_a_syntax_error_stops_before_anything_runs(con):
    con.execute("create sequence calls")
    with pytest.raises(RecipeError, match="r, step 2, line 7: Parser Error"):
        execute(con, recipe("select nextval('calls');\nselect\n\n 1 from from;"))
    assert rows(con, "select nextval('calls')") == [(1,)]


def test_an_error_in_a_fragment_names_its_line(con, tmp_path):
    (tmp_path / "_part.sql").write_text("select 1,\n  nope")
    made = recipe('-- step: a\n{% include "_part.sql" %}\n', search=[tmp_path])
    with pytest.raises(RecipeError, match=r"r, step a: .*nope.*\(line 2 of _part\.sql\)"):
        execute(con, made)


def test_lines_after_loops_and_conditions(con):
    made = recipe(
        "{% for i in [1, 2, 3] %}\nselect {{ i }};\n{% endfor %}\n"
        "{% if true %}\n{# a\n note #}\nselect nope;\n{% endif %}"
    )
    with pytest.raises(RecipeError, match="r, step 4, line 10: "):
        execute(con, made)


def test_the_callers_transaction_is_joined(con):
    con.execute("begin")
    con.execute("insert into chat_facts values ('mine', 'v')")
    execute(con, recipe("insert into chat_facts values ('s', 'v')"))
    con.execute("rollback")
    assert rows(con, "select count(*) from chat_facts") == [(0,)]
    con.execute("begin")
    with pytest.raises(RecipeError, match="the transaction is yours, ROLLBACK it"):
        execute(con, recipe("insert into chat_facts values ('s', error('x'))"))
    with pytest.raises(RecipeError, match="ROLLBACK it first"):
        execute(con, recipe("select 1"))
    con.execute("rollback")
    assert rows(con, "select status, count(*) from recall_runs group by all order by all") == [("failed", 1), ("ok", 1)]


def test_ctrl_c_rolls_back(con):
    def interrupted(*columns):
        raise KeyboardInterrupt

    con.create_function("STOP", interrupted, None, "VARCHAR", type="arrow", null_handling="special", side_effects=True)
    with pytest.raises(KeyboardInterrupt):
        execute(con, recipe("insert into chat_facts values ('s', 'v');\nselect STOP('x')"))
    assert rows(con, "select count(*) from chat_facts") == [(0,)]
    assert rows(con, "select status, error from recall_runs") == [("failed", "interrupted")]


def test_every_model_call_happens_once(con):
    calls = []

    def counted(*columns):
        calls.extend(columns[0].to_pylist())
        return pa.array(["x"] * len(columns[0]))

    con.create_function("COUNTED", counted, None, "VARCHAR", type="arrow", null_handling="special", side_effects=True)
    made = recipe(
        "-- result: R\nselect COUNTED({{ 'a' }}), COUNTED('b');\ninsert into chat_facts select 's', COUNTED('c');"
    )
    execute(con, made)
    assert sorted(calls) == ["a", "b", "c"]


def test_the_run_is_recorded(con):
    made = recipe(
        "-- step: store\ninsert into chat_facts select {{ run_id }}::text, {{ token }}"
        " where {{ run_started_at }} <= now();",
        "params: {token: {type: text, secret: true}, n: {type: int, default: 1}, l: {type: list, default: [a]}}",
    )
    result = execute(con, made, {"token": "hunter2", "l": ["é"]})
    [(run_id, name, params, status, error, steps, changed, in_order)] = rows(
        con,
        "select run_id, recipe, params, status, error, steps, rows_changed, finished_at >= started_at from recall_runs",
    )
    assert (run_id, name, status, error, changed, in_order) == (result.run_id, "r", "ok", None, 1, True)
    assert json.loads(params) == {"token": "***", "l": ["é"]}
    assert [(step["recipe"], step["step"], step["rows"]) for step in json.loads(steps)] == [("r", "store", 1)]
    assert rows(con, "select session_id, fact_value from chat_facts") == [(str(result.run_id), "hunter2")]


def test_a_failed_run_keeps_its_record(con):
    with pytest.raises(RecipeError):
        execute(con, recipe("insert into chat_facts values ('s', 'v');\nselect nope"))
    [(status, error, changed)] = rows(con, "select status, error, rows_changed from recall_runs")
    assert (status, changed) == ("failed", 0) and "nope" in error


def test_no_record_where_it_cannot_be(con, tmp_path, caplog):
    execute(con, recipe("select 1"), record=False)
    assert rows(con, "select count(*) from recall_runs") == [(0,)]
    con.execute("drop table recall_runs")
    execute(con, recipe("select 1"))
    path = str(tmp_path / "m.db")
    with duckdb.connect(path) as writable:
        writable.execute(RUNS)
    with duckdb.connect(path, read_only=True) as reader:
        execute(reader, recipe("select 1"))
    assert not caplog.records
    con.execute("create table recall_runs (other int)")
    with caplog.at_level(logging.WARNING):
        execute(con, recipe("select 1"))
    assert "is not recorded" in caplog.text


def test_a_recipe_may_clean_the_records(con):
    execute(con, recipe("select 1"))
    result = execute(con, recipe("delete from recall_runs where run_id <> {{ run_id }}"))
    assert rows(con, "select run_id, status from recall_runs") == [(result.run_id, "ok")]


def test_a_run_on_a_file_and_its_second_connection(tmp_path):
    with duckdb.connect(str(tmp_path / "m.db")) as con:
        con.execute(RUNS)
        execute(con, recipe("create table t as select 1 as a;"))
        assert rows(con, "select status, rows_changed from recall_runs") == [("ok", 0)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("begin; select 1; commit", "remove BEGIN"),
        ("select $other", r"\$other has no value; write {{ other }}"),
        ("select ?", "has no value"),
        ("create view v as select {{ 1 }}", "no value can be bound in a view"),
        ("create macro m() as {{ 1 }}", "no value can be bound in a view"),
        ("create table t (a int default {{ 1 }})", "no value can be bound in a view"),
    ],
)
def test_statements_a_recipe_cannot_hold(con, body, message):
    with pytest.raises(RecipeError, match=message):
        execute(con, recipe(body))


def test_bad_values_never_reach_the_database(con):
    with pytest.raises(InputError, match="has no parameter nope"):
        execute(con, recipe("select 1"), {"nope": 1})
    assert rows(con, "select count(*) from recall_runs") == [(0,)]


def test_a_composed_run_is_one_transaction(con, tmp_path):
    (tmp_path / "a.sql").write_text("/* recipe\n*/\n-- step: x\ninsert into chat_facts values ('a', '1');")
    (tmp_path / "b.sql").write_text("/* recipe\n*/\n-- step: x\n\ninsert into chat_facts values ('b', error('no'));")
    both = recipe("-- step: x\nselect 1;", "runs: [a, b]", search=[tmp_path])
    with pytest.raises(RecipeError, match=r"b, step x, line 5: .*no"):
        execute(con, both)
    assert rows(con, "select count(*) from chat_facts") == [(0,)]
    assert rows(con, "select recipe, status from recall_runs") == [("r", "failed")]
    (tmp_path / "b.sql").write_text("/* recipe\n*/\n-- step: x\ninsert into chat_facts values ('b', '2');")
    result = execute(con, both)
    assert [(step.recipe, step.name, step.rows) for step in result.steps] == [
        ("a", "x", 1),
        ("b", "x", 1),
        ("r", "x", 1),
    ]


def test_a_script_shows_every_result(con):
    script = from_text(
        "create table t (v VECTOR(2), s text); insert into t values ([1, 2], '{{ 7*7 }}');\n"
        "insert into t values ([1, 2], 'b') returning s;\nset threads = 2;\n"
        "select s, v from t;\nselect count(*) as Count from t;\n"
        "with a as (select 1) insert into chat_facts from (select 's', 'v');\n"
        "pivot (select s from t) on s using count(*);\nselect 1 where false"
    )
    result = execute(con, script)
    assert [table.table.to_pylist() for table in result.tables] == [
        [{"s": "b"}],
        [{"s": "{{ 7*7 }}", "v": [1.0, 2.0]}, {"s": "b", "v": [1.0, 2.0]}],
        [{"Count": 2}],
        [{"b": 1, "{{ 7*7 }}": 1}],
        [],
    ]
    assert [step.name for step in result.steps] == [str(n) for n in range(1, 10)]


def test_a_script_rolls_back_unless_it_minds_its_own_transactions(con):
    with pytest.raises(RecipeError, match="script, step 2, line 2"):
        execute(con, from_text("insert into chat_facts values ('s', 'v');\nselect nope"))
    assert rows(con, "select count(*) from chat_facts") == [(0,)]
    with pytest.raises(RecipeError, match="script, step 4, line 1"):
        execute(con, from_text("begin; insert into chat_facts values ('s', 'v'); commit; select nope"))
    assert rows(con, "select count(*) from chat_facts") == [(1,)]
    with pytest.raises(RecipeError, match="script, step 3, line 1"):
        execute(con, from_text("begin; insert into chat_facts values ('s', 'v'); select nope; commit"))
    assert rows(con, "select count(*) from chat_facts") == [(1,)]
    with pytest.raises(RecipeError, match="its COMMIT is missing"):
        execute(con, from_text("begin; insert into chat_facts values ('s', 'v')"))
    assert rows(con, "select count(*) from chat_facts") == [(1,)]


def test_a_script_may_attach_and_checkpoint(tmp_path):
    with duckdb.connect(str(tmp_path / "a.db")) as con:
        attach = f"create table t as select 1;\nattach '{tmp_path / 'b.db'}' as b;\n"
        execute(
            con, from_text(attach + "create table b.t as select 2;\ncheckpoint; vacuum; detach b; pragma database_size")
        )
        assert rows(con, "from t") == [(1,)]


def test_files_run_by_path(con, tmp_path):
    (tmp_path / "s.sql").write_text("select 1;\nselect nope")
    with pytest.raises(RecipeError, match="s, step 2, line 2: "):
        execute(con, load(tmp_path / "s.sql"))
    assert execute(con, from_text("-- nothing\n;;")).tables == ()
