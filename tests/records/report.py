"""How well the rules read messages: `python -m tests.records.report [FILE …]` prints it, `--wrong` with every mistake.

A line of a file is a message (m) and what it should be: intent (i; incomplete and several are refused inserts), schema
(s), data (d), match values (w), recency (r), count (n), updates (u). A first line may name its own schemas.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recall_sql.records.intents import Intent, as_json
from recall_sql.records.rules.detect import detect
from recall_sql.records.schemas import Schema, from_model, read
from tests.records.schemas import KINDS, NOW

HERE = Path(__file__).parent
FILES = ("messages.jsonl", "messages_other.jsonl", "messages_third.jsonl", "messages_fourth.jsonl")


@dataclass
class Result:
    """Counts over one file."""

    name: str
    messages: int = 0
    right: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def share(self, good: str, out_of: str) -> float:
        return self.counts[good] / max(1, self.counts[out_of])


def load(path: Path) -> tuple[list[Schema], list[dict[str, Any]]]:
    """The schemas and the messages of a file."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    if "schemas" in lines[0]:
        given = lines.pop(0)["schemas"]
        return [read(name, one["description"], one["schema"]) for name, one in given.items()], lines
    return [from_model(name, description, model) for name, (description, model) in KINDS.items()], lines


def measure(path: Path) -> Result:
    """Runs the rules over a file."""
    schemas, lines = load(path)
    result = Result(path.name)
    for line in lines:
        found = detect(line["m"], schemas, NOW)
        result.messages += 1
        mistakes = list(_mistakes(line, found, result.counts))
        if mistakes:
            result.wrong.append(f"{line['m']}\n      {'; '.join(mistakes)}")
        else:
            result.right += 1
    return result


def _mistakes(line: dict[str, Any], found: Intent, counts: Counter[str]) -> Iterable[str]:
    wanted = line["i"]
    refused = wanted in ("none", "incomplete", "several")
    counts["refused"] += refused
    counts["acted"] += not refused
    if refused:
        counts["refused right"] += not found.matched
        if found.matched:
            given = _plain(found.data or found.updates)
            yield f"should be left alone ({wanted}), is {found.intent} {found.schema} {given}"
        elif wanted == "several" and "two or more" not in found.reason:
            yield f"should say that it holds several records: {found.reason}"
        elif wanted == "incomplete" and "missing" not in found.reason:
            yield f"should say what is missing: {found.reason}"
        return
    seen = (found.intent, found.schema) if found.matched else ("none", None)
    counts["intent right"] += seen == (wanted, line["s"])
    if seen != (wanted, line["s"]):
        counts["wrong action"] += found.matched
        yield f"{wanted} {line['s']} read as {seen[0]} {seen[1]}: {found.reason}"
        return
    yield from _fields("data", line.get("d"), found.data, counts)
    if wanted in ("update", "delete") and found.match:
        yield from _fields("match", line.get("w"), found.match.where, counts)
        yield from _fields("updates", line.get("u"), found.updates, counts)
        if (found.match.recency, found.match.count) != (line.get("r"), line.get("n", 1)):
            yield f"recency {found.match.recency}, count {found.match.count}"


def _fields(
    what: str, wanted: dict[str, Any] | None, found: dict[str, Any] | None, counts: Counter[str]
) -> Iterable[str]:
    wanted, seen = wanted or {}, _plain(found) or {}
    for name in wanted.keys() | seen.keys():
        counts["fields wanted"] += name in wanted
        counts["fields given"] += name in seen
        same = name in wanted and name in seen and _same(wanted[name], seen[name])
        counts["fields right"] += same
        if not same:
            yield f"{what}.{name}: {seen.get(name)!r}, not {wanted.get(name)!r}"


def _plain(values: dict[str, Any] | None) -> dict[str, Any] | None:
    return json.loads(as_json(values) or "null")


def _same(wanted: Any, seen: Any) -> bool:
    if isinstance(wanted, int | float) and isinstance(seen, int | float | str):
        try:
            return abs(float(seen) - wanted) < 0.01
        except ValueError:
            return False
    return str(wanted).casefold() == str(seen).casefold()


def main() -> None:
    """Prints the report."""
    names = [name for name in sys.argv[1:] if not name.startswith("--")] or [str(HERE / name) for name in FILES]
    for name in names:
        result = measure(Path(name))
        print(
            f"{result.name}: {result.messages} messages, {result.right} entirely right "
            f"({result.right / result.messages:.1%})\n"
            f"  to be acted on: intent and schema right {result.share('intent right', 'acted'):.1%}, "
            f"wrong action {result.share('wrong action', 'acted'):.1%}\n"
            f"  to be left alone: left alone {result.share('refused right', 'refused'):.1%}\n"
            f"  fields: precision {result.share('fields right', 'fields given'):.1%}, "
            f"recall {result.share('fields right', 'fields wanted'):.1%}"
        )
        if "--wrong" in sys.argv:
            print("\n".join("    " + text for text in result.wrong))


if __name__ == "__main__":
    main()
