"""A graph of LangGraph keeps what it learns on a shelf. Runs offline; the node is the script.

pip install "memories-sdk[langgraph]" langgraph
python examples/langgraph_store.py
"""

from __future__ import annotations

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from memories_sdk import MemoryStore
from memories_sdk.integrations.langgraph import ShelfStore


class State(TypedDict):
    """What the graph passes on."""

    said: str


def learn(state: State, *, store: BaseStore) -> State:
    """Keep what the user said, and find it again."""
    store.put(("readers",), "alice", {"text": state["said"]})
    found = store.search(("readers",), query="who reads on trams?")
    return {"said": found[0].value["text"]}


def main() -> None:
    """Run the graph, and show what stands on the shelf."""
    memories = MemoryStore(":memory:")
    shelf = memories.scope(acting_as=memories.principals.user("alice"))
    builder = StateGraph(State)
    builder.add_node("learn", learn)
    builder.add_edge(START, "learn")
    builder.add_edge("learn", END)
    graph = builder.compile(store=ShelfStore(shelf))
    print(graph.invoke({"said": "Alice reads on the tram."})["said"])
    print(shelf.get("readers/alice", "context").content)


if __name__ == "__main__":
    main()
