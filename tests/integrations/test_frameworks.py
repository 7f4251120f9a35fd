"""The doors of the agent frameworks, each driven by the framework itself; models are scripts."""

from __future__ import annotations

import asyncio
import importlib
import json
import pkgutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import metadata

import pytest
from agents import Agent, Runner, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from langchain_core.messages import ToolCall
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ModelResponse as PydanticResponse
from pydantic_ai.messages import TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from memories_sdk import MemoryStore, MemoryTools, Principal, Scope, ToolResult, integrations
from memories_sdk.errors import MissingExtra
from memories_sdk.integrations.langchain import langchain_tools
from memories_sdk.integrations.openai_agents import function_tools
from memories_sdk.integrations.pydantic_ai import MemoryToolset

SAVE = {"action": "save", "name": "n", "type": "plan", "content": "x"}
DELETE = {"action": "delete", "name": "n", "type": "plan"}


@pytest.fixture
def tools(store: MemoryStore, alice: Principal) -> MemoryTools:
    """The tools of alice's agent `writer`; a delete waits for a person."""
    writer = store.agents.create("writer", owner=alice)
    return MemoryTools(store, acting_as=alice, agent=writer)


class Scripted(Model):
    """A model of the Agents SDK that makes one call after the other."""

    def __init__(self, *calls: dict[str, object]) -> None:
        self.calls = iter(enumerate(calls))

    async def get_response(self, *_: object, **__: object) -> ModelResponse:
        """Make the next call, or end."""
        number, call = next(self.calls, (0, None))
        if call is None:
            said = ResponseOutputText(text="Done.", type="output_text", annotations=[])
            item = ResponseOutputMessage(
                id="m", content=[said], role="assistant", status="completed", type="message"
            )
        else:
            item = ResponseFunctionToolCall(
                arguments=json.dumps(call),
                call_id=f"call-{number}",
                name="global_memory",
                type="function_call",
            )
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *_: object, **__: object) -> object:
        """Not used."""
        raise NotImplementedError


def test_the_agents_sdk_calls_the_tools_and_asks_a_person(tools: MemoryTools, shelf: Scope) -> None:
    """A delete interrupts the run; approved there, it is carried out."""
    set_tracing_disabled(disabled=True)
    agent = Agent(name="Writer", tools=function_tools(tools), model=Scripted(SAVE, DELETE))

    async def story() -> object:
        first = await Runner.run(agent, "Go.")
        assert shelf.list().total == 1
        (interruption,) = first.interruptions
        state = first.to_state()
        state.approve(interruption)
        return await Runner.run(agent, state)

    result = asyncio.run(story())
    assert result.final_output == "Done."
    assert [it.action for it in shelf.history()] == ["delete", "create"]
    assert shelf.history()[0].actor == "agent:writer"


def test_pydantic_ai_calls_the_tools_and_asks_a_person(tools: MemoryTools, shelf: Scope) -> None:
    """A bad call is retried; a delete is deferred with its card, and carried out when approved."""
    calls = iter([SAVE | {"type": "note"}, SAVE, DELETE])
    heard: list[object] = []

    def model(messages: list[object], _: object) -> PydanticResponse:
        heard.extend(messages[-1].parts)
        call = next(calls, None)
        part = TextPart("Done.") if call is None else ToolCallPart("global_memory", call)
        return PydanticResponse(parts=[part])

    agent = PydanticAgent(
        FunctionModel(model),
        toolsets=[MemoryToolset(tools)],
        output_type=[str, DeferredToolRequests],
    )
    first = asyncio.run(agent.run("Go."))
    assert isinstance(first.output, DeferredToolRequests)
    assert any("is not one of" in str(getattr(it, "content", "")) for it in heard)
    (waiting,) = first.output.approvals
    card = first.output.metadata[waiting.tool_call_id]
    assert card["description"] == "Memory delete: n (plan)"
    assert shelf.list().total == 1
    second = asyncio.run(
        agent.run(
            message_history=first.all_messages(),
            deferred_tool_results=DeferredToolResults(approvals={waiting.tool_call_id: True}),
        )
    )
    assert second.output == "Done."
    assert shelf.list().total == 0
    assert any(isinstance(it, ToolReturnPart) and "Deleted memory" in it.content for it in heard)


