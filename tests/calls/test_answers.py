"""Answers that aren't the JSON that was asked for: read as far as is safe, asked for once more, then an error."""

from __future__ import annotations

import json

import duckdb
import pytest

import recall_sql
from recall_sql.calls.answers import as_json
from recall_sql.errors import InputError
from recall_sql.functions import parse_facts
from tests.servers import ScriptedServer, chat

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
OPTIONS = f"{{json_schema: '{json.dumps(SCHEMA)}'}}"


@pytest.fixture
def server():
    with ScriptedServer(lambda call: chat('{"name": "Ann"}')) as running:
        yield running


@pytest.fixture
def con(server):
    with recall_sql.connect(settings={"llm": server.model(), "backoff": 0.001}) as connection:
        yield connection


@pytest.mark.parametrize(
    "answer",
    [
        '{"name": "Ann"}',
        'Sure: {"name": "Ann"}. Anything else?',
        '```json\n{"name": "Ann"}\n```',
        '<think>{"name": "Bob"}?</think>{"name": "Ann"}',
        '{"name": "Ann",}',
        "{'name': 'Ann'}",
        'As you wished ["Bob"]: {"name": "Ann"}',
        '{"properties": {}} no, {"name": "Ann"}',
        '\ufeff{"name": "Ann"}',
    ],
)
def test_read_as_far_as_is_safe(answer):
    assert json.loads(as_json(answer, SCHEMA)) == {"name": "Ann"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "isn't the JSON that was asked for"),
        ("I can't.", "isn't the JSON that was asked for"),
        ('{"name": "An', "isn't the JSON that was asked for"),
        ('["Ann"]', "a JSON object was expected"),
        ('{"first": "Ann"}', "it lacks name"),
        ('{"$defs": {}, "properties": {"name": {}}}', "repeats the JSON schema"),
        ("<think>name? Ann", "isn't the JSON that was asked for"),
    ],
)
def test_what_is_not_guessed(answer, why):
    with pytest.raises(InputError, match=why):
        as_json(answer, SCHEMA)


def test_other_types_than_objects():
    assert as_json("Here: [1, 2,]", {"type": "array"}) == "[1, 2]"
    assert as_json("12", {"type": "integer"}) == "12"
    assert as_json('"a"', {"type": "string"}) == '"a"'
    with pytest.raises(InputError):
        as_json("true", {"type": "number"})


def test_a_useless_answer_is_asked_for_once_more_and_the_second_is_kept(con, server):
    server.script = lambda call: chat("Ann, I think" if call.number == 0 else '{"name": "Ann"}')
    assert con.execute(f"select generate('who?', {OPTIONS})").fetchall() == [('{"name": "Ann"}',)]
    assert "Ann, I think" in server.calls[1].prompt and "isn't the JSON that was asked for" in server.calls[1].prompt
    assert con.execute("select attempt, status from recall_calls order by attempt").fetchall() == [
        (1, "invalid"),
        (2, "ok"),
    ]
    con.execute(f"select generate('who?', {OPTIONS})").fetchall()
    assert len(server.calls) == 2


def test_useless_twice_is_an_error_that_quotes_nobody(con, server):
    server.script = lambda call: chat("My secret is 4711")
    with pytest.raises(duckdb.InvalidInputException, match=r"its answer isn't the JSON .* \(asked twice\)"):
        con.execute(f"select generate('who?', {OPTIONS})").fetchall()
    assert "4711" not in str(con.execute("from recall_calls").fetchall())
    assert con.execute("select count(*) from recall_memo").fetchall() == [(0,)]


def test_an_answer_that_was_cut_off_gets_more_room_once(con, server):
    def script(call):
        room = call.json["max_tokens"]
        return chat('{"name": "An', finish_reason="length") if room <= 512 else chat('{"name": "Ann"}')

    server.script = script
    assert con.execute(f"select generate('who?', {OPTIONS})").fetchall() == [('{"name": "Ann"}',)]
    assert [call.json["max_tokens"] for call in server.calls] == [512, 1024]
    server.script = lambda call: chat('{"name": "Ann"}', finish_reason="length")
    with pytest.raises(duckdb.InvalidInputException, match=r"was cut off at max_tokens .*raise max_tokens"):
        con.execute(f"select generate('and?', {OPTIONS})").fetchall()


def test_a_text_that_was_cut_off_is_an_answer(con, server):
    server.script = lambda call: chat("Once upon", finish_reason="length")
    assert con.execute("select generate('tell')").fetchall() == [("Once upon",)]


def test_refusal_null_content_and_missing_usage(con, server):
    replies = {
        "refusal": chat(None, refusal="I can't help with that."),
        "null": chat(None),
        "usage": chat("fine", usage={}),
    }
    server.script = lambda call: replies[call.prompt]
    rows = con.execute(
        "select p, generate(p, {on_error: 'null'}) from (values ('refusal'), ('null'), ('usage')) x(p)"
    ).fetchall()
    assert rows == [("refusal", None), ("null", None), ("usage", "fine")]
    assert con.execute("select count(*), count(tokens_in), count(error) from recall_calls").fetchall() == [(3, 0, 2)]


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        (0.9, 0.9),
        ("0.9", 0.9),
        ("90%", 0.9),
        ("90 %", 0.9),
        (90, 0.9),
        ("high", 0.9),
        ("Very High", 0.95),
        ("medium", 0.6),
        ("0,8", 0.8),
        (1, 1.0),
        (None, None),
        ("", None),
    ],
)
def test_confidences_that_are_understood(given, understood):
    (fact,) = parse_facts.parse(
        json.dumps([{"category": "c", "fact_key": "k", "fact_value": "v", "confidence": given}])
    )
    assert fact["confidence"] == understood


@pytest.mark.parametrize("given", ["sure thing", [0.9], {"score": 1}, True, "NaN", "1e999"])
def test_confidences_that_are_refused_when_landed(con, server, given):
    answer = json.dumps(
        {"facts": [{"category": "dietary", "fact_key": "vegan", "fact_value": "true", "confidence": given}]}
    )
    server.script = lambda call: chat(answer)
    con.execute("insert into chat_threads (session_id) values ('s')")
    con.execute("insert into chat_turns (session_id, position, role, content) values ('s', 1, 'user', 'I eat vegan')")
    recall_sql.run(con, "conversation_memory/extract", model=server.model())
    recall_sql.run(con, "conversation_memory/land")
    assert con.execute("select count(*) from chat_facts").fetchall() == [(0,)]
    assert con.execute("select event, reason from chat_fact_history").fetchall()[0][0] == "rejected_invalid"
