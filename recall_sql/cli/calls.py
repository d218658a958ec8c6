"""Commands about model calls: memo, and what `run --estimate` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING

import click
import duckdb

from recall_sql.cli.frame import Commands, db_option, format_option, opened, tell, wide_console
from recall_sql.errors import InputError
from recall_sql.runner import execute, from_text, load, render_tables

if TYPE_CHECKING:
    from recall_sql.calls.estimate import Line

_STATS = """/* recipe
name: memo/stats
description: What is remembered, and what that saved.
*/
-- result: Remembered
select
    function, model, count(*) as answers, count(distinct input_hash) as inputs,
    min(created_at) as oldest, max(created_at) as newest
from {store}.recall_memo
group by function, model
order by function, model;

-- result: Used
select * from recall_usage();
"""


_FAILED = """
select
    function, model, count(*) filter (status = 'ok') as answered, count(*) filter (status <> 'ok') as failed,
    arg_max(error, called_at) filter (status <> 'ok') as error
from {store}.recall_calls
where called_at >= '{since}'::timestamptz
group by all
having failed > 0
order by all
"""


def tell_failures(con: duckdb.DuckDBPyConnection, since: datetime) -> bool:
    """Says on standard error which requests to models failed since then, for a run that went on without them.

    Returns whether there is a model that answered nothing.
    """
    from recall_sql.session import instance_of

    statement = _FAILED.format(store=instance_of(con).store, since=since.isoformat())
    mute = False
    for function, model, answered, failed, error in con.execute(statement).fetchall():
        why = " ".join(str(error).split()).rstrip(".?")
        requests = f"{failed} of {answered + failed} requests of {function} to {model}"
        tell(f"{requests} failed: {why}. What has no answer is left for the next run")
        mute = mute or not answered
    return mute


estimate_option = click.option(
    "--estimate", is_flag=True, help="Count what a recipe would ask of models, and what that may cost; call nothing."
)


@click.group(cls=Commands)
def memo() -> None:
    """Show or clear what models have answered: no answer is paid for twice."""


@memo.command()
@db_option
@format_option
def stats(db: str, format_: str) -> None:
    """Say how many answers are remembered, and what calls and the memo have cost and saved."""
    from recall_sql.session import instance_of

    with opened(db, must_exist=True, check_embedding=False) as con:
        store = instance_of(con).store
        result = execute(con, from_text(_STATS.format(store=store), "memo stats"), record=False)
    render_tables(result, format_, wide_console())


@memo.command()
@db_option
@click.option("--input", "text", metavar="TEXT", help="Only what was answered about this text.")
@click.option("--function", metavar="NAME", help="Only answers of EMBED, GENERATE, EXTRACT_FACTS …")
@click.option("--model", metavar="MODEL", help="Only answers of this model, as `memo stats` names it.")
@click.option("--older-than", metavar="AGE", help="Only answers older than that: '12 hours', '30 days'.")
def clear(db: str, text: str | None, function: str | None, model: str | None, older_than: str | None) -> None:
    """Forget remembered answers; all of them, unless an option says which.

    \b
    recall-sql memo clear --input "my secret is 4711"
    recall-sql memo clear --function generate --older-than "30 days"
    """
    from recall_sql.session import instance_of

    with opened(db, must_exist=True, check_embedding=False) as con:
        try:
            gone = instance_of(con).calls.memo.forget(text=text, function=function, model=model, older_than=older_than)
        except ValueError as error:
            raise InputError(f"--older-than: {error}") from None
    click.echo(f"{gone:,} answer{'' if gone == 1 else 's'} forgotten.")


def print_estimate(db: str, name: str | None, values: Mapping[str, object], format_: str) -> None:
    """What a run of a recipe would ask of models. Nothing is called and nothing is changed."""
    from recall_sql.calls.estimate import estimate_run

    if name is None:
        raise click.UsageError("--estimate is for one recipe: name it.")
    recipe = load(name)
    with opened(db, must_exist=True, check_embedding=recipe.name != "maintenance/reembed") as con:
        print_lines(con, recipe.name, estimate_run(con, recipe, values), format_)


def print_lines(con: duckdb.DuckDBPyConnection, what: str, lines: Sequence[Line], format_: str) -> None:
    """Prints an estimate."""
    import pyarrow as pa

    from recall_sql.calls.estimate import Line

    rows = pa.table({one.name: [getattr(line, one.name) for line in lines] for one in fields(Line)})
    con.register("estimated", rows)
    result = execute(con, from_text("from estimated", "estimate"), record=False)
    render_tables(result, format_, wide_console())
    if format_ == "table":
        click.echo(f"{what}: nothing was called and nothing was changed.", err=True)


COMMANDS = (memo,)
