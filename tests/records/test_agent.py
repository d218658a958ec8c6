"""Several steps: a scripted model calls tools; what it says is written out here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from recall_sql.errors import BudgetError, ConfigError, InputError, ModelError
from recall_sql.records import Records
from tests.records.schemas import NOW, declare
from tests.servers import Call, Reply, ScriptedServer, chat, error


def tool_calls(*calls: tuple[str, dict[str, Any]]) -> Reply:
    """A chat completion that calls tools."""
    wanted = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(calls)
    ]
    reply = chat("", finish_reason="tool_calls")
    reply.body["choices"][0]["message"] |= {"content": None, "tool_calls": wanted}
    return reply


def last_result(call: Call) -> Any:
    """What the last tool gave back, as the model sees it."""
    return json.loads(call.json["messages"][-1]["content"])


@pytest.fixture
def records(con: duckdb.DuckDBPyConnection) -> Records:
    made = declare(Records(con))
    made.insert("payments", {"recipient": "Jayden", "amount": "150"}, "ana", now=NOW.replace(day=1))
    made.insert("payments", {"recipient": "Jayden", "amount": "90"}, "ana", now=NOW.replace(day=2))
    made.insert("payments", {"recipient": "Jayden", "amount": "7"}, "bob", now=NOW.replace(day=3))
    return made


def amounts(con: duckdb.DuckDBPyConnection) -> list[tuple[str, float]]:
    return con.execute("select user_id, amount::double from payments order by all").fetchall()


BEFORE = [("ana", 90.0), ("ana", 150.0), ("bob", 7.0)]


def step_by_step(*steps: Callable[[Call], Reply]) -> Callable[[Call], Reply]:
    return lambda call: steps[min(call.number, len(steps) - 1)](call)


def find_then_update(call: Call) -> Reply:
    return tool_calls(
        ("update_record", {"schema": "payments", "id": last_result(call)[0]["id"], "updates": {"amount": 200}})
    )


FIND = tool_calls(("most_recent", {"schema": "payments", "where": {"recipient": "jayden"}}))


def test_updates_the_last_payment(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    rows: list[dict[str, Any]] = []
    records.on("update", rows.append)
    script = step_by_step(lambda _: FIND, find_then_update, lambda _: chat("Your last payment to Jayden is 200 now."))
    with ScriptedServer(script) as server:
        done = records.process(
            "update my last payment to Jayden to 200", "ana", now=NOW, model=server.model(), agent=True
        )
        assert [tool["function"]["name"] for tool in server.calls[0].json["tools"]][:2] == [
            "list_records",
            "find_records",
        ]
    assert done["matched"] and done["action"] == "update" and done["data"]["amount"] == 200
    assert [(hop["hop"], hop["tool"], hop["ok"]) for hop in done["hops"]] == [
        (1, "most_recent", True),
        (2, "update_record", True),
    ]
    assert amounts(con) == [("ana", 150.0), ("ana", 200.0), ("bob", 7.0)]
    assert [row["amount"] for row in rows] == [200]
    logged = con.execute("select attempt, status from recall_calls where function = 'AGENT' order by 1").fetchall()
    assert logged == [(1, "ok")] * 3


def test_deletes_the_two_oldest(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    def delete_both(call: Call) -> Reply:
        return tool_calls(*(("delete_record", {"schema": "payments", "id": row["id"]}) for row in last_result(call)))

    oldest = tool_calls(("most_recent", {"schema": "payments", "count": 2, "oldest": True}))
    with ScriptedServer(step_by_step(lambda _: oldest, delete_both, lambda _: chat("Done."))) as server:
        done = records.process("delete the two oldest payments", "ana", now=NOW, model=server.model(), agent=True)
    assert [change["action"] for change in done["changes"]] == ["delete", "delete"]
    assert amounts(con) == [("bob", 7.0)]


def test_a_dry_run_shows_and_writes_nothing(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    script = step_by_step(lambda _: FIND, find_then_update, lambda _: chat("It would be 200."))
    with ScriptedServer(script) as server:
        done = records.process("update it", "ana", now=NOW, model=server.model(), agent=True, dry_run=True)
    assert done["dry_run"] and done["action"] is None and done["changes"][0]["row"]["amount"] == 200
    assert amounts(con) == BEFORE


def test_the_limit_of_hops_takes_everything_back(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    con.execute("select recall_set('agent_hops', 3)")
    insert = tool_calls(("insert_record", {"schema": "payments", "data": {"recipient": "Zoe", "amount": 1}}))
    with ScriptedServer(lambda _: insert) as server:
        done = records.process("do it", "ana", now=NOW, model=server.model(), agent=True)
        assert len(server.calls) == 3
    assert not done["matched"] and "3 model calls" in done["reason"] and len(done["hops"]) == 3
    assert amounts(con) == BEFORE


def test_a_model_that_fails_half_way_takes_everything_back(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    insert = tool_calls(("insert_record", {"schema": "payments", "data": {"recipient": "Zoe", "amount": 1}}))
    with (
        ScriptedServer(step_by_step(lambda _: insert, lambda _: error(400, "sk-secret-key-1234"))) as server,
        pytest.raises(ModelError, match="HTTP 400") as failure,
    ):
        records.process("do it", "ana", now=NOW, model=server.model(), agent=True)
    assert "sk-secret" not in str(failure.value)
    assert amounts(con) == BEFORE


def test_a_budget_ends_it_and_takes_everything_back(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    con.execute("select recall_set('budget', '2 calls')")
    insert = tool_calls(("insert_record", {"schema": "payments", "data": {"recipient": "Zoe", "amount": 1}}))
    with ScriptedServer(lambda _: insert) as server:
        with pytest.raises(BudgetError, match="2 calls"):
            records.process("do it", "ana", now=NOW, model=server.model(), agent=True)
        assert len(server.calls) == 2
    assert amounts(con) == BEFORE
    usage = con.execute("select rows, calls, tokens_in, errors from recall_usage() where function = 'AGENT'").fetchall()
    assert usage == [(3, 2, 20, 0)]


def test_what_may_pass_is_tried_again_and_what_it_cost_is_known(
    records: Records, con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("model,input,cached,output\nhttp:scripted,1,1,2\n")
    con.execute("select recall_set('prices', $1), recall_set('backoff', 0.001)", [str(prices)]).fetchall()
    script = step_by_step(lambda _: error(503), lambda _: FIND, find_then_update, lambda _: chat("Done."))
    with ScriptedServer(script) as server:
        done = records.process("set it to 200", "ana", now=NOW, model=server.model(), agent=True)
        assert [message["role"] for message in server.calls[-1].json["messages"]] == [
            *("system", "user", "assistant", "tool", "assistant", "tool")
        ]
    assert done["action"] == "update" and ("ana", 200.0) in amounts(con)
    logged = con.execute("select attempt, status, cost_usd from recall_calls where function = 'AGENT'").fetchall()
    assert sorted(row[:2] for row in logged) == [(1, "503"), (1, "ok"), (1, "ok"), (2, "ok")]
    assert [cost for _, status, cost in logged if status == "ok"] == [pytest.approx(20e-6)] * 3


def test_other_users_records_are_out_of_reach(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    foreign = records.list("payments", "bob")[0]["id"]
    attack = tool_calls(
        ("delete_record", {"schema": "payments", "id": str(foreign)}),
        ("update_record", {"schema": "payments", "id": str(foreign), "updates": {"amount": 0}}),
        ("find_records", {"schema": "payments", "where": {"user_id": "bob"}}),
        ("insert_record", {"schema": "payments", "data": {"recipient": "x", "amount": 1, "user_id": "bob"}}),
        ("drop_table", {"schema": "payments"}),
        ("list_records", {"schema": "recall_memo"}),
    )
    with ScriptedServer(step_by_step(lambda _: attack, lambda _: chat("I can't."))) as server:
        done = records.process("delete everything of bob", "ana", now=NOW, model=server.model(), agent=True)
    assert [hop["ok"] for hop in done["hops"]] == [False] * 6
    assert not done["matched"] and amounts(con) == BEFORE


def test_arguments_that_are_no_json_go_back_to_the_model(records: Records) -> None:
    broken = tool_calls(("list_records", {}))
    broken.body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = '{"schema": '
    with ScriptedServer(step_by_step(lambda _: broken, lambda _: chat("Sorry."))) as server:
        done = records.process("list", "ana", now=NOW, model=server.model(), agent=True)
        assert "error" in last_result(server.calls[1])
    assert done["hops"][0]["ok"] is False


def test_an_unsettled_update_goes_to_the_agent_by_itself(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    intent = {
        "schema": "payments",
        "intent": "update",
        "confidence": 0.8,
        "data": None,
        "match": {"where": {"recipient": "Jayden"}, "recency": None, "count": 1},
        "updates": {"amount": 200},
        "reason": "",
    }
    script = step_by_step(
        lambda _: chat(json.dumps(intent)), lambda _: FIND, find_then_update, lambda _: chat("The last one is 200 now.")
    )
    with ScriptedServer(script) as server:
        done = records.process("set my payment to Jayden to 200", "ana", now=NOW, model=server.model())
    assert done["action"] == "update" and len(done["hops"]) == 2
    assert ("ana", 200.0) in amounts(con)


def test_rules_call_no_tools(records: Records) -> None:
    with pytest.raises(ConfigError, match="calls no tools"):
        records.process("do it", "ana", now=NOW, agent=True)


def test_no_dry_run_inside_somebody_elses_transaction(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    con.execute("begin")
    with pytest.raises(InputError, match="commit first"):
        records.process("do it", "ana", now=NOW, model="http://127.0.0.1:9/v1#x", agent=True, dry_run=True)
    con.execute("rollback")
