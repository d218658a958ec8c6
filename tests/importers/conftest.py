"""A fresh database per test, and a way to write the file that is imported."""

import json

import pytest

import recall_sql


@pytest.fixture
def con():
    with recall_sql.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        yield connection


@pytest.fixture
def lines(tmp_path):
    """Writes JSON Lines: dicts as JSON, text as it is."""

    def write(*rows, name="chat.jsonl"):
        file = tmp_path / name
        texts = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
        file.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return file

    return write


@pytest.fixture
def document(tmp_path):
    """Writes one JSON document."""

    def write(value, name="chat.json"):
        file = tmp_path / name
        file.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8")
        return file

    return write


@pytest.fixture
def turns(con):
    """The stored turns, in order: the columns asked for."""
    return lambda columns="role, content": con.execute(
        f"select {columns} from chat_turns order by session_id, position"
    ).fetchall()
