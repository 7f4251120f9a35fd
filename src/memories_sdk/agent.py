"""The least of an agent: a loop that lets a model call the tools. For prototypes and tests.

```python
def model(messages, tools):                                   # any chat client, in three lines
    answer = client.chat.completions.create(model="…", messages=messages, tools=tools)
    return answer.choices[0].message.model_dump(exclude_none=True)

run(model, MemoryTools(store, acting_as=alice, agent="writer"), "Plan my newsletter").text
```

Messages and tools are those of OpenAI's chat completions, which most clients speak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories_sdk.errors import InvalidInput, MemoriesError
from memories_sdk.results import Approval, ToolResult
from memories_sdk.templates import ASSISTANT, Template
from memories_sdk.tools import TOOLS, MemoryTools

Message = dict[str, Any]
Model = Callable[[list[Message], list[dict[str, object]]], Mapping[str, Any]]
"""Answers messages, given the definitions of tools, with a message of the assistant."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run came to.

    Attributes:
        text: The model's last words.
        messages: All that was said, to go on from.
        steps: How many answers the model gave.
        finished: Whether the model was done; False when `max_steps` ended the run.
        waiting: The calls that still wait for a person.
    """

    text: str
    messages: tuple[Message, ...]
    steps: int
    finished: bool
    waiting: tuple[Approval, ...] = ()


def run(
    model: Model,
    tools: MemoryTools,
    prompt: str,
    *,
    names: Iterable[str] = TOOLS,
    template: Template = ASSISTANT,
    history: Sequence[Message] = (),
    wait: Callable[[Approval], ToolResult] | None = None,
) -> Run:
    """Let a model work with the tools until it is done, or `max_steps` are over.

    What is known about the prompt stands before it, as `relevant_for_prompt` finds it.

    Args:
        model: See the module: three lines around any chat client.
        tools: The agent's tools. With `ask=` a person is asked at once.
        prompt: What the user says.
        names: Which tools; the two document tools when left out.
        template: What the model is told first, and the most steps.
        history: The messages of an earlier run, without the first.
        wait: Called with each call that waits for a person; returns what came of it. Without it
            the model is told that it waits, and goes on.

    Raises:
        InvalidInput: The template allows no continuation, and a history was given.
    """
    messages = _opening(tools, template, prompt, history)
    schemas = tools.schemas(names, form="openai")
    waiting: list[Approval] = []
    text = ""
    for step in range(1, template.max_steps + 1):
        answer = dict(model(list(messages), schemas))
        messages.append({"role": "assistant", **answer})
        text = str(answer.get("content") or "")
        if not (calls := answer.get("tool_calls")):
            return Run(text, tuple(messages), step, finished=True, waiting=tuple(waiting))
        for call in calls:
            result = _carried_out(tools, call, prompt, wait)
            if result.code == "approval_required" and result.approval is not None:
                waiting.append(result.approval)
            told = {"role": "tool", "tool_call_id": call.get("id"), "content": str(result)}
            messages.append(told)
    return Run(text, tuple(messages), template.max_steps, finished=False, waiting=tuple(waiting))


def _opening(
    tools: MemoryTools, template: Template, prompt: str, history: Sequence[Message]
) -> list[Message]:
    """Return what the model is told first."""
    if history and not template.allow_continuation:
        raise InvalidInput(
            "This template allows no continuation.", field="history", suggestion="Start anew."
        )
    said = "\n\n".join([template.system_prompt, *_known(tools, prompt)])
    asked = {"role": "user", "content": prompt}
    return [{"role": "system", "content": said}, *history, asked]


def _carried_out(
    tools: MemoryTools,
    call: Mapping[str, Any],
    prompt: str,
    wait: Callable[[Approval], ToolResult] | None,
) -> ToolResult:
    function = call.get("function") or {}
    name = str(function.get("name"))
    result = tools.call(name, function.get("arguments"), prompt=prompt)
    if result.code != "approval_required" or result.approval is None or wait is None:
        return result
    try:
        return wait(result.approval)
    except MemoriesError as error:
        return ToolResult(ok=False, text=str(error), code=error.code)


def _known(tools: MemoryTools, prompt: str) -> list[str]:
    """Return what the shelves that the agent may read know about a prompt."""
    found = []
    for tool in TOOLS:
        get = {"action": "get"}
        if "get" not in tools.operations[tool] or tools.needs_approval(tool, get):
            continue
        try:
            recall = tools.shelf(tool).relevant_for_prompt(prompt)
        except MemoriesError:
            continue  # whoever calls without an agent has the global shelf alone
        if recall:
            found.append(recall.as_context())
    return found
