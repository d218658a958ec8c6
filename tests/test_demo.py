"""The demo: what a person sees, and which files it replaces."""

import duckdb
import pytest

import recall_sql
from recall_sql.demo import example, run_demo
from recall_sql.errors import ConfigError
from tests.servers import ScriptedServer, chat


def toured(db):
    """(what was said, the result tables that were shown)"""
    said, shown = [], []
    run_demo(str(db), say=said.append, show=lambda result: shown.append(result.tables[0].table.to_pylist()))
    return "\n".join(said), shown


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    """(database, what was said, what was shown) of a second run, which starts afresh. The model is a scripted one."""
    db = tmp_path_factory.mktemp("demo") / "demo.duckdb"
    with ScriptedServer(lambda call: chat("- Somewhere with fish")) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALL_LLM", f"{server.url}#scripted")
        toured(db)
        return db, *toured(db)


def test_one_dietary_row_before_and_one_after_with_its_history(tour):
    _, _, (facts, before, after, history) = tour
    assert [row["fact"] for row in before] == ["vegetarian"]
    assert [row["fact"] for row in after] == ["pescatarian"]
    assert [(row["event"], row["before"], row["after"]) for row in history] == [
        ("created", None, "vegetarian = true"),
        ("superseded", "vegetarian = true", "pescatarian = true"),
    ]
    categories = {row["category"] for row in facts}
    assert {"allergy", "budget", "dietary", "health", "identity", "instruction", "pet"} <= categories


def test_it_names_its_recipes_and_shows_the_context(tour):
    _, said, _ = tour
    for recipe in ("import", "all", "facts", "history", "context"):
        assert f"recipes/conversation_memory/{recipe}.sql" in said
    assert "10 turns added" in said and "6 turns added to 1 thread; 10 already there" in said
    assert "Standing instructions:" in said and "budget max gbp: 2100" in said
    assert "   - Somewhere with fish\n" in said


def test_what_others_are_is_not_what_she_is(tour):
    db, _, _ = tour
    with recall_sql.connect(db, read_only=True) as con:
        assert con.execute("select count(*) from chat_facts where fact_key = 'vegan'").fetchone() == (0,)


def test_the_example_is_ours_and_long_enough():
    assert len(example().read_text("utf-8").splitlines()) >= 12


def test_without_a_model_it_says_what_to_set_and_succeeds(tmp_path, monkeypatch):
    monkeypatch.setenv("RECALL_LLM", f"gguf:{tmp_path / 'absent.gguf'}")
    said, _ = toured(tmp_path / "demo.duckdb")
    assert "No reply: " in said and "absent.gguf" in said


def test_it_never_removes_a_database_that_is_not_its_own(tmp_path):
    mine = tmp_path / "mine.duckdb"
    recall_sql.connect(mine).close()
    with pytest.raises(ConfigError, match="isn't the database of an earlier demo"):
        toured(mine)
    plain = tmp_path / "plain.duckdb"
    duckdb.connect(str(plain)).close()
    with pytest.raises(ConfigError, match="isn't the database of an earlier demo"):
        toured(plain)
    text = tmp_path / "notes.duckdb"
    text.write_text("my notes " * 1000)
    with pytest.raises(ConfigError, match=r"can't be opened to see"):
        toured(text)
    assert text.read_text() == "my notes " * 1000 and mine.exists() and plain.exists()
