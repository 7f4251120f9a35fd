"""The template of an agent, users' own templates, and the loop that lets a model call the tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from memories_sdk import InvalidInput, MemoryStore, MemoryTools, Principal, Scope
from memories_sdk.agent import Run, run
from memories_sdk.templates import ASSISTANT, Template, load
from memories_sdk.tools import OPERATIONS, TOOLS

SAVE = {"action": "save", "name": "n", "type": "plan", "content": "x"}
DELETE = {"action": "delete", "name": "n", "type": "plan"}
OWN = {"id": "mine", "name": "Mine", "system_prompt": "Be brief."}


@pytest.fixture
def tools(store: MemoryStore, alice: Principal) -> MemoryTools:
    """The tools of alice's agent, as the template has them."""
    writer = store.agents.create("writer", owner=alice)
    return MemoryTools(
        store,
        acting_as=alice,
        agent=writer,
        operations=ASSISTANT.tools,
        approval=ASSISTANT.policy,
    )


class Script:
    """A model that makes one call after the other, and keeps what it was sent."""

    def __init__(self, *calls: Mapping[str, object]) -> None:
        self.calls = list(calls)
        self.sent: list[list[dict[str, object]]] = []
        self.tools: list[object] = []

    def __call__(
        self, messages: list[dict[str, object]], tools: list[dict[str, object]]
    ) -> Mapping[str, object]:
        """Answer."""
        self.sent.append(messages)
        self.tools = tools
        if len(self.sent) > len(self.calls):
            return {"content": "Done."}
        arguments = json.dumps(self.calls[len(self.sent) - 1])
        function = {"name": "global_memory", "arguments": arguments}
        call = {"id": f"c{len(self.sent)}", "type": "function", "function": function}
        return {"content": None, "tool_calls": [call]}

    @property
    def told(self) -> list[object]:
        """What the tools answered."""
        return [it["content"] for it in self.sent[-1] if it["role"] == "tool"]


def test_the_assistant_is_what_the_seed_wires() -> None:
    """Both tools with all operations, ten steps, and the stricter approval."""
    assert (ASSISTANT.id, ASSISTANT.version) == ("memories/assistant", "2.0.0")
    assert (ASSISTANT.max_steps, ASSISTANT.allow_continuation) == (10, True)
    assert {tool: tuple(it) for tool, it in ASSISTANT.tools.items()} == dict.fromkeys(
        TOOLS, tuple(OPERATIONS)
    )
    for tool in TOOLS:
        asked = [it for it in OPERATIONS if ASSISTANT.policy.needs(tool, it)]
        assert asked == ["replace", "delete"]
    for word in ("plan:", "documentation:", "examples:", "context:", "before you `get`"):
        assert word in ASSISTANT.system_prompt


