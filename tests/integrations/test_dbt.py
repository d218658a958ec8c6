"""recipes/dbt, really run by dbt: builds, rebuilds, new messages, a model that fails, a profile without the plugin."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

pytest.importorskip("dbt.adapters.duckdb", reason="the extra `dbt` isn't installed (make test-dbt installs it)")

from dbt.adapters.duckdb.connections import DuckDBConnectionManager
from dbt.cli.main import dbtRunner, dbtRunnerResult

from recall_sql.resources import recipes_dir
from tests.servers import Call, Reply, ScriptedServer, chat, error

NEW_MESSAGE = {
    "message_id": "m9",
    "agent_id": "mover",
    "user_id": "tom",
    "session_id": "move",
    "created_at": "2026-05-05T09:00:00+00:00",
    "role": "user",
    "content": "I moved to York.",
}


def invoke(*arguments: str) -> dbtRunnerResult:
    """dbt as its command line runs it; as when a process ends, the database is closed after it."""
    result = dbtRunner().invoke(list(arguments))
    if DuckDBConnectionManager._ENV is not None:
        DuckDBConnectionManager.env().close()
    DuckDBConnectionManager.close_all_connections()
    return result


class Project:
    """A copy of recipes/dbt in which dbt runs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.database = folder, folder / "memory.duckdb"

    def dbt(self, *arguments: str) -> dict[str, str]:
        """Runs a dbt command; gives the status of every node by its name, and under '' the message of an exception."""
        result = invoke(*arguments, "--project-dir", str(self.folder), "--profiles-dir", str(self.folder))
        nodes = result.result.results if result.result is not None and hasattr(result.result, "results") else []
        statuses = {node.node.name: str(node.status) for node in nodes}
        self.messages = " ".join([str(node.message) for node in nodes] + [str(result.exception)])
        return statuses

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.database)) as con:
            return con.execute(query).fetchall()

    def beliefs(self) -> set[tuple[str, str, str]]:
        return set(self.sql("select user_id, fact_key, fact_value from beliefs.facts"))

    def say(self, message: dict[str, str]) -> None:
        with (self.folder / "data" / "messages.jsonl").open("a", encoding="utf-8") as messages:
            messages.write(json.dumps(message) + "\n")


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with dbt's parse of it, so that each test needn't parse again."""
    folder = tmp_path_factory.mktemp("dbt") / "project"
    shutil.copytree(recipes_dir() / "dbt", folder)
    return folder


@pytest.fixture
def project(parsed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.chdir(parsed)
    for name in ("RECALL_EXTRACTOR", "RECALL_LLM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RECALL_DB", str(parsed / "memory.duckdb"))
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    for left in parsed.glob("memory.duckdb*"):
        left.unlink()
    shutil.copy(recipes_dir() / "dbt" / "data" / "messages.jsonl", parsed / "data" / "messages.jsonl")
    yield Project(parsed)


def good(statuses: dict[str, str]) -> bool:
    return bool(statuses) and set(statuses.values()) <= {"success", "pass"}


def test_build_twice_then_a_new_message_then_full_refresh(project: Project) -> None:
    assert good(project.dbt("build", "--threads", "4")), project.messages
    first = project.beliefs()
    assert {("ines", "pescatarian", "true"), ("tom", "max_usd", "1100"), ("tom", "home_city", "Leeds")} <= first
    assert not {key for user, key, _ in first if user == "ines" and key == "vegetarian"}
    counts = (
        "select (select count(*) from beliefs.facts__events), (select count(*) from beliefs.raw_facts),"
        " max(updated_at) from beliefs.facts"
    )
    before, calls = project.sql(counts), project.sql("select count(*) from recall_calls")

    assert good(project.dbt("build", "--threads", "4")), project.messages
    assert project.sql(counts) == before and project.sql("select count(*) from recall_calls") == calls

    project.say(NEW_MESSAGE)
    assert good(project.dbt("build")), project.messages
    assert project.beliefs() == first - {("tom", "home_city", "Leeds")} | {("tom", "home_city", "York")}
    assert project.sql("select dbt_valid_to is null from beliefs.belief_snapshot where fact_value = 'Leeds'") == [
        (False,)
    ]
    ids = set(project.sql("select turn_id from beliefs.turns"))

    assert good(project.dbt("build", "--full-refresh")), project.messages
    assert project.beliefs() == first - {("tom", "home_city", "Leeds")} | {("tom", "home_city", "York")}
    assert set(project.sql("select turn_id from beliefs.turns")) == ids


def test_the_data_tests_catch_what_they_are_for(project: Project) -> None:
    assert good(project.dbt("run")), project.messages
    project.sql("update beliefs.facts set user_id = 'tom' where fact_key = 'pescatarian'")
    project.sql("insert into beliefs.facts select * from beliefs.facts where fact_key = 'max_usd'")
    statuses = project.dbt("test")
    failed = {name for name, status in statuses.items() if status == "fail"}
    assert {"no_foreign_user", "one_belief_per_key", "one_belief_per_slot"} <= failed


def test_a_failing_model_changes_nothing_and_retry_pays_only_for_what_is_missing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = True

    def script(call: Call) -> Reply:
        if broken and "make the budget" in call.prompt:
            return error(400)
        return chat('{"facts": []}')

    with ScriptedServer(script) as server:
        monkeypatch.setenv("RECALL_EXTRACTOR", server.model())
        statuses = project.dbt("build")
        assert (statuses["turns"], statuses["raw_facts"], statuses["facts"]) == ("success", "error", "skipped")
        assert "EXTRACT_FACTS" in project.messages
        broken = False
        statuses = project.dbt("retry")
        assert good(statuses) and "turns" not in statuses and "facts" in statuses, project.messages
        users_turns = project.sql("select count(*) from beliefs.turns where role = 'user'")
        assert project.sql("select count(*) from beliefs.raw_facts") == users_turns
        assert len(server.calls) == users_turns[0][0] + 1  # the one that failed was asked twice, no other was


def test_a_profile_without_the_plugin_is_told_what_to_add(project: Project, tmp_path: Path) -> None:
    profile = (project.folder / "profiles.yml").read_text("utf-8")
    (tmp_path / "profiles.yml").write_text(profile.split("      plugins:")[0], "utf-8")
    result = invoke("run", "--project-dir", str(project.folder), "--profiles-dir", str(tmp_path))
    told = str(result.exception) + " ".join(str(node.message) for node in getattr(result.result, "results", []))
    assert not result.success and "- module: recall_sql.integrations.dbt" in told and "'dev'" in told


def test_docs_describe_every_model(project: Project) -> None:
    result = invoke("parse", "--project-dir", str(project.folder), "--profiles-dir", str(project.folder))
    models = [node for node in result.result.nodes.values() if node.resource_type.value == "model"]
    assert len(models) == 6 and all(model.description for model in models)
