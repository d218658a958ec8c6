"""The reference is what the code says, and no function, macro, table, setting, recipe or option is undocumented."""

from __future__ import annotations

import re
from pathlib import Path

import click
import duckdb
import pytest

from recall_sql.cli import cli
from recall_sql.functions.catalog import all_functions
from recall_sql.integrations import recipe_functions
from recall_sql.runner import catalogue
from recall_sql.runner.checks import checks
from recall_sql.settings import Values
from tests.docs import reference

DOCS = Path(__file__).parents[2] / "docs"
README = DOCS.parent / "README.md"


@pytest.fixture(scope="module")
def pages() -> str:
    return "\n".join(page.read_text("utf-8") for page in [README, *sorted(DOCS.glob("*.md"))])


def test_the_reference_is_current() -> None:
    assert reference.PAGE.read_text("utf-8") == reference.current(), "run: python -m tests.docs.reference"


def test_everything_sql_can_name_is_documented(con: duckdb.DuckDBPyConnection, pages: str) -> None:
    recipe_functions.install(con)
    names = (
        {function.name for function in all_functions()} | set(reference.macros(con)) | {"recall_run", "recall_compile"}
    )
    names |= {name for name, _ in reference.tables(con)} | set(Values.model_fields)
    names |= {recipe.name for recipe in [*catalogue(), *checks()]}
    text = pages.lower()
    assert not sorted(name for name in names if not re.search(rf"\b{re.escape(name)}\b", text))


def test_every_table_and_column_has_a_comment(con: duckdb.DuckDBPyConnection) -> None:
    without = con.execute(
        "select table_name, column_name from duckdb_columns()"
        " where database_name = current_database() and comment is null"
    ).fetchall()
    assert not without and all(comment for _, comment in reference.tables(con))


def test_every_command_and_option_is_documented(pages: str) -> None:
    missing = []
    for name, command in cli.commands.items():
        options = [
            option
            for param in command.params
            if isinstance(param, click.Option) and not param.hidden
            for option in param.opts
        ]
        missing += [f"{name} {option}" for option in options if option.startswith("--") and option not in pages]
        missing += [name] if f"recall-sql {name}" not in pages else []
    assert not missing


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in [README, *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert not broken
