"""Conversations by the million, for benchmarks: `python -m tests.bench.generate_turns 1000000 FOLDER`.

Made from the shared LoCoMo conversations and the sentences the rules extractor is measured on. People, numbers,
months, places and things are drawn anew for every session, and two words of a longer text are other ones of the same
conversations, so that nine texts in ten are like no other. Parquet files in the order the messages were said: the
sessions of a week go on side by side, so that every session is spread over rows and files.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo_dev.json"
SENTENCES = Path(__file__).parents[1] / "models" / "rules_sentences.jsonl"
TURNS = 50  # of a session
SIDE_BY_SIDE = 200  # sessions
FILE_TURNS = 125_000

_KINDS = [
    "Ada Bela Cora Dana Ema Finn Gina Hugo Ines Jana Karl Lena Milo Nora Otto Pia Rosa Sami Tara Udo Vera Wim "
    "Yara Zoe Caroline Melanie Jon Gina John Maria Nate Joanna Tim James Deborah Jolene Evan Sam Calvin Dave "
    "Audrey Andrew Priya",
    "January February March April May June July August September October November December",
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "Oslo Lima Berlin Lisbon Kyoto Tokyo Paris Rome Madrid Vienna Prague Dublin Boston Chicago Toronto Sydney "
    "Delhi Pune",
    "cat dog rabbit parrot hamster horse turtle",
    "red green blue yellow purple orange black white",
    "tea coffee juice water wine beer milk",
    "pasta rice bread soup salad pizza sushi curry tacos",
    "painting running swimming hiking dancing reading gardening climbing cooking",
    "mother father sister brother daughter son cousin aunt uncle",
    "nurse teacher engineer lawyer plumber baker dentist pilot chemist",
    "book movie song game show concert museum garden park beach",
]
VOCABULARY: list[str] = []  # plain words of the conversations, as often as they occur
_LIKE = {word: words for kind in _KINDS for words in [kind.split()] for word in words}
_WORD = re.compile(rf"\b(?:{'|'.join(_LIKE)})\b|\d+")


def sessions(locomo: Path) -> tuple[list[list[tuple[str, str]]], list[str]]:
    """Conversations as (role, words) in order, and single sentences of users."""
    found = []
    for item in json.loads(locomo.read_text("utf-8")):
        talk = item["conversation"]
        for turns in (turns for name, turns in talk.items() if re.fullmatch(r"session_\d+", name)):
            found.append([("user" if t["speaker"] == talk["speaker_a"] else "assistant", t["text"]) for t in turns])
    texts = (text for talk in found for _, text in talk)
    VOCABULARY[:] = [word for text in texts for word in text.split() if word.isalpha() and word.islower()]
    said = [json.loads(line)["text"] for line in SENTENCES.read_text("utf-8").splitlines()]
    return found, said


def varied(text: str, chance: random.Random, names: dict[str, str]) -> str:
    """The text with other people, places, things and numbers; within a session always the same ones."""

    def other(match: re.Match[str]) -> str:
        word = match.group()
        if word.isdigit():
            return "".join(chance.choice("123456789") for _ in word)
        return names.setdefault(word, chance.choice(_LIKE[word]))

    words = _WORD.sub(other, text).split(" ")
    if len(words) > 8:
        for _ in range(2):
            words[chance.randrange(2, len(words))] = chance.choice(VOCABULARY)
    return " ".join(words)


def session(number: int, talks: list[list[tuple[str, str]]], said: list[str]) -> Iterator[tuple[str, str]]:
    """The TURNS messages of one session, (role, words). The same number gives the same session."""
    chance, names, count = random.Random(number), {}, 0
    while True:
        for role, text in chance.choice(talks):
            if chance.random() < 0.15:
                yield "user", varied(chance.choice(said), chance, names)
                count += 1
            if count < TURNS and text:
                yield role, varied(text, chance, names)
                count += 1
            if count >= TURNS:
                return


def rows(count: int, locomo: Path = LOCOMO) -> Iterator[dict[str, object]]:
    """`count` messages in the order they were said; a user has five sessions."""
    talks, said = sessions(locomo)
    begin = datetime(2024, 1, 1, tzinfo=UTC)
    for group in range(0, -(-count // TURNS), SIDE_BY_SIDE):
        numbers = range(group, min(group + SIDE_BY_SIDE, -(-count // TURNS)))
        open_sessions = [(number, session(number, talks, said)) for number in numbers]
        for step in range(TURNS):
            for number, messages in open_sessions:
                role, text = next(messages)
                at = begin + timedelta(
                    hours=group // SIDE_BY_SIDE * 7, minutes=step, milliseconds=number % SIDE_BY_SIDE
                )
                ids = {"user_id": f"user-{number // 5}", "session_id": f"session-{number}"}
                yield {"role": role, "content": text, "created_at": at, **ids}


def write(count: int, folder: Path, locomo: Path = LOCOMO) -> None:
    """Parquet files of FILE_TURNS messages."""
    folder.mkdir(parents=True, exist_ok=True)
    batch: list[dict[str, object]] = []
    number = 0
    for row in rows(count, locomo):
        batch.append(row)
        if len(batch) == min(FILE_TURNS, max(count // 4, 1)):
            pq.write_table(pa.Table.from_pylist(batch), folder / f"turns-{number:03}.parquet")
            batch, number = [], number + 1
    if batch:
        pq.write_table(pa.Table.from_pylist(batch), folder / f"turns-{number:03}.parquet")


if __name__ == "__main__":
    write(int(sys.argv[1]), Path(sys.argv[2]))
