"""Commands about recipes and SQL: run, compile, sql, list."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from recall_sql.cli.calls import tell_failures
from recall_sql.cli.frame import DEFAULT_DB, format_option, opened, pairs, step_progress, wide_console
from recall_sql.errors import InputError
from recall_sql.runner import Recipe, RunResult, catalogue, compile_recipe, execute, from_text, load, render_tables
from recall_sql.runner.params import Param

# Recipes for databases whose vectors another model made, which connect() refuses otherwise.
REEMBED = "maintenance/reembed"

var_option = click.option("--var", "var", multiple=True, metavar="NAME=VALUE", help="A parameter; may be repeated.")
vars_option = click.option(
    "--vars", "vars_file", type=click.Path(dir_okay=False), help="A YAML file of parameters; --var beats it."
)


def run_one(recipe: str, db: str, var: tuple[str, ...], vars_file: str | None, format_: str) -> None:
    """Runs one recipe or script and prints its results; what `run RECIPE` does (the command is in batch.py)."""
    found, values = load(recipe), values_of(var, vars_file)
    compile_recipe(found, values)  # a mistake in the values shows before a database is made
    with opened(db, check_embedding=found.name != REEMBED) as con, step_progress() as on_progress:
        result = execute(con, found, values, on_progress=on_progress)
        mute = tell_failures(con, result.started_at)
    render_tables(result, format_, wide_console())
    if format_ == "table":
        click.echo(summary(result), err=True)
    if mute:
        raise click.exceptions.Exit(1)


@click.command("compile")
@click.argument("recipe")
@var_option
@vars_option
def compile_(recipe: str, var: tuple[str, ...], vars_file: str | None) -> None:
    """Print the SQL a recipe becomes, with the values written in, ready to paste.

    Needs no database and calls no model.
    """
    click.echo(compile_recipe(load(recipe), values_of(var, vars_file)), nl=False)


@click.command()
@click.argument("statement")
@click.option(
    "--db",
    envvar="RECALL_DB",
    metavar="FILE",
    show_envvar=True,
    help=f"The database.  [default: {DEFAULT_DB} if it exists, else one in memory]",
)
@format_option
def sql(statement: str, db: str | None, format_: str) -> None:
    """Run SQL (`-` reads it from standard input) and print every result.

    \b
    recall-sql sql "select * from chat_facts where category = 'dietary'"
    """
    text = sys.stdin.read() if statement == "-" else statement
    database = db or (DEFAULT_DB if Path(DEFAULT_DB).exists() else ":memory:")
    with opened(database) as con:
        result = execute(con, from_text(text, "sql"), record=False)
    render_tables(result, format_, wide_console())


@click.command("list")
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def list_(format_: str) -> None:
    """List the recipes that ship with recall_sql, with their parameters."""
    found = catalogue()
    if format_ == "json":
        import json

        click.echo(json.dumps([_described(recipe) for recipe in found], ensure_ascii=False, indent=2))
        return
    for recipe in found:
        click.echo(_for_people(recipe))


COMMANDS = (compile_, sql, list_)


def values_of(var: tuple[str, ...], vars_file: str | None) -> dict[str, object]:
    values: dict[str, object] = {}
    if vars_file is not None:
        import yaml

        try:
            read = yaml.safe_load(Path(vars_file).read_text("utf-8"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise InputError(f"{vars_file} isn't YAML: {' '.join(str(error).split())}") from error
        if read is not None and not isinstance(read, dict):
            raise InputError(f"{vars_file} must hold `name: value` lines")
        values.update({str(name): value for name, value in (read or {}).items()})
    return {**values, **pairs("--var", var)}


def summary(result: RunResult) -> str:
    steps = f"{len(result.steps)} step" + ("s" if len(result.steps) != 1 else "")
    rows = f"{result.rows_changed:,} row" + ("s" if result.rows_changed != 1 else "")
    return f"{result.recipe}: {steps}, {rows} changed, {result.seconds:.1f} s"


def _described(recipe: Recipe) -> dict[str, Any]:
    return {
        "name": recipe.name,
        "description": recipe.description,
        "runs": list(recipe.runs),
        "params": [
            {
                "name": param.name,
                "type": param.type,
                "required": param.required,
                "default": param.default,
                "help": param.help,
                "choices": list(param.choices),
                "min": param.min,
                "max": param.max,
            }
            for param in recipe.params
        ],
    }


def _for_people(recipe: Recipe) -> str:
    lines = [click.style(recipe.name, bold=True), f"    {recipe.description}"]
    if recipe.runs:
        lines.append(f"    runs: {', '.join(recipe.runs)}")
    width = max((len(param.name) for param in recipe.params), default=0)
    lines += [f"      {param.name:<{width}}  {_kind(param)}  {param.help}".rstrip() for param in recipe.params]
    return "\n".join(lines) + "\n"


def _kind(param: Param) -> str:
    kind = "|".join(param.choices) if param.choices else param.type
    if param.required:
        return f"{kind}, required."
    return f"{kind}." if param.default is None else f"{kind} = {param.default}."
