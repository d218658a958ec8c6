"""Commands for batches: run (also of one recipe), test, graph.

Exit codes are fit for cron and Airflow: 0 all is done, 1 something failed, 2 it was called wrongly (a selection that
selects nothing, a parameter that nobody has), 130 Ctrl-C.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

import recall_sql
from recall_sql.cli import recipes as single
from recall_sql.cli.calls import estimate_option, print_estimate, tell_failures
from recall_sql.cli.frame import db_option, format_option, opened, wide_console
from recall_sql.errors import InputError, RecipeError
from recall_sql.runner import catalogue, render_tables
from recall_sql.runner.batch import Batch, Outcome, run_batch, write_compiled, write_results
from recall_sql.runner.checks import Checked, checks, run_check
from recall_sql.runner.graph import Graph, as_dict, as_mermaid, as_text

select_option = click.option(
    "--select",
    "-s",
    "select",
    multiple=True,
    metavar="WORD",
    help="Recipes by name, pattern (conversation_memory/*) or tag:NAME; +WORD with all that comes before, WORD+ with "
    "all that comes after. May be repeated.",
)
recipes_option = click.option(
    "--recipes",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="A folder of your recipes.",
)
log_option = click.option(
    "--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Of the log on stderr."
)


@click.command()
@click.argument("recipe", required=False)
@db_option
@single.var_option
@single.vars_option
@format_option
@select_option
@recipes_option
@click.option(
    "--threads", type=int, default=1, show_default=True, help="How many recipes at once, where the order allows."
)
@click.option("--fail-fast", is_flag=True, help="Begin nothing after the first failure.")
@click.option("--full-refresh", is_flag=True, help="Gives full_refresh=true to the recipes that have such a parameter.")
@click.option(
    "--target", type=click.Path(file_okay=False), default="target", show_default=True, help="Of what is left behind."
)
@log_option
@estimate_option
def run(
    recipe: str | None,
    db: str,
    var: tuple[str, ...],
    vars_file: str | None,
    format_: str,
    select: tuple[str, ...],
    folders: tuple[str, ...],
    threads: int,
    fail_fast: bool,
    full_refresh: bool,
    target: str,
    log_format: str,
    estimate: bool,
) -> None:
    """Run a recipe (see `list`) or a .sql file, in one transaction; or with --select a batch of recipes.

    A batch runs each recipe in a transaction of its own, in their order (see `graph`), and leaves TARGET/compiled and
    TARGET/run_results.json behind. What comes after a failed recipe is skipped.

    \b
    recall-sql run conversation_memory/all
    recall-sql run conversation_memory/context --var session_id=s1 --format json
    recall-sql run my_script.sql --db other.duckdb
    recall-sql run --select tag:nightly --threads 4 --log-format json
    recall-sql run --select +conversation_memory/land --vars nightly.yml --fail-fast
    """
    if recipe is None and not select:
        raise click.UsageError("Missing argument 'RECIPE', or --select.")
    if recipe is not None and select:
        raise click.UsageError("RECIPE and --select don't go together: --select takes the name, too.")
    if estimate:
        print_estimate(db, recipe, single.values_of(var, vars_file), format_)
        return
    if recipe is not None:
        single.run_one(recipe, db, var, vars_file, format_)
        return
    graph = _graph(folders)
    batch = Batch(
        _wrongly(lambda: graph.select(select)),
        graph,
        single.values_of(var, vars_file),
        threads,
        fail_fast,
        full_refresh,
    )
    _wrongly(batch.check)
    started, log = datetime.now(UTC), _log(log_format)
    write_compiled(Path(target), batch)
    check_embedding = all(recipe.name != single.REEMBED for recipe in batch.recipes)
    with opened(db, check_embedding=check_embedding) as con:
        outcomes = run_batch(con, batch, log)
        mute = tell_failures(con, started)
    about = {"recall_sql": recall_sql.__version__, "database": db, "select": select, "started_at": started.isoformat()}
    write_results(Path(target), outcomes, **about)
    _end(outcomes, log, log_format)
    if mute:
        raise click.exceptions.Exit(1)


@click.command()
@db_option
@single.var_option
@single.vars_option
@click.option("--select", "-s", "select", multiple=True, metavar="PATTERN", help="Checks by name or pattern.")
@recipes_option
@format_option
def test(
    db: str,
    var: tuple[str, ...],
    vars_file: str | None,
    select: tuple[str, ...],
    folders: tuple[str, ...],
    format_: str,
) -> None:
    """Check what a memory holds: assertions that ship with recipes, whose rows are what is wrong.

    A check is a recipe in a folder `_checks`. Exit code 1 if one of them finds a row.
    """
    found = _wrongly(lambda: _selected(checks(folders), select))
    values = single.values_of(var, vars_file)
    with opened(db, must_exist=True, check_embedding=False) as con:
        results = [run_check(con, check, values) for check in found]
    if format_ == "json":
        click.echo(json.dumps([_as_json(result) for result in results], ensure_ascii=False, indent=2, default=str))
    else:
        for result in results:
            _tell(result, format_)
    if not all(result.passed for result in results):
        raise click.exceptions.Exit(1)


@click.command()
@select_option
@recipes_option
@click.option("--format", "format_", type=click.Choice(["text", "mermaid", "json"]), default="text", show_default=True)
def graph(select: tuple[str, ...], folders: tuple[str, ...], format_: str) -> None:
    """Show which recipe comes after which, and what recipes of recipes run."""
    whole = _graph(folders)
    recipes = (
        _wrongly(lambda: whole.select(select)) if select else [whole.recipes[n] for n in whole.in_order(whole.recipes)]
    )
    if format_ == "json":
        click.echo(json.dumps(as_dict(whole, recipes), indent=2))
    else:
        click.echo((as_text if format_ == "text" else as_mermaid)(whole, recipes))


COMMANDS = (run, test, graph)


def _graph(folders: Iterable[str]) -> Graph:
    return _wrongly(lambda: Graph.of(catalogue(tuple(folders))))


def _wrongly(work: Callable[[], Any]) -> Any:
    """Errors in what was asked for end with exit code 2, before anything has run."""
    try:
        return work()
    except (InputError, RecipeError) as error:
        raise click.UsageError(str(error)) from error


def _selected(found: list[Any], patterns: tuple[str, ...]) -> list[Any]:
    if not patterns:
        return found
    return Graph({check.name: check for check in found}).select(patterns)


def _log(log_format: str) -> Callable[[str, dict[str, Any]], None]:
    """Writes events to standard error: a line for people, or a JSON object a line."""

    def as_json(event: str, about: dict[str, Any]) -> None:
        line = {"at": datetime.now(UTC).isoformat(), "event": event, **about}
        click.echo(json.dumps(line, ensure_ascii=False, default=str), err=True)

    def as_text(event: str, about: dict[str, Any]) -> None:
        if event != "finished":
            return
        told = f"{about['status']:<7}  {about['recipe']}"
        if about["status"] == "ok":
            told += f"  {about['rows_changed']:,} rows changed, {about['seconds']:.1f} s"
        elif about["reason"]:
            told += f"  {' '.join(about['reason'].split())}"
        click.echo(told, err=True)

    return as_json if log_format == "json" else as_text


def _end(outcomes: list[Outcome], log: Callable[[str, dict[str, Any]], None], log_format: str) -> None:
    counts = {status: sum(one.status == status for one in outcomes) for status in ("ok", "failed", "skipped")}
    if log_format == "json":
        log("ended", counts)
    else:
        click.echo(", ".join(f"{number} {status}" for status, number in counts.items()), err=True)
    if counts["failed"]:
        raise click.exceptions.Exit(1)


def _tell(result: Checked, format_: str) -> None:
    name = result.check.name
    if result.error is not None:
        click.echo(f"error  {name}  {' '.join(result.error.split())}")
    elif result.passed or result.result is None:
        click.echo(f"pass   {name}")
    else:
        count = f"{result.rows} row" + ("" if result.rows == 1 else "s")
        click.echo(f"FAIL   {name}  {count}: {result.check.description}")
        wrong = tuple(table for table in result.result.tables if table.table.num_rows)
        render_tables(replace(result.result, tables=wrong), format_, wide_console())


def _as_json(result: Checked) -> dict[str, Any]:
    tables = result.result.tables if result.result else ()
    rows = [row for table in tables for row in table.table.to_pylist()]
    return {"check": result.check.name, "passed": result.passed, "error": result.error, "rows": rows}
