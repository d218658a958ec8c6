"""A canary key: it goes to the server in one header and is nowhere else."""

from __future__ import annotations

import logging

import duckdb
import pytest
from click.testing import CliRunner

import recall_sql
from recall_sql.cli import cli
from tests.servers import ScriptedServer, chat, error

CANARY = "sk-canary-0123456789abcdefCANARY"


@pytest.mark.parametrize("status", [401, 429, 500])
@pytest.mark.parametrize("how", ["environment", "set"])
def test_a_key_is_in_no_log_no_error_and_no_table(db, monkeypatch, caplog, capfd, how, status):
    def script(call):
        return (
            chat("fine")
            if call.number == 0
            else error(status, f"key {CANARY} ({CANARY[:9]}***{CANARY[-4:]}) is no good")
        )

    if how == "environment":
        monkeypatch.setenv("RECALL_API_KEY", CANARY)
    caplog.set_level(logging.DEBUG)
    with ScriptedServer(script) as server:
        settings = {"llm": server.model(), "embedder": server.model("e"), "embedding_dimension": 2}
        with recall_sql.connect(db, settings=settings | {"retries": 1, "backoff": 0.001}) as con:
            shown = []
            if how == "set":
                shown += con.execute("select recall_set('api_key', ?)", [CANARY]).fetchall()
            shown += con.execute("select generate('a')").fetchall()
            for call in ("generate('b')", "embed('b')", "extract_facts('b', '" + server.model() + "')"):
                with pytest.raises(duckdb.InvalidInputException) as caught:
                    con.execute(f"select {call}").fetchall()
                shown += [str(caught.value), repr(recall_sql.last_error(con).__dict__)]
            for table in ("recall_calls", "recall_memo", "recall_settings()", "recall_usage()"):
                shown += con.execute(f"from {table}").fetchall()
        assert server.calls[0].headers["authorization"] == f"Bearer {CANARY}"
    script_file = db.with_name("ask.sql")
    script_file.write_text("select generate('hello')", "utf-8")
    for command in (["compile", str(script_file)], ["doctor", "--db", str(db)]):
        shown.append(CliRunner().invoke(cli, command).output)
    written = capfd.readouterr()
    everything = "\n".join(map(str, [*shown, caplog.text, written.out, written.err]))
    found = [line for line in everything.splitlines() if "canary" in line.lower()]
    assert found == []
    assert CANARY.encode() not in db.read_bytes()
