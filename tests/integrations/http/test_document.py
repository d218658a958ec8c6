"""The OpenAPI document: what it says is so, whatever is sent, and a change of it is a decision."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

import recall_sql
from recall_sql.access import add_key
from recall_sql.integrations.http import create_app
from tests.integrations.http.running import serving

SNAPSHOT = Path(__file__).with_name("openapi.json")


def document() -> dict:
    con = recall_sql.connect()
    try:
        return create_app(con).openapi()
    finally:
        con.close()


def test_the_document_is_as_it_was() -> None:
    current = json.loads(json.dumps(document()))
    assert current == json.loads(SNAPSHOT.read_text("utf-8")), (
        "decide, then: python -m tests.integrations.http.test_document"
    )


def of_agent_a1() -> dict:
    """The document as the holder of a key sees it."""
    made = json.loads(json.dumps(document()))
    for operations in made["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "agent_id":
                    parameter["schema"] = {"type": "string", "enum": ["a1"]}
    return made


# Its coverage phase thinks half a minute before it begins. By hand: RECALL_TEST_COVERAGE=1 python -m pytest …
config = schemathesis.Config.from_dict({"phases": {"coverage": {"enabled": "RECALL_TEST_COVERAGE" in os.environ}}})
schema = schemathesis.openapi.from_dict(of_agent_a1(), config=config)


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, Any]]:
    """Where it is, and an admin's key."""
    con: duckdb.DuckDBPyConnection = recall_sql.connect()
    secret, _ = add_key(con, agent_id="a1", role="admin")
    with serving(create_app(con, rate=0)) as address:
        yield {"base_url": address, "headers": {"Authorization": f"Bearer {secret}"}}
    con.close()


@schema.parametrize()
@settings(
    max_examples=6,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_nothing_that_is_sent_is_answered_otherwise_than_documented(
    case: schemathesis.Case, server: dict[str, Any]
) -> None:
    case.call_and_validate(**server, excluded_checks=[positive_data_acceptance, negative_data_rejection])


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(document(), indent=2, ensure_ascii=False) + "\n", "utf-8")
