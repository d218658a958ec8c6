"""One message through `Records.process`: what is written, what is refused and why, and whose rows are touched."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any
from uuid import uuid4

import duckdb
import pytest

from recall_sql.errors import InputError
from recall_sql.records import Records
from tests.records.dataset import fill
from tests.records.schemas import NOW, declare
from tests.servers import ScriptedServer, chat


@pytest.fixture
def records(con: duckdb.DuckDBPyConnection) -> Records:
    return declare(Records(con))


def test_a_statement_becomes_a_row(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    done = records.process("Paid Jayden a hundred fifty bucks for the MMA session yesterday", "ana", now=NOW)
    assert (done.matched, done.schema, done.action) == (True, "payments", "insert")
    assert {"matched", "schema", "action", "id", "data", "confidence", "reason"} <= set(done)
    assert con.execute("select user_id, recipient, amount, description, date from payments").fetchall() == [
        ("ana", "Jayden", 150, "MMA session", dt.date(2026, 3, 3))
    ]


@pytest.mark.parametrize(
    "message",
    [
        "Ana spent 20 euros on candy",
        "Tom bought shoes for 30 euros",
        "Tom paid 30 euros for shoes",
        "Ana Silva paid Ben 40 dollars",
        "Ana and Tom spent 20 euros on candy",
        "Yesterday Ana spent 20 euros on candy",
        "Please log that Ana spent 20 euros on candy",
        "Mr. Lee just bought a laptop for 900 dollars",
        "Ana ran 5 km",
        "José read 30 pages of Dune",
        "Ana bought me lunch for 12 dollars",
        "My wife spent 20 euros on candy",
    ],
)
def test_what_somebody_else_did_is_not_the_users(records: Records, message: str) -> None:
    done = records.process(message, "ben", now=NOW)
    assert (done.matched, done.action, done.reason) == (False, None, "it is about somebody else")


@pytest.mark.parametrize(
    "message",
    [
        "Starbucks coffee 4.50 dollars",
        "Lidl groceries 45.30 euros",
        "Uber to airport 25 euros",
        "Spent 20 euros on candy at Ana's",
        "Paid Ana 20 euros",
        "Ana and I spent 20 euros at Lidl",
        "Amazon charged me 30 dollars",
        "Netflix renewed, paid 15.99 dollars",
        "Shoes bought for 30 euros at Lidl",
        "Rent paid 900 dollars to Ana",
        "Yesterday paid Ana 20 euros",
    ],
)
def test_a_shop_or_a_thing_that_begins_a_note_is_nobody(records: Records, message: str) -> None:
    done = records.process(message, "ben", now=NOW)
    assert done.reason != "it is about somebody else"


def test_where_records_say_who_did_it_a_name_is_theirs(con: duckdb.DuckDBPyConnection) -> None:
    feeds = Records(con)
    fields = {"baby": {"type": "string", "description": "Who drank"}, "amount_ml": {"type": "number"}}
    feeds.add_schema("feeds", "Bottles the babies drank", {"properties": fields, "required": ["amount_ml"]})
    done = feeds.process("Emma drank 120 ml", "ben", now=NOW)
    assert (done.matched, done.data["amount_ml"]) == (True, 120)


def test_a_missing_required_field_writes_nothing(records: Records) -> None:
    done = records.process("I paid Ana for lunch", "ana", now=NOW)
    assert not done["matched"] and "'amount' is missing" in done["reason"] and done["id"] is None
    assert records.list("payments", "ana") == []


def test_a_value_out_of_bounds_writes_nothing(records: Records) -> None:
    done = records.process("finished Dune by Frank Herbert, 9 stars", "ana", now=NOW)
    assert not done["matched"] and "'rating'" in done["reason"]


def test_days_are_those_of_the_users_zone(records: Records) -> None:
    late = dt.datetime(2026, 3, 2, 7, 30, tzinfo=dt.UTC)  # 23:30 on the first of March in Los Angeles
    done = records.process("I ran 5 km yesterday", "ana", now=late, timezone="America/Los_Angeles")
    assert done["data"]["date"] == dt.date(2026, 2, 28)


@pytest.mark.parametrize(
    "message", ["", "   ", "\x00", "🙂🙂", "?", "!!!", "123", "x" * 100_000, "paid Ana 20 " * 9000, "付了二十块给安娜"]
)
def test_odd_messages_write_nothing_and_raise_nothing(
    records: Records, con: duckdb.DuckDBPyConnection, message: str
) -> None:
    done = records.process(message, "ana", now=NOW)
    assert not done["matched"] and done["reason"]
    assert con.execute("select count(*) from payments").fetchone() == (0,)


def test_what_is_stored_is_stored_as_said(records: Records) -> None:
    records.process("Paid O'Brien $20 for {{ 7*7 }}; drop table payments", "ana", now=NOW)
    assert records.list("payments", "ana")[0]["recipient"] == "O'Brien"


def test_that_is_the_last_record(records: Records) -> None:
    records.process("Paid Ana $10", "u", now=NOW)
    records.process("ran 5 km", "u", now=NOW + dt.timedelta(minutes=1))
    records.process("Paid Ben $20", "u", now=NOW + dt.timedelta(minutes=2))
    assert records.process("change that to $25", "u", now=NOW + dt.timedelta(minutes=3))["action"] == "update"
    assert {row["recipient"]: row["amount"] for row in records.list("payments", "u")} == {"Ana": 10, "Ben": 25}
    assert records.process("actually it was 6 km", "u", now=NOW + dt.timedelta(minutes=4))["schema"] == "workouts"


@pytest.mark.parametrize(
    ("message", "schema", "column", "left"),
    [
        ("update my last payment to Jayden to 200", "payments", "amount", [20, 30, 60, 150, 200, 1200]),
        ("change the payment to jáyden on february 20 to $10", "payments", "amount", [10, 20, 30, 60, 90, 1200]),
        ("delete the payment to Costko", "payments", "amount", [20, 30, 90, 150, 1200]),
        ("delete the two oldest workouts", "workouts", "duration_minutes", [28, 40, 75]),
        ("move Tuesday's run to Monday", "workouts", "day(date)", [2, 2, 10, 20, 22]),
        ("remove all payments to Ana", "payments", "amount", [60, 90, 150, 1200]),
        ("the rating of Dune should be 4", "books", "rating", [3, 4, 4]),
    ],
)  # fmt: skip
def test_changes_find_their_record(
    records: Records, con: duckdb.DuckDBPyConnection, message: str, schema: str, column: str, left: list[Any]
) -> None:
    fill(fill(records), "bob")
    done = records.process(message, "ana", now=NOW)
    assert done["matched"], done
    rows = con.execute(f"select {column} from {schema} where user_id = 'ana' order by 1").fetchall()
    assert [str(row[0]).removesuffix(".00") for row in rows] == [str(value) for value in left]
    assert con.execute(
        f"select count(*) from {schema} where user_id = 'bob' and updated_at > created_at"
    ).fetchone() == (0,)


def test_several_matches_are_listed_and_nothing_changes(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    fill(records)
    done = records.process("update my payment to Jayden to $200", "ana", now=NOW)
    assert not done["matched"] and done["action"] is None and "2 payments records fit" in done["reason"]
    assert [row["amount"] for row in done["matches"]] == [90, 150]
    assert con.execute("select count(*) from payments where amount = 200").fetchone() == (0,)


@pytest.mark.parametrize(
    "message",
    ["delete all my payments", "delete all payments", "remove every payment", "delete all of my payments from my list"],
)
def test_nobody_deletes_everything_with_one_message(records: Records, message: str) -> None:
    fill(records)
    done = records.process(message, "ana", now=NOW)
    assert not done["matched"] and done["action"] is None
    assert "it would delete every payments record" in done["reason"] and "forget" in done["reason"]
    assert len(records.list("payments", "ana")) == 6


def test_all_my_records_of_something_are_those(records: Records) -> None:
    fill(records)
    done = records.process("delete all my payments to Jayden", "ana", now=NOW)
    assert (done["action"], len(done["ids"])) == ("delete", 2)
    assert len(records.list("payments", "ana")) == 4


def test_no_match_is_an_answer(records: Records) -> None:
    done = records.process("delete the payment to Zoe", "ana", now=NOW)
    assert not done["matched"] and "no payments record fits" in done["reason"]


def test_a_dry_run_says_what_it_would_do(records: Records) -> None:
    fill(records)
    done = records.process("delete the two oldest workouts", "ana", now=NOW, dry_run=True)
    assert done["would"] == "delete" and done["action"] is None and len(done["matches"]) == 2
    assert records.process("Paid Ana $5", "ana", now=NOW, dry_run=True)["would"] == "insert"
    assert (len(records.list("workouts", "ana")), len(records.list("payments", "ana"))) == (5, 6)


def test_a_question_is_answered(records: Records) -> None:
    fill(records)
    done = records.process("How much have I paid Jayden in total?", "ana", now=NOW)
    assert (done["intent"], done["action"], done["result"]) == ("query", "query", 240)


# --- handlers ---------------------------------------------------------------------------------------------------------


def test_handlers_get_the_row_after_the_commit(con: duckdb.DuckDBPyConnection) -> None:
    seen: list[tuple[str, Any]] = []

    def on_insert(row: dict[str, Any]) -> None:
        committed = con.cursor().execute("select count(*) from payments").fetchone()
        seen.append((row["recipient"], committed))

    records = declare(Records(con, on_insert=on_insert, on_query=lambda row: seen.append(("query", row["result"]))))
    records.on("update", lambda row: seen.append(("update", row["amount"])), "payments")
    records.on("delete", lambda row: seen.append(("delete", row["amount"])))
    for message in ("Paid Ana $10", "change that to $12", "how much did I pay Ana?", "delete my last payment"):
        records.process(message, "u", now=NOW)
    assert seen == [("Ana", (1,)), ("update", 12), ("query", 12), ("delete", 12)]


def test_a_handler_that_raises_is_reported_and_undoes_nothing(records: Records) -> None:
    def broken(row: dict[str, Any]) -> None:
        raise RuntimeError("the mail server is down")

    records.on("insert", broken)
    done = records.process("Paid Ana $10", "u", now=NOW)
    assert done["action"] == "insert" and "the mail server is down" in done["handler_errors"][0]
    assert len(records.list("payments", "u")) == 1


# --- rows without a model, and isolation ------------------------------------------------------------------------------


def test_rows_without_a_model(records: Records) -> None:
    row = records.insert("payments", {"recipient": "José", "amount": "12.5"}, "u", now=NOW)
    assert records.update("payments", row["id"], {"amount": 13}, "u")["amount"] == 13
    assert [one["id"] for one in records.list("payments", "u", where={"recipient": "jose"})] == [row["id"]]
    assert records.list("payments", "u", where={"amount": 12.5}) == []
    assert records.delete("payments", str(row["id"]), "u")["recipient"] == "José"
    assert records.get("payments", row["id"], "u") is None
    with pytest.raises(InputError, match="no record"):
        records.delete("payments", row["id"], "u")


@pytest.mark.parametrize("user", ["", "  ", None])
def test_no_path_works_without_a_user(records: Records, user: Any) -> None:
    calls = [
        lambda: records.process("Paid Ana $10", user, now=NOW),
        lambda: records.process("do it", user, now=NOW, model="http://127.0.0.1:9/v1#x", agent=True),
        lambda: records.query("how much did I pay?", user),
        lambda: records.list("payments", user),
        lambda: records.get("payments", uuid4(), user),
        lambda: records.insert("payments", {"recipient": "x", "amount": 1}, user),
        lambda: records.update("payments", uuid4(), {"amount": 1}, user),
        lambda: records.delete("payments", uuid4(), user),
    ]
    for call in calls:
        with pytest.raises(InputError, match="user_id"):
            call()


def test_nobody_reaches_another_users_rows(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    row = records.insert("payments", {"recipient": "Secret", "amount": 7}, "bob", now=NOW)
    assert records.get("payments", row["id"], "ana") is None
    assert records.list("payments", "ana", where={"recipient": "secret"}) == []
    for call in (
        lambda: records.update("payments", row["id"], {"amount": 1}, "ana"),
        lambda: records.delete("payments", row["id"], "ana"),
    ):
        with pytest.raises(InputError, match="no record"):
            call()
    for message in (
        "delete my last payment",
        "delete all my payments",
        "change the payment to Secret to $1",
        "show all payments",
    ):
        done = records.process(message, "ana", now=NOW)
        assert done["action"] in (None, "query") and not done.get("result") and "matches" not in done
    assert con.execute("select user_id, amount from payments").fetchall() == [("bob", 7)]


@pytest.mark.parametrize("user", ["o'brien", "会議-1", "🙂", "x'; DROP TABLE payments; --", "a\nb"])
def test_odd_user_ids(records: Records, user: str) -> None:
    records.process("Paid Ana $10", user, now=NOW)
    assert records.query("how much did I pay Ana?", user, now=NOW)["result"] == 10
    assert records.process("delete my last payment", user, now=NOW)["action"] == "delete"


def test_the_caller_may_roll_back(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    con.execute("begin")
    assert records.process("Paid Ana $10", "u", now=NOW)["action"] == "insert"
    con.execute("rollback")
    assert records.list("payments", "u") == []


# --- a model ----------------------------------------------------------------------------------------------------------


def says(**answer: Any) -> str:
    return json.dumps(
        {
            "schema": "payments",
            "intent": "insert",
            "confidence": 0.9,
            "data": None,
            "match": None,
            "updates": None,
            "reason": "",
            **answer,
        }
    )


def test_a_model_reads_the_message(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    answer = says(data={"recipient": "Ana", "amount": 20, "date": "2026-03-03", "mood": "good"})
    with ScriptedServer(lambda _: chat(f"<think>hm</think>```json\n{answer}\n```")) as server:
        done = records.process("zahlte Ana gestern 20", "u", now=NOW, model=server.model())
        prompt = server.calls[0].prompt
        assert server.calls[0].json["response_format"]["type"] == "json_schema"
    assert done["data"] == {"recipient": "Ana", "amount": 20, "date": dt.date(2026, 3, 3)}
    assert "Wednesday, 2026-03-04T10:00" in prompt and "Who was paid" in prompt


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (says(data={"recipient": "Ana"}), "'amount' is missing"),
        (says(data={"recipient": "Ana", "amount": "lots"}), "field 'amount'"),
        (says(schema="cats", data={"name": "Tom"}), "no schema 'cats'"),
        (says(intent="delete"), "which record"),
        (says(intent="update", match={"recency": "latest"}), "what shall change"),
        (says(intent="none", reason="two records"), "two records"),
    ],
)
def test_a_model_that_is_wrong_writes_nothing(records: Records, answer: str, reason: str) -> None:
    with ScriptedServer(lambda _: chat(answer)) as server:
        done = records.process("whatever", "u", now=NOW, model=server.model(), agent=False)
    assert not done["matched"] and reason in done["reason"]
    assert records.list("payments", "u") == []


def test_a_model_writes_sql_and_mends_it(records: Records) -> None:
    fill(records)

    def script(call: Any) -> Any:
        sql = "select sum(amuont) from payments" if call.number == 0 else "select sum(amount) from payments"
        return chat(json.dumps({"sql": sql, "explanation": "all payments"}))

    with ScriptedServer(script) as server:
        found = records.query("how much in all?", "ana", now=NOW, model=server.model())
        assert "amuont" in server.calls[1].prompt and "failed" in server.calls[1].prompt
    assert (found["result"], found["explanation"]) == (1550, "all payments")