def test_langchain_calls_the_tools(tools: MemoryTools, shelf: Scope) -> None:
    """Sync and async; the artifact is the whole result, an approval that waits among it."""
    made = {it.name: it for it in langchain_tools(tools)}
    plain = tools.schemas(["memory"])[0]
    assert made["memory"].tool_call_schema == {
        **plain["parameters"],
        "description": plain["description"],
    }
    call = ToolCall(name="global_memory", args=SAVE, id="1", type="tool_call")
    message = made["global_memory"].invoke(call)
    assert message.content == "Created memory [n] (type=plan) in global scope."
    assert isinstance(message.artifact, ToolResult)
    waiting = ToolCall(name="global_memory", args=DELETE, id="2", type="tool_call")
    message = asyncio.run(made["global_memory"].ainvoke(waiting))
    assert message.artifact.approval.description == "Memory delete: n (plan)"
    assert shelf.list().total == 1


Door = Callable[[MemoryTools], Callable[[], Awaitable[object]]]


def langchain_door(tools: MemoryTools) -> Callable[[], Awaitable[object]]:
    """Return a save through a tool of LangChain."""
    (_, tool) = langchain_tools(tools)
    return lambda: tool.ainvoke(SAVE)


def agents_door(tools: MemoryTools) -> Callable[[], Awaitable[object]]:
    """Return a save through a run of the Agents SDK."""
    set_tracing_disabled(disabled=True)
    agent = Agent(name="W", tools=function_tools(tools), model=Scripted(SAVE))
    return lambda: Runner.run(agent, "Go.")


def pydantic_door(tools: MemoryTools) -> Callable[[], Awaitable[object]]:
    """Return a save through a run of Pydantic AI."""
    parts = iter([ToolCallPart("global_memory", SAVE), TextPart("Done.")])
    model = FunctionModel(lambda *_: PydanticResponse(parts=[next(parts)]))
    agent = PydanticAgent(model, toolsets=[MemoryToolset(tools)])
    return lambda: agent.run("Go.")


@pytest.mark.parametrize("door", [langchain_door, agents_door, pydantic_door])
def test_no_loop_waits_for_a_lock(
    tools: MemoryTools,
    shelf: Scope,
    turns_while_locked: Callable[[Callable[[], Awaitable[object]]], object],
    door: Door,
) -> None:
    """Each async door goes on turning while a write waits for another program."""
    assert turns_while_locked(door(tools))
    assert shelf.get("n", "plan").content == "x"


DOORS = {
    "anthropic": ("anthropic", "anthropic"),
    "mcp": ("mcp", "mcp"),
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "langgraph": ("langgraph", "langgraph"),
    "langchain": ("langchain_core", "langchain"),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_missing_extra_names_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    """One clear error, of our own tree, that is an ImportError too."""
    package, extra = DOORS[door]
    for name in [it for it in sys.modules if it.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"memories_sdk.integrations.{door}", raising=False)
    with pytest.raises(MissingExtra) as caught:
        importlib.import_module(f"memories_sdk.integrations.{door}")
    assert str(caught.value) == (
        f"memories_sdk.integrations.{door} needs packages that are not installed."
        f' Install them with: pip install "memories-sdk[{extra}]"'
    )


def test_every_door_names_its_extra() -> None:
    """A new door fails here until it has its row above, and an extra that installs it."""
    names = {it.name for it in pkgutil.iter_modules(integrations.__path__)}
    assert names == DOORS.keys()
    extras = metadata("memories-sdk").get_all("Provides-Extra")
    assert {extra for _, extra in DOORS.values()} <= set(extras)


def test_the_package_loads_no_framework() -> None:
    """What a program does not use, it does not pay for."""
    names = sorted({package for package, _ in DOORS.values()})
    script = f"import sys, memories_sdk; print([it for it in {names} if it in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "name", ["openai_agent", "pydantic_ai_agent", "langgraph_store", "langchain_tools"]
)
def test_the_examples_run(run_example: Callable[[str], str], name: str) -> None:
    """Offline, each with a scripted model."""
    assert "tram" in run_example(name)
