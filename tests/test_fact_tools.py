"""The four fact tools: messages and codes of OpenWP, the user's wish, cards, and the way back."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories_sdk import FACTS, InvalidInput, MemoryStore, MemoryTools, Principal, Scope, ToolResult
from memories_sdk.fact_tools import FACT_TOOLS, remember
from memories_sdk.hooks import SECRETS
from memories_sdk.policy import APPROVAL, KEYWORD, Request, Verdict
from memories_sdk.tools import MAX_TEXT, NO_CONTEXT, TOOLS

TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
TONE = {"type": "preference", "key": "Reply Tone", "value": "Friendly", "tags": ["style"]}
WISHES = {
    "remember_memory": "Remember this please",
    "forget_memory": "Forget the tone",
    "clear_memory": "Clear all memory",
    "list_memory": "",
}


def say(
    tools: MemoryTools, tool: str, *, approved: bool = False, **arguments: object
) -> ToolResult:
    """Call a fact tool after a user's plain wish for it."""
    return tools.call(tool, arguments, prompt=WISHES[tool], approved=approved)


def told(result: ToolResult) -> tuple[bool, str, str]:
    """Return what a model and a host see first."""
    return result.ok, result.code, result.text


def test_a_fact_is_saved_updated_and_forgotten(tools: MemoryTools, shelf: Scope) -> None:
    """The messages are the seed's; the result for programs holds the fact."""
    saved = say(tools, "remember_memory", **TONE)
    assert told(saved) == (True, "ok", "Memory saved.")
    fact = shelf.get("reply-tone", "preference")
    assert saved.data == {
        "created": True,
        "item": {
            "id": str(fact.id),
            "type": "preference",
            "key": "reply-tone",
            "text": "Friendly",
            "tags": ["style"],
            "value": {
                "text": "Friendly",
                "tags": ["style"],
                "created_at": fact.created_at.isoformat(),
                "updated_at": fact.updated_at.isoformat(),
            },
            "updated_at": fact.updated_at.isoformat(),
        },
    }
    again = say(tools, "remember_memory", type="preference", key="reply tone", value="Formal")
    assert told(again) == (True, "ok", "Memory updated.")
    assert again.data["item"]["tags"] == ["style"]
    gone = say(tools, "forget_memory", type="preference", key="Reply-Tone")
    assert told(gone) == (True, "ok", "Memory deleted.")
    assert gone.data == {"deleted": True, "type": "preference", "key": "reply-tone"}
    missing = say(tools, "forget_memory", type="preference", key="reply-tone")
    assert told(missing) == (True, "ok", "Memory key not found.")
    assert missing.data == {"deleted": False, "type": "preference", "key": "reply-tone"}


def test_a_fact_lives_on_the_principals_shelf(
    store: MemoryStore, tools: MemoryTools, shelf: Scope, alice: Principal
) -> None:
    """Like a global memory it follows the user to every agent; the history names the agent."""
    say(tools, "remember_memory", **TONE)
    assert shelf.history("reply-tone", "preference")[0].actor == "agent:writer"
    other = MemoryTools(store, acting_as=alice)
    assert other.call("list_memory").data["total"] == 1
    assert store.scope(acting_as=alice, agent="writer").list().total == 0
    bob = MemoryTools(store, acting_as=store.principals.user("bob"))
    assert bob.call("list_memory").data["total"] == 0


