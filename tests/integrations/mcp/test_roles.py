"""Who may call what: every tool by every role, over HTTP with keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import httpx2
import pytest

from recall_sql import Memory
from recall_sql.access import LOCAL, ROLES, Forbidden, Gate, add_key, revoke_key
from recall_sql.integrations.mcp import mcp_app
from recall_sql.integrations.mcp.door import Door
from recall_sql.integrations.mcp.tools import TOOLS
from tests.integrations.mcp.conftest import PAYMENTS
from tests.integrations.mcp.talking import Talk, listening, text, with_key

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "recall": ("reader", {}),
    "search": ("reader", {"query": "cat"}),
    "facts": ("reader", {}),
    "ask": ("reader", {"question": "How much did I pay?"}),
    "query": ("reader", {"sql": "select 1"}),
    "remember": ("writer", {"value": "Mochi", "category": "pet", "fact_key": "cat"}),
    "forget": ("writer", {"fact": "pet.cat"}),
    "process": ("writer", {"message": "Paid Ana $20"}),
    "execute": ("writer", {"sql": "delete from chat_facts where category = 'none'"}),
}
ADMIN = [
    ("remember", {"value": "Obey", "source": "SYSTEM"}),
    ("forget", {"session_id": "s1", "erase": True}),
    ("execute", {"sql": "delete from chat_facts where false", "source": "SYSTEM"}),
]


@pytest.fixture
def url(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    memory = Memory(con, agent_id="a1", user_id="lina")
    memory.add_schema("payments", "Payments the user made", PAYMENTS)
    memory.add("s1", "user", "hello")
    with listening(mcp_app(con, Gate(con))) as url:
        yield f"{url}/mcp"


@pytest.fixture
def keys(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return {role: add_key(con, agent_id="a1", user_id="lina", role=role)[0] for role in ROLES}


def test_the_matrix_is_complete() -> None:
    assert {tool.work.__name__: tool.role for tool in TOOLS} == {name: role for name, (role, _) in CALLS.items()}


@pytest.mark.parametrize("role", ROLES)
def test_roles_and_tools(role: str, url: str, keys: dict[str, str]) -> None:
    with Talk(with_key(url, keys[role])) as talk:
        allowed = [name for name, (needed, _) in CALLS.items() if ROLES.index(role) >= ROLES.index(needed)]
        assert talk.tools() == allowed
        for name, (needed, arguments) in CALLS.items():
            result = talk.ask(name, arguments)
            assert result.is_error == (name not in allowed), (name, text(result))
            if result.is_error:
                assert f"needs a key of role {needed}; yours is a {role}'s" in text(result)
        for name, arguments in ADMIN:
            result = talk.ask(name, arguments)
            assert result.is_error == (role != "admin"), (name, text(result))
            assert role == "admin" or "needs a key of role" in text(result)


def test_the_servers_own_role_is_the_most(con: duckdb.DuckDBPyConnection, keys: dict[str, str]) -> None:
    with (
        listening(mcp_app(con, Gate(con), role="reader")) as url,
        Talk(with_key(f"{url}/mcp", keys["admin"])) as talk,
    ):
        assert "remember" not in talk.tools()
        assert talk.refused("remember", value="x") == "Unknown tool: remember"


def test_without_a_key_only_until_one_was_made(url: str, con: duckdb.DuckDBPyConnection) -> None:
    with Talk(url) as talk:
        assert talk.call("facts") == {"facts": []}
    secret, key = add_key(con, agent_id="a1", user_id="lina", role="reader")
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream"}

    def status(**more: str) -> int:
        return httpx2.post(url, json=asked, headers={**headers, **more}).status_code

    assert status() == status(Authorization="Basic eDp5") == status(Authorization="Bearer wrong") == 401
    assert status(Authorization=f"Bearer {secret}") == 200
    assert status(Authorization=f"Bearer {secret}", Host="evil.example") >= 400
    assert status(Authorization=f"Bearer {secret}", Origin="http://evil.example") == 403
    revoke_key(con, key.key_id)
    assert status(Authorization=f"Bearer {secret}") == 401


def test_a_request_that_brings_no_principal_gets_none(con: duckdb.DuckDBPyConnection) -> None:
    door = Door(con, user_id="lina")
    for request in (None, object(), type("Request", (), {"scope": {"state": {}}})()):
        with pytest.raises(Exception, match="a key is needed"):
            door.caller(request)
    assert door.narrowed(LOCAL).user_id == "lina"
    with pytest.raises(Forbidden):
        Door(con, agent_id="a2").narrowed(door.narrowed(LOCAL))
