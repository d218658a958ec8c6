"""MCP: the memory as tools, resources and prompts for any client that speaks the Model Context Protocol.

    recall-sql mcp --db memory.duckdb --agent helper --user lina       # stdio
    mcp_server(con, agent_id="helper", user_id="lina").run("stdio")    # the same
    mcp_app(con, Gate(con))                                            # streamable HTTP, an ASGI app

The official SDK does the protocol. docs/mcp.md is the manual.
"""

from recall_sql.integrations.mcp.server import mcp_app, mcp_server

__all__ = ["mcp_app", "mcp_server"]
