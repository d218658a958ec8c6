"""Writes docs/reference.md from the code itself: `python -m tests.docs.reference`.

Functions come from their catalog, macros and their comments from sql/library, tables and columns from the comments in a
new database, settings from their class, recipes from their front matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb

import recall_sql
from recall_sql.functions.catalog import all_functions
from recall_sql.resources import sql_dir
from recall_sql.runner import Param, Recipe, catalogue
from recall_sql.runner.checks import checks
from recall_sql.session import LIBRARY
from recall_sql.settings import Values

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"
_MACRO = re.compile(
    r"(?P<comment>(?:^--[^\n]*\n)*)^create or replace macro recall_sql\.main\.(?P<name>\w+)\((?P<args>.*?)\) as",
    re.MULTILINE | re.DOTALL,
)


def current() -> str:
    """The page as it should be."""
    con = recall_sql.connect()
    try:
        parts = [*_head(), *_functions(), *_macros(con), *_tables(con), *_settings(), *_recipes()]
    finally:
        con.close()
    return "\n".join(parts) + "\n"


def macros(con: duckdb.DuckDBPyConnection) -> list[str]:
    """The names of the macros that people may call."""
    rows = con.execute(
        "select distinct function_name from duckdb_functions() where database_name = ? and not internal"
        " and not starts_with(function_name, '_') order by 1",
        [LIBRARY],
    ).fetchall()
    return [name for (name,) in rows]


def tables(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str | None]]:
    """Name and comment of the tables that a new database has."""
    return con.execute(
        "select table_name, comment from duckdb_tables() where database_name = current_database() order by 1"
    ).fetchall()


def _head() -> Iterator[str]:
    yield "# Reference"
    yield ""
    yield "Written by `python -m tests.docs.reference` from the code itself; a test fails when it is out of date."
    yield ""
    yield "[Functions](#functions) · [Macros](#macros) · [Tables](#tables) · [Settings](#settings) ·"
    yield "[Recipes](#recipes) · [Checks](#checks). The command line is in [cli.md](cli.md)."


def _functions() -> Iterator[str]:
    yield "\n## Functions\n"
    yield "| call | gives | |\n|---|---|---|"
    for function in all_functions():
        returns = function.returns.format(dimension=384)
        yield _row(f"`{function.usage}`", f"`{returns}`", function.description)
    more = "serve.md#recall_run-recall_compile-run_recipe"
    yield f"\nThree more exist in dbt and while `recall-sql serve` runs: see [serve.md]({more})."


def _macros(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    yield "\n## Macros\n"
    yield f"They live in the catalog `{LIBRARY}`, which is on the search path of the connections that recall_sql opens."
    known = {
        match["name"]: match
        for path in sorted((sql_dir() / "library").glob("*.sql"))
        for match in _MACRO.finditer(path.read_text("utf-8"))
    }
    for name in macros(con):
        match = known[name]
        yield f"\n### {name}\n"
        yield f"```sql\n{name}({' '.join(match['args'].split())})\n```\n"
        yield _prose(match["comment"])


def _prose(comment: str) -> str:
    """A comment as Markdown: what is indented in it is SQL."""
    lines = [line.removeprefix("--").removeprefix(" ") for line in comment.splitlines()]
    while lines and not lines[0].strip():
        lines.pop(0)
    return re.sub(
        r"(?:^ {2,}\S.*\n?)+", lambda code: f"```sql\n{code[0].rstrip()}\n```\n", "\n".join(lines), flags=re.M
    )


def _tables(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    yield "\n## Tables"
    for name, comment in tables(con):
        yield f"\n### {name}\n\n{comment or ''}\n"
        yield "| column | type | |\n|---|---|---|"
        columns = con.execute(
            "select column_name, data_type, comment from duckdb_columns()"
            " where database_name = current_database() and table_name = ? order by column_index",
            [name],
        ).fetchall()
        for column, kind, meaning in columns:
            yield _row(f"`{column}`", kind.lower(), meaning or "")


def _settings() -> Iterator[str]:
    yield "\n## Settings\n"
    yield "`select recall_set('llm', 'ollama:qwen3')` beats the environment, which beats the default;"
    yield "`from recall_settings()` shows what is in force.\n"
    yield "| setting | environment | default | |\n|---|---|---|---|"
    for name, field in Values.model_fields.items():
        default = "" if field.default is None else f"`{str(field.default).lower()}`"
        yield _row(f"`{name}`", f"`RECALL_{name.upper()}`", default, field.description or "")


def _recipes() -> Iterator[str]:
    yield "\n## Recipes\n"
    yield "`recall-sql run NAME --var name=value`, or `recall_sql.run(con, 'NAME', name=value)`."
    for recipe in catalogue():
        yield from _recipe(recipe)
    yield "\n## Checks\n\n`recall-sql test` runs them; see [batch.md](batch.md#checks-recall-sql-test)."
    for check in checks():
        yield from _recipe(check)


def _recipe(recipe: Recipe) -> Iterator[str]:
    yield f"\n### {recipe.name}\n\n{recipe.description}"
    if recipe.runs:
        yield "\nRuns " + ", ".join(f"`{name}`" for name in recipe.runs) + "."
    if recipe.params:
        yield "\n| parameter | type | default | |\n|---|---|---|---|"
        for param in recipe.params:
            yield _row(f"`{param.name}`", _kind(param), _default(param), param.help)


def _kind(param: Param) -> str:
    return ", ".join(param.choices) if param.choices else param.type


def _default(param: Param) -> str:
    if param.required:
        return "**required**"
    return "" if param.default is None else f"`{param.default}`"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(current(), encoding="utf-8")