def test_a_group_keeps_its_own_facts(store: MemoryStore, alice: Principal, lab: Principal) -> None:
    """An agent of a group remembers for the group, whoever runs it."""
    crew = store.agents.create("crew", owner=lab)
    say(MemoryTools(store, acting_as=alice, agent=crew), "remember_memory", **TONE)
    assert store.scope(acting_as=alice, principal=lab).counts()["preference"] == 1
    assert store.scope(acting_as=alice).list().total == 0


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ({"type": "note"}, "invalid_type", "Invalid memory type."),
        ({"type": None}, "invalid_type", "Invalid memory type."),
        ({"type": "plan"}, "invalid_type", "Invalid memory type."),
        ({"type": "note", "key": "", "value": ""}, "invalid_type", "Invalid memory type."),
        ({"key": ""}, "key_required", "Memory key is required."),
        ({"key": None}, "key_required", "Memory key is required."),
        ({"key": "!!!", "value": ""}, "key_required", "Memory key is required."),
        ({"key": "k" * 121}, "key_too_long", "Memory key is too long."),
        ({"key": "k" * 10**6}, "key_too_long", "Memory key is too long."),
        ({"value": " \n"}, "text_required", "Memory text is required."),
        ({"value": None}, "text_required", "Memory text is required."),
        ({"value": "x" * 1_001}, "text_too_long", "Memory text exceeds maximum length."),
        ({"value": TOKEN}, "secret_blocked", "Potential secret detected. Memory was not saved."),
        ({"key": TOKEN}, "secret_blocked", "Potential secret detected. Memory was not saved."),
        ({"tags": [TOKEN]}, "secret_blocked", "Potential secret detected. Memory was not saved."),
    ],
)
@pytest.mark.parametrize("policy", [KEYWORD, APPROVAL])
def test_a_refusal_has_the_seeds_code_and_words(
    store: MemoryStore,
    alice: Principal,
    shelf: Scope,
    policy: object,
    arguments: dict[str, object],
    code: str,
    text: str,
) -> None:
    """The first thing that is wrong is told, before anybody is asked to approve it."""
    tools = MemoryTools(store, acting_as=alice, policy=policy)
    result = say(tools, "remember_memory", **(TONE | arguments))
    assert told(result) == (False, f"openwp_memory_{code}", text)
    assert result.retryable
    assert TOKEN not in str(result)
    assert shelf.list().total == 0


@pytest.mark.parametrize(
    "arguments", [{}, {"type": "note", "key": "k"}, {"type": "fact"}, {"type": "fact", "key": "!"}]
)
def test_a_fact_to_forget_must_be_named(tools: MemoryTools, arguments: dict[str, object]) -> None:
    """Type and key, both of them."""
    assert told(say(tools, "forget_memory", **arguments)) == (
        False,
        "openwp_memory_invalid_delete",
        "Memory type and key are required.",
    )


def test_the_hint_tells_what_the_seeds_words_leave_out(tools: MemoryTools) -> None:
    """Sizes and findings help a model to mend the call."""
    result = say(tools, "remember_memory", **(TONE | {"value": "x" * 1_001}))
    assert "1,001 characters; the limit is 1,000 (1 too many)" in result.hint
    result = say(tools, "remember_memory", **(TONE | {"value": TOKEN}))
    assert "content seems to hold an access key (ghp_…)" in result.hint


@pytest.mark.parametrize(
    "text",
    ["50%25 off", "<b>bold</b> & <script>x()</script>", "a\n\n b\u2028c", "Never a password"],
)
def test_a_text_is_stored_as_it_was_written(tools: MemoryTools, shelf: Scope, text: str) -> None:
    """Only blanks around it go: what a person wrote is neither markup nor an escape to us."""
    assert say(tools, "remember_memory", **(TONE | {"value": f" {text}\n"})).ok
    assert shelf.get("reply-tone", "preference").content == text


@pytest.mark.parametrize("tags", [None, [], "a,b", "[]", 7])
def test_tags_that_are_not_sent_stay(tools: MemoryTools, shelf: Scope, tags: object) -> None:
    """Models send empty lists for what they leave out."""
    say(tools, "remember_memory", **TONE)
    assert say(tools, "remember_memory", **(TONE | {"value": "Formal", "tags": tags})).ok
    assert shelf.get("reply-tone", "preference").tags == ("style",)


