"""For what one step can't do: a model with tools, in a bounded number of hops, all of whose writes are one transaction.

Responsible for the conversation with the model, the transaction and the dry run. What the tools do is tools.py's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import duckdb
import openai

from recall_sql.calls import log
from recall_sql.errors import ConfigError, InputError, ModelError
from recall_sql.models import registry
from recall_sql.models.base import Answer as ModelAnswer
from recall_sql.models.openai_compatible import Endpoint
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

    messages: list[dict[str, Any]]
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

    Raises ModelError if the model fails, ConfigError if it can't call tools.
    """
    store.check_user(user_id)
    joined = in_transaction(con)
    if dry_run and joined:
        raise InputError("a dry run takes back what it did, which it can't inside your transaction; commit first")
    box = Toolbox(con, {schema.name: schema for schema in schemas}, user_id, now)
    talk = _Talk(_opening(message, schemas, now), [])
    endpoint = _endpoint(instance, model)
    if not joined:
        con.execute("begin transaction")
    try:
        _converse(instance, endpoint, talk, box, hops)
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


def _converse(instance: Instance, endpoint: Endpoint, talk: _Talk, box: Toolbox, hops: int) -> None:
    for number in range(1, hops + 1):
        reply = _ask(instance, endpoint, talk.messages, number)
        calls = reply.tool_calls or []
        talk.messages.append(
            {
                "role": "assistant",
                "content": reply.content or "",
                **({"tool_calls": [_as_sent(c) for c in calls]} if calls else {}),
            }
        )
        if not calls:
            talk.said = (reply.content or "").strip()
            return
        for call in calls:
            result, done = box.call(call.function.name, call.function.arguments)
            talk.hops.append(
                {
                    "hop": number,
                    "tool": call.function.name,
                    "arguments": _arguments(call.function.arguments),
                    "result": result,
                    "ok": done,
                }
            )
            content = json.dumps(result, ensure_ascii=False, default=str)
            talk.messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    talk.gave_up = f"it wasn't done after {hops} model calls (setting agent_hops); nothing was changed"


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


def _as_sent(call: Any) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.function.name, "arguments": call.function.arguments},
    }


def _opening(message: str, schemas: Sequence[Schema], now: datetime) -> list[dict[str, Any]]:
    from recall_sql.functions.detect_intent import template

    return [
        {"role": "system", "content": template("agent_system.jinja").render(schemas=schemas, now=now)},
        {"role": "user", "content": message},
    ]


# --- the model --------------------------------------------------------------------------------------------------------


def can_call_tools(model: str) -> bool:
    """Whether a model string names an endpoint that may call tools."""
    return registry.parse(model).provider in _SPEAKS


def _endpoint(instance: Instance, model: str) -> Endpoint:
    ref = registry.parse(model)
    if ref.provider not in _SPEAKS:
        raise ConfigError(
            f"'{model}' calls no tools: name an OpenAI-compatible one (openai:…, ollama:…, http://host/v1#model)"
        )
    settings = instance.settings
    key = settings.api_key.get_secret_value() if settings.api_key else None
    return Endpoint(ref.provider, ref.model, ref.base_url, key, settings.timeout)


@lru_cache(maxsize=16)
def _client(endpoint: Endpoint) -> openai.OpenAI:
    try:
        return openai.OpenAI(**{**endpoint.client_arguments(), "max_retries": 2})
    except openai.OpenAIError as error:
        raise ConfigError(f"'{endpoint.provider}:{endpoint.model}' needs a key: set OPENAI_API_KEY") from error


def _ask(instance: Instance, endpoint: Endpoint, messages: list[dict[str, Any]], number: int) -> Any:
    """The model's next message; every attempt is in recall_calls."""
    attempt = log.Attempt(FUNCTION, f"{endpoint.provider}:{endpoint.model}", 1, number)
    failure: ModelError | None = None
    completion: Any = None
    try:
        completion = _client(endpoint).chat.completions.create(
            model=endpoint.model, messages=messages, tools=TOOLS, tool_choice="auto"
        )
        if not getattr(completion, "choices", None):
            failure = ModelError(
                FUNCTION, endpoint.name, "the answer holds no choices", "is it an OpenAI-compatible endpoint?"
            )
    except openai.APIStatusError as error:
        failure = ModelError(
            FUNCTION,
            endpoint.name,
            f"HTTP {error.status_code}",
            status=error.status_code,
            transient=error.status_code >= 500,
        )
    except (openai.OpenAIError, ValueError) as error:
        failure = ModelError(FUNCTION, endpoint.name, type(error).__name__, "is the server running?", transient=True)
    if failure is not None:
        attempt.failed(failure)
    else:
        usage = getattr(completion, "usage", None)
        attempt.done(ModelAnswer("", getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)))
    log.write(instance, [attempt])
    if failure is not None:
        raise failure  # outside of the handler, so that no request with its key hangs on it as context
    return completion.choices[0].message
