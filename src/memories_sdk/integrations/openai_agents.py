"""The tools of an agent for OpenAI's Agents SDK.

```python
Agent(name="Writer", tools=function_tools(MemoryTools(store, acting_as=alice, agent="writer")))
```

A call that a person must agree to interrupts the run, as the SDK's own approvals do: decide with
`state.approve(…)` or `state.reject(…)` and resume. What the SDK approved is carried out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from memories_sdk.integrations import Extra
from memories_sdk.schemas import Definition, strict
from memories_sdk.tools import TOOLS, MemoryTools

with Extra("openai-agents", "agents", "openai"):
    from agents import FunctionTool, RunContextWrapper
    from agents.tool_context import ToolContext


def function_tools(
    tools: MemoryTools, names: Iterable[str] = TOOLS, *, prompt: str | None = None
) -> list[FunctionTool]:
    """Return the tools as the SDK takes them, with strict schemas.

    Args:
        tools: The agent's tools.
        names: Which; the two document tools when left out.
        prompt: What the user said, for the fact tools; the model cannot say it.
    """
    return [_function_tool(tools, made, prompt) for made in tools.definitions(names)]


def _function_tool(tools: MemoryTools, made: Definition, prompt: str | None) -> FunctionTool:
    async def needs_approval(
        _: RunContextWrapper[object], arguments: dict[str, object], __: str
    ) -> bool:
        return await asyncio.to_thread(tools.needs_approval, made.name, arguments)

    async def invoke(context: ToolContext[object], arguments: str) -> str:
        # The SDK calls it only where nobody must agree, or somebody did.
        result = await asyncio.to_thread(
            tools.call,
            made.name,
            arguments,
            prompt=prompt,
            approved=tools.needs_approval(made.name, arguments),
            operation=context.tool_call_id,
        )
        return str(result)

    return FunctionTool(
        name=made.name,
        description=made.description,
        params_json_schema=strict(made.parameters),
        on_invoke_tool=invoke,
        needs_approval=needs_approval,
    )
