"""What is forgotten is nowhere: not in a table, not in the file."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import recall_sql
from recall_sql import ConfigError, InputError, Memory, RecallError, RefusedError, compact, run
from tests.beliefs.telling import at, beliefs, memory, said, taken_back

Con = duckdb.DuckDBPyConnection
CANARY = "xylophone7{}"


def canary(user: str) -> str:
    return CANARY.format(user)


def live(con: Con, user: str) -> None:
    """A life that leaves its word in every table."""
    word = canary(user)
    m = Memory(con, user_id=user)
    for nth in range(6):
        m.add(f"s{nth % 2} {word}", "user", f"I love {word} music. My name is {word}.", created_at=at(nth))
    run(con, "conversation_memory/all")
    m.title_thread(f"s0 {word}", f"about {word}")
    m.remember(f"{word} is the word", category=word, fact_key=word, evidence=word)
    m.update_fact(f"{word}.{word}", f"not {word}")
    m.believe(
        [
            said("pet.cat", word, when=1),
            taken_back("pet.cat", when=2),
            said("x", word),
            said("pet.dog", word, source="GOSSIP"),
        ]
    )
    m.remember("system", category="a", fact_key="b", source="SYSTEM")
    with pytest.raises(RefusedError):
        m.update_fact("a.b", word)
    with pytest.raises(duckdb.Error):
        con.execute("select generate(?, {'model': 'http://127.0.0.1:9/v1#none'})", [word])
    con.execute(
        "insert into chat_summaries values ('default', ?, ?, ?, 1, now())", [user, f"s0 {word}", f"all about {word}"]
    )
    con.execute("insert into recall_memo values (uuid(), 'h', 'GENERATE', 'm', ?, null, now())", [f"dear {word}"])
    con.execute("update recall_calls set error = ?", [f"{word} is not JSON"])


def mentions(con: Con, word: str) -> dict[str, int]:
    """In how many rows of which table it stands."""
    names = con.execute("select table_name from duckdb_tables() where database_name = current_database()").fetchall()
    count = "select count(*) from query_table(?) as row where contains(lower(row::varchar), ?)"
    found = {name: con.execute(count, [name, word]).fetchall()[0][0] for (name,) in names}
    return {name: rows for name, rows in found.items() if rows}


def test_a_person_leaves_no_row_and_after_compaction_no_byte(db: Path) -> None:
    con = recall_sql.connect(db)
    live(con, "u1")
    held = mentions(con, canary("u1"))
    assert {"chat_turns", "chat_facts", "chat_fact_history", "chat_fact_payloads", "chat_summaries"} <= set(held)
    assert {"chat_threads", "recall_runs", "recall_memo", "recall_calls"} <= set(held)
    live(con, "u2")
    untouched = Memory(con, user_id="u2").export()

    counts = Memory(con, user_id="u1").forget(everything=True)
    assert counts["turns"] == 6
    assert mentions(con, canary("u1")) == {}
    assert Memory(con, user_id="u2").export() == untouched
    con.close()

    compact(db)
    assert canary("u1").encode() not in db.read_bytes().lower()
    con = recall_sql.connect(db)
    again = Memory(con, user_id="u2")
    assert again.export() == untouched
    again.remember("life goes on")
    assert con.execute("select count(*) = count(distinct event_id) from chat_fact_history").fetchall() == [(True,)]
    assert (
        con.execute(
            "select comment from duckdb_columns() where table_name = 'chat_facts' and comment is null"
        ).fetchall()
        == []
    )
    with pytest.raises(ConfigError, match="open"):
        compact(db)
    con.close()


def test_a_bot_forgets_and_another_remembers(con: Con) -> None:
    for agent in ("a", "b"):
        Memory(con, agent_id=agent, user_id="u1").remember("Mochi", category="pet", fact_key="cat")
    run(con, "beliefs/forget", agent_id="a")
    assert Memory(con, agent_id="a", user_id="u1").facts() == []
    assert len(Memory(con, agent_id="b", user_id="u1").facts()) == 1


def test_a_conversation_goes_with_what_was_learned_in_it_alone(con: Con) -> None:
    m = memory(con)
    m.add("s1", "user", "I have a cat called Mochi. My budget is 900 euros.", created_at=at(1))
    m.add("s2", "user", "I live in Oslo.", created_at=at(2))
    m.add("s2", "user", "I have a cat called Mochi.", created_at=at(3))
    run(con, "conversation_memory/all")
    m.forget(session_id="s1")
    assert sorted(fact["category"] for fact in m.facts()) == ["location", "pet"]
    assert [thread["session_id"] for thread in m.threads()] == ["s2"]
    assert "euro" not in str(m.history()).lower()
    assert m.facts() == m.facts(as_of=at(10**7))
    run(con, "conversation_memory/all")
    assert "edited" not in [row["event"] for row in m.history()]


def test_a_fact_goes_from_history_too_and_isnt_read_again(con: Con) -> None:
    m = memory(con)
    m.add("s1", "user", "I have a cat called Mochi.")
    run(con, "conversation_memory/all")
    m.forget(fact=str(m.facts()[0]["fact_id"])[:8])
    run(con, "conversation_memory/all")
    assert (m.facts(), m.history(), len(m.messages("s1"))) == ([], [], 1)
    with pytest.raises(RecallError, match="no such fact"):
        m.forget(fact="pet.cat")


def test_a_fact_goes_with_its_turns_if_asked(con: Con) -> None:
    m = memory(con)
    m.add("s1", "user", "I have a cat called Mochi.")
    m.add("s1", "user", "I live in Oslo.")
    run(con, "conversation_memory/all")
    (pet,) = m.facts(category="pet")
    m.forget(fact=str(pet["fact_id"]), with_turns=True)
    assert [turn["content"] for turn in m.messages("s1")] == ["I live in Oslo."]


def test_what_is_older_than_a_moment_goes(con: Con) -> None:
    m = memory(con)
    m.add("s1", "user", "I have a cat called Mochi.", created_at=at(1))
    m.add("s1", "user", "I live in Oslo.", created_at=at(100))
    run(con, "conversation_memory/all")
    m.forget(before=at(50))
    assert [fact["category"] for fact in m.facts()] == ["location"]
    assert [turn["content"] for turn in m.messages("s1")] == ["I live in Oslo."]
    assert "mochi" not in str(m.history()).lower()


def test_one_session_name_of_two_people_needs_the_person(con: Con) -> None:
    for user in ("u1", "u2"):
        memory(con, user).add("s1", "user", "hello")
    with pytest.raises(RecallError, match="several users"):
        run(con, "beliefs/forget", session_id="s1")
    assert len(memory(con).messages("s1")) == 1


def test_forgetting_needs_to_be_told_what(con: Con) -> None:
    for wrong in ({}, {"everything": True, "session_id": "s1"}):
        with pytest.raises(InputError):
            memory(con).forget(**wrong)


def test_forget_fact_stops_believing_and_keeps_history(con: Con) -> None:
    m = memory(con)
    m.remember("Mochi", category="pet", fact_key="cat")
    m.forget_fact("pet.cat")
    assert beliefs(con) == {}
    assert [row["event"] for row in m.history()] == ["created", "retracted"]
