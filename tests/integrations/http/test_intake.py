"""What stores the turns of many requests, when some of them are no longer waited for."""

from __future__ import annotations

import duckdb

from recall_sql import Memory
from recall_sql.integrations.http.intake import Intake, Request


def test_a_request_that_is_cancelled_stops_nobody_else(con: duckdb.DuckDBPyConnection) -> None:
    intake = Intake(con)
    intake.start()
    try:
        for nth in range(5):
            gone = Request("a1", "lina", "s", [{"role": "user", "content": f"gone {nth}"}], "one key", "hash")
            gone.stored.cancel()
            intake.put(gone)
            asked = Request("a1", "lina", "s", [{"role": "user", "content": f"here {nth}"}])
            assert [turn.outcome for turn in intake.put(asked).result(timeout=20)] == ["stored"]
    finally:
        intake.stop()
    said = [message["content"] for message in Memory(con, agent_id="a1", user_id="lina").messages("s")]
    assert said == [f"here {nth}" for nth in range(5)]
