"""One Memory, many threads: nothing is lost, nothing is mixed up, and nobody sees a conflict."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

import recall_sql
from recall_sql import Memory, RecallError

THREADS = 6
TIMES = 2
PAYMENTS = {"properties": {"recipient": {"type": "string"}, "amount": {"type": "number"}}, "required": ["recipient"]}


def in_threads(work: Callable[[int], None]) -> None:
    """Runs `work` in so many threads, all of which begin together; raises what one of them raised."""
    ready = threading.Barrier(THREADS)

    def begin(number: int) -> None:
        ready.wait(30)
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(begin, range(THREADS)))


def test_everything_at_once_on_one_memory(db: Path) -> None:
    con = recall_sql.connect(db)
    memory = Memory(con, user_id="u1")
    memory.add_schema("payments", "Money paid to somebody", PAYMENTS)

    def work(number: int) -> None:
        for nth in range(TIMES):
            memory.add("together", "user", f"{number}/{nth}: I have a cat called Mochi.")
            memory.add(f"s{number}", "assistant", f"{number}/{nth}")
            memory.remember(f"{number}/{nth}", category="note", fact_key=f"k{number}")
            memory.remember(f"{number}/{nth}", category="location", fact_key="home_city", evidence=f"{number}/{nth}")
            memory.insert("payments", {"recipient": f"{number}", "amount": nth})
            assert [turn["content"] for turn in memory.messages(f"s{number}")][-1] == f"{number}/{nth}"
        if number < 2:
            memory.extract()
        assert "Mochi" in memory.context("together", "what is my cat called?")
        assert memory.search("cat", k=3)

    in_threads(work)
    memory.extract()
    turns = memory.messages("together")
    assert sorted(turn["position"] for turn in turns) == list(range(1, TIMES * THREADS + 1))
    assert len({turn["content"] for turn in turns}) == TIMES * THREADS
    facts = {f"{fact['category']}.{fact['fact_key']}": fact["fact_value"] for fact in memory.facts()}
    assert {f"note.k{number}": f"{number}/{TIMES - 1}" for number in range(THREADS)}.items() <= facts.items()
    assert sum(1 for name in facts if name.startswith(("location", "pet"))) == 2
    heard = [event for event in memory.history(category="location") if event["evidence"]]
    assert len(heard) == TIMES * THREADS and heard[-1]["after_value"] == facts["location.home_city"]
    assert len(memory.list("payments")) == TIMES * THREADS
    con.close()
    recall_sql.connect(db).close()  # nobody holds the file any more


def test_threads_that_change_one_record_take_turns(con: duckdb.DuckDBPyConnection) -> None:
    memory = Memory(con, user_id="u1")
    memory.add_schema("payments", "Money paid to somebody", PAYMENTS)
    key = memory.insert("payments", {"recipient": "Ana"})["id"]
    in_threads(lambda number: [memory.update("payments", key, {"amount": number}) for _ in range(3)] and None)
    assert memory.get("payments", key)["amount"] in range(THREADS)


def test_the_thread_that_made_it_stays_in_its_transaction(
    con: duckdb.DuckDBPyConnection,
) -> None:
    memory = Memory(con, user_id="u1")
    con.execute("begin")
    memory.remember("Rome", category="location", fact_key="home_city")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(memory.facts).result() == []
    con.execute("rollback")
    assert memory.facts() == []


def test_a_thread_takes_its_cursor_with_it(con: duckdb.DuckDBPyConnection) -> None:
    memory = Memory(con)
    memory.facts()
    opened = "from duckdb_connection_count()"
    before = con.execute(opened).fetchall()
    for _ in range(3):
        thread = threading.Thread(target=memory.facts)
        thread.start()
        thread.join()
    gc.collect()
    assert con.execute(opened).fetchall() == before


def test_a_closed_connection_is_an_error_in_every_thread() -> None:
    con = recall_sql.connect()
    memory = Memory(con)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(memory.facts).result() == []
        con.close()
        with pytest.raises(RecallError, match="already closed"):
            pool.submit(memory.facts).result()
