"""Many people at once in one event loop: an AsyncMemory each, on one database.

python examples/async_service.py
"""

import asyncio

import recall_sql

SAID = {"lina": "I'm vegetarian.", "bo": "I have a cat called Mochi.", "mia": "I live in Oslo."}


async def visit(con, user_id: str, words: str) -> str:
    async with recall_sql.AsyncMemory(con, user_id=user_id, workers=2) as memory:
        await memory.add("visit", "user", words)
        await memory.extract()
        return await memory.context("another visit", "what do you know about me?", max_recalled=0)


async def main() -> None:
    with recall_sql.connect("memory.duckdb") as con:
        contexts = await asyncio.gather(*(visit(con, user, words) for user, words in SAID.items()))
    for user, context in zip(SAID, contexts, strict=True):
        print(f"--- {user}\n{context}")


if __name__ == "__main__":
    asyncio.run(main())
