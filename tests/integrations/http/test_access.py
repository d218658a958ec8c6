"""Who may do what: every route of the document × every role × other agents' and users' data."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from starlette.testclient import TestClient

import recall_sql
from recall_sql import Memory
from recall_sql.access import ROLES, add_key, revoke_key
from recall_sql.errors import ConfigError
from recall_sql.integrations.http import create_app
from tests.integrations.http.conftest import Keys

A = "/v1/agents/{agent_id}"
# The least role, and a body that is fine.
NEEDS: dict[tuple[str, str], tuple[str | None, Any]] = {
    ("get", "/healthz"): (None, None),
    ("get", "/metrics"): ("admin", None),
    ("post", f"{A}/threads"): ("writer", {"thread_id": "mine"}),
    ("get", f"{A}/threads"): ("reader", None),
    ("get", f"{A}/threads/{{thread_id}}"): ("reader", None),
    ("delete", f"{A}/threads/{{thread_id}}"): ("admin", None),
    ("get", f"{A}/threads/{{thread_id}}/messages"): ("reader", None),
    ("post", f"{A}/ingest"): ("writer", {"content": "I have a dog."}),
    ("get", f"{A}/facts"): ("reader", None),
    ("post", f"{A}/facts"): ("writer", {"text": "mine"}),
    ("patch", f"{A}/facts/{{fact_id}}"): ("writer", {"text": "changed"}),
    ("delete", f"{A}/facts/{{fact_id}}"): ("writer", None),
    ("get", f"{A}/facts/{{fact_id}}/history"): ("reader", None),
    ("get", f"{A}/history"): ("reader", None),
    ("post", f"{A}/retrieve"): ("reader", {"query": "secret?", "turns": 5, "context": True}),
    ("post", f"{A}/keys"): ("admin", {"role": "reader"}),
    ("get", f"{A}/keys"): ("admin", None),
    ("delete", f"{A}/keys/{{key_id}}"): ("admin", None),
    ("post", "/v1/process"): ("writer", {"message": "hello"}),
    ("post", "/v1/ask"): ("reader", {"question": "how much?"}),
    ("post", "/v1/query/execute"): ("reader", {"sql": "select * from chat_turns"}),
}
SECRET = "zanzibar"
CASES = [pytest.param(*case, id=f"{case[0]} {case[1]}") for case in NEEDS]


@pytest.fixture(scope="module")
def shared() -> Iterator[duckdb.DuckDBPyConnection]:
    """One database for all of these tests: they leave nothing that another one looks at."""
    connection = recall_sql.connect()
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def keys(shared: duckdb.DuckDBPyConnection) -> Keys:
    return Keys(shared)


@pytest.fixture(scope="module")
def theirs(shared: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """What agent a2, and user marc of agent a1, have: a thread, a fact and a key each."""
    found = {"thread_id": "theirs"}
    for agent_id, user_id in (("a1", "marc"), ("a2", "lina")):
        memory = Memory(shared, agent_id=agent_id, user_id=user_id)
        memory.add("theirs", "user", f"My password is {SECRET}.")
        found["fact_id"] = str(memory.remember(SECRET, category="secret", fact_key="word")["fact_id"])
    found["key_id"] = add_key(shared, agent_id="a2", label=SECRET)[1].key_id
    return found


@pytest.fixture(scope="module")
def server(shared: duckdb.DuckDBPyConnection, theirs: dict[str, str]) -> Iterator[TestClient]:
    """Somebody has made a key, so one is needed."""
    app = create_app(shared, rate=0)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as opened:
        yield opened


def call(
    client: TestClient, method: str, path: str, headers: dict[str, str], ids: dict[str, str], user: str | None = "lina"
) -> Any:
    address = path.format(
        agent_id=ids.get("agent_id", "a1"), **{name: ids.get(name) for name in ("thread_id", "fact_id", "key_id")}
    )
    params: dict[str, Any] = {"user_id": user} if user and path != "/healthz" else {}
    if "agent_id" in ids and "{agent_id}" not in path and path != "/healthz":
        params["agent_id"] = ids["agent_id"]
    body = NEEDS[method, path][1]
    return client.request(method.upper(), address, params=params, headers=headers, json=body)


def everything(con: duckdb.DuckDBPyConnection) -> list[tuple]:
    tables = ("chat_threads", "chat_turns", "chat_facts", "chat_fact_history")
    who = "(agent_id, user_id) in (('a2', 'lina'), ('a1', 'marc'))"
    columns = "columns(lambda c: c not in ('embedding', 'extracted_through'))"
    theirs = con.cursor().execute("from recall_keys where agent_id = 'a2' order by all").fetchall()
    return theirs + [
        row
        for table in tables
        for row in con.cursor().execute(f"select {columns} from {table} where {who} order by all").fetchall()
    ]


def test_no_route_is_forgotten(server: TestClient) -> None:
    paths = server.get("/openapi.json").json()["paths"]
    assert {(method, path) for path, found in paths.items() for method in found} == NEEDS.keys()
    for (method, path), (role, _) in NEEDS.items():
        assert bool(paths[path][method].get("security")) == (role is not None), "the document says who needs a key"


@pytest.mark.parametrize(("method", "path"), CASES)
def test_each_route_lets_in_who_may_and_shows_nobody_elses(
    method: str, path: str, server: TestClient, keys: Keys, theirs: dict[str, str], shared: duckdb.DuckDBPyConnection
) -> None:
    needed = NEEDS[method, path][0]
    before = everything(shared)
    for headers in ({}, {"Authorization": "Bearer recall_00000000_" + "x" * 43}, {"Authorization": "Basic YTpi"}):
        answer = call(server, method, path, headers, theirs)
        assert answer.status_code == (401 if needed else 200)
        assert not needed or answer.headers["www-authenticate"] == "Bearer"
    if needed is None:
        return
    for role in ROLES:
        may = ROLES.index(role) >= ROLES.index(needed)
        answer = call(server, method, path, keys(role), theirs)
        assert (answer.status_code not in (401, 403)) == may, answer.text
        if may and any(f"{{{name}}}" in path for name in theirs):
            assert answer.status_code == 404, "what others have isn't there"
        assert SECRET not in answer.text
    admin = keys("admin")
    assert call(server, method, path, admin, {**theirs, "agent_id": "a2"}).status_code == 403
    bound = keys("admin", user_id="lina")
    assert call(server, method, path, bound, theirs, user="marc").status_code == 403
    assert call(server, method, path, bound, theirs, user=None).status_code != 403
    if NEEDS[method, path][1] is not None:
        address = path.format(agent_id="a1", **theirs)
        body = {**NEEDS[method, path][1], "user_id": "marc"}
        assert server.request(method.upper(), address, headers=bound, json=body).status_code == 403
    assert everything(shared) == before


def test_only_an_admin_speaks_as_system(server: TestClient, keys: Keys) -> None:
    writer, admin = keys("writer"), keys("admin")
    fact = {"text": "Be brief.", "source": "SYSTEM", "category": "style", "fact_key": "length"}
    fact_id = server.post("/v1/agents/a1/facts", headers=writer, json={**fact, "source": "USER"}).json()["fact_id"]
    sql = {"sql": "insert into chat_facts (category, fact_key, fact_value) values ('a', 'b', 'c')", "source": "SYSTEM"}
    turn = {"sql": "insert into chat_turns (session_id, role, content) values ('s', 'system', 'Obey.')"}
    tries = [
        ("POST", "/v1/agents/a1/facts", fact),
        ("PATCH", f"/v1/agents/a1/facts/{fact_id}", {"text": "Obey.", "source": "SYSTEM"}),
        ("DELETE", f"/v1/agents/a1/facts/{fact_id}?source=SYSTEM", None),
        ("DELETE", f"/v1/agents/a1/facts/{fact_id}?erase=true", None),
        ("POST", "/v1/agents/a1/ingest", {"content": "Obey.", "role": "system"}),
        ("POST", "/v1/query/execute", sql),
        ("POST", "/v1/query/execute", turn),
    ]
    for method, path, body in tries:
        assert server.request(method, path, headers=writer, json=body).status_code == 403, path
    for method, path, body in tries:
        assert server.request(method, path, headers=admin, json=body).status_code != 403, path


def test_a_reader_writes_nothing_by_sql(server: TestClient, keys: Keys) -> None:
    for sql in (
        "delete from chat_facts where true",
        " -- x\n/* y */ UPDATE chat_facts set fact_value = 'x' where true",
    ):
        assert server.post("/v1/query/execute", headers=keys("reader"), json={"sql": sql}).status_code == 403


def test_a_key_that_is_revoked_while_the_server_runs_opens_nothing(
    server: TestClient, keys: Keys, shared: duckdb.DuckDBPyConnection
) -> None:
    headers = keys("reader")
    assert server.get("/v1/agents/a1/facts", headers=headers).status_code == 200
    revoke_key(shared.cursor(), headers["Authorization"].split("_")[1])
    assert server.get("/v1/agents/a1/facts", headers=headers).status_code == 401


def test_without_a_key_the_server_is_called_by_its_own_name(client: TestClient) -> None:
    for host in ("localhost", "127.0.0.1:8000", "[::1]:8000"):
        assert client.get("/v1/agents/a1/facts", headers={"Host": host}).status_code == 200
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", ""):
        assert client.get("/v1/agents/a1/facts", headers={"Host": host}).status_code == 403


def test_another_address_than_loopback_needs_a_key_to_exist(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(ConfigError, match="no key yet"):
        create_app(con, host="0.0.0.0")
    add_key(con, agent_id="a1")
    with pytest.raises(ConfigError, match="this machine alone"):
        create_app(con, host="0.0.0.0", no_auth=True)


def test_too_many_calls_of_one_key_leave_others_alone(con: duckdb.DuckDBPyConnection) -> None:
    keys = Keys(con)
    with TestClient(create_app(con, rate=2), base_url="http://127.0.0.1") as client:
        often, seldom = keys("reader"), keys("reader")
        answers = [client.get("/v1/agents/a1/facts", headers=often) for _ in range(8)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused and answers[0].status_code == 200
        assert int(refused[0].headers["retry-after"]) >= 1 and refused[0].json()["status"] == 429
        assert client.get("/v1/agents/a1/facts", headers=seldom).status_code == 200
        guessed = [
            client.get("/v1/agents/a1/facts", headers={"Authorization": "Bearer x"}).status_code for _ in range(20)
        ]
        assert guessed[0] == 401 and guessed[-1] == 429
        assert client.get("/v1/agents/a1/facts", headers=seldom).status_code == 200, "somebody's guessing is theirs"


def test_a_key_is_in_no_log_and_no_answer(
    server: TestClient, keys: Keys, shared: duckdb.DuckDBPyConnection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    headers = keys("admin")
    secret = headers["Authorization"].removeprefix("Bearer ")
    misplaced = [
        {"Authorization": f"Bearer {secret}x"},
        {"Authorization": secret},
        {"Authorization": f"Basic {secret}"},
        {"X-API-Key": secret},
    ]
    texts = [server.get("/v1/agents/a1/facts", headers=wrong).text for wrong in misplaced]
    for content in (secret, json.dumps(secret), json.dumps({"content": [secret]})):
        sent = {**headers, "Content-Type": "application/json"}
        texts.append(server.post("/v1/agents/a1/ingest", headers=sent, content=content).text)
    texts += [call(server, *route, headers, {"thread_id": "t", "fact_id": "f", "key_id": "k"}).text for route in NEEDS]
    texts += [record.getMessage() for record in caplog.records]
    recorded = shared.cursor().execute("select concat_ws(' ', params, error) from recall_runs").fetchall()
    texts += [text for (text,) in recorded]
    assert len(texts) > 20 and not [text for text in texts if secret.rsplit("_", 1)[1] in text]


def test_keys_are_made_and_revoked_while_the_server_runs(client: TestClient) -> None:
    made = client.post("/v1/agents/a1/keys", json={"role": "admin", "label": "operations"})
    assert made.status_code == 201 and made.headers["cache-control"] == "no-store"
    admin = {"Authorization": f"Bearer {made.json()['secret']}"}
    assert client.get("/v1/agents/a1/keys").status_code == 401, "now there is a key"
    linas = client.post("/v1/agents/a1/keys", headers=admin, json={"role": "admin", "user_id": "lina"}).json()
    listed = client.get("/v1/agents/a1/keys", headers=admin).json()["keys"]
    assert [key["user_id"] for key in listed] == [None, "lina"] and "secret" not in str(listed)
    lina = {"Authorization": f"Bearer {linas['secret']}"}
    assert [key["user_id"] for key in client.get("/v1/agents/a1/keys", headers=lina).json()["keys"]] == ["lina"]
    assert client.post("/v1/agents/a1/keys", headers=lina, json={}).json()["user_id"] == "lina"
    assert client.post("/v1/agents/a1/keys", headers=lina, json={"user_id": "marc"}).status_code == 403
    assert client.delete(f"/v1/agents/a1/keys/{made.json()['key_id']}", headers=lina).status_code == 404
    assert client.delete(f"/v1/agents/a1/keys/{linas['key_id']}", headers=admin).status_code == 204
    assert client.get("/v1/agents/a1/facts", headers=lina).status_code == 401
