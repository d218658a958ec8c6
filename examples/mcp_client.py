"""An MCP client starts the memory as a server on standard input and output, and talks to it.

python examples/mcp_client.py
"""

import asyncio
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters

SERVER = StdioServerParameters(
    command=sys.executable, args=["-m", "recall_sql", "mcp", "--db", "memory.duckdb", "--user", "me"]
)


async def main() -> None:
    async with Client(SERVER) as client:

        async def call(tool: str, **arguments: object) -> None:
            result = await client.call_tool(tool, arguments)
            print(f"{tool}: {result.content[0].text}")

        print("tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))
        await call("remember", value="true", category="dietary", fact_key="vegetarian", source="USER")
        await call("execute", sql="insert into chat_turns (role, content) values ('user', 'I live in Oslo.')")
        await call("recall", query="What could I cook tonight?")
        await call("query", sql="select category, fact_key, fact_value from chat_facts order by all")


if __name__ == "__main__":
    asyncio.run(main())
