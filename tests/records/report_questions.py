"""How well the rules answer questions: `python -m tests.records.report_questions [--wrong]`."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import recall_sql
from recall_sql.records import Records
from tests.records.dataset import fill
from tests.records.schemas import NOW, declare

QUESTIONS = [
    line
    for text in Path(__file__).with_name("questions.jsonl").read_text("utf-8").splitlines()
    if not (line := json.loads(text)).get("skip")
]


def is_right(line: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether an answer is the one that the line asks for: a value, a number of rows, or a refusal."""
    result = found["result"]
    if "error" in line:
        return "error" in found
    if "n" in line:
        return isinstance(result, list) and len(result) == line["n"]
    wanted = line["a"]
    if isinstance(result, list) and len(result) == 1 and len(result[0]) == 1:
        result = next(iter(result[0].values()))
    if isinstance(wanted, bool | str) or result is None:
        return str(result) == str(wanted)
    try:
        return abs(float(result) - wanted) < 0.01
    except (TypeError, ValueError):
        return False


def measure() -> tuple[int, list[str]]:
    """How many are right, and what is wrong with the others."""
    wrong = []
    with closing(recall_sql.connect(":memory:")) as con:
        records = fill(declare(Records(con)))
        for line in QUESTIONS:
            found = records.query(line["q"], "ana", now=NOW)
            if not is_right(line, found):
                wrong.append(f"{line['q']}\n      {str(found['result'])[:150]} | {found['sql']}")
    return len(QUESTIONS) - len(wrong), wrong


def main() -> None:
    """Prints the report."""
    right, wrong = measure()
    print(f"questions.jsonl: {len(QUESTIONS)} questions, {right} right ({right / len(QUESTIONS):.1%})")
    if "--wrong" in sys.argv:
        print("\n".join("    " + text for text in wrong))


if __name__ == "__main__":
    main()
