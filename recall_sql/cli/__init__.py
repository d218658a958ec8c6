"""The command `recall-sql`: parses and prints; every command is a call of the public API.

Commands import what they need when they are called, so that the ones that need little start fast.
"""

from __future__ import annotations

import gc

import click

import recall_sql
from recall_sql.cli import access, backfill, batch, beliefs, calls, chat, index, mcp, memory, places, recipes, records
from recall_sql.cli.frame import Commands, readable_streams

__all__ = ["cli", "main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(recall_sql.__version__, prog_name="recall-sql")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Agent memory as tables you can read, and the memory pipeline as SQL you can read."""


for _command in (
    *recipes.COMMANDS,
    *memory.COMMANDS,
    *beliefs.COMMANDS,
    *places.COMMANDS,
    *batch.COMMANDS,
    *backfill.COMMANDS,
    *records.COMMANDS,
    *calls.COMMANDS,
    *chat.COMMANDS,
    *index.COMMANDS,
    *mcp.COMMANDS,
    *access.COMMANDS,
):
    cli.add_command(_command)


def main() -> None:
    """The entry point."""
    gc.set_threshold(100_000)  # what a command imports stays; looking for garbage in it is an eighth of the start
    readable_streams()
    cli()
