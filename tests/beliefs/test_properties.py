"""Random histories of evidence keep the invariants. Found by hypothesis; each run drives a real database."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import recall_sql
from recall_sql import Memory, RecallError
from tests.beliefs.telling import at, said
from tests.beliefs.test_time_travel import as_of, table

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
TRUST = {"SYSTEM": 100, "USER": 80, "AGENT": 60, "TOOL": 40, "DOCUMENT": 20, "CODE": 10}

names = st.sampled_from(
    [
        "dietary.vegan",
        "dietary.vegetarian",
        "pet.cat",
        "pet.cats",
        "likes.jazz",
        "dislikes.jazz",
        "budget.max_usd",
        "budget.max_eur",
    ]
)
sources = st.sampled_from(list(TRUST))
lower_sources = st.sampled_from(["USER", "AGENT", "TOOL", "DOCUMENT", "CODE"])
values = st.sampled_from(["a", "b", "B."])
turns = st.integers(1, 40)


@st.composite
def evidence(draw: st.DrawFn, sources: st.SearchStrategy[str] = sources) -> dict[str, Any]:
    op = draw(st.sampled_from(["assert", "assert", "assert", "retract"]))
    turn = draw(turns)
    return said(
        draw(names),
        draw(values) if op == "assert" else None,
        when=turn,
        source_turn_id=turn,
        op=op,
        source=draw(sources),
        confidence=draw(st.sampled_from([0.3, 0.6, 0.9])),
        kind=draw(st.sampled_from(["KNOWLEDGE", "RULE"])),
        session_id=draw(st.sampled_from(["", "s1"])),
        user_id="u1",
    )


class Believing(RuleBasedStateMachine):
    """Batches, reruns, failures, hand edits and direct writes, in any order."""

    @initialize()
    def open(self) -> None:
        self.con = recall_sql.connect(settings={"memo": True})
        self.memory = Memory(self.con, user_id="u1")
        self.heard: list[dict[str, Any]] = []
        self.snapshots: list[tuple[datetime, list[tuple]]] = []

    def teardown(self) -> None:
        if hasattr(self, "con"):
            self.con.close()

    def contents(self) -> tuple[list[tuple], list[tuple]]:
        return table(self.con), self.con.execute("from chat_fact_history order by event_id").fetchall()

    @rule(batch=st.lists(evidence(), min_size=1, max_size=6))
    def hear(self, batch: list[dict[str, Any]]) -> None:
        trust_before = dict(self.con.execute("select fact_id, source from chat_facts").fetchall())
        self.memory.believe(batch)
        self.heard += batch
        for fact_id, source in self.con.execute("select fact_id, source from chat_facts").fetchall():
            assert TRUST[source] >= TRUST[trust_before.get(fact_id, "CODE")]
        self.snapshots.append((datetime.now(UTC), table(self.con)))

    @rule()
    def hear_again(self) -> None:
        if self.heard:
            self.memory.believe([])  # hand edits are noticed first
            before = self.contents()
            assert self.memory.believe(self.heard[-8:]) == {}
            assert self.contents() == before

    @rule(batch=st.lists(evidence(), min_size=1, max_size=3))
    def fail(self, batch: list[dict[str, Any]]) -> None:
        before = self.contents()
        self.con.execute("begin")
        self.memory.believe(batch)
        self.con.execute("rollback")
        assert self.contents() == before

    @rule(name=names, value=values, source=st.sampled_from(list(TRUST)))
    def remember(self, name: str, value: str, source: str) -> None:
        category, _, key = name.partition(".")
        try:
            kept = self.memory.remember(value, category=category, fact_key=key, source=source)
        except RecallError:
            return
        assert (kept["category"], kept["fact_key"], kept["fact_value"]) == (category, key, value)
        self.snapshots.append((datetime.now(UTC), table(self.con)))

    @rule(value=values)
    def edit_by_hand(self, value: str) -> None:
        self.con.execute(
            "update chat_facts set fact_value = ? where fact_key = (select min(fact_key) from chat_facts)", [value]
        )

    @rule()
    def remove_by_hand(self) -> None:
        self.con.execute("delete from chat_facts where fact_key = (select max(fact_key) from chat_facts)")

    @invariant()
    def one_row_per_key_and_slot(self) -> None:
        if not hasattr(self, "con"):
            return
        for key in ("category, fact_key", "slot"):
            scope = f"agent_id, user_id, session_id, {key}"
            doubles = f"select count(*) from (select {scope} from chat_facts group by all having count(*) > 1)"
            assert self.con.execute(doubles).fetchall() == [(0,)]

    @invariant()
    def history_replays_to_the_table(self) -> None:
        for moment, rows in getattr(self, "snapshots", [])[-3:]:
            assert as_of(self.con, moment) == rows


TestBelieving = Believing.TestCase
TestBelieving.settings = settings(
    max_examples=6, stateful_step_count=8, deadline=None, suppress_health_check=SLOW, derandomize=True
)


@pytest.fixture(scope="module")
def shared() -> Any:
    connection = recall_sql.connect()
    yield connection
    connection.close()


_users = itertools.count()
History = list[dict[str, Any]]


@st.composite
def history(draw: st.DrawFn) -> History:
    """Evidence with a moment of its own each, about some keys that exclude each other and some that can be taken back.

    Only SYSTEM facts depend on the order, since nothing changes the first, and (see docs/beliefs.md) a key that was
    replaced by another of its slot which was then taken back.
    """
    pieces = draw(st.lists(evidence(lower_sources), min_size=2, max_size=6))
    return [
        piece
        | {"observed_at": at(nth + 1), "source_turn_id": nth, "kind": "KNOWLEDGE"}
        | ({} if piece["category"] == "pet" else {"op": "assert", "fact_value": piece["fact_value"] or "c"})
        for nth, piece in enumerate(pieces)
    ]


def believed(con: duckdb.DuckDBPyConnection, tellings: list[list[History]]) -> list[list[tuple]]:
    """What is believed after each telling, a telling being batches. Each is told to a user of its own, side by side."""
    users = [f"user {next(_users)}" for _ in tellings]
    for batches in itertools.zip_longest(*tellings, fillvalue=[]):
        heard = [piece | {"user_id": user} for user, batch in zip(users, batches, strict=True) for piece in batch]
        Memory(con).believe(heard)
    columns = "session_id, category, fact_key, fact_value, source, observed_at"
    query = f"select {columns} from chat_facts where user_id = ? order by all"
    return [con.execute(query, [user]).fetchall() for user in users]


@given(histories=st.lists(history(), min_size=20, max_size=20), chance=st.randoms(use_true_random=False))
@settings(max_examples=4, deadline=None, suppress_health_check=SLOW, derandomize=True)
def test_the_order_of_batches_doesnt_matter(
    shared: duckdb.DuckDBPyConnection, histories: list[History], chance: random.Random
) -> None:
    all_tellings = []
    for pieces in histories:
        shuffled = chance.sample(pieces, len(pieces))
        cut = chance.randint(0, len(pieces))
        tellings = [[pieces], [[piece] for piece in pieces], [shuffled[:cut], shuffled[cut:]], [[p] for p in shuffled]]
        all_tellings += tellings
    outcomes = believed(shared, all_tellings)
    for nth in range(0, len(outcomes), 4):
        assert outcomes[nth : nth + 4] == [outcomes[nth]] * 4, all_tellings[nth : nth + 4]
