"""The five kinds of record that the tests keep."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, Field

from recall_sql.records import Records


class Payment(BaseModel):
    recipient: str = Field(description="Who was paid (person or business)")
    amount: Decimal = Field(description="Amount paid in dollars")
    description: str | None = Field(None, description="What the payment was for")
    date: dt.date | None = Field(None, description="When the payment was made")


class Workout(BaseModel):
    activity: str = Field(description="Kind of exercise, such as running, weight training or yoga")
    distance_km: float | None = Field(None, description="Distance in kilometers")
    duration_minutes: int | None = Field(None, description="How long it took, in minutes")
    date: dt.date | None = Field(None, description="When it was done")


class Book(BaseModel):
    title: str = Field(description="Title of the book")
    author: str | None = Field(None, description="Who wrote it")
    rating: int | None = Field(None, ge=1, le=5, description="Rating from 1 to 5 stars")
    pages: int | None = Field(None, description="Number of pages read")
    finished_on: dt.date | None = Field(None, description="When it was finished")


class Symptom(BaseModel):
    symptom: str = Field(description="What was felt, such as headache, nausea or fever")
    severity: int | None = Field(None, ge=1, le=10, description="How bad it was, from 1 to 10")
    trigger: str | None = Field(None, description="What may have caused it")
    date: dt.date | None = Field(None, description="When it happened")


class Item(BaseModel):
    item: str = Field(description="What is stored")
    quantity: int = Field(description="How many units there are")
    location: str | None = Field(None, description="Where it is kept: shelf, room or warehouse")
    unit_price: Decimal | None = Field(None, description="Price of one unit")
    condition: Literal["new", "used", "damaged"] | None = Field(None, description="Condition of the units")


KINDS: dict[str, tuple[str, type[BaseModel]]] = {
    "payments": ("Payments and other money the user has paid to people or businesses", Payment),
    "workouts": ("Exercise sessions and sports done by the user, such as running, weight training or yoga", Workout),
    "books": ("Books the user has read or finished reading", Book),
    "symptoms": ("Health symptoms the user has felt, such as headaches, pain or nausea", Symptom),
    "inventory": ("Stock of items in the warehouse or store room, with quantities", Item),
}
NOW = dt.datetime(2026, 3, 4, 10, 0, tzinfo=dt.UTC)  # a Wednesday


def declare(records: Records) -> Records:
    """Declares all five."""
    for name, (description, model) in KINDS.items():
        records.add_schema(name, description, model)
    return records
