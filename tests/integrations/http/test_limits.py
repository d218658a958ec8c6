"""The rate limit: so many calls a second, twice as many at once, each caller for itself."""

from __future__ import annotations

from recall_sql.integrations.http.limits import RateLimit


def test_a_caller_gets_its_rate_and_no_more() -> None:
    now = 0.0
    limit = RateLimit(8, clock=lambda: now)  # powers of two, so that the sums are exact
    assert sum(limit.take("a") == 0 for _ in range(30)) == 16
    assert limit.take("a") == 0.125 and limit.take("b") == 0
    taken = 0
    for _ in range(96):
        now += 0.0625
        taken += limit.take("a") == 0
    assert taken == 48
    now += 60
    assert sum(limit.take("a") == 0 for _ in range(30)) == 16, "what wasn't used isn't kept"


def test_callers_that_are_gone_are_forgotten() -> None:
    now = 0.0
    limit = RateLimit(10, clock=lambda: now)
    for caller in range(12_000):
        now += 0.001
        assert limit.take(str(caller)) == 0
    assert len(limit._buckets) <= 10_000


def test_no_limit_is_none() -> None:
    limit = RateLimit(0)
    assert not any(limit.take("a") for _ in range(1000))
