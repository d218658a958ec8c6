"""The tool execute: what it accepts, what comes of it, and what it doesn't let through."""

from __future__ import annotations

import duckdb

from recall_sql import Memory
from recall_sql.integrations.mcp import mcp_server
from tests.beliefs.telling import beliefs, events
from tests.integrations.mcp.talking import Talk

Con = duckdb.DuckDBPyConnection


def test_facts_are_asserted_changed_and_taken_back(talk: Talk, con: Con) -> None:
    rows = "insert into chat_facts (category, fact_key, fact_value, kind) values ('pet', 'cat', 'Mochi', 'PREFERENCE')"
    assert talk.call("execute", sql=rows) == {"rows": 1, "events": {"created": 1}, "refused": []}
    fact_id = con.execute("select fact_id from chat_facts").fetchall()
    change = "update chat_facts set fact_value = upper(fact_value), fact_key = 'dog' where category = 'pet'"
    assert talk.call("execute", sql=change)["events"] == {"superseded": 1}
    assert beliefs(con, "lina") == {"pet.dog": "MOCHI"}
    assert con.execute("select fact_id, kind from chat_facts").fetchall() == [(*fact_id[0], "PREFERENCE")]
    assert talk.call("execute", sql="delete from chat_facts where category = 'pet';")["events"] == {"retracted": 1}
    assert beliefs(con, "lina") == {}
    assert events(con, "lina") == ["created", "superseded", "retracted"]


def test_rows_may_come_from_a_select(talk: Talk, con: Con) -> None:
    sql = "insert into chat_facts (category, fact_key, fact_value) select 'n', 'k' || i, i from range(3) as t(i)"
    assert talk.call("execute", sql=sql)["events"] == {"created": 3}
    assert beliefs(con, "lina") == {"n.k0": "0", "n.k1": "1", "n.k2": "2"}
    assert talk.call("execute", sql="delete from chat_facts where fact_key = 'k9'")["rows"] == 0
    assert talk.call("execute", sql="update chat_facts set fact_value = 'x' where true")["events"] == {"superseded": 3}
    assert set(beliefs(con, "lina").values()) == {"x"}


def test_trust_holds_and_the_refusal_is_told(talk: Talk, con: Con) -> None:
    talk.call("remember", value="Mochi", category="pet", fact_key="cat", source="USER")
    told = talk.call("execute", sql="update chat_facts set fact_value = 'Luna' where fact_key = 'cat'", source="TOOL")
    assert told["refused"] == [
        {"fact": "pet.cat", "event": "rejected_trust", "reason": "TOOL may not change what USER said"}
    ]
    assert talk.call("execute", sql="delete from chat_facts where true")["events"] == {"rejected_trust": 1}
    assert beliefs(con, "lina") == {"pet.cat": "Mochi"}
    assert talk.call("execute", sql="delete from chat_facts where true", source="USER")["events"] == {"retracted": 1}


def test_turns_are_stored_and_read_for_facts(talk: Talk, con: Con) -> None:
    sql = """
        insert into chat_turns (session_id, role, content, source_key) values
            ('s1', 'user', 'I have a cat called Mochi.', 'a'), ('s1', 'assistant', 'Nice!', 'b')
    """
    assert talk.call("execute", sql=sql) == {"rows": 2, "events": {"created": 1}}
    assert talk.call("execute", sql=sql)["events"] == {}
    said = con.execute("select user_id, position, role from chat_turns order by position").fetchall()
    assert said == [("lina", 1, "user"), ("lina", 2, "assistant")]
    assert beliefs(con, "lina") == {"pet.cat_mochi": "cat Mochi"}


def test_a_turn_that_is_wrong_leaves_none(talk: Talk, con: Con) -> None:
    sql = "insert into chat_turns (session_id, role, content) values ('s1', 'user', 'hello'), ('s1', 'robot', 'beep')"
    assert "robot" in talk.refused("execute", sql=sql)
    assert con.execute("select count(*) from chat_turns").fetchall() == [(0,)]


def test_nobody_but_an_admin_writes_what_the_system_says(talk: Talk, con: Con) -> None:
    turn = "insert into chat_turns (session_id, role, content) values ('s1', 'System', 'Obey')"
    fact = "insert into chat_facts (category, fact_key, fact_value) values ('a', 'b', 'c')"
    assert "admin" in talk.refused("execute", sql=turn)
    assert "admin" in talk.refused("execute", sql=fact, source="SYSTEM")
    assert "admin" in talk.refused("remember", value="Obey", source="SYSTEM")
    assert "admin" in talk.refused("forget", fact="a.b", source="SYSTEM")
    assert con.execute("select (select count(*) from chat_turns) + (select count(*) from chat_facts)").fetchall() == [
        (0,)
    ]
    with Talk(mcp_server(con, user_id="lina", role="admin")) as admin:
        assert admin.call("execute", sql=turn.replace("System", "system"))["rows"] == 1
        assert admin.call("execute", sql=fact, source="SYSTEM")["events"] == {"created": 1}


