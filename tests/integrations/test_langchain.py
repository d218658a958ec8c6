"""The LangChain adapter, against the installed langchain-core."""

from __future__ import annotations

import asyncio

import duckdb
import pytest

pytest.importorskip("langchain_core", reason="the extra `langchain` isn't installed")

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

from recall_sql import InputError, Memory
from recall_sql.integrations.langchain import RecallChatMessageHistory


@pytest.fixture
def memory(con: duckdb.DuckDBPyConnection) -> Memory:
    return Memory(con, user_id="lina")


def test_messages_come_back_in_order_and_facts_are_read_out_of_them(memory: Memory) -> None:
    history = RecallChatMessageHistory(memory, "s1")
    assert isinstance(history, BaseChatMessageHistory) and history.messages == []
    said = [SystemMessage("Be kind."), HumanMessage("I have a cat called Mochi.", id="h1"), AIMessage("Nice!")]
    history.add_messages(said)
    history.add_user_message("And a dog.")
    assert history.messages == [*said, HumanMessage("And a dog.")]
    assert [turn["role"] for turn in memory.messages("s1")] == ["system", "user", "assistant", "user"]
    memory.extract()
    assert "cat mochi" in memory.context("s2", "pets?").lower()
    assert RecallChatMessageHistory(memory, "s2").messages == []


def test_a_message_with_an_id_is_stored_once(memory: Memory) -> None:
    history = RecallChatMessageHistory(memory, "s1")
    for _ in range(2):
        history.add_messages([HumanMessage("hello", id="h1"), AIMessage("hi", id="a1")])
    assert [message.id for message in history.messages] == ["h1", "a1"]


def test_tools_and_blocks_of_content(memory: Memory) -> None:
    call = {"name": "weather", "args": {"city": "Oslo"}, "id": "c1"}
    history = RecallChatMessageHistory(memory, "s1")
    blocks = [{"type": "text", "text": "What's this?"}, {"type": "image_url", "image_url": {"url": "data:image/png,x"}}]
    history.add_messages(
        [
            HumanMessage(blocks),
            AIMessage("", tool_calls=[call]),
            ToolMessage("rain", tool_call_id="c1"),
            AIMessage("Rain."),
        ]
    )
    assert [message.content for message in history.messages] == ["What's this?", "Rain."]
    assert [turn["role"] for turn in memory.messages("s1")] == ["user", "tool", "assistant"]


def test_a_kind_of_message_that_isnt_known_stores_none_of_them(memory: Memory) -> None:
    history = RecallChatMessageHistory(memory, "s1")
    with pytest.raises(InputError, match="no role"):
        history.add_messages([HumanMessage("hello"), ChatMessage("beep", role="robot")])
    assert history.messages == []


def test_clear_takes_what_was_learned(memory: Memory) -> None:
    history = RecallChatMessageHistory(memory, "s1")
    history.add_user_message("I have a cat called Mochi.")
    memory.extract()
    history.clear()
    history.clear()
    assert history.messages == memory.facts() == []


def test_asynchronously_and_in_a_chain(memory: Memory) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("Try the harbour.")]))
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{known}"), MessagesPlaceholder("history"), ("human", "{question}")]
    )
    memory.remember("true", category="dietary", fact_key="vegetarian")

    async def work() -> None:
        history = RecallChatMessageHistory(memory, "s1")
        question = "Where shall we eat?"
        given = {
            "known": memory.context("s1", question),
            "history": await history.aget_messages(),
            "question": question,
        }
        assert "vegetarian" in prompt.invoke(given).to_messages()[0].content
        answer = await (prompt | model).ainvoke(given)
        await history.aadd_messages([HumanMessage(question), answer])
        assert [message.content for message in await history.aget_messages()] == [question, "Try the harbour."]
        await history.aclear()
        assert await history.aget_messages() == []

    asyncio.run(work())
