"""A question about one user's records → SQL → the sandbox → the answer.

The SQL comes from rules/questions.py and planner.py, or from a model, which is told what was wrong with it twice at
most. Where it runs is sandbox.py's business; the caller's database is only read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from json_repair import repair_json

from recall_sql.calls import Question
from recall_sql.errors import InputError
from recall_sql.models.base import Request
from recall_sql.records import sandbox, store
from recall_sql.records.process import Answer
from recall_sql.records.schemas import Schema
from recall_sql.records.tables import quoted

if TYPE_CHECKING:
    from recall_sql.instance import Instance

PROMPT_VERSION = "1"
CORRECTIONS = 2  # how often a model may mend its SQL
_VALUES = 2000  # distinct texts of a field that the rules look at
_ANSWER: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["sql", "explanation"],
    "properties": {"sql": {"type": ["string", "null"]}, "explanation": {"type": "string"}},
}


def ask(
    con: duckdb.DuckDBPyConnection,
    instance: Instance,
    question: str,
    schemas: Sequence[Schema],
    user_id: str,
    now: datetime,
    *,
    model: str,
    limits: sandbox.Limits | None = None,
) -> Answer:
    """{sql, result, explanation}, and error where there is no result. A single value comes back as the value."""
    store.check_user(user_id)
    if not question.strip():
        return _without("the question is empty")
    tables = {schema.name: rows_of(con, schema, user_id) for schema in schemas}
    if model == "rules":
        from recall_sql.records import planner
        from recall_sql.records.rules import questions

        plan = questions.read(question.strip(), schemas, now, {s.name: _texts(s, tables[s.name]) for s in schemas})
        if plan is None:
            return _without("it isn't clear which records the question is about, or what it asks of them")
        sql = planner.to_sql(plan, user_id)
        found = _run(sql, plan.explanation, {plan.schema.name: tables[plan.schema.name]}, now, limits)
        return Answer({**found, "schema": plan.schema.name})
    return _by_model(instance, question, schemas, tables, user_id, now, model, limits)


def rows_of(con: duckdb.DuckDBPyConnection, schema: Schema, user_id: str) -> pa.Table:
    """All rows of one user, as Arrow; choices as text."""
    names = [
        f"{quoted(spec.name)}::varchar as {quoted(spec.name)}" if spec.kind == "enum" else quoted(spec.name)
        for spec in schema.fields
    ]
    columns = ", ".join(["id::varchar as id", "user_id", *names, "created_at", "updated_at"])
    sql = f"select {columns} from {quoted(schema.name)} where user_id = $user_id"
    return con.sql(sql, params={"user_id": user_id}).to_arrow_table()


def _texts(schema: Schema, table: pa.Table) -> dict[str, list[str]]:
    return {
        spec.name: [value for value in table.column(spec.name).unique().to_pylist() if value][:_VALUES]
        for spec in schema.fields
        if spec.kind == "text"
    }


def _without(why: str, sql: str | None = None) -> Answer:
    return Answer({"sql": sql, "result": None, "explanation": why, "error": why})


def _run(
    sql: str, explanation: str, tables: dict[str, pa.Table], now: datetime, limits: sandbox.Limits | None
) -> Answer:
    try:
        table, cut = sandbox.run(sql, tables, zone=zone_name(now), limits=limits)
    except sandbox.SandboxError as error:
        return _without(str(error), sql)
    found = Answer({"sql": sql, "result": _plain(table), "explanation": explanation})
    if cut:
        found["truncated"] = True
    return found


def zone_name(now: datetime) -> str:
    """The name of the zone of `now`, as DuckDB knows it; UTC where it has only an offset."""
    return str(getattr(now.tzinfo, "key", None) or "UTC")


def _plain(table: pa.Table) -> Any:
    if table.num_rows == 1 and table.num_columns == 1:
        return table.column(0)[0].as_py()
    return table.to_pylist()


# --- a model ----------------------------------------------------------------------------------------------------------


def _by_model(
    instance: Instance,
    question: str,
    schemas: Sequence[Schema],
    tables: dict[str, pa.Table],
    user_id: str,
    now: datetime,
    model: str,
    limits: sandbox.Limits | None,
) -> Answer:
    failed: list[dict[str, str]] = []
    last = _without("the model gave no SQL")
    for _ in range(1 + CORRECTIONS):
        given = _asked(instance, question, schemas, user_id, now, model, failed)
        sql = given.get("sql")
        if not isinstance(sql, str) or not sql.strip():
            return _without(str(given.get("explanation") or "the model gave no SQL"))
        last = _run(sql, str(given.get("explanation") or ""), tables, now, limits)
        if "error" not in last:
            return last
        failed.append({"sql": sql, "error": last["error"]})
    return last


def _asked(
    instance: Instance,
    question: str,
    schemas: Sequence[Schema],
    user_id: str,
    now: datetime,
    model: str,
    failed: list[dict[str, str]],
) -> dict[str, Any]:
    from recall_sql.functions import arguments, detect_intent, generate

    system = detect_intent.template("ask_system.jinja").render()
    prompt = detect_intent.template("ask_user.jinja").render(
        question=question, schemas=schemas, user_id=user_id, now=now, failed=failed
    )
    request = Request(prompt=prompt, system=system, temperature=0.0, max_tokens=1024, json_schema=_ANSWER)
    option = detect_intent.IntentOptions(on_error="fail")
    assert isinstance(option, arguments.Options)
    asked = Question(request, question, PROMPT_VERSION, check=_read)
    answer = generate.ask(instance, "ASK", [asked], model, option)[0]
    return _read(answer or "{}")


def _read(answer: str) -> dict[str, Any]:
    given = repair_json(answer.rsplit("</think>", 1)[-1], return_objects=True)
    if not isinstance(given, dict) or "sql" not in given:
        raise InputError(f"isn't an object with sql: {json.dumps(answer[:120])}")
    return given
