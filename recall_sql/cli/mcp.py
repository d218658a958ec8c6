"""The command mcp: the memory for clients that speak the Model Context Protocol."""

from __future__ import annotations

import sys

import click

from recall_sql.cli.frame import db_option, opened
from recall_sql.errors import ConfigError

DEFAULT_PORT = 9495


@click.command()
@db_option
@click.option("--agent", "agent_id", metavar="ID", help="The bot; 'default', or with --http the key's.")
@click.option("--user", "user_id", metavar="ID", help="The person; 'default', or with --http the key's.")
@click.option(
    "--role",
    type=click.Choice(["reader", "writer", "admin"]),
    default="writer",
    show_default=True,
    help="The most that a client may do: read; also tell and correct; also erase and speak as SYSTEM.",
)
@click.option("--read-only", is_flag=True, help="Open the file for reading only, and offer what reads.")
@click.option("--http", "over_http", is_flag=True, help="Streamable HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: another address needs keys.")
@click.option("--port", type=int, default=DEFAULT_PORT, show_default=True, help="With --http; 0 takes a free one.")
def mcp(
    db: str,
    agent_id: str | None,
    user_id: str | None,
    role: str,
    read_only: bool,
    over_http: bool,
    host: str,
    port: int,
) -> None:
    """Serve the memory of one agent and user to a client that speaks MCP. docs/mcp.md is the manual.

    \b
    recall-sql mcp --db memory.duckdb --agent helper --user lina
    recall-sql mcp --db memory.duckdb --http       # http://127.0.0.1:9495/mcp, whose memory it is says the key
    """
    try:
        from recall_sql.integrations.mcp import mcp_app, mcp_server
    except ModuleNotFoundError as error:
        raise ConfigError(f"MCP needs the package {error.name}: pip install recall-sql[mcp]") from None
    most = "reader" if read_only else role
    with opened(db, must_exist=read_only, read_only=read_only) as con:
        if not over_http:
            mcp_server(con, agent_id=agent_id, user_id=user_id, role=most).run("stdio")
            return
        from recall_sql.access import Gate
        from recall_sql.integrations.listening import serve_until_signal

        def ready(address: str) -> None:
            click.echo(f"{db} is served at {address}/mcp. Ctrl-C ends it.")
            sys.stdout.flush()

        gate = Gate(con, host=host)
        app = mcp_app(con, gate, agent_id=agent_id, user_id=user_id, role=most, host=host)
        serve_until_signal(app, host=host, port=port, ready=ready)


COMMANDS = (mcp,)
