"""Tries, waits and limits: a scripted server for faults, and a clock of our own where time matters."""

from __future__ import annotations

import asyncio

import duckdb
import pytest

import recall_sql
from recall_sql.calls import retry
from recall_sql.calls.limits import Limiter
from tests.servers import Reply, ScriptedServer, chat, embeddings, error


@pytest.fixture
def server():
    with ScriptedServer(lambda call: chat("fine")) as running:
        yield running


@pytest.fixture
def con(server):
    with recall_sql.connect(settings={"llm": server.model(), "retries": 3, "backoff": 0.001}) as connection:
        yield connection


def attempts(con: duckdb.DuckDBPyConnection) -> list[tuple[int, str]]:
    return con.execute("select attempt, status from recall_calls order by called_at").fetchall()


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (error(408), "408"),
        (error(409), "409"),
        (error(429), "429"),
        (error(503), "503"),
        (chat("x", cut=True), "error"),
        (Reply(b'{"choices": [{"mess'), "error"),
        (Reply({"choices": []}), "error"),
    ],
)
def test_what_may_pass_is_tried_again(con, server, fault, status):
    server.script = lambda call: fault if call.number == 0 else chat("fine")
    assert con.execute("select generate('a')").fetchall() == [("fine",)]
    assert attempts(con) == [(1, status), (2, "ok")]


def test_a_timeout_is_tried_again(con, server):
    con.execute("select recall_set('timeout', 0.3)").fetchall()
    server.script = lambda call: chat("late", delay=2.0) if call.number == 0 else chat("fine")
    assert con.execute("select generate('a')").fetchall() == [("fine",)]
    assert attempts(con) == [(1, "error"), (2, "ok")]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_pass_is_not(con, server, status):
    server.script = lambda call: error(status)
    with pytest.raises(duckdb.InvalidInputException, match=f"HTTP {status}"):
        con.execute("select generate('a')").fetchall()
    assert attempts(con) == [(1, str(status))]


def test_the_last_failure_is_the_rows(con, server):
    server.script = lambda call: error(500, f"number {call.number}")
    with pytest.raises(duckdb.InvalidInputException, match="number 3"):
        con.execute("select generate('a')").fetchall()
    assert attempts(con) == [(1, "500"), (2, "500"), (3, "500"), (4, "500")]


def test_a_wrong_key_is_not_tried_for_every_row(con, server):
    con.execute("select recall_set('concurrency', 2)").fetchall()
    server.script = lambda call: error(401, "no such key", delay=0.02)
    query = "select count(generate('p' || range, {on_error: 'null'})) from range(50)"
    assert con.execute(query).fetchall() == [(0,)]
    assert len(server.calls) <= 4


def test_a_dead_server_is_not_tried_for_every_row(con, server):
    con.execute("select recall_set('concurrency', 2), recall_set('retries', 0)").fetchall()
    server.script = lambda call: error(503)
    query = "select count(generate('p' || range, {on_error: 'null'})) from range(200)"
    assert con.execute(query).fetchall() == [(0,)]
    assert len(server.calls) <= 20
    server.script = lambda call: chat("fine")
    assert con.execute(query).fetchall() == [(200,)]


def test_embedding_is_tried_again_too():
    def script(call):
        return error(500) if call.number == 0 else embeddings([[1.0, 0.0]] * len(call.texts))

    with ScriptedServer(script) as server:
        settings = {"embedder": server.model(), "embedding_dimension": 2, "backoff": 0.001}
        with recall_sql.connect(settings=settings) as con:
            assert con.execute("select count(embed('t' || range)) from range(10)").fetchall() == [(10,)]
            assert con.execute("select attempt, status, inputs, tokens_in from recall_calls order by 1").fetchall() == [
                (1, "500", 10, None),
                (2, "ok", 10, 1),
            ]


def test_embedding_requests_are_in_flight_together():
    with ScriptedServer(lambda call: embeddings([[1.0, float(len(t))] for t in call.texts], delay=0.1)) as server:
        with recall_sql.connect(settings={"embedder": server.model(), "embedding_dimension": 2}) as con:
            rows = con.execute("select range, embed(repeat('x', (range + 1)::int)) from range(1000)").fetchall()
        assert all(v[1] == pytest.approx((n + 1) * v[0], rel=1e-4) for n, v in rows)
        assert server.most_in_flight >= 2 and max(len(call.texts) for call in server.calls) <= 256


def test_how_long_to_wait():
    bounds = [(retry.seconds(attempt, None, 0.5), 0.5 * 2 ** (attempt - 1)) for attempt in range(1, 6)]
    assert all(bound / 2 <= wait <= bound for wait, bound in bounds)
    assert retry.seconds(20, None, 0.5) <= retry.LONGEST_BACKOFF
    assert all(7.0 <= retry.seconds(1, 7.0, 0.5) <= 8.0 for _ in range(20))


def test_a_server_that_asks_for_an_hour_is_not_waited_for(con, server):
    server.script = lambda call: error(429, headers={"Retry-After": "3600"})
    with pytest.raises(duckdb.InvalidInputException, match="429"):
        con.execute("select generate('a')").fetchall()
    assert attempts(con) == [(1, "429")]


# -- limits ------------------------------------------------------------------------------------------------------------


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def admitted(*requests: tuple[int, int | None, int | None]) -> list[float]:
    """When requests of (tokens, rpm, tpm) that all come at 0 are let out, one after another."""
    clock = Clock()
    limiter = Limiter(lambda: clock.now, clock.sleep)

    async def all_of_them() -> list[float]:
        times = []
        for request in requests:
            await limiter.admit(*request)
            times.append(clock.now)
        return times

    return asyncio.run(all_of_them())


def test_requests_and_tokens_a_minute():
    assert admitted(*[(10, None, None)] * 3) == [0, 0, 0]
    assert admitted(*[(10, 60, None)] * 4) == pytest.approx([0, 1, 2, 3])
    assert admitted(*[(500, None, 1000)] * 3) == pytest.approx([0, 30, 60])
    assert admitted(*[(500, 60, 1000)] * 3) == pytest.approx([0, 30, 60])


def test_what_was_used_counts_and_a_pause_holds():
    clock = Clock()
    limiter = Limiter(lambda: clock.now, clock.sleep)

    async def work() -> None:
        await limiter.admit(500, None, 1000)
        limiter.settle(500, 100, 1000)
        await limiter.admit(500, None, 1000)
        assert clock.now == pytest.approx(6)
        limiter.pause(10)
        await limiter.admit(1, None, None)
        assert clock.now == pytest.approx(16)

    asyncio.run(work())


def test_the_settings_limit_requests(con, server):
    con.execute("select recall_set('rpm', 1200)").fetchall()
    con.execute("select generate('p' || range) from range(6)").fetchall()
    moments = [row[0] for row in con.execute("select epoch(called_at) from recall_calls order by called_at").fetchall()]
    assert moments[-1] - moments[0] >= 5 * 60 / 1200 - 0.01
