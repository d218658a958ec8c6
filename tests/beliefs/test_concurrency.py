"""Field case F23: threads that write the same belief. Conflicts are retried inside and reach nobody."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb

from recall_sql import Memory
from tests.beliefs.telling import beliefs, said

THREADS = 8


def in_threads(work: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))


def check(con: duckdb.DuckDBPyConnection, times: int) -> None:
    assert list(beliefs(con)) == ["location.home_city"]
    heard = con.execute("select count(*), count(distinct evidence), count(distinct event_id) from chat_fact_history")
    assert heard.fetchall() == [(times, times, times)]
    last = con.execute("select after_value from chat_fact_history order by event_id desc limit 1").fetchall()
    assert last == con.execute("select fact_value from chat_facts").fetchall()


def test_eight_threads_on_cursors_assert_one_key_two_hundred_times(con: duckdb.DuckDBPyConnection) -> None:
    cursors = [con.cursor() for _ in range(THREADS)]

    def work(number: int) -> None:
        memory = Memory(cursors[number], user_id="u1")
        for nth in range(5):
            marks = [f"{number}/{nth}/{piece}" for piece in range(5)]
            memory.believe(
                said("location.home_city", f"city {mark}", when=number + nth / 10, evidence=mark) for mark in marks
            )

    in_threads(work)
    check(con, 200)
    assert list(beliefs(con).values()) == ["city 7/4/4"]


def test_eight_threads_write_directly_on_sqlalchemy_connections(db: Path) -> None:
    import sqlalchemy

    import recall_sql.integrations.sqlalchemy  # names the dialect

    owner = recall_sql.connect(db)
    engine = sqlalchemy.create_engine(f"recall:///{db}", pool_size=THREADS)
    connections = [engine.connect() for _ in range(THREADS)]

    def work(number: int) -> None:
        memory = Memory(connections[number], user_id="u1")
        for nth in range(3):
            memory.remember(f"city {number}", category="location", fact_key="home_city", evidence=f"{number}/{nth}")

    in_threads(work)
    for connection in connections:
        connection.close()
    engine.dispose()
    check(owner, 24)
    owner.close()


def test_in_a_callers_transaction_nothing_is_committed_and_nothing_repeated(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("begin")
    Memory(con, user_id="u1").remember("Rome", category="location", fact_key="home_city")
    con.execute("rollback")
    assert beliefs(con) == {}
