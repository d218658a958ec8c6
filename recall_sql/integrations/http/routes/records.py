"""Records and SQL. Records belong to a person and not to a bot; a key bound to a person opens that one's alone."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter

from recall_sql import person_sql
from recall_sql.integrations.http import shapes
from recall_sql.integrations.http.caller import AnyReader, AnyWriter
from recall_sql.integrations.http.problems import described

router = APIRouter(prefix="/v1", tags=["records"])
_WRITES = re.compile(r"(\s|--[^\n]*\n|/\*.*?\*/)*(insert|update|delete|merge)\b", re.IGNORECASE | re.DOTALL)


@router.post("/process", responses=described())
def process(caller: AnyWriter, body: shapes.Told) -> dict[str, Any]:
    """Do what a message says about records, and tell what was done."""
    memory = caller.memory(body.user_id)
    return person_sql.plain(memory.process(body.message, timezone=body.timezone, dry_run=body.dry_run))


@router.post("/ask", responses=described())
def ask(caller: AnyReader, body: shapes.Asked) -> dict[str, Any]:
    """Answer a question about records: the SQL, the result, an explanation."""
    return person_sql.plain(caller.memory(body.user_id).query(body.question, timezone=body.timezone))


@router.post("/query/execute", responses=described())
def execute_sql(caller: AnyReader, body: shapes.Statement) -> shapes.Rows | shapes.Written:
    """One SELECT over the person's own rows, in a sandbox. A writer may also insert, update and delete facts, and
    insert turns: what is written goes through the rules of belief, so it may be refused, and history shows it.
    """
    memory = caller.memory(body.user_id)
    if not _WRITES.match(body.sql):
        table, more = person_sql.select(memory, body.sql, rows=body.limit)
        rows = [[person_sql.plain(value) for value in row] for row in person_sql.values(table)]
        return shapes.Rows(columns=table.column_names, rows=rows, truncated=more)
    caller.principal.require("writer")
    caller.speaks_as(body.source)
    done = person_sql.execute(memory, body.sql, body.source, as_system=caller.principal.role == "admin")
    caller.service.worker.wake()
    return shapes.Written.model_validate(person_sql.plain(done))
