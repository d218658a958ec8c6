"""Conversations: stored turn by turn, read back, searched, and turned into what a model should read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, get_args

from recall_sql import moments
from recall_sql.errors import InputError
from recall_sql.memory.scope import Row, Scope, rows

Role = Literal["user", "assistant", "system", "tool", "document", "code"]

_TABLES = {"turns": "chat_turns", "facts": "chat_facts"}
_TURN = dict.fromkeys(("session_id", "role", "content", "created_at", "source_key"))


class Context(str):
    """What a model should read before it answers: a text.

    messages: the same as chat messages {role, content}, what is known as the system's, then the last turns. lines:
    every line that was considered, {reason, line, tokens, kept}; kept is False where there was no room.
    """

    messages: list[Row]
    lines: list[Row]

    def __new__(cls, text: str, messages: list[Row], lines: list[Row]) -> Context:
        """The text, and where it comes from."""
        made = super().__new__(cls, text)
        made.messages, made.lines = messages, lines
        return made


class ConversationMethods(Scope):
    """What was said. session_id is the conversation; '' belongs to none and is seen from every one."""

    def add(
        self,
        session_id: str,
        role: Role,
        content: str,
        *,
        created_at: datetime | None = None,
        source_key: str | None = None,
    ) -> None:
        """Store one turn (recipe conversation_memory/ingest). Its thread exists from then on.

        source_key: your own id of the turn; storing it again adds nothing. Its facts wait for `extract`.
        """
        values = {"content": content, "role": role, "session_id": session_id}
        self._run("conversation_memory/ingest", short=True, **values, created_at=created_at, source_key=source_key)

    def add_turns(self, turns: Iterable[Mapping[str, Any]]) -> list[int]:
        """Store several turns, all or none (recipe conversation_memory/ingest_batch); their turn_ids, in that order.

        A turn has session_id, role, content, and any of created_at, source_key. One that is there already under its
        source_key is not stored again; its turn_id is given all the same.
        """
        given = [dict(turn) for turn in turns]
        for turn in given:
            unknown = turn.keys() - _TURN.keys()
            if unknown:
                raise InputError(f"a turn has no {min(unknown)}; it has: {', '.join(_TURN)}")
            if turn.get("role") not in get_args(Role):
                raise InputError(f"there is no role {turn.get('role')!r}; roles: {', '.join(get_args(Role))}")
        moments.check(given)
        if not given:
            return []
        con, table = self.con, _as_table(given, self.agent_id, self.user_id)
        con.register("recall_turns", table)
        try:
            stored = self._run("conversation_memory/ingest_batch", scoped=False, short=True, source="recall_turns")
        finally:
            con.unregister("recall_turns")
        return [row["turn_id"] for row in rows(stored)]

    def extract(self, *, session_id: str | None = None, model: str | None = None) -> dict[str, int]:
        """Read the facts out of turns that nobody has read yet (recipe conversation_memory/all); counts of events.

        Of this person's turns, or of one conversation. model: 'rules' or a model string; the setting extractor, if not
        given. Turns a model couldn't read stay pending. Everybody's turns are embedded and indexed on the way.
        """
        result = self._run("conversation_memory/all", session_id=session_id, model=model)
        changed = next(table for table in result.tables if table.title == "What changed")
        return {row["event"]: row["times"] for row in changed.table.to_pylist()}

    def context(
        self,
        session_id: str,
        query: str | None = None,
        *,
        max_tokens: int = 1000,
        max_turns: int = 4,
        max_recalled: int = 15,
        recall_from: str | None = None,
    ) -> Context:
        """What a model should read before it answers `query` (recipe conversation_memory/context): a Context.

        max_tokens: about how much room there is. max_turns: so many last turns word for word. max_recalled: so many
        earlier turns that matter to the query, of all conversations or of `recall_from` alone.
        """
        given = {"session_id": session_id, "query": query, "context_tokens": max_tokens, "recall_from": recall_from}
        result = self._read("conversation_memory/context", **given, max_turns=max_turns, max_recalled=max_recalled)
        text, messages, lines = (table.table.to_pylist() for table in result.tables)
        return Context(text[0]["context"], messages, lines)

    def reply(
        self,
        session_id: str,
        message: str,
        *,
        model: str | None = None,
        system: str | None = None,
        max_tokens: int = 150,
        context_tokens: int = 1000,
        store: bool = True,
    ) -> str:
        """Answer from what is known, and store both turns (recipe conversation_memory/reply).

        model: who answers; the setting llm, if not given. Raises RecipeError, with nothing stored, where it fails.
        """
        asked = {"session_id": session_id, "message": message, "model": model, "system": system, "store": store}
        found = self._run("conversation_memory/reply", **asked, max_tokens=max_tokens, context_tokens=context_tokens)
        return rows(found)[0]["reply"] or ""

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        of: Literal["turns", "facts"] = "turns",
        session_id: str | None = None,
        roles: list[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        neighbours: int = 0,
        recency: float = 0.0,
    ) -> list[Row]:
        """Turns or facts of this person nearest to the query, with score and rank (recipe search/find).

        session_id: of that conversation, and of none. since, until: instants, the end not included. neighbours: so many
        turns around each hit as well. recency: 0 to 1, how much newer is better.
        """
        if of not in _TABLES:
            raise InputError(f"there is no searching {of!r}; it is one of: {', '.join(_TABLES)}")
        given = {"query": query, "k": k, "of": _TABLES[of], "session_id": session_id, "roles": roles}
        more = {"since": since, "until": until, "neighbours": neighbours, "recency": recency}
        return rows(self._read("search/find", **given, **more))

    def threads(self, *, session_id: str | None = None, limit: int | None = None, offset: int = 0) -> list[Row]:
        """The conversations there are, the latest first (recipe beliefs/threads). session_id: that one alone."""
        return rows(self._read("beliefs/threads", session_id=session_id, most=limit, skip=offset))

    def open_thread(self, session_id: str, title: str | None = None) -> bool:
        """Begin a conversation before its first turn (recipe beliefs/open_thread); whether it is a new one."""
        return bool(rows(self._run("beliefs/open_thread", short=True, session_id=session_id, title=title))[0]["is_new"])

    def title_thread(self, session_id: str, title: str) -> None:
        """Give a conversation a name (recipe beliefs/title_thread)."""
        self._run("beliefs/title_thread", session_id=session_id, title=title)

    def messages(self, session_id: str, *, after: int = 0, limit: int | None = None) -> list[Row]:
        """The original messages of a conversation, in order (recipe beliefs/messages). after: a position."""
        return rows(self._read("beliefs/messages", session_id=session_id, after=after, most=limit))

    def remove_thread(self, session_id: str) -> None:
        """Erase a conversation and what was learned from it alone (recipe conversation_memory/cleanup)."""
        self._run("conversation_memory/cleanup", session_id=session_id)


def _as_table(turns: list[dict[str, Any]], agent_id: str, user_id: str) -> Any:
    """What the recipe ingest_batch reads: one request of these turns."""
    import pyarrow as pa

    types = {"request": pa.int64(), "nth": pa.int64(), "created_at": pa.timestamp("us", tz="UTC")}
    names = ("request", "nth", "agent_id", "user_id", *_TURN, "idempotency_key", "request_hash")
    same = {"request": 0, "agent_id": agent_id, "user_id": user_id}
    given = [{**_TURN, "session_id": "", **turn, **same, "nth": nth} for nth, turn in enumerate(turns)]
    return pa.Table.from_pylist(given, schema=pa.schema([(name, types.get(name, pa.string())) for name in names]))
