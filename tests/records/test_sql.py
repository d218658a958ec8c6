"""The same from SQL: DETECT_INTENT, the recipes, and what a batch writes."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator

import duckdb
import pytest

import recall_sql
from recall_sql.records import Records
from recall_sql.runner import execute, load
from tests.records.schemas import KINDS, NOW, declare
from tests.servers import ScriptedServer, chat, error


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = recall_sql.connect(":memory:")
    declare(Records(connection))
    yield connection
    connection.close()


def say(con: duckdb.DuckDBPyConnection, *messages: str, user: str = "ana", start: dt.datetime = NOW) -> None:
    for number, message in enumerate(messages):
        at = start + dt.timedelta(minutes=number)
        con.execute("insert into record_messages (user_id, message, created_at) values (?, ?, ?)", [user, message, at])


def one_message(con: duckdb.DuckDBPyConnection, user: str) -> None:
    """A table of messages that isn't record_messages."""
    columns = "uuid() as message_id, '" + user + "' as user_id, 'Paid Ana $10' as message, now() as created_at"
    con.execute(f"create temp table said as select {columns}")


def process(con: duckdb.DuckDBPyConnection, **values: object) -> list[tuple]:
    execute(con, load("structured_records/process"), {"schemas": list(KINDS), **values})
    return con.execute(
        "select message, matched, action from record_results"
        " join record_messages using (message_id) order by created_at"
    ).fetchall()


def test_detect_intent(con: duckdb.DuckDBPyConnection) -> None:
    [(found,)] = con.execute(
        """
        select detect_intent(
            'Paid Jayden $150 for training yesterday',
            {schemas: ['payments'], user: 'ana', now: timestamptz '2026-03-04 10:00:00+00'}
        )
        """
    ).fetchall()
    assert (found["matched"], found["schema"], found["intent"]) == (True, "payments", "insert")
    assert json.loads(found["data"]) == {
        "recipient": "Jayden",
        "amount": 150,
        "description": "training",
        "date": "2026-03-03",
    }


def test_detect_intent_by_row_with_null(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        """
        select (detect_intent(m)).intent
        from (values (1, 'Paid Ben $5'), (2, null), (3, 'delete my last workout'), (4, 'hello')) as t(n, m)
        order by n
        """
    ).fetchall()
    assert rows == [("insert",), (None,), ("delete",), ("none",)]


def test_detect_intent_with_a_schema_of_its_own(con: duckdb.DuckDBPyConnection) -> None:
    schema = json.dumps(
        {
            "name": "tea",
            "description": "Cups of tea drunk",
            "schema": {"properties": {"cups": {"type": "integer"}}, "required": ["cups"]},
        }
    )
    [(data,)] = con.execute("select (detect_intent('drank 3 cups of tea', {schemas: [?]})).data", [schema]).fetchall()
    assert json.loads(data) == {"cups": 3}


def test_an_unknown_schema_or_option_is_named(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(duckdb.Error, match="no schema 'cats'"):
        con.execute("select detect_intent('x', {schemas: ['cats']})").fetchall()
    with pytest.raises(duckdb.Error, match="did you mean 'schemas'"):
        con.execute("select detect_intent('x', {schema: ['cats']})").fetchall()


def test_a_batch_in_order(con: duckdb.DuckDBPyConnection) -> None:
    say(
        con,
        "Paid Ana $10",
        "Paid Ben $20",
        "change my payment to Ana to $15",
        "ran 5 km",
        "delete my last payment",
        "hello",
    )
    say(con, "Paid Ana $99", user="bob")
    done = process(con)
    assert [row[1:] for row in done if row[0] != "Paid Ana $99"] == [
        (True, "insert"), (True, "insert"), (True, "update"), (True, "insert"), (True, "delete"), (False, None)
    ]  # fmt: skip
    assert con.execute("select user_id, recipient, amount from payments order by all").fetchall() == [
        ("ana", "Ana", 15),
        ("bob", "Ana", 99),
    ]
    assert con.execute("select count(*) from workouts").fetchone() == (1,)


def test_a_second_run_does_nothing_twice(con: duckdb.DuckDBPyConnection) -> None:
    say(con, "Paid Ana $10", "change that to $12")
    process(con)
    again = execute(con, load("structured_records/process"), {"schemas": list(KINDS)})
    assert again.rows_changed == 0
    assert con.execute("select amount from payments").fetchall() == [(12,)]


def test_a_change_does_not_reach_what_came_later(con: duckdb.DuckDBPyConnection) -> None:
    say(con, "Paid Ana $10", "delete my last payment", "Paid Ben $20")
    process(con)
    assert con.execute("select recipient from payments").fetchall() == [("Ben",)]


def test_several_matches_change_nothing(con: duckdb.DuckDBPyConnection) -> None:
    say(con, "Paid Ana $10", "Paid Ana $20", "change my payment to Ana to $15")
    process(con)
    assert con.execute("select amount from payments order by 1").fetchall() == [(10,), (20,)]
    assert (
        con.execute("select reason from record_results where intent = 'update'")
        .fetchone()[0]
        .startswith("2 records fit")
    )


def test_another_table_of_messages(con: duckdb.DuckDBPyConnection) -> None:
    one_message(con, "u")
    execute(con, load("structured_records/process"), {"schemas": ["payments"], "messages": "said"})
    assert con.execute("select user_id, amount from payments").fetchall() == [("u", 10)]


def test_messages_of_nobody_are_left_alone(con: duckdb.DuckDBPyConnection) -> None:
    one_message(con, "  ")
    execute(con, load("structured_records/process"), {"schemas": ["payments"], "messages": "said"})
    assert con.execute("select count(*) from payments").fetchone() == (0,)


def test_a_failed_model_call_leaves_the_message_pending(con: duckdb.DuckDBPyConnection) -> None:
    say(con, "Paid Ana $10", "Paid Ben $20")
    answer = json.dumps(
        {"schema": "payments", "intent": "insert", "confidence": 0.9, "data": {"recipient": "Ana", "amount": 10}}
    )
    with ScriptedServer(lambda call: error(400) if "Ben" in call.prompt else chat(answer)) as server:
        process(con, model=server.model())
    assert con.execute("select recipient from payments").fetchall() == [("Ana",)]
    assert con.execute("select count(*) from record_results").fetchone() == (1,)
    process(con)  # with the rules
    assert con.execute("select count(*) from payments").fetchone() == (2,)


def test_the_recipe_ask(con: duckdb.DuckDBPyConnection) -> None:
    say(con, "Paid Ana $10", "Paid Ana $20.50")
    say(con, "Paid Ana $99", user="bob")
    process(con)
    result = execute(con, load("structured_records/ask"), {"question": "how much did I pay Ana?", "user_id": "ana"})
    [row] = result.tables[0].table.to_pylist()
    assert (json.loads(row["result"]), row["error"]) == (30.5, None) and "SUM" in row["sql"]


def test_asking_for_nobody_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    for user in ("''", "null", "'  '"):
        with pytest.raises(duckdb.Error, match="user_id"):
            con.execute(f"select recall_ask('how much did I pay?', {{user: {user}}})").fetchall()
