"""The curl lines of docs/http.md are requests that are answered as the page says."""

from __future__ import annotations

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

from recall_sql.access import ROLES

pytest.importorskip("fastapi", reason="the extra `http` isn't installed")

from starlette.testclient import TestClient

from recall_sql.integrations.http import create_app

PAGE = (Path(__file__).parents[2] / "docs" / "http.md").read_text("utf-8")


def requests() -> list[tuple[str, str, str | None]]:
    """Method, address and body of every curl line."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    found = []
    for words in (shlex.split(line)[1:] for line in lines if line.startswith("curl ")):
        options = dict(pairwise(words))
        address = next(word for word in words if word.startswith("localhost:8000/"))
        found.append((options.get("-X", "POST" if "-d" in options else "GET"), address, options.get("-d")))
    return found


def test_the_curl_lines_work(con: duckdb.DuckDBPyConnection) -> None:
    with TestClient(create_app(con), base_url="http://localhost:8000") as client:
        answers = [
            client.request(method, f"http://{address}", content=body, headers={"Content-Type": "application/json"})
            for method, address, body in requests()
        ]
    assert len(answers) == 7 and all(answer.is_success for answer in answers), [answer.text for answer in answers]
    learned = [event["event"] for event in answers[1].json()["learned"]]
    assert learned == ["superseded"]
    keys = [fact["fact_key"] for fact in answers[2].json()["facts"]]
    assert "pescatarian" in keys and "vegetarian" not in keys
    assert "pescatarian" in answers[3].json()["context"]
    assert "Answer briefly." in json.dumps(answers[6].json()["rows"])


def test_the_page_names_every_route_and_role(con: duckdb.DuckDBPyConnection) -> None:
    paths = create_app(con).openapi()["paths"]
    last_words = {re.sub(r"/\{[^}]*\}$", "", path).rpartition("/")[2] for path in paths}
    assert not [word for word in last_words if word not in PAGE]
    assert all(f"| {role} |" in PAGE for role in ROLES)
