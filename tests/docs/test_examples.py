"""The examples in the README and in docs/ are run, page by page, from top to bottom.

python and sql blocks share one namespace and one connection (`con`). Of sh blocks, lines that begin with `recall-sql`
are run. A csv block behind a sql block is what it must print. `<!-- not run -->` above a block leaves it out.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from rich.console import Console

import recall_sql
from recall_sql.cli import cli
from recall_sql.resources import recipes_dir
from recall_sql.runner import execute, from_text, render_tables

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"(?P<skip><!-- not run -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
# they don't end by themselves; they have tests of their own
SERVERS = ("recall-sql serve", "recall-sql shell", "recall-sql mcp")


class Reader:
    """Follows a page as a person would."""

    def __init__(self) -> None:
        page = ModuleType("page")  # a module, since SQLAlchemy looks annotations up in theirs
        sys.modules[page.__name__] = page
        self.names: dict[str, Any] = page.__dict__
        self.printed = ""

    def python(self, text: str) -> None:
        exec(compile(text, "docs", "exec"), self.names)

    def sql(self, text: str) -> None:
        con = self.names.get("con")
        if not isinstance(con, duckdb.DuckDBPyConnection):
            con = self.names["con"] = recall_sql.connect("memory.duckdb")
        out = io.StringIO()
        render_tables(execute(con, from_text(text, "docs"), record=False), "csv", Console(file=out, width=200))
        self.printed = out.getvalue()

    def csv(self, text: str) -> None:
        assert self.printed == text

    def sh(self, text: str) -> None:
        self.let_go()
        for line in text.replace("\\\n", " ").splitlines():
            if line.startswith("recall-sql ") and not line.startswith(SERVERS):
                result = CliRunner().invoke(cli, shlex.split(line, comments=True)[1:])
                assert result.exit_code == 0, (line, result.output, result.stderr)

    def let_go(self) -> None:
        """Closes what the page has opened, so that a command can open the file."""
        for value in list(self.names.values()):
            if isinstance(value, duckdb.DuckDBPyConnection):
                value.close()
            elif hasattr(value, "dispose"):
                value.dispose()
        self.names.pop("con", None)


@pytest.mark.parametrize(
    "page", ["README.md", "docs/tutorial.md", "docs/sqlalchemy.md", "docs/mcp.md", "docs/python.md", "docs/http.md"]
)
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "sqlalchemy" in page:
        pytest.importorskip("duckdb_engine", reason="the extra `sqlalchemy` isn't installed")
        import_module("recall_sql.integrations.sqlalchemy")  # a checkout that isn't installed has no entry points
    if "mcp" in page:
        pytest.importorskip("mcp", reason="the extra `mcp` isn't installed")
    if "python" in page:
        pytest.importorskip("langchain_core", reason="the extra `langchain` isn't installed")
        pytest.importorskip("llama_index.core", reason="the extra `llamaindex` isn't installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    lines = (recipes_dir() / "conversation_memory" / "example.jsonl").read_text("utf-8")
    Path("chat.jsonl").write_text(
        lines.replace('"user_id": "marta", "session_id": "scotland"', '"session_id": "trip"'), "utf-8"
    )
    shutil.copytree(ROOT / "recipes", "recipes")
    reader = Reader()
    for block in BLOCK.finditer((ROOT / page).read_text("utf-8")):
        run = getattr(reader, block["kind"], None)
        if run is not None and not block["skip"]:
            run(block["text"])
    reader.let_go()
    assert os.getcwd() == str(tmp_path)