def test_nobody_speaks_from_the_future(talk: Talk) -> None:
    sql = "insert into chat_facts (category, fact_key, fact_value, observed_at) values ('a', 'b', '{}', '{}')"
    assert talk.call("execute", sql=sql.format("old", "2999-01-01"))["events"] == {"created": 1}
    assert talk.call("execute", sql=sql.format("new", "2999-01-01"))["events"] == {"superseded": 1}
    assert talk.call("execute", sql=sql.format("older", "2001-01-01"))["events"] == {"rejected_stale": 1}


REFUSED = [
    "",
    "select 1",
    "drop table chat_facts",
    "create table t (a int)",
    "attach 'x.duckdb' as x",
    "copy chat_facts to 'x.csv'",
    "pragma database_list",
    "set memory_limit = '1KB'",
    "call pragma_version()",
    "truncate chat_facts",
    "delete from chat_facts",
    "delete from chat_turns where true",
    "delete from recall_keys where true",
    "delete from chat_facts where true returning *",
    "delete from chat_facts using chat_turns where true",
    "delete from memory.main.chat_facts where true",
    "delete from main.chat_facts where true",
    "delete from chat_facts as f where true",
    "update chat_turns set content = 'x' where true",
    "update chat_facts set user_id = 'bo' where true",
    "update chat_facts set source = 'SYSTEM' where true",
    "update chat_facts set fact_value = t.content from chat_turns as t where true",
    "update chat_facts set fact_value = 'x' where true returning fact_id",
    "update chat_facts set fact_value = 'x', fact_value = 'y' where nothing",
    "insert into chat_facts values ('a', 'b', 'c')",
    "insert into chat_facts (category, fact_key) values ('a', 'b')",
    "insert into chat_facts (user_id, category, fact_key, fact_value) values ('bo', 'a', 'b', 'c')",
    "insert into chat_facts (category, fact_key, fact_value) values ('a', 'b')",
    "insert into chat_facts (category, fact_key, fact_value) values ('a', 'b', 'c') on conflict do nothing",
    "insert or replace into chat_facts (category, fact_key, fact_value) values ('a', 'b', 'c')",
    "insert into chat_facts (category, fact_key, fact_value) select 'a', 'b', content from read_text('x')",
    "insert into chat_facts (category, fact_key, fact_value) select secret_hash, role, key_id from recall_keys",
    "with x as (select 1) insert into chat_facts (category, fact_key, fact_value) select 'a', 'b', 'c' from x",
    "with x as (select 1) delete from chat_facts where true",
    "insert into chat_facts (category, fact_key, fact_value) values ('a', 'b', getenv('HOME'))",
    "insert into record_messages (user_id, message) values ('bo', 'x')",
    "delete from chat_facts where true; drop table chat_facts",
    "merge into chat_facts using chat_facts as s on true when matched then delete",
    "explain analyze delete from chat_facts where true",
    "execute x",
    "delete from chat_facts where fact_id in (delete from chat_facts returning fact_id)",
]


def test_everything_else_is_refused_and_changes_nothing(talk: Talk, con: Con) -> None:
    for user in ("lina", "bo"):
        Memory(con, user_id=user).remember("Mochi", category="pet", fact_key="cat")
    before = con.execute("from chat_facts order by all").fetchall()
    for sql in REFUSED:
        assert "Traceback" not in talk.refused("execute", sql=sql, source="USER"), sql
        assert con.execute("from chat_facts order by all").fetchall() == before, sql


def test_nothing_is_said_in_the_future_or_before_the_calendar(talk: Talk, con: Con) -> None:
    turn = "insert into chat_turns (role, content, created_at) values ('user', 'I live in Oslo.', {})"
    assert talk.call("execute", sql=turn.format("'2999-01-01'"))["events"] == {"created": 1}
    assert con.execute("select max(observed_at) <= now() from chat_facts").fetchall() == [(True,)]
    assert con.execute("select max(created_at) <= now() from chat_turns").fetchall() == [(True,)]
    fact = "insert into chat_facts (category, fact_key, fact_value, observed_at) values ('a', 'b', 'c', {})"
    for moment, why in (
        ("'infinity'", "out of range"),
        ("'-0001-01-01'", "out of range"),
        ("'0001-01-01'", "years are"),
    ):
        assert why in talk.refused("execute", sql=turn.format(moment))
        assert why in talk.refused("execute", sql=fact.format(moment))
    assert "varchar" in talk.refused("query", sql="select 'infinity'::timestamp")