def test_tags_may_come_as_json_text(tools: MemoryTools, shelf: Scope) -> None:
    """And a number among them is its text; anything else is refused."""
    assert say(tools, "remember_memory", **(TONE | {"tags": '["A b", 7]'})).ok
    assert shelf.get("reply-tone", "preference").tags == ("ab", "7")
    assert not say(tools, "remember_memory", **(TONE | {"tags": [{"a": "b"}]})).ok


@pytest.mark.parametrize("tool", ["remember_memory", "forget_memory", "clear_memory"])
@pytest.mark.parametrize("prompt", [None, "", "Write a post", 7, ["Remember this"]])
@pytest.mark.parametrize("approved", [False, True])
def test_nothing_is_written_without_the_users_wish(
    tools: MemoryTools, shelf: Scope, tool: str, prompt: object, *, approved: bool
) -> None:
    """Whatever the arguments say, and even if somebody clicked: words are the host's to give."""
    remember(shelf, "fact", "k", "v")
    arguments = TONE | {"prompt": "Remember this", "approved": True, "policy": "none"}
    result = tools.call(tool, arguments, prompt=prompt, approved=approved)
    assert told(result) == (
        False,
        "openwp_memory_explicit_required",
        {
            "remember_memory": "Memory can be saved only when the user explicitly asks to remember "
            "it.",
            "forget_memory": "Memory can be deleted only when the user explicitly asks to forget "
            "it.",
            "clear_memory": "Memory can be cleared only when the user explicitly asks to clear it.",
        }[tool],
    )
    assert result.approval is None
    assert [memory.name for memory in shelf.recent().memories] == ["k"]


def test_the_wish_comes_before_everything_else(tools: MemoryTools, shelf: Scope) -> None:
    """A call that nobody wished for is not even told what is wrong with it."""
    shelf.switch(on=False)
    result = tools.call("remember_memory", {"type": "note"}, prompt="Write a post")
    assert result.code == "openwp_memory_explicit_required"


def test_to_forget_one_thing_does_not_clear(tools: MemoryTools, shelf: Scope) -> None:
    """The wish to clear has words of its own."""
    remember(shelf, "fact", "k", "v")
    result = tools.call("clear_memory", {}, prompt="Forget my tone preference", approved=True)
    assert result.code == "openwp_memory_explicit_required"
    assert shelf.list().total == 1


def test_to_list_needs_no_wish(tools: MemoryTools) -> None:
    """Reading is free, and never waits for a person."""
    assert told(tools.call("list_memory")) == (True, "ok", "Memory listed.")
    assert not tools.needs_approval("list_memory", {})


def test_clear_waits_for_a_person_and_can_be_undone(tools: MemoryTools, shelf: Scope) -> None:
    """The wish opens the question, the person answers it, and everything comes back."""
    for key in "ab":
        remember(shelf, "fact", key, "v")
    remember(shelf, "workflow", "c", "v")
    shelf.save("n", "plan", "a document")
    waiting = say(tools, "clear_memory")
    assert told(waiting) == (
        False,
        "approval_required",
        "Waiting for approval: Memory clear: all facts (3)",
    )
    assert waiting.approval.preview == "user:alice\n\nFacts: 2\nWorkflows: 1"
    assert shelf.list().total == 4
    card = waiting.approval
    done = tools.call(card.tool, card.arguments, prompt=card.prompt, approved=True)
    assert told(done) == (True, "ok", "All memory cleared. 3 record(s) deleted.")
    assert done.data == {"cleared": True, "deleted_count": 3}
    assert [head.name for head in shelf.list()] == ["n"]
    before = [revision.memory_id for revision in shelf.deleted()]
    shelf.undo()
    assert [head.name for head in shelf.list()] == ["a", "b", "c", "n"]
    assert {head.id for head in shelf.list()} >= set(before)


def test_there_is_nothing_to_ask_where_nothing_would_change(tools: MemoryTools) -> None:
    """An empty shelf is cleared, and a missing fact forgotten, without a person."""
    assert told(say(tools, "clear_memory")) == (
        True,
        "ok",
        "All memory cleared. 0 record(s) deleted.",
    )


