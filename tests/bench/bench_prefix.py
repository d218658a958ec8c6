"""Prompts that begin alike, one behind the other: `python -m tests.bench.bench_prefix`.

A real llama.cpp server with SmolLM2 and one slot, asked what EXTRACT_FACTS asks about messages of several users, of
each of whom something is known. The messages stand in the order they were said, users in turn. Asked one by one, they
go out in that order; asked by one statement, as recall_sql orders them. The server counts the prompt tokens it had
already.
"""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime

import xllamacpp
from rich.console import Console
from rich.table import Table

import recall_sql
from recall_sql.functions import extract_facts
from recall_sql.models.installed import smollm2_file
from tests.models.rules_report import load

USERS, MESSAGES, KNOWN = 4, 4, 10


def prompts() -> tuple[str, list[str]]:
    """The instructions, and the prompts in the order of the messages."""
    chance = random.Random(3)
    said = [case["text"] for case in load()]
    known = [
        tuple(
            {
                "alias": f"{chance.getrandbits(32):08x}",
                "category": "likes",
                "fact_key": f"thing_{n}",
                "fact_value": str(n),
            }
            for n in range(KNOWN)
        )
        for _ in range(USERS)
    ]
    options = [extract_facts.ExtractOptions(known=one, now=datetime(2026, 5, 1, tzinfo=UTC)) for one in known]
    order = [user for _ in range(MESSAGES) for user in range(USERS)]
    made = [extract_facts._request(chance.choice(said), options[user]) for user in order]
    return made[0].system or "", [request.prompt for request in made]


def served() -> xllamacpp.Server:
    """A server of one slot, which remembers the last prompt."""
    params = xllamacpp.CommonParams()
    params.model.path = str(smollm2_file())
    params.n_ctx, params.n_parallel, params.verbosity, params.warmup = 4096, 1, -1, False
    params.cpuparams.n_threads, params.cache_ram_mib = 1, 0
    return xllamacpp.Server(params)


def asked(server: xllamacpp.Server, together: bool) -> tuple[int, int, float]:
    """(prompt tokens, those the server had already, seconds)."""
    system, texts = prompts()
    settings = {"llm": f"{server.listening_address}/v1#smollm2", "timeout": 600, "memo": False}
    with recall_sql.connect(settings=settings) as con:
        con.execute("create table p as select unnest($1) as prompt, $2 as system", [texts, system])
        con.execute("create table o as select row_number() over () as n, prompt, system from p")
        query = "select generate(prompt, {system: system, max_tokens: 1}) from o"
        started = time.perf_counter()
        if together:
            con.execute(query).fetchall()
        else:
            for number in range(1, len(texts) + 1):
                con.execute(f"{query} where n = {number}").fetchall()
        seconds = time.perf_counter() - started
        return *con.execute("select sum(tokens_in), sum(tokens_cached) from recall_calls").fetchall()[0], seconds


def main() -> None:
    table = Table(title=f"{USERS * MESSAGES} prompts about {USERS} users, llama.cpp, one slot")
    for name in ("order", "prompt tokens", "cached", "share", "prompts/s"):
        table.add_column(name, justify="left" if name == "order" else "right")
    for order, together in (("as said", False), ("by beginning", True)):
        tokens, cached, seconds = asked(served(), together)
        rate = USERS * MESSAGES / seconds
        table.add_row(order, f"{tokens:,}", f"{cached:,}", f"{cached / tokens:.0%}", f"{rate:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
