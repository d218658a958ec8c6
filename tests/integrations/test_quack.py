"""A stock DuckDB shell (the wheel duckdb-cli) against a memory that is served, in processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

import recall_sql
from recall_sql import extensions
from recall_sql.errors import ConfigError, InputError
from recall_sql.integrations import quack

SHELL = Path(sys.executable).parent / ("duckdb.exe" if os.name == "nt" else "duckdb")
needs_extensions = pytest.mark.skipif(
    not all(extensions.extension_file(name) for name in quack.EXTENSIONS),
    reason=f"no wheels duckdb-extension-quack and -httpfs for DuckDB {duckdb.__version__} (the extra `serve`)",
)
needs_shell = pytest.mark.skipif(not SHELL.exists(), reason="the wheel duckdb-cli isn't installed (the extra `serve`)")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def shell_command(*options: str) -> list[str]:
    return [str(SHELL), "-batch", "-json", *options]


def shell(sql: str, *options: str, home: Path) -> tuple[list[object], str]:
    """(result of each statement, what went wrong) of SQL that is piped into a DuckDB shell."""
    done = subprocess.run(
        shell_command(*options),
        input=sql,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "HOME": str(home)},
    )
    results = [json.loads(found) for found in re.findall(r"^\[.*?\]$", done.stdout, re.MULTILINE | re.DOTALL)]
    return results, done.stderr


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[quack.Server]:
    folder = tmp_path_factory.mktemp("served")
    with quack.serve(folder / "memory.duckdb", port=free_port(), token="it's a secret") as server:
        (folder / "recall.sql").write_text(server.init_sql(), "utf-8")
        yield server


@pytest.fixture
def home(server: quack.Server) -> Path:
    return Path(server.database).parent


@needs_extensions
@needs_shell
def test_one_off_form_runs_on_the_server(server: quack.Server, home: Path) -> None:
    load = "\n".join(quack.load_statements())
    results, errors = shell(f"{load}\n{server.one_off('''select len(embed('it''s')) as n''')}", "-no-init", home=home)
    assert (results, errors) == ([[{"n": 384}]], "")


@needs_extensions
@needs_shell
def test_init_file_gives_recipes_search_and_facts(server: quack.Server, home: Path) -> None:
    statements = """
        from recipe('conversation_memory/ingest', {content: 'I''m vegan, I don''t like {ferries}', session_id: 's1'});
        from recipe('conversation_memory/all');
        select category, fact_key from facts() where category = 'dietary';
        select content from search('what I don''t eat', k := 1);
        from recall('select count(*) as n from chat_turns');
    """
    results, errors = shell(statements, "-init", str(home / "recall.sql"), home=home)
    assert "Error" not in errors
    assert results[2:] == [
        [{"category": "dietary", "fact_key": "vegan"}],
        [{"content": "I'm vegan, I don't like {ferries}"}],
        [{"n": 1}],
    ]


@needs_extensions
@needs_shell
def test_wrong_token_and_unknown_recipe(server: quack.Server, home: Path) -> None:
    load = "\n".join(quack.load_statements())
    query = f"from quack_query('{server.uri}', 'select 1', token := 'wrong');"
    assert "Authentication failed" in shell(f"{load}\n{query}", "-no-init", home=home)[1]
    results, errors = shell("from recipe('conversation_memory/al');", "-init", str(home / "recall.sql"), home=home)
    assert results == [] and "did you mean conversation_memory/all?" in errors


@needs_extensions
@needs_shell
def test_two_shells_at_once(server: quack.Server, home: Path) -> None:
    waiting = "from recall('select count(*) as n from range(50000000) as t(i) where sin(i) > 2');"
    saying = [f"from recall('select len(embed(''text {number}'')) + {number} as n');" for number in range(2)]
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(shell, waiting + said, "-init", str(home / "recall.sql"), home=home) for said in saying]
    assert [run.result()[0] for run in runs] == [[[{"n": 0}], [{"n": 384}]], [[{"n": 0}], [{"n": 385}]]]


@needs_extensions
@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to another process")
def test_the_command_serves_until_ctrl_c_and_again(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "recall_sql", "serve", "--db", "m.duckdb", "--port", str(free_port())]
    command += ["--token", "abcd", "--init", "recall.sql"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    for _ in range(2):
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment) as process:
            while (line := process.stdout.readline()) and "duckdb -init recall.sql" not in line:
                pass
            if SHELL.exists():
                statement = "from recall('select len(embed(''hi'')) as n');"
                assert shell(statement, "-init", str(tmp_path / "recall.sql"), home=tmp_path)[0] == [[{"n": 384}]]
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
    assert (tmp_path / "recall.sql").stat().st_mode & 0o077 == 0
    recall_sql.connect(tmp_path / "m.duckdb").close()


@needs_extensions
def test_a_port_in_use_and_a_short_token(server: quack.Server, tmp_path: Path) -> None:
    port = int(server.uri.rpartition(":")[2])
    with pytest.raises(ConfigError, match=f"port {port} is in use"), quack.serve(tmp_path / "x.duckdb", port=port):
        pass
    with pytest.raises(InputError, match="3 characters; it must have at least 4"), quack.serve(":memory:", token="abc"):
        pass
    with pytest.raises(InputError, match="65535"), quack.serve(":memory:", port=70000):
        pass
    assert not (tmp_path / "x.duckdb").exists()
