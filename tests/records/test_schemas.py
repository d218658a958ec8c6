"""Schemas: from pydantic and JSON Schema to DuckDB types, and what a changed schema may change."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import duckdb
import pytest
from pydantic import BaseModel, Field, field_validator

import recall_sql
from recall_sql.errors import InputError
from recall_sql.records import Records
from tests.records.schemas import NOW, declare


class Address(BaseModel):
    street: str
    city: str


class Everything(BaseModel):
    name: str
    price: Decimal = Field(description="Price in euros")
    ratio: Decimal | None = None
    count: int | None = Field(None, ge=0, le=10)
    weight: float | None = None
    done: bool | None = None
    day: dt.date | None = None
    moment: dt.datetime | None = None
    clock: dt.time | None = None
    size: Literal["small", "large"] | None = None
    tags: list[str] = []
    grid: list[list[int]] | None = None
    address: Address | None = None


@pytest.fixture
def records(con: duckdb.DuckDBPyConnection) -> Records:
    return Records(con)


def types(con: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    return dict(
        con.execute("select column_name, data_type from duckdb_columns() where table_name = ?", [table]).fetchall()
    )


def test_types_of_a_pydantic_class(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    records.add_schema("things", "All kinds of things", Everything)
    assert types(con, "things") == {
        "id": "UUID",
        "user_id": "VARCHAR",
        "name": "VARCHAR",
        "price": "DECIMAL(18,2)",
        "ratio": "DECIMAL(18,4)",
        "count": "BIGINT",
        "weight": "DOUBLE",
        "done": "BOOLEAN",
        "day": "DATE",
        "moment": "TIMESTAMP WITH TIME ZONE",
        "clock": "TIME",
        "size": "ENUM('small', 'large')",
        "tags": "VARCHAR[]",
        "grid": "BIGINT[][]",
        "address": "STRUCT(street VARCHAR, city VARCHAR)",
        "created_at": "TIMESTAMP WITH TIME ZONE",
        "updated_at": "TIMESTAMP WITH TIME ZONE",
    }


def test_every_type_comes_back_as_it_was(records: Records) -> None:
    records.add_schema("things", "All kinds of things", Everything)
    given: dict[str, Any] = {
        "name": "O'Brien; drop table things; --",
        "price": Decimal("1234567890123456.78"),
        "ratio": Decimal("0.1250"),
        "count": 3,
        "weight": 1.5,
        "done": True,
        "day": dt.date(2026, 2, 28),
        "moment": dt.datetime(2026, 2, 28, 23, 30, tzinfo=dt.UTC),
        "clock": dt.time(7, 5),
        "size": "large",
        "tags": ["a", "b, c", "ä"],
        "grid": [[1, 2], [3]],
        "address": {"street": "Main St", "city": "Köln"},
    }
    row = records.insert("things", given, "ana", now=NOW)
    assert {name: row[name] for name in given} == given
    assert records.get("things", row["id"], "ana") == row


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"price": 1}, "required field 'name' is missing"),
        ({"name": "", "price": 1}, "field 'name'"),
        ({"name": "x", "price": "abc"}, "field 'price'"),
        ({"name": "x", "price": 1, "count": 11}, "less than or equal to 10"),
        ({"name": "x", "price": 1, "size": "medium"}, "field 'size'"),
        ({"name": "x", "price": 1, "day": "2026-02-30"}, "field 'day'"),
        ({"name": "x", "price": 1, "colour": "red"}, "no field 'colour'"),
        ({"name": "x", "price": float("nan")}, "field 'price'"),
    ],
)
def test_invalid_data_is_refused_and_named(records: Records, data: dict[str, Any], reason: str) -> None:
    records.add_schema("things", "All kinds of things", Everything)
    with pytest.raises(InputError, match=reason):
        records.insert("things", data, "ana")
    assert records.list("things", "ana") == []


def test_validators_of_the_class_count(records: Records) -> None:
    class Even(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def _even(cls, value: int) -> int:
            if value % 2:
                raise ValueError("must be even")
            return value

    records.add_schema("evens", "Even numbers", Even)
    records.insert("evens", {"number": 2}, "ana")
    with pytest.raises(InputError, match="must be even"):
        records.insert("evens", {"number": 3}, "ana")


DEFINITION = {
    "name": "trips",
    "description": "Trips the user took",
    "schema": {"properties": {"city": {"type": "string"}, "nights": {"type": "integer"}}, "required": ["city"]},
}


def test_from_a_file_and_from_sql(records: Records, con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    file = tmp_path / "trips.json"
    file.write_text(json.dumps(DEFINITION))
    assert records.add_schema(str(file)).name == "trips"
    said = con.execute("select recall_add_schema(?)", [json.dumps({**DEFINITION, "name": "voyages"})]).fetchall()
    assert said == [("voyages created",)]
    assert [schema.name for schema in records.schemas()] == ["trips", "voyages"]


def with_fields(**fields: Any) -> dict[str, Any]:
    return {**DEFINITION["schema"], "properties": {**DEFINITION["schema"]["properties"], **fields}}


def test_an_optional_field_migrates(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    records.add_schema("trips", "Trips", DEFINITION["schema"])
    records.insert("trips", {"city": "Rome"}, "ana")
    records.add_schema("trips", "Trips", with_fields(hotel={"type": "string"}))
    assert types(con, "trips")["hotel"] == "VARCHAR"
    assert records.list("trips", "ana")[0]["hotel"] is None
    assert con.execute("select version from recall_schemas").fetchone() == (2,)
    records.add_schema("trips", "Trips", with_fields(hotel={"type": "string"}))
    assert con.execute("select version from recall_schemas").fetchone() == (2,)


def test_a_wider_choice_migrates(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    records.add_schema("trips", "Trips", with_fields(by={"enum": ["car", "train"]}))
    records.insert("trips", {"city": "Rome", "by": "car"}, "ana")
    records.add_schema("trips", "Trips", with_fields(by={"enum": ["car", "train", "plane"]}))
    records.insert("trips", {"city": "Oslo", "by": "plane"}, "ana")
    with pytest.raises(InputError, match="try_cast"):
        records.add_schema("trips", "Trips", with_fields(by={"enum": ["car"]}))


@pytest.mark.parametrize(
    ("schema", "plan"),
    [
        (with_fields(nights={"type": "string"}), "field 'nights' would become VARCHAR and is BIGINT"),
        ({"properties": {"city": {"type": "string"}}}, 'drop column "nights"'),
        ({**with_fields(hotel={"type": "string"}), "required": ["city", "hotel"]}, "new and required"),
        ({**with_fields(), "required": ["city", "nights"]}, "would become required"),
    ],
)
def test_an_incompatible_change_is_refused_with_a_plan(
    records: Records, con: duckdb.DuckDBPyConnection, schema: dict[str, Any], plan: str
) -> None:
    records.add_schema("trips", "Trips", DEFINITION["schema"])
    before = types(con, "trips")
    with pytest.raises(InputError, match=plan):
        records.add_schema("trips", "Trips", schema)
    assert types(con, "trips") == before


@pytest.mark.parametrize(
    ("name", "schema", "reason"),
    [
        ("bad name", DEFINITION["schema"], "can't be the name"),
        ("chat_facts", DEFINITION["schema"], "already"),
        ("x", {"properties": {"user_id": {"type": "string"}}}, "every record has a column 'user_id'"),
        ("x", {"properties": {"a": {"type": "string"}, "A": {"type": "string"}}}, "more than case"),
        ("x", {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}, "one of several types"),
        ("x", {"properties": {}}, "no properties"),
        ("x", {"properties": {"a": {"type": "string"}}, "required": ["b"]}, "requires 'b'"),
    ],
)
def test_what_can_not_be_a_table(records: Records, name: str, schema: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        records.add_schema(name, "Something", schema)


def test_columns_and_table_are_commented(records: Records, con: duckdb.DuckDBPyConnection) -> None:
    declare(records)
    without = con.execute(
        "select table_name, column_name from duckdb_columns()"
        " where comment is null and table_name in (select name from recall_schemas)"
    ).fetchall()
    assert without == []


def test_schemas_are_there_after_reopening(tmp_path: Path) -> None:
    with recall_sql.connect(tmp_path / "m.duckdb") as con:
        declare(Records(con)).insert("payments", {"recipient": "Ana", "amount": 1}, "u")
    with recall_sql.connect(tmp_path / "m.duckdb") as con:
        assert Records(con).process("paid Ben $2", "u", now=NOW)["action"] == "insert"
        assert len(Records(con).list("payments", "u")) == 2
