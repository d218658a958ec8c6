"""Facts: listed, found for a question, written, corrected, taken back, explained."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import AwareDatetime
from starlette.exceptions import HTTPException

from recall_sql.integrations.http import shapes
from recall_sql.integrations.http.caller import Reader, Writer
from recall_sql.integrations.http.problems import described

router = APIRouter(prefix="/v1/agents/{agent_id}", tags=["facts"])
FactId = Annotated[UUID, Path(description="The fact.")]
ThreadQuery = Annotated[shapes.Id | None, Query(description="Only what holds in this conversation.")]


@router.get("/facts", responses=described())
def list_facts(
    caller: Reader,
    thread_id: ThreadQuery = None,
    category: Annotated[shapes.Word | None, Query(description="dietary, budget, pet …")] = None,
    kind: Annotated[shapes.Kind | None, Query(description="Only facts of this kind.")] = None,
    as_of: Annotated[AwareDatetime | None, Query(description="What was believed at this moment.")] = None,
) -> shapes.Facts:
    """What is believed now, or was at a moment."""
    found = caller.memory().facts(session_id=thread_id, category=category, kind=kind, as_of=as_of)
    return shapes.Facts(facts=[_fact(row) for row in found])


@router.post("/facts", status_code=201, responses=described(409))
def create_fact(caller: Writer, body: shapes.NewFact) -> shapes.Fact:
    """Write a fact down word for word, without extraction. 409 where a more trusted source has spoken."""
    caller.speaks_as(body.source)
    given = body.model_dump(include={"kind", "source", "confidence", "evidence", "category", "fact_key"})
    memory = caller.memory(body.user_id)
    kept = memory.remember(body.text, session_id=body.thread_id or "", observed_at=_past(body.observed_at), **given)
    return _fact(kept)


@router.patch("/facts/{fact_id}", responses=described(404, 409))
def update_fact(caller: Writer, fact_id: FactId, body: shapes.FactChange) -> shapes.Fact:
    """Give a fact a new value, and its embedding. 409 where a more trusted source said the old one."""
    caller.speaks_as(body.source)
    given = body.model_dump(include={"kind", "source", "confidence", "evidence", "fact_key"})
    memory = caller.memory(body.user_id)
    return _fact(memory.update_fact(str(fact_id), body.text, observed_at=_past(body.observed_at), **given))


@router.delete("/facts/{fact_id}", status_code=204, responses=described(404, 409))
def delete_fact(
    caller: Writer,
    fact_id: FactId,
    source: Annotated[
        shapes.Source, Query(description="Who takes it back; SYSTEM needs a key of role admin.")
    ] = "USER",
    erase: Annotated[bool, Query(description="From its history, too; needs a key of role admin.")] = False,
) -> None:
    """Stop believing a fact. It stays in the history, unless it is erased."""
    caller.speaks_as(source)
    if not erase:
        caller.memory().forget_fact(str(fact_id), source=source)
        return
    caller.principal.require("admin")
    memory = caller.memory()
    if not memory.history(fact=str(fact_id)):
        raise HTTPException(404, "there is no such fact")
    memory.forget(fact=str(fact_id))


@router.get("/facts/{fact_id}/history", responses=described(404))
def fact_history(caller: Reader, fact_id: FactId) -> shapes.FactHistory:
    """How a fact came to be, event by event, refused ones included; also of one that is believed no more."""
    found = caller.memory().history(fact=str(fact_id))
    if not found:
        raise HTTPException(404, "there is no such fact")
    return _history(found)


@router.get("/history", responses=described())
def history(
    caller: Reader,
    thread_id: ThreadQuery = None,
    category: Annotated[shapes.Word | None, Query(description="dietary, budget, pet …")] = None,
    event: Annotated[shapes.Word | None, Query(description="created, superseded, rejected_trust …")] = None,
) -> shapes.FactHistory:
    """Every event in order, refused ones included."""
    return _history(caller.memory().history(session_id=thread_id, category=category, event=event))


@router.post("/retrieve", responses=described())
def retrieve(caller: Reader, body: shapes.Question) -> shapes.Retrieved:
    """The facts a question needs: every RULE, the nearest KNOWLEDGE, and PREFERENCE facts where there is a choice."""
    memory = caller.memory(body.user_id)
    facts = memory.retrieve(body.query, k=body.k, session_id=body.thread_id, kinds=body.kinds, min_score=body.min_score)
    turns = memory.search(body.query, k=body.turns, session_id=body.thread_id) if body.turns else []
    return shapes.Retrieved(
        facts=[shapes.FoundFact(**_fact(row).model_dump(), score=row["score"]) for row in facts],
        turns=[shapes.FoundTurn.model_validate({**row, "thread_id": row["session_id"] or None}) for row in turns],
        context=str(memory.context(body.thread_id or "", body.query)) if body.context else None,
    )


def _fact(row: Mapping[str, Any]) -> shapes.Fact:
    given = {name: row.get(name) for name in shapes.Fact.model_fields}
    return shapes.Fact.model_validate({**given, "thread_id": row["session_id"] or None})


def _history(found: list[dict[str, Any]]) -> shapes.FactHistory:
    events = [{**row, "thread_id": row["session_id"] or None} for row in found]
    return shapes.FactHistory(history=[shapes.FactEvent.model_validate(event) for event in events])


def _past(moment: datetime | None) -> datetime | None:
    """What is said later than now is said now: nobody could contradict it until then."""
    return min(moment, datetime.now(UTC)) if moment else None
