"""What a model gets from its tools: exact phrases, approvals, bounded texts, schemas."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

import jsonschema
import pytest
from held import run

from memories_sdk import MemoryStore, MemoryTools, Principal, Scope
from memories_sdk.tools import (
    MAX_TEXT,
    NO_CONTEXT,
    OPERATIONS,
    TOOLS,
    UNFORESEEN,
    describe,
    enabled_by_default,
    needs_approval_by_default,
    schema,
)

if TYPE_CHECKING:
    from conftest import MakeStore


def test_the_phrases_are_the_seeds(tools: MemoryTools) -> None:
    """Word for word, from save to delete, in both scopes."""
    said = [
        run(tools, action, tool, **arguments).text
        for tool in TOOLS
        for action, arguments in [
            ("list", {}),
            ("save", {"name": "n", "type": "plan", "content": "# One\n\ntwo"}),
            ("save", {"name": "n", "type": "plan", "content": "One two"}),
            ("list", {}),
            ("get", {"name": "n", "type": "plan"}),
            ("replace", {"name": "n", "type": "plan", "find": "two", "new_text": "2"}),
            ("replace", {"name": "n", "type": "plan", "find": "zwei", "new_text": "2"}),
            ("delete", {"name": "n", "type": "plan"}),
            ("delete", {"name": "n", "type": "plan"}),
        ]
    ]
    phrases = [
        "No memories found in {0} scope.",
        "Created memory [n] (type=plan) in {0} scope.",
        "Updated memory [n] (type=plan) in {0} scope.",
        "Found 1 memory(ies) in {0} scope:\n- [n] [plan] — One two",
        "# n (plan)\n*Summary: One two*\n\nOne two",
        "Replaced 1 occurrence in [n] (type=plan).",
        "find matches 0 occurrences.",
        "Deleted memory [n] (type=plan) from {0} scope.",
        "Memory [n] (type=plan) not found in {0} scope.",
    ]
    assert said == [phrase.format(kind) for kind in TOOLS.values() for phrase in phrases]


def test_the_tools_speak_of_two_shelves(tools: MemoryTools, own: Scope) -> None:
    """`memory` is the agent's shelf, `global_memory` its owner's; the history names the agent."""
    run(tools, "save", name="n", type="plan", content="own")
    run(tools, "save", "global_memory", name="n", type="plan", content="shared")
    assert own.get("n", "plan").content == "own"
    assert own.history()[0].actor == "agent:writer"
    assert "shared" in run(tools, "get", "global_memory", name="n", type="plan").text


def test_a_group_owned_agent_works_for_the_group(
    store: MemoryStore, alice: Principal, lab: Principal
) -> None:
    """Its global memories are the group's, whoever runs it."""
    crew = store.agents.create("crew", owner=lab)
    tools = MemoryTools(store, acting_as=alice, agent=crew)
    run(tools, "save", "global_memory", name="n", type="plan", content="team")
    assert store.scope(acting_as=alice, principal=lab).get("n", "plan").content == "team"
    assert store.scope(acting_as=alice).list().total == 0


def test_the_tools_see_documents_alone(store: MemoryStore, alice: Principal) -> None:
    """A fact is neither listed nor got by a document tool; its type is refused by name."""
    store.scope(acting_as=alice).save("secret", "fact", "x")
    tools = MemoryTools(store, acting_as=alice)
    assert run(tools, "list", "global_memory").text == "No memories found in global scope."
    result = run(tools, "get", "global_memory", name="secret", type="fact")
    assert result.text == (
        "Error: type 'fact' is not one of: plan, documentation, examples, context"
    )


@pytest.mark.parametrize(
    "arguments", [None, {}, {"action": ""}, {"action": None}, "", "{}", " "], ids=repr
)
def test_no_action_means_list(tools: MemoryTools, arguments: object) -> None:
    """Nothing sent is a harmless look."""
    assert tools.call("memory", arguments).text == "No memories found in agent scope."


