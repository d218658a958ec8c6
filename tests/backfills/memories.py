"""What two memories are compared by: everything in them that doesn't depend on when and how often they were run."""

from __future__ import annotations

import duckdb

TURNS = """
    select agent_id, user_id, session_id, position, role, content, created_at, source_key, embedding::varchar
    from chat_turns
    order by all
"""
FACTS = """
    select
        f.agent_id, f.user_id, f.session_id, f.category, f.fact_key, f.fact_value, f.slot, f.kind, f.source,
        f.confidence, f.observed_at, f.evidence, t.source_key, f.embedding::varchar
    from chat_facts as f
    left join chat_turns as t on t.turn_id = f.source_turn_id
    order by all
"""
HISTORY = """
    select
        h.user_id, h.session_id, h.slot, h.event, h.reason, h.op, h.category, h.fact_key, h.fact_value,
        h.kind, h.confidence, h.observed_at, h.evidence, h.before_key, h.before_value, h.before_confidence,
        h.after_key, h.after_value, h.after_confidence, t.source_key
    from chat_fact_history as h
    left join chat_turns as t on t.turn_id = h.source_turn_id
    order by h.agent_id, h.user_id, h.session_id, h.slot, h.event_id
"""
INDEX = """
    select t.source_key, t.session_id, t.user_id, p.term, p.tf
    from search_postings as p
    join chat_turns as t using (turn_id)
    order by all
"""
WATERMARKS = "select agent_id, user_id, session_id, title, extracted_through from chat_threads order by all"


def contents(con: duckdb.DuckDBPyConnection) -> dict[str, list[tuple]]:
    """Everything, by what it is."""
    queries = {"turns": TURNS, "facts": FACTS, "history": HISTORY, "index": INDEX, "watermarks": WATERMARKS}
    return {name: con.execute(query).fetchall() for name, query in queries.items()}


def assert_same(one: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection) -> None:
    for (name, found), expected in zip(contents(one).items(), contents(other).values(), strict=True):
        assert found == expected, name
