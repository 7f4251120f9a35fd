"""The tools of an agent as LangChain tools, for `create_agent` and `bind_tools`.

```python
model.bind_tools(langchain_tools(MemoryTools(store, acting_as=alice, agent="writer")))
```

A result is the text for the model; the whole `ToolResult` is the message's artifact.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from memories_sdk.integrations import Extra
from memories_sdk.results import ToolResult
from memories_sdk.schemas import Definition
from memories_sdk.tools import TOOLS, MemoryTools

with Extra("langchain", "langchain_core"):
    from langchain_core.tools import StructuredTool


def langchain_tools(
    tools: MemoryTools, names: Iterable[str] = TOOLS, *, prompt: str | None = None
) -> list[StructuredTool]:
    """Return the tools as LangChain takes them, sync and async.

    Args:
        tools: The agent's tools.
        names: Which; the two document tools when left out.
        prompt: What the user said, for the fact tools; the model cannot say it.
    """
    return [_tool(tools, made, prompt) for made in tools.definitions(names)]


def _tool(tools: MemoryTools, made: Definition, prompt: str | None) -> StructuredTool:
    def call(**arguments: object) -> tuple[str, ToolResult]:
        result = tools.call(made.name, arguments, prompt=prompt)
        return str(result), result

    async def acall(**arguments: object) -> tuple[str, ToolResult]:
        return await asyncio.to_thread(call, **arguments)

    return StructuredTool(
        name=made.name,
        description=made.description,
        args_schema=dict(made.parameters),
        func=call,
        coroutine=acall,
        response_format="content_and_artifact",
    )
