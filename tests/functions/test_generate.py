"""GENERATE against a scripted OpenAI-compatible server: what is sent, what is kept, what a failure does."""

from __future__ import annotations

import json

import duckdb
import pytest

import recall_sql
from tests.servers import ScriptedServer, chat, error


@pytest.fixture
def server():
    with ScriptedServer(lambda call: chat(call.prompt.upper())) as running:
        yield running


@pytest.fixture
def con(server):
    with recall_sql.connect(settings={"llm": server.model(), "retries": 0}) as connection:
        yield connection


def refused(con: duckdb.DuckDBPyConnection, sql: str) -> str:
    with pytest.raises(duckdb.InvalidInputException) as caught:
        con.execute(sql).fetchall()
    return str(caught.value)


def test_an_answer_per_row_and_null_for_null(con, server):
    rows = con.execute("select generate(t) from (values ('a'), (null), ('b'), ('a')) x(t)").fetchall()
    assert rows == [("A",), (None,), ("B",), ("A",)]
    assert sorted(call.prompt for call in server.calls) == ["a", "b"]
    assert con.execute("select generate(null)").fetchall() == [(None,)]


def test_prompts_that_begin_alike_follow_each_other_and_rows_get_their_own_answers():
    """A server that caches prefixes has read the beginning of the one before."""
    with (
        ScriptedServer(lambda call: chat(f"to {call.prompt}")) as server,
        recall_sql.connect(settings={"llm": server.model(), "concurrency": 1}) as con,
    ):
        said = [f"{user}: {number}" for number in range(3) for user in ("ben", "ana")]
        rows = con.execute("select p, generate(p) from (select unnest($1) as p)", [said]).fetchall()
        assert rows == [(prompt, f"to {prompt}") for prompt in said]
        assert [call.prompt for call in server.calls] == sorted(said)


