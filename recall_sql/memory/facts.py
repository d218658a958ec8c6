"""Facts: written directly, changed, taken back, and looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

from recall_sql import moments
from recall_sql.errors import InputError
from recall_sql.memory.scope import Row, Scope, rows

Kind = Literal["KNOWLEDGE", "RULE", "PREFERENCE"]
Source = Literal["SYSTEM", "USER", "AGENT", "TOOL", "DOCUMENT", "CODE"]

_CANDIDATE = (
    "agent_id", "user_id", "session_id", "category", "fact_key", "fact_value", "confidence", "kind", "op", "source",
    "observed_at", "source_turn_id", "evidence", "replaces",
)  # fmt: skip


class FactMethods(Scope):
    """What is believed about the person. All of it is decided by recipes/conversation_memory/_believe.sql."""

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
        return rows(self._run("beliefs/remember", short=True, **values, **more))[0]

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
        return rows(self._run("beliefs/update_fact", short=True, **values, **more))[0]

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
        given = [{**defaults, **candidate} for candidate in candidates]
        unknown = {name for row in given for name in row} - set(_CANDIDATE)
        if unknown:
            raise InputError(f"a candidate has no {min(unknown)}; it has: {', '.join(_CANDIDATE)}")
        moments.check(given)
        table = pa.Table.from_pylist(given, schema=_candidate_schema())
        con = self.con
        con.register("recall_candidates", table)
        try:
            result = self._run("beliefs/believe", scoped=False, source="recall_candidates", fact_scope=fact_scope)
        finally:
            con.unregister("recall_candidates")
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
        return rows(self._read("beliefs/facts", **values))

    def retrieve(
        self,
        query: str,
        *,
        k: int = 10,
        session_id: str | None = None,
        kinds: list[Kind] | None = None,
        min_score: float = 0.1,
    ) -> list[Row]:
        """The facts a question needs, with score: every RULE, and the k nearest others (recipe beliefs/retrieve).

        session_id: only what holds in that conversation; of all of them, if not given. min_score: what is less near to
        the question than this is left out; a cosine, and more where words agree.
        """
        values = {"query": query, "k": k, "session_id": session_id, "kinds": kinds, "min_score": min_score}
        return rows(self._read("beliefs/retrieve", **values))

    def history(
        self,
        *,
        fact: str | None = None,
        session_id: str | None = None,
        category: str | None = None,
        event: str | None = None,
        turn_ids: list[int] | None = None,
    ) -> list[Row]:
        """Every event in order, refused ones included (recipe beliefs/history). turn_ids: what these turns said."""
        turns = None if turn_ids is None else [str(turn_id) for turn_id in turn_ids]
        given = {"fact": fact, "session_id": session_id, "category": category, "event": event, "turn_ids": turns}
        return rows(self._read("beliefs/history", **given))

    def why(self, fact: str) -> dict[str, list[Row]]:
        """The belief, the events that made it and the turns they come from (recipe beliefs/why)."""
        result = self._read("beliefs/why", fact=str(fact))
        return {table.title.lower(): table.table.to_pylist() for table in result.tables}


def _candidate_schema() -> Any:
    import pyarrow as pa

    types = {"confidence": pa.float64(), "observed_at": pa.timestamp("us", tz="UTC"), "source_turn_id": pa.int64()}
    return pa.schema([(name, types.get(name, pa.string())) for name in _CANDIDATE])
