"""A person's rights over what is held about them: all of it, and none of it."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from recall_sql.errors import InputError
from recall_sql.memory.scope import Row, Scope, rows, run


class PersonMethods(Scope):
    """Export and erasure."""

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
        return rows(result)[0]


def forget_person(con: duckdb.DuckDBPyConnection, user_id: str) -> Row:
    """Erase a person: records of every schema, then all that beliefs/forget erases. Counts of what is gone."""
    from recall_sql.records import person

    records = person.erase(con, user_id)
    return {**rows(run(con, "beliefs/forget", user_id=user_id))[0], "records": records}


def compact(path: str | Path) -> int:
    """Write a database file anew without the blocks that deleting left in it; bytes gained.

    DuckDB reuses freed blocks but doesn't clear them, so what was forgotten stays readable in the file until then. All
    connections to it must be closed. The old file is replaced only when the new one is complete.
    """
    from recall_sql.compaction import rewrite

    return rewrite(Path(path))
