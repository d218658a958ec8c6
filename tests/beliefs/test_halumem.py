"""346 changes of preference of ten people (HaluMem), replayed. The mapping is here, the rules are the product's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from recall_sql import Memory
from tests.beliefs.telling import at

DATA = Path(__file__).parents[3] / "shared" / "data" / "halumem_preference_events_dev.jsonl"
Key = tuple[str, str, str, str]  # user, preference_type, type, item

FACT_IDS = "select user_id, fact_value, fact_id::varchar from chat_facts"

pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"{DATA} isn't here")


def key(event: dict[str, Any], preference: dict[str, str]) -> Key:
    return event["user"], event["preference_type"], preference["type"], preference["item"]


def candidate(held: Key, reason: str | None, when: int, **more: Any) -> dict[str, Any]:
    user, category, kind, item = held
    value = None if reason is None else f"{item}: {reason}"
    return {
        "user_id": user,
        "category": category,
        "fact_key": f"{kind} {item}",
        "fact_value": value,
        "observed_at": at(when),
        "source_turn_id": when,
        "kind": "PREFERENCE",
        **more,
    }


def table(con: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], str]:
    rows = con.execute("select user_id, category, fact_value from chat_facts where user_id <> 'bystander'").fetchall()
    return {(user, value): category for user, category, value in rows}


def expected(state: dict[Key, str]) -> dict[tuple[str, str], str]:
    snake = {category: category.lower().replace(" ", "_") for _, category, _, _ in state}
    return {(user, f"{item}: {reason}"): snake[category] for (user, category, _, item), reason in state.items()}


def groups(events: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The events in as few batches as keep the order of those that touch the same preference."""
    batch_of: dict[Key, int] = {}
    found: dict[int, list[dict[str, Any]]] = {}
    for event in events:
        keys = {key(event, event["before"][0]), key(event, event["after"][0])}
        batch = 1 + max(batch_of.get(touched, 0) for touched in keys)
        batch_of |= dict.fromkeys(keys, batch)
        found.setdefault(batch, []).append(event)
    return [found[batch] for batch in sorted(found)]


def test_every_change_ends_as_the_data_says(con: duckdb.DuckDBPyConnection) -> None:
    events = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    assert len(events) == 346
    memory = Memory(con, user_id="bystander")
    for word in ("Dogs", "Cats", "Parrots"):
        memory.remember(word, category="pet_preference")
    bystander = memory.facts()

    state: dict[Key, str] = {}
    for when, group in enumerate(groups(events), start=1):
        # what the person held before, where nothing in the data says so yet
        befores = {key(event, event["before"][0]): event["before"][0]["reason"] for event in group}
        memory.believe(
            [candidate(held, reason, 2 * when) for held, reason in befores.items() if state.get(held) != reason]
        )
        state |= befores
        assert table(con) == expected(state)

        fact_ids = {(user, value): fact_id for user, value, fact_id in con.execute(FACT_IDS).fetchall()}
        changes = []
        for event in group:
            old, new = key(event, event["before"][0]), key(event, event["after"][0])
            reason = event["after"][0]["reason"]
            replaced = fact_ids[(event["user"], f"{old[3]}: {state.pop(old)}")]
            if event["direction"] == "Delete":
                changes.append(candidate(old, None, 2 * when + 1, op="retract"))
            else:
                changes.append(
                    candidate(new, reason, 2 * when + 1, **({"replaces": replaced[:8]} if new != old else {}))
                )
                state[new] = reason
        memory.believe(changes)
        assert table(con) == expected(state)

    history = set(
        con.execute("select user_id, before_value from chat_fact_history where before_value is not null").fetchall()
    )
    befores = [(event["user"], event["before"][0]) for event in events]
    assert {(user, f"{before['item']}: {before['reason']}") for user, before in befores} <= history
    assert memory.facts() == bystander
