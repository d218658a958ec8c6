"""What `Memory` can do with records: each method is one of `Records`, for the memory's person or another one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from recall_sql.memory.scope import Row, Scope

if TYPE_CHECKING:
    from pydantic import BaseModel

    from recall_sql.records import Answer, Records, Schema


class RecordMethods(Scope):
    """Records of typed fields beside the facts. user_id: whose; the memory's own person, if it was given one."""

    @property
    def records(self) -> Records:
        """The records of this database, for handlers and everything that isn't about one person."""
        from recall_sql.records import Records

        with self._lock:
            if self._records is None:
                self._records = Records(self._connections)
            return self._records

    def _person(self, user_id: str | None) -> str:
        from recall_sql.records.store import check_user

        own = self.user_id if self.user_id != "default" else None  # what nobody named isn't a person
        return check_user(own if user_id is None else user_id)

    def add_schema(
        self,
        name: str,
        description: str = "",
        schema: type[BaseModel] | Mapping[str, Any] | None = None,
        **handlers: Any,
    ) -> Schema:
        """Declares a kind of record: see `Records.add_schema`."""
        return self.records.add_schema(name, description, schema, **handlers)

    def process(self, message: str, user_id: str | None = None, **options: Any) -> Answer:
        """Does what a message says and tells what it did: see `Records.process`."""
        return self.records.process(message, self._person(user_id), **options)

    def query(self, question: str, user_id: str | None = None, **options: Any) -> Answer:
        """Answers a question about records: see `Records.query`."""
        return self.records.query(question, self._person(user_id), **options)

    def insert(
        self, schema: str, data: Mapping[str, Any], user_id: str | None = None, *, now: datetime | None = None
    ) -> Row:
        """Writes a record."""
        return self.records.insert(schema, data, self._person(user_id), now=now)

    def update(
        self,
        schema: str,
        record_id: UUID | str,
        updates: Mapping[str, Any],
        user_id: str | None = None,
        *,
        now: datetime | None = None,
    ) -> Row:
        """Changes fields of a record."""
        return self.records.update(schema, record_id, updates, self._person(user_id), now=now)

    def delete(self, schema: str, record_id: UUID | str, user_id: str | None = None) -> Row:
        """Deletes a record."""
        return self.records.delete(schema, record_id, self._person(user_id))

    def get(self, schema: str, record_id: UUID | str, user_id: str | None = None) -> Row | None:
        """One record; None where this person has no such one."""
        return self.records.get(schema, record_id, self._person(user_id))

    def list(
        self, schema: str, user_id: str | None = None, where: Mapping[str, Any] | None = None, limit: int = 1000
    ) -> list[Row]:
        """Records of one kind, the newest first."""
        return self.records.list(schema, self._person(user_id), where, limit)