@pytest.mark.parametrize("action", ["List", "drop", " list", "list ", "clear"])
def test_an_unknown_action_is_told_what_there_is(tools: MemoryTools, action: str) -> None:
    """Actions are exact; the refusal names them."""
    result = run(tools, action)
    assert (result.ok, result.code) == (False, "unknown_action")
    assert result.text == "Invalid action. Must be list, get, save, replace, or delete."


@pytest.mark.parametrize(
    ("action", "arguments", "missing"),
    [
        ("get", {"type": "plan"}, "name"),
        ("get", {"name": "n"}, "type"),
        ("get", {"name": " \t", "type": "plan"}, "name"),
        ("get", {"name": None, "type": None}, "name"),
        ("save", {"name": "n", "content": "x"}, "type"),
        ("delete", {"name": "n", "type": ""}, "type"),
        ("replace", {"name": "n", "type": "plan", "new_text": "x"}, "find"),
        ("replace", {"name": "n", "type": "plan", "find": "", "new_text": "x"}, "find"),
        ("replace", {"name": "n", "type": "plan", "find": "x"}, "new_text"),
        ("replace", {"name": "n", "type": "plan", "find": "x", "new_text": None}, "new_text"),
    ],
)
def test_a_missing_argument_is_named(
    tools: MemoryTools, own: Scope, action: str, arguments: dict[str, object], missing: str
) -> None:
    """One argument at a time, in the seed's words; a null counts as missing."""
    own.save("n", "plan", "x")
    result = run(tools, action, **arguments)
    assert (result.ok, result.retryable) == (False, True)
    assert result.text == f"Error: {missing} is required for {action} action."
    assert own.get("n", "plan").content == "x"


def test_content_is_needed_for_a_new_memory_alone(tools: MemoryTools, own: Scope) -> None:
    """A save without content does not blank a body that is there."""
    assert run(tools, "save", name="n", type="plan").code == "invalid"
    run(tools, "save", name="n", type="plan", content="body")
    assert run(tools, "save", name="n", type="plan", summary="Mine").ok
    memory = own.get("n", "plan")
    assert (memory.content, memory.summary) == ("body", "Mine")


def test_order_is_zero_for_a_new_memory_and_kept_for_an_old_one(
    tools: MemoryTools, own: Scope
) -> None:
    """The documented default places new memories first and never resets a curated place."""
    own.create("old", "plan", "x", order=5)
    run(tools, "save", name="new", type="plan", content="x")
    run(tools, "save", name="old", type="plan", content="y")
    assert [(it.name, it.order) for it in own.list()] == [("new", 0), ("old", 5)]


def test_a_seen_version_is_compared(tools: MemoryTools, own: Scope) -> None:
    """An agent that read version 1 does not overwrite version 2, by any operation."""
    own.save("n", "plan", "one")
    own.save("n", "plan", "two")
    seen = {"name": "n", "type": "plan", "expected_version": 1}
    for action, more in (
        ("save", {"content": "mine"}),
        ("replace", {"find": "two", "new_text": "mine"}),
        ("delete", {}),
    ):
        result = run(tools, action, **seen, **more)
        assert (result.ok, result.code) == (False, "edit_conflict")
    assert own.get("n", "plan").content == "two"
    assert run(tools, "save", content="mine", **(seen | {"expected_version": "2"})).ok


def test_no_context_is_refused_before_anything_else(store: MemoryStore, alice: Principal) -> None:
    """Without a caller nothing is read or written, whatever the arguments are."""
    tools = MemoryTools(store, acting_as=None, agent="writer")
    for tool in TOOLS:
        for arguments in ({"action": "list"}, {"action": "purge"}, "not json", None):
            result = tools.call(tool, arguments, approved=True)
            assert (result.ok, result.code, result.text) == (False, "no_context", NO_CONTEXT)
    without_agent = MemoryTools(store, acting_as=alice)
    assert without_agent.call("memory").code == "no_context"
    assert without_agent.call("global_memory").ok


def test_an_unknown_tool_is_told_what_there_is(tools: MemoryTools) -> None:
    """A call for another tool names these."""
    result = tools.call("filesystem", {"action": "list"})
    assert (result.ok, result.code) == (False, "unknown_tool")
    assert result.text == "Unknown tool. Must be memory or global_memory."


