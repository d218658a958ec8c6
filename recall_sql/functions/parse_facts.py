"""PARSE_FACTS(payload): a model's raw answer, CSV or JSON, as typed rows.

Reads as far as is safe and judges nothing: an entry that lacks a field comes out with NULL there, so that the landing
step can say in history what was missing. What isn't a list of facts at all raises.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from recall_sql.calls.answers import unfenced, values, without_thinking
from recall_sql.errors import InputError
from recall_sql.functions import arguments, fact_rows
from recall_sql.functions.arguments import Column

if TYPE_CHECKING:
    from recall_sql.instance import Instance

FIELDS = ("category", "fact_key", "fact_value", "confidence", "kind", "op", "evidence", "replaces")
SYNONYMS = {"key": "fact_key", "value": "fact_value", "operation": "op"}
WORDS = {"very high": 0.95, "high": 0.9, "medium": 0.6, "moderate": 0.6, "low": 0.3, "very low": 0.1, "certain": 0.99}
UNREADABLE = math.nan  # a confidence that was given but means nothing; refused when landed


def parse(payload: str) -> list[dict[str, Any]]:
    """The facts in `payload` as dicts of FIELDS. InputError if there is no list of facts in it."""
    text = unfenced(without_thinking(payload))
    if not text or text.lower() in {"[]", "none", "no facts", "null"}:
        return []
    found = _from_json(text) if ("{" in text or "[" in text) else None
    if found is None:
        found = _from_csv(text)
    if found is None:
        raise InputError(
            f"PARSE_FACTS: neither JSON nor CSV with the columns category, fact_key, fact_value: {text[:120]!r}"
        )
    return [_entry(item) for item in found]


def _from_json(text: str) -> list[dict[str, Any]] | None:
    """The facts in the first JSON value that holds any, whatever prose stands around it; a broken one is mended."""
    single: list[dict[str, Any]] = []
    for value in values(text):
        found = _facts_in(value)
        if found is not None and not _is_one_fact(value):
            return [*single, *found]
        single += found or []
    return single or None


def _facts_in(value: Any) -> list[dict[str, Any]] | None:
    """The list of facts in a JSON value: the value itself, under 'facts', or one bare fact. None if there is none."""
    if isinstance(value, dict):
        if "facts" in value:
            value = value["facts"]
        elif _is_one_fact(value):
            value = [value]
        else:
            return None
    if not isinstance(value, list):
        return None
    entries = [item for item in value if isinstance(item, dict)]
    return entries if entries or not value else None


def _is_one_fact(value: Any) -> bool:
    """Models also write one object a line, without a list around them."""
    return isinstance(value, dict) and bool({"category", "fact_key", "fact_value", "key", "value"} & set(value))


def _from_csv(text: str) -> list[dict[str, Any]] | None:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        header = [SYNONYMS.get(name.strip().lower(), name.strip().lower()) for name in line.split(",")]
        if {"category", "fact_key", "fact_value"} <= set(header):
            rows = csv.DictReader(io.StringIO("\n".join(lines[number + 1 :])), fieldnames=header, skipinitialspace=True)
            return [row for row in rows if any(value for name, value in row.items() if name is not None)]
    return None


def _entry(item: dict[str, Any]) -> dict[str, Any]:
    named = {
        SYNONYMS.get(str(name).strip().lower(), str(name).strip().lower()): value
        for name, value in item.items()
        if name
    }
    entry: dict[str, Any] = {name: _text(named.get(name)) for name in FIELDS}
    entry["confidence"] = _confidence(named.get("confidence"))
    entry["op"] = {None: "assert", "replace": "assert", "confirm": "assert"}.get(
        entry["op"], (entry["op"] or "").lower()
    )
    return entry


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(_text(item) or "" for item in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value).replace("\x00", "").strip() or None


def _confidence(value: Any) -> float | None:
    """0.9, '0.9', '90%', 90 and 'high' are understood; None stays None; anything else is UNREADABLE."""
    if value is None or isinstance(value, bool) or (isinstance(value, str) and not value.strip()):
        return None if value is None or isinstance(value, str) else UNREADABLE
    text = str(value).strip().lower()
    if text in WORDS:
        return WORDS[text]
    percent = text.endswith("%")
    try:
        number = float(text.removesuffix("%").strip().replace(",", "."))
    except ValueError:
        return UNREADABLE
    if not math.isfinite(number):
        return UNREADABLE
    return number / 100 if percent or 1 < number <= 100 else number


def run(instance: Instance, columns: Sequence[Column]) -> pa.Array:
    """A list of facts per row; NULL for NULL."""
    (column,) = arguments.split("PARSE_FACTS", columns, most=1)
    payloads = arguments.texts("PARSE_FACTS", "payload", column)
    return fact_rows.as_array([None if payload is None else parse(payload) for payload in payloads])
