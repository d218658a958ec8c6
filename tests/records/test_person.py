"""A person's records leave with the person, and are part of what is held about them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import recall_sql
from recall_sql.cli import cli
from recall_sql.memory import Memory

PAYMENTS = {"properties": {"recipient": {"type": "string"}, "amount": {"type": "number"}}, "required": ["recipient"]}


def fill(con) -> None:
    memory = Memory(con)
    memory.add_schema("payments", "Money paid to somebody", PAYMENTS)
    for user, recipient in (("u1", "canary-7391"), ("u1", "Ana"), ("u2", "Ben")):
        memory.insert("payments", {"recipient": recipient, "amount": 20}, user_id=user)


def test_forgetting_a_person_takes_their_records_and_nobody_elses() -> None:
    con = recall_sql.connect()
    fill(con)
    held = Memory(con, user_id="u1").export()["records"]["payments"]
    assert [row["recipient"] for row in held] == ["canary-7391", "Ana"]
    assert Memory(con, user_id="u1").forget(everything=True)["records"] == 2
    assert con.sql("select user_id, recipient from payments").fetchall() == [("u2", "Ben")]
    assert Memory(con, user_id="u1").export()["records"] == {}


def test_a_conversation_forgotten_leaves_records_alone() -> None:
    con = recall_sql.connect()
    fill(con)
    Memory(con, user_id="u1").forget(session_id="s1")
    assert con.sql("select count(*) from payments").fetchall() == [(3,)]


def test_nobody_is_refused() -> None:
    con = recall_sql.connect()
    fill(con)
    with pytest.raises(recall_sql.RecallError):
        Memory(con, user_id=" ").forget(everything=True)
    assert con.sql("select count(*) from payments").fetchall() == [(3,)]


def test_from_the_command_line_to_the_last_byte(tmp_path: Path) -> None:
    path = tmp_path / "memory.duckdb"
    con = recall_sql.connect(path)
    fill(con)
    con.close()
    call = CliRunner()
    exported = call.invoke(cli, ["export", "--user-id", "u1", "--db", str(path)], catch_exceptions=False)
    assert len(json.loads(exported.output)["records"]["payments"]) == 2
    gone = call.invoke(cli, ["forget", "--user-id", "u1", "--yes", "--db", str(path)], catch_exceptions=False)
    assert "2 records" in gone.output
    assert b"canary-7391" not in path.read_bytes()
