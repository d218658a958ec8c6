"""The live loop: it answers, remembers, looks at the memory, and survives an error."""

from __future__ import annotations

import recall_sql
from recall_sql.chat import Chat
from tests.servers import Call, Reply, ScriptedServer, chat, error


def answer(call: Call) -> Reply:
    return error(400, "no such thing") if "explode" in call.prompt else chat("A cat, then.")


def test_a_conversation() -> None:
    said: list[str] = []
    shown: list[list[dict]] = []
    with ScriptedServer(answer) as server, recall_sql.connect(settings={"llm": server.model(), "retries": 0}) as con:
        talk = Chat(
            con, say=said.append, show=lambda result: shown.append(result.tables[0].table.to_pylist()), user_id="lena"
        )
        talk.run(
            [
                "I have a cat called Mochi.\n",
                "\n",
                "/facts\n",
                "/context pets?\n",
                "explode\n",
                "/cost\n",
                "/what\n",
                "/quit\n",
                "no",
            ]
        )
    assert said[0] == "A cat, then."
    assert any("Mochi" in row["value"] for row in shown[0])
    assert "Mochi" in said[1] and "no such thing" in said[2]
    assert any(line.startswith("GENERATE") and "failed" in line for line in said)
    assert "/quit" in said[-1]
    assert len(server.calls) == 2