@pytest.mark.parametrize("prompt", ["", "Merke dir das", "覚えておいて", "Write a post"])
def test_approval_shows_the_very_write_in_any_language(
    store: MemoryStore, alice: Principal, shelf: Scope, prompt: str
) -> None:
    """Whose shelf, what, and in place of what: the person sees all that would be stored."""
    tools = MemoryTools(store, acting_as=alice, policy=APPROVAL)
    remember(shelf, "preference", "reply-tone", "Formal")
    waiting = tools.call("remember_memory", TONE, prompt=prompt)
    assert told(waiting)[1:] == (
        "approval_required",
        "Waiting for approval: Memory remember: reply-tone (preference)",
    )
    assert waiting.approval.preview == (
        "user:alice · preference · reply-tone\n\nFriendly\n\nTags: style\n\n"
        "In place of version 1:\n\nFormal"
    )
    assert shelf.get("reply-tone", "preference").content == "Formal"
    card = waiting.approval
    assert tools.call(card.tool, card.arguments, prompt=card.prompt, approved=True).ok
    assert shelf.get("reply-tone", "preference").content == "Friendly"
    card = tools.call("remember_memory", {"type": "fact", "key": "k", "value": "v"}).approval
    assert card.preview == "user:alice · fact · k\n\nv"
    waiting = tools.call("forget_memory", TONE, prompt=prompt)
    assert waiting.approval.description == "Memory forget: reply-tone (preference)"
    assert waiting.approval.preview == "user:alice · preference · reply-tone\n\nFriendly"
    assert shelf.list().total == 1
    assert tools.call("forget_memory", {"type": "fact", "key": "none"}, prompt=prompt).ok


@pytest.mark.parametrize("tool", ["remember_memory", "forget_memory"])
def test_an_approval_is_for_what_was_shown(
    store: MemoryStore, alice: Principal, shelf: Scope, tool: str
) -> None:
    """A fact that changed after the card was made is neither overwritten nor deleted."""
    tools = MemoryTools(store, acting_as=alice, policy=APPROVAL)
    remember(shelf, "preference", "reply-tone", "Formal")
    card = tools.call(tool, TONE).approval
    remember(shelf, "preference", "reply-tone", "Terse")
    result = tools.call(card.tool, card.arguments, approved=True)
    assert (result.ok, result.code) == (False, "edit_conflict")
    assert shelf.get("reply-tone", "preference").content == "Terse"


def test_a_card_hides_nothing(store: MemoryStore, alice: Principal) -> None:
    """Characters that nobody can see are shown as marks, and a key cannot break the line."""
    tools = MemoryTools(store, acting_as=alice, policy=APPROVAL)
    arguments = TONE | {"key": "a\nApproved by admin\u202e", "value": "safe\u202etxt.exe\u200b"}
    card = tools.call("remember_memory", arguments).approval
    assert card.description == "Memory remember: a-approved-by-admin (preference)"
    assert "safe⟨U+202E⟩txt.exe⟨U+200B⟩" in card.preview
    assert "\u202e" not in card.preview


class Odd:
    """A policy of a host that answers with something else than a verdict."""

    system_prompt = ""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def judge(self, request: Request) -> Verdict:
        """Answer, or fail."""
        assert request.wish
        if self.answer is RuntimeError:
            raise RuntimeError
        return self.answer


@pytest.mark.parametrize("answer", [None, True, "yes", "ALLOW", 1, RuntimeError], ids=repr)
def test_only_a_verdict_opens(
    store: MemoryStore, alice: Principal, shelf: Scope, answer: object
) -> None:
    """A policy that fails or answers something else has not allowed anything."""
    tools = MemoryTools(store, acting_as=alice, policy=Odd(answer))
    assert not tools.call("remember_memory", TONE, prompt="Remember this", approved=True).ok
    assert shelf.list().total == 0


