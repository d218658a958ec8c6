"""A LangGraph graph: a node reads what is known, and LangGraph's own store is kept in the same database.

python examples/langgraph_agent.py
"""

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

import recall_sql
from recall_sql.integrations.langgraph import RecallStore

SAID = ["Hello! I'm vegetarian, and I live in Oslo.", "What could I cook tonight?"]


class State(TypedDict):
    question: str
    known: str
    answer: str


def build(memory: recall_sql.Memory) -> Any:
    def recall(state: State) -> dict[str, str]:
        return {"known": memory.context("kitchen", state["question"], max_turns=0)}

    def answer(state: State, *, store: BaseStore) -> dict[str, str]:
        asked = len(store.search(("questions",), limit=1000))
        store.put(("questions",), f"q{asked}", {"text": state["question"]})
        return {"answer": memory.reply("kitchen", state["question"], max_tokens=60)}

    def learn(state: State) -> dict[str, str]:
        memory.extract()
        return {}

    builder = StateGraph(State)
    for node in (recall, answer, learn):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "answer")
    builder.add_edge("answer", "learn")
    builder.add_edge("learn", END)
    return builder.compile(store=RecallStore(memory))


def main() -> None:
    with recall_sql.connect("memory.duckdb") as con:
        memory = recall_sql.Memory(con, user_id="me")
        graph = build(memory)
        for question in SAID:
            print(f"> {question}\n{graph.invoke({'question': question})['answer']}")
        print([item.value["text"] for item in RecallStore(memory).search(("questions",), query="food")])
        print(memory.context("another day"))


if __name__ == "__main__":
    main()