def test_delete_waits_for_a_person(tools: MemoryTools, own: Scope) -> None:
    """Nothing is deleted before; the approval holds the very call and a line without the body."""
    own.save("n", "plan", "SECRET BODY")
    call = {"action": "delete", "name": "n", "type": "plan"}
    for sent in (call, json.dumps(call)):
        result = tools.call("memory", sent)
        assert (result.ok, result.code) == (False, "approval_required")
        assert result.text == "Waiting for approval: Memory delete: n (plan)"
        assert result.approval is not None
        assert (result.approval.tool, result.approval.arguments) == ("memory", call)
        assert "SECRET" not in repr(result)
    assert own.get("n", "plan").content == "SECRET BODY"
    assert tools.call("memory", result.approval.arguments, approved=True).ok
    assert own.list().total == 0


@pytest.mark.parametrize(
    "approved", [1, "yes", "False", object()], ids=["1", "yes", "False", "object"]
)
def test_only_true_is_an_approval(tools: MemoryTools, own: Scope, approved: object) -> None:
    """What a host passes by mistake grants nothing."""
    own.save("n", "plan", "x")
    call = {"action": "delete", "name": "n", "type": "plan"}
    assert tools.call("memory", call, approved=approved).code == "approval_required"
    assert own.list().total == 1


def test_a_call_that_cannot_succeed_is_refused_before_a_person_is_asked(
    tools: MemoryTools,
) -> None:
    """No card shows a call without a name."""
    assert tools.call("memory", {"action": "delete", "type": "plan"}).code == "invalid"


def test_needs_approval_tells_before_the_call(tools: MemoryTools) -> None:
    """Delete needs it, the others do not, and what nobody declared or can read does."""
    needed = {it: tools.needs_approval("memory", {"action": it}) for it in (*OPERATIONS, "purge")}
    assert {it for it, needs in needed.items() if needs} == {"delete", "purge"}
    assert tools.needs_approval("memory", "not json")
    assert not tools.needs_approval("memory", None)
    assert needs_approval_by_default("purge")
    assert all(enabled_by_default(it) for it in (*OPERATIONS, "purge"))


def test_a_disabled_operation_is_refused(store: MemoryStore, alice: Principal) -> None:
    """An agent without the operation neither sees it in the schema nor can call it."""
    shelf = store.scope(acting_as=alice)
    shelf.save("n", "plan", "x")
    tools = MemoryTools(
        store, acting_as=alice, operations={"global_memory": ["list", "get"], "memory": []}
    )
    for action in ("save", "replace", "delete"):
        result = run(tools, action, "global_memory", name="n", type="plan", content="y")
        assert (result.ok, result.code) == (False, "disabled")
        assert result.text == f"Operation '{action}' is disabled for this agent."
    assert run(tools, "list", "memory").code == "disabled"
    assert run(tools, "list", "global_memory").ok
    assert shelf.get("n", "plan").content == "x"
    (definition,) = (it for it in tools.schemas() if it["name"] == "global_memory")
    assert definition["parameters"]["properties"]["action"]["enum"] == ["list", "get"]


class Broken(Mapping[str, object]):
    """Arguments of a host that fail when they are read."""

    def __getitem__(self, key: str) -> object:
        raise RuntimeError("SECRET at " + key)

    def __iter__(self):
        raise RuntimeError("SECRET")

    def __len__(self) -> int:
        return 1


def test_the_unforeseen_is_told_neutrally_and_logged(
    tools: MemoryTools, caplog: pytest.LogCaptureFixture
) -> None:
    """A model hears that it failed and nothing of why; the log has the traceback."""
    with caplog.at_level(logging.ERROR, logger="memories_sdk.tools"):
        result = tools.call("memory", Broken())
    assert (result.ok, result.code, result.text) == (False, "internal", UNFORESEEN)
    assert "SECRET" not in str(result)
    (record,) = caplog.records
    assert record.exc_info is not None


