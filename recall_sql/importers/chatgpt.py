"""A ChatGPT export, `conversations.json`: a list of conversations, each a tree of messages.

The tree grows a branch whenever a message is edited or an answer made again; what is imported is the branch that was
shown last, from `current_node` up to the root. Conversations become threads with their title.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from recall_sql.errors import InputError
from recall_sql.importers.fields import Row, Skipped, scalar
from recall_sql.importers.openai_chat import read_json
from recall_sql.importers.tabular import literal_path

_LARGEST = 2**31 - 1  # bytes of one conversation
_SHOWN = ("text", "multimodal_text", "code", "execution_output")


def rows(file: Path, skipped: Skipped) -> Iterator[Row]:
    """One row per message that was shown and holds words; the rest is counted."""
    for number, conversation in enumerate(_conversations(file), start=1):
        where = f"{file.name}, conversation {number}"
        if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
            raise InputError(f"{where}: it has no 'mapping'; this isn't a ChatGPT export")
        session = conversation.get("conversation_id") or conversation.get("id") or f"{file.stem}-{number}"
        title = conversation.get("title")
        for node in _shown_branch(conversation, where):
            row = _row(node, number, session, title, where, skipped)
            if row is not None:
                yield row


def _conversations(file: Path) -> Iterator[Any]:
    """Conversation by conversation, by DuckDB's reader on a connection of its own: exports reach gigabytes."""
    with duckdb.connect() as con:
        source = "read_json_objects(?, format := 'array', maximum_object_size := ?)"
        try:
            found = con.execute(f"select json from {source}", [literal_path(file), _LARGEST])
            while row := found.fetchone():
                yield json.loads(row[0])
        except (duckdb.Error, json.JSONDecodeError) as error:
            read_json(file)  # says which line is at fault; slow, and only after an error
            raise InputError(f"{file.name} can't be read: {' '.join(str(error).split())}") from error


def _shown_branch(conversation: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """The nodes from the root to the current one."""
    nodes = conversation["mapping"]
    name = conversation.get("current_node") or _latest(nodes)
    branch: list[dict[str, Any]] = []
    seen: set[str] = set()
    while name is not None:
        if name not in nodes:
            raise InputError(f"{where}: the message {name!r} is named but isn't there")
        if name in seen:
            raise InputError(f"{where}: its messages form a circle at {name!r}")
        seen.add(name)
        branch.append(nodes[name])
        name = nodes[name].get("parent")
    return branch[::-1]


def _latest(nodes: dict[str, Any]) -> str | None:
    """The last message without a reply; older exports don't say which one was shown."""
    leaves = [name for name, node in nodes.items() if not node.get("children")]
    return max(leaves, key=lambda name: (nodes[name].get("message") or {}).get("create_time") or 0, default=None)


def _row(node: dict[str, Any], number: int, session: object, title: object, where: str, skipped: Skipped) -> Row | None:
    message = node.get("message")
    if not message:
        return None  # the root
    where = f"{where}, message {message.get('id')}"
    content, metadata = message.get("content") or {}, message.get("metadata") or {}
    if metadata.get("is_visually_hidden_from_conversation") or content.get("content_type") not in _SHOWN:
        skipped["messages ChatGPT doesn't show"] += 1
        return None
    if message.get("recipient", "all") != "all":
        skipped["tool calls without words"] += 1
        return None
    text = _text(content)
    if not text.strip():
        skipped["messages without words"] += 1
        return None
    return Row(
        number,
        role=scalar((message.get("author") or {}).get("role"), "role", where),
        content=text,
        created_at=scalar(message.get("create_time"), "create_time", where),
        session_id=scalar(session, "conversation_id", where),
        id=scalar(message.get("id"), "id", where),
        title=scalar(title, "title", where),
    )


def _text(content: dict[str, Any]) -> str:
    """What was written: the parts that are text, or the text of code and its output."""
    parts = content.get("parts")
    if isinstance(parts, list):
        texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
        return "\n".join(text for text in texts if isinstance(text, str))
    text = content.get("text")
    return text if isinstance(text, str) else ""
