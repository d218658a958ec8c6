"""`Memory`, put together."""

from __future__ import annotations

from recall_sql.memory.conversations import ConversationMethods
from recall_sql.memory.facts import FactMethods
from recall_sql.memory.person import PersonMethods
from recall_sql.memory.records import RecordMethods


class Memory(FactMethods, ConversationMethods, PersonMethods, RecordMethods):
    """What one bot remembers of one person.

    con: a DuckDB connection or cursor, or a SQLAlchemy connection of a `recall:` or `duckdb:` engine. agent_id and
    user_id hold for every call.

    Many threads may use one Memory: the one that made it works on `con` itself, joining a transaction that is open
    there; every other one on a cursor of its own, where each call is a transaction. Conflicts between them are
    retried within; in a transaction of the caller's they are the caller's.
    """
