"""Batches: order, threads, failures, what is left behind; selections, cycles, checks, and the commands."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

import recall_sql
from recall_sql.cli import cli
from recall_sql.errors import InputError, RecipeError
from recall_sql.runner import Recipe, catalogue, from_text, load
from recall_sql.runner.batch import Batch, run_batch
from recall_sql.runner.checks import checks, run_check
from recall_sql.runner.graph import Graph, as_mermaid


def recipe(name: str, sql: str = "", **front: object) -> Recipe:
    head = "\n".join(f"{key}: {json.dumps(value)}" for key, value in front.items())
    return from_text(f"/* recipe\nname: {name}\n{head}\n*/\n-- step: do\n{sql}", name)


def names(recipes: list[Recipe]) -> list[str]:
    return [one.name for one in recipes]


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    con = recall_sql.connect()
    yield con
    con.close()


# --- order and selections ---------------------------------------------------------------------------------------------


@pytest.fixture
def diamond() -> Graph:
    return Graph.of(
        [
            recipe("x/d", after=["x/b", "x/c"]),
            recipe("x/c", after=["x/a"], tags=["blue"]),
            recipe("x/b", after=["x/a"], tags=["blue", "red"]),
            recipe("x/a"),
            recipe("y/alone"),
        ]
    )


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["x/d"], ["x/d"]),
        (["+x/d"], ["x/a", "x/b", "x/c", "x/d"]),
        (["x/a+"], ["x/a", "x/b", "x/c", "x/d"]),
        (["+x/b"], ["x/a", "x/b"]),
        (["tag:blue"], ["x/b", "x/c"]),
        (["tag:red+"], ["x/b", "x/d"]),
        (["tag:x"], ["x/a", "x/b", "x/c", "x/d"]),
        (["y/*", "x/a"], ["x/a", "y/alone"]),
    ],
)
def test_selections(diamond: Graph, words: list[str], meant: list[str]) -> None:
    chosen = names(diamond.select(words))
    assert sorted(chosen) == meant
    for name in chosen:
        assert all(chosen.index(other) < chosen.index(name) for other in diamond.before[name] if other in chosen)


def test_a_selection_that_selects_nothing(diamond: Graph) -> None:
    with pytest.raises(InputError, match=r"--select x/aa selects nothing; did you mean x/a\?"):
        diamond.select(["x/aa"])
    with pytest.raises(InputError, match="there are the tags blue, red, x, y"):
        diamond.select(["tag:green"])


def test_a_cycle_is_shown() -> None:
    with pytest.raises(RecipeError, match="they wait for each other: a → c → b → a"):
        Graph.of([recipe("a", after=["c"]), recipe("b", after=["a"]), recipe("c", after=["b"])])
    with pytest.raises(RecipeError, match=r"after: there is no recipe aa; did you mean a\?"):
        Graph.of([recipe("a"), recipe("b", after=["aa"])])


def test_parts_come_in_the_order_of_the_recipe_that_runs_them_and_run_once() -> None:
    graph = Graph.of(
        [recipe("land"), recipe("embed"), recipe("extract"), recipe("all", runs=["embed", "extract", "land"])]
    )
    assert names(graph.select(["+land"])) == ["embed", "extract", "land"]
    assert names(graph.select(["*"])) == ["all"]
    assert "r0 -.-> r1" in as_mermaid(graph, [graph.recipes["all"], graph.recipes["embed"]])


def test_models_of_the_dbt_project_are_no_recipes() -> None:
    with pytest.raises(InputError) as told:
        load("nothing/like/it")
    assert "dbt/" not in str(told.value) and not any(one.name.startswith("dbt/") for one in catalogue())


def test_the_shipped_recipes_have_an_order() -> None:
    graph = Graph.of(catalogue())
    chosen = names(graph.select(["+conversation_memory/land"]))
    steps = [f"conversation_memory/{step}" for step in ("embed", "extract", "land")]
    assert [name for name in chosen if name in steps] == steps
    assert names(graph.select(["tag:nightly"])) == ["maintenance/nightly"]


# --- running ----------------------------------------------------------------------------------------------------------


def batch(*recipes: Recipe, **how: object) -> Batch:
    graph = Graph.of(recipes)
    return Batch(graph.select(["*"]), graph, **how)


def test_a_failure_skips_what_comes_after_it_and_nothing_else(con: duckdb.DuckDBPyConnection) -> None:
    recipes = [
        recipe("a", "create table a as select 1 as n;"),
        recipe("bad", "create table bad as select 1 as n; select error('on purpose');", after=["a"]),
        recipe("after_bad", "create table after_bad as select 1 as n;", after=["bad"]),
        recipe("after_that", "create table after_that as select 1 as n;", after=["after_bad"]),
        recipe("other", "create table other as select 1 as n;", after=["a"]),
    ]
    outcomes = {one.recipe: one for one in run_batch(con, batch(*recipes))}
    assert {name: one.status for name, one in outcomes.items()} == {
        "a": "ok", "bad": "failed", "other": "ok", "after_bad": "skipped", "after_that": "skipped",
    }  # fmt: skip
    assert "on purpose" in outcomes["bad"].reason and outcomes["after_bad"].reason == "bad failed"
    made = con.execute("select table_name from duckdb_tables() where table_name in ('a', 'bad', 'other')").fetchall()
    assert sorted(made) == [("a",), ("other",)]


def test_fail_fast_begins_nothing_more(con: duckdb.DuckDBPyConnection) -> None:
    recipes = [recipe("a", "select error('x');"), recipe("b", "create table b as select 1 as n;")]
    assert [one.status for one in run_batch(con, batch(*recipes, fail_fast=True))] == ["failed", "skipped"]
    assert [one.status for one in run_batch(con, batch(*recipes))] == ["failed", "ok"]


def test_threads_run_independent_recipes_at_once(con: duckdb.DuckDBPyConnection) -> None:
    meeting = threading.Barrier(3, timeout=30)
    con.create_function("meet", lambda number: meeting.wait() * 0 + number, ["bigint"], "bigint", side_effects=True)
    recipes = [recipe(name, f"create table {name} as select meet(1) as n;") for name in ("a", "b", "c")]
    last = recipe("last", "create table last as select count(*) as n from a, b, c;", after=["a", "b", "c"])
    outcomes = run_batch(con, batch(*recipes, last, threads=3))
    assert [one.status for one in outcomes] == ["ok"] * 4
    assert con.execute("from last").fetchall() == [(1,)]


def test_values_go_to_the_recipes_that_take_them(con: duckdb.DuckDBPyConnection) -> None:
    takes = recipe("takes", "create table t as select {{ n }} as n;", params={"n": {"type": "int"}})
    refreshed = recipe(
        "fresh", "create table f as select {{ full_refresh }} as f;", params={"full_refresh": {"type": "bool"}}
    )
    todo = batch(takes, refreshed, values={"n": "7"}, full_refresh=True)
    todo.check()
    run_batch(con, todo)
    assert con.execute("from t, f").fetchall() == [(7, True)]
    with pytest.raises(InputError, match="no selected recipe has a parameter m; they have n"):
        batch(takes, values={"m": "1"}).check()
    with pytest.raises(InputError, match="full_refresh"):
        batch(takes, values={"n": "1"}, full_refresh=True).check()


# --- checks -----------------------------------------------------------------------------------------------------------


def test_checks_find_what_is_wrong_and_change_nothing(con: duckdb.DuckDBPyConnection) -> None:
    recall_sql.run(
        con, "conversation_memory/ingest", content="I'm vegan and I live in Oslo.", user_id="ada", session_id="s1"
    )
    recall_sql.run(con, "conversation_memory/all")
    shipped = {check.name.rpartition("/")[2]: check for check in checks()}
    assert all(run_check(con, check, {}).passed for check in shipped.values())
    con.execute("update chat_facts set user_id = 'bob' where fact_key = 'home_city'")
    con.execute("create table doubled as from chat_facts union all from chat_facts")
    con.execute("update chat_facts set embedding = null where fact_key = 'vegan'")
    con.execute("delete from chat_fact_payloads")
    failed = {name for name, check in shipped.items() if not run_check(con, check, {}).passed}
    assert failed == {"no_foreign_user", "facts_are_sound", "nothing_is_lost"}
    failed = {name for name, check in shipped.items() if not run_check(con, check, {"facts": "doubled"}).passed}
    assert {"one_belief_per_slot", "one_belief_per_key"} <= failed


def test_unlearning_comes_to_the_same_beliefs(con: duckdb.DuckDBPyConnection) -> None:
    for text in ("I'm vegan.", "I eat fish now.", "I live in Oslo."):
        recall_sql.run(con, "conversation_memory/ingest", content=text, session_id="s1")
    recall_sql.run(con, "maintenance/nightly")
    believed = "select category, fact_key, fact_value from chat_facts order by all"
    before = con.execute(believed).fetchall()
    recall_sql.run(con, "maintenance/nightly", full_refresh=True)
    assert con.execute(believed).fetchall() == before and len(before) == 2
    assert all(run_check(con, check, {}).passed for check in checks())


# --- the commands -----------------------------------------------------------------------------------------------------


def command(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, front, sql in (
        (
            "one",
            "tags: [mine]\nparams:\n  n: {type: int, default: 1}",
            "create or replace table one as select {{ n }} as n;",
        ),
        ("two", "tags: [mine]\nafter: [mine/one]", "select error('two is broken') from one where n = 2;"),
    ):
        path = tmp_path / "my" / "mine" / f"{name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"/* recipe\nname: mine/{name}\n{front}\n*/\n-- step: do\n{sql}\n", "utf-8")
    check = tmp_path / "my" / "mine" / "_checks" / "one_is_one.sql"
    check.parent.mkdir()
    check.write_text(
        "/* recipe\nname: mine/one_is_one\ndescription: It is.\n*/\n-- result: Bad\nfrom one where n <> 1;\n", "utf-8"
    )
    return tmp_path


def test_the_command_leaves_compiled_sql_and_results(project: Path) -> None:
    (project / "vars.yml").write_text("n: 1\n", "utf-8")
    options = ["run", "--recipes", "my", "--select", "tag:mine", "--vars", "vars.yml", "--threads", "2"]
    done = command(*options)
    assert done.exit_code == 0, done.stderr
    assert "select 1 as n" in (project / "target" / "compiled" / "mine" / "one.sql").read_text("utf-8")
    document = json.loads((project / "target" / "run_results.json").read_text("utf-8"))
    assert [(row["recipe"], row["status"]) for row in document["results"]] == [("mine/one", "ok"), ("mine/two", "ok")]
    done = command(*options, "--var", "n=2", "--log-format", "json")
    assert done.exit_code == 1
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert lines[-1]["event"] == "ended" and lines[-1]["failed"] == 1
    assert any(line["event"] == "finished" and "two is broken" in (line["reason"] or "") for line in lines)


def test_the_command_test_fails_with_rows_and_with_exit_code_1(project: Path) -> None:
    assert command("run", "--recipes", "my", "--select", "mine/one").exit_code == 0
    done = command("test", "--recipes", "my")
    assert done.exit_code == 0 and "pass   mine/one_is_one" in done.stdout and "one_belief_per_slot" in done.stdout
    assert command("run", "--recipes", "my", "--select", "mine/one", "--var", "n=3").exit_code == 0
    done = command("test", "--recipes", "my", "--select", "mine/*")
    assert done.exit_code == 1 and "FAIL   mine/one_is_one  1 row: It is." in done.stdout
    told = json.loads(command("test", "--recipes", "my", "--select", "mine/*", "--format", "json").stdout)
    assert told == [{"check": "mine/one_is_one", "passed": False, "error": None, "rows": [{"n": 3}]}]


def test_called_wrongly_is_exit_code_2_and_nothing_is_made(project: Path) -> None:
    for arguments, told in (
        (["run"], "Missing argument 'RECIPE', or --select"),
        (["run", "a", "--select", "b"], "don't go together"),
        (["run", "--recipes", "my", "--select", "tag:min"], "selects nothing"),
        (["run", "--recipes", "my", "--select", "mine/one", "--var", "m=1"], "no selected recipe has a parameter m"),
        (["run", "--recipes", "my", "--select", "mine/one", "--full-refresh"], "full_refresh"),
        (["run", "--recipes", "my", "--select", "mine/one", "--threads", "0"], "at least 1"),
    ):
        done = command(*arguments)
        assert done.exit_code == 2 and told in done.stderr, (arguments, done.stderr)
    (project / "my" / "mine" / "one.sql").write_text(
        "/* recipe\nname: mine/one\nafter: [mine/two]\n*/\nselect 1;", "utf-8"
    )
    done = command("graph", "--recipes", "my")
    assert done.exit_code == 2 and "they wait for each other" in done.stderr
    assert not (project / "memory.duckdb").exists()


def test_the_graph_as_text_mermaid_and_json(project: Path) -> None:
    assert "mine/two  after mine/one" in command("graph", "--recipes", "my").stdout
    assert command("graph", "--recipes", "my", "--select", "tag:mine", "--format", "mermaid").stdout.startswith(
        "flowchart"
    )
    told = json.loads(command("graph", "--recipes", "my", "--select", "mine/two", "--format", "json").stdout)
    assert told == {"mine/two": {"after": ["mine/one"], "runs": [], "tags": ["mine"]}}
