"""A small live conversation in a terminal: each message goes through the recipe conversation_memory/reply.

What is said is stored as it is said; what it means is extracted after each reply, so that the next one knows it. A line
that begins with a slash looks at the memory instead of talking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import duckdb

from recall_sql.errors import RecallError
from recall_sql.runner import RunResult, execute, load
from recall_sql.session import last_error

COMMANDS = {
    "/facts": "what is believed about you",
    "/context MESSAGE": "what the model would read before it answers, and why",
    "/cost": "what the models were asked, and what it cost",
    "/help": "these lines",
    "/quit": "ends",
}
_COST = """
select function, model, count(*) as attempts, sum(inputs) as inputs, sum(tokens_in) as tokens_in,
    sum(tokens_out) as tokens_out, round(sum(cost_usd), 6) as cost_usd, count(*) filter (status <> 'ok') as failed
from recall_calls
group by function, model
order by function, model
"""


class Chat:
    """One conversation. say: prints a line of text; show: prints result tables."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        *,
        say: Callable[[str], object],
        show: Callable[[RunResult], object],
        session_id: str = "default",
        user_id: str = "default",
        agent_id: str = "default",
        model: str | None = None,
    ) -> None:
        self._con, self._say, self._show = con, say, show
        self._scope = {"session_id": session_id, "user_id": user_id, "agent_id": agent_id}
        self._model = model

    def run(self, lines: Iterable[str]) -> None:
        """Answers every line until /quit or the end of `lines`. An error is told, and the conversation goes on."""
        for line in lines:
            message = line.strip()
            if message in ("/quit", "/exit"):
                return
            if message:
                try:
                    self._turn(message)
                except (RecallError, duckdb.Error) as error:
                    self._say(f"(no answer: {' '.join(str(last_error(self._con) or error).split())})")

    def _turn(self, message: str) -> None:
        command, _, rest = message.partition(" ")
        if not message.startswith("/"):
            self._say(self._reply(message))
        elif command == "/facts":
            self._show(execute(self._con, load("conversation_memory/facts"), self._scope, record=False))
        elif command == "/context":
            found = execute(
                self._con, load("conversation_memory/context"), {**self._scope, "query": rest or None}, record=False
            )
            self._say(found.tables[0].table.column("context")[0].as_py() or "(nothing is known yet)")
        elif command == "/cost":
            self._cost()
        else:
            self._say("\n".join(f"{name:17} {what}" for name, what in COMMANDS.items()))

    def _reply(self, message: str) -> str:
        values = {**self._scope, "message": message, "model": self._model}
        answered = execute(self._con, load("conversation_memory/reply"), values)
        execute(self._con, load("conversation_memory/all"))
        return answered.tables[0].table.column("reply")[0].as_py()

    def _cost(self) -> None:
        rows = self._con.execute(_COST).fetchall()
        for function, model, attempts, inputs, tokens_in, tokens_out, cost, failed in rows:
            price = "price unknown" if cost is None else f"${cost}"
            used = f"{tokens_in or 0} tokens in, {tokens_out or 0} out"
            self._say(f"{function} {model}: {attempts} calls, {inputs} inputs, {used}, {price}, {failed} failed")
        if not rows:
            self._say("(no model was asked yet)")
