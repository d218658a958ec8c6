"""Commands about where people work: shell, serve."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall_sql.cli.frame import db_option
from recall_sql.errors import ConfigError

if TYPE_CHECKING:
    from recall_sql.shell import Shell


@click.command()
@db_option
@click.option("--port", type=int, default=9494, show_default=True, help="Where to listen, on this machine only.")
@click.option("--token", envvar="RECALL_TOKEN", show_envvar=True, help="What a shell must know; made up if not given.")
@click.option("--init", "init_file", type=click.Path(dir_okay=False), help="Write the shell's init file here.")
def serve(db: str, port: int, token: str | None, init_file: str | None) -> None:
    """Serve the database to DuckDB shells: this process holds the functions. Ctrl-C ends it.

    \b
    recall-sql serve --db memory.duckdb --init recall.sql
    duckdb -init recall.sql        # in another terminal:  from recall('select embed(''hello'')');
    """
    from recall_sql.integrations.quack import load_statements, serve

    with serve(db, port=port, token=token) as server:
        click.echo(f"{db} is served at {server.uri}. Whoever holds the token may run any SQL. Ctrl-C ends it.\n")
        click.echo("In any DuckDB shell on this machine:\n")
        for line in load_statements():
            click.echo(f"    {line}")
        click.echo(f"    {server.one_off('select embed(hello)')}\n")
        if init_file is not None:
            path = Path(init_file)
            path.touch(mode=0o600)
            path.write_text(server.init_sql(), "utf-8")
            click.echo(f"Or with macros (recall, facts, search, recipe):\n\n    duckdb -init {init_file}\n")
        try:
            server.wait()
        except KeyboardInterrupt:
            click.echo("\nended")


@click.command()
@db_option
def shell(db: str) -> None:
    """A prompt for SQL and recipes, with history and completion; `.help` lists the dot commands.

    \b
    recall-sql shell --db memory.duckdb
    recall-sql shell < script.sql          stops at the first error, exit code 1
    """
    from recall_sql.shell import Shell

    with closing(Shell(db)) as opened_shell:
        if sys.stdin.isatty():
            _interact(opened_shell)
        elif not opened_shell.run_script(sys.stdin):
            raise click.exceptions.Exit(1)


def _interact(opened_shell: Shell) -> None:
    try:
        from recall_sql.shell.prompt import interact
    except ModuleNotFoundError:
        raise ConfigError("the prompt needs prompt_toolkit: pip install recall-sql[shell]") from None
    interact(opened_shell)


COMMANDS = (shell, serve)
