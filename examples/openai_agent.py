"""An agent of OpenAI's Agents SDK keeps a note. Runs offline, with a scripted model.

python examples/openai_agent.py
"""

from __future__ import annotations

import asyncio
import json

from agents import Agent, Runner, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from memories_sdk import MemoryStore, MemoryTools
from memories_sdk.integrations.openai_agents import function_tools

NOTE = {"action": "save", "name": "reader", "type": "context", "content": "Reads on the tram."}


class Scripted(Model):
    """A model that saves one note and is done."""

    def __init__(self) -> None:
        text = ResponseOutputText(text="Noted.", type="output_text", annotations=[])
        done = ResponseOutputMessage(
            id="m", content=[text], role="assistant", status="completed", type="message"
        )
        call = ResponseFunctionToolCall(
            arguments=json.dumps(NOTE), call_id="1", name="global_memory", type="function_call"
        )
        self._outputs = iter([call, done])

    async def get_response(self, *_: object, **__: object) -> ModelResponse:
        """Say the next thing."""
        return ModelResponse(output=[next(self._outputs)], usage=Usage(), response_id=None)

    def stream_response(self, *_: object, **__: object) -> object:
        """Not used here."""
        raise NotImplementedError


def main() -> None:
    """Let the agent work, and show what it kept."""
    set_tracing_disabled(disabled=True)
    store = MemoryStore(":memory:")
    alice = store.principals.user("alice")
    tools = function_tools(MemoryTools(store, acting_as=alice))
    agent = Agent(name="Writer", tools=tools[1:], model=Scripted())
    print(asyncio.run(Runner.run(agent, "I read on the tram.")).final_output)
    print(store.scope(acting_as=alice).get("reader", "context").content)


if __name__ == "__main__":
    main()
