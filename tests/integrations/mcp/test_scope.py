"""Nobody gets at another person's or bot's memory: not by arguments, not by SQL, not by resources."""

from __future__ import annotations

import json
from collections.abc import Iterator

import duckdb
import pytest

from recall_sql import Memory
from recall_sql.access import Gate, add_key
from recall_sql.integrations.mcp import mcp_app, mcp_server
from tests.integrations.mcp.conftest import PAYMENTS
from tests.integrations.mcp.talking import Talk, listening, text, with_key

CANARY = "canary-4711"
FOREIGN = (("a1", "bo"), ("a2", "lina"), ("a2", "bo"))


@pytest.fixture
def con(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Lina's memory of bot a1, and foreign ones that hold the canary in every table."""
    Memory(con).add_schema("payments", "Payments", PAYMENTS)
    Memory(con, agent_id="a1", user_id="lina").remember("mine", fact_key="k")
    for agent, user in FOREIGN:
        memory = Memory(con, agent_id=agent, user_id=user)
        memory.remember(CANARY, fact_key="k", evidence=CANARY)
        memory.add("s1", "user", f"I have a cat called {CANARY}.")
        memory.title_thread("s1", CANARY)
    Memory(con, user_id="bo").insert("payments", {"recipient": CANARY, "amount": 4711})
    con.execute(f"create table secrets as select '{CANARY}' as secret")
    return con


@pytest.fixture
def talk(con: duckdb.DuckDBPyConnection) -> Iterator[Talk]:
    with Talk(mcp_server(con, agent_id="a1", user_id="lina", role="admin")) as talk:
        yield talk


TRICKS = [
    "select * from chat_facts",
    "select * from chat_facts union all select * from chat_facts where user_id = 'bo' or true",
    "select * from chat_turns, chat_threads, payments",
    "select * from chat_fact_history",
    "select * from secrets",
    "select * from main.secrets",
    "select * from memory.main.chat_facts",
    "select * from memory.chat_facts",
    'select * from "memory"."main"."secrets"',
    "with chat_facts as (select * from secrets) select * from chat_facts",
    "with secrets as (select 1) select * from main.secrets",
    "select * from query_table('secrets')",
    "select * from query('select * from secrets')",
    "from recall_sql.hybrid_search('chat_facts', 'canary', user_id := 'bo')",
    "from facts_as_of(now())",
    "select * from duckdb_tables()",
    "select * from duckdb_settings()",
    "select * from information_schema.tables",
    "select * from pragma_table_info('secrets')",
    "select * from recall_keys",
    "select * from read_csv('/etc/passwd')",
    "select * from '/etc/passwd'",
    "select * from glob('/*')",
    "select getenv('HOME')",
    "select generate('hello')",
    "select recall_set('llm', 'x')",
    "select (select string_agg(secret, '') from secrets)",
    "select 1; select * from secrets",
    "select 1 where exists (from secrets)",
    "attach 'x.duckdb' as x",
    "install httpfs",
    "copy (select 1) to 'x'",
    "set search_path = 'memory'",
    "pragma show_tables",
    "summarize secrets",
    "describe secrets",
    "from secrets select *",
    "table secrets",
    "select * from (values (1)) t, lateral (select * from secrets)",
    "pivot secrets on secret using count(*)",
    "select * from $secrets",
    "show tables",
]


def test_query_never_shows_what_is_anothers(talk: Talk) -> None:
    for sql in TRICKS:
        assert CANARY not in text(talk.ask("query", {"sql": sql})), sql


def test_no_other_tool_does(talk: Talk) -> None:
    for result in (
        talk.call("recall", query=f"What about {CANARY[:6]} and the cat?", session_id="s1"),
        talk.call("facts"),
        talk.call("facts", as_of="2999-01-01T00:00:00Z"),
        talk.call("search", query="canary cat"),
        talk.call("search", query="canary", of="facts", session_id="s1"),
        talk.call("ask", question="How much did I pay in all?"),
        talk.call("ask", question="List my payments"),
        [message.content.text for message in talk.do("get_prompt", "resume", {"session_id": "s1"}).messages],
        talk.do("get_prompt", "context", {"query": "canary cat", "session_id": "s1"}).messages[0].content.text,
        talk.do("read_resource", "recall://tables/chat_facts").contents[0].text,
        talk.do("read_resource", "recall://tables/payments").contents[0].text,
    ):
        assert CANARY not in json.dumps(result)


def test_nor_does_one_change_it(talk: Talk, con: duckdb.DuckDBPyConnection) -> None:
    theirs = "from chat_facts where (agent_id, user_id) <> ('a1', 'lina') order by all"
    before, ids = con.execute(theirs).fetchall(), [row[0] for row in con.execute("select fact_id " + theirs).fetchall()]
    for fact_id in ids:
        assert "there is no fact" in talk.refused("forget", fact=str(fact_id), source="SYSTEM")
        with_id = f"delete from chat_facts where fact_id::varchar = '{fact_id}'"
        assert talk.call("execute", sql=with_id, source="SYSTEM")["rows"] == 0
        talk.ask("forget", {"fact": str(fact_id), "erase": True})
    talk.call("execute", sql="update chat_facts set fact_value = 'x' where true", source="SYSTEM")
    talk.call("execute", sql="delete from chat_facts where true", source="SYSTEM")
    talk.call("forget", session_id="s1", erase=True)
    talk.call("process", message="Delete all my payments")
    assert con.execute(theirs).fetchall() == before
    kept = con.execute("select (select count(*) from chat_turns), (select count(*) from payments)").fetchall()
    assert kept == [(3, 1)]


def test_a_key_opens_its_own_agent_and_user(con: duckdb.DuckDBPyConnection) -> None:
    made = {whose: add_key(con, agent_id=whose[0], user_id=whose[1], role="reader")[0] for whose in FOREIGN}
    whole = add_key(con, agent_id="a1", role="reader")[0]
    with listening(mcp_app(con, Gate(con), agent_id="a1", user_id="lina")) as url:
        for key in made.values():
            with pytest.raises(BaseExceptionGroup), Talk(with_key(f"{url}/mcp", key)) as talk:
                talk.call("facts")
        with Talk(with_key(f"{url}/mcp", whole)) as talk:  # a key for every user of the bot, at a server for Lina
            assert [fact["value"] for fact in talk.call("facts")["facts"]] == ["mine"]
    with listening(mcp_app(con, Gate(con))) as url:
        with Talk(with_key(f"{url}/mcp", made["a2", "bo"])) as talk:
            assert [fact["value"] for fact in talk.call("facts")["facts"]] == [CANARY]
        with Talk(with_key(f"{url}/mcp", whole)) as talk:  # of whom nothing is known: the user 'default'
            assert talk.call("facts") == {"facts": []}
