"""What the agent may do: list, find, most recent, insert, update, delete, each for one user and nothing else.

Responsible for the tools' descriptions, as a model is told them, and for carrying a call out. A call that is wrong is
answered with the reason, and changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import duckdb

from recall_sql.errors import InputError
from recall_sql.records import store
from recall_sql.records.intents import Match
from recall_sql.records.schemas import Schema

MOST = 50  # records that one tool call shows

_SCHEMA = {"type": "string", "description": "The kind of record."}
_WHERE = {"type": "object", "description": "Field to value; case and accents don't matter, likeness is enough."}
_ID = {"type": "string", "description": "The id of a record, as another tool gave it."}


def _tool(name: str, description: str, required: Sequence[str], **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    _tool(
        "list_records",
        "All records of a kind, the newest first.",
        ["schema"],
        schema=_SCHEMA,
        limit={"type": "integer", "description": "At most so many."},
    ),
    _tool(
        "find_records",
        "Records whose fields have these values, the best first.",
        ["schema", "where"],
        schema=_SCHEMA,
        where=_WHERE,
    ),
    _tool(
        "most_recent",
        "The latest (or oldest) records, of those whose fields have these values.",
        ["schema"],
        schema=_SCHEMA,
        where=_WHERE,
        count={"type": "integer"},
        oldest={"type": "boolean"},
    ),
    _tool("insert_record", "Writes a record.", ["schema", "data"], schema=_SCHEMA, data={"type": "object"}),
    _tool(
        "update_record",
        "Changes fields of one record.",
        ["schema", "id", "updates"],
        schema=_SCHEMA,
        id=_ID,
        updates={"type": "object"},
    ),
    _tool("delete_record", "Deletes one record.", ["schema", "id"], schema=_SCHEMA, id=_ID),
]


@dataclass
class Toolbox:
    """The tools for one message. written: (action, schema, row) of every change."""

    con: duckdb.DuckDBPyConnection
    schemas: dict[str, Schema]
    user_id: str
    now: datetime
    written: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    def call(self, name: str, arguments: str) -> tuple[Any, bool]:
        """(what the tool gives back, whether it did what was asked)."""
        tools: dict[str, Callable[..., Any]] = {
            "list_records": self._list,
            "find_records": self._find,
            "most_recent": self._most_recent,
            "insert_record": self._insert,
            "update_record": self._update,
            "delete_record": self._delete,
        }
        if name not in tools:
            return {"error": f"there is no tool '{name}'; tools: {', '.join(tools)}"}, False
        try:
            given = json.loads(arguments or "{}")
            if not isinstance(given, dict):
                raise InputError("the arguments must be a JSON object")
            return tools[name](**given), True
        except (InputError, TypeError, ValueError) as error:
            return {"error": " ".join(str(error).replace("Toolbox._", "").split())[:400]}, False

    def _schema(self, name: str) -> Schema:
        if name not in self.schemas:
            raise InputError(f"there is no kind of record '{name}'; there are: {', '.join(self.schemas)}")
        return self.schemas[name]

    def _list(self, schema: str, limit: int = 20) -> list[dict[str, Any]]:
        rows = store.listed(self.con, self._schema(schema), self.user_id, None, max(1, min(int(limit), MOST)))
        return [_shown(row) for row in rows]

    def _find(self, schema: str, where: dict[str, Any]) -> list[dict[str, Any]]:
        return self._matching(schema, Match(dict(where), None, None))

    def _most_recent(
        self, schema: str, where: dict[str, Any] | None = None, count: int = 1, oldest: bool = False
    ) -> list[dict[str, Any]]:
        wanted = max(1, min(int(count), MOST))
        return self._matching(schema, Match(dict(where or {}), "oldest" if oldest else "latest", wanted))

    def _matching(self, schema: str, match: Match) -> list[dict[str, Any]]:
        kind = self._schema(schema)
        found = [record for record in store.find(self.con, kind, self.user_id, match, self.now) if record.chosen]
        return [_shown(store.one(self.con, kind, self.user_id, record.id)) for record in found[:MOST]]

    def _insert(self, schema: str, data: dict[str, Any]) -> dict[str, Any]:
        row = store.insert(self.con, self._schema(schema), self.user_id, dict(data), self.now)
        self.written.append(("insert", schema, row))
        return _shown(row)

    def _update(self, schema: str, id: str, updates: dict[str, Any]) -> dict[str, Any]:
        kind = self._schema(schema)
        store.one(self.con, kind, self.user_id, id)
        row = store.update(self.con, kind, self.user_id, [id], dict(updates), self.now)[0]
        self.written.append(("update", schema, row))
        return _shown(row)

    def _delete(self, schema: str, id: str) -> dict[str, Any]:
        kind = self._schema(schema)
        store.one(self.con, kind, self.user_id, id)
        row = store.delete(self.con, kind, self.user_id, [id])[0]
        self.written.append(("delete", schema, row))
        return {"deleted": str(row["id"])}


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("user_id", "updated_at") and value is not None}
