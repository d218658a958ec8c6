"""recall_calls: one row per attempt, with what it cost and what went wrong."""

from __future__ import annotations

import duckdb
import pytest

import recall_sql
from tests.servers import ScriptedServer, chat, error


def test_a_row_per_attempt(con):
    def script(call):
        return (
            error(429, "slow down")
            if call.prompt == "b"
            else chat(
                "x",
                usage={
                    "prompt_tokens": 11,
                    "completion_tokens": 3,
                    "total_tokens": 14,
                    "prompt_tokens_details": {"cached_tokens": 8},
                },
            )
        )

    con.execute("select recall_set('retries', 0)").fetchall()
    with ScriptedServer(script) as server:
        con.execute(
            f"select generate(t, {{model: '{server.model()}', on_error: 'null'}}) from (values ('a'), ('b')) x(t)"
        ).fetchall()
    rows = con.execute(
        "select function, model, inputs, attempt, tokens_in, tokens_out, tokens_cached, status, latency_ms > 0,"
        " abs(epoch(now() - called_at)) < 60, error from recall_calls order by status desc"
    ).fetchall()
    assert rows[0][:10] == ("GENERATE", "http:scripted", 1, 1, 11, 3, 8, "ok", True, True) and rows[0][10] is None
    assert rows[1][4:8] == (None, None, None, "429") and "slow down" in rows[1][10]


def test_a_key_is_in_no_table_and_no_error(db):
    secret = "sk-verysecretverysecret"
    with ScriptedServer(lambda call: error(401, f"bad key {secret}")) as server:
        with recall_sql.connect(db, settings={"api_key": secret, "llm": server.model()}) as con:
            with pytest.raises(duckdb.InvalidInputException) as caught:
                con.execute("select generate('a')").fetchall()
            assert secret not in str(caught.value)
            assert secret not in str(con.execute("from recall_calls").fetchall())
        assert server.calls[0].headers["authorization"] == f"Bearer {secret}"
    assert secret.encode() not in db.read_bytes()


def test_written_even_when_the_transaction_is_rolled_back(con):
    con.execute("begin")
    con.execute("select embed('a')").fetchall()
    con.execute("rollback")
    assert con.execute("select function, inputs, status from recall_calls").fetchall() == [("EMBED", 1, "ok")]
