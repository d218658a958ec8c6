"""The command mcp: the memory for clients that speak the Model Context Protocol."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

import click

from recall_sql.cli.frame import db_option, opened
from recall_sql.errors import ConfigError

if TYPE_CHECKING:
    from starlette.applications import Starlette

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

        gate = Gate(con, host=host)
        _listen(mcp_app(con, gate, agent_id=agent_id, user_id=user_id, role=most, host=host), db, host, port)


def _listen(app: Starlette, db: str, host: str, port: int) -> None:
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((host, port))
            door.listen(128)
        except (OSError, OverflowError) as error:
            raise ConfigError(f"can't listen on {host}, port {port}: {error}") from error
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"{db} is served at http://{shown}:{door.getsockname()[1]}/mcp. Ctrl-C ends it.")
        sys.stdout.flush()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        try:
            server.run(sockets=[door])
        except KeyboardInterrupt:
            click.echo("ended")


COMMANDS = (mcp,)
