"""Land 100,000 candidates in a table of 1,000,000 facts; beside it a loop over the same rules, and SQLite's upsert.

    python -m tests.bench.bench_beliefs [facts] [candidates]

Few texts are distinct and all are embedded beforehand, so that what is measured is the weighing and not the model; the
step `believe` still looks their vectors up and writes them.
"""

from __future__ import annotations

import resource
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import recall_sql
from recall_sql.runner import execute, load

KEYS = 100
# one person has a hundred facts: keys of five categories, values of ten words
FACTS = """
create or replace temp table made as
select
    uuid() as fact_id, 'user ' || (range // 100) as user_id,
    ['hobby', 'likes', 'possession', 'goal', 'habit'][1 + range % 5] as category,
    'thing_' || (range % 100) as fact_key,
    ['red', 'blue', 'green', 'white', 'black', 'small', 'large', 'old', 'young', 'odd'][
        1 + (hash(range) % 10)::bigint
    ] as fact_value,
    if(category = 'likes', 'taste/', category || '/') || fact_key as slot,
    timestamptz '2026-01-01' as observed_at
from range({facts});
"""
CANDIDATES = """
create or replace temp table new_candidates as
with drawn as (
    select range, (hash(range) % {facts})::bigint as place, if(range % 5 = 0, '_new', '') as is_new
    from range({candidates})
)
select
    'user ' || (place // 100) as user_id,
    ['hobby', 'likes', 'possession', 'goal', 'habit'][1 + place % 5] as category,
    'thing_' || (place % 100) || is_new as fact_key,
    ['red', 'blue', 'green', 'white', 'black', 'small', 'large', 'old', 'young', 'odd'][
        1 + (hash(range, 1) % 10)::bigint
    ] as fact_value,
    0.8 as confidence, 'USER' as source, timestamptz '2026-02-01' + to_seconds(range) as observed_at,
    range as source_turn_id
from drawn;
"""


def fill(con: duckdb.DuckDBPyConnection, facts: int) -> None:
    """The facts, each with the event that made it."""
    con.execute(FACTS.format(facts=facts))
    con.execute(
        "insert into chat_facts (fact_id, user_id, category, fact_key, fact_value, slot, confidence, observed_at)"
        " select fact_id, user_id, category, fact_key, fact_value, slot, 0.8, observed_at from made"
    )
    con.execute(
        "insert into chat_fact_history (fact_id, agent_id, user_id, session_id, slot, event, op, category, fact_key,"
        " fact_value, kind, source, confidence, observed_at, after_category, after_key, after_value, after_kind,"
        " after_source, after_confidence, after_observed_at)"
        " select fact_id, 'default', user_id, '', slot, 'created', 'assert', category, fact_key, fact_value,"
        " 'KNOWLEDGE', 'USER', 0.8, observed_at, category, fact_key, fact_value,"
        " 'KNOWLEDGE', 'USER', 0.8, observed_at from made"
    )
    con.execute("drop table made")
    con.execute("checkpoint")


def land(con: duckdb.DuckDBPyConnection, facts: int, candidates: int, first_turn: int) -> float:
    """Seconds that the recipe takes, its slowest steps printed."""
    con.execute(CANDIDATES.format(facts=facts, candidates=candidates))
    con.execute("update new_candidates set source_turn_id = source_turn_id + ?", [first_turn])
    texts = "select distinct fact_text(category, fact_key, fact_value) as words from new_candidates"
    started = time.perf_counter()
    distinct = con.execute(f"select count(embed(words)) from ({texts})").fetchall()[0][0]
    embedding = time.perf_counter() - started
    started = time.perf_counter()
    result = execute(con, load("beliefs/believe"))
    seconds = time.perf_counter() - started
    events = {row["event"]: row["times"] for row in result.tables[0].table.to_pylist()}
    print(f"{candidates:,} candidates: {seconds:.2f} s ({candidates / seconds:,.0f}/s), {events}")
    print(f"  beforehand: {distinct:,} distinct texts embedded in {embedding:.1f} s")
    slow = sorted(result.steps, key=lambda step: -step.seconds)[:6]
    print("  " + ", ".join(f"{step.name} {step.seconds:.2f} s" for step in slow))
    return seconds


