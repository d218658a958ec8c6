"""PARSE_FACTS: whatever shape a model gives its list of facts, the same typed rows come out."""

from __future__ import annotations

import math

import duckdb
import pytest

from recall_sql.errors import InputError
from recall_sql.functions.parse_facts import parse

ONE = '{"category": "pet", "fact_key": "cat_mochi", "fact_value": "true", "confidence": 0.9}'
TWO = '{"category": "budget", "fact_key": "max_usd", "fact_value": 3000, "confidence": 0.9}'


def keys(payload: str) -> list[str | None]:
    return [entry["fact_key"] for entry in parse(payload)]


@pytest.mark.parametrize(
    "payload",
    [
        f"[{ONE}, {TWO}]",
        f'{{"facts": [{ONE}, {TWO}]}}',
        f"{ONE}\n{TWO}",
        f"Here they are [see note]:\n```json\n[{ONE}, {TWO}]\n```\nAnything else?",
        f"<think>maybe {{x}}</think>[{ONE}, {TWO}]",
        f"As [1] says: [{ONE}, {TWO}] and so on",
        f"[{ONE}, {TWO}",
        f"[{ONE}, {TWO},]",
        "category,fact_key,fact_value,confidence\npet,cat_mochi,true,0.9\nbudget,max_usd,3000,0.9",
        'Sure!\ncategory, key, value\npet, cat_mochi, "true"\nbudget, max_usd, 3000\n',
        "\ufeffcategory,fact_key,fact_value\r\npet,cat_mochi,true\r\nbudget,max_usd,3000\r\n",
        "```csv\ncategory,fact_key,fact_value\npet,cat_mochi,true\nbudget,max_usd,3000\n```",
    ],
)
def test_shapes(payload):
    assert keys(payload) == ["cat_mochi", "max_usd"]


@pytest.mark.parametrize("payload", ["", "  ", "[]", "none", '{"facts": []}', "```json\n[]\n```", "<think>hm", "null"])
def test_no_facts(payload):
    assert parse(payload) == []


@pytest.mark.parametrize("payload", ["I'm sorry.", "[1, 2]", '{"answer": 42}', '"facts"', "a,b,c\n1,2,3"])
def test_not_a_list_of_facts(payload):
    with pytest.raises(InputError, match="neither JSON nor CSV"):
        parse(payload)


def test_values_become_text_and_missing_ones_none():
    (entry,) = parse('[{"category": "likes", "fact_key": "food", "fact_value": ["sushi", "ramen"], "kind": null}]')
    assert entry["fact_value"] == "sushi, ramen" and entry["kind"] is None and entry["op"] == "assert"
    (entry,) = parse('[{"category": "pet", "fact_value": true}]')
    assert entry["fact_value"] == "true" and entry["fact_key"] is None


def test_commas_quotes_and_lines_within_csv_values():
    (entry,) = parse('category,fact_key,fact_value\nnote,motto,"a, ""b""\nand c"')
    assert entry["fact_value"] == 'a, "b"\nand c'


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("0.9", 0.9),
        ('"90%"', 0.9),
        ("90", 0.9),
        ('"high"', 0.9),
        ("null", None),
        ('""', None),
        ('"0,8"', 0.8),
        ("1", 1.0),
    ],
)
def test_confidence(given, read):
    assert parse(f'[{{"category": "a", "confidence": {given}}}]')[0]["confidence"] == read


@pytest.mark.parametrize("given", ["true", '"sure"', '"nan"', "1e999"])
def test_a_confidence_that_means_nothing_is_not_a_number(given):
    assert math.isnan(parse(f'[{{"category": "a", "confidence": {given}}}]')[0]["confidence"])


def test_nul_is_removed():
    (entry,) = parse('[{"category": "pet", "fact_key": "c\\u0000at", "fact_value": "Mo\x00chi"}]')
    assert (entry["fact_key"], entry["fact_value"]) == ("cat", "Mochi")


def test_in_sql(con):
    con.execute("create table answers as select * from (values (?), (null), ('[]')) x(payload)", [f"[{ONE}, {TWO}]"])
    assert con.execute("select parse_facts(payload) is null, len(parse_facts(payload)) from answers").fetchall() == [
        (False, 2),
        (True, None),
        (False, 0),
    ]
    rows = con.execute(
        "select fact.category, fact.fact_value from (select unnest(parse_facts(payload)) as fact from answers)"
    )
    assert rows.fetchall() == [("pet", "true"), ("budget", "3000")]
    assert con.execute("select len(parse_facts('[]'::json))").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("1", "PARSE_FACTS: payload must be VARCHAR, not"),
        ("'[]', 'x'", "PARSE_FACTS takes 1 argument, not 2: PARSE_FACTS(payload)"),
        ("'nothing'", "PARSE_FACTS: neither JSON nor CSV"),
    ],
)
def test_what_is_wrong_with_the_call(con, arguments, complaint):
    with pytest.raises(duckdb.InvalidInputException) as caught:
        con.execute(f"select parse_facts({arguments})").fetchall()
    assert complaint in str(caught.value)