def test_options_reach_the_model(con, server):
    con.execute(
        "select generate('hi', {system: 'Be brief.', temperature: 0.5, max_tokens: 7,"
        """ json_schema: '{"type": "object"}', on_error: 'null'})"""
    ).fetchall()
    sent = server.calls[0].json
    assert sent["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    assert (sent["temperature"], sent["max_tokens"]) == (0.5, 7)
    assert sent["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_settings_reach_the_model(con, server):
    con.execute("select recall_set('temperature', 1), recall_set('max_tokens', 9)").fetchall()
    con.execute("select generate('hi')").fetchall()
    assert (server.calls[0].json["temperature"], server.calls[0].json["max_tokens"]) == (1, 9)


def test_another_model_by_name(con, server):
    con.execute(
        f"select generate('hi', '{server.model('other')}'), generate('hi', {{model: '{server.model('third')}'}})"
    ).fetchall()
    assert sorted(call.json["model"] for call in server.calls) == ["other", "third"]


def test_remembered_by_prompt_model_and_every_parameter(con, server):
    for _ in range(2):
        con.execute("select generate('hi'), generate('ho')").fetchall()
        con.execute("select generate('hi', {temperature: 1})").fetchall()
        con.execute("select generate('hi', {system: 'x'})").fetchall()
        con.execute(f"select generate('hi', '{server.model('other')}')").fetchall()
    assert len(server.calls) == 5
    con.execute("select generate('hi', {memo: false})").fetchall()
    assert len(server.calls) == 6


def test_explain_and_prepare_ask_nothing(con, server):
    con.execute("explain select generate('hi')").fetchall()
    con.execute("prepare p as select generate('hi')").fetchall()
    assert server.calls == []
    assert con.execute("execute p").fetchall() == [("HI",)]


def test_a_constant_prompt_over_many_rows_is_asked_once(con, server):
    assert con.execute("select count(generate('hi')) from range(3000)").fetchall() == [(3000,)]
    assert len(server.calls) == 1


def test_requests_are_in_flight_together_up_to_the_setting(con, server):
    server.script = lambda call: chat("x", delay=0.05)
    con.execute("select recall_set('concurrency', 4)").fetchall()
    con.execute("select generate('p' || range) from range(12)").fetchall()
    assert 2 <= server.most_in_flight <= 4


def test_the_bound_holds_for_statements_side_by_side(con, server):
    import threading

    server.script = lambda call: chat("x", delay=0.05)
    con.execute("select recall_set('concurrency', 2)").fetchall()

    def work(number: int) -> None:
        with con.cursor() as cursor:
            cursor.execute(f"select generate('{number} ' || range) from range(4)").fetchall()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(server.calls) == 12 and server.most_in_flight <= 2


def test_a_failure_names_everything_and_keeps_what_was_answered(con, server):
    server.script = lambda call: error(500, "out of cheese") if call.prompt == "p3" else chat("fine")
    message = refused(con, "select generate('p' || range) from range(8)")
    assert "GENERATE with http:scripted at" in message and "HTTP 500: out of cheese" in message
    assert isinstance(recall_sql.last_error(con), recall_sql.ModelError)
    assert recall_sql.last_error(con).status == 500
    assert len(server.calls) == 8
    server.script = lambda call: chat("fine")
    assert con.execute("select count(generate('p' || range)) from range(8)").fetchall() == [(8,)]
    assert len(server.calls) == 9


def test_on_error_null_as_option_and_as_setting(con, server):
    server.script = lambda call: error(500) if call.prompt == "p3" else chat("fine")
    query = "select count(*), count(generate('p' || range, {on_error: 'null'})) from range(8)"
    assert con.execute(query).fetchall() == [(8, 7)]
    con.execute("select recall_set('on_error', 'null')").fetchall()
    assert con.execute("select count(generate('p' || range)) from range(8)").fetchall() == [(7,)]
    assert len(server.calls) == 9  # only the failed one was asked again
    assert con.execute("select status, count(*) from recall_calls group by all order by all").fetchall() == [
        ("500", 2),
        ("ok", 7),
    ]


def test_an_answer_that_is_not_the_json_asked_for_is_a_failure(con, server):
    server.script = lambda call: chat('{"a": ')
    message = refused(con, """select generate('hi', {json_schema: '{"type": "object"}'})""")
    assert "GENERATE with http:scripted: its answer isn't the JSON that was asked for" in message
    server.script = lambda call: chat('{"a": 1}')
    again = con.execute("""select generate('hi', {json_schema: '{"type": "object"}'})""").fetchall()
    assert json.loads(again[0][0]) == {"a": 1}


def test_nul_in_an_answer_is_removed(con, server):
    server.script = lambda call: chat("a\x00b\x00")
    assert con.execute("select generate('hi')").fetchall() == [("ab",)]
    assert con.execute("select answer from recall_memo").fetchall() == [("ab",)]


def test_an_empty_answer_is_an_answer(con, server):
    server.script = lambda call: chat("")
    assert con.execute("select generate('hi')").fetchall() == [("",)]
    con.execute("select generate('hi')").fetchall()
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("1", "GENERATE: prompt must be VARCHAR, not"),
        ("'a', 'b', 'c'", "GENERATE takes 1 to 2 arguments, not 3"),
        ("'a', {temprature: 1}", "GENERATE: unknown option 'temprature'; did you mean 'temperature'?"),
        ("'a', {temperature: 9}", "GENERATE: option 'temperature'"),
        ("'a', {max_tokens: 0}", "GENERATE: option 'max_tokens'"),
        ("'a', {json_schema: 'nonsense'}", "GENERATE: option 'json_schema'"),
        ("'a', {json_schema: '[1]'}", "GENERATE: option 'json_schema': a JSON schema is an object"),
        ("'a', {on_error: 'skip'}", "GENERATE: option 'on_error'"),
        ("'a', 'gpt'", "GENERATE: unknown model 'gpt'"),
    ],
)
def test_what_is_wrong_with_the_call(con, server, arguments, complaint):
    assert complaint in refused(con, f"select generate({arguments})")
    assert server.calls == []


def test_a_schema_as_struct(con, server):
    server.script = lambda call: chat("{}")
    con.execute("select generate('hi', {json_schema: {type: 'object'}})").fetchall()
    assert server.calls[0].json["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_a_read_only_file_remembers_for_as_long_as_it_is_open(db, server):
    recall_sql.connect(db).close()
    with recall_sql.connect(db, read_only=True, settings={"llm": server.model()}) as con:
        con.execute("select generate('hi')").fetchall()
        con.execute("select generate('hi')").fetchall()
    assert len(server.calls) == 1
