"""Settings: set by hand beats the environment, which beats the default."""

from __future__ import annotations

import duckdb
import pytest

import recall_sql
from recall_sql.settings import Settings, Values


def row(con: duckdb.DuckDBPyConnection, name: str) -> tuple[str, str]:
    return con.execute("select value, origin from recall_settings() where name = ?", [name]).fetchall()[0]


def test_set_beats_environment_beats_default(monkeypatch):
    monkeypatch.setenv("RECALL_TIMEOUT", "20")
    with recall_sql.connect() as con:
        assert row(con, "llm") == ("smollm2", "default")
        assert row(con, "timeout") == ("20.0", "environment")
        assert con.execute("select recall_set('timeout', '5')").fetchall() == [("5.0",)]
        assert row(con, "timeout") == ("5.0", "set")
        assert con.execute("select recall_set('timeout', null)").fetchall() == [("20.0",)]
        assert row(con, "timeout") == ("20.0", "environment")


def test_settings_given_to_connect():
    with recall_sql.connect(settings={"llm": "rules", "memo": False}) as con:
        assert row(con, "llm") == ("rules", "set")
        assert row(con, "memo") == ("false", "set")


def test_a_key_is_never_shown(con, monkeypatch):
    assert con.execute("select recall_set('api_key', 'sk-very-secret')").fetchall() == [("***",)]
    assert "secret" not in str(con.execute("from recall_settings()").fetchall())
    assert "secret" not in repr(Settings({"api_key": "sk-very-secret"})._values)
    with pytest.raises(recall_sql.ConfigError) as caught:
        Settings({"api_key": ["sk-very-secret"]})
    assert "secret" not in str(caught.value)


def test_an_unknown_name_is_refused_with_the_nearest_one(con):
    with pytest.raises(duckdb.InvalidInputException, match=r"unknown setting 'time_out'; did you mean 'timeout'\?"):
        con.execute("select recall_set('time_out', '5')").fetchall()


@pytest.mark.parametrize(
    ("name", "value"),
    [("timeout", "soon"), ("timeout", "0"), ("concurrency", "0"), ("on_error", "ignore"), ("memo", "perhaps")],
)
def test_a_value_that_does_not_fit_is_refused_by_name_and_changes_nothing(con, name, value):
    before = row(con, name)
    with pytest.raises(duckdb.InvalidInputException, match=f"setting '{name}'"):
        con.execute("select recall_set(?, ?)", [name, value]).fetchall()
    assert row(con, name) == before


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("extractor", "nonsense", "unknown model 'nonsense'"),
        ("llm", "ollama:", "names no model"),
        ("llm", "opnai:gpt-5", "did you mean 'openai'"),
        ("tokenizer", "no/such/tokenizer.json", "there is no file no/such/tokenizer.json"),
        ("prices", "no/such/prices.csv", "there is no file no/such/prices.csv"),
    ],
)
def test_models_and_files_are_checked_when_they_are_set(con, name, value, why):
    before = row(con, name)
    with pytest.raises(duckdb.Error, match=f"recall_set: setting '{name}': .*{why}"):
        con.execute("select recall_set(?, ?)", [name, value]).fetchall()
    assert row(con, name) == before
    with pytest.raises(recall_sql.ConfigError, match=why):
        recall_sql.connect(settings={name: value})


def test_a_model_in_the_environment_is_checked_when_it_is_used(monkeypatch):
    monkeypatch.setenv("RECALL_EXTRACTOR", "nonsense")
    with recall_sql.connect() as con, pytest.raises(duckdb.Error, match="unknown model 'nonsense'"):
        con.execute("select extract_facts('I am vegan')").fetchall()


def test_numbers_and_booleans_of_sql(con):
    con.execute("select recall_set('timeout', 2.5), recall_set('concurrency', 4), recall_set('memo', false)").fetchall()
    assert [row(con, name)[0] for name in ("timeout", "concurrency", "memo")] == ["2.5", "4", "false"]


def test_a_bad_value_in_the_environment_names_the_variable(monkeypatch):
    monkeypatch.setenv("RECALL_TIMEOUT", "soon")
    with pytest.raises(recall_sql.ConfigError, match=r"setting 'timeout' \(from RECALL_TIMEOUT\)"):
        recall_sql.connect()


def test_what_is_wrong_with_the_call(con):
    with pytest.raises(duckdb.InvalidInputException, match="recall_set takes a name and a value"):
        con.execute("select recall_set('llm')").fetchall()
    with pytest.raises(duckdb.InvalidInputException, match="can't be NULL"):
        con.execute("select recall_set(null, 'x')").fetchall()


def test_fixed_settings_keep_their_value():
    settings = Settings({"timeout": 5})
    settings.fix("timeout")
    settings.set("timeout", "5")
    with pytest.raises(recall_sql.ConfigError, match="timeout is settled when a database is opened"):
        settings.set("timeout", 6)
    with pytest.raises(recall_sql.ConfigError):
        settings.set("timeout", None)
    assert settings.timeout == 5


def test_every_setting_says_what_it_means():
    assert all(field.description for field in Values.model_fields.values())


def test_two_databases_have_their_own(con):
    with recall_sql.connect() as other:
        other.execute("select recall_set('llm', 'rules')").fetchall()
        assert row(con, "llm") == ("smollm2", "default")
