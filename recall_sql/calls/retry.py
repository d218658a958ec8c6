"""Which failures are worth another try, and how long to wait before it.

A try follows a failure that may pass (429, 408, 409, 425, 5xx, timeouts, broken connections), never one that won't
(400, 401).
"""

from __future__ import annotations

import random

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_any

from recall_sql.errors import ModelError

LONGEST_BACKOFF = 30.0  # seconds between two tries, where the server doesn't say
LONGEST_WAIT = 300.0  # a server that asks for more has closed for the day: the error says so now


def trials(retries: int, backoff: float) -> AsyncRetrying:
    """At most 1 + `retries` tries; the last failure is raised. backoff: seconds, doubled from try to try."""

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return seconds(state.attempt_number, getattr(error, "retry_after", None), backoff)

    return AsyncRetrying(
        retry=retry_if_exception(_may_pass),
        stop=stop_any(stop_after_attempt(1 + retries), _asks_too_long),
        wait=wait,
        reraise=True,
    )


def seconds(attempt: int, retry_after: float | None, backoff: float) -> float:
    """How long to wait after try number `attempt`: as told and a little more, else at random below a doubling bound."""
    bound = min(LONGEST_BACKOFF, backoff * 2 ** (attempt - 1))
    if retry_after is not None:
        return retry_after + random.uniform(0, min(bound, 1.0))
    return random.uniform(bound / 2, bound)


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, ModelError) and error.transient


def _asks_too_long(state: RetryCallState) -> bool:
    error = state.outcome.exception() if state.outcome else None
    return (getattr(error, "retry_after", None) or 0) > LONGEST_WAIT