def test_a_refusal_of_the_store_is_a_result(tools: MemoryTools, store: MemoryStore) -> None:
    """Also a closed store answers in words, with its code."""
    store.close()
    result = run(tools, "list")
    assert (result.ok, result.code) == (False, "closed")
    assert "closed" in result.text


def test_a_list_is_bounded_and_says_what_it_left_out(
    make_store: MakeStore,
) -> None:
    """The budget is in characters; the last line tells how many more there are."""
    store = make_store("many.db", durability="process")
    shelf = store.scope(acting_as=(alice := store.principals.user("alice")))
    for i in range(560):
        shelf.create(f"{i:04} {'n' * 190}", "plan", "", summary="s" * 10)
    text = MemoryTools(store, acting_as=alice).call("global_memory").text
    lines = text.split("\n")
    assert lines[0] == "Found 560 memory(ies) in global scope:"
    assert lines[-1] == f"… and {560 - (len(lines) - 2)} more. Name a type to see fewer."
    assert MAX_TEXT * 0.9 < len(text) < MAX_TEXT + 200
    assert all(line.startswith(f"- [{i:04}") for i, line in enumerate(lines[1:-1]))


def test_a_list_within_its_budget_is_whole(make_store: MakeStore) -> None:
    """More memories than a page holds are all listed."""
    store = make_store("many.db", durability="process")
    shelf = store.scope(acting_as=(alice := store.principals.user("alice")))
    for i in range(510):
        shelf.create(f"{i:04}", "plan", "")
    lines = MemoryTools(store, acting_as=alice).call("global_memory").text.split("\n")
    assert lines[1:] == [f"- [{i:04}] [plan]" for i in range(510)]


def test_a_long_body_is_cut_and_says_so(tools: MemoryTools, own: Scope) -> None:
    """A model gets the start and how much is missing."""
    own.save("n", "plan", "x" * (MAX_TEXT + 7), summary="Mine")
    text = run(tools, "get", name="n", type="plan").text
    assert text == f"# n (plan)\n*Summary: Mine*\n\n{'x' * MAX_TEXT}\n… and 7 more characters."


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"action": "delete", "name": " n ", "type": "plan"}, "Memory delete: n (plan)"),
        ({"action": "save", "name": "n", "content": "BODY"}, "Memory save: n"),
        ({}, "Memory list: "),
        ('{"action": "get", "name": "n"}', "Memory get: n"),
        ("not json", "Memory call that cannot be read"),
        ({"name": ["n"]}, "Memory call that cannot be read"),
        (
            {"action": "replace", "name": "n", "find": "BODY", "new_text": "BODY"},
            "Memory replace: n",
        ),
    ],
    ids=repr,
)
def test_a_call_is_described_in_one_line_without_its_body(arguments: object, line: str) -> None:
    """The card of an approval names operation, memory and type, and nothing of the text."""
    assert describe(arguments) == line


def test_a_description_stays_one_line(tools: MemoryTools) -> None:
    """A name with line breaks forges no second line on the card."""
    sent = {"action": "delete", "name": "a\nMemory list: b\u2028\u202ec", "type": "plan\rx"}
    for line in (describe(sent), tools.call("memory", sent).text):
        assert len(line.splitlines()) == 1
        assert "\u202e" not in line
    assert len(describe({"action": "x" * 10**6, "name": "y" * 10**6, "type": "z" * 10**6})) < 700


@pytest.fixture
def seeking(store: MemoryStore, alice: Principal, tools: MemoryTools) -> MemoryTools:
    """The tools of alice's agent `writer`, who may also search."""
    assert tools
    every = dict.fromkeys(TOOLS, (*OPERATIONS, "search"))
    return MemoryTools(store, acting_as=alice, agent="writer", operations=every)


