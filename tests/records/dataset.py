"""The rows that the questions of questions.jsonl are asked about."""

from __future__ import annotations

import datetime as dt
from typing import Any

from recall_sql.records import Records
from tests.records.schemas import NOW

ROWS: dict[str, list[dict[str, Any]]] = {
    "payments": [
        {"recipient": "Landlord", "amount": 1200, "description": "rent", "date": "2026-02-01"},
        {"recipient": "Costco", "amount": 60, "description": "groceries", "date": "2026-02-10"},
        {"recipient": "Jayden", "amount": 150, "description": "MMA session", "date": "2026-02-20"},
        {"recipient": "Ana", "amount": 30, "description": "dinner", "date": "2026-02-25"},
        {"recipient": "Jayden", "amount": 90, "description": "training", "date": "2026-03-02"},
        {"recipient": "Ana", "amount": 20, "description": "dinner"},
    ],
    "workouts": [
        {"activity": "running", "distance_km": 5, "duration_minutes": 30, "date": "2026-02-10"},
        {"activity": "running", "distance_km": 8, "duration_minutes": 50, "date": "2026-02-20"},
        {"activity": "yoga", "duration_minutes": 75, "date": "2026-02-22"},
        {"activity": "swimming", "duration_minutes": 40, "date": "2026-03-02"},
        {"activity": "running", "distance_km": 5, "duration_minutes": 28, "date": "2026-03-03"},
    ],
    "books": [
        {"title": "The Hobbit", "author": "Tolkien", "rating": 4, "pages": 310, "finished_on": "2026-01-15"},
        {"title": "Dune", "author": "Frank Herbert", "rating": 5, "pages": 600, "finished_on": "2026-02-15"},
        {"title": "The Silmarillion", "author": "Tolkien", "rating": 3, "finished_on": "2026-03-01"},
    ],
    "symptoms": [
        {"symptom": "headache", "severity": 5, "trigger": "stress", "date": "2026-02-05"},
        {"symptom": "headache", "severity": 7, "trigger": "coffee", "date": "2026-02-20"},
        {"symptom": "nausea", "severity": 3, "date": "2026-03-03"},
    ],
    "inventory": [
        {"item": "screws", "quantity": 40, "location": "warehouse B"},
        {"item": "monitors", "quantity": 5, "location": "shelf D", "unit_price": 99.9, "condition": "used"},
        {"item": "chairs", "quantity": 3, "location": "room 12", "condition": "damaged"},
    ],
}


def fill(records: Records, user_id: str = "ana", now: dt.datetime = NOW) -> Records:
    """Writes all rows for one user."""
    for schema, rows in ROWS.items():
        for row in rows:
            records.insert(schema, row, user_id, now=now)
    return records
