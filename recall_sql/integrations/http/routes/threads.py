"""Conversations: begun, told, read back, erased."""

from __future__ import annotations

import asyncio
import hashlib
import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Response
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from recall_sql.errors import InputError
from recall_sql.integrations.http import shapes
from recall_sql.integrations.http.caller import Admin, Caller, Reader, Writer
from recall_sql.integrations.http.intake import Request, Stored
from recall_sql.integrations.http.problems import described
from recall_sql.memory import Memory

router = APIRouter(prefix="/v1/agents/{agent_id}", tags=["threads"])
ThreadId = Annotated[shapes.Id, Path(description="The conversation.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="At most so many.")]


@router.post("/threads", status_code=201, responses={200: {"model": shapes.Thread}, **described()})
def open_thread(caller: Writer, body: shapes.NewThread, response: Response) -> shapes.Thread:
    """Begin a conversation. Not needed: naming one when ingesting is enough. 200 if it is there already."""
    memory = caller.memory(body.user_id)
    thread_id = body.thread_id or str(uuid.uuid4())
    if not memory.open_thread(thread_id, body.title):
        response.status_code = 200
    return _thread(memory, thread_id)


@router.get("/threads", responses=described())
def list_threads(
    caller: Reader, limit: Limit = 100, offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0
) -> shapes.Threads:
    """The conversations there are, the latest first."""
    found = [row for row in caller.memory().threads(limit=limit, offset=offset)]
    return shapes.Threads(threads=[_shaped(row) for row in found])


@router.get("/threads/{thread_id}", responses=described(404))
def get_thread(caller: Reader, thread_id: ThreadId) -> shapes.Thread:
    """One conversation."""
    return _thread(caller.memory(), thread_id)


@router.delete("/threads/{thread_id}", status_code=204, responses=described(404))
def delete_thread(caller: Admin, thread_id: ThreadId) -> None:
    """Erase a conversation: its messages, and what was learned from them alone, history included."""
    memory = caller.memory()
    _thread(memory, thread_id)
    memory.remove_thread(thread_id)
    caller.service.worker.wake()  # its words leave the search tables


@router.get("/threads/{thread_id}/messages", responses=described(404))
def list_messages(
    caller: Reader,
    thread_id: ThreadId,
    limit: Limit = 1000,
    after: Annotated[int, Query(ge=0, le=2**53, description="Only messages behind this position.")] = 0,
) -> shapes.Messages:
    """The original messages, in order."""
    memory = caller.memory()
    _thread(memory, thread_id)
    found = memory.messages(thread_id, after=after, limit=limit)
    return shapes.Messages(messages=[shapes.StoredMessage(**row) for row in found])


@router.post(
    "/ingest",
    status_code=202,
    responses={200: {"model": shapes.Ingested, "description": "With wait: read."}, **described()},
)
async def ingest(
    caller: Writer,
    body: shapes.IngestText | shapes.IngestMessages,
    response: Response,
    wait: Annotated[bool, Query(description="Answer when the facts have been read, and say what was learned.")] = False,
    timeout: Annotated[float, Query(ge=0, le=120, description="With wait: seconds to wait at most.")] = 30.0,
    idempotency_key: Annotated[
        shapes.Short | None,
        Header(description="Your name for this request: the same one again stores nothing. Kept for a day."),
    ] = None,
) -> shapes.Ingested:
    """Store messages. They are on the disk when this answers; their facts are read in the background."""
    given = body.messages if isinstance(body, shapes.IngestMessages) else [body]
    caller.speaks_as(*(message.role for message in given))
    user_id = caller.user(body.user_id)
    turns = [_turn(message) for message in given]
    asked = Request(
        caller.agent_id,
        user_id,
        body.thread_id or "",
        turns,
        idempotency_key,
        _digest(body.thread_id, turns) if idempotency_key else None,
    )
    stored = await asyncio.wrap_future(caller.service.intake.put(asked))
    if any(turn.outcome == "conflict" for turn in stored):
        raise InputError("this Idempotency-Key was used for another request")
    if any(turn.outcome == "repeated" for turn in stored):
        response.headers["Idempotent-Replayed"] = "true"
    answer = shapes.Ingested(thread_id=body.thread_id, user_id=user_id, turns=[])
    if not wait:
        caller.service.worker.wake()
        answer.turns = [_ingested(turn, None) for turn in stored]
        return answer
    await _read(caller, stored, timeout)
    statuses, answer.learned = await run_in_threadpool(_learned, caller, user_id, stored)
    answer.turns = [_ingested(turn, statuses.get(turn.turn_id)) for turn in stored]
    if all(status == "done" for status in statuses.values()):
        response.status_code = 200
    return answer


# --- underneath -------------------------------------------------------------------------------------------------------


async def _read(caller: Caller, stored: Sequence[Stored], timeout: float) -> None:
    """Waits until the turns have been read, holding no thread: others may wait, too, and the rest must go on."""
    watching = caller.service.worker.watching({turn.turn_id for turn in stored})
    futures = await run_in_threadpool(watching.__enter__)
    try:
        if futures:
            await asyncio.wait([asyncio.wrap_future(future) for future in futures], timeout=timeout)
    finally:
        watching.__exit__(None, None, None)


def _learned(caller: Caller, user_id: str, stored: Sequence[Stored]) -> tuple[dict[int, str], list[shapes.Learned]]:
    """How far the turns are, and what they did to the beliefs."""
    ids = [turn.turn_id for turn in stored]
    statuses = caller.service.worker.statuses(ids)
    events = caller.memory(user_id).history(turn_ids=ids)
    return statuses, [shapes.Learned(**{name: row[name] for name in shapes.Learned.model_fields}) for row in events]


def _turn(message: shapes.Message | shapes.IngestText) -> dict[str, Any]:
    """A turn as the intake takes it. What is said later than now is said now."""
    now = datetime.now(UTC)
    said = min(message.created_at, now) if message.created_at else None
    source_key = message.source_key if isinstance(message, shapes.Message) else None
    return {"role": message.role, "content": message.content, "created_at": said, "source_key": source_key}


def _digest(thread_id: str | None, turns: Sequence[dict[str, Any]]) -> str:
    text = json.dumps([thread_id, turns], default=str, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _ingested(turn: Stored, status: str | None) -> shapes.IngestedTurn:
    return shapes.IngestedTurn.model_validate({"turn_id": turn.turn_id, "outcome": turn.outcome, "status": status})


def _thread(memory: Memory, thread_id: str) -> shapes.Thread:
    found = memory.threads(session_id=thread_id)
    if not found:
        raise HTTPException(404, "there is no such thread")
    return _shaped(found[0])


def _shaped(row: dict[str, Any]) -> shapes.Thread:
    return shapes.Thread(
        thread_id=row["session_id"], **{name: row[name] for name in shapes.Thread.model_fields if name != "thread_id"}
    )
