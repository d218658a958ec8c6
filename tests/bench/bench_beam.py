"""What reaches the model on BEAM's ten kinds of question: `python -m tests.bench.bench_beam [MESSAGES QUESTIONS]`.

BEAM (100k): chats of about 100,000 tokens, probing questions with the ids of the messages they rest on. Each chat is a
user of one database; facts come from the rules extractor, so no model is asked. Measured per kind of question:

    source turn    a message that the question rests on is in the context of 1,000 tokens, as a turn or by its facts
    by facts       … by a fact that was extracted from it
    all sources    every message that the question rests on is there
    newer first    (knowledge update) the newer statement stands above the older one, or alone

Writes results/beam.md.
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

import recall_sql
from recall_sql import runner
from tests.bench.bench_locomo import mean, table

FOLDER = Path(__file__).parents[3] / "shared" / "data"
MESSAGES = FOLDER / "beam100k_dev_messages.jsonl.gz"
QUESTIONS = FOLDER / "beam100k_dev_questions.jsonl"
RESULTS = Path(__file__).parent / "results" / "beam.md"


@dataclass(frozen=True)
class Question:
    user_id: str
    kind: str
    text: str
    sources: dict[str, list[int]]  # name of a group ('updated_info' …) to the turn ids of its messages


@dataclass(frozen=True)
class Outcome:
    kind: str
    any_source: bool
    by_facts: bool
    all_sources: bool
    newer_first: bool | None
    tokens: int
    seconds: float


def read(messages: Path, questions: Path) -> tuple[list[dict[str, Any]], list[Question]]:
    """Rows for chat_turns, and the questions with turn ids as their sources."""
    rows: list[dict[str, Any]] = []
    ids: dict[tuple[int, int], int] = {}
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    for line in gzip.decompress(messages.read_bytes()).decode("utf-8").splitlines():
        said = json.loads(line)
        user_id = f"chat-{said['chat']}"
        if said["time_anchor"]:
            moment = datetime.strptime(said["time_anchor"], "%B-%d-%Y").replace(tzinfo=UTC)
        moment += timedelta(seconds=1)
        ids[said["chat"], said["id"]] = len(rows) + 1
        rows.append(
            {
                "turn_id": len(rows) + 1, "user_id": user_id, "session_id": "s", "position": said["id"] + 1,
                "role": said["role"], "content": said["content"].split(" ->-> ")[0] or "…", "created_at": moment,
            }
        )  # fmt: skip
    asked = []
    for line in questions.read_text("utf-8").splitlines():
        row = json.loads(line)
        groups = row["source_chat_ids"] or {}
        groups = groups if isinstance(groups, dict) else {"all": groups}
        sources = {name: [ids[row["chat"], one] for one in flat(group)] for name, group in groups.items()}
        asked.append(Question(f"chat-{row['chat']}", row["type"], row["question"], sources))
    return rows, asked


def flat(group: list[Any]) -> list[int]:
    """Some questions list their messages in lists of lists."""
    return [one for part in group for one in (flat(part) if isinstance(part, list) else [part])]


def database(rows: list[dict[str, Any]]) -> duckdb.DuckDBPyConnection:
    """A database in memory with turns, index and the facts that the rules find."""
    con = recall_sql.connect()
    con.register("rows_to_add", pa.Table.from_pylist(rows))
    con.execute("insert into chat_turns by name select * from rows_to_add")
    con.execute("insert into chat_threads (user_id, session_id) select distinct user_id, session_id from chat_turns")
    runner.execute(con, runner.load("conversation_memory/all"))
    return con


def outcome(con: duckdb.DuckDBPyConnection, question: Question) -> Outcome:
    began = time.perf_counter()
    lines = con.execute(
        "select row_number() over () as place, turn_id, reason, line, tokens "
        "from context('another', $1, user_id := $2, max_tokens := 1000) where kept",
        [question.text, question.user_id],
    ).fetchall()
    seconds = time.perf_counter() - began
    turns = {turn_id: place for place, turn_id, reason, _, _ in lines if reason == "near the question"}
    facts = {line for _, _, reason, line, _ in lines if reason in ("rule", "preference", "fact")}
    wanted = [one for group in question.sources.values() for one in group]
    told = {one for one in wanted if one not in turns and facts & facts_of(con, one)}
    shown = set(turns) | told
    return Outcome(
        question.kind,
        bool(shown & set(wanted)),
        any(facts & facts_of(con, one) for one in wanted),
        bool(wanted) and set(wanted) <= shown,
        newer_first(question, turns),
        sum(line[4] for line in lines),
        seconds,
    )


def facts_of(con: duckdb.DuckDBPyConnection, turn_id: int) -> set[str]:
    """How the facts that were extracted from a turn, or confirmed by it, are written in a context."""
    rows = con.execute(
        "select distinct '- ' || on_one_line(if("
        "f.kind = 'RULE', f.fact_value, fact_line(f.category, f.fact_key, f.fact_value))) "
        "from chat_fact_history as h join chat_facts as f using (fact_id) where h.source_turn_id = $1 and h.event in "
        "('created', 'confirmed', 'superseded', 'edited')",
        [turn_id],
    ).fetchall()
    return {row[0] for row in rows}


def newer_first(question: Question, turns: dict[int, int]) -> bool | None:
    """For a knowledge update: is the newest shown statement above every older one? None for other kinds."""
    if question.kind != "knowledge_update" or "updated_info" not in question.sources:
        return None
    newer = [turns[one] for one in question.sources["updated_info"] if one in turns]
    older = [turns[one] for one in question.sources.get("original_info", []) if one in turns]
    return bool(newer) and (not older or min(newer) < min(older))


def report(messages: Path, questions: Path) -> str:
    rows, asked = read(messages, questions)
    con = database(rows)
    by_kind: dict[str, list[Outcome]] = defaultdict(list)
    for question in asked:
        by_kind[question.kind].append(outcome(con, question))
    lines = []
    for kind in sorted(by_kind):
        all_of = by_kind[kind]
        shares = [
            mean([float(getattr(one, name)) for one in all_of]) for name in ("any_source", "by_facts", "all_sources")
        ]
        newest = [float(one.newer_first) for one in all_of if one.newer_first is not None]
        has_source = kind != "abstention"
        lines.append(
            [
                kind, str(len(all_of)), *(f"{share:.2f}" if has_source else "–" for share in shares),
                f"{mean(newest):.2f}" if newest else "–", f"{statistics.median(one.tokens for one in all_of):.0f}",
            ]
        )  # fmt: skip
    seconds = [one.seconds for group in by_kind.values() for one in group]
    kinds = con.sql("select kind, count(*) from chat_facts group by kind order by kind").fetchall()
    return (
        "\n\n".join(
            [
                "# BEAM",
                f"`python -m tests.bench.bench_beam`: {messages.name}, {len(rows)} messages, {len(asked)} questions, "
                f"facts by the rules ({', '.join(f'{count} {kind}' for kind, count in kinds)}), "
                f"context of 1,000 tokens, DuckDB {duckdb.__version__}, "
                f"{datetime.now(UTC):%Y-%m-%d}. Median {statistics.median(seconds) * 1000:.0f} ms a context.",
                table(["kind", "questions", "source turn", "by facts", "all sources", "newer first", "tokens"], lines),
            ]
        )
        + "\n"
    )


if __name__ == "__main__":
    given = [Path(path) for path in sys.argv[1:3]] or [MESSAGES, QUESTIONS]
    text = report(*given)
    print(text)
    if given == [MESSAGES, QUESTIONS]:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(text, "utf-8")