def loop(con: duckdb.DuckDBPyConnection, count: int) -> float:
    """Seconds per candidate of a loop that looks up, weighs in Python and writes, one candidate at a time."""
    rows = con.execute("from new_candidates limit ?", [count]).fetchall()
    con.execute("begin")
    started = time.perf_counter()
    for user, category, key, value, confidence, source, observed_at, turn in rows:
        scope = ["default", user, "", category, key]
        heard = con.execute(
            "select 1 from chat_fact_history where user_id = ? and source_turn_id = ? and fact_key = ? limit 1",
            [user, -turn, key],
        ).fetchone()
        held = con.execute(
            "select fact_value, source, confidence, observed_at from chat_facts"
            " where agent_id = ? and user_id = ? and session_id = ? and category = ? and fact_key = ?",
            scope,
        ).fetchone()
        if heard:
            continue
        event = "created" if held is None else "confirmed" if held[0] == value else "superseded"
        if held is not None and (held[1] == "SYSTEM" or held[3] > observed_at):
            event = "rejected_stale"
        elif held is None:
            con.execute(
                "insert into chat_facts (agent_id, user_id, session_id, category, fact_key, fact_value, slot,"
                " confidence, observed_at, embedding) values (?, ?, ?, ?, ?, ?, ?, ?, ?, embed(fact_text(?, ?, ?)))",
                [*scope, value, f"{category}/{key}", confidence, observed_at, category, key, value],
            )
        else:
            con.execute(
                "update chat_facts set fact_value = ?, confidence = ?, observed_at = ?,"
                " embedding = embed(fact_text(?, ?, ?))"
                " where agent_id = ? and user_id = ? and session_id = ? and category = ? and fact_key = ?",
                [value, confidence, observed_at, category, key, value, *scope],
            )
        con.execute(
            "insert into chat_fact_history (agent_id, user_id, session_id, event, category, fact_key,"
            " fact_value, source) values (?, ?, ?, ?, ?, ?, ?, ?)",
            ["default", user, "", event, category, key, value, source],
        )
    seconds = time.perf_counter() - started
    con.execute("rollback")
    return seconds / count


def sqlite(folder: Path, con: duckdb.DuckDBPyConnection) -> float:
    """Seconds of INSERT … ON CONFLICT by executemany: no rules, no history, no vectors."""
    facts = con.execute("select user_id, category, fact_key, fact_value, confidence::double from chat_facts").fetchall()
    rows = con.execute(
        "select user_id, category, fact_key, fact_value, confidence::double from new_candidates"
    ).fetchall()
    with sqlite3.connect(folder / "facts.sqlite") as other:
        other.execute(
            "create table facts (user_id text, category text, fact_key text, fact_value text, confidence real,"
            " updated_at text, primary key (user_id, category, fact_key))"
        )
        other.executemany("insert into facts values (?, ?, ?, ?, ?, current_timestamp)", facts)
        other.commit()
        started = time.perf_counter()
        other.executemany(
            "insert into facts values (?, ?, ?, ?, ?, current_timestamp) on conflict do update set"
            " fact_value = excluded.fact_value, confidence = excluded.confidence, updated_at = excluded.updated_at",
            rows,
        )
        other.commit()
        return time.perf_counter() - started


def main(facts: int = 1_000_000, candidates: int = 100_000) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        con = recall_sql.connect(folder / "bench.duckdb")
        fill(con, facts)
        filled = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"DuckDB {duckdb.__version__}, {facts:,} facts; peak memory after filling {filled:,.0f} MB")
        small = land(con, facts, candidates // 10, first_turn=10**9)
        large = land(con, facts, candidates, first_turn=0)
        print(f"ten times the batch takes {large / small:.1f} times as long")
        print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
        each = loop(con, 2000)
        print(f"loop: {each * 1000:.1f} ms each, {each * candidates / large:.0f} times as long as in one go")
        print(f"SQLite upsert of the same keys: {sqlite(folder, con):.2f} s")
        con.close()


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
