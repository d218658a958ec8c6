"""The command chat: a live conversation in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from recall_sql.cli.frame import db_option, opened, wide_console
from recall_sql.runner import render_tables


@click.command()
@db_option
@click.option("--user-id", default="default", show_default=True, metavar="ID", help="The person.")
@click.option("--agent-id", default="default", show_default=True, metavar="ID", help="The bot.")
@click.option("--session-id", default="default", show_default=True, metavar="ID", help="The conversation.")
@click.option("--model", metavar="MODEL", help="Who answers; the setting llm, if not given.")
def chat(db: str, **options: str | None) -> None:
    """Talk to a bot that remembers. /facts, /context and /cost show what it knows, reads and spends; /quit ends."""
    from recall_sql.chat import Chat

    console = wide_console()
    with opened(db) as con:
        Chat(con, say=click.echo, show=lambda result: render_tables(result, "table", console), **options).run(_lines())


def _lines() -> Iterator[str]:
    """What is typed, line by line; a prompt only where a person can see it."""
    while True:
        if sys.stdin.isatty():
            click.echo("> ", nl=False)
        line = sys.stdin.readline()
        if not line:
            return
        yield line


COMMANDS = (chat,)
