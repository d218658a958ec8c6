"""Hostile SQL and questions: none reads a file, a setting or another user's row, none runs past its limits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import recall_sql
from recall_sql.records import Records
from recall_sql.records.ask import rows_of
from recall_sql.records.sandbox import Limits, SandboxError, checked, run
from tests.records.schemas import NOW, declare
from tests.servers import ScriptedServer, chat

HOSTILE = [json.loads(line) for line in Path(__file__).with_name("hostile.jsonl").read_text("utf-8").splitlines()]
CANARY, FOREIGN = "canary-in-a-file-4711", "canary-of-bob-4712"
SHORT = Limits(seconds=1.5, memory=128 * 1024 * 1024, rows=1000)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def con(place: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    (place / "secret.txt").write_text(CANARY)
    connection = recall_sql.connect(place / "own.duckdb")
    records = declare(Records(connection))
    records.insert("payments", {"recipient": "Ana's shop", "amount": 20}, "ana", now=NOW)
    records.insert("payments", {"recipient": FOREIGN, "amount": 4712}, "bob", now=NOW)
    connection.execute("checkpoint")
    yield connection
    connection.close()


def filled_in(text: str, place: Path) -> str:
    for name, file in (("secret", "secret.txt"), ("target", "target"), ("database", "own.duckdb")):
        text = text.replace("{" + name + "}", str(place / file))
    return text


def fingerprint(con: duckdb.DuckDBPyConnection, place: Path) -> tuple[Any, ...]:
    """The file's bytes, what else there is beside it, and what the connection sees."""
    names = sorted(file.name for file in place.iterdir())
    rows = con.execute("select * from payments order by all").fetchall()
    databases = con.execute("select database_name from duckdb_databases() order by 1").fetchall()
    setting = con.execute("select current_setting('enable_external_access')").fetchall()
    return hashlib.sha256((place / "own.duckdb").read_bytes()).hexdigest(), names, rows, databases, setting


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) >= 120


@pytest.mark.parametrize("line", [line for line in HOSTILE if "sql" in line], ids=lambda line: line["sql"][:60])
def test_hostile_sql(line: dict[str, str], con: duckdb.DuckDBPyConnection, place: Path) -> None:
    before = fingerprint(con, place)
    tables = {schema.name: rows_of(con, schema, "ana") for schema in Records(con).schemas()}
    try:
        table, _ = run(filled_in(line["sql"], place), tables, limits=SHORT)
        shown = str(table.to_pylist())
        assert table.num_rows <= SHORT.rows
    except SandboxError as error:
        shown = str(error)
    assert CANARY not in shown and FOREIGN not in shown and "4712" not in shown
    assert fingerprint(con, place) == before


@pytest.mark.parametrize(
    "line", [line for line in HOSTILE if "question" in line], ids=lambda line: line["question"][:60]
)
def test_hostile_questions(line: dict[str, str], con: duckdb.DuckDBPyConnection, place: Path) -> None:
    before = fingerprint(con, place)
    found = Records(con).query(filled_in(line["question"], place), "ana", now=NOW, limits=SHORT)
    shown = str(found.get("result"))
    assert CANARY not in shown and FOREIGN not in shown and "4712" not in shown
    assert fingerprint(con, place) == before


def test_a_model_that_answers_with_hostile_sql(con: duckdb.DuckDBPyConnection, place: Path) -> None:
    stolen = json.dumps({"sql": f"select * from read_text('{place / 'secret.txt'}')", "explanation": "a file"})
    with ScriptedServer(lambda _: chat(stolen)) as server:
        found = Records(con).query("how much did I pay?", "ana", now=NOW, model=server.model())
        assert len(server.calls) == 3  # the question, and two chances to mend it
    assert found["result"] is None and "read_text" in found["error"] and CANARY not in str(found)


@pytest.mark.parametrize(
    "sql",
    [
        "select sum(amount) from payments",
        "with p as (select * from payments where amount > 1) select recipient, count(*) from p group by all",
        "select date_trunc('month', created_at) as m, sum(amount) over (order by created_at) from payments order by m",
        "select p.recipient from payments p join payments q using (id) where lower(p.recipient) like 'a%'",
        "select count(*) filter (where amount > 10), median(amount), list(recipient) from payments",
        "select * from range(3)",
        "select case when amount > 5 then 'big' else 'small' end as size, any_value(id) from main.payments group by 1",
        "select year(created_at), strftime(created_at, '%Y-%m'), current_date - created_at::date from payments",
    ],
)
def test_honest_sql_runs(sql: str, con: duckdb.DuckDBPyConnection) -> None:
    tables = {schema.name: rows_of(con, schema, "ana") for schema in Records(con).schemas()}
    table, cut = run(sql, tables)
    assert table.num_rows >= 1 and not cut


def test_rows_are_cut_at_the_limit() -> None:
    table, cut = run("select * from t, range(100)", {"t": pa.table({"a": [1, 2, 3]})}, limits=Limits(rows=7))
    assert (table.num_rows, cut) == (7, True)


def test_refusals_say_why() -> None:
    with pytest.raises(SandboxError, match="one SELECT"):
        checked("delete from t", frozenset({"t"}))
    with pytest.raises(SandboxError, match="there is no table 'u'; tables: t"):
        checked("select * from u", frozenset({"t"}))
    with pytest.raises(SandboxError, match="longer than"):
        checked("select " + "1 + " * 10_000 + "1", frozenset({"t"}))


def test_the_sandbox_goes_on_after_a_bomb() -> None:
    tables = {"t": pa.table({"a": [1]})}
    with pytest.raises(SandboxError, match=r"longer than 1 s"):
        run("select count(*) from range(1000000) a, range(1000000) b", tables, limits=Limits(seconds=1))
    with pytest.raises(SandboxError, match="memory"):
        run("select len(range(500000000))", tables, limits=SHORT)
    assert run("select a from t", tables)[0].to_pylist() == [{"a": 1}]
