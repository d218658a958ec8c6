"""What each tool does, through the SDK's client in one process."""

from __future__ import annotations

import duckdb
import pytest
from mcp.shared.exceptions import MCPError

from recall_sql import Memory
from tests.integrations.mcp.talking import Talk

Con = duckdb.DuckDBPyConnection


def test_a_conversation_with_the_memory(talk: Talk) -> None:
    assert talk.call("recall", query="dinner?") == "Nothing is known yet."
    kept = talk.call(
        "remember", value="true", category="dietary", fact_key="vegetarian", source="USER", evidence="I'm vegetarian"
    )
    assert (kept["fact"], kept["value"], kept["source"]) == ("dietary.vegetarian", "true", "USER")
    talk.call("remember", value="Answer in French", kind="RULE", source="USER")
    known = talk.call("recall", query="where shall we have dinner?", session_id="s1")
    assert "Answer in French" in known and "dietary: vegetarian" in known
    assert [fact["value"] for fact in talk.call("facts", kind="RULE")["facts"]] == ["Answer in French"]
    assert talk.call("forget", fact=kept["id"], source="USER") == {"forgotten": kept["id"]}
    assert talk.call("facts", category="dietary") == {"facts": []}
    events = "select event from chat_fact_history where category = 'dietary' order by event_id"
    assert talk.call("query", sql=events)["rows"] == [["created"], ["retracted"]]


def test_what_was_said_is_found(talk: Talk, con: Con) -> None:
    memory = Memory(con, user_id="lina")
    memory.add("s1", "user", "The train leaves at nine.")
    memory.add("s2", "user", "I have a cat called Mochi.")
    (hit,) = talk.call("search", query="when does the train leave", k=1)["turns"]
    assert (hit["session_id"], hit["content"], hit["rank"]) == ("s1", "The train leaves at nine.", 1)
    assert talk.call("search", query="train", since="2100-01-01T00:00:00Z") == {"turns": []}
    talk.call("remember", value="Mochi", category="pet", fact_key="cat")
    assert talk.call("search", query="cat", of="facts", k=1)["facts"][0]["fact"] == "pet.cat"


def test_records_are_told_and_asked_about(talk: Talk) -> None:
    done = talk.call("process", message="Paid Jayden $150 for training", timezone="Europe/Berlin")
    assert (done["action"], done["data"]["recipient"]) == ("insert", "Jayden")
    assert talk.call("process", message="Paid Ana $20", dry_run=True)["action"] is None
    answer = talk.call("ask", question="How much have I paid Jayden?")
    assert float(answer["result"]) == 150
    assert "error" in talk.call("ask", question="What is the meaning of it all?")
    paid = talk.call("query", sql="select recipient, amount::int as amount from payments")
    assert paid == {"columns": ["recipient", "amount"], "rows": [["Jayden", 150]], "truncated": False}
    for zone in ("Mars/Phobos", "Europe", "a" * 2000):
        assert "no time zone" in talk.refused("ask", question="How much?", timezone=zone)


def test_query_gives_json_whatever_the_type(talk: Talk) -> None:
    sql = """
        select 'nan'::double as n, '-inf'::float as i, '\\xAB'::blob as b, interval 1 day as d,
            {'a': date '2026-01-02'} as s,
            map {'k': 1.50::decimal(9, 2)} as m, uuid() is not null as u, 170141183460469231731687303715884105727 as h,
            null as nothing, 1 as twice, 2 as twice
    """
    found = talk.call("query", sql=sql)
    assert found["columns"][-2:] == ["twice", "twice"] and found["rows"][0][-2:] == [1, 2]
    assert found["rows"][0][:3] == ["nan", "-inf", "ab"] and found["rows"][0][4] == {"a": "2026-01-02"}
    found = talk.call("query", sql="select i from range(50) as t(i)", limit=7)
    assert (len(found["rows"]), found["truncated"]) == (7, True)


def test_a_refusal_names_who_stands_in_the_way(talk: Talk) -> None:
    talk.call("remember", value="Oslo", category="location", fact_key="home_city", source="USER")
    refused = talk.refused("remember", value="Rome", category="location", fact_key="home_city", source="DOCUMENT")
    assert "DOCUMENT" in refused and "USER" in refused
    assert "there is no fact" in talk.refused("forget", fact="pet.dog")
    assert "which fact" in talk.refused("forget", session_id="s1")


def test_arguments_that_are_wrong_are_named(talk: Talk) -> None:
    assert talk.refused("facts", user_id="bo") == (
        "facts can't take these arguments: there is no argument user_id (arguments: category, kind, session_id, as_of; "
        "whose memory it is was settled beforehand)"
    )
    assert "kind: Input should be 'KNOWLEDGE', 'RULE' or 'PREFERENCE'" in talk.refused("facts", kind="HUNCH")
    assert "query: Field required" in talk.refused("search")
    assert talk.refused("nothing_of_the_kind") == "Unknown tool: nothing_of_the_kind"


def test_resources_describe_tables_and_recipes(talk: Talk) -> None:
    def read(uri: str) -> str:
        return talk.do("read_resource", uri).contents[0].text

    talk.call("remember", value="Mochi", category="pet")
    assert "`payments`: Payments the user made" in read("recall://tables")
    facts = read("recall://tables/chat_facts")
    assert "1 rows of this user" in facts and "`fact_value` varchar: Its value as text." in facts
    assert "embedding" not in facts
    assert "`beliefs/remember`" in read("recall://recipes")
    assert "-- step: candidate" in read("recall://recipes/beliefs/remember")


def test_prompts_carry_the_context(talk: Talk, con: Con) -> None:
    talk.call("remember", value="Answer in French", kind="RULE")
    Memory(con, user_id="lina").add("s1", "assistant", "Bonjour.")
    (message,) = talk.do("get_prompt", "context", {"query": "Hello?", "session_id": "s1"}).messages
    assert "Answer in French" in message.content.text and message.content.text.endswith("Hello?")
    messages = talk.do("get_prompt", "resume", {"session_id": "s1"}).messages
    assert [(message.role, message.content.text) for message in messages][1:] == [("assistant", "Bonjour.")]
    for name, arguments, told in (
        ("context", {}, "query is missing"),
        ("context", {"query": "x", "user_id": "bo"}, "no argument user_id"),
        ("nothing", {}, "there is no prompt nothing; prompts: context, resume"),
    ):
        with pytest.raises(MCPError, match=told):
            talk.do("get_prompt", name, arguments)
