"""What isn't as it must be: every answer is one of ours, and the server goes on."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest
from starlette.testclient import TestClient

from recall_sql import Memory
from tests.servers import Reply, ScriptedServer

A1 = "/v1/agents/a1"
JSON = {"Content-Type": "application/json"}
WORDS = ["", " ", "\x00", "a\x00b", "\ud800", "\n", "../x", "x" * 300, "'; drop table chat_facts; --"]
HOSTILE = [*WORDS, 0, -1, 1e308, True, [], {}, 2**70]
FACT = {"text": "hi", "category": "c", "kind": "RULE", "confidence": 1, "observed_at": None, "evidence": "e"}
TOO_LONG = b'{"content":"' + b"x" * 900_000 + b'"}'


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{A1}/ingest", {"content": "hi", "thread_id": "t", "role": "user", "user_id": "u", "created_at": None}),
        (f"{A1}/facts", FACT),
        (f"{A1}/retrieve", {"query": "hi", "kinds": None, "k": 1, "min_score": 0, "turns": 1, "context": True}),
        ("/v1/query/execute", {"sql": "select 1", "source": "USER", "limit": 1}),
        ("/v1/process", {"message": "hi", "timezone": "UTC", "dry_run": True, "user_id": "u"}),
        ("/v1/ask", {"question": "how much?", "timezone": "UTC", "user_id": "u"}),
    ],
)
def test_whatever_a_field_holds_the_answer_is_one_of_ours(client: TestClient, path: str, body: dict[str, Any]) -> None:
    for field in body:
        for value in HOSTILE:
            answer = client.post(path, content=json.dumps({**body, field: value}), headers=JSON)
            assert answer.status_code in (200, 201, 202, 404, 409, 422), (field, value, answer.text)
            if answer.status_code >= 400:
                assert answer.headers["content-type"] == "application/problem+json"
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"null", 422),
        (b"[" * 50_000, 400),
        (TOO_LONG, 422),
    ],
)
def test_a_body_that_is_none(client: TestClient, raw: bytes, status: int) -> None:
    answer = client.post(f"{A1}/ingest", content=raw, headers=JSON)
    assert (answer.status_code, answer.json()["status"]) == (status, status)


def test_a_body_that_is_too_large_is_refused_whatever_its_length_says(client: TestClient) -> None:
    piece = b'{"content":"' + b"x" * 400_000
    for content in (piece * 3, iter([piece] * 3)):  # with a Content-Length, and in chunks
        answer = client.post(f"{A1}/ingest", content=content, headers=JSON)
        assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")


def test_an_address_that_is_none(client: TestClient) -> None:
    assert client.get("/nope").json()["status"] == client.get("/healthz/").json()["status"] == 404
    other = client.put(f"{A1}/facts", json={})
    assert (other.status_code, other.headers["allow"]) == (405, "GET, POST")


@pytest.mark.parametrize(
    ("method", "path", "takes"),
    [
        ("GET", f"{A1}/facts?categry=pet", "as_of, category, kind, thread_id, user_id"),
        ("DELETE", f"{A1}/threads/t?user=lina", "user_id"),
        ("GET", "/healthz?x=1", "none"),
        ("POST", "/v1/ask?user_id=lina&usr=x", "agent_id, user_id"),
    ],
)
def test_a_parameter_nobody_knows_is_refused_and_does_nothing(
    client: TestClient, method: str, path: str, takes: str
) -> None:
    client.post(f"{A1}/facts", json={"text": "Mochi", "category": "pet", "fact_key": "cat"})
    answer = client.request(method, path)
    assert answer.status_code == 422
    assert answer.json()["detail"] == f"unknown query parameter; this address takes {takes}"
    assert len(client.get(f"{A1}/facts").json()["facts"]) == 1


def test_a_rule_of_a_recipe_that_is_broken_is_told(client: TestClient) -> None:
    sql = "insert into chat_turns (session_id, role, content) values ('s', 'user', '')"
    answer = client.post("/v1/query/execute", json={"sql": sql})
    assert (answer.status_code, answer.json()["detail"]) == (422, "the content of a turn is empty")


def test_a_model_that_does_not_answer_is_503(con: duckdb.DuckDBPyConnection, client: TestClient) -> None:
    with ScriptedServer(lambda call: Reply(status=401, body={"error": {"message": "no"}})) as server:
        con.cursor().execute("select recall_set('extractor', ?)", [server.model()]).fetchall()
        schema = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
        Memory(con.cursor()).add_schema("payments", "Payments", schema)
        answer = client.post("/v1/process", json={"message": "Paid Ana $20", "user_id": "lina"})
        assert answer.status_code == 503 and answer.headers["retry-after"] and "401" in answer.json()["detail"]
        told = client.post(f"{A1}/ingest?wait=true", json={"content": "I'm vegetarian."})
        assert told.status_code == 202 and told.json()["turns"][0]["status"] == "waiting"


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00"])
def test_a_moment_that_nobody_could_read_back_is_refused(client: TestClient, moment: str) -> None:
    turn, fact = {"content": "hi", "thread_id": "t"}, {"text": "hi"}
    assert client.post(f"{A1}/ingest?wait=true", json=turn).status_code == 200
    assert client.post(f"{A1}/ingest", json={**turn, "created_at": moment}).status_code == 422
    assert client.post(f"{A1}/ingest", json={"messages": [{"content": "hi", "created_at": moment}]}).status_code == 422
    assert client.post(f"{A1}/facts", json={**fact, "observed_at": moment}).status_code == 422
    for written in ("-0001-01-01", "infinity", "0001-01-01"):
        sql = f"insert into chat_turns (session_id, role, content, created_at) values ('t', 'user', 'hi', '{written}')"
        assert client.post("/v1/query/execute?agent_id=a1", json={"sql": sql}).status_code == 422
    assert client.get(f"{A1}/threads/t/messages").json()["messages"][0]["content"] == "hi"


@pytest.mark.parametrize(
    "value", ["'infinity'::timestamp", "date '-5000-01-01'", "[date '12000-01-01']", "timestamptz '20000-01-01'"]
)
def test_a_date_that_python_has_not_is_told(client: TestClient, value: str) -> None:
    answer = client.post("/v1/query/execute", json={"sql": f"select {value}"})
    assert answer.status_code == 422
    assert "varchar" in answer.json()["detail"]
    assert client.post("/v1/query/execute", json={"sql": f"select ({value})::varchar"}).status_code == 200
