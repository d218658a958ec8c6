"""Commands for many conversations and many readers: backfill, with progress and resumable, and publish."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from recall_sql.cli import recipes as single
from recall_sql.cli.batch import log_option
from recall_sql.cli.calls import print_lines
from recall_sql.cli.frame import db_option, format_option, opened, pairs, wide_console
from recall_sql.cli.memory import (
    agent_option,
    map_option,
    role_map_option,
    session_option,
    skip_empty_option,
    timezone_option,
    user_option,
)
from recall_sql.runner import render_tables

_EVERY = 5.0  # seconds between two lines of progress where there is no terminal

Tell = Callable[[str, dict[str, Any]], None]


@click.command()
@click.argument("source")
@db_option
@click.option("--recipe", default="conversation_memory/all", show_default=True, help="What is run on the turns.")
@single.var_option
@single.vars_option
@click.option("--source-format", default="auto", show_default=True, help="Or parquet, jsonl, csv.")
@map_option
@role_map_option
@agent_option
@user_option
@session_option
@timezone_option
@skip_empty_option
@click.option("--skip-bad", is_flag=True, help="Leave out rows that can't be read, and list them.")
@click.option("--limit", type=int, metavar="ROWS", help="Read so many rows of the source, to try it out.")
@click.option(
    "--partition-turns", type=int, default=5000, show_default=True, help="About how many turns are read in one piece."
)
@click.option("--work-dir", type=click.Path(file_okay=False), help="Where rows wait.  [default: DB.backfill]")
@click.option(
    "--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True, help="Who embeds and extracts."
)
@click.option("--workers", type=int, help="Processes on this machine, or actors of Ray.  [default: 1, or all cores]")
@click.option("--address", metavar="ADDRESS", help="Of a Ray cluster: auto, or ray://head:10001.")
@click.option("--dry-run", is_flag=True, help="Read and check the source, say what is in it, change nothing.")
@click.option(
    "--estimate", is_flag=True, help="Count what models would be asked, and what that may cost; call nothing."
)
@format_option
@log_option
def backfill(
    source: str,
    db: str,
    recipe: str,
    var: tuple[str, ...],
    vars_file: str | None,
    source_format: str,
    mapping: tuple[str, ...],
    role_map: tuple[str, ...],
    dry_run: bool,
    estimate: bool,
    format_: str,
    log_format: str,
    **options: Any,
) -> None:
    """Read conversations of any number and size into a memory: embed, extract and land them in partitions of whole
    sessions, in bounded memory.

    SOURCE is a file, a pattern in quotes, a directory, or an address that DuckDB can read, of Parquet, JSON Lines or
    CSV, one message a row. Killed or interrupted, the same command goes on where it stopped.

    \b
    recall-sql backfill 'chats/*.parquet'
    recall-sql backfill chats.jsonl --limit 1000 --db trial.duckdb
    recall-sql backfill 'chats/*.csv' --map content=text --role-map marta=user,helper=assistant --dry-run
    """
    from recall_sql.backfills import prepared

    options.update(
        recipe=recipe,
        values=single.values_of(var, vars_file),
        format=source_format,
        mapping=pairs("--map", mapping),
        role_map=pairs("--role-map", role_map, lists=True),
    )
    if dry_run or estimate:  # a database that isn't there isn't made
        with opened(db if Path(db).exists() else ":memory:") as con:
            asked = prepared(con, source, **options)
            if dry_run:
                _show_plan(asked.plan(), format_)
            else:
                print_lines(con, source, asked.estimate(), format_)
        return
    progress = _Position()
    try:
        with opened(db) as con, _progress(log_format, progress) as tell:
            done = prepared(con, source, on_event=tell, **options).run()
    except KeyboardInterrupt:
        click.echo(f"\n{progress}; the same command goes on from there", err=True)
        raise
    click.echo(str(done))


@click.command()
@click.argument("target")
@db_option
@click.option("--data-path", metavar="PATH", help="Where a new DuckLake keeps its Parquet files.")
@format_option
def publish(target: str, db: str, data_path: str | None, format_: str) -> None:
    """Bring the beliefs of a lake up to date, so that other machines can read them while this one writes.

    TARGET is a DuckLake, as DuckDB attaches it, or a folder for partitioned Parquet.

    \b
    recall-sql publish ducklake:beliefs.ducklake --data-path beliefs/
    recall-sql publish 'ducklake:postgres:dbname=lake' --data-path s3://bucket/beliefs/
    recall-sql publish beliefs/
    """
    from recall_sql.integrations import lake

    with opened(db, must_exist=True, check_embedding=False) as con:
        result = lake.publish(con, target, data_path=data_path)
    render_tables(result, format_, wide_console())


COMMANDS = (backfill, publish)


class _Position:
    """How far it is, for the one who stops it."""

    def __init__(self) -> None:
        self.text = "nothing is stored yet"

    def __str__(self) -> str:
        return self.text

    def hear(self, name: str, about: dict[str, Any]) -> None:
        if name in ("storing", "reading"):
            done = "stored" if name == "storing" else "read"
            self.text = f"{about['done']:,} of {about['of']:,} turns are {done}"
        elif name == "landing":
            self.text = "all turns are read; their facts are still to be landed"


@contextmanager
def _progress(log_format: str, position: _Position) -> Iterator[Tell]:
    if log_format == "json":
        show = _as_json
    elif sys.stderr.isatty():
        with _bar() as shown:
            yield lambda name, about: (position.hear(name, about), shown(name, about))
        return
    else:
        show = _Lines()
    yield lambda name, about: (position.hear(name, about), show(name, about))


def _as_json(name: str, about: dict[str, Any]) -> None:
    line = {"at": datetime.now(UTC).isoformat(), "event": name, **about}
    click.echo(json.dumps(line, ensure_ascii=False, default=str), err=True)


class _Lines:
    """A line per stage, and one every few seconds within it."""

    def __init__(self) -> None:
        self._said: dict[str, float] = {}

    def __call__(self, name: str, about: dict[str, Any]) -> None:
        text = _in_words(name, about)
        at_end = about.get("done") == about.get("of")
        if text and (at_end or time.monotonic() - self._said.get(name, -_EVERY) >= _EVERY):
            self._said[name] = time.monotonic()
            click.echo(text, err=True)


@contextmanager
def _bar() -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(name: str, about: dict[str, Any]) -> None:
            text = _in_words(name, about)
            bar.update(task, description=text or name, total=about.get("of"), completed=about.get("done", 0))
            if name in ("staged", "resumed"):
                bar.console.print(text)

        yield show


def _in_words(name: str, about: dict[str, Any]) -> str | None:
    if name == "staging":
        return f"reading {about['files']:,} file{'s' if about['files'] != 1 else ''}, {about['bytes'] / 1e6:,.1f} MB"
    if name == "staged":
        why = "".join(f", {count:,} left out ({reason})" for reason, count in about["why"].items())
        return f"{about['messages']:,} messages in {about['partitions']:,} partitions{why}"
    if name == "resumed":
        return f"going on: {about['done']:,} of {about['partitions']:,} partitions are read already"
    if name == "storing":
        return f"stored {about['done']:,} of {about['of']:,} turns"
    if name == "reading":
        cost = "cost unknown" if about["usd"] is None else f"{about['usd']:.2f} USD"
        return (
            f"read {about['done']:,} of {about['of']:,} turns, {about['rate']:,.0f} a second,"
            f" {_duration(about['left'])} left, {cost}"
        )
    if name == "landing":
        return f"landing: {about['recipe']}"
    return None


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _show_plan(plan: Any, format_: str) -> None:
    about = {
        "files": len(plan.source.files),
        "format": plan.source.format,
        "messages": plan.messages,
        "new": plan.new,
        "sessions": plan.sessions,
        "partitions": plan.partitions,
        "left_out": plan.left_out,
        "goes_on": plan.goes_on,
    }
    if format_ == "json":
        click.echo(json.dumps(about, indent=2))
    elif format_ == "csv":
        click.echo(",".join(about) + "\n" + ",".join(str(value) for value in about.values()))
    else:
        for name, value in about.items():
            click.echo(
                f"{name:<11} {value:,}"
                if isinstance(value, int) and not isinstance(value, bool)
                else f"{name:<11} {value}"
            )
    for problem in plan.problems:
        click.echo(f"left out: {problem}", err=True)
    click.echo("nothing was called and nothing was changed.", err=True)
