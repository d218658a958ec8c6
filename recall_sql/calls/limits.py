"""Keeps requests and tokens a minute under a provider's limits. Lives on the event loop; one limiter per provider.

Requests are spaced evenly: no minute, wherever it begins, holds more than the limit.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable


class Limiter:
    """When the next request may go out. clock, sleep: for tests."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._next_request = self._next_token = self._paused_until = 0.0

    async def admit(self, tokens: int, rpm: int | None, tpm: int | None) -> None:
        """Returns when a request of about `tokens` tokens may be sent; requests come through in the order they ask."""
        now = self._clock()
        start = now
        if rpm:
            start = max(start, self._next_request)
            self._next_request = max(now, self._next_request) + 60 / rpm
        if tpm:
            start = max(start, self._next_token)
            self._next_token = max(now, self._next_token) + tokens * 60 / tpm
        while (wait := max(start, self._paused_until) - self._clock()) > 0:
            await self._sleep(wait)

    def settle(self, expected: int, used: int, tpm: int | None) -> None:
        """Corrects the books once the number of tokens is known."""
        if tpm:
            self._next_token += (used - expected) * 60 / tpm

    def pause(self, seconds: float) -> None:
        """Nothing goes out before: the server asked for it."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)
