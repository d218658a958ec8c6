"""Random arguments: each call gives an answer or an error in words. No crash, no traceback, and nobody's harm."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recall_sql
from recall_sql import Memory
from recall_sql.integrations.mcp import mcp_server
from tests.integrations.mcp.conftest import PAYMENTS
from tests.integrations.mcp.talking import Talk, text
from tests.integrations.mcp.tool_list import FILE

TOOLS = {tool["name"]: tool["inputSchema"] for tool in json.loads(FILE.read_text("utf-8"))["tools"]}
BOUNDED = settings(
    max_examples=8, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)

WORDS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["", " ", "\x00", "'; drop table chat_facts --", "{{ 7*7 }}", "%s$1", "ل‮x", "a" * 2000, "-1", "null"]
    ),
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=5,
)


SQL = """
    select insert into update delete from set where chat_facts chat_turns ( ) , * ' " ; -- values true 1 'x' category
    fact_key fact_value with as join union all returning null :: :=
"""


def of_schema(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a property of a tool's input schema allows, for what these schemas use of JSON Schema."""
    if "anyOf" in schema:
        return st.one_of(*map(of_schema, schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("format") == "date-time":
        return st.datetimes(timezones=st.none() | st.timezones()).map(lambda moment: moment.isoformat())
    low, high = schema.get("minimum"), schema.get("maximum")
    return {
        "string": WORDS,
        "integer": st.integers(low, high),
        "number": st.floats(low, high),
        "boolean": st.booleans(),
        "null": st.none(),
    }[schema["type"]]


@pytest.fixture(scope="module")
def talk() -> Iterator[Talk]:
    con = recall_sql.connect()
    Memory(con).add_schema("payments", "Payments the user made", PAYMENTS)
    Memory(con, user_id="bo").remember("Mochi", category="pet", fact_key="cat")
    with Talk(mcp_server(con, user_id="lina", role="admin")) as talk:
        yield talk
    kept = con.execute("select fact_value from chat_facts where user_id = 'bo'").fetchall()
    con.close()
    assert kept == [("Mochi",)]


def check(talk: Talk, tool: str, arguments: dict[str, Any]) -> None:
    result = talk.ask(tool, arguments)
    told = text(result)
    assert "Traceback" not in told and 'File "' not in told, told
    assert told != f"Error executing tool {tool}", "it crashed"  # what the SDK says where nobody foresaw the error
    assert told.strip() and (result.is_error or result.structured_content is None or json.loads(told) is not None)


@pytest.mark.parametrize("tool", TOOLS)
def test_arguments_of_the_right_types(tool: str, talk: Talk) -> None:
    check_many(talk, tool, of_schema)


@pytest.mark.parametrize("tool", TOOLS)
def test_arguments_of_any_type(tool: str, talk: Talk) -> None:
    check_many(talk, tool, lambda schema: st.one_of(of_schema(schema), ANYTHING), user_id=ANYTHING)


def check_many(talk: Talk, tool: str, strategy: Callable[..., st.SearchStrategy[Any]], **more: Any) -> None:
    schema = TOOLS[tool]
    arguments = {name: strategy(argument) for name, argument in schema["properties"].items()}
    required = {name: arguments.pop(name) for name in schema.get("required", [])}

    @BOUNDED
    @given(st.fixed_dictionaries(required, optional={**arguments, **more}))
    def work(arguments: dict[str, Any]) -> None:
        check(talk, tool, arguments)

    work()


@settings(BOUNDED, max_examples=40)
@given(words=st.lists(st.sampled_from(SQL.split()), max_size=14), tool=st.sampled_from(["query", "execute"]))
def test_words_of_sql_in_any_order(words: list[str], tool: str, talk: Talk) -> None:
    check(talk, tool, {"sql": " ".join(words)})
