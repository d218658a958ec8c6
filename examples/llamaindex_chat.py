"""A LlamaIndex chat engine with a memory that outlives it.

python examples/llamaindex_chat.py
"""

from collections.abc import Callable
from typing import Any

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback

import recall_sql
from recall_sql.integrations.llamaindex import RecallMemory

SAID = ["Hello! I'm vegetarian, and I live in Oslo.", "What could I cook tonight?"]


class Generate(CustomLLM):
    """GENERATE as a LlamaIndex LLM; any other LLM of LlamaIndex's does as well."""

    generate: Callable[[str], str]

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=2048, num_output=60)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **options: Any) -> CompletionResponse:
        return CompletionResponse(text=self.generate(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **options: Any) -> Any:
        yield self.complete(prompt)


def main() -> None:
    with recall_sql.connect("memory.duckdb") as con:

        def generate(prompt: str) -> str:
            return con.execute("select generate($1, {max_tokens: 60})", [prompt]).fetchall()[0][0]

        memory = recall_sql.Memory(con, user_id="me")
        chat = RecallMemory.of(memory, "kitchen")
        engine = SimpleChatEngine.from_defaults(llm=Generate(generate=generate), memory=chat)
        for question in SAID:
            print(f"> {question}\n{engine.chat(question)}")
            memory.extract()
        print(memory.context("another day"))


if __name__ == "__main__":
    main()
