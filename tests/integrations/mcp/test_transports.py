"""Real transports: a subprocess on standard input and output, and a port on loopback. By the SDK's own client."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcp.client.stdio import StdioServerParameters

import recall_sql
from recall_sql import Memory
from recall_sql.access import add_key
from recall_sql.cli import cli
from tests.integrations.mcp.talking import Talk, with_key
from tests.processes import ROOT

ENVIRONMENT = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
COMMAND = ["-m", "recall_sql", "mcp"]


def stdio(*args: object) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[*COMMAND, *map(str, args)], env=ENVIRONMENT)


@contextmanager
def served(*args: object) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The command with --http on a free port, until the block ends; its address."""
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", "0", *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **ENVIRONMENT},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield line.partition(" is served at ")[2].partition(". ")[0], process
    finally:
        process.kill()
        process.communicate()


def test_stdio(db: Path) -> None:
    with Talk(stdio("--db", db, "--agent", "a1", "--user", "lina")) as talk:
        talk.call("remember", value="Mochi", category="pet", fact_key="cat")
        assert "cat: Mochi" in talk.call("recall", query="what is my cat called?")
        assert "no argument agent_id" in talk.refused("facts", agent_id="a2")
    with recall_sql.connect(db) as con:  # the process is gone, and the file is free
        assert con.execute("select agent_id, user_id from chat_facts").fetchall() == [("a1", "lina")]


def test_read_only_leaves_the_file_to_others_as_well(db: Path) -> None:
    with recall_sql.connect(db) as con:
        Memory(con, user_id="lina").remember("Mochi", category="pet", fact_key="cat")
    with Talk(stdio("--db", db, "--user", "lina", "--read-only")) as talk:
        assert talk.tools() == ["recall", "search", "facts", "ask", "query"]
        assert talk.call("facts")["facts"][0]["value"] == "Mochi"
        assert "Mochi" in talk.call("recall", query="cat")
        assert talk.call("search", query="cat", of="facts", k=1)["facts"][0]["value"] == "Mochi"
        assert talk.call("query", sql="select count(*) as n from chat_facts")["rows"] == [[1]]
        assert talk.refused("remember", value="x") == "Unknown tool: remember"


def test_http_by_key_and_no_key_is_ever_logged(db: Path) -> None:
    with recall_sql.connect(db) as con:
        keys = {user: add_key(con, agent_id="a1", user_id=user, role="writer")[0] for user in ("lina", "bo")}
    with served("--db", db, "--agent", "a1") as (url, process):
        for mode in ("auto", "legacy"):
            for user, key in keys.items():
                with Talk(with_key(url, key), mode=mode) as talk:
                    talk.call("remember", value=f"of {user}", fact_key=mode)
                    assert {fact["value"] for fact in talk.call("facts")["facts"]} == {f"of {user}"}
                    talk.refused("query", sql="select * from recall_keys")
        for wrong in (None, "recall_00000000_" + "x" * 43, "nonsense"):
            with pytest.raises(BaseExceptionGroup), Talk(with_key(url, wrong)) as talk:
                talk.call("facts")
        process.terminate()
        logged = "".join(process.communicate(timeout=30))
    assert not [key for key in (*keys.values(), "x" * 43, "nonsense") if key in logged]
    assert "Traceback" not in logged


def test_a_port_in_use_and_an_address_for_strangers_are_refused(db: Path) -> None:
    def failed(*args: object) -> str:
        done = CliRunner().invoke(cli, ["mcp", "--db", str(db), "--http", *map(str, args)])
        assert done.exit_code == 1
        return done.stderr

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "in use" in failed("--port", taken.getsockname()[1])
    assert "can't listen" in failed("--port", 99999)
    assert "recall-sql keys add" in failed("--host", "0.0.0.0", "--port", 0)