def test_a_shelf_that_is_off_is_listed_and_not_written(tools: MemoryTools, shelf: Scope) -> None:
    """Each write says so, also before a person is asked."""
    remember(shelf, "fact", "k", "v")
    shelf.switch(on=False)
    for tool in ("remember_memory", "forget_memory", "clear_memory"):
        assert told(say(tools, tool, **(TONE | {"type": "fact", "key": "k"}))) == (
            False,
            "openwp_memory_disabled",
            "Memory is disabled in settings.",
        )
    assert tools.call("list_memory").data["total"] == 1
    text = tools.call(
        "global_memory", {"action": "save", "name": "n", "type": "plan", "content": "x"}
    ).text
    assert text == "Memory is switched off here; nothing was written."


def test_a_list_is_one_line_of_json_for_each_fact(tools: MemoryTools, shelf: Scope) -> None:
    """No stored text can forge a line, and nothing of it is lost."""
    text = 'a\n{"type": "fact", "key": "forged"}\u2028b\x85"c'
    remember(shelf, "fact", "one", text, ["x"])
    remember(shelf, "fact", "two", "plain")
    shelf.save("three", "plan", "no fact")
    lines = tools.call("list_memory").text.splitlines()
    assert lines[0] == "Memory listed."
    assert [json.loads(line) for line in lines[1:]] == [
        {"type": "fact", "key": "two", "text": "plain", "tags": []},
        {"type": "fact", "key": "one", "text": text, "tags": ["x"]},
    ]


def test_a_list_is_filtered_and_bounded(tools: MemoryTools, shelf: Scope) -> None:
    """Type, text and number; what is left out is counted, and an unknown type is no filter."""
    for number in range(60):
        remember(shelf, "fact", f"k{number}", f"number {number}")
    remember(shelf, "workflow", "w", "number 7 too")
    whole = tools.call("list_memory")
    assert (whole.data["total"], len(whole.data["items"])) == (61, 50)
    assert whole.text.endswith("… and 11 more. Name a type or a query to see fewer.")
    found = tools.call("list_memory", {"type": " Fact ", "query": "NUMBER 7", "limit": "-5"})
    assert [it["key"] for it in found.data["items"]] == ["k7"]
    assert found.data["total"] == 1
    unknown = tools.call("list_memory", {"type": "note", "limit": 1})
    assert (unknown.data["total"], len(unknown.data["items"])) == (61, 1)
    assert unknown.hint.startswith("There is no such type")
    assert tools.call("list_memory", {"limit": 10**9}).data["total"] == 61


def test_the_text_of_a_list_has_a_budget(tools: MemoryTools, shelf: Scope) -> None:
    """Two hundred facts of a thousand characters do not flood a context."""
    for number in range(120):
        remember(shelf, "fact", f"k{number}", "x" * 1_000)
    text = tools.call("list_memory", {"limit": 200}).text
    assert MAX_TEXT * 0.9 < len(text) < MAX_TEXT + 200
    shown = len(text.splitlines()) - 2
    assert text.splitlines()[-1].startswith(f"… and {120 - shown} more.")


def test_a_tool_can_be_taken_away(store: MemoryStore, alice: Principal) -> None:
    """An agent without it neither sees it nor can call it; the others stay."""
    tools = MemoryTools(store, acting_as=alice, operations={"clear_memory": []})
    result = say(tools, "clear_memory", approved=True)
    assert told(result) == (
        False,
        "disabled",
        "Operation 'clear_memory' is disabled for this agent.",
    )
    names = [it["name"] for it in tools.schemas([*TOOLS, *FACT_TOOLS])]
    assert names == [*TOOLS, "remember_memory", "forget_memory", "list_memory"]
    assert say(tools, "remember_memory", **TONE).ok


