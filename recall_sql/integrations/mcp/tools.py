"""The tools. Names, arguments and docstrings are what a model reads; the work is Memory's and the recipes'.

A tool is a function of a Caller and the model's arguments; `role` says who may call it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from mcp_types import ToolAnnotations
from pydantic import Field

from recall_sql.access import Role
from recall_sql.errors import InputError
from recall_sql.integrations.mcp.door import Caller
from recall_sql.integrations.mcp.plain import fact, turn
from recall_sql.person_sql import execute as carry_out
from recall_sql.person_sql import plain, select, values

Rows = dict[str, Any]
Kind = Literal["KNOWLEDGE", "RULE", "PREFERENCE"]
Source = Literal["USER", "AGENT", "TOOL", "DOCUMENT", "CODE", "SYSTEM"]

_SOURCE = (
    "Who says so. USER only for what the user said themselves, AGENT for what you concluded, TOOL or DOCUMENT for what "
    "a tool or a text says. A less trusted source can't change what a more trusted one said."
)
Session = Annotated[str, Field(description="The conversation, for example 'trip-2026'.", max_length=500)]
AnySession = Annotated[
    str | None, Field(description="Only this conversation, and what belongs to none.", max_length=500)
]
Text = Annotated[str, Field(max_length=100_000)]
Said = Annotated[Source, Field(description=_SOURCE)]


@dataclass(frozen=True)
class RecallTool:
    """A tool as it is declared here. structured: gives an object; otherwise text."""

    work: Callable[..., Any]
    role: Role
    title: str
    annotations: ToolAnnotations
    structured: bool


TOOLS: list[RecallTool] = []


def _tool(role: Role, title: str, *, structured: bool = True, erases: bool = False) -> Callable[..., Any]:
    def declare(work: Callable[..., Any]) -> Callable[..., Any]:
        reads = role == "reader"
        hints = ToolAnnotations(
            title=title, read_only_hint=reads, destructive_hint=erases, idempotent_hint=reads, open_world_hint=False
        )
        TOOLS.append(RecallTool(work, role, title, hints, structured))
        return work

    return declare


@_tool("reader", "Recall what matters", structured=False)
def recall(
    caller: Caller,
    query: Annotated[
        str | None, Field(description="What the user asks now: 'where shall we have dinner?'", max_length=20_000)
    ] = None,
    session_id: Session = "default",
    max_tokens: Annotated[int, Field(description="About how long the text may be.", ge=1, le=100_000)] = 1000,
) -> str:
    """What is known about the user that matters to a question, as a text to read before you answer.

    Call this first, with the user's message as `query`. It holds the user's standing instructions, facts, a summary of
    the conversation, earlier turns that matter and the last turns. Without a query: instructions and facts in general.
    """
    return str(caller.memory.context(session_id, query, max_tokens=max_tokens)) or "Nothing is known yet."


@_tool("reader", "Search turns or facts")
def search(
    caller: Caller,
    query: Annotated[
        str, Field(description="Words or a question: 'cat', 'when does the train leave?'", max_length=20_000)
    ],
    of: Annotated[Literal["turns", "facts"], Field(description="What was said, or what is believed.")] = "turns",
    k: Annotated[int, Field(description="How many, the best first.", ge=1, le=100)] = 10,
    session_id: AnySession = None,
    since: Annotated[
        datetime | None, Field(description="Said at this instant or later: '2026-03-01T00:00:00Z'.")
    ] = None,
    until: Annotated[datetime | None, Field(description="Said before this instant.")] = None,
) -> Rows:
    """Find what was said in any conversation with the user, word for word, or find facts, by words and by meaning."""
    found = caller.memory.search(query, of=of, k=k, session_id=session_id, since=since, until=until)
    return {of: [turn(row) if of == "turns" else fact(row) for row in found]}


@_tool("reader", "Facts believed")
def facts(
    caller: Caller,
    category: Annotated[str | None, Field(description="For example dietary, budget, pet.", max_length=500)] = None,
    kind: Annotated[Kind | None, Field(description="RULE: the user's standing instructions.")] = None,
    session_id: AnySession = None,
    as_of: Annotated[datetime | None, Field(description="What was believed at this instant instead of now.")] = None,
) -> Rows:
    """List what is believed about the user: {fact: 'pet.cat', id, value, kind, source, confidence, …} for each fact."""
    found = caller.memory.facts(category=category, kind=kind, session_id=session_id, as_of=as_of)
    return {"facts": [fact(row) for row in found]}


@_tool("reader", "Ask about records")
def ask(
    caller: Caller,
    question: Annotated[str, Field(description="'How much have I paid Jayden this month?'", max_length=20_000)],
    timezone: Annotated[str | None, Field(description="Where the user is: 'Europe/Berlin'; UTC if not given.")] = None,
) -> Rows:
    """Answer a question about the user's records (payments, appointments: whatever is declared): {result, sql}.

    For sums, counts, lists and dates. result is null where there is no answer, and error says why.
    """
    return plain(caller.memory.query(question, caller.user_id, timezone=timezone))


@_tool("reader", "Query with SQL")
def query(
    caller: Caller,
    sql: Annotated[
        str,
        Field(
            description="One SELECT in DuckDB's SQL: select category, count(*) from chat_facts group by category",
            max_length=20_000,
        ),
    ],
    limit: Annotated[int, Field(description="At most so many rows.", ge=1, le=1000)] = 100,
) -> Rows:
    """Run one read-only SELECT over the user's own tables: {columns, rows, truncated}.

    Tables: chat_facts (category, fact_key, fact_value, kind, source, confidence, session_id, observed_at …),
    chat_fact_history (every change: event, before_value, after_value, reason …), chat_turns (session_id, position,
    role, content, created_at), chat_threads, chat_summaries, and one for each kind of record. The resource recall://tables
    describes them. They hold the user's rows only; no files, no other functions than those that compute.
    """
    table, more = select(caller.memory, sql, rows=limit)
    rows = [[plain(value) for value in row] for row in values(table)]
    return {"columns": table.column_names, "rows": rows, "truncated": more}


@_tool("writer", "Remember a fact")
def remember(
    caller: Caller,
    value: Annotated[str, Field(description="The fact: 'Mochi', '900', 'true', or a sentence.", max_length=100_000)],
    category: Annotated[
        str, Field(description="What it is about, one word: dietary, pet, location, budget.", max_length=500)
    ] = "note",
    fact_key: Annotated[
        str | None,
        Field(
            description="Which attribute: vegetarian, cat, home_city. Made from the value if not given.", max_length=500
        ),
    ] = None,
    kind: Annotated[
        Kind,
        Field(description="RULE: a standing instruction, always recalled. PREFERENCE: a taste. Else KNOWLEDGE."),
    ] = "KNOWLEDGE",
    source: Said = "AGENT",
    session_id: Annotated[
        str, Field(description="Only for this conversation; empty: for all of them.", max_length=500)
    ] = "",
    confidence: Annotated[float, Field(description="0 to 1, how sure it is.", ge=0, le=1)] = 1.0,
    evidence: Annotated[str | None, Field(description="The words that say so.", max_length=100_000)] = None,
) -> Rows:
    """Write one fact about the user down, or correct the one that is there: a key that is taken is changed in place.

    {value: 'true', category: 'dietary', fact_key: 'vegetarian', source: 'USER', evidence: "I'm vegetarian now"}
    {value: 'Answer in French', kind: 'RULE', source: 'USER'}
    Refused where a more trusted source has spoken; the error names it.
    """
    if source == "SYSTEM":
        caller.principal.require("admin")
    more = {"kind": kind, "source": source, "session_id": session_id, "confidence": confidence, "evidence": evidence}
    return fact(caller.memory.remember(value, category=category, fact_key=fact_key, **more))


@_tool("writer", "Forget a fact", erases=True)
def forget(
    caller: Caller,
    fact: Annotated[
        str | None,
        Field(description="'category.key' (pet.cat) or the id that another tool gave.", min_length=1, max_length=1000),
    ] = None,
    session_id: Annotated[
        str | None,
        Field(description="A conversation. With erase: it goes, and what was learned from it.", max_length=500),
    ] = None,
    source: Said = "AGENT",
    erase: Annotated[
        bool, Field(description="Erase it from history too, beyond recovery. Needs an admin's key.")
    ] = False,
) -> Rows:
    """Stop believing a fact; history still shows that it was believed. {fact: 'dietary.vegetarian', source: 'USER'}

    Where the key alone isn't clear, session_id says which. With erase, a fact or a whole conversation leaves the
    database: only when the user asks for that.
    """
    if erase:
        caller.principal.require("admin")
        if (fact is None) == (session_id is None):
            raise InputError("erase needs either fact or session_id; nothing was erased")
        return {"erased": plain(caller.memory.forget(fact=fact, session_id=session_id))}
    if fact is None:
        raise InputError("which fact? Name it as category.key, or erase a conversation with erase")
    if source == "SYSTEM":
        caller.principal.require("admin")
    caller.memory.forget_fact(fact, source=source, session_id=session_id)
    return {"forgotten": fact}


@_tool("writer", "Process a message")
def process(
    caller: Caller,
    message: Annotated[str, Field(description="'Paid Jayden $150 for training yesterday'", max_length=20_000)],
    timezone: Annotated[str | None, Field(description="Where the user is: 'Europe/Berlin'; UTC if not given.")] = None,
    dry_run: Annotated[bool, Field(description="Say what it would do, and do nothing.")] = False,
) -> Rows:
    """Do what a message of the user's says to their records: insert, update, delete, or answer a question.

    {matched, schema, intent, action, id, data, confidence, reason}; where nothing was done, action is null and reason
    says why.
    """
    return plain(caller.memory.process(message, caller.user_id, timezone=timezone, dry_run=dry_run))


@_tool("writer", "Write with SQL", erases=True)
def execute(
    caller: Caller,
    sql: Annotated[
        str,
        Field(
            description="One INSERT, UPDATE or DELETE: delete from chat_facts where category = 'trip'",
            max_length=20_000,
        ),
    ],
    source: Said = "AGENT",
) -> Rows:
    """Write to facts or turns with SQL; the rules of belief decide what comes of it: {rows, events, refused}.

    insert into chat_facts (category, fact_key, fact_value) values ('pet', 'cat', 'Mochi')
        also: kind, confidence, session_id, evidence, observed_at
    update chat_facts set fact_value = 'Luna' where category = 'pet'      (fact_key, kind, confidence, evidence)
    delete from chat_facts where category = 'trip'                        taken back; history keeps it
    insert into chat_turns (session_id, role, content) values ('s1', 'user', 'I moved to Oslo')
        also: created_at, source_key; facts are read out of it
    Nothing else: no other table, no RETURNING, no DDL. refused lists what trust or time didn't allow, and why.
    """
    if source == "SYSTEM":
        caller.principal.require("admin")
    return plain(carry_out(caller.memory, sql, source, as_system=caller.principal.role == "admin"))
