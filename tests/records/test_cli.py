"""schema add, process and ask on the command line, and the same through Memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import recall_sql
from recall_sql.cli import cli
from recall_sql.errors import InputError
from tests.records.schemas import NOW, Payment


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_say_and_ask(tmp_path: Path) -> None:
    db, file = str(tmp_path / "m.duckdb"), tmp_path / "payments.json"
    file.write_text(
        json.dumps({"name": "payments", "description": "Payments to people", "schema": Payment.model_json_schema()})
    )
    assert "payments: created" in run("schema", "add", str(file), "--db", db)
    assert "DECIMAL(18,2)" in run("schema", "list", "--db", db)
    done = json.loads(run("process", "Paid Jayden $150 for training", "--db", db, "--user-id", "ana"))
    assert (done["action"], done["data"]["amount"]) == ("insert", 150)
    assert run("ask", "how much have I paid Jayden?", "--db", db, "--user-id", "ana").strip() == "150.00"
    assert "Jayden" in run("ask", "list all payments", "--db", db, "--user-id", "ana")
    with recall_sql.connect(db) as con:
        con.execute("insert into record_messages (user_id, message) values ('ana', 'Paid Ben $5')")
    assert "payments" in run("process", "--db", db)
    assert run("ask", "how many payments did I make?", "--db", db, "--user-id", "ana").strip() == "2"


def test_errors_name_what_is_wrong(tmp_path: Path) -> None:
    db, file = str(tmp_path / "m.duckdb"), tmp_path / "bad.json"
    file.write_text('{"name": "x"}')
    result = CliRunner().invoke(cli, ["schema", "add", str(file), "--db", db])
    assert result.exit_code == 1 and "bad.json" in result.output
    assert CliRunner().invoke(cli, ["ask", "how much?", "--db", db]).exit_code == 2


def test_memory_does_the_same() -> None:
    with recall_sql.connect(":memory:") as con:
        memory = recall_sql.Memory(con, user_id="ana")
        memory.add_schema("payments", "Payments to people", Payment)
        row = memory.process("Paid Jayden $150 for training", now=NOW)
        memory.process("Paid Zoe $1", user_id="bob", now=NOW)
        assert memory.query("how much have I paid?", now=NOW)["result"] == 150
        assert [one["id"] for one in memory.list("payments")] == [row["id"]]
        assert memory.get("payments", row["id"], user_id="bob") is None
        with pytest.raises(InputError, match="user_id"):
            recall_sql.Memory(con).process("Paid Ana $1")
