"""A scripted model for bench_mem0: `python -m tests.bench.memory_server SECONDS TURNS.jsonl`.

Answers chat completions in so many seconds, any number at once, with what the rules extractor finds in the user's
words: in recall_sql's form for its prompts (also packed ones), in mem0's form for those of mem0. A GET says what it
counted. Prints its port. Tokens are bytes / 4 for both.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from recall_sql.models.rules import RulesExtractor

counted: Counter[str] = Counter()
_PACKED = re.compile(r'<input id="(\w+)">\n(.*?)\n</input>', re.DOTALL)
_NEW_OF_MEM0 = re.compile(r"## New Messages\n(.*?)\n\n## Observation Date", re.DOTALL)
_OURS = "The user's message:\n"


def facts_of(texts: list[str]) -> dict[str, list[dict[str, Any]]]:
    """What every text says; found out before the first request."""
    rules = RulesExtractor()
    return {text: [fact.model_dump() for fact in rules.extract(text)] for text in dict.fromkeys(texts)}


def answer(prompt: str, known: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The answer to one prompt, in the form it asks for. KeyError for words nobody has said."""
    theirs = _NEW_OF_MEM0.search(prompt)
    if theirs:
        said = re.sub(r"^user: ", "", theirs[1].strip()).split("\nassistant: ")[0]
        facts = known[said.strip()]
        return {
            "memory": [
                {
                    "id": str(n),
                    "text": f"User's {f['category']}: {f['fact_key']} is {f['fact_value']}",
                    "attributed_to": "user",
                }
                for n, f in enumerate(facts)
            ]
        }
    packed = _PACKED.findall(prompt)
    if packed:
        return {"answers": [{"id": name, "facts": known[_ours(part)]} for name, part in packed]}
    return {"facts": known[_ours(prompt)]}


def _ours(prompt: str) -> str:
    return json.loads(prompt.rpartition(_OURS)[2].strip()).strip()


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float, known: dict[str, Any]
) -> None:
    """One connection, until the client closes it."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            if head.startswith("get"):
                _send(writer, 200, dict(counted))
                continue
            length = int(head.split("content-length:")[1].split("\r\n")[0])
            messages = json.loads(await reader.readexactly(length))["messages"]
            await asyncio.sleep(delay)
            text = json.dumps(answer(messages[-1]["content"], known))
            used = {
                "prompt_tokens": sum(len(m["content"].encode()) for m in messages) // 4,
                "completion_tokens": len(text) // 4,
            }
            counted.update({"calls": 1, "tokens": used["prompt_tokens"]})
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            usage = {**used, "total_tokens": sum(used.values())}
            _send(
                writer,
                200,
                {
                    "id": "x",
                    "object": "chat.completion",
                    "created": 0,
                    "model": "m",
                    "choices": [choice],
                    "usage": usage,
                },
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the client has gone
    finally:
        writer.close()


def _send(writer: asyncio.StreamWriter, status: int, body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    writer.write(
        f"HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data
    )


async def main() -> None:
    rows = [json.loads(line) for line in Path(sys.argv[2]).read_text("utf-8").splitlines()]
    known = facts_of([row["content"].strip() for row in rows])
    delay = float(sys.argv[1])
    server = await asyncio.start_server(lambda r, w: serve(r, w, delay, known), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
