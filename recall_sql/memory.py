"""Memory: the Python face of the recipes. Every method runs one recipe and says which; the rules are in the recipes.

memory = Memory(con, user_id="lina")
memory.remember("true", category="dietary", fact_key="vegetarian")
memory.facts()
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

import duckdb

from recall_sql.errors import InputError, RecallError, RecipeError
from recall_sql.records.mixin import RecordMethods
from recall_sql.runner import Recipe, RunResult, execute, load
from recall_sql.runner.conflicts import execute_retrying
from recall_sql.session import register

Kind = Literal["KNOWLEDGE", "RULE", "PREFERENCE"]
Source = Literal["SYSTEM", "USER", "AGENT", "TOOL", "DOCUMENT", "CODE"]
Row = dict[str, Any]

_CANDIDATE = (
    "agent_id", "user_id", "session_id", "category", "fact_key", "fact_value", "confidence", "kind", "op", "source",
    "observed_at", "source_turn_id", "evidence", "replaces",
)  # fmt: skip


_WHERE = re.compile(r" \(line \d+ of [^)]*\)$")


class RefusedError(RecallError):
    """A direct write that the rules of belief don't allow. The message names who wanted and who stands in the way."""


class Memory(RecordMethods):
    """What one bot remembers of one person.

    con: a DuckDB connection or cursor, or a SQLAlchemy connection of a `recall:` or `duckdb:` engine. One thread per
    connection: give each thread its own `con.cursor()`. agent_id and user_id hold for every call.

    Conflicts with other transactions are retried within; in a transaction of the caller's they are the caller's.
    """

    def __init__(self, con: Any, *, agent_id: str = "default", user_id: str = "default") -> None:
        for name, value in (("agent_id", agent_id), ("user_id", user_id)):
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"{name} is empty: name whose memory it is")
        self.con = register(native(con))
        self.agent_id = agent_id
        self.user_id = user_id

    # --- facts --------------------------------------------------------------------------------------------------------

    def remember(
        self,
        value: str,
        *,
        category: str = "note",
        fact_key: str | None = None,
        kind: Kind = "KNOWLEDGE",
        source: Source = "USER",
        confidence: float = 1.0,
        session_id: str = "",
        evidence: str | None = None,
        observed_at: datetime | None = None,
    ) -> Row:
        """Write a fact word for word (recipe beliefs/remember) and return it. session_id '' holds everywhere.

        Raises RefusedError where a more trusted source has spoken.
        """
        values = {"value": value, "category": category, "fact_key": fact_key, "kind": kind, "source": source}
        more = {"confidence": confidence, "session_id": session_id, "evidence": evidence, "observed_at": observed_at}
        return _rows(self._run("beliefs/remember", short=True, **values, **more))[0]

    def update_fact(
        self,
        fact: str,
        value: str,
        *,
        fact_key: str | None = None,
        kind: Kind | None = None,
        source: Source = "USER",
        confidence: float = 1.0,
        session_id: str | None = None,
        evidence: str | None = None,
        observed_at: datetime | None = None,
    ) -> Row:
        """Give a belief a new value (recipe beliefs/update_fact) and return it.

        fact: its fact_id, the first eight letters of it, or 'category.key'. Raises RefusedError as `remember` does.
        """
        values = {"fact": str(fact), "value": value, "fact_key": fact_key, "kind": kind, "source": source}
        more = {"confidence": confidence, "session_id": session_id, "evidence": evidence, "observed_at": observed_at}
        return _rows(self._run("beliefs/update_fact", short=True, **values, **more))[0]

    def forget_fact(
        self,
        fact: str,
        *,
        source: Source = "USER",
        session_id: str | None = None,
        evidence: str | None = None,
        observed_at: datetime | None = None,
    ) -> None:
        """Stop believing a fact (recipe beliefs/forget_fact). `forget(fact=…)` erases it from history too."""
        values = {"fact": str(fact), "source": source, "session_id": session_id}
        self._run("beliefs/forget_fact", short=True, **values, evidence=evidence, observed_at=observed_at)

    def believe(self, candidates: Iterable[Mapping[str, Any]], *, fact_scope: str = "auto") -> dict[str, int]:
        """Let a batch of candidates meet what is believed (recipe beliefs/believe); counts of events.

        A candidate has category, fact_key, fact_value, observed_at, and any of source (USER), session_id, confidence,
        kind, op, source_turn_id, evidence, replaces, agent_id, user_id. What is refused becomes history.
        """
        import pyarrow as pa

        defaults = {"agent_id": self.agent_id, "user_id": self.user_id, "source": "USER"}
        rows = [{**defaults, **candidate} for candidate in candidates]
        unknown = {name for row in rows for name in row} - set(_CANDIDATE)
        if unknown:
            raise InputError(f"a candidate has no {min(unknown)}; it has: {', '.join(_CANDIDATE)}")
        table = pa.Table.from_pylist(rows, schema=_candidate_schema())
        self.con.register("recall_candidates", table)
        try:
            result = self._run("beliefs/believe", scoped=False, source="recall_candidates", fact_scope=fact_scope)
        finally:
            self.con.unregister("recall_candidates")
        return {row["event"]: row["times"] for row in result.tables[0].table.to_pylist()}

    def facts(
        self,
        *,
        session_id: str | None = None,
        category: str | None = None,
        kind: Kind | None = None,
        as_of: datetime | None = None,
    ) -> list[Row]:
        """What is believed now, or was at the moment `as_of` (recipe beliefs/facts)."""
        values = {"session_id": session_id, "category": category, "kind": kind, "as_of": as_of}
        return _rows(self._read("beliefs/facts", **values))

    def history(
        self,
        *,
        fact: str | None = None,
        session_id: str | None = None,
        category: str | None = None,
        event: str | None = None,
    ) -> list[Row]:
        """Every event in order, refused ones included (recipe beliefs/history)."""
        return _rows(self._read("beliefs/history", fact=fact, session_id=session_id, category=category, event=event))

    def why(self, fact: str) -> dict[str, list[Row]]:
        """The belief, the events that made it and the turns they come from (recipe beliefs/why)."""
        result = self._read("beliefs/why", fact=str(fact))
        return {table.title.lower(): table.table.to_pylist() for table in result.tables}

    # --- conversations ------------------------------------------------------------------------------------------------

    def add(
        self,
        content: str,
        *,
        role: str = "user",
        session_id: str = "",
        created_at: datetime | None = None,
        source_key: str | None = None,
    ) -> None:
        """Store one turn (recipe conversation_memory/ingest). Its thread exists from then on; '' belongs to none."""
        values = {"content": content, "role": role, "session_id": session_id}
        self._run("conversation_memory/ingest", short=True, **values, created_at=created_at, source_key=source_key)

    def threads(self) -> list[Row]:
        """The conversations there are, the latest first (recipe beliefs/threads)."""
        return _rows(self._read("beliefs/threads"))

    def title_thread(self, session_id: str, title: str) -> None:
        """Give a conversation a name (recipe beliefs/title_thread)."""
        self._run("beliefs/title_thread", session_id=session_id, title=title)

    def messages(self, session_id: str) -> list[Row]:
        """The original messages of a conversation, in order (recipe beliefs/messages)."""
        return _rows(self._read("beliefs/messages", session_id=session_id))

    def remove_thread(self, session_id: str) -> None:
        """Erase a conversation and what was learned from it alone (recipe conversation_memory/cleanup)."""
        self._run("conversation_memory/cleanup", session_id=session_id)

    # --- a person's rights --------------------------------------------------------------------------------------------

    def export(self) -> dict[str, Any]:
        """Everything held about this person, whichever bot holds it (recipe beliefs/export, and records by schema)."""
        from recall_sql.records import person

        result = self._read("beliefs/export", scoped=False, user_id=self.user_id)
        held = json.loads(result.tables[0].table.column("export")[0].as_py())
        return {**held, "records": person.held(self.con, self.user_id)}

    def forget(
        self,
        *,
        session_id: str | None = None,
        fact: str | None = None,
        before: datetime | None = None,
        with_turns: bool = False,
        everything: bool = False,
    ) -> Row:
        """Erase a conversation, a fact, what was said before a moment, or everything of this person (beliefs/forget).

        `everything` takes what other bots hold about the person, and the person's records, as well. Counts of what is
        gone are returned. The file keeps freed blocks until it is compacted: `compact`.
        """
        named = {"session_id": session_id, "fact": fact, "before": before}
        if everything == any(value is not None for value in named.values()):
            raise InputError("forget needs session_id, fact or before, or else everything=True; nothing was forgotten")
        if everything:
            return forget_person(self.con, self.user_id)
        scope = {"user_id": self.user_id, "agent_id": self.agent_id}
        result = self._run("beliefs/forget", scoped=False, **scope, **named, with_turns=with_turns)
        return _rows(result)[0]

    # --- underneath ---------------------------------------------------------------------------------------------------

    def _run(self, recipe: str, *, scoped: bool = True, short: bool = False, **values: Any) -> RunResult:
        if scoped:
            values = {"agent_id": self.agent_id, "user_id": self.user_id, **values}
        given = {name: value for name, value in values.items() if value is not None}
        return _execute(self.con, _shipped(recipe), given, short=short)

    def _read(self, recipe: str, *, scoped: bool = True, **values: Any) -> RunResult:
        """Runs a recipe that changes nothing; such runs aren't recorded."""
        if scoped:
            values = {"agent_id": self.agent_id, "user_id": self.user_id, **values}
        given = {name: value for name, value in values.items() if value is not None}
        return execute(self.con, _shipped(recipe), given, record=False)


