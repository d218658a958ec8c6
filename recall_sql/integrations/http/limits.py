"""How often one caller may call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_FORGET_AT = 10_000  # callers


class RateLimit:
    """A token bucket per caller: `rate` calls a second, and twice as many at once. A rate of 0 lets all through."""

    def __init__(self, rate: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._size, self._clock = rate, max(1.0, 2 * rate), clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # caller: (tokens, at)

    def take(self, caller: str) -> float:
        """Counts a call. 0.0 if it may go on, else the seconds until one may."""
        if not self._rate:
            return 0.0
        with self._lock:
            now = self._clock()
            tokens = self._tokens(caller, now)
            if tokens < 1:
                return (1 - tokens) / self._rate
            if len(self._buckets) >= _FORGET_AT:
                self._buckets = {
                    who: kept for who, kept in self._buckets.items() if self._tokens(who, now) < self._size
                }
            self._buckets[caller] = (tokens - 1, now)
            return 0.0

    def _tokens(self, caller: str, now: float) -> float:
        tokens, at = self._buckets.get(caller, (self._size, now))
        return min(self._size, tokens + (now - at) * self._rate)