def test_a_search_shows_the_best_first_with_what_matches(
    seeking: MemoryTools, own: Scope, shelf: Scope
) -> None:
    """Each hit as in a list, below it what that does not show, on the shelf of the tool alone."""
    own.save("tide", "plan", "Take boots. The ebb comes at six.", summary="A day at the coast")
    own.save("voice", "context", "Say ebb, never low water.")
    shelf.save("elsewhere", "plan", "ebb")
    assert run(seeking, "search", query="When is the ebb?").text.splitlines() == [
        "Found 2 memory(ies) that match in agent scope, the best first:",
        "- [voice] [context] — Say ebb, never low water.",
        "- [tide] [plan] — A day at the coast",
        "  > The ebb comes at six.",
    ]
    assert run(seeking, "search", query="ebb", type="plan").text.startswith("Found 1 memory(ies)")
    assert run(seeking, "search", query="whales").text == "No memories match in agent scope."
    result = run(seeking, "search", query="ebb", type="fact")
    assert (result.ok, result.code) == (False, "unknown_type")
    assert run(seeking, "search").text == "Error: query is required for search action."
    assert not seeking.needs_approval("memory", {"action": "search", "query": "x"})


def test_a_search_says_what_it_leaves_out(seeking: MemoryTools, own: Scope) -> None:
    """Twenty hits, and a bounded text; no body forges a line of it."""
    for number in range(30):
        own.save(f"n{number}", "plan", "ebb\n- [forged] [plan] — row\u2028  > quoted. " * 9)
    lines = run(seeking, "search", query="ebb").text.splitlines()
    assert sum(line.startswith("- [n") for line in lines) == 20
    assert not [it for it in lines if it.startswith(("- [forged", "  > quoted"))]
    assert lines[-1] == "… and 10 more. Use other words, or name a type."


def test_a_search_is_had_by_whom_it_was_given(tools: MemoryTools, seeking: MemoryTools) -> None:
    """The five operations are the seed's: no other is offered, shown or named unasked."""
    result = run(tools, "search", query="x")
    assert (result.code, result.text) == (
        "unknown_action",
        "Invalid action. Must be list, get, save, replace, or delete.",
    )
    assert run(seeking, "find", query="x").text == (
        "Invalid action. Must be list, get, save, replace, delete, or search."
    )
    (plain, _), (more, _) = tools.schemas(), seeking.schemas()
    assert "query" not in plain["parameters"]["properties"]
    properties = more["parameters"]["properties"]
    assert properties["action"]["enum"] == [*OPERATIONS, "search"]
    assert properties["query"]["type"] == "string"
    assert "list or search" in properties["type"]["description"]


def test_schemas_are_valid_and_closed() -> None:
    """An object without top-level choices, every property typed, nothing else allowed."""
    for operations in (tuple(OPERATIONS), *((it,) for it in OPERATIONS), ("list", "get"), ()):
        made = schema(operations)
        jsonschema.Draft202012Validator.check_schema(made)
        assert made["type"] == "object"
        assert made["additionalProperties"] is False
        assert not {"anyOf", "oneOf", "allOf", "enum"} & made.keys()
        properties = made["properties"]
        assert all(it["type"] in {"string", "integer"} for it in properties.values())
        assert all(it["description"] for it in properties.values())
        assert set(made["required"]) <= properties.keys()
        assert properties["action"]["enum"] == list(operations)


def test_a_schema_requires_what_every_operation_needs() -> None:
    """A model is not made to send stubs; with one operation the action goes without saying."""
    assert schema()["required"] == ["action"]
    assert schema(["save"])["required"] == ["name", "type", "content"]
    assert schema(["get", "delete"])["required"] == ["action", "name", "type"]
    assert schema(["list"])["required"] == []
    assert list(schema(["list"])["properties"]) == ["action", "type"]
    assert "find" not in schema(["list", "get", "save"])["properties"]


def test_what_a_schema_allows_the_tools_take(tools: MemoryTools) -> None:
    """A call that validates is not refused for its form."""
    validator = jsonschema.Draft202012Validator(schema())
    call = {"action": "save", "name": "n", "type": "plan", "content": "x", "order": 3}
    validator.validate(call)
    assert tools.call("memory", call).ok
    assert [it["name"] for it in tools.schemas()] == list(TOOLS)
    assert all(it["description"] and it["parameters"] == schema() for it in tools.schemas())