def forget_person(con: duckdb.DuckDBPyConnection, user_id: str) -> Row:
    """Erase a person: records of every schema, then all that beliefs/forget erases. Counts of what is gone."""
    from recall_sql.records import person

    records = person.erase(con, user_id)
    return {**_rows(run(con, "beliefs/forget", user_id=user_id))[0], "records": records}


def _rows(result: RunResult) -> list[Row]:
    return result.tables[0].table.to_pylist()


def run(con: Any, recipe: str, **params: Any) -> RunResult:
    """Run a shipped recipe, or a .sql file, with parameters, and return its result tables.

    con: as for `Memory`. Conflicts with other transactions are retried. Raises InputError for a bad parameter,
    RefusedError for a direct write that trust forbids, RecipeError otherwise.
    """
    return _execute(register(native(con)), load(recipe), params)


def _execute(
    con: duckdb.DuckDBPyConnection, recipe: Recipe, values: Mapping[str, Any], *, short: bool = False
) -> RunResult:
    try:
        return execute_retrying(con, recipe, values, short=short)
    except RecipeError as error:
        _, refused, why = str(error).partition("refused: ")
        if refused:
            raise RefusedError(_WHERE.sub("", why)) from error
        raise


_shipped = cache(load)  # the recipes in the package don't change while it runs


