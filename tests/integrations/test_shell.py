"""`recall-sql shell`: scripts, dot commands, completion, and the prompt as a terminal drives it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from recall_sql.shell.commands import COMMANDS
from recall_sql.shell.core import Shell, is_complete
from tests.servers import Call, Reply, ScriptedServer, chat


class Screen:
    def __init__(self) -> None:
        self.file, self.told = io.StringIO(), []
        self.shell = Shell(":memory:", Console(file=self.file, width=120), self.told.append)

    def run(self, script: str) -> str:
        self.file.seek(0)
        self.file.truncate()
        self.ok = self.shell.run_script(script.splitlines())
        return self.file.getvalue()


@pytest.fixture
def screen() -> Iterator[Screen]:
    screen = Screen()
    yield screen
    screen.shell.close()


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("select 1;", True),
        ("select 1", False),
        ("select ';'", False),
        ("select ';", False),
        ("select $$;", False),
        ("select 1; -- done", True),
        ("-- only words", True),
        ("select 1 /* ; ", False),
        ("select 'ä';", True),
    ],
)
def test_a_statement_ends_at_its_semicolon(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


def test_statements_over_several_lines_and_boxes(screen: Screen) -> None:
    shown = screen.run("select 1 as a,\n  'x' as b;\nselect NULL as c;\n")
    assert "│" in shown and "integer" in shown and "NULL" in shown and "1 row" in shown


def test_a_script_stops_at_the_first_error_and_tells_it_in_one_line(screen: Screen) -> None:
    shown = screen.run("select 1 as one;\nfrom nope;\nselect 2 as two;")
    assert not screen.ok and "one" in shown and "two" not in shown
    assert len(screen.told) == 1 and "nope" in screen.told[0] and "\n" not in screen.told[0]


def test_recipes_facts_and_modes(screen: Screen) -> None:
    screen.run(".recipe conversation_memory/ingest session_id=s1 'content=I am vegan'\n.recipe conversation_memory/all")
    assert screen.ok
    assert "vegan" in screen.run(".facts category=dietary")
    assert screen.run(".mode csv\nselect fact_key, fact_value from chat_facts;") == "fact_key,fact_value\nvegan,true\n"
    assert screen.run(".mode json\nselect 1 as a;") == '[\n  {\n    "a": 1\n  }\n]\n'
    assert "update" in screen.run(".compile conversation_memory/embed")


def test_settings_schema_timer_maxrows_read_and_open(screen: Screen, tmp_path: Path) -> None:
    assert "ollama:qwen3" in screen.run(".set llm ollama:qwen3\n.settings")
    assert "float[384]" in screen.run(".schema chat_turns").lower()
    assert "chat_facts" in screen.run(".tables")
    shown = screen.run(".timer on\n.maxrows 3\nfrom range(10);")
    assert "10 rows (3 shown" in shown and screen.told[-1].endswith(" s")
    script = tmp_path / "more.sql"
    script.write_text(".mode csv\nselect 7 as n;\n", "utf-8")
    assert screen.run(f".read {script}") == "n\n7\n"
    screen.run(f".open {tmp_path / 'other.duckdb'}\ncreate table here (a int);")
    assert screen.ok and (tmp_path / "other.duckdb").exists()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (".tabels", "did you mean .tables?"),
        (".recipe nope", "there is no recipe nope"),
        (".recipe conversation_memory/context query", "expected name=value"),
        (".mode pretty", "there are box, table, json, csv"),
        (".open /none/x.duckdb", "no directory"),
        (".recipe 'a", "No closing quotation"),
        (".schema", "usage: .schema TABLE"),
    ],
)
def test_bad_commands(screen: Screen, line: str, told: str) -> None:
    screen.run(line)
    assert not screen.ok and told in screen.told[0]


def test_every_command_is_in_the_help_and_in_the_docs(screen: Screen) -> None:
    docs = (Path(__file__).parents[2] / "docs" / "shell.md").read_text("utf-8").replace("\\|", "|")
    shown = screen.run(".help")
    for command in COMMANDS.values():
        assert command.usage in shown and f"`{command.usage}`" in docs


def test_completion(screen: Screen) -> None:
    pytest.importorskip("prompt_toolkit", reason="the extra `shell` isn't installed")
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from recall_sql.shell.completion import ShellCompleter

    completer = ShellCompleter(screen.shell)

    def offered(text: str) -> set[str]:
        return {found.text for found in completer.get_completions(Document(text), CompleteEvent())}

    assert "chat_facts" in offered("select * from chat_fa") and "fact_key" in offered("select fact_k")
    assert "vector_search" in offered("from vector_s") and "embed" in offered("select emb")
    assert "conversation_memory/context" in offered(".recipe conv") and "session_id=" in offered(
        ".recipe conversation_memory/context ses"
    )
    assert offered(".mo") == {".mode"} and offered(".mode c") == {"csv"} and "chat_turns" in offered(".schema chat")


def test_the_prompt_runs_what_is_typed(screen: Screen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("prompt_toolkit", reason="the extra `shell` isn't installed")
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    from recall_sql.shell.prompt import interact

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    with create_pipe_input() as typed:
        typed.send_text("select 41\r+ 1 as answer;\r.quit\r")
        interact(screen.shell, input=typed, output=DummyOutput())
    assert "42" in screen.file.getvalue() and "+ 1 as answer;" in (tmp_path / ".recall_sql_history").read_text("utf-8")


def command(*arguments: str) -> tuple[list[str], dict[str, str]]:
    path = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return [sys.executable, "-m", "recall_sql", "shell", *arguments], {**os.environ, "PYTHONPATH": path}


def test_the_command_reads_a_script_from_standard_input(tmp_path: Path) -> None:
    line, environment = command("--db", str(tmp_path / "m.duckdb"))
    script = ".mode csv\nselect len(embed('hi')) as n;\n"
    done = subprocess.run(line, input=script, capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "n\n384\n", "")
    done = subprocess.run(line, input="from nope;", capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 1 and done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to another process")
def test_ctrl_c_stops_a_model_call(tmp_path: Path) -> None:
    def slow(call: Call) -> Reply:
        return chat("late", delay=20)

    line, environment = command("--db", str(tmp_path / "m.duckdb"))
    with ScriptedServer(slow) as server:
        environment["RECALL_LLM"] = server.model()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(line, text=True, env=environment, **pipes) as process:
            process.stdin.write("select generate('hello');\n")
            process.stdin.close()
            while not server.calls:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            assert process.wait(15) == 1
            assert "Interrupted" in process.stderr.read()
