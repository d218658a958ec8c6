"""Speed of records: `python -m tests.bench.bench_records [MESSAGES] [ROWS]`.

10,000 messages through the batch recipe with rules; questions about one user among 1,000,000 rows of 1,000 users.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb

import recall_sql
from recall_sql.records import Records
from recall_sql.runner import execute, load
from tests.records.schemas import KINDS, NOW, declare

MESSAGES = Path(__file__).parent.parent / "records" / "messages.jsonl"
QUESTIONS = (
    "how much have I paid Jayden in total?",
    "total payments by recipient",
    "how many payments over $50 this month?",
)


def timed(work: Callable[[], object]) -> float:
    """Seconds that `work` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def batch(count: int) -> None:
    """The recipe structured_records/process over `count` messages."""
    texts = [json.loads(line)["m"] for line in MESSAGES.read_text("utf-8").splitlines()]
    with closing(recall_sql.connect(":memory:")) as con:
        declare(Records(con))
        con.execute(
            """
            insert into record_messages (user_id, message, created_at)
            select 'user ' || n // 100, $texts[1 + n % len($texts)], $now + to_seconds(n)
            from range($count) as r(n)
            """,
            {"texts": texts, "now": NOW, "count": count},
        )
        recipe = load("structured_records/process")
        seconds = timed(lambda: execute(con, recipe, {"schemas": list(KINDS)}))
        done = con.execute("select count(*) filter (matched), count(*) from record_results").fetchone()
    print(f"batch: {count:,} messages in {seconds:.1f} s, {count / seconds:,.0f} messages/s; matched {done}")


def fill(con: duckdb.DuckDBPyConnection, rows: int) -> None:
    """`rows` payments of 1,000 users."""
    con.execute(
        """
        insert into payments (user_id, recipient, amount, date)
        select 'user ' || n % 1000, ['Jayden', 'Ana', 'Costco', 'Shell', 'Landlord'][1 + n // 1000 % 5],
            (n % 20000) / 100, $day - (n // 1000 % 365)::integer
        from range($rows) as r(n)
        """,
        {"rows": rows, "day": NOW.date()},
    )


def questions(rows: int) -> None:
    """`query` for one user."""
    with closing(recall_sql.connect(":memory:")) as con:
        records = declare(Records(con))
        fill(con, rows)
        now = NOW.astimezone(dt.UTC)
        first = timed(lambda: records.query(QUESTIONS[0], "user 7", now=now))
        print(f"ask: {rows:,} rows of 1,000 users; the first question {first:.2f} s (starts the sandbox's process)")
        for question in QUESTIONS:
            best = min(timed(lambda q=question: records.query(q, "user 7", now=now)) for _ in range(5))
            print(f"ask: {question!r} {best * 1000:.0f} ms")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    batch(numbers[0] if numbers else 10_000)
    questions(numbers[1] if len(numbers) > 1 else 1_000_000)
