"""Several inputs in one request: nothing is matched by position, and what is missing is asked again alone."""

from __future__ import annotations

import json
import re

import pytest

import recall_sql
from recall_sql.calls.packing import batches
from tests.servers import Call, Reply, ScriptedServer, chat, error

ID = re.compile(r'<input id="(i\d+)">\n(.*?)\n</input>', re.DOTALL)


def fact(text: str) -> dict[str, object]:
    return {"category": "test", "fact_key": "said", "fact_value": text, "confidence": 0.9}


def said(prompt: str) -> str:
    return json.loads(prompt.strip().splitlines()[-1])


def honest(call: Call) -> list[dict[str, object]]:
    """The answers of a packed request, each with its id."""
    return [{"id": name, "facts": [fact(said(prompt))]} for name, prompt in ID.findall(call.prompt)]


def reply(call: Call, answers: list[dict[str, object]] | None = None) -> Reply:
    if not ID.search(call.prompt):
        return chat(json.dumps({"facts": [fact(said(call.prompt))]}))
    return chat(json.dumps({"answers": honest(call) if answers is None else answers}))


@pytest.fixture
def server():
    with ScriptedServer(reply) as running:
        yield running


@pytest.fixture
def con(server):
    settings = {"extractor": server.model(), "pack": 4, "backoff": 0.001}
    with recall_sql.connect(settings=settings) as connection:
        yield connection


def extracted(con, count: int = 8) -> bool:
    """Whether each of so many texts got its own facts."""
    query = "select t, extract_facts(t)[1].fact_value from (select 'text ' || range as t from range(?))"
    return all(text == value for text, value in con.execute(query, [count]).fetchall())


def test_short_inputs_share_a_request_and_each_gets_its_own_answer(con, server):
    assert extracted(con, 9)
    assert sorted(len(ID.findall(call.prompt)) for call in server.calls) == [0, 4, 4]
    schema = next(call.json for call in server.calls if ID.search(call.prompt))["response_format"]["json_schema"]
    assert schema["strict"] is True and schema["schema"]["properties"]["answers"]["items"]["required"] == [
        "id",
        "facts",
    ]
    assert con.execute("select inputs from recall_calls order by 1").fetchall() == [(1,), (4,), (4,)]
    before = len(server.calls)
    con.execute("select recall_set('pack', 1)").fetchall()
    assert extracted(con, 9)  # remembered one by one, whoever shared a request
    assert len(server.calls) == before


@pytest.mark.parametrize(
    ("spoil", "alone"),
    [
        (lambda given: given[:-1], 1),
        (lambda given: [*given, given[0]], 1),
        (lambda given: [*given, {"id": "i9", "facts": []}], 0),
        (lambda given: [{**given[0], "id": "i2"}, *given[1:]], 2),
        (lambda given: given[::-1], 0),
        (lambda given: [{"facts": one["facts"]} for one in given], 4),
        (lambda given: [{**given[0], "facts": "none"}, *given[1:]], 1),
    ],
)
def test_a_missing_doubled_or_unknown_id(con, server, spoil, alone):
    server.script = lambda call: reply(call, spoil(honest(call)) if ID.search(call.prompt) else None)
    assert extracted(con, 4)
    assert sum(not ID.search(call.prompt) for call in server.calls) == alone


def test_a_pack_that_is_too_long_is_halved(con, server):
    def script(call: Call) -> Reply:
        return error(400, "context_length_exceeded") if len(ID.findall(call.prompt)) > 2 else reply(call)

    server.script = script
    assert extracted(con, 4)
    assert sorted(len(ID.findall(call.prompt)) for call in server.calls) == [2, 2, 4]


def test_a_pack_that_fails_is_every_rows_failure(con, server):
    server.script = lambda call: error(400, "no")
    query = "select count(*), count(extract_facts('text ' || range, {on_error: 'null'})) from range(4)"
    assert con.execute(query).fetchall() == [(4, 0)]
    assert len(server.calls) == 1


def test_long_inputs_go_alone_and_one_pack_per_row_is_the_default(con, server):
    con.execute("select extract_facts(repeat('long ', 2000) || range) from range(2)").fetchall()
    assert not any(ID.search(call.prompt) for call in server.calls)
    con.execute("select recall_set('pack', null)").fetchall()
    assert extracted(con, 3) and not any(ID.search(call.prompt) for call in server.calls)


def test_batches_are_bounded_by_count_and_tokens():
    assert batches([1, 2, 3, 4, 5], lambda item: item, most=2, tokens=6) == [[1, 2], [3], [4], [5]]
    assert batches([9, 1], lambda item: item, most=5, tokens=6) == [[9], [1]]
    assert batches([], len, most=5, tokens=6) == []


def test_prompts_that_begin_alike_go_out_one_behind_the_other(server):
    """What a server has just read it needn't read again."""
    with recall_sql.connect(settings={"extractor": server.model(), "concurrency": 1}) as con:
        con.execute(
            "select extract_facts('text ' || i, {known: [{category: 'c', fact_key: 'k', fact_value: u}]})"
            " from (select range // 3 as i, 'user ' || range % 3 as u from range(12))"
        ).fetchall()
    users = [re.search(r"user \d", call.prompt).group() for call in server.calls]
    assert users == sorted(users) and len(users) == 12
