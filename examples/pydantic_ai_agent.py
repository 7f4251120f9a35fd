"""An agent of Pydantic AI keeps a note. Runs offline, with a scripted model.

python examples/pydantic_ai_agent.py
"""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from memories_sdk import MemoryStore, MemoryTools
from memories_sdk.integrations.pydantic_ai import MemoryToolset

NOTE = {"action": "save", "name": "reader", "type": "context", "content": "Reads on the tram."}


def scripted(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Save one note, then be done."""
    first = len(messages) == 1
    part = ToolCallPart("global_memory", NOTE) if first else TextPart("Noted.")
    return ModelResponse(parts=[part])


def main() -> None:
    """Let the agent work, and show what it kept."""
    store = MemoryStore(":memory:")
    alice = store.principals.user("alice")
    toolset = MemoryToolset(MemoryTools(store, acting_as=alice), ["global_memory"])
    agent = Agent(FunctionModel(scripted), toolsets=[toolset])
    print(agent.run_sync("I read on the tram.").output)
    print(store.scope(acting_as=alice).get("reader", "context").content)


if __name__ == "__main__":
    main()
