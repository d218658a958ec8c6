"""What each route does, as a client sees it: the real database, worker, extractor and embedder behind it."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import duckdb
import pytest
from starlette.testclient import TestClient

from recall_sql import Memory, run

A1 = "/v1/agents/a1"


def told(client: TestClient, *contents: str, thread_id: str | None = "t1", **more: Any) -> dict[str, Any]:
    body = {"messages": [{"content": content} for content in contents], "thread_id": thread_id, **more}
    answer = client.post(f"{A1}/ingest?wait=true", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def facts(client: TestClient, **params: Any) -> dict[str, str]:
    found = client.get(f"{A1}/facts", params=params).json()["facts"]
    return {f"{fact['category']}.{fact['fact_key']}": fact["fact_value"] for fact in found}


# --- threads ----------------------------------------------------------------------------------------------------------


def test_a_thread_is_begun_listed_read_back_and_erased(client: TestClient, con: duckdb.DuckDBPyConnection) -> None:
    made = client.post(f"{A1}/threads", json={"thread_id": "trip", "title": "Scotland"})
    assert made.status_code == 201 and made.json()["title"] == "Scotland" and made.json()["turns"] == 0
    assert client.post(f"{A1}/threads", json={"thread_id": "trip", "title": "other"}).status_code == 200
    named = client.post(f"{A1}/threads", json={}).json()["thread_id"]
    assert uuid.UUID(named)
    told(client, "I'm vegetarian.", "I have two dogs.", thread_id="trip")
    listed = client.get(f"{A1}/threads").json()["threads"]
    assert [(thread["thread_id"], thread["turns"]) for thread in listed] == [("trip", 2), (named, 0)]
    assert client.get(f"{A1}/threads?limit=1&offset=1").json()["threads"] == listed[1:]
    messages = client.get(f"{A1}/threads/trip/messages").json()["messages"]
    assert [(m["position"], m["role"], m["content"]) for m in messages] == [
        (1, "user", "I'm vegetarian."),
        (2, "user", "I have two dogs."),
    ]
    assert client.get(f"{A1}/threads/trip/messages?after=1&limit=5").json()["messages"] == messages[1:]
    assert client.delete(f"{A1}/threads/trip").status_code == 204
    for gone in (client.get(f"{A1}/threads/trip/messages"), client.delete(f"{A1}/threads/trip")):
        assert (gone.status_code, gone.json()["detail"]) == (404, "there is no such thread")
    assert facts(client) == {}
    assert con.cursor().execute("select count(*) from chat_turns").fetchall() == [(0,)]


def test_what_belongs_to_no_thread_is_seen_from_all(client: TestClient) -> None:
    told(client, "My name is Ana.", thread_id=None)
    client.post(f"{A1}/facts", json={"text": "3000", "category": "budget", "fact_key": "max_usd", "thread_id": "t1"})
    assert "budget.max_usd" in facts(client, thread_id="t1")
    assert "budget.max_usd" not in facts(client, thread_id="t2") != {}


# --- ingest -----------------------------------------------------------------------------------------------------------


def test_ingest_answers_at_once_and_with_wait_says_what_was_learned(client: TestClient) -> None:
    at_once = client.post(f"{A1}/ingest", json={"content": "I live in Berlin.", "thread_id": "t1"})
    assert at_once.status_code == 202
    assert at_once.json()["turns"] == [{"turn_id": 1, "outcome": "stored", "status": None}]
    learned = told(client, "I'm vegetarian.")
    assert learned["turns"] == [{"turn_id": 2, "outcome": "stored", "status": "done"}]
    assert [(event["event"], event["fact_key"]) for event in learned["learned"]] == [("created", "vegetarian")]
    changed = told(client, "I eat fish now.")["learned"]
    assert [(event["event"], event["fact_key"]) for event in changed] == [("superseded", "pescatarian")]


def test_a_turn_that_nobody_reads_is_not_waited_for(client: TestClient) -> None:
    answer = client.post(f"{A1}/ingest?wait=true", json={"content": "You are welcome.", "role": "assistant"})
    assert answer.status_code == 200 and answer.json()["turns"][0]["status"] is None


def test_the_time_to_wait_is_bounded(con: duckdb.DuckDBPyConnection, client: TestClient) -> None:
    client.app.state.service.worker.stop()
    answer = client.post(f"{A1}/ingest?wait=true&timeout=0.05", json={"content": "I'm vegetarian."})
    assert answer.status_code == 202 and answer.json()["turns"][0]["status"] == "pending"
    assert client.get("/healthz").status_code == 503


def test_those_who_wait_keep_nobody_else_waiting(con: duckdb.DuckDBPyConnection, client: TestClient) -> None:
    client.app.state.service.worker.stop()
    address = f"{A1}/ingest?wait=true&timeout=20"
    with ThreadPoolExecutor(61) as pool:
        waiting = [pool.submit(client.post, address, json={"content": f"I have {n} cats."}) for n in range(60)]
        deadline = time.monotonic() + 20
        while con.cursor().execute("select count(*) from chat_turns").fetchall() != [(60,)]:
            assert time.monotonic() < deadline
        asked = pool.submit(client.get, f"{A1}/facts")
        assert asked.result(10).status_code == 200 and not any(future.done() for future in waiting)
        run(con.cursor(), "conversation_memory/all")
        for future in [watcher for found in client.app.state.service.worker._watched.values() for watcher in found]:
            future.set_result("done")
        assert {future.result(20).status_code for future in waiting} == {200}


def test_the_same_request_again_stores_nothing(client: TestClient, con: duckdb.DuckDBPyConnection) -> None:
    body = {"messages": [{"content": "I'm vegetarian."}, {"role": "assistant", "content": "Noted."}], "thread_id": "t1"}
    first, again = (client.post(f"{A1}/ingest", json=body, headers={"Idempotency-Key": "k1"}) for _ in range(2))
    assert [turn["turn_id"] for turn in first.json()["turns"]] == [turn["turn_id"] for turn in again.json()["turns"]]
    assert "Idempotent-Replayed" not in first.headers and again.headers["Idempotent-Replayed"] == "true"
    other = client.post(f"{A1}/ingest", json={"content": "Other."}, headers={"Idempotency-Key": "k1"})
    assert other.status_code == 422 and "another request" in other.json()["detail"]
    elsewhere = client.post(f"{A1}/ingest?user_id=lina", json=body, headers={"Idempotency-Key": "k1"})
    assert elsewhere.json()["turns"][0]["outcome"] == "stored"
    assert con.cursor().execute("select count(*) from chat_turns").fetchall() == [(4,)]
    waited = client.post(f"{A1}/ingest?wait=true", json=body, headers={"Idempotency-Key": "k1"})
    assert waited.status_code == 200 and waited.json()["learned"][0]["fact_key"] == "vegetarian"


def test_what_is_forgotten_leaves_no_request_behind(client: TestClient, con: duckdb.DuckDBPyConnection) -> None:
    for user in ("lina", "marc"):
        body = {"content": f"I'm {user}.", "thread_id": "t1", "user_id": user}
        assert (
            client.post(f"{A1}/ingest?wait=true", json=body, headers={"Idempotency-Key": f"of {user}"}).status_code
            == 200
        )
    memory = Memory(con.cursor(), agent_id="a1", user_id="lina")
    assert [request["idempotency_key"] for request in memory.export()["requests"]] == ["of lina"]
    memory.forget(everything=True)
    left = con.cursor().execute("select user_id from recall_requests").fetchall()
    assert left == [("marc",)] and memory.export()["requests"] == []


def test_many_requests_at_once_are_each_stored_once_in_their_own_order(client: TestClient) -> None:
    def tell(number: int) -> list[str]:
        body = {"messages": [{"content": f"{number} {nth}"} for nth in range(3)], "thread_id": f"t{number % 4}"}
        headers = {"Idempotency-Key": f"k{number // 2}"} if number < 8 else {}
        return [
            turn["outcome"] for turn in client.post(f"{A1}/ingest", json=body, headers=headers).json().get("turns", [])
        ]

    with ThreadPoolExecutor(12) as pool:
        outcomes = list(pool.map(tell, range(40)))
    stored = [number for number, found in enumerate(outcomes) if found == ["stored"] * 3]
    assert len(stored) == 36 and all(found == [] for number, found in enumerate(outcomes) if number not in stored)
    for thread in range(4):
        messages = client.get(f"{A1}/threads/t{thread}/messages").json()["messages"]
        assert [message["position"] for message in messages] == list(range(1, len(messages) + 1))
        contents = [message["content"] for message in messages]
        assert all(
            contents[i : i + 3] == [f"{contents[i].split()[0]} {nth}" for nth in range(3)]
            for i in range(0, len(contents), 3)
        )


# --- facts ------------------------------------------------------------------------------------------------------------


def test_a_fact_is_written_corrected_explained_and_taken_back(client: TestClient) -> None:
    made = client.post(f"{A1}/facts", json={"text": "Bob works in the Berlin office.", "source": "USER"})
    assert made.status_code == 201
    fact = made.json()
    assert (fact["category"], fact["fact_value"], fact["source"]) == ("note", "Bob works in the Berlin office.", "USER")
    one = f"{A1}/facts/{fact['fact_id']}"
    changed = client.patch(one, json={"text": "Bob works in Paris."})
    assert (changed.status_code, changed.json()["fact_id"]) == (200, fact["fact_id"])
    assert client.delete(one).status_code == 204
    assert client.delete(one).status_code == client.patch(one, json={"text": "x"}).status_code == 404
    events = client.get(f"{one}/history").json()["history"]
    assert [(event["event"], event["after_value"]) for event in events] == [
        ("created", "Bob works in the Berlin office."),
        ("superseded", "Bob works in Paris."),
        ("retracted", None),
    ]
    assert client.get(f"{A1}/history?event=retracted").json()["history"] == events[2:]
    assert client.delete(f"{one}?erase=true").status_code == 204
    assert client.get(f"{one}/history").status_code == client.delete(f"{one}?erase=true").status_code == 404


def test_a_less_trusted_source_is_refused_and_both_are_named(client: TestClient) -> None:
    fact_id = client.post(
        f"{A1}/facts", json={"text": "Berlin", "category": "location", "fact_key": "home_city"}
    ).json()["fact_id"]
    for refused in (
        client.patch(f"{A1}/facts/{fact_id}", json={"text": "Paris", "source": "DOCUMENT"}),
        client.post(
            f"{A1}/facts", json={"text": "Paris", "category": "location", "fact_key": "home_city", "source": "DOCUMENT"}
        ),
        client.delete(f"{A1}/facts/{fact_id}?source=DOCUMENT"),
    ):
        assert refused.status_code == 409 and refused.headers["content-type"] == "application/problem+json"
        found = refused.json()
        assert (found["event"], found["source"], found["held_by"]) == ("rejected_trust", "DOCUMENT", "USER")
    rule = client.post(f"{A1}/facts", json={"text": "Obey.", "kind": "RULE", "source": "DOCUMENT"})
    assert (rule.status_code, rule.json()["source"]) == (409, "DOCUMENT")
    assert facts(client) == {"location.home_city": "Berlin"}


def test_facts_as_they_were(client: TestClient) -> None:
    before = told(client, "I'm vegetarian.")
    moment = client.get(f"{A1}/history").json()["history"][-1]["recorded_at"]
    told(client, "I eat fish now.")
    assert before and "dietary.pescatarian" in facts(client)
    assert facts(client, as_of=moment) == {"dietary.vegetarian": "true"}


def test_retrieval_finds_rules_always_and_the_rest_by_the_question(client: TestClient) -> None:
    for text, kind in (
        ("Answer briefly.", "RULE"),
        ("Likes thai food.", "PREFERENCE"),
        ("Has a cat called Mochi.", "KNOWLEDGE"),
    ):
        client.post(f"{A1}/facts", json={"text": text, "kind": kind})
    told(client, "Mochi scratched the sofa again.", thread_id="t1")

    def found(query: str, **more: Any) -> list[str]:
        return [
            fact["fact_value"] for fact in client.post(f"{A1}/retrieve", json={"query": query, **more}).json()["facts"]
        ]

    assert found("What pets do I have?")[:2] == ["Answer briefly.", "Has a cat called Mochi."]
    assert found("What pets do I have?", min_score=0.25) == ["Answer briefly.", "Has a cat called Mochi."]
    assert found("Where should we have dinner?")[:2] == ["Answer briefly.", "Likes thai food."]
    assert found("What pets do I have?", kinds=["KNOWLEDGE"]) == ["Has a cat called Mochi."]
    assert found("What pets do I have?", k=0) == ["Answer briefly."]
    whole = client.post(f"{A1}/retrieve", json={"query": "the sofa", "turns": 3, "context": True}).json()
    assert whole["turns"][0]["content"] == "Mochi scratched the sofa again." and whole["turns"][0]["thread_id"] == "t1"
    assert "Answer briefly." in whole["context"]


# --- records, SQL, operations -----------------------------------------------------------------------------------------


def test_records_are_told_and_asked(client: TestClient, con: duckdb.DuckDBPyConnection) -> None:
    schema = {
        "type": "object",
        "properties": {"recipient": {"type": "string"}, "amount": {"type": "number"}},
        "required": ["recipient", "amount"],
    }
    Memory(con.cursor()).add_schema("payments", "Payments made to people", schema)
    said = client.post("/v1/process", json={"message": "Paid Ana $20", "user_id": "lina"}).json()
    assert (said["action"], said["data"]["amount"]) == ("insert", 20)
    assert client.post("/v1/ask", json={"question": "How much have I paid?", "user_id": "lina"}).json()["result"] == 20
    assert client.post("/v1/ask?user_id=marc", json={"question": "How much have I paid?"}).json()["result"] != 20
    nobody = client.post("/v1/process", json={"message": "Paid Ana $20"})
    assert nobody.status_code == 422 and "name a user" in nobody.json()["detail"]
    rows = client.post("/v1/query/execute?user_id=lina", json={"sql": "select recipient, amount from payments"}).json()
    assert rows == {"columns": ["recipient", "amount"], "rows": [["Ana", 20.0]], "truncated": False}


def test_sql_reads_and_writes_the_persons_rows_alone(client: TestClient) -> None:
    def sql(text: str, **more: Any) -> Any:
        return client.post("/v1/query/execute?agent_id=a1", json={"sql": text, **more})

    written = sql("insert into chat_facts (category, fact_key, fact_value) values ('pet', 'cat', 'Mochi')")
    assert written.json() == {"rows": 1, "events": {"created": 1}, "refused": []}
    assert sql("update chat_facts set fact_value = 'Luna' where category = 'pet'").json()["events"] == {"superseded": 1}
    refused = sql("delete from chat_facts where category = 'pet'", source="DOCUMENT").json()["refused"]
    assert refused[0]["event"] == "rejected_trust"
    read = sql("select fact_value, count(*) over () as n from chat_facts", user_id="default")
    assert read.json() == {"columns": ["fact_value", "n"], "rows": [["Luna", 1]], "truncated": False}
    assert sql("select * from range(5)", limit=2).json()["truncated"] is True
    for hostile in (
        "from recall_keys",
        "drop table chat_facts",
        "select 1; select 2",
        "select * from '/etc/passwd'",
        "copy chat_facts to 'x'",
    ):
        assert sql(hostile).status_code == 422


def test_how_the_server_does(client: TestClient) -> None:
    told(client, "I'm vegetarian.")
    assert client.get("/healthz").json()["status"] == "ok"
    numbers = client.get("/metrics")
    assert numbers.headers["content-type"].startswith("text/plain")
    for line in (
        'recall_http_requests_total{method="POST",route="/v1/agents/{agent_id}/ingest",status="200"} 1.0',
        'recall_turns{status="done"} 1.0',
        'recall_rows{table="chat_facts"} 1.0',
        "recall_worker_alive 1.0",
    ):
        assert line in numbers.text
    assert "default" not in numbers.text and "a1" not in numbers.text


@pytest.mark.parametrize(
    "user", ["lina@example.org", "Zoë Müller", "ユーザー", "o'brien", '"; drop table chat_facts; --']
)
def test_a_name_is_a_name(client: TestClient, user: str) -> None:
    thread = f"chat of {user}"
    stored = client.post(
        f"{A1}/ingest", params={"user_id": user, "wait": True}, json={"content": "I'm vegetarian.", "thread_id": thread}
    )
    assert stored.status_code == 200
    assert client.get(f"{A1}/threads", params={"user_id": user}).json()["threads"][0]["thread_id"] == thread
    assert facts(client) == {} != facts(client, user_id=user)
