"""What clients are told is a contract: a change of it is a decision."""

from __future__ import annotations

import json

from tests.integrations.mcp.tool_list import FILE, current


def test_tools_resources_and_prompts_are_as_they_were() -> None:
    assert FILE.read_text("utf-8") == current(), "if that is meant: python -m tests.integrations.mcp.tool_list"


def test_everything_is_described() -> None:
    told = json.loads(FILE.read_text("utf-8"))
    for tool in told["tools"]:
        assert len(tool["description"]) > 60 and tool["title"], tool["name"]
        assert tool["inputSchema"]["additionalProperties"] is False, tool["name"]
        for name, argument in tool["inputSchema"]["properties"].items():
            assert argument.get("description"), f"{tool['name']}.{name}"
            assert name not in ("agent_id", "user_id"), tool["name"]
    for resource in (*told["resources"], *told["resource_templates"], *told["prompts"]):
        assert resource["description"], resource["name"]
