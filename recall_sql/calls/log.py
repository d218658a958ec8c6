"""Writes down every attempt to reach a model in `recall_calls`, outside the caller's transaction."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from recall_sql.models.base import Answer

if TYPE_CHECKING:
    from recall_sql.instance import Instance


@dataclass
class Attempt:
    """One request. `done` or `failed` ends it; latency is counted from its making."""

    function: str
    model: str
    inputs: int
    attempt: int = 1
    started: float = field(default_factory=time.perf_counter)
    called_at: float = field(default_factory=time.time)
    latency_ms: float | None = None
    status: str = "error"
    error: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None

    def done(self, answer: Answer | None = None) -> None:
        self.latency_ms = (time.perf_counter() - self.started) * 1000
        self.status = "ok"
        if answer is not None:
            self.tokens_in, self.tokens_out = answer.tokens_in, answer.tokens_out
            self.tokens_cached = answer.tokens_cached

    def failed(self, error: BaseException) -> None:
        self.latency_ms = (time.perf_counter() - self.started) * 1000
        self.status = str(getattr(error, "status", None) or "error")
        self.error = str(error) or type(error).__name__


COLUMNS = (
    "function",
    "model",
    "inputs",
    "attempt",
    "latency_ms",
    "status",
    "error",
    "tokens_in",
    "tokens_out",
    "tokens_cached",
)


def write(instance: Instance, attempts: list[Attempt]) -> None:
    """Adds `attempts` to recall_calls."""
    if not attempts:
        return
    types = {"inputs": pa.int32(), "attempt": pa.int32(), "latency_ms": pa.float64()}
    columns = {
        name: pa.array(
            [getattr(attempt, name) for attempt in attempts],
            types.get(name, pa.int64() if name.startswith("tokens") else pa.string()),
        )
        for name in COLUMNS
    }
    stamps = pa.array([int(attempt.called_at * 1_000_000) for attempt in attempts], pa.timestamp("us", tz="UTC"))
    names = ", ".join(COLUMNS)
    with instance.cursor() as cursor:
        cursor.register("new_calls", pa.table({"called_at": stamps, **columns}))
        cursor.execute(
            f"insert into {instance.store}.recall_calls (called_at, {names}) select called_at, {names} from new_calls"
        ).fetchall()
