"""What bench_mem0 runs in mem0's own environment: `python -m tests.bench.mem0_run URL TURNS.jsonl FOLDER`.

mem0's default pipeline, as its manual uses it: `add` for every exchange of a user's message and the reply. The vector
store is its default, qdrant on disk; the model is the scripted server by its openai provider; the embedder is put in
place after the memory is made, so that it is the same weights by the same code as ours. One `add` after the other:
that store isn't made for several threads (with 16 it failed). Prints JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="unused", MEM0_DIR=str(Path(sys.argv[3]) / "mem0"))

from mem0 import Memory

from recall_sql.models.installed import minilm_folder
from recall_sql.models.onnx_embedder import OnnxEmbedder


class Embedding:
    """mem0's interface of an embedder."""

    def __init__(self) -> None:
        folder = minilm_folder()
        assert folder is not None
        self._model = OnnxEmbedder(folder, model="all-MiniLM-L6-v2")

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._model.embed([text])[0].tolist()

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return self._model.embed(texts).tolist()


def exchanges(rows: list[dict[str, Any]]) -> dict[str, list[tuple[str, list[dict[str, str]]]]]:
    """By user: (session, a message of the user with the reply behind it)."""
    found: dict[str, list[tuple[str, list[dict[str, str]]]]] = defaultdict(list)
    last: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        message = {"role": row["role"], "content": row["content"]}
        if row["role"] == "user":
            last[row["session_id"]] = [message]
            found[row["user_id"]].append((row["session_id"], last[row["session_id"]]))
        elif len(last.get(row["session_id"], ())) == 1:
            last[row["session_id"]].append(message)
    return found


def main() -> None:
    url, turns, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    rows = [json.loads(line) for line in Path(turns).read_text("utf-8").splitlines()]
    memory = Memory.from_config(
        {
            "llm": {"provider": "openai", "config": {"model": "gpt-4o-mini", "openai_base_url": url}},
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 384},
            },
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = Embedding()
    memory.embedding_model.embed("warm")
    by_user = exchanges(rows)

    started = time.perf_counter()
    for user, said in by_user.items():
        for session, messages in said:
            memory.add(messages, user_id=user, run_id=session)
    seconds = time.perf_counter() - started
    kept = sum(len(memory.get_all(filters={"user_id": user}, top_k=100_000)["results"]) for user in by_user)
    print(json.dumps({"seconds": seconds, "kept": kept, "adds": sum(map(len, by_user.values()))}))


if __name__ == "__main__":
    main()