def test_a_template_of_ones_own(tmp_path: Path) -> None:
    """From a file or a mapping; what it leaves out is the default."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(OWN | {"tools": {"memory": ["list", "get"]}}), encoding="utf-8")
    made = load(path)
    assert made == load(OWN | {"tools": {"memory": ["list", "get"]}})
    assert (made.max_steps, made.category, made.tools) == (
        10,
        "general",
        {"memory": ["list", "get"]},
    )
    assert isinstance(made, Template)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"id": ""}, "id"),
        ({"name": 7}, "name"),
        ({"version": "two"}, "version"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": True}, "max_steps"),
        ({"allow_continuation": "yes"}, "allow_continuation"),
        ({"tools": ["memory"]}, "tools"),
        ({"tools": {"memory": "list"}}, "tools"),
        ({"tools": {"files": ["list"]}}, "tools"),
        ({"approval": {"memory": ["purge"]}}, "approval"),
        ({"secret": 1}, "secret"),
        ({"system_prompt": None}, "system_prompt"),
    ],
)
def test_a_template_of_no_use_is_refused_by_name(wrong: dict[str, object], field: str) -> None:
    """The message says which value, and what it must be."""
    with pytest.raises(InvalidInput, match=f"^{field} of a template must be") as caught:
        load(OWN | wrong)
    assert caught.value.field == field


def test_a_template_must_be_readable(tmp_path: Path) -> None:
    """Neither a missing file, nor one that is no JSON, nor one without an object."""
    for text in (None, "{", "[]"):
        path = tmp_path / "broken.json"
        if text is not None:
            path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidInput, match=r"broken\.json is no template"):
            load(path)
    with pytest.raises(InvalidInput, match="name of a template must be given"):
        load({"id": "mine"})


def test_the_loop_calls_the_tools_until_the_model_is_done(tools: MemoryTools, shelf: Scope) -> None:
    """Tools are defined, results told, and what is known stands before the prompt."""
    shelf.save("reader", "context", "Alice reads on the tram")
    model = Script(SAVE, {"action": "list"})
    done = run(model, tools, "Write something for my tram ride")
    assert (done.text, done.steps, done.finished, done.waiting) == ("Done.", 3, True, ())
    system = model.sent[0][0]["content"]
    assert system.startswith(ASSISTANT.system_prompt)
    assert "Alice reads on the tram" in system
    assert [it["function"]["name"] for it in model.tools] == list(TOOLS)
    assert model.told[0] == "Created memory [n] (type=plan) in global scope."
    assert shelf.get("n", "plan").content == "x"
    assert done.messages[-1] == {"role": "assistant", "content": "Done."}


def test_the_loop_ends_after_so_many_steps(tools: MemoryTools) -> None:
    """A model that never ends is ended, and can be taken up again."""
    model = Script(*[{"action": "list"}] * 50)
    done = run(model, tools, "Go on")
    assert (done.steps, done.finished) == (10, False)
    again = run(Script(), tools, "And?", history=done.messages[1:])
    assert again.finished
    closed = load(OWN | {"allow_continuation": False})
    with pytest.raises(InvalidInput, match="no continuation"):
        run(Script(), tools, "And?", template=closed, history=done.messages[1:])


def test_a_call_that_waits_is_told_and_kept(
    store: MemoryStore, alice: Principal, tools: MemoryTools, shelf: Scope
) -> None:
    """Without anybody to ask, the model goes on; the request is granted later."""
    shelf.save("n", "plan", "x")
    model = Script(DELETE)
    done = run(model, tools, "Tidy up")
    assert model.told == ["Waiting for approval: Memory delete: n (plan)"]
    (waiting,) = done.waiting
    assert shelf.list().total == 1
    assert store.approvals.grant(waiting.id, acting_as=alice).ok
    assert shelf.list().total == 0


def test_the_loop_can_wait_for_a_person(
    store: MemoryStore, alice: Principal, tools: MemoryTools, shelf: Scope
) -> None:
    """What came of it is told to the model, a conflict too."""
    shelf.save("n", "plan", "x")
    model = Script(DELETE)
    done = run(
        model,
        tools,
        "Tidy up",
        wait=lambda card: store.approvals.grant(card.id, acting_as=alice),
    )
    assert model.told == ["Deleted memory [n] (type=plan) from global scope."]
    assert done.waiting == ()
    shelf.save("n", "plan", "x")

    def late(card: object) -> object:
        shelf.save("n", "plan", "changed")
        return store.approvals.grant(card.id, acting_as=alice)

    model = Script(DELETE)
    run(model, tools, "Tidy up", wait=late)
    assert str(model.told[0]).startswith("The memory changed: you saw version 1")
    assert shelf.get("n", "plan").content == "changed"


def test_a_model_may_send_nonsense(tools: MemoryTools) -> None:
    """It is told so, and the loop goes on."""

    class Odd(Script):
        def __call__(self, messages: list[object], tools: list[object]) -> Mapping[str, object]:
            self.sent.append(messages)
            self.tools = tools
            if len(self.sent) > 1:
                return {}
            return {"tool_calls": [{}, {"function": {"name": "memory", "arguments": "not json"}}]}

    model = Odd()
    done = run(model, tools, "?")
    assert isinstance(done, Run)
    assert [str(it)[:12] for it in model.told] == ["Unknown tool", "Error: argum"]
