"""One message: detect → validate → write → answer.

Responsible for what becomes of a message and for calling handlers after the commit. How a message is read is rules/ or
a model's business (functions/detect_intent.py), rows are store.py's, questions are ask.py's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from recall_sql.errors import InputError
from recall_sql.records import store
from recall_sql.records.intents import Intent
from recall_sql.records.schemas import Schema
from recall_sql.records.tables import transaction

if TYPE_CHECKING:
    import duckdb

Handler = Callable[[dict[str, Any]], object]
EVENTS = ("insert", "update", "delete", "query")
LISTED = 10  # how many records an ambiguous answer shows


class Answer(dict[str, Any]):
    """What became of a message or question: a dict whose keys can be read as attributes, too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} in this answer; it has {', '.join(self)}") from None


def moment(now: datetime | None, zone: str | None) -> datetime:
    """The moment of a message in the user's zone: `now`, else the clock. A naive `now` is in that zone already."""
    try:
        place = ZoneInfo(zone) if zone else None
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # a name is looked for as a file
        raise InputError(f"'{str(zone)[:100]}' is no time zone; write one like Europe/Berlin") from error
    if now is None:
        return datetime.now(place or UTC)
    if now.tzinfo is None:
        return now.replace(tzinfo=place or UTC)
    return now.astimezone(place) if place else now


def answer(intent: Intent, action: str | None = None, **more: Any) -> Answer:
    """The result of `process` in its fixed keys, and what there is to add."""
    base = {
        "matched": intent.matched,
        "schema": intent.schema,
        "intent": intent.intent,
        "action": action,
        "id": None,
        "data": intent.data,
        "confidence": intent.confidence,
        "reason": intent.reason,
    }
    return Answer({**base, **more})


def carry_out(
    con: duckdb.DuckDBPyConnection, schema: Schema, intent: Intent, user_id: str, now: datetime
) -> tuple[Answer, list[dict[str, Any]]]:
    """Writes what an intent says, in one transaction. The answer, and the rows for the handlers."""
    with transaction(con):
        if intent.intent == "insert":
            row = store.insert(con, schema, user_id, intent.data or {}, now)
            return answer(intent, "insert", id=row["id"], data=fields_of(schema, row), record=row), [row]
        return _change(con, schema, intent, user_id, now)


def _change(
    con: duckdb.DuckDBPyConnection, schema: Schema, intent: Intent, user_id: str, now: datetime
) -> tuple[Answer, list[dict[str, Any]]]:
    assert intent.match is not None
    found = store.find(con, schema, user_id, intent.match, now)
    chosen = [record for record in found if record.chosen]
    if not found:
        return _refused(intent, f"no {schema.name} record fits: {intent.reason}"), []
    if not chosen:
        shown = [store.one(con, schema, user_id, record.id) for record in found[:LISTED]]
        why = f"{len(found)} {schema.name} records fit; say which one"
        return _refused(intent, why, matches=shown), []
    ids = [record.id for record in chosen]
    if intent.intent == "update":
        rows = store.update(con, schema, user_id, ids, intent.updates or {}, now)
    else:
        rows = store.delete(con, schema, user_id, ids)
    more = {"ids": [row["id"] for row in rows], "updates": intent.updates} if len(rows) > 1 or intent.updates else {}
    return answer(intent, intent.intent, id=rows[0]["id"], data=fields_of(schema, rows[0]), **more), rows


def _refused(intent: Intent, why: str, **more: Any) -> Answer:
    return answer(Intent(False, intent.intent, intent.schema, intent.confidence, reason=why), **more)


def fields_of(schema: Schema, row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value, without the columns every record has."""
    return {name: row[name] for name in schema.names if row.get(name) is not None}


class Handlers:
    """Functions that are called with a row after it was written. What one raises is reported and undoes nothing."""

    def __init__(self) -> None:
        self._handlers: dict[tuple[str, str | None], list[Handler]] = {}

    def add(self, event: str, handler: Handler, schema: str | None = None) -> Handler:
        """Calls `handler` on insert, update, delete or query, of one schema or of all."""
        if event not in EVENTS:
            raise InputError(f"there is no event '{event}'; events: {', '.join(EVENTS)}")
        self._handlers.setdefault((event, schema), []).append(handler)
        return handler

    def call(self, event: str, schema: str | None, rows: Sequence[dict[str, Any]]) -> list[str]:
        """The errors of the handlers."""
        handlers = self._handlers.get((event, schema), []) + (self._handlers.get((event, None), []) if schema else [])
        errors = []
        for handler in handlers:
            for row in rows:
                error = _failure(handler, row)
                if error:
                    errors.append(error)
        return errors


def _failure(handler: Handler, row: dict[str, Any]) -> str:
    """Calls the handler; the text of what it raised, or ''. Ctrl-C and exit go through."""
    try:
        handler(dict(row))
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        return f"{getattr(handler, '__name__', 'handler')}: {type(error).__name__}: {error}"
    return ""
