"""The LangGraph store, against the installed langgraph: side by side with its own InMemoryStore, and in a graph."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict

import duckdb
import pytest

pytest.importorskip("langgraph", reason="the extra `langchain` isn't installed")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from recall_sql import InputError, Memory
from recall_sql.integrations.langgraph import RecallStore


@pytest.fixture
def memory(con: duckdb.DuckDBPyConnection) -> Memory:
    return Memory(con, user_id="lina")


@pytest.fixture
def store(memory: Memory) -> RecallStore:
    return RecallStore(memory)


NAMESPACES = st.lists(st.sampled_from(["users", "lina", "notes", "x_%"]), min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["a", "A", "a-1", "1f0c.2", "'"])
VALUES = st.dictionaries(
    st.sampled_from(["n", "text", "in"]), st.one_of(st.integers(-3, 3), st.text(max_size=5)), max_size=2
)
FILTERS = st.one_of(
    st.none(),
    st.fixed_dictionaries({"n": st.integers(-3, 3)}),
    st.fixed_dictionaries({"text": st.fixed_dictionaries({"$ne": st.text(max_size=2)})}),
)
MATCHES = st.builds(
    MatchCondition,
    match_type=st.sampled_from(["prefix", "suffix"]),
    path=st.lists(st.sampled_from(["users", "lina", "*"]), min_size=1, max_size=2).map(tuple),
)
OPS = st.one_of(
    st.builds(PutOp, NAMESPACES, KEYS, st.one_of(st.none(), VALUES)),
    st.builds(GetOp, NAMESPACES, KEYS),
    st.builds(SearchOp, st.one_of(st.just(()), NAMESPACES), FILTERS, st.just(1000)),
    st.builds(ListNamespacesOp, st.lists(MATCHES, max_size=2).map(tuple), st.one_of(st.none(), st.integers(1, 3))),
)


def seen(result: Any) -> Any:
    """A result without times, and the items of a search in an order of their own: LangGraph promises none."""
    if isinstance(result, list) and result and not isinstance(result[0], tuple):
        return sorted(map(repr, map(seen, result)))
    return result if result is None or isinstance(result, list) else (result.namespace, result.key, result.value)


@settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(batches=st.lists(st.lists(OPS, min_size=1, max_size=6), max_size=5))
def test_it_does_what_langgraphs_own_store_does(batches: list[list[Op]], con: duckdb.DuckDBPyConnection) -> None:
    con.execute("delete from store_items")
    own, theirs = RecallStore(Memory(con, user_id="lina")), InMemoryStore()
    for ops in batches:
        expected = theirs.batch(ops)
        # its namespaces stay when their last item is gone; ours are those that hold something
        compared = [nth for nth, op in enumerate(ops) if not isinstance(op, ListNamespacesOp)]
        found = own.batch(ops)
        assert [seen(found[nth]) for nth in compared] == [seen(expected[nth]) for nth in compared]
    full = [namespace for namespace, items in theirs._data.items() if items]
    assert own.list_namespaces(limit=1000) == sorted(full)


def test_namespaces_are_matched_cut_and_paged(store: RecallStore) -> None:
    theirs = InMemoryStore()
    for path in (("users", "lina", "notes"), ("users", "bo", "notes"), ("users", "lina"), ("docs", "v1")):
        for one in (store, theirs):
            one.put(path, "k", {})
    asked: list[dict[str, Any]] = [
        {}, {"prefix": ("users",)}, {"prefix": ("users", "*", "notes")}, {"suffix": ("notes",)}, {"max_depth": 1},
        {"suffix": ("*", "v1"), "prefix": ("docs",)}, {"limit": 1, "offset": 2}, {"prefix": ("nothing",)},
    ]  # fmt: skip
    for arguments in asked:
        assert store.list_namespaces(**arguments) == theirs.list_namespaces(**arguments), arguments


def test_search_is_by_meaning(store: RecallStore) -> None:
    store.put(("lina", "food"), "1", {"text": "I love pizza", "stars": 5})
    store.put(("lina", "pets"), "2", {"text": "My cat is called Mochi", "stars": 3})
    store.put(("lina", "pets"), "3", {"text": "The dog sleeps", "note": "pizza"}, index=["text"])
    store.put(("lina", "food"), "4", {"text": "pizza, hidden"}, index=False)
    store.put(("linas",), "5", {"text": "pizza of another namespace"})
    found = store.search(("lina",), query="favourite food pizza")
    assert found[0].key == "1" and found[0].score > found[1].score
    assert found[-1].key == "4" and found[-1].score is None
    assert store.search(("lina",), query="feline")[0].key == "2"
    assert [item.key for item in store.search(("lina",), query="pizza", limit=1, offset=1)] != ["1"]
    assert [item.key for item in store.search((), filter={"stars": {"$gte": 4}})] == ["1"]
    assert [item.key for item in store.search(("lina",), filter={"stars": 3}, query="food")] == ["2"]
    with pytest.raises(ValueError, match="no operator"):
        store.search((), filter={"stars": {"$near": 4}})


def test_times_and_what_isnt_json(store: RecallStore) -> None:
    store.put(("a",), "k", {"v": 1})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"v": 2})
    second = store.get(("a",), "k")
    assert (second.value, second.created_at) == ({"v": 2}, first.created_at) and second.updated_at >= first.updated_at
    with pytest.raises(InputError, match="isn't JSON"):
        store.batch([PutOp(("a",), "k", {"v": 3}), PutOp(("a",), "bad", {"v": object()})])
    assert store.get(("a",), "k").value == {"v": 2}
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {})])
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None


def test_items_are_the_persons_own_and_leave_with_them(memory: Memory, con: duckdb.DuckDBPyConnection) -> None:
    others = Memory(con, user_id="bo")
    for one in (memory, others):
        RecallStore(one).put(("notes",), "k", {"text": f"canary of {one.user_id}"})
        RecallStore(one).search(("notes",), query="canary")
    assert [item.value["text"] for item in RecallStore(memory).search(("notes",))] == ["canary of lina"]
    assert "canary of lina" in str(memory.export()["store"]) and "canary of bo" not in str(memory.export())
    vectors = con.execute("select count(*) from recall_memo").fetchall()[0][0]
    memory.forget(everything=True)
    assert RecallStore(memory).search(()) == [] and len(RecallStore(others).search(())) == 1
    assert con.execute("select count(*) from recall_memo").fetchall() == [(vectors - 1,)]


def test_many_threads_and_asyncio(store: RecallStore) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: store.put(("a",), f"k{n % 3}", {"n": n}), range(18)))
    assert len(store.search(("a",), limit=100)) == 3

    async def work() -> None:
        await asyncio.gather(*(store.aput(("b",), f"k{n}", {"n": n}) for n in range(6)))
        assert len(await store.asearch(("b",))) == 6
        assert (await store.aget(("b",), "k1")).value == {"n": 1}

    asyncio.run(work())


class State(TypedDict):
    said: str
    known: list[str]


def test_a_graph_uses_it(store: RecallStore, memory: Memory) -> None:
    def remember(state: State, *, store: BaseStore) -> dict[str, Any]:
        store.put(("notes",), state["said"], {"text": state["said"]})
        return {"known": [item.value["text"] for item in store.search(("notes",), query="pets", limit=5)]}

    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    graph = builder.compile(store=store)
    graph.invoke({"said": "I like trains", "known": []})
    assert graph.invoke({"said": "I have a cat", "known": []})["known"] == ["I have a cat", "I like trains"]
    assert memory.con.execute("select count(*) from store_items").fetchall() == [(2,)]
