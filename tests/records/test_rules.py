"""The rules against the files of messages and questions; `python -m tests.records.report` prints the same."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from recall_sql.records.rules import spans, times
from tests.records import report, report_questions
from tests.records.schemas import NOW


@pytest.mark.parametrize(("name", "least"), [("messages.jsonl", 0.95), ("messages_other.jsonl", 0.9)])
def test_messages(name: str, least: float) -> None:
    result = report.measure(report.HERE / name)
    print(f"{name}: {result.right} of {result.messages} entirely right")
    assert result.right / result.messages >= least, "\n".join(result.wrong)
    assert result.counts["wrong action"] == 0


def test_there_are_enough_messages() -> None:
    assert sum(len(report.load(report.HERE / name)[1]) for name in report.FILES) >= 180


def test_questions() -> None:
    right, wrong = report_questions.measure()
    assert right / len(report_questions.QUESTIONS) >= 0.95, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("today", "2026-03-04"),
        ("yesterday", "2026-03-03"),
        ("the day before yesterday", "2026-03-02"),
        ("three days ago", "2026-03-01"),
        ("a week ago", "2026-02-25"),
        ("last week", "2026-02-25"),
        ("next Friday", "2026-03-06"),
        ("last Friday", "2026-02-27"),
        ("on Wednesday", "2026-03-04"),
        ("last Wednesday", "2026-02-25"),
        ("March 1", "2026-03-01"),
        ("1st of March 2025", "2025-03-01"),
        ("December 24", "2025-12-24"),
        ("12/24", "2025-12-24"),
        ("24.12.2025", "2025-12-24"),
        ("2026-02-28", "2026-02-28"),
        ("the 21st", "2026-02-21"),
        ("last night", "2026-03-03"),
        ("in two weeks", "2026-03-18"),
    ],
)
def test_days(text: str, day: str) -> None:
    assert [str(when.day) for when in times.find(text, NOW)] == [day]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("this week", "2026-03-02", "2026-03-09"),
        ("last month", "2026-02-01", "2026-03-01"),
        ("since February 10", "2026-02-10", "9999-12-31"),
        ("before March", "0001-01-01", "2026-03-01"),
        ("between February 1 and February 10", "2026-02-01", "2026-02-11"),
        ("in 2025", "2025-01-01", "2026-01-01"),
        ("in Q4 2025", "2025-10-01", "2026-01-01"),
        ("the last 7 days", "2026-02-26", "2026-03-05"),
    ],
)
def test_periods(text: str, start: str, end: str) -> None:
    found = times.period(text, NOW)
    assert found is not None and (str(found.start), str(found.end)) == (start, end)


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("a hundred fifty bucks", "150", "money"),
        ("€1.299,50", "1299.5", "money"),
        ("$1,299.50", "1299.5", "money"),
        ("-$20", "-20", "money"),
        ("$3k", "3000", "money"),
        ("3k", "3000", "bare"),
        ("twelve dollars and 50 cents", "12.5", "money"),
        ("7 and a half hours", "7.5", "duration"),
        ("1h 30m", "5400", "duration"),
        ("two dozen eggs", "24", "count"),
        ("38.5°C", "38.5", "temperature"),
        ("8/10", "8", "rating"),
        ("4/5 stars", "4", "rating"),
    ],
)
def test_measures(text: str, value: str, dimension: str) -> None:
    [measure] = spans.find(text, NOW).measures
    assert (measure.value, measure.dimension) == (Decimal(value), dimension)


def test_a_quarter_in_a_title_is_no_time() -> None:
    assert times.find("the Q3 budget", dt.datetime(2026, 3, 4)) == []
