"""Writes tools.json, what every client is told: `python -m tests.integrations.mcp.tool_list`."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import recall_sql
from recall_sql.integrations.mcp import mcp_server
from tests.integrations.mcp.talking import Talk

FILE = Path(__file__).with_name("tools.json")


def current() -> str:
    """Tools, resources and prompts as the SDK's client sees them."""
    with closing(recall_sql.connect()) as con, Talk(mcp_server(con, role="admin")) as talk:
        told = {
            "instructions": talk.client.instructions,
            "tools": _dumped(talk.do("list_tools").tools),
            "resources": _dumped(talk.do("list_resources").resources),
            "resource_templates": _dumped(talk.do("list_resource_templates").resource_templates),
            "prompts": _dumped(talk.do("list_prompts").prompts),
        }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _dumped(items: list) -> list:
    return [item.model_dump(mode="json", by_alias=True, exclude_none=True) for item in items]


if __name__ == "__main__":
    FILE.write_text(current(), encoding="utf-8")
