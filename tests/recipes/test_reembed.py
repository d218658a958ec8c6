"""maintenance/reembed: the way out when a database's vectors are of another model."""

from __future__ import annotations

from pathlib import Path

import pytest

import recall_sql
from recall_sql import runner
from tests.servers import ScriptedServer, embeddings


def wide(call):
    """1,024-dimension vectors, as another model would make them."""
    return embeddings([[1.0] + [0.0] * 1023 for _ in call.texts])


def test_vectors_of_another_length(tmp_path: Path) -> None:
    path = tmp_path / "memory.duckdb"
    con = recall_sql.connect(path)
    runner.execute(con, runner.load("conversation_memory/ingest"), {"content": "I'm vegan."})
    runner.execute(con, runner.load("conversation_memory/all"))
    con.close()
    with ScriptedServer(wide) as server:
        settings = {"embedder": server.model(), "embedding_dimension": 1024}
        with pytest.raises(recall_sql.ConfigError, match="maintenance/reembed"):
            recall_sql.connect(path, settings=settings)
        con = recall_sql.connect(path, settings=settings, check_embedding=False)
        runner.execute(con, runner.load("maintenance/reembed"), {"dimension": 1024})
        con.close()
        con = recall_sql.connect(path, settings=settings)  # no complaint any more
        for table in ("chat_turns", "chat_facts"):
            assert con.sql(f"select typeof(embedding), embedding is null from {table}").fetchall() == [
                ("FLOAT[1024]", False)
            ]
        con.close()
