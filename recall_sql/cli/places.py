"""Commands about where people work: shell, serve."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recall_sql.cli.frame import db_option
from recall_sql.errors import ConfigError

if TYPE_CHECKING:
    from recall_sql.integrations.quack import Server
    from recall_sql.shell import Shell


@click.command()
@db_option
@click.option("--quack", is_flag=True, help="Serve DuckDB shells; so it does if no door is named.")
@click.option("--port", type=int, default=9494, show_default=True, help="Of --quack, on this machine only.")
@click.option("--token", envvar="RECALL_TOKEN", show_envvar=True, help="What a shell must know; made up if not given.")
@click.option("--init", "init_file", type=click.Path(dir_okay=False), help="Write the shell's init file here.")
@click.option("--http", "over_http", is_flag=True, help="Serve applications over HTTP.")
@click.option("--mcp", "over_mcp", is_flag=True, help="Serve agents that speak MCP, under /mcp of the HTTP address.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Of --http and --mcp; another needs keys.")
@click.option("--http-port", type=int, default=8000, show_default=True, help="Of --http and --mcp; 0 takes a free one.")
@click.option("--no-auth", is_flag=True, help="Nobody needs a key, on loopback.")
@click.option(
    "--rate-limit",
    type=click.FloatRange(0),
    default=50,
    show_default=True,
    help="Requests a second of one key; 0: any.",
)
@click.option(
    "--body-limit", type=click.IntRange(1), default=1024 * 1024, show_default=True, help="Bytes of one request."
)
@click.option(
    "--grace",
    type=click.FloatRange(0),
    default=10,
    show_default=True,
    help="Seconds that work under way has at the end.",
)
def serve(
    db: str,
    quack: bool,
    port: int,
    token: str | None,
    init_file: str | None,
    over_http: bool,
    over_mcp: bool,
    **web: Any,
) -> None:
    """Serve the database through one, two or three doors: this process holds it. Ctrl-C or SIGTERM ends it.

    \b
    recall-sql serve --db memory.duckdb --http --mcp       # docs/http.md
    recall-sql serve --db memory.duckdb --init recall.sql
    duckdb -init recall.sql        # in another terminal:  from recall('select embed(''hello'')');
    """
    if init_file is not None and (over_http or over_mcp) and not quack:
        raise click.UsageError("--init is for DuckDB shells: it needs --quack")
    given = click.get_current_context().get_parameter_source("port") is not click.core.ParameterSource.DEFAULT
    if given and (over_http or over_mcp) and not quack:
        raise click.UsageError("--port is that of --quack; that of --http and --mcp is --http-port")
    with ExitStack() as doors:
        shells = None
        if quack or not (over_http or over_mcp):
            shells = doors.enter_context(_quack(db, port, token, init_file))
        if over_http or over_mcp:
            _serve_http(db, over_http=over_http, over_mcp=over_mcp, **web)
        elif shells is not None:
            try:
                shells.wait()
            except KeyboardInterrupt:
                click.echo("\nended")


def _serve_http(
    db: str,
    *,
    over_http: bool,
    over_mcp: bool,
    host: str,
    http_port: int,
    no_auth: bool,
    rate_limit: float,
    body_limit: int,
    grace: float,
) -> None:
    try:
        from recall_sql.integrations.http import create_app
        from recall_sql.integrations.listening import serve_until_signal
    except ModuleNotFoundError as error:
        raise ConfigError(f"HTTP needs the package {error.name}: pip install recall-sql[http]") from None

    def ready(address: str) -> None:
        doors = [address] * over_http + [f"{address}/mcp"] * over_mcp
        click.echo(f"{db} is served at {' and '.join(doors)}. Ctrl-C ends it.")
        sys.stdout.flush()

    app = create_app(
        db, host=host, no_auth=no_auth, rate=rate_limit, body=body_limit, grace=grace, http=over_http, mcp=over_mcp
    )
    serve_until_signal(app, host=host, port=http_port, grace=grace, ready=ready)


@contextmanager
def _quack(db: str, port: int, token: str | None, init_file: str | None) -> Iterator[Server]:
    """The door for shells, and what to type there."""
    from recall_sql.integrations.quack import load_statements, serve

    with serve(db, port=port, token=token) as server:
        click.echo(f"{db} is served at {server.uri}. Whoever holds the token may run any SQL. Ctrl-C ends it.\n")
        click.echo("In any DuckDB shell on this machine:\n")
        for line in load_statements():
            click.echo(f"    {line}")
        example = server.one_off("select embed('hello')")
        click.echo(f"    {example}\n")
        if init_file is not None:
            path = Path(init_file)
            path.touch(mode=0o600)
            path.write_text(server.init_sql(), "utf-8")
            click.echo(f"Or with macros (recall, facts, search, recipe):\n\n    duckdb -init {init_file}\n")
        yield server


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
