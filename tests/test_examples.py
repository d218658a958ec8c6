"""Every file in examples/ runs, offline, with the real models where they are installed."""

from __future__ import annotations

import io
import os
import runpy
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import recall_sql
from tests.llama import llama_server
from tests.processes import ROOT

EXAMPLES = ROOT / "examples"
Run = Callable[[str], str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs an example in an empty directory; what it prints."""
    monkeypatch.chdir(tmp_path)

    def work(name: str) -> str:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capfd.readouterr().out

    return work


def known() -> set[str]:
    """What is believed in the database that an example has left."""
    with closing(recall_sql.connect("memory.duckdb")) as con:
        found = con.execute("select category || '.' || fact_key from chat_facts where user_id = 'me'").fetchall()
    return {name for (name,) in found}


def test_each_is_in_the_table_of_the_readme() -> None:
    readme = (EXAMPLES / "README.md").read_text("utf-8")
    assert [name for name in os.listdir(EXAMPLES) if name.endswith(".py") and f"]({name})" not in readme] == []


def test_plain_loop(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("I'm vegetarian.\n\n"))
    assert run("plain_loop.py").strip()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run("plain_loop.py") == "(I know: dietary vegetarian = true)\n"


def test_async_service(run: Run) -> None:
    printed = run("async_service.py")
    about = dict(part.split("\n", 1) for part in printed.split("--- ")[1:])
    assert "vegetarian" in about["lina"] and "Mochi" in about["bo"] and "Oslo" in about["mia"]
    assert "Mochi" not in about["lina"]


def test_openai_sdk_against_llama_cpps_own_server(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    server = llama_server(context=2048)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.listening_address}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    printed = run("openai_sdk.py")
    assert printed.count("> ") == 2 and "dietary: vegetarian" in printed
    assert known() == {"dietary.vegetarian", "location.home_city"}
    with closing(recall_sql.connect("memory.duckdb")) as con:
        assert (
            con.execute("select role from chat_turns order by position").fetchall() == [("user",), ("assistant",)] * 2
        )


@pytest.mark.parametrize("name", ["langchain_chain.py", "langgraph_agent.py", "llamaindex_chat.py"])
def test_frameworks(name: str, run: Run) -> None:
    printed = run(name)
    assert printed.count("> ") >= 2 and "dietary: vegetarian" in printed
    assert known() == {"dietary.vegetarian", "location.home_city"}


def test_mcp_client(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import mcp.client.stdio

    # the SDK gives the server few variables; a checkout that isn't installed is found by this one
    monkeypatch.setattr(mcp.client.stdio, "DEFAULT_INHERITED_ENV_VARS", ["PATH", "HOME", "PYTHONPATH"])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    printed = run("mcp_client.py")
    assert "dietary: vegetarian" in printed and '["location", "home_city", "Oslo"]' in printed
    assert known() == {"dietary.vegetarian", "location.home_city"}
