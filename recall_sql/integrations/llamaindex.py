"""LlamaIndex: the memory of an agent as a `BaseMemory`, or a block of LlamaIndex's own `Memory`.

    agent.run("Where shall we eat?", memory=RecallMemory.of(memory, "s1"))
    Memory.from_defaults(session_id="s1", memory_blocks=[RecallMemoryBlock(memory=memory, session_id="s1")])

The first stores every message as it comes; the second what LlamaIndex's short-term memory lets go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory, BaseMemoryBlock
from pydantic import PrivateAttr

from recall_sql.memory import Memory

_ROLES = {
    MessageRole.USER: "user", MessageRole.ASSISTANT: "assistant", MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant", MessageRole.SYSTEM: "system", MessageRole.DEVELOPER: "system",
    MessageRole.TOOL: "tool", MessageRole.FUNCTION: "tool",
}  # fmt: skip
_SPOKEN = ("user", "assistant", "system")


class RecallMemory(BaseMemory):
    """One conversation: messages are stored as turns, and an agent gets what is known with the last of them.

    Text is kept. What tools return is stored as turns of the role tool and not given back as messages.
    """

    session_id: str
    max_tokens: int = 1000
    max_turns: int = 10
    _memory: Memory = PrivateAttr()

    @classmethod
    def class_name(cls) -> str:
        """Its name for LlamaIndex."""
        return "RecallMemory"

    @classmethod
    def of(cls, memory: Memory, session_id: str, **options: Any) -> RecallMemory:
        """The memory of a conversation. options: max_tokens of the context, max_turns to give word for word."""
        made = cls(session_id=session_id, **options)
        made._memory = memory
        return made

    @classmethod
    def from_defaults(cls, memory: Memory | None = None, session_id: str = "default", **options: Any) -> RecallMemory:
        """The same, as LlamaIndex calls it; memory must be given."""
        if memory is None:
            raise ValueError("RecallMemory.from_defaults needs memory=recall_sql.Memory(con, user_id=…)")
        return cls.of(memory, session_id, **options)

    def get(self, input: str | None = None, **_more: Any) -> list[ChatMessage]:
        """What is known that matters to `input`, as a system message, then the last turns."""
        found = self._memory.context(self.session_id, input, max_tokens=self.max_tokens, max_turns=self.max_turns)
        return _messages(found.messages)

    def get_all(self) -> list[ChatMessage]:
        """The whole conversation."""
        return _messages(self._memory.messages(self.session_id))

    def put(self, message: ChatMessage) -> None:
        """Stores a message; one without text isn't stored."""
        self.put_messages([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Stores messages, all or none."""
        self._memory.add_turns(_turns(messages, self.session_id))

    def set(self, messages: list[ChatMessage]) -> None:
        """Replaces the conversation. What was learned from the old one alone is forgotten."""
        self.reset()
        self.put_messages(messages)

    def reset(self) -> None:
        """Erases the conversation, and what was learned from it alone."""
        self._memory.remove_thread(self.session_id)


class RecallMemoryBlock(BaseMemoryBlock[str]):
    """What is known that matters to the user's last message. Messages that short-term memory lets go become turns."""

    name: str = "recall"
    description: str | None = "What is known about the user from all conversations."
    memory: Memory
    session_id: str = "default"
    max_tokens: int = 1000

    async def _aget(self, messages: list[ChatMessage] | None = None, **_more: Any) -> str:
        asked = [message.content for message in messages or [] if message.role == MessageRole.USER and message.content]
        query = asked[-1] if asked else None
        return str(
            await asyncio.to_thread(
                self.memory.context, self.session_id, query, max_tokens=self.max_tokens, max_turns=0
            )
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await asyncio.to_thread(self.memory.add_turns, _turns(messages, self.session_id))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """As many whole lines as there is room for, the most important first."""
        room = len(content.encode()) - 4 * tokens_to_truncate
        kept: list[str] = []
        for line in content.splitlines():
            room -= len(line.encode()) + 1
            if room < 0:
                break
            kept.append(line)
        return "\n".join(kept) or None


def _turns(messages: Sequence[ChatMessage], session_id: str) -> list[dict[str, Any]]:
    return [
        {"session_id": session_id, "role": _ROLES[message.role], "content": message.content}
        for message in messages
        if message.content and message.content.strip()
    ]


def _messages(rows: Sequence[dict[str, Any]]) -> list[ChatMessage]:
    return [ChatMessage(role=row["role"], content=row["content"]) for row in rows if row["role"] in _SPOKEN]
