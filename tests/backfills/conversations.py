"""Conversations for tests of backfills: people who say things about themselves, and change their minds."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SAID = (
    "I'm vegetarian.",
    "I eat fish now.",
    "I live in {city}.",
    "I moved to {city} last month.",
    "I have a cat called {name}.",
    "My budget is ${amount}.",
    "I'm allergic to peanuts.",
    "Always answer in one sentence.",
    "What shall I cook tonight?",
    "Thanks, that helps!",
)


def messages(count: int, people: int = 4, sessions: int = 3, seed: int = 5) -> list[dict[str, Any]]:
    """`count` messages in the order they were said, of different sessions by turns."""
    chance = random.Random(seed)
    found = []
    for number in range(count):
        person, session = chance.randrange(people), chance.randrange(sessions)
        words = chance.choice(SAID).format(
            city=chance.choice(("Oslo", "Lima", "Berlin")),
            name=chance.choice(("Mochi", "Tom")),
            amount=chance.randrange(100, 900, 100),
        )
        found.append(
            {
                "role": "assistant" if chance.random() < 0.25 else "user",
                "content": words,
                "session_id": f"p{person}-s{session}",
                "user_id": f"p{person}",
                "created_at": f"2026-03-{1 + number // 60:02}T{number // 60 % 24:02}:{number % 60:02}:00Z",
            }
        )
    return found


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