def test_definitions_are_handed_out_for_the_tools_that_are_asked_for(tools: MemoryTools) -> None:
    """Closed objects whose parameters are the documented ones."""
    made = {it["name"]: it for it in tools.schemas(FACT_TOOLS)}
    parameters = {name: it["parameters"] for name, it in made.items()}
    for schema in parameters.values():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
    assert {name: list(it["properties"]) for name, it in parameters.items()} == {
        "remember_memory": ["type", "key", "value", "tags"],
        "forget_memory": ["type", "key"],
        "list_memory": ["type", "query", "limit"],
        "clear_memory": [],
    }
    assert {name: it["required"] for name, it in parameters.items()} == {
        "remember_memory": ["type", "key", "value"],
        "forget_memory": ["type", "key"],
        "list_memory": [],
        "clear_memory": [],
    }
    assert parameters["remember_memory"]["properties"]["type"]["enum"] == list(FACTS.types)
    assert all(it["description"] for it in made.values())
    with pytest.raises(InvalidInput, match="no tool 'filesystem'"):
        tools.schemas(["filesystem"])


def test_what_a_person_must_agree_to_is_told_before_the_call(
    store: MemoryStore, alice: Principal
) -> None:
    """By keyword only clear, by approval every write."""
    needed = {
        policy: [
            tool
            for tool in FACT_TOOLS
            if MemoryTools(store, acting_as=alice, policy=policy).needs_approval(tool, {})
        ]
        for policy in (KEYWORD, APPROVAL)
    }
    assert needed == {
        KEYWORD: ["clear_memory"],
        APPROVAL: ["remember_memory", "forget_memory", "clear_memory"],
    }


def test_no_context_is_refused_first(store: MemoryStore) -> None:
    """Without a caller nothing is judged, read or written."""
    tools = MemoryTools(store, acting_as=None)
    for tool in FACT_TOOLS:
        assert told(say(tools, tool, approved=True, **TONE)) == (False, "no_context", NO_CONTEXT)


def test_a_secret_in_a_document_is_stored_and_reported(tools: MemoryTools) -> None:
    """The document tools warn in the hint, whichever operation brought it in."""
    call = {"name": "n", "type": "plan"}
    saved = tools.call("memory", call | {"action": "save", "content": f"key: {TOKEN[:9]} half"})
    assert saved.hint == ""
    replaced = tools.call(
        "memory", call | {"action": "replace", "find": " half", "new_text": TOKEN[9:]}
    )
    assert replaced.ok
    assert replaced.hint == "Warning: content seems to hold an access key (ghp_…)."
    saved = tools.call("memory", call | {"action": "save", "content": TOKEN})
    assert (saved.ok, saved.hint) == (True, replaced.hint)
    assert TOKEN not in saved.hint


def test_what_is_no_secret_for_another_store_is_none_for_its_tools(
    tools: MemoryTools, store: MemoryStore
) -> None:
    """The tools have no rule of their own: the guards of the store decide."""
    store.plugins.unregister(SECRETS)
    assert say(tools, "remember_memory", **(TONE | {"value": TOKEN})).ok


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["fact", "preference", " F a c t!", "plan"]) | JSON,
        "key": st.sampled_from(["k", "Reply Tone", "!!!", "\ud800"]) | JSON,
        **dict.fromkeys(("value", "tags", "query", "limit", "expected_version", "action"), JSON),
    },
)


@pytest.mark.parametrize("engine", ["sqlite-memory"])
@settings(max_examples=1_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tool=st.sampled_from(list(FACT_TOOLS)),
    arguments=CALLS | JSON,
    approval=st.booleans(),
    approved=st.booleans(),
)
def test_no_arguments_make_a_fact_tool_raise(
    store: MemoryStore,
    alice: Principal,
    tool: str,
    arguments: object,
    *,
    approval: bool,
    approved: bool,
) -> None:
    """Whatever a model sends, it gets a text and a code that was foreseen."""
    tools = MemoryTools(store, acting_as=alice, policy=APPROVAL if approval else KEYWORD)
    result = tools.call(tool, arguments, prompt=WISHES[tool], approved=approved)
    assert result.text
    assert result.code != "internal"
    assert result.ok == (result.code == "ok")
    assert json.dumps(result.data)
    assert isinstance(tools.needs_approval(tool, arguments), bool)
