"""What a model may send: one meaning is taken, two are refused, and nothing is raised."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime

import pytest
from held import run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories_sdk import MemoryTools, Scope
from memories_sdk.tools import (
    OPERATIONS,
    TOOLS,
    describe,
)

NO_TEXT: dict[str, object] = {
    "truth value": True,
    "list": ["x"],
    "object": {"text": "x"},
    "NaN": math.nan,
    "infinity": math.inf,
    "5,001 digits": 10**5_000,
    "bytes": b"x",
    "moment": datetime(2026, 1, 1, tzinfo=UTC),
}
NO_INTEGER: dict[str, object] = {
    "half": 7.5,
    "word": "seven",
    "half as text": "7.5",
    "empty text": "",
    "truth value": True,
    "list": [7],
    "NaN": math.nan,
    "infinity": math.inf,
    "5,000 digits as text": "9" * 5_000,
    "5,001 digits": 10**5_000,
    "more than JavaScript holds": 2**60,
    "another script": "\u0667",
}
NO_OBJECT: dict[str, object] = {
    "words": "not json",
    "list as text": "[1]",
    "number as text": "7",
    "text as text": '"list"',
    "deep lists": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "doubled key": '{"action": "list", "action": "delete"}',
    "NaN": '{"order": NaN}',
    "5,000 digits": '{"order": ' + "9" * 5_000 + "}",
    "more behind": '{"action": "list"} trailing',
    "lone surrogate": "\ud800",
    "number": 7,
    "empty list": [],
    "list": ["list"],
    "truth value": True,
    "thing": object(),
    "bytes": b"{}",
}


@pytest.mark.parametrize(
    ("sent", "stored"),
    [(42, "42"), (1.5, "1.5"), (0, "0"), (-7, "-7"), ("", ""), (2**62, str(2**62))],
)
def test_a_number_sent_as_text_is_its_text(
    tools: MemoryTools, own: Scope, sent: object, stored: str
) -> None:
    """What has one meaning is taken."""
    assert run(tools, "save", name="n", type="plan", content=sent).ok
    assert own.get("n", "plan").content == stored


@pytest.mark.parametrize("kind", NO_TEXT)
@pytest.mark.parametrize("name", ["name", "type", "content", "summary", "action"])
def test_what_is_no_text_is_refused(tools: MemoryTools, own: Scope, name: str, kind: str) -> None:
    """What could mean two things is refused by name, and nothing is stored."""
    call = {"action": "save", "name": "n", "type": "plan", "content": "x"}
    arguments = call | {name: NO_TEXT[kind]}
    result = tools.call("memory", arguments)
    assert (result.ok, result.code) == (False, "invalid")
    assert result.text.startswith(f"Error: {name} must be text")
    assert own.list().total == 0


@pytest.mark.parametrize("sent", [7, 7.0, "7", " 7 ", "+7"], ids=repr)
def test_a_whole_number_is_an_integer_in_any_form(
    tools: MemoryTools, own: Scope, sent: object
) -> None:
    """Models send integers as text and as floats."""
    run(tools, "save", name="n", type="plan", content="x", order=sent)
    assert own.get("n", "plan").order == 7


@pytest.mark.parametrize("kind", NO_INTEGER)
def test_what_is_no_integer_is_refused(tools: MemoryTools, own: Scope, kind: str) -> None:
    """A half, a word or a number of 5,000 digits is no place in a list."""
    result = run(tools, "save", name="n", type="plan", content="x", order=NO_INTEGER[kind])
    assert (result.ok, result.code) == (False, "invalid")
    assert result.text.startswith("Error: order must")
    assert own.list().total == 0


def test_arguments_may_come_as_json_text(tools: MemoryTools, own: Scope) -> None:
    """The whole object as one string is read as what it says."""
    sent = json.dumps({"action": "save", "name": "n", "type": "plan", "content": "é \u2028"})
    assert tools.call("memory", sent).ok
    assert own.get("n", "plan").content == "é \u2028"


@pytest.mark.parametrize("kind", NO_OBJECT)
def test_what_is_no_object_is_refused(tools: MemoryTools, kind: str) -> None:
    """Broken, nested, doubled or unreadable arguments get a sentence, not a guess."""
    result = tools.call("memory", NO_OBJECT[kind])
    assert (result.ok, result.code, result.retryable) == (False, "invalid", True)
    assert result.text.startswith("Error: arguments ")


def test_unknown_arguments_are_passed_over(tools: MemoryTools, own: Scope) -> None:
    """A name that a model made up neither fails the call nor changes it."""
    result = run(
        tools, "save", name="n", type="plan", content="x", force=True, agent="other", pinned=True
    )
    assert result.ok
    assert not own.get("n", "plan").pinned


def test_several_edits_are_one_replace(tools: MemoryTools, own: Scope) -> None:
    """`edits` is taken beside find and new_text, as a list or as its JSON text."""
    own.save("n", "plan", "one two")
    edits = [{"find": "one", "new_text": "1"}, {"find": "two", "new_text": ""}]
    result = run(tools, "replace", name="n", type="plan", edits=edits)
    assert result.text == "Replaced 2 occurrences in [n] (type=plan)."
    result = run(tools, "replace", name="n", type="plan", edits=json.dumps(edits[:1]))
    assert result.text == "find matches 0 occurrences."
    assert own.get("n", "plan").content == "1 "


@pytest.mark.parametrize(
    "edits", [[], "x", [{}], [{"find": "a"}], [["a", "b"]], {"find": "a"}, 7, [None]], ids=repr
)
def test_broken_edits_are_refused(tools: MemoryTools, own: Scope, edits: object) -> None:
    """Each edit is an object with both texts."""
    own.save("n", "plan", "a")
    result = run(tools, "replace", name="n", type="plan", edits=edits)
    assert (result.ok, result.code) == (False, "invalid")
    assert own.get("n", "plan").content == "a"


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**62, max_value=2**70),
    st.floats(),
    st.text(max_size=20),
    st.text(st.characters(categories=["Cs", "Cc", "Zl", "Zp", "L"]), max_size=8),
    st.binary(max_size=4),
    st.sampled_from([*OPERATIONS, *TOOLS, "plan", "fact", "context", "n", "", " ", "x" * 300]),
)
PAIRS = st.dictionaries(st.sampled_from(["find", "new_text", "x"]), SCALARS, max_size=3)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.lists(PAIRS, max_size=2) | PAIRS
KNOWN = (
    *("action", "name", "type", "content", "summary", "order", "find", "new_text"),
    *("edits", "expected_version"),
)
CALLS = st.dictionaries(st.sampled_from(KNOWN) | st.text(max_size=4), VALUES, max_size=8)
LIKELY = st.fixed_dictionaries(
    {"action": st.sampled_from([*OPERATIONS]), "name": st.sampled_from(["n", "m"])},
    optional={"type": st.sampled_from(["plan", "context", "fact"]), "content": VALUES}
    | dict.fromkeys(("summary", "order", "find", "new_text", "edits"), VALUES),
)


@pytest.mark.parametrize("engine", ["sqlite-memory"])
@settings(max_examples=2_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tool=st.sampled_from([*TOOLS, "other"]),
    arguments=CALLS | LIKELY | VALUES,
    approved=st.booleans(),
)
def test_no_arguments_make_a_tool_raise(
    tools: MemoryTools, tool: str, arguments: object, *, approved: bool
) -> None:
    """Whatever a model sends, it gets a text and a code that was foreseen."""
    result = tools.call(tool, arguments, approved=approved)
    assert result.text
    assert result.code != "internal"
    assert result.ok == (result.code == "ok")
    assert isinstance(describe(arguments), str)
    assert isinstance(tools.needs_approval(tool, arguments), bool)
