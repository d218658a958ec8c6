"""AsyncMemory: the same methods with the same signatures, at once, and without blocking the loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable

import duckdb
import pytest

import recall_sql
from recall_sql import AsyncMemory, InputError, Memory
from tests.servers import ScriptedServer, chat


def methods(cls: type) -> dict[str, Callable[..., object]]:
    return {name: member for name, member in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")}


def test_it_has_every_method_of_memory_with_its_signature() -> None:
    own, of_memory = methods(AsyncMemory), methods(Memory)
    assert own.keys() - {"aclose"} == of_memory.keys()
    for name, method in of_memory.items():
        assert inspect.iscoroutinefunction(own[name]), name
        assert inspect.signature(own[name]) == inspect.signature(method), name
        assert own[name].__doc__ == method.__doc__, name


def test_many_calls_at_once(con: duckdb.DuckDBPyConnection) -> None:
    async def work() -> list[str]:
        async with AsyncMemory(con, user_id="u1") as memory:
            await asyncio.gather(*(memory.remember(f"v{n}", fact_key=f"k{n}") for n in range(8)))
            await asyncio.gather(*(memory.add("s1", "user", f"turn {n}") for n in range(8)))
            assert sorted(turn["position"] for turn in await memory.messages("s1")) == list(range(1, 9))
            return [fact["fact_value"] for fact in await memory.facts()]

    assert sorted(asyncio.run(work())) == sorted(f"v{n}" for n in range(8))


def test_replies_overlap_and_the_loop_goes_on() -> None:
    with (
        ScriptedServer(lambda call: chat("Yes.", delay=0.2)) as server,
        recall_sql.connect(settings={"llm": server.model()}) as con,
    ):

        async def work() -> int:
            ticks = 0

            async def tick() -> None:
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.005)
                    ticks += 1

            async with AsyncMemory(con, user_id="u1", workers=4) as memory:
                clock = asyncio.create_task(tick())
                answers = await asyncio.gather(*(memory.reply(f"s{n}", f"Is it {n}?") for n in range(4)))
                clock.cancel()
            assert answers == ["Yes."] * 4
            return ticks

        assert asyncio.run(work()) > 5
        assert server.most_in_flight > 1


def test_errors_are_memorys_own_and_the_connection_stays_open(con: duckdb.DuckDBPyConnection) -> None:
    async def work() -> None:
        memory = AsyncMemory(con, agent_id="a1", user_id="u1")
        assert (memory.agent_id, memory.user_id) == ("a1", "u1")
        with pytest.raises(InputError, match="nothing was forgotten"):
            await memory.forget()
        await memory.aclose()

    asyncio.run(work())
    assert con.execute("select 1").fetchall() == [(1,)]
