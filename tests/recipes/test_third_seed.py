"""The third seed's own statements, pasted verbatim into a file, run unchanged: tables, embeddings, upsert, reply."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import recall_sql
from recall_sql import runner

SEED = Path(__file__).parents[3] / "shared" / "seeds" / "conversation-memory-structured-facts.txt"
FIRST_WORDS = ("CREATE ", "INSERT ", "UPDATE ", "SELECT", "DROP ", "--")

pytestmark = pytest.mark.skipif(not SEED.exists(), reason=f"the seed document isn't here: {SEED}")


def sql_blocks(text: str) -> list[str]:
    """The SQL of the document: from a line that begins a statement to the line that ends one, prose left out."""
    blocks: list[str] = []
    lines: list[str] = []
    for line in text.splitlines():
        if lines or (line.startswith(FIRST_WORDS) and not line.startswith("SELECT *")):
            lines.append(line)
            if re.search(r";\s*(--.*)?$", line):
                blocks.append("\n".join(lines))
                lines = []
    return blocks


@pytest.fixture(scope="module")
def seed_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    blocks = sql_blocks(SEED.read_text("utf-8"))
    kept = [block for block in blocks if not block.startswith("DROP ")]
    assert (
        len(kept) >= 17 and any("VECTOR(384)" in block for block in kept) and any("GENERATE" in block for block in kept)
    )
    path = tmp_path_factory.mktemp("seed") / "seed.sql"
    path.write_text("\n\n".join(kept), "utf-8")
    return path


@pytest.fixture(scope="module")
def seeded(seed_script: Path) -> tuple[recall_sql.session.duckdb.DuckDBPyConnection, runner.RunResult]:
    pytest.importorskip("xllamacpp", reason="GENERATE with no key needs the extra llama")
    con = recall_sql.connect()
    return con, runner.execute(con, runner.load(seed_script))


def test_one_dietary_row_and_it_is_the_new_one(seeded) -> None:
    con, _ = seeded
    rows = con.sql("select fact_key, fact_value from recipe_chat_facts where category = 'dietary'").fetchall()
    assert rows == [("pescatarian", "true")]


def test_turns_and_facts_are_embedded(seeded) -> None:
    con, _ = seeded
    assert con.sql("select count(*), count(embedding) from recipe_chat_turns").fetchall() == [(10, 10)]
    assert con.sql("select typeof(embedding), count(*) from recipe_chat_facts group by 1").fetchall() == [
        ("FLOAT[384]", 6)
    ]
    near = con.sql(
        "select fact_key from recipe_chat_facts"
        " order by array_cosine_similarity(embedding, embed('likes trains')) desc limit 1"
    ).fetchall()
    assert near == [("prefers_rail",)]


def test_the_raw_answer_of_the_model_is_kept(seeded) -> None:
    con, _ = seeded
    assert con.sql("select session_id, length(payload) > 0 from recipe_chat_facts_raw").fetchall() == [("s1", True)]


def test_context_and_reply_are_shown(seeded) -> None:
    _, result = seeded
    context = result.tables[-2].table.to_pylist()[0]
    assert "dietary.pescatarian=true" in context["user_facts"] and "vegetarian=true" not in context["user_facts"]
    assert "assistant: Updated" in context["recent_turns"]
    reply = result.tables[-1].table.to_pylist()[0]["reply"]
    assert isinstance(reply, str) and reply.strip()


def test_its_cleanup_runs_too(tmp_path: Path) -> None:
    drops = [block for block in sql_blocks(SEED.read_text("utf-8")) if block.startswith("DROP ")]
    script = tmp_path / "cleanup.sql"
    script.write_text("\n".join(drops), "utf-8")
    copy = recall_sql.connect()
    copy.execute("create table recipe_chat_turns (i int)")
    runner.execute(copy, runner.load(script))
    assert copy.sql("select count(*) from duckdb_tables() where table_name like 'recipe_chat%'").fetchall() == [(0,)]
