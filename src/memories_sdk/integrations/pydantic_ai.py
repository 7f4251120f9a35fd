"""The tools of an agent as a toolset of Pydantic AI.

```python
Agent(model, toolsets=[MemoryToolset(MemoryTools(store, acting_as=alice, agent="writer"))])
```

A call that a person must agree to is deferred, as the framework's own approvals are: the run ends
with `DeferredToolRequests`, and is resumed with `DeferredToolResults`.
"""

from __future__ import annotations

from collections.abc import Iterable

from memories_sdk.integrations import Extra
from memories_sdk.tools import TOOLS, MemoryTools

with Extra("pydantic-ai", "pydantic_ai", "anyio"):
    from anyio.to_thread import run_sync
    from pydantic_ai import AbstractToolset, ApprovalRequired, ModelRetry, RunContext
    from pydantic_ai.tools import AgentDepsT, ToolDefinition
    from pydantic_ai.toolsets import ToolsetTool
    from pydantic_ai.toolsets.external import TOOL_SCHEMA_VALIDATOR


class MemoryToolset(AbstractToolset[AgentDepsT]):
    """A toolset over the tools of an agent; its loop never waits for the store.

    Args:
        tools: The agent's tools.
        names: Which; the two document tools when left out.
        id: Names the toolset where runs are durable.
        max_retries: How often a model may mend a call that was refused for its arguments.
    """

    def __init__(
        self,
        tools: MemoryTools,
        names: Iterable[str] = TOOLS,
        *,
        id: str | None = None,
        max_retries: int = 2,
    ) -> None:
        self._tools = tools
        self._names = tuple(names)
        self._id = id
        self._max_retries = max_retries

    @property
    def id(self) -> str | None:
        """What names the toolset where runs are durable."""
        return self._id

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Return the tools that the agent has."""
        del ctx  # they are the same in every run
        return {
            made.name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=made.name,
                    description=made.description,
                    parameters_json_schema=dict(made.parameters),
                ),
                max_retries=self._max_retries,
                args_validator=TOOL_SCHEMA_VALIDATOR,
            )
            for made in self._tools.definitions(self._names)
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, object],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> str:
        """Carry out a call; what better arguments may mend is a retry for the model."""
        del tool
        prompt = ctx.prompt if isinstance(ctx.prompt, str) else None

        def call() -> str:
            result = self._tools.call(
                name,
                tool_args,
                prompt=prompt,
                approved=ctx.tool_call_approved,
                operation=ctx.tool_call_id,
            )
            if result.code == "approval_required" and result.approval is not None:
                card = result.approval
                shown = {"description": card.description, "preview": card.preview}
                raise ApprovalRequired(metadata={**shown, "id": str(card.id)})
            if result.retryable and ctx.retry < self._max_retries:
                raise ModelRetry(str(result))
            return str(result)

        return await run_sync(call)
