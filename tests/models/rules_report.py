"""Measures the rules backend on `rules_sentences.jsonl`: `python -m tests.models.rules_report`.

A fact counts as found when category, key, op and value (ignoring case) are all as expected; anything else it returns is
a false one. Negative sentences expect no fact at all.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from recall_sql.facts import Fact
from recall_sql.models.rules import RulesExtractor

SENTENCES = Path(__file__).with_name("rules_sentences.jsonl")
NOW = datetime(2026, 2, 1)  # every sentence is said on this day

Found = tuple[str, str, str, str]


@dataclass
class Score:
    """Counts over a set of sentences, per category. wrong: (text, missed, surplus) of every imperfect sentence."""

    right: Counter[str] = field(default_factory=Counter)
    surplus: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    sentences: int = 0
    negatives: int = 0
    wrong: list[tuple[str, set[Found], set[Found]]] = field(default_factory=list)

    def precision(self, category: str | None = None) -> float:
        """Share of the returned facts that are right; 1 when none were returned."""
        right, surplus = self._of(self.right, category), self._of(self.surplus, category)
        return right / (right + surplus) if right + surplus else 1.0

    def recall(self, category: str | None = None) -> float:
        """Share of the expected facts that were returned; 1 when none were expected."""
        right, missed = self._of(self.right, category), self._of(self.missed, category)
        return right / (right + missed) if right + missed else 1.0

    def _of(self, counts: Counter[str], category: str | None) -> int:
        return counts.total() if category is None else counts[category]


def load(path: Path = SENTENCES) -> list[dict]:
    """The sentences of the file: text, expect, note."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def measure(sentences: list[dict]) -> Score:
    """Runs the extractor over every sentence, each on its own."""
    extractor, score = RulesExtractor(), Score()
    for sentence in sentences:
        expected = {_as_tuple(**fact) for fact in sentence["expect"]}
        found = {_found(fact) for fact in extractor.extract(sentence["text"], now=NOW)}
        score.sentences += 1
        score.negatives += not expected
        score.right.update(category for category, *_ in expected & found)
        score.missed.update(category for category, *_ in expected - found)
        score.surplus.update(category for category, *_ in found - expected)
        if expected != found:
            score.wrong.append((sentence["text"], expected - found, found - expected))
    return score


def _as_tuple(category: str, fact_key: str, fact_value: str, op: str = "assert") -> Found:
    return category, fact_key, fact_value.lower(), op


def _found(fact: Fact) -> Found:
    return _as_tuple(fact.category, fact.fact_key, fact.fact_value, fact.op)


def report(score: Score) -> str:
    """The figures as a table, overall first."""
    lines = [
        f"{score.sentences} sentences, {score.negatives} of them negative",
        f"{'category':<14}{'facts':>6}{'precision':>11}{'recall':>8}",
        f"{'all':<14}{(score.right + score.missed).total():>6}{score.precision():>11.3f}{score.recall():>8.3f}",
    ]
    for category in sorted(set(score.right) | set(score.missed) | set(score.surplus)):
        facts = score.right[category] + score.missed[category]
        lines.append(f"{category:<14}{facts:>6}{score.precision(category):>11.3f}{score.recall(category):>8.3f}")
    return "\n".join(lines)


def speed(sentences: list[dict]) -> str:
    """Sentences per second of CPU time, each seen for the first time; the libraries are loaded before."""
    extractor = RulesExtractor()
    extractor.extract("I live in Oslo, my exam is on 3 May and my budget is 300 euros.", now=NOW)
    begin = time.process_time()
    for sentence in sentences:
        extractor.extract(sentence["text"], now=NOW)
    return f"{len(sentences) / (time.process_time() - begin):.0f} sentences/s"


def main() -> None:
    """Prints the report and every sentence that isn't fully right."""
    pace = speed(load())
    score = measure(load())
    print(report(score))
    print(pace)
    for text, missed, surplus in score.wrong:
        print(f"\n{text}")
        for fact in sorted(missed):
            print("  missed ", fact)
        for fact in sorted(surplus):
            print("  surplus", fact)


if __name__ == "__main__":
    main()
