"""LangChain: a conversation as a `BaseChatMessageHistory`.

    history = RecallChatMessageHistory(memory, "s1")
    history.add_messages([HumanMessage("I'm vegetarian"), AIMessage("Noted.")])

What is known about the person isn't messages: put `memory.context(session_id, question)` into the system prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from recall_sql.memory import Memory

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_CLASSES: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}


class RecallChatMessageHistory(BaseChatMessageHistory):
    """The messages of one conversation, stored as turns, so that facts are read out of them by `memory.extract()`.

    Text is kept, and a message's id, by which it is stored only once. What tools return is kept as turns of the role
    tool; `messages` leaves them out, as it does requests to tools, since a model takes neither without the other.
    """

    def __init__(self, memory: Memory, session_id: str) -> None:
        self._memory, self.session_id = memory, session_id

    @property
    def messages(self) -> list[BaseMessage]:
        """What the user, the assistant and the system said, in order."""
        turns = self._memory.messages(self.session_id)
        return [
            _CLASSES[turn["role"]](turn["content"], id=turn["source_key"]) for turn in turns if turn["role"] in _CLASSES
        ]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Stores messages, all or none. Those without text aren't stored. InputError for a kind that isn't known."""
        self._memory.add_turns(turn for message in messages if (turn := self._turn(message))["content"].strip())

    def _turn(self, message: BaseMessage) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "role": _ROLES.get(message.type, message.type),
            "content": str(message.text),
            "source_key": message.id,
        }

    def clear(self) -> None:
        """Erases the conversation, and what was learned from it alone."""
        self._memory.remove_thread(self.session_id)
