"""A conversation from a file to facts and context, and search."""

import json

import pytest

from tests.cli.running import query, write

VEGETARIAN = {"role": "user", "content": "I'm vegetarian.", "created_at": "2026-05-01T10:00Z"}
FISH = {"role": "user", "content": "I eat fish now.", "created_at": "2026-05-02T10:00Z"}
SESSIONS = ["team-a", "o'brien", "会議-1", "🙂", "x'; DROP TABLE chat_facts; --"]


def test_from_a_file_to_facts_history_and_context(recall, refused):
    write("chat.jsonl", VEGETARIAN, FISH)
    assert recall("import", "chat.jsonl", "--user-id", "ana", "--session-id", "s1")[1] == "2 turns added to 1 thread\n"
    assert recall("import", "chat.jsonl", "--user-id", "ana", "--session-id", "s1")[1] == (
        "0 turns added to 1 thread; 2 already there\n"
    )
    assert recall("run", "conversation_memory/all")[0] == 0
    facts = json.loads(recall("facts", "--category", "dietary", "--format", "json")[1])
    assert [(fact["user"], fact["fact"]) for fact in facts] == [("ana", "pescatarian")]
    assert json.loads(recall("facts", "--user-id", "nobody", "--format", "json")[1]) == []
    events = json.loads(recall("facts", "--history", "--format", "json")[1])
    assert [event["event"] for event in events] == ["created", "superseded"]
    code, out, _ = recall("context", "--user-id", "ana", "--session-id", "s1", "--query", "dinner?")
    assert code == 0 and "pescatarian" in out and "I eat fish now." in out
    assert "there are: 's1' of user 'ana'" in refused("context", "--session-id", "s1")


def test_columns_and_roles_are_mapped(recall):
    write("chat.csv", "sender,text", "Ana,ciao", "Helper,salve")
    options = ["--map", "role=sender", "--map", "content=text", "--role-map", "ana=user,helper=assistant"]
    assert recall("import", "chat.csv", *options)[0] == 0
    assert query("select role, content from chat_turns order by position") == [("user", "ciao"), ("assistant", "salve")]


def test_a_bad_file_changes_nothing_and_is_told_in_one_line(refused):
    write("good.jsonl", VEGETARIAN)
    for bad, message in (
        ("{", "bad.jsonl, line 2: not JSON"),
        ({"role": "king", "content": "x"}, "line 2: unknown role 'king'"),
        ({"role": "user", "content": " "}, "line 2: empty message"),
        ({"role": "user", "text": "x"}, "line 2: there is no column 'content'"),
    ):
        write("bad.jsonl", VEGETARIAN, bad)
        assert message in refused("import", "bad.jsonl")
    assert "did you mean content" in refused("import", "good.jsonl", "--map", "contnt=x")
    assert "is a directory" in refused("import", ".", code=2)
    assert query("select count(*) from chat_turns") == [(0,)]


@pytest.mark.parametrize("session", SESSIONS)
def test_f18_a_session_of_any_name_is_stored_searched_and_forgotten(recall, session):
    write("chat.jsonl", VEGETARIAN)
    for name in (session, "other"):
        assert recall("import", "chat.jsonl", "--session-id", name)[0] == 0
    assert recall("run", "conversation_memory/all")[0] == 0
    assert "I'm vegetarian." in recall("context", "--session-id", session, "--query", "food")[1]
    assert recall("facts", "--session-id", session)[0] == 0
    assert recall("run", "conversation_memory/cleanup", "--var", f"session_id={session}")[0] == 0
    assert query("select distinct session_id from chat_turns") == [("other",)]


def test_f20_nul_is_removed_and_f29_nothing_is_rendered(recall):
    texts = ["a\0b", "{{ 7*7 }} and {% for x in y %}", "it's 100 % $HOME", "$1 ?"]
    write("chat.jsonl", *({"role": "user", "content": text} for text in texts))
    assert recall("import", "chat.jsonl")[0] == 0
    assert recall("run", "conversation_memory/all")[0] == 0
    stored = [content for (content,) in query("select content from chat_turns order by position")]
    assert stored == ["ab", *texts[1:]]
    out = recall("context", "--session-id", "chat")[1]
    assert "{{ 7*7 }} and {% for x in y %}" in out and "it's 100 % $HOME" in out


def test_every_script_and_a_megabyte_arrive_whole(recall):
    text = "Ελληνικά עברית العربية हिन्दी ไทย 한국어 日本語 አማርኛ 🙂 " * 16000
    write("chat.jsonl", {"role": "user", "content": text})
    assert len(text.encode()) > 1_000_000
    assert recall("import", "chat.jsonl")[0] == 0
    assert query("select content from chat_turns") == [(text,)]


def test_search_by_words_and_meaning(recall):
    for text in ("I collect old maps.", "My cat sleeps all day."):
        assert recall("run", "conversation_memory/ingest", "--var", f"content={text}", "--var", "user_id=lena")[0] == 0
    assert recall("remember", "aisle", "--category", "travel", "--key", "seat")[0] == 0
    assert recall("run", "conversation_memory/all")[0] == 0
    code, out, _ = recall("search", "cartography", "-k", "1", "--format", "json")
    (found,) = json.loads(out)
    assert code == 0 and found["content"] == "I collect old maps." and found["user_id"] == "lena"
    assert set(found) == {"rank", "score", "user_id", "session_id", "created_at", "role", "content"}
    assert json.loads(recall("search", "maps", "--user-id", "otto", "--format", "json")[1]) == []
    assert json.loads(recall("search", "seat", "--facts", "--format", "json")[1])[0]["fact_value"] == "aisle"


def test_an_empty_fact_is_called_empty(refused):
    assert "the value of a fact is empty" in refused("remember", " ")


def test_schemas_are_all_checked_before_any_is_declared(recall, refused, tmp_path):
    good = {
        "name": "meals",
        "description": "What was eaten.",
        "schema": {"type": "object", "properties": {"dish": {"type": "string"}}},
    }
    (tmp_path / "good.json").write_text(json.dumps(good))
    (tmp_path / "bad.json").write_text("{}")
    assert "bad.json" in refused("schema", "add", "good.json", "bad.json")
    assert "meals" not in recall("schema", "list")[1]
