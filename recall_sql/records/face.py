"""`Records`: schemas, messages, questions and rows of one database, by user."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pydantic import BaseModel

from recall_sql.connections import Connections
from recall_sql.errors import InputError
from recall_sql.records import store, tables
from recall_sql.records.intents import Intent
from recall_sql.records.process import Answer, Handler, Handlers, answer, carry_out, moment
from recall_sql.records.sandbox import Limits
from recall_sql.records.schemas import Schema, from_json, from_model, read
from recall_sql.runner.conflicts import retrying

if TYPE_CHECKING:
    import duckdb


class Records:
    """The records of one database. Every method but those about schemas names a user and refuses to work without one.

    con: an open recall_sql connection; many threads may use one Records, each on a cursor of its own. timezone: of
    users whose calls name none. model: who reads messages and questions where a call names nobody: 'rules', or a model
    string; the setting `extractor`, if not given.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection | Connections,
        *,
        timezone: str | None = None,
        model: str | None = None,
        on_insert: Handler | None = None,
        on_update: Handler | None = None,
        on_delete: Handler | None = None,
        on_query: Handler | None = None,
    ) -> None:
        self._connections = con if isinstance(con, Connections) else Connections(con)
        self._timezone, self._model = timezone, model
        self._classes: dict[str, type[BaseModel]] = {}
        self._handlers = Handlers()
        self._add_handlers(None, insert=on_insert, update=on_update, delete=on_delete, query=on_query)

    @property
    def _con(self) -> duckdb.DuckDBPyConnection:
        return self._connections.con

    # --- schemas ------------------------------------------------------------------------------------------------------

    def add_schema(
        self,
        name: str,
        description: str = "",
        schema: type[BaseModel] | Mapping[str, Any] | None = None,
        *,
        on_insert: Handler | None = None,
        on_update: Handler | None = None,
        on_delete: Handler | None = None,
        on_query: Handler | None = None,
    ) -> Schema:
        """Declares a kind of record and makes or migrates its table. Raises InputError with a plan where it can't.

        schema: a pydantic class or a JSON Schema. A name alone is the path of a JSON file {name, description, schema}.
        """
        if schema is None:
            declared = from_json(Path(name).read_text("utf-8"))
        elif isinstance(schema, type) and issubclass(schema, BaseModel):
            declared = from_model(name, description, schema)
            self._classes[name] = schema
        elif isinstance(schema, Mapping):
            declared = read(name, description or str(schema.get("description") or ""), schema)
        else:
            raise InputError(f"schema must be a pydantic class or a JSON Schema, not {type(schema).__name__}")
        tables.declare(self._con, declared)
        self._add_handlers(declared.name, insert=on_insert, update=on_update, delete=on_delete, query=on_query)
        return declared

    def schemas(self) -> list[Schema]:
        """Every declared schema, by name."""
        found = tables.load_all(self._con)
        return [_with_class(schema, self._classes.get(schema.name)) for schema in found]

    def schema(self, name: str) -> Schema:
        """One schema. InputError if it isn't declared."""
        found = {schema.name: schema for schema in self.schemas()}
        if name not in found:
            raise InputError(f"no schema '{name}' is declared; there are: {', '.join(found) or 'none'}")
        return found[name]

    def on(self, event: str, handler: Handler, schema: str | None = None) -> Handler:
        """Calls `handler` with the row after every insert, update, delete or query, of one schema or of all."""
        return self._handlers.add(event, handler, schema)

    def _add_handlers(self, schema: str | None, **handlers: Handler | None) -> None:
        for event, handler in handlers.items():
            if handler is not None:
                self._handlers.add(event, handler, schema)

    # --- messages and questions ---------------------------------------------------------------------------------------

    def process(
        self,
        message: str,
        user_id: str,
        *,
        now: datetime | None = None,
        timezone: str | None = None,
        model: str | None = None,
        agent: bool | None = None,
        dry_run: bool = False,
    ) -> Answer:
        """Does what a message says: {matched, schema, intent, action, id, data, confidence, reason}, and more where
        there is more to say (matches, result, sql, hops, handler_errors).

        now, timezone: the moment and the zone of the user, from which "yesterday" is counted. dry_run: says what it
        would do and writes nothing. agent: whether a model may take several steps with tools; None lets it where one
        step didn't settle an update or a delete, and the model can. Raises InputError without a user; ModelError
        where a model fails.
        """
        from recall_sql.functions import detect_intent
        from recall_sql.session import instance_of

        store.check_user(user_id)
        at = moment(now, timezone or self._timezone)
        model = model or self._model
        instance = instance_of(self._con)
        reader = model or instance.settings.extractor
        if agent:
            return self._in_steps(message, user_id, at, reader, dry_run)
        recent = self._recent(user_id)
        intent = detect_intent.detect(instance, message, self.schemas(), at, model=model, recent=recent)
        intent = self._asked(intent, message, user_id, at, reader)
        done = self._act(intent, message, user_id, at, reader, dry_run)
        unsettled = intent.intent in ("update", "delete") and not done["action"] and not done.get("would")
        if unsettled and agent is None and reader != "rules" and _can_call_tools(reader):
            return self._in_steps(message, user_id, at, reader, dry_run)
        return done

    def _in_steps(self, message: str, user_id: str, at: datetime, model: str, dry_run: bool) -> Answer:
        from recall_sql.records import agent
        from recall_sql.session import instance_of

        instance = instance_of(self._con)
        done, written = agent.run(
            self._con,
            instance,
            message,
            self.schemas(),
            user_id,
            at,
            model=model,
            hops=instance.settings.agent_hops,
            dry_run=dry_run,
        )
        errors = [error for action, schema, row in written for error in self._handlers.call(action, schema, [row])]
        if errors:
            done["handler_errors"] = errors
        return done

    def query(
        self,
        question: str,
        user_id: str,
        *,
        now: datetime | None = None,
        timezone: str | None = None,
        model: str | None = None,
        limits: Limits | None = None,
    ) -> Answer:
        """Answers a question about this user's records: {sql, result, explanation}; a single value comes as the value.

        Where there is no answer, result is None and error says why. limits: of time, memory and rows.
        """
        store.check_user(user_id)
        at = moment(now, timezone or self._timezone)
        found = self._answer(question, user_id, at, model or self._model, limits)
        errors = self._handlers.call("query", found.get("schema"), [{"question": question, **found}])
        return Answer({**found, "handler_errors": errors}) if errors else found

    def _answer(self, question: str, user_id: str, at: datetime, model: str | None, limits: Limits | None) -> Answer:
        from recall_sql.records.ask import ask
        from recall_sql.session import instance_of

        instance = instance_of(self._con)
        reader = model or instance.settings.extractor
        return ask(self._con, instance, question, self.schemas(), user_id, at, model=reader, limits=limits)

    def _asked(self, intent: Intent, message: str, user_id: str, at: datetime, reader: str) -> Intent:
        """A question whose words are only in the records themselves: "how many mugs are left?"."""
        from recall_sql.records.rules import forms

        if intent.matched or reader != "rules" or forms.kind(message)[0] != "query":
            return intent
        found = self._answer(message, user_id, at, reader, None)
        if "error" in found:
            return intent
        return Intent(True, "query", found.get("schema"), 0.7, reason=found["explanation"])

    def _act(self, intent: Intent, message: str, user_id: str, at: datetime, model: str, dry_run: bool) -> Answer:
        if not intent.matched or intent.schema is None:
            return answer(intent)
        if intent.intent == "query":
            asked = self.query(message, user_id, now=at, model=model)
            found = {key: asked[key] for key in ("result", "sql", "explanation", "error") if key in asked}
            return answer(intent, "query" if asked.get("sql") else None, **found)
        schema = self.schema(intent.schema)
        if dry_run:
            return self._dry(schema, intent, user_id, at)
        con = self._con
        done, rows = retrying(con, lambda: carry_out(con, schema, intent, user_id, at))
        return self._handled(done, schema.name, rows)

    def _dry(self, schema: Schema, intent: Intent, user_id: str, at: datetime) -> Answer:
        if intent.intent == "insert":
            return answer(intent, None, would="insert")
        found = store.find(self._con, schema, user_id, intent.match, at) if intent.match else []
        matches = [store.one(self._con, schema, user_id, record.id) for record in found if record.chosen]
        would = intent.intent if matches else None
        return answer(intent, None, would=would, matches=matches, updates=intent.updates)

    def _handled(self, done: Answer, schema: str, rows: list[dict[str, Any]]) -> Answer:
        errors = self._handlers.call(done["action"], schema, rows) if done["action"] else []
        if errors:
            done["handler_errors"] = errors
        return done

    def _recent(self, user_id: str) -> str | None:
        """The schema of the user's last record."""
        parts = [
            f"select {tables.literal(schema.name)} as name, max(updated_at) as written"
            f" from {tables.quoted(schema.name)} where user_id = $user_id"
            for schema in tables.load_all(self._con)
        ]
        if not parts:
            return None
        row = self._con.execute(
            "select name from ("
            + " union all ".join(parts)
            + ") where written is not null order by written desc limit 1",
            {"user_id": user_id},
        ).fetchone()
        return row[0] if row else None

    # --- rows, without a model ----------------------------------------------------------------------------------------

    def insert(
        self, schema: str, data: Mapping[str, Any], user_id: str, *, now: datetime | None = None
    ) -> dict[str, Any]:
        """Writes a record and returns its row. InputError lists what is wrong with the data."""
        store.check_user(user_id)
        con, kind, at = self._con, self.schema(schema), moment(now, self._timezone)
        row = retrying(con, lambda: store.insert(con, kind, user_id, data, at))
        self._handlers.call("insert", schema, [row])
        return row

    def update(
        self,
        schema: str,
        record_id: UUID | str,
        updates: Mapping[str, Any],
        user_id: str,
        *,
        now: datetime | None = None,
    ) -> dict[str, Any]:
        """Changes fields of a record and returns its row. InputError if the user has no such record."""
        store.check_user(user_id)
        con, kind, at = self._con, self.schema(schema), moment(now, self._timezone)
        store.one(con, kind, user_id, record_id)
        row = retrying(con, lambda: store.update(con, kind, user_id, [record_id], updates, at))[0]
        self._handlers.call("update", schema, [row])
        return row

    def delete(self, schema: str, record_id: UUID | str, user_id: str) -> dict[str, Any]:
        """Deletes a record and returns what it was. InputError if the user has no such record."""
        store.check_user(user_id)
        con, kind = self._con, self.schema(schema)
        store.one(con, kind, user_id, record_id)
        row = retrying(con, lambda: store.delete(con, kind, user_id, [record_id]))[0]
        self._handlers.call("delete", schema, [row])
        return row

    def get(self, schema: str, record_id: UUID | str, user_id: str) -> dict[str, Any] | None:
        """One record; None where this user has no such one."""
        return store.get(self._con, self.schema(schema), store.check_user(user_id), record_id)

    def list(
        self, schema: str, user_id: str, where: Mapping[str, Any] | None = None, limit: int = 1000
    ) -> list[dict[str, Any]]:
        """Records of this user, the newest first. where: field → value, texts without case and accents."""
        return store.listed(self._con, self.schema(schema), store.check_user(user_id), where, limit)


def _can_call_tools(model: str) -> bool:
    from recall_sql.records import agent

    return agent.can_call_tools(model)


def _with_class(schema: Schema, model: type[BaseModel] | None) -> Schema:
    return schema if model is None else Schema(schema.name, schema.description, schema.fields, schema.definition, model)
