"""An OpenAI-compatible server for benchmarks: `python -m tests.bench.slow_server SECONDS sound|faults`.

Answers in so many seconds, any number of requests at once. With faults, 5 % of requests get 429, 2 % 500 and 1 % a
connection that breaks in the middle of the body. A GET says what it counted. Prints its port.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from typing import Any

DELAY, FAULTS = float(sys.argv[1]), sys.argv[2] == "faults"
answered: Counter[str] = Counter()
calls = 0
chance = random.Random(7)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, until the client closes it."""
    try:
        while await _one(reader, writer):
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the client has gone
    finally:
        writer.close()


async def _one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    global calls
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    if head.startswith("get"):
        _send(writer, 200, {"calls": calls, "answered": answered.total(), "distinct": len(answered)})
        return True
    length = int(head.split("content-length:")[1].split("\r\n")[0])
    prompt = json.loads(await reader.readexactly(length))["messages"][-1]["content"]
    calls += 1
    luck = chance.random() if FAULTS else 1.0
    await asyncio.sleep(DELAY)
    if luck < 0.05:
        _send(writer, 429, {"error": {"message": "slow down"}}, "retry-after: 0.2\r\n")
    elif luck < 0.07:
        _send(writer, 500, {"error": {"message": "a fault"}})
    elif luck < 0.08:
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"choices"')
        return False
    else:
        answered[prompt] += 1
        message = {"role": "assistant", "content": f"re: {prompt}"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        _send(writer, 200, {"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage})
    return True


def _send(writer: asyncio.StreamWriter, status: int, answer: dict[str, Any], headers: str = "") -> None:
    body = json.dumps(answer).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
