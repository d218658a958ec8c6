"""Memory, the Python face: what was said, found again and answered from."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo

import duckdb
import pytest

import recall_sql
from recall_sql import InputError, Memory, RecallError
from tests.beliefs.telling import at
from tests.servers import ScriptedServer, chat, error

Con = duckdb.DuckDBPyConnection


@pytest.fixture
def memory(con: Con) -> Memory:
    """Of Lina, who has said three things, and of a bot that somebody else talks to, too."""
    memory = Memory(con, user_id="lina")
    for nth, words in enumerate(["I'm vegetarian.", "I have a cat called Mochi.", "The train leaves at nine."]):
        memory.add("s1", "user", words, created_at=at(nth))
    Memory(con, user_id="bo").add("s1", "user", "My cat is called Tiger.", created_at=at(9))
    return memory


def test_turns_are_stored_together_or_not_at_all(memory: Memory, con: Con) -> None:
    turns = [
        {"session_id": "s2", "role": "user", "content": "one", "source_key": "a"},
        {"session_id": "s2", "role": "assistant", "content": "two", "created_at": at(20)},
    ]
    ids = memory.add_turns(turns)
    assert [(turn["turn_id"], turn["content"]) for turn in memory.messages("s2")] == list(
        zip(ids, ("one", "two"), strict=True)
    )
    assert memory.add_turns(turns[:1]) == ids[:1] and memory.add_turns([]) == []
    before = con.execute("select count(*) from chat_turns").fetchall()
    for wrong, told in (({"role": "robot"}, "robot"), ({"content": " "}, "empty"), ({"colour": "red"}, "colour")):
        with pytest.raises(RecallError, match=told):
            memory.add_turns([*turns[1:], {**turns[1], **wrong}])
    assert con.execute("select count(*) from chat_turns").fetchall() == before


def test_extract_reads_this_persons_turns_and_counts_what_changed(memory: Memory, con: Con) -> None:
    assert memory.extract() == {"created": 2}
    assert memory.extract() == {}
    assert sorted(fact["category"] for fact in memory.facts()) == ["dietary", "pet"]
    assert Memory(con, user_id="bo").facts() == []


def test_extract_can_be_of_one_conversation(memory: Memory) -> None:
    memory.add("s2", "user", "I live in Oslo.", created_at=at(3))
    assert memory.extract(session_id="s2") == {"created": 1}
    assert [fact["category"] for fact in memory.facts()] == ["location"]


def test_context_is_a_text_with_its_messages_and_lines(memory: Memory) -> None:
    memory.extract()
    context = memory.context("s1", "where shall we eat?", max_turns=1)
    assert "dietary: vegetarian" in context and "Tiger" not in context
    assert context.messages[-1] == {"role": "user", "content": "The train leaves at nine."}
    assert context.messages[0]["role"] == "system" and "vegetarian" in context.messages[0]["content"]
    assert {"reason", "line", "tokens", "kept"} == set(context.lines[0])
    assert memory.context("nowhere", max_recalled=0, max_turns=0).count("\n") < context.count("\n")


def test_search_finds_turns_and_facts_of_this_person_alone(memory: Memory) -> None:
    memory.extract()
    (found,) = memory.search("what is the cat called", k=1)
    assert (found["content"], found["rank"]) == ("I have a cat called Mochi.", 1)
    assert "embedding" not in found
    assert [fact["fact_key"] for fact in memory.search("diet food", of="facts", k=1)] == ["vegetarian"]
    assert memory.search("cat", roles=["assistant"]) == []
    assert [turn["created_at"] for turn in memory.search("cat train", since=at(1), until=at(2))] == [at(1)]
    with pytest.raises(InputError, match="k"):
        memory.search("cat", k=0)


def test_an_empty_turn_is_refused(memory: Memory) -> None:
    with pytest.raises(RecallError, match="empty"):
        memory.add("s1", "user", " ")
    with pytest.raises(InputError, match="robot"):
        memory.add("s1", "robot", "beep")


def test_reply_answers_from_what_is_known_and_stores_both_turns() -> None:
    with (
        ScriptedServer(lambda call: error(400, "no") if "explode" in call.prompt else chat("The harbour.")) as server,
        recall_sql.connect(settings={"llm": server.model(), "retries": 0}) as con,
    ):
        memory = Memory(con, user_id="lina")
        memory.remember("Answer in French", kind="RULE")
        assert memory.reply("s1", "Where?", system="You are a guide.") == "The harbour."
        system = server.calls[-1].json["messages"][0]["content"]
        assert "Answer in French" in system and system.endswith("You are a guide.")
        assert memory.reply("s1", "Off the record", store=False) == "The harbour."
        with pytest.raises(RecallError):
            memory.reply("s1", "explode")
        assert [(turn["role"], turn["content"]) for turn in memory.messages("s1")] == [
            ("user", "Where?"),
            ("assistant", "The harbour."),
        ]


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=14))])
def test_a_moment_that_could_not_be_read_back_is_refused(memory: Memory, zone: tzinfo) -> None:
    zero = datetime(1, 1, 1, tzinfo=zone)
    fact = {"category": "a", "fact_key": "b", "fact_value": "c"}
    for write in (
        lambda: memory.add("s", "user", "hi", created_at=zero),
        lambda: memory.add_turns([{"session_id": "s", "role": "user", "content": "hi", "created_at": zero}]),
        lambda: memory.remember("hi", observed_at=zero),
        lambda: memory.believe([{**fact, "observed_at": zero}]),
    ):
        with pytest.raises(InputError, match="years are 2 to 9998"):
            write()
    assert memory.messages("s") == memory.facts() == []
