"""The OpenAI SDK answers; the memory says what it should know, and remembers what was said.

OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_API_KEY=none MODEL=qwen3 python examples/openai_sdk.py
"""

import os

from openai import OpenAI

import recall_sql

SAID = ["Hello! I'm vegetarian, and I live in Oslo.", "What could I cook tonight?"]


def answer(client: OpenAI, memory: recall_sql.Memory, session_id: str, question: str) -> str:
    known = memory.context(session_id, question)
    completion = client.chat.completions.create(
        model=os.environ.get("MODEL", "gpt-4o-mini"),
        messages=[*known.messages, {"role": "user", "content": question}],
        max_tokens=60,
    )
    said = completion.choices[0].message.content or "(nothing)"
    memory.add_turns(
        {"session_id": session_id, "role": role, "content": content}
        for role, content in (("user", question), ("assistant", said))
    )
    memory.extract()
    return said


def main() -> None:
    with recall_sql.connect("memory.duckdb") as con:
        memory = recall_sql.Memory(con, user_id="me")
        for question in SAID:
            print(f"> {question}\n{answer(OpenAI(), memory, 'kitchen', question)}")
        print(memory.context("another day"))


if __name__ == "__main__":
    main()
