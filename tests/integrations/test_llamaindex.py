"""The LlamaIndex adapters, against the installed llama-index-core."""

from __future__ import annotations

import asyncio

import duckdb
import pytest

pytest.importorskip("llama_index.core", reason="the extra `llamaindex` isn't installed")

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import BaseMemory
from llama_index.core.memory import Memory as LlamaMemory

from recall_sql import Memory
from recall_sql.integrations.llamaindex import RecallMemory, RecallMemoryBlock


@pytest.fixture
def memory(con: duckdb.DuckDBPyConnection) -> Memory:
    memory = Memory(con, user_id="lina")
    memory.remember("true", category="dietary", fact_key="vegetarian")
    return memory


def said(role: str, content: str) -> ChatMessage:
    return ChatMessage(role=role, content=content)


def test_what_is_put_is_a_conversation_and_what_is_got_a_context(memory: Memory) -> None:
    chat = RecallMemory.from_defaults(memory=memory, session_id="s1", max_turns=2)
    assert isinstance(chat, BaseMemory) and chat.get_all() == []
    chat.put(said("user", "I have a cat called Mochi."))
    chat.put_messages([said("assistant", "Nice!"), said("tool", "42"), said("assistant", " ")])
    assert [message.content for message in chat.get_all()] == ["I have a cat called Mochi.", "Nice!"]
    known, last = chat.get("where shall we eat?")
    assert known.role == "system" and "vegetarian" in known.content
    assert (last.role, last.content) == ("assistant", "Nice!")
    memory.extract()
    assert "cat" in chat.get("what is my cat called?")[0].content
    chat.set([said("user", "Anew.")])
    assert [message.content for message in chat.get_all()] == ["Anew."]
    assert [fact["category"] for fact in memory.facts()] == ["dietary"]
    chat.reset()
    assert chat.get_all() == []
    with pytest.raises(ValueError, match="needs memory"):
        RecallMemory.from_defaults()


def test_only_the_text_of_a_message_is_kept(memory: Memory) -> None:
    chat = RecallMemory.of(memory, "s1")
    chat.put(ChatMessage(role="user", blocks=[TextBlock(text="What's this?"), ImageBlock(url="http://x/y.png")]))
    assert [message.content for message in chat.get_all()] == ["What's this?"]


def test_llamaindexs_own_chat_engine_uses_it(memory: Memory) -> None:
    chat = RecallMemory.of(memory, "s1")
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=chat)
    answer = engine.chat("Where shall we eat?")
    assert "dietary: vegetarian" in str(answer)  # a MockLLM says back what it reads
    assert [message.role for message in chat.get_all()] == ["user", "assistant"]
    asyncio.run(engine.achat("And then?"))
    assert len(memory.messages("s1")) == 4


def test_a_block_gives_the_context_and_keeps_what_short_term_memory_lets_go(memory: Memory) -> None:
    block = RecallMemoryBlock(memory=memory, session_id="s1", priority=1)

    async def work() -> None:
        chat = LlamaMemory.from_defaults(
            session_id="s1", token_limit=200, chat_history_token_ratio=0.2, token_flush_size=20, memory_blocks=[block]
        )
        for nth in range(8):
            await chat.aput(said("user", f"I have a cat called Mochi, and this is sentence number {nth} about it."))
            await chat.aput(said("assistant", "Noted."))
        (first, *_) = await chat.aget()
        assert "dietary: vegetarian" in first.content

    asyncio.run(work())
    assert memory.messages("s1")[0]["content"].startswith("I have a cat called Mochi")
    memory.extract()
    assert {fact["category"] for fact in memory.facts()} == {"dietary", "pet"}


def test_a_block_is_cut_by_lines(memory: Memory) -> None:
    block = RecallMemoryBlock(memory=memory)
    text = "Standing instructions:\n- Answer in French\n- Be kind"
    assert asyncio.run(block.atruncate(text, 4)) == "Standing instructions:"
    assert asyncio.run(block.atruncate(text, 1000)) is None
