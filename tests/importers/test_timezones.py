"""A file that is imported again with another --timezone is the same file."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from recall_sql.errors import RecallError
from recall_sql.importers import import_file


def write(path: Path, *said: str, hour: int = 9) -> Path:
    rows = [
        {"session_id": "s", "role": "user", "content": text, "created_at": f"2026-05-01T{hour:02}:0{nth}:00"}
        for nth, text in enumerate(said)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_all_messages_again_at_another_hour_are_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    file = write(tmp_path / "chat.jsonl", "I am vegan", "hello", "hello", "bye")
    import_file(con, file, timezone="Europe/Berlin")
    with pytest.raises(
        RecallError, match="the 4 messages are there already, 2 hours earlier: is it another --timezone"
    ):
        import_file(con, file)
    assert con.execute("select count(*) from chat_turns").fetchall() == [(4,)]
    assert "0 turns added" in str(import_file(con, file, timezone="Europe/Berlin"))


def test_some_messages_again_are_said_again(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    import_file(con, write(tmp_path / "chat.jsonl", "hello", "I am vegan", "bye"))
    import_file(con, write(tmp_path / "later.jsonl", "hello", "I eat fish now", "bye", hour=11))
    import_file(con, write(tmp_path / "short.jsonl", "hello", "bye", hour=12))
    assert con.execute("select count(*) from chat_turns").fetchall() == [(8,)]
