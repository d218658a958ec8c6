"""A memory with something in it, and nothing at all where the SDK isn't installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` isn't installed")

import duckdb

from recall_sql import Memory
from recall_sql.integrations.mcp import mcp_server
from tests.integrations.mcp.talking import Talk

PAYMENTS = {"properties": {"recipient": {"type": "string"}, "amount": {"type": "number"}}, "required": ["recipient"]}


@pytest.fixture
def talk(con: duckdb.DuckDBPyConnection) -> Iterator[Talk]:
    """A client of a server for Lina, as a writer, in this process."""
    Memory(con).add_schema("payments", "Payments the user made to people or businesses", PAYMENTS)
    with Talk(mcp_server(con, user_id="lina")) as talk:
        yield talk
