"""A server in this process, and a client that holds a key."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from recall_sql.access import Role, add_key

pytest.importorskip("fastapi", reason="the extra `http` isn't installed")

from starlette.testclient import TestClient

from recall_sql.integrations.http import create_app


@pytest.fixture
def client(con: duckdb.DuckDBPyConnection) -> Iterator[TestClient]:
    """Whoever sits at the machine, before there is a key."""
    with TestClient(create_app(con, rate=0), base_url="http://127.0.0.1", raise_server_exceptions=False) as opened:
        yield opened


class Keys:
    """Makes keys and the headers that carry them."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con

    def __call__(self, role: Role, agent_id: str = "a1", user_id: str | None = None) -> dict[str, str]:
        """Headers of a new key."""
        secret, _ = add_key(self._con.cursor(), agent_id=agent_id, user_id=user_id, role=role)
        return {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def keys(con: duckdb.DuckDBPyConnection) -> Keys:
    return Keys(con)
