"""The whole path against llama.cpp's own OpenAI-compatible server with SmolLM2: no script, no mock."""

from __future__ import annotations

import json

import pytest

import recall_sql
from tests.llama import llama_server

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def con():
    server = llama_server(context=2048, slots=2, key="key-of-llama-server")
    settings = {"llm": f"{server.listening_address}/v1#smollm2", "api_key": "key-of-llama-server", "timeout": 120}
    with recall_sql.connect(settings=settings) as connection:
        yield connection


def test_two_prompts_at_once_their_tokens_and_the_second_time(con):
    query = "select p, generate(p, {max_tokens: 8}) from (values ('Say hello.'), ('Count to three.')) x(p)"
    first = con.execute(query).fetchall()
    assert all(answer for _, answer in first)
    assert con.execute(query).fetchall() == first
    calls = con.execute(
        "select status, tokens_in > 5, tokens_out between 1 and 8, cost_usd from recall_calls"
    ).fetchall()
    assert calls == [("ok", True, True, None)] * 2
    assert con.execute("select rows, calls, saved_by_memo from recall_usage()").fetchall() == [(4, 2, 2)]


def test_a_json_schema_is_followed(con):
    options = f"{{max_tokens: 60, system: 'Give name and age.', json_schema: '{json.dumps(SCHEMA)}'}}"
    ((answer,),) = con.execute(f"select generate('I am Ann, I am 31.', {options})").fetchall()
    assert set(json.loads(answer)) == {"name", "age"}


def test_a_prompt_that_is_too_long_and_a_wrong_key_are_not_tried_again(con):
    before = con.execute("select count(*) from recall_calls").fetchall()[0][0]
    query = "select generate(repeat('word ', 4000), {on_error: 'null'})"
    assert con.execute(query).fetchall() == [(None,)]
    con.execute("select recall_set('api_key', 'another-key')").fetchall()
    assert con.execute("select generate('hi', {on_error: 'null'})").fetchall() == [(None,)]
    con.execute("select recall_set('api_key', 'key-of-llama-server')").fetchall()
    rows = con.execute("select status, attempt from recall_calls order by called_at offset ?", [before]).fetchall()
    assert rows == [("400", 1), ("401", 1)]
