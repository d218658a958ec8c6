"""Memory, the Python face: direct facts and conversations."""

from __future__ import annotations

import duckdb
import pytest

from recall_sql import InputError, Memory, RecallError, RefusedError, run
from tests.beliefs.telling import at, beliefs, memory, said

Con = duckdb.DuckDBPyConnection


def test_remember_keeps_the_words_and_makes_the_vector(con: Con) -> None:
    words = "Bob works in the Berlin office.\n'{{ 7*7 }}' 100% $x"
    kept = memory(con).remember(words, kind="RULE", source="AGENT", session_id="s1", evidence="he said so")
    assert (kept["fact_value"], kept["kind"], kept["source"], kept["session_id"]) == (words, "RULE", "AGENT", "s1")
    stale = "select embedding = embed(fact_text(category, fact_key, fact_value)) from chat_facts"
    assert con.execute(stale).fetchall() == [(True,)]


def test_two_long_texts_that_begin_alike_are_two_facts(con: Con) -> None:
    for end in ("red", "blue"):
        memory(con).remember(
            "When the deployment fails on a Friday afternoon the on-call engineer waves a flag of " + end
        )
    assert len(beliefs(con)) == 2


def test_a_fact_is_named_by_id_by_its_beginning_or_by_key(con: Con) -> None:
    m = memory(con)
    fact_id = str(m.remember("Mochi", category="pet", fact_key="cat")["fact_id"])
    for name, value in ((fact_id, "Luna"), (fact_id[:8], "Momo"), ("pet.cat", "Mika")):
        assert m.update_fact(name, value)["fact_value"] == value
    assert m.update_fact("pet.cat", "Mika", fact_key="dog", kind="PREFERENCE")["kind"] == "PREFERENCE"
    assert beliefs(con) == {"pet.dog": "Mika"}
    assert str(m.facts()[0]["fact_id"]) == fact_id


def test_a_name_that_is_wrong_or_not_enough_is_refused(con: Con) -> None:
    m = memory(con)
    with pytest.raises(RefusedError, match="there is no fact"):
        m.forget_fact("pet.cat")
    for session in ("s1", "s2"):
        m.remember("Mochi", category="pet", fact_key="cat", session_id=session)
    with pytest.raises(RefusedError, match="is 2 facts"):
        m.update_fact("pet.cat", "Luna")
    m.update_fact("pet.cat", "Luna", session_id="s2")
    assert sorted(fact["fact_value"] for fact in m.facts()) == ["Luna", "Mochi"]


def test_kinds_and_their_filter(con: Con) -> None:
    m = memory(con)
    for kind in ("KNOWLEDGE", "RULE", "PREFERENCE"):
        m.remember(f"a {kind} of mine", kind=kind)
    assert [fact["kind"] for fact in m.facts(kind="RULE")] == ["RULE"]
    with pytest.raises(InputError, match="HUNCH"):
        m.remember("x", kind="HUNCH")


def test_a_rule_is_in_the_context_whatever_is_asked(con: Con) -> None:
    memory(con).remember("Answer in French", kind="RULE")
    for nth in range(5):
        memory(con).remember(f"fact number {nth} about tea")
    context = run(con, "conversation_memory/context", user_id="u1", session_id="s1", query="tea?")
    text = context.tables[0].table.to_pylist()[0]["context"]
    assert "Answer in French" in text


def test_a_thread_exists_when_a_turn_names_it_and_reads_back_in_order(con: Con) -> None:
    m = memory(con)
    for nth, (role, words) in enumerate([("user", "b"), ("assistant", "a"), ("user", "c")]):
        m.add("s1", role, words, created_at=at(9 - nth))
    assert [(turn["role"], turn["content"]) for turn in m.messages("s1")] == [
        ("user", "b"),
        ("assistant", "a"),
        ("user", "c"),
    ]
    m.title_thread("s1", "Letters")
    (thread,) = m.threads()
    assert (thread["session_id"], thread["title"], thread["turns"]) == ("s1", "Letters", 3)
    with pytest.raises(RecallError, match="no thread s2"):
        m.title_thread("s2", "?")
    m.remove_thread("s1")
    assert (m.threads(), m.messages("s1")) == ([], [])


def test_what_belongs_to_no_thread_is_seen_from_every_one(con: Con) -> None:
    m = memory(con)
    m.remember("everywhere", category="a", fact_key="global")
    m.remember("here", category="a", fact_key="local", session_id="s1")
    assert [fact["fact_key"] for fact in m.facts(session_id="s1")] == ["global", "local"]
    assert [fact["fact_key"] for fact in m.facts(session_id="s2")] == ["global"]
    assert len(m.facts()) == 2
    with pytest.raises(RecallError, match="session_id is empty"):
        m.remove_thread("")


def test_why_names_the_turns_and_the_events(con: Con) -> None:
    m = memory(con)
    m.add("s1", "user", "I have a cat called Mochi.", created_at=at(1))
    run(con, "conversation_memory/all")
    (fact,) = m.facts()
    why = m.why(f"{fact['category']}.{fact['fact_key']}")
    assert [turn["content"] for turn in why["turns"]] == ["I have a cat called Mochi."]
    assert [event["event"] for event in why["events"]] == ["created"]
    m.forget_fact(str(fact["fact_id"]))
    why = m.why(str(fact["fact_id"]))
    assert (why["belief"], len(why["events"])) == ([], 2)


def test_candidates_with_a_column_that_isnt_one_are_refused(con: Con) -> None:
    with pytest.raises(InputError, match="colour"):
        memory(con).believe([said("pet.cat", "Mochi", colour="black")])


def test_a_connection_is_what_it_takes(con: Con) -> None:
    with pytest.raises(InputError, match="not str"):
        Memory("memory.duckdb")


def test_reading_leaves_no_run_behind(con: Con) -> None:
    m = memory(con)
    m.facts(), m.history(), m.threads(), m.messages("s1"), m.export()
    assert con.execute("select count(*) from recall_runs").fetchall() == [(0,)]