def native(con: Any) -> duckdb.DuckDBPyConnection:
    """The DuckDB connection in a SQLAlchemy one; a DuckDB connection as it is."""
    if isinstance(con, duckdb.DuckDBPyConnection):
        return con
    pooled = getattr(con, "connection", con)
    inner = getattr(pooled, "driver_connection", pooled)
    for name in ("native", "_ConnectionWrapper__c"):
        inner = getattr(inner, name, inner)
    if not isinstance(inner, duckdb.DuckDBPyConnection):
        raise InputError(f"a DuckDB or SQLAlchemy connection is needed, not {type(con).__name__}")
    return inner


def _candidate_schema() -> Any:
    import pyarrow as pa

    types = {"confidence": pa.float64(), "observed_at": pa.timestamp("us", tz="UTC"), "source_turn_id": pa.int64()}
    return pa.schema([(name, types.get(name, pa.string())) for name in _CANDIDATE])


def compact(path: str | Path) -> int:
    """Write a database file anew without the blocks that deleting left in it; bytes gained.

    DuckDB reuses freed blocks but doesn't clear them, so what was forgotten stays readable in the file until then. All
    connections to it must be closed. The old file is replaced only when the new one is complete.
    """
    from recall_sql.compaction import rewrite

    return rewrite(Path(path))
