"""Resources and prompts: what tables and recipes there are, and the context as something a person can pick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.prompts.base import AssistantMessage, Message, UserMessage
from recall_sql.person_sql import names
from recall_sql.runner import catalogue

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from recall_sql.integrations.mcp.door import Caller, Door


def install(server: MCPServer, door: Door) -> None:
    """Puts resources and prompts into a server."""
    _tables(server, door)
    _recipes(server)
    _prompts(server, door)


def _tables(server: MCPServer, door: Door) -> None:
    @server.resource("recall://tables", mime_type="text/markdown")
    def tables() -> str:
        """The tables that the tool `query` can read, and what they hold."""
        known = dict(_comments(door, "select table_name, comment from duckdb_tables()"))
        return "\n".join(f"- `{name}`: {known.get(name) or ''}" for name in names(door.con)) + "\n"

    @server.resource("recall://tables/{name}", mime_type="text/markdown")
    def table(name: str, ctx: Context) -> str:
        """The columns of a table, and how many rows of it are the user's."""
        caller = door.caller(ctx.request_context.request)
        if name not in names(caller.con):
            raise ResourceNotFoundError(f"there is no table {name[:100]}; the resource recall://tables lists them")
        return _described(door, caller, name)


def _described(door: Door, caller: Caller, name: str) -> str:
    from recall_sql.person_sql import select

    found = "select column_name, data_type, comment from duckdb_columns()"
    columns = [row for row in _comments(door, found, name) if row[0] != "embedding"]
    count = select(caller.memory, f'select count(*) from "{name}"')[0].column(0)[0].as_py()
    lines = [f"- `{column}` {kind.lower()}: {comment or ''}" for column, kind, comment in columns]
    return f"# {name}\n\n{count} rows of this user.\n\n" + "\n".join(lines) + "\n"


def _comments(door: Door, select: str, table: str | None = None) -> list[tuple[Any, ...]]:
    from recall_sql.session import instance_of

    con = door.con
    where = "where database_name = $1 and schema_name = 'main' and ($2 is null or table_name = $2)"
    return con.execute(f"{select} {where}", [instance_of(con).database, table]).fetchall()


def _recipes(server: MCPServer) -> None:
    known = {recipe.name: recipe for recipe in catalogue()}

    @server.resource("recall://recipes", mime_type="text/markdown")
    def recipes() -> str:
        """The recipes: SQL files that do the work of this memory."""
        return "\n".join(f"- `{name}`: {recipe.description}" for name, recipe in known.items()) + "\n"

    @server.resource("recall://recipes/{folder}/{name}", mime_type="application/sql")
    def recipe(folder: str, name: str) -> str:
        """One recipe, as it is written: what happens when facts land, are recalled or forgotten."""
        found = known.get(f"{folder}/{name}")
        if found is None or found.path is None:
            raise ResourceNotFoundError("there is no such recipe; the resource recall://recipes lists them")
        return found.path.read_text("utf-8")


def _prompts(server: MCPServer, door: Door) -> None:
    @server.prompt(title="Answer with memory")
    def context(
        ctx: Context,
        query: Annotated[str, Field(description="What the user asks.")],
        session_id: Annotated[str, Field(description="The conversation.")] = "default",
    ) -> list[Message]:
        """A question with what is known about the user in front of it."""
        caller = door.caller(ctx.request_context.request)
        known = caller.memory.context(session_id, query, max_turns=0)
        return [UserMessage(f"{known}\n\n{query}" if known else query)]

    @server.prompt(title="Go on with a conversation")
    def resume(
        ctx: Context, session_id: Annotated[str, Field(description="The conversation.")] = "default"
    ) -> list[Message]:
        """What is known about the user, and the last turns of a conversation as messages."""
        caller = door.caller(ctx.request_context.request)
        messages = caller.memory.context(session_id, max_turns=10).messages
        return [_message(message["role"], message["content"]) for message in messages]


def _message(role: str, content: str) -> Message:
    return AssistantMessage(content) if role == "assistant" else UserMessage(content)
