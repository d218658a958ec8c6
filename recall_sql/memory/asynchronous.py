"""`AsyncMemory`: every method of `Memory` as a coroutine.

DuckDB has no asynchronous interface, so calls run in threads, each on a cursor of its own. The signatures are Memory's
themselves (`ParamSpec`), so there is nothing that could drift apart; a test compares the two classes.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from recall_sql.memory.whole import Memory

P = ParamSpec("P")
R = TypeVar("R")


def _offloaded(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    """The same method, run in one of the memory's threads."""

    @functools.wraps(method)
    async def call(self: AsyncMemory, *args: P.args, **kwargs: P.kwargs) -> R:
        work = functools.partial(contextvars.copy_context().run, method, self.memory, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    return call


class AsyncMemory:
    """`Memory` for asyncio: the same methods, awaited.

    con, agent_id, user_id: as for Memory. workers: so many calls run at once, the others wait. A call that is cancelled
    while it waits doesn't happen; one that runs goes on to its end, since DuckDB commits or refuses it as a whole.

    async with AsyncMemory(con, user_id="lina") as memory:
        await memory.add("s1", "user", "I'm vegetarian now")
    """

    def __init__(self, con: Any, *, agent_id: str = "default", user_id: str = "default", workers: int = 8) -> None:
        self.memory = Memory(con, agent_id=agent_id, user_id=user_id)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="recall-sql-memory")

    @property
    def agent_id(self) -> str:
        """The bot."""
        return self.memory.agent_id

    @property
    def user_id(self) -> str:
        """The person."""
        return self.memory.user_id

    async def aclose(self) -> None:
        """Wait for calls that run and let the threads go. The connection stays open: it is the caller's."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)

    async def __aenter__(self) -> AsyncMemory:
        """Itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        await self.aclose()

    remember = _offloaded(Memory.remember)
    update_fact = _offloaded(Memory.update_fact)
    forget_fact = _offloaded(Memory.forget_fact)
    believe = _offloaded(Memory.believe)
    facts = _offloaded(Memory.facts)
    retrieve = _offloaded(Memory.retrieve)
    history = _offloaded(Memory.history)
    why = _offloaded(Memory.why)

    add = _offloaded(Memory.add)
    add_turns = _offloaded(Memory.add_turns)
    extract = _offloaded(Memory.extract)
    context = _offloaded(Memory.context)
    reply = _offloaded(Memory.reply)
    search = _offloaded(Memory.search)
    threads = _offloaded(Memory.threads)
    open_thread = _offloaded(Memory.open_thread)
    title_thread = _offloaded(Memory.title_thread)
    messages = _offloaded(Memory.messages)
    remove_thread = _offloaded(Memory.remove_thread)

    export = _offloaded(Memory.export)
    forget = _offloaded(Memory.forget)

    add_schema = _offloaded(Memory.add_schema)
    process = _offloaded(Memory.process)
    query = _offloaded(Memory.query)
    insert = _offloaded(Memory.insert)
    update = _offloaded(Memory.update)
    delete = _offloaded(Memory.delete)
    get = _offloaded(Memory.get)
    list = _offloaded(Memory.list)
