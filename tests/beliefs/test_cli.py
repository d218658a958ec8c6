"""remember, why, facts --as-of, forget, export and compact from the command line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recall_sql.cli import cli


@pytest.fixture
def call(db: Path):
    def run(*arguments: str, code: int = 0, answer: str | None = None) -> Result:
        result = CliRunner().invoke(cli, [arguments[0], *arguments[1:], "--db", str(db)], input=answer)
        assert result.exit_code == code, result.output
        return result

    return run


def test_from_remembering_to_forgetting(call, db: Path) -> None:
    before = datetime.now(UTC).isoformat()
    out = call("remember", "Mochi", "--category", "pet", "--key", "cat", "--user-id", "u1").output
    assert out.startswith("pet.cat = Mochi (")
    call("remember", "Luna", "--category", "pet", "--key", "cat", "--user-id", "u1", "--source", "code", code=1)
    assert "Mochi" in call("why", "pet.cat").output
    assert "Mochi" in call("facts", "--as-of", datetime.now(UTC).isoformat()).output
    assert "Mochi" not in call("facts", "--as-of", before).output
    assert json.loads(call("export", "--user-id", "u1").output)["facts"][0]["fact_value"] == "Mochi"
    assert "1 facts" in call("forget", "--user-id", "u1", "--yes").output
    assert b"Mochi" not in db.read_bytes()
    call("compact")
    call("why", "pet.cat", code=1)


def test_forgetting_asks_and_refuses_nobody(call) -> None:
    call("remember", "Mochi", "--user-id", "u1")
    call("forget", "--user-id", "u1", code=130, answer="n\n")
    call("forget", code=2)
    call("forget", "--user-id", "", "--yes", code=1)
    call("forget", "--before", "yesterday", "--yes", code=1)
    assert len(json.loads(call("export", "--user-id", "u1").output)["facts"]) == 1


def test_history_and_a_moment_dont_go_together(call) -> None:
    call("remember", "Mochi")
    call("facts", "--history", "--as-of", "2026-01-01", code=2)


def test_as_of_shows_what_facts_shows_and_says_by_which_time_it_goes(call) -> None:
    call("remember", "Mochi", "--category", "pet", "--key", "cat")
    now = call("facts", "--format", "json").output
    assert call("facts", "--as-of", datetime.now(UTC).isoformat(), "--format", "json").output == now
    early = call("facts", "--as-of", "2020-01-01T00:00:00+00:00")
    assert "--as-of goes by when a belief was recorded; the first was at 20" in early.stderr


def test_forgetting_who_isnt_there_is_said(call) -> None:
    call("remember", "Mochi", "--category", "pet", "--key", "cat", "--user-id", "u1")
    assert "there is nothing to forget of user_id u2" in call("forget", "--user-id", "u2", "--yes", code=1).stderr
    assert "--with-turns erases them" in call("forget", "--user-id", "u1", "--fact", "pet.cat", "--yes").stderr
