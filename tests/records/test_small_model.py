"""The schema-constrained path with a model that runs here: what it says may be wrong, its form can't be."""

from __future__ import annotations

import duckdb

import recall_sql
from recall_sql.records import Records
from tests.records.schemas import KINDS


def test_its_answer_has_the_form_of_an_intent() -> None:
    con: duckdb.DuckDBPyConnection = recall_sql.connect(":memory:")
    Records(con).add_schema("payments", *KINDS["payments"])
    con.execute("select recall_set('max_tokens', 300)")
    [(found,)] = con.execute(
        "select detect_intent('Paid Ana $20', {schemas: ['payments'], model: 'smollm2'})"
    ).fetchall()
    assert found["intent"] in ("insert", "update", "delete", "query", "none")
    assert found["schema"] in ("payments", None) and found["reason"] is not None
    statuses = con.execute(
        "select status from recall_calls where function = 'DETECT_INTENT' order by called_at"
    ).fetchall()
    assert statuses[-1] == ("ok",)
    con.close()
