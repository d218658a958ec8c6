"""Cases from real bug reports (field/cases.jsonl) about what models answer, from the HTTP answer to the fact table."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

import recall_sql
from tests.servers import Call, Reply, ScriptedServer, chat, embeddings, error

SCHEMA_ECHO = json.dumps({"$defs": {"Fact": {"type": "object"}}, "properties": {"facts": {"type": "array"}}})


def fact(key: str | None, value: str = "true", **more: Any) -> dict[str, Any]:
    """A fact as a model writes it; without fact_key if `key` is None."""
    named = {} if key is None else {"fact_key": key}
    return {"category": "dietary", **named, "fact_value": value, "confidence": 0.9, "kind": "KNOWLEDGE"} | more


def facts(*given: dict[str, Any]) -> str:
    return json.dumps({"facts": list(given)})


@pytest.fixture
def told(con: duckdb.DuckDBPyConnection) -> Callable[..., dict[str, int]]:
    """Reads and lands what a user said, with the model at `server`; returns what the step extract reported."""
    con.execute("select recall_set('backoff', 0.001)").fetchall()

    def run(server: ScriptedServer, *messages: str) -> dict[str, int]:
        if messages:
            con.execute("insert into chat_threads (session_id) values ('s')")
            con.execute(
                "insert into chat_turns (session_id, position, role, content)"
                " select 's', generate_subscripts($1, 1), 'user', unnest($1)",
                [list(messages)],
            )
        read = recall_sql.run(con, "conversation_memory/extract", model=server.model())
        recall_sql.run(con, "conversation_memory/land")
        return read.tables[-1].table.to_pylist()[0]

    return run


def beliefs(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    return con.execute("select fact_key, fact_value from chat_facts order by all").fetchall()


def statuses(con: duckdb.DuckDBPyConnection) -> list[tuple[int, str]]:
    return con.execute(
        "select attempt, status from recall_calls where function <> 'EMBED' order by called_at"
    ).fetchall()


def test_f06_a_fact_that_replaces_one_that_is_not_there(con, told):
    with ScriptedServer(lambda call: chat(facts(fact("vegan", replaces="9999")))) as server:
        told(server, "I eat vegan")
    assert beliefs(con) == [("vegan", "true")]
    reasons = con.execute("select event, reason from chat_fact_history").fetchall()
    assert [event for event, _ in reasons] == ["created"] and "9999" in reasons[0][1]


@pytest.mark.parametrize(
    "around",
    [
        "Here are the facts I found: {} Let me know if you need more.",  # F08
        "```json\n{}\n```",  # F09
        "```\n{}\n```",
        '<think>A vegan? {{"facts": []}} Let me see.</think>\n{}',  # F12
        'A vegan, I think. {{"facts": [</think>{}',
    ],
)
def test_f08_f09_f12_prose_fences_and_thinking_around_the_answer(con, told, around):
    with ScriptedServer(lambda call: chat(around.format(facts(fact("vegan"))))) as server:
        assert told(server, "I eat vegan") == {"turns": 1, "read": 1, "still_pending": 0}
        assert len(server.calls) == 1
    assert beliefs(con) == [("vegan", "true")]
    assert "think" not in str(con.execute("select answer from recall_memo where answer is not null").fetchall())


def test_f10_of_three_facts_the_second_has_no_key(con, told):
    with ScriptedServer(lambda call: chat(facts(fact("vegan"), fact(None), fact("gluten_free")))) as server:
        assert told(server, "I eat vegan and gluten free")["read"] == 1
        assert len(server.calls) == 1
    assert beliefs(con) == [("gluten_free", "true"), ("vegan", "true")]
    refused = con.execute("select event, reason from chat_fact_history where event like 'rejected%'").fetchall()
    assert [event for event, _ in refused] == ["rejected_invalid"] and "fact_key" in refused[0][1]


def test_f11_the_schema_instead_of_data_then_the_data(con, told):
    with ScriptedServer(lambda call: chat(SCHEMA_ECHO if call.number == 0 else facts(fact("vegan")))) as server:
        told(server, "I eat vegan")
        first, second = server.calls
    assert second.prompt.startswith(first.prompt)
    assert (
        "Your last answer can't be used: it repeats the JSON schema" in second.prompt and SCHEMA_ECHO in second.prompt
    )
    assert beliefs(con) == [("vegan", "true")]
    assert statuses(con) == [(1, "invalid"), (2, "ok")]


def test_f11_the_schema_twice_leaves_the_turn_pending(con, told):
    def script(call: Call) -> Reply:
        return chat(SCHEMA_ECHO if "vegan" in call.prompt else facts(fact("lactose_free")))

    with ScriptedServer(script) as server:
        assert told(server, "I avoid lactose", "I eat vegan") == {"turns": 2, "read": 1, "still_pending": 1}
        assert len(server.calls) == 3
        assert beliefs(con) == [("lactose_free", "true")]
        assert con.execute("select count(*) from recall_calls where error like '%JSON schema%'").fetchall() == [(2,)]
        server.script = lambda call: chat(facts(fact("vegan")))
        assert told(server) == {"turns": 1, "read": 1, "still_pending": 0}
    assert ("vegan", "true") in beliefs(con)


@pytest.mark.parametrize("answer", [[[1.0, 0.0]] * 5, [[1.0, 0.0]] * 9 + [[]]])
def test_f22_fewer_vectors_than_texts_or_an_empty_one(answer):
    with ScriptedServer(lambda call: embeddings(answer)) as server:
        settings = {"embedder": server.model(), "embedding_dimension": 2, "retries": 1, "backoff": 0.001}
        with recall_sql.connect(settings=settings) as con:
            con.execute("create table t as select 'text ' || range as text from range(10)")
            with pytest.raises(duckdb.InvalidInputException, match="EMBED with http:scripted"):
                con.execute("create table v as select text, embed(text) as v from t").fetchall()
            assert con.execute("select count(*) from recall_memo").fetchall() == [(0,)]
            rows = con.execute("select count(*), count(embed(text, {on_error: 'null'})) from t").fetchall()
            assert rows == [(10, 0)]


def test_f27_too_many_requests_then_success_and_two_faults_then_success(con):
    script = {
        "limited": [error(429, headers={"Retry-After": "0.3"}), chat("fine")],
        "faulty": [error(500), error(500), chat("fine")],
    }
    con.execute("select recall_set('backoff', 0.001)").fetchall()
    with ScriptedServer(lambda call: script[call.prompt].pop(0)) as server:
        for prompt in script:
            assert con.execute("select generate(?, ?)", [prompt, server.model()]).fetchall() == [("fine",)]
    assert statuses(con) == [(1, "429"), (2, "ok"), (1, "500"), (2, "500"), (3, "ok")]
    first, second = (
        row[0] for row in con.execute("select epoch(called_at) from recall_calls order by called_at limit 2").fetchall()
    )
    assert second - first >= 0.3


def test_f27_a_request_over_the_providers_limit_is_split():
    def script(call: Call) -> Reply:
        if len(call.texts) > 3:
            return error(400, "This model's maximum context length is 8192 tokens, your request has 9000 tokens")
        return embeddings([[1.0, float(len(text))] for text in call.texts])

    with (
        ScriptedServer(script) as server,
        recall_sql.connect(settings={"embedder": server.model(), "embedding_dimension": 2}) as con,
    ):
        con.execute("create table t as select repeat('x', range::int) as text from range(10)")
        rows = con.execute("select length(text), embed(text) as v from t").fetchall()
        assert all(v[1] == pytest.approx((length or 1) * v[0], rel=1e-5) for length, v in rows)
        good = "select sum(inputs)::int, count(*) from recall_calls where status = 'ok'"
        assert con.execute(good).fetchall() == [(10, 4)]


def test_f28_forty_messages_take_at_most_forty_calls_and_none_again(con, told):
    with ScriptedServer(lambda call: chat(facts(fact("vegan")))) as server:
        report = told(server, *(f"message number {number}" for number in range(40)))
        assert report == {"turns": 40, "read": 40, "still_pending": 0} and len(server.calls) <= 40
        before = len(server.calls)
        told(server)
        assert len(server.calls) == before
