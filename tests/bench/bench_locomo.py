"""How often search finds the turn that answers a question: `python -m tests.bench.bench_locomo [FILE] [--grid]`.

LoCoMo: long conversations between two people, questions about them, and the ids of the turns that hold the answer. Each
conversation is a user of one database; a turn's text is `speaker: words [shares caption]`. A hit is an evidence turn
itself among the ten returned turns (any@10), or all of them (all@10).

Everything is asked in one run of the same turns and questions: HYBRID_SEARCH as it ships, its parts alone, MiniLM
alone, equal reciprocal rank fusion, and rank_bm25 and bm25s with the same tokens where they are installed. `--grid`
tries other weights, chooses them on all conversations but one, and measures on that one. Writes results/locomo.md.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pyarrow as pa

import recall_sql
from recall_sql import runner
from recall_sql.functions.tokens import terms, tokens

DATA = Path(__file__).parents[3] / "shared" / "data" / "locomo_dev.json"
RESULTS = Path(__file__).parent / "results" / "locomo.md"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
GRID = [(vectors, spread) for spread in (0.0, 0.4, 0.5, 0.6) for vectors in (0.0, 0.2, 0.4, 0.6)]


@dataclass(frozen=True)
class Turn:
    turn_id: int
    user_id: str
    session_id: str
    position: int
    role: str
    content: str
    created_at: datetime


@dataclass(frozen=True)
class Question:
    user_id: str
    text: str
    category: int
    evidence: frozenset[int]


@dataclass
class Found:
    """What a way of searching returned for every question, best first."""

    ranked: list[list[int]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def read(path: Path) -> tuple[list[Turn], list[Question]]:
    """Turns and questions of a LoCoMo file; questions without an evidence turn are left out."""
    turns: list[Turn] = []
    questions: list[Question] = []
    for sample in json.loads(path.read_text("utf-8")):
        conversation, user_id = sample["conversation"], sample["sample_id"]
        ids: dict[str, int] = {}
        numbers = sorted(int(key.split("_")[1]) for key in conversation if re.fullmatch(r"session_\d+", key))
        for number in numbers:
            began = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
            for position, said in enumerate(conversation[f"session_{number}"], start=1):
                caption = f" [shares {said['blip_caption']}]" if said.get("blip_caption") else ""
                words = f"{said['speaker']}: {said['text']}{caption}"
                when = began.replace(tzinfo=UTC) + timedelta(seconds=position)
                turns.append(Turn(len(turns) + 1, user_id, f"session_{number}", position, "user", words, when))
                ids[said["dia_id"]] = len(turns)
        for asked in sample["qa"]:
            named = [
                f"D{int(a)}:{int(b)}" for text in asked["evidence"] for a, b in re.findall(r"D:?(\d+):(\d+)", text)
            ]
            evidence = frozenset(ids[name] for name in named if name in ids)
            if evidence:
                questions.append(Question(user_id, asked["question"], asked["category"], evidence))
    return turns, questions


def database(turns: list[Turn]) -> duckdb.DuckDBPyConnection:
    """A database in memory with the turns embedded and indexed."""
    con = recall_sql.connect()
    columns = ("turn_id", "user_id", "session_id", "position", "role", "content", "created_at")
    rows = pa.table({name: [getattr(turn, name) for turn in turns] for name in columns})
    con.register("rows_to_add", rows)
    con.execute("insert into chat_turns by name select * from rows_to_add")
    for recipe in ("conversation_memory/embed", "search/index"):
        runner.execute(con, runner.load(recipe))
    return con


# --- ways of searching ------------------------------------------------------------------------------------------------


def by_sql(con: duckdb.DuckDBPyConnection, questions: list[Question], sql: str) -> Found:
    """`sql` takes the question and the user as $1 and $2 and returns turn ids, best first."""
    found = Found()
    for question in questions:
        began = time.perf_counter()
        rows = con.execute(sql, [question.text, question.user_id]).fetchall()
        found.seconds.append(time.perf_counter() - began)
        found.ranked.append([row[0] for row in rows])
    return found


def hybrid(vectors: float = 0.4, spread: float = 0.5, k: int = 10) -> str:
    return (
        f"select turn_id from hybrid_search('chat_turns', $1, user_id := $2, k := {k}, "
        f"vector_weight := {vectors}, spread := {spread}) order by rank"
    )


MEANING = "select turn_id from vector_search('chat_turns', $1, user_id := $2, k := {k}) order by rank"


def fused(lists: Sequence[Found]) -> Found:
    """Reciprocal rank fusion with equal weights: Cormack, Clarke and Büttcher (2009), k = 60."""
    found = Found()
    for ranked in zip(*(each.ranked for each in lists), strict=True):
        scores: dict[int, float] = {}
        for one in ranked:
            for place, turn_id in enumerate(one, start=1):
                scores[turn_id] = scores.get(turn_id, 0.0) + 1 / (60 + place)
        found.ranked.append(sorted(scores, key=lambda turn_id: (-scores[turn_id], turn_id))[:10])
    return found


def by_library(turns: list[Turn], questions: list[Question], best: Callable[[list[list[str]]], Callable]) -> Found:
    """A BM25 library over each conversation's turns, with the product's tokens and terms, dates included."""
    found = Found()
    by_user: dict[str, list[Turn]] = {}
    for turn in turns:
        by_user.setdefault(turn.user_id, []).append(turn)
    for user_id, own in by_user.items():
        search = best([tokens(f"{turn.content} {turn.created_at:%-d %B %Y}") for turn in own])
        found.ranked += [
            [own[place].turn_id for place in search(terms(question.text))]
            for question in questions
            if question.user_id == user_id
        ]
    return found


def rank_bm25(corpus: list[list[str]]) -> Callable[[list[str]], list[int]]:
    index = import_module("rank_bm25").BM25Okapi(corpus)

    def search(query: list[str]) -> list[int]:
        scores = index.get_scores(query)
        return sorted(range(len(corpus)), key=lambda place: (-scores[place], place))[:10]

    return search


def bm25s(corpus: list[list[str]]) -> Callable[[list[str]], list[int]]:
    index = import_module("bm25s").BM25()
    index.index(corpus, show_progress=False)
    return lambda query: [int(place) for place in index.retrieve([query], k=10, show_progress=False)[0][0]]


# --- measures ---------------------------------------------------------------------------------------------------------


def any_at(ranked: list[int], evidence: frozenset[int], k: int = 10) -> bool:
    return bool(evidence & set(ranked[:k]))


def all_at(ranked: list[int], evidence: frozenset[int], k: int = 10) -> bool:
    return evidence <= set(ranked[:k])


def reciprocal(ranked: list[int], evidence: frozenset[int]) -> float:
    return next((1 / place for place, one in enumerate(ranked[:10], start=1) if one in evidence), 0.0)


def ndcg(ranked: list[int], evidence: frozenset[int]) -> float:
    gained = sum(1 / math.log2(place + 1) for place, one in enumerate(ranked[:10], start=1) if one in evidence)
    return gained / sum(1 / math.log2(place + 1) for place in range(1, min(10, len(evidence)) + 1))


def mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else float("nan")


def score(found: Found, questions: list[Question], measure: Callable, only: Callable = lambda question: True) -> float:
    pairs = zip(found.ranked, questions, strict=True)
    return mean([float(measure(ranked, question.evidence)) for ranked, question in pairs if only(question)])


def sessions_any(found: Found, turns: list[Turn], questions: list[Question]) -> float:
    """The session of an evidence turn is among the first ten sessions in the ranking of turns."""
    of = {turn.turn_id: turn.session_id for turn in turns}
    hits = []
    for ranked, question in zip(found.ranked, questions, strict=True):
        first_ten = set(list(dict.fromkeys(of[one] for one in ranked))[:10])
        hits.append(bool({of[one] for one in question.evidence} & first_ten))
    return mean([float(hit) for hit in hits])


def context_size(con: duckdb.DuckDBPyConnection, questions: list[Question]) -> tuple[float, float, float]:
    """Median estimated tokens of the context, any@ within it, and median seconds."""
    sizes, hits, seconds = [], [], []
    for question in questions:
        began = time.perf_counter()
        rows = con.execute(
            "select tokens, turn_id from context('', $1, user_id := $2) where kept", [question.text, question.user_id]
        ).fetchall()
        seconds.append(time.perf_counter() - began)
        sizes.append(sum(row[0] for row in rows))
        hits.append(bool(question.evidence & {row[1] for row in rows}))
    return statistics.median(sizes), mean([float(hit) for hit in hits]), statistics.median(seconds)


# --- the report -------------------------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def grid_report(con: duckdb.DuckDBPyConnection, questions: list[Question]) -> str:
    found = {setting: by_sql(con, questions, hybrid(*setting)) for setting in GRID}
    users = sorted({question.user_id for question in questions})
    rows = [
        [f"{vectors}", f"{spread}", f"{score(found[vectors, spread], questions, any_at):.4f}"]
        for vectors, spread in GRID
    ]
    held_out = []
    for user_id in users:
        rest = max(GRID, key=lambda s: score(found[s], questions, any_at, lambda q, u=user_id: q.user_id != u))
        here = [
            float(any_at(r, q.evidence))
            for r, q in zip(found[rest].ranked, questions, strict=True)
            if q.user_id == user_id
        ]
        held_out += here
        rows.append([f"{rest[0]} chosen without {user_id}", f"{rest[1]}", f"{mean(here):.4f} on {user_id}"])
    rows.append(["**held out, all**", "", f"**{mean(held_out):.4f}**"])
    return "## Weights, chosen on the other conversations\n\n" + table(["vector_weight", "spread", "turn any@10"], rows)


def report(path: Path, grid: bool) -> str:
    turns, questions = read(path)
    con = database(turns)
    deep = by_sql(con, questions, hybrid(k=100))
    words_only = by_sql(con, questions, hybrid(vectors=0, spread=0, k=100))
    meaning = by_sql(con, questions, MEANING.format(k=100))
    ways = {
        "**HYBRID_SEARCH**": deep,
        "its words alone": by_sql(con, questions, hybrid(vectors=0)),
        "its words alone, no neighbours": words_only,
        "MiniLM alone (VECTOR_SEARCH)": meaning,
        "equal RRF of the last two": fused([words_only, meaning]),
    }
    for name, library in (("rank_bm25", rank_bm25), ("bm25s", bm25s)):
        if find_spec(name):
            ways[f"{name}, same tokens"] = by_library(turns, questions, library)
    measures = (any_at, all_at, reciprocal, ndcg)
    overall = [[name, *(f"{score(found, questions, each):.3f}" for each in measures)] for name, found in ways.items()]
    by_category = [
        [
            name,
            *(f"{score(found, questions, any_at, lambda q, c=number: q.category == c):.3f}" for number in CATEGORIES),
        ]
        for name, found in ways.items()
    ]
    shipped = ways["**HYBRID_SEARCH**"]
    by_user = ", ".join(
        f"{user} {score(shipped, questions, any_at, lambda q, u=user: q.user_id == u):.3f}"
        for user in sorted({question.user_id for question in questions})
    )
    tokens_median, in_context, context_seconds = context_size(con, questions[::4])
    parts = [
        "# LoCoMo",
        f"`python -m tests.bench.bench_locomo`: {path.name}, {len(turns)} turns, "
        f"{len(questions)} questions with evidence, DuckDB {duckdb.__version__}, {datetime.now(UTC):%Y-%m-%d}. "
        "A hit is the evidence turn itself among ten turns.",
        table(["", "any@10", "all@10", "MRR@10", "NDCG@10"], overall),
        "any@10 by category:",
        table(["", *CATEGORIES.values()], by_category),
        f"By conversation: {by_user}.",
        f"Sessions any@10 (a session ranks by its best turn): {sessions_any(deep, turns, questions):.3f}.",
        f"CONTEXT, every fourth question: median {tokens_median:.0f} tokens (four bytes each), an evidence turn in it "
        f"for {in_context:.3f}; median {context_seconds * 1000:.0f} ms, "
        f"search {statistics.median(shipped.seconds) * 1000:.0f} ms.",
    ]
    if grid:
        parts.append(grid_report(con, questions))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=DATA)
    parser.add_argument("--grid", action="store_true", help="try other weights, with cross-validation")
    given = parser.parse_args()
    text = report(given.file, given.grid)
    print(text)
    if given.file == DATA:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(text, "utf-8")
