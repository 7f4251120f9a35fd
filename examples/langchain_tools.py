"""LangChain tools keep a note. Runs offline, with a scripted model.

python examples/langchain_tools.py
"""

from __future__ import annotations

from langchain_core.messages import AIMessage

from memories_sdk import MemoryStore, MemoryTools
from memories_sdk.integrations.langchain import langchain_tools

NOTE = {"action": "save", "name": "reader", "type": "context", "content": "Reads on the tram."}
SAID = AIMessage(content="", tool_calls=[{"name": "global_memory", "args": NOTE, "id": "1"}])
"""What a model with `bind_tools` answers."""


def main() -> None:
    """Carry out what the model said, and show what it kept."""
    store = MemoryStore(":memory:")
    alice = store.principals.user("alice")
    tools = {it.name: it for it in langchain_tools(MemoryTools(store, acting_as=alice))}
    for call in SAID.tool_calls:
        print(tools[call["name"]].invoke(call).content)
    print(store.scope(acting_as=alice).get("reader", "context").content)


if __name__ == "__main__":
    main()
