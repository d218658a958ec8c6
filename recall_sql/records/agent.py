"""For what one step can't do: a model with tools, in a bounded number of hops, all of whose writes are one transaction.

Responsible for the conversation with the model, the transaction and the dry run. What the tools do is tools.py's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb

from recall_sql.errors import ConfigError, InputError
from recall_sql.functions.detect_intent import template
from recall_sql.functions.generate import generator
from recall_sql.models import registry
from recall_sql.models.base import Answer as ModelAnswer
from recall_sql.models.base import Generator, Request
from recall_sql.records import store
from recall_sql.records.process import Answer
from recall_sql.records.schemas import Schema
from recall_sql.records.tools import TOOLS, Toolbox
from recall_sql.runner.execute import in_transaction

if TYPE_CHECKING:
    from recall_sql.instance import Instance

FUNCTION = "AGENT"  # its name in recall_calls
_SPEAKS = ("openai", "ollama", "http")


class _Stopped(Exception):
    """The agent gave up, or it was a dry run: what it wrote is taken back."""


@dataclass
class _Talk:
    """A conversation under way. hops: every tool call with its arguments and result."""

    request: Request
    hops: list[dict[str, Any]]
    said: str = ""
    gave_up: str = ""


def run(
    con: duckdb.DuckDBPyConnection,
    instance: Instance,
    message: str,
    schemas: Sequence[Schema],
    user_id: str,
    now: datetime,
    *,
    model: str,
    hops: int,
    dry_run: bool = False,
) -> tuple[Answer, list[tuple[str, str, dict[str, Any]]]]:
    """The answer, with every hop, and the rows it wrote: none on an error, past the limit, or in a dry run.

    Raises ModelError if the model fails, BudgetError if the budget is spent, ConfigError if it can't call tools.
    """
    store.check_user(user_id)
    joined = in_transaction(con)
    if dry_run and joined:
        raise InputError("a dry run takes back what it did, which it can't inside your transaction; commit first")
    box = Toolbox(con, {schema.name: schema for schema in schemas}, user_id, now)
    talk = _Talk(_opening(instance, message, schemas, now), [])
    speaker = _generator(instance, model)
    if not joined:
        con.execute("begin transaction")
    try:
        _converse(partial(_ask, instance, speaker, model), talk, box, hops)
        if dry_run or talk.gave_up:
            raise _Stopped
        if not joined:
            con.execute("commit")
    except _Stopped:
        if joined:
            raise InputError(f"{talk.gave_up}; what it wrote is in your transaction, ROLLBACK it") from None
        con.execute("rollback")
    except BaseException:
        if not joined:
            con.execute("rollback")
        raise
    return _answer(talk, box, dry_run), [] if dry_run or talk.gave_up else box.written


def _converse(ask: Callable[[Request], ModelAnswer], talk: _Talk, box: Toolbox, hops: int) -> None:
    for number in range(1, hops + 1):
        reply = ask(talk.request)
        if not reply.tool_calls:
            talk.said = reply.text.strip()
            return
        results = []
        for call in reply.tool_calls:
            result, done = box.call(call.name, call.arguments)
            talk.hops.append(
                {
                    "hop": number,
                    "tool": call.name,
                    "arguments": _arguments(call.arguments),
                    "result": result,
                    "ok": done,
                }
            )
            content = json.dumps(result, ensure_ascii=False, default=str)
            results.append({"role": "tool", "tool_call_id": call.id, "content": content})
        talk.request = replace(talk.request, since=[*talk.request.since, _as_sent(reply), *results])
    talk.gave_up = f"it wasn't done after {hops} model calls (setting agent_hops); nothing was changed"


def _ask(instance: Instance, speaker: Generator, model: str, request: Request) -> ModelAnswer:
    return instance.calls.step(FUNCTION, speaker, request, address=registry.parse(model).base_url)


def _answer(talk: _Talk, box: Toolbox, dry_run: bool) -> Answer:
    written = [] if talk.gave_up else box.written
    action, schema, row = written[-1] if written else (None, None, {})
    done = bool(written) and not dry_run
    return Answer(
        {
            "matched": bool(written),
            "schema": schema,
            "intent": action or "none",
            "action": action if done else None,
            "id": row.get("id") if done else None,
            "data": row or None,
            "confidence": 0.9 if written else 0.5,
            "reason": talk.gave_up or talk.said or "the model said nothing",
            "hops": talk.hops,
            "changes": [{"action": a, "schema": s, "id": r["id"], "row": r} for a, s, r in written],
            "dry_run": dry_run,
        }
    )


def _arguments(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def _as_sent(reply: ModelAnswer) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.tool_calls
    ]
    return {"role": "assistant", "content": reply.text, "tool_calls": calls}


def _opening(instance: Instance, message: str, schemas: Sequence[Schema], now: datetime) -> Request:
    system = template("agent_system.jinja").render(schemas=schemas, now=now)
    return Request(message, system=system, temperature=instance.settings.temperature, tools=TOOLS)


# --- the model --------------------------------------------------------------------------------------------------------


def can_call_tools(model: str) -> bool:
    """Whether a model string names an endpoint that may call tools."""
    return registry.parse(model).provider in _SPEAKS


def _generator(instance: Instance, model: str) -> Generator:
    if not can_call_tools(model):
        raise ConfigError(
            f"'{model}' calls no tools: name an OpenAI-compatible one (openai:…, ollama:…, http://host/v1#model)"
        )
    return generator(instance, model)
