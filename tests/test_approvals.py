"""Calls that wait for a person: stored, shown, decided once, and bound to what was shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from memories_sdk import (
    Conflict,
    EditConflict,
    InvalidInput,
    MemoriesError,
    MemoryStore,
    MemoryTools,
    NotFound,
    Principal,
    Scope,
)
from memories_sdk.hooks import hookimpl
from memories_sdk.policy import APPROVAL
from memories_sdk.tools import (
    DEFAULT,
    OPERATIONS,
    STRICT,
    Approval,
    ApprovalPolicy,
    ask_in_terminal,
)

if TYPE_CHECKING:
    from conftest import MakeStore
    from held import Clock

DELETE = {"action": "delete", "name": "n", "type": "plan"}
REPLACE = {"action": "replace", "name": "n", "type": "plan", "find": "two", "new_text": "2"}
SAVE = {"action": "save", "name": "n", "type": "plan", "content": "new"}
EVERYTHING = ApprovalPolicy(
    dict.fromkeys(("memory", "global_memory"), tuple(OPERATIONS))
    | {f"{it}_memory": (it,) for it in ("remember", "forget", "list", "clear")}
)


@pytest.fixture
def store(make_store: MakeStore, clock: Clock) -> MemoryStore:
    """An empty store that does not wait for the device."""
    return make_store(durability="process", clock=clock)


@pytest.fixture
def tools(store: MemoryStore, alice: Principal) -> MemoryTools:
    """The tools of alice's agent `writer`, each call of which needs a person."""
    writer = store.agents.create("writer", owner=alice)
    return MemoryTools(store, acting_as=alice, agent=writer, approval=EVERYTHING, source="run 12")


def ask(tools: MemoryTools, tool: str = "memory", **arguments: object) -> Approval:
    """Make a call and return the request that waits."""
    result = tools.call(tool, arguments, prompt="Remember this. Forget it. Clear all memories.")
    assert (result.ok, result.code) == (False, "approval_required"), result
    assert result.approval is not None
    return result.approval


def test_the_defaults_are_delete_and_clear() -> None:
    """The template's policy adds replace; what nobody declared needs a person."""
    needed = {
        policy: [
            (tool, operation)
            for tool in ("memory", "global_memory")
            for operation in (*OPERATIONS, "purge")
            if policy.needs(tool, operation)
        ]
        for policy in (DEFAULT, STRICT)
    }
    assert needed[DEFAULT] == [
        (tool, it) for tool in ("memory", "global_memory") for it in ("delete", "purge")
    ]
    assert needed[STRICT] == [
        (tool, it) for tool in ("memory", "global_memory") for it in ("replace", "delete", "purge")
    ]
    facts = [
        it for it in ("remember", "forget", "list", "clear") if DEFAULT.needs(f"{it}_memory", it)
    ]
    assert facts == ["clear"]
    assert DEFAULT.needs("filesystem", "write")


def test_a_policy_is_by_tool_and_operation() -> None:
    """One tool is changed and the others keep their defaults; an empty list asks for nothing."""
    policy = ApprovalPolicy({"memory": ["save"], "clear_memory": []})
    assert [it for it in OPERATIONS if policy.needs("memory", it)] == ["save"]
    assert [it for it in OPERATIONS if policy.needs("global_memory", it)] == ["delete"]
    assert not policy.needs("clear_memory", "clear")
    assert policy.needs("memory", "purge")


@pytest.mark.parametrize(
    "operations", [{"memory": ["purge"]}, {"files": ["delete"]}, {"clear_memory": ["delete"]}]
)
def test_a_policy_names_only_what_there_is(operations: dict[str, list[str]]) -> None:
    """A misspelt operation would silently need nobody."""
    with pytest.raises(InvalidInput, match="no such operation"):
        ApprovalPolicy(operations)
    with pytest.raises(InvalidInput, match="lasts"):
        ApprovalPolicy(lasts=timedelta(0))


def test_a_request_tells_who_asks_for_what(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope, clock: Clock
) -> None:
    """The queue shows the agent, the call, the version and the change, and until when."""
    own.save("n", "plan", "one\ntwo\nthree")
    own.save("n", "plan", "one\ntwo\nthree")
    ask(tools, **REPLACE)
    (found,) = store.approvals.list(acting_as=alice)
    assert (found.tool, found.arguments) == ("memory", REPLACE)
    assert (found.actor, found.shelf, found.version) == ("agent:writer", own.key, 2)
    assert found.description == "Memory replace: n (plan)"
    assert found.preview == "agent:writer · plan · n\n\n  one\n- two\n+ 2\n  three"
    assert (found.created_at, found.expires_at) == (clock.now, clock.now + timedelta(days=7))
    assert (found.state, found.decided_by) == ("pending", None)
    assert store.approvals.count(acting_as=alice) == 1
    assert repr(found) == "<Approval 'Memory replace: n (plan)' pending>"
    assert str(found).startswith("agent:writer asks: Memory replace: n (plan)\n\nagent:writer")


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (DELETE, "- one\n- two"),
        (SAVE, "- one\n- two\n+ new"),
        (SAVE | {"name": "m"}, "+ new"),
        (SAVE | {"content": None, "summary": "Mine"}, "Summary: Mine"),
        (SAVE | {"name": "m", "summary": "a\u202eb"}, "+ new\n\nSummary: a⟨U+202E⟩b"),
        (SAVE | {"content": None, "order": 7}, "Order: 1 → 7"),
        (REPLACE | {"new_text": "\u200b"}, "  one\n- two\n+ ⟨U+200B⟩"),
    ],
    ids=["delete", "save", "create", "summary", "hidden", "order", "replace"],
)
def test_a_preview_shows_the_change_and_hides_nothing(
    tools: MemoryTools, own: Scope, call: dict[str, object], shown: str
) -> None:
    """Line by line, with what is not in the body beside it."""
    own.create("n", "plan", "one\ntwo", order=1)
    request = ask(tools, **call)
    assert request.preview.split("\n\n", 1)[1] == shown
    assert own.history()[0].action == "create"


def test_a_preview_is_bounded(tools: MemoryTools, own: Scope) -> None:
    """A megabyte of change is cut and counted; a change far along a line is still seen."""
    own.save("n", "plan", "\n".join(f"line {i}" for i in range(5_000)))
    request = ask(tools, **DELETE)
    assert len(request.preview) < 2_000
    assert request.preview.endswith("… and 4920 more lines.")
    own.save("n", "plan", "x" * 100_000 + "two" + "y" * 100_000)
    lines = ask(tools, **REPLACE).preview.splitlines()
    assert [line[:3] for line in lines[2:]] == ["- …", "+ …"]
    assert "xtwoy" in lines[2]
    assert "x2y" in lines[3]


def test_granting_carries_out_exactly_that_call_once(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """The agent's name stands in the history, the person's in the decision."""
    own.save("n", "plan", "one two")
    request = ask(tools, **REPLACE)
    result = store.approvals.grant(request.id, acting_as=alice)
    assert (result.ok, result.text) == (True, "Replaced 1 occurrence in [n] (type=plan).")
    assert own.get("n", "plan").content == "one 2"
    assert (own.history()[0].actor, own.history()[0].source) == ("agent:writer", "run 12")
    decided = store.approvals.get(request.id, acting_as=alice)
    assert (decided.state, decided.decided_by, decided.answer) == (
        "granted",
        "user:alice",
        result.text,
    )
    with pytest.raises(Conflict, match="granted by user:alice"):
        store.approvals.grant(request.id, acting_as=alice)
    with pytest.raises(Conflict, match="granted by user:alice"):
        store.approvals.refuse(request.id, acting_as=alice)
    assert own.get("n", "plan").version == 2


CHANGES: dict[str, Callable[[Scope], object]] = {
    "edited": lambda shelf: shelf.save("n", "plan", "one two!"),
    "deleted": lambda shelf: shelf.delete("n", "plan"),
    "another of that name": lambda shelf: (
        shelf.delete("n", "plan"),
        shelf.save("n", "plan", "one two"),
    ),
    "restored": lambda shelf: shelf.restore(shelf.delete("n", "plan").id),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("call", [DELETE, REPLACE, SAVE], ids=["delete", "replace", "save"])
def test_a_grant_is_for_what_was_shown(
    store: MemoryStore,
    alice: Principal,
    tools: MemoryTools,
    own: Scope,
    call: dict[str, object],
    change: str,
) -> None:
    """When the memory changed since, nothing is written and the request is stale."""
    own.save("n", "plan", "one two")
    request = ask(tools, **call)
    CHANGES[change](own)
    now = list(own.history())
    with pytest.raises(EditConflict):
        store.approvals.grant(request.id, acting_as=alice)
    assert list(own.history()) == now
    assert store.approvals.get(request.id, acting_as=alice).state == "stale"
    assert store.approvals.list(acting_as=alice) == []
    with pytest.raises(Conflict, match="stale"):
        store.approvals.grant(request.id, acting_as=alice)
    result = tools.call(request.tool, request.arguments, approved=True)
    assert (result.ok, result.code) == (False, "conflict")
    assert list(own.history()) == now


def test_a_new_memory_is_not_laid_over_another(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """A request for a memory that was not there is stale when there is one now."""
    request = ask(tools, **SAVE)
    assert request.version is None
    own.save("n", "plan", "by hand")
    with pytest.raises(EditConflict, match="you saw none, it is at version 1") as caught:
        store.approvals.grant(request.id, acting_as=alice)
    assert caught.value.current == own.get("n", "plan")
    assert own.get("n", "plan").content == "by hand"


def test_clear_is_bound_to_what_would_go(
    store: MemoryStore, alice: Principal, tools: MemoryTools
) -> None:
    """One more fact, and the clear must be asked for again."""
    shelf = store.scope(acting_as=alice)
    shelf.save("a", "fact", "1")
    request = ask(tools, "clear_memory")
    shelf.save("b", "fact", "2")
    with pytest.raises(EditConflict, match="what would go is not what you saw"):
        store.approvals.grant(request.id, acting_as=alice)
    assert shelf.list().total == 2
    request = ask(tools, "clear_memory")
    result = store.approvals.grant(request.id, acting_as=alice)
    assert result.text == "All memory cleared. 2 record(s) deleted."
    assert result.data == {"cleared": True, "deleted_count": 2}


def test_no_keyword_is_asked_for_a_granted_call(
    store: MemoryStore, alice: Principal, own: Scope
) -> None:
    """The person saw the write itself; the prompt is not even stored."""
    assert own.kind == "agent"
    tools = MemoryTools(store, acting_as=alice, policy=APPROVAL)
    call = {"type": "fact", "key": "k", "value": "v"}
    request = tools.call("remember_memory", call, prompt="Merke dir das").approval
    assert request.prompt == "Merke dir das"
    stored = store.approvals.get(request.id, acting_as=alice)
    assert stored.prompt == ""
    assert store.approvals.grant(request.id, acting_as=alice).text == "Memory saved."


def test_reading_too_can_need_a_person(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """Nothing is told before, and it is told once."""
    own.save("n", "plan", "BODY")
    request = ask(tools, action="get", name="n", type="plan")
    assert (request.preview, request.version) == ("agent:writer", None)
    assert "BODY" in store.approvals.grant(request.id, acting_as=alice).text
    with pytest.raises(Conflict):
        store.approvals.grant(request.id, acting_as=alice)
    assert ask(tools).description == "Memory list: "
    assert ask(tools, "list_memory").description == "Memory list: facts"


def test_a_call_that_is_made_again_finds_its_request(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """An agent that insists fills no queue; another version is another request."""
    own.save("n", "plan", "one two")
    assert ask(tools, **DELETE).id == ask(tools, **DELETE).id
    own.save("n", "plan", "three")
    ask(tools, **DELETE)
    assert store.approvals.count(acting_as=alice) == 2


def test_a_refusal_is_final_for_the_request(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """Neither a late grant nor the host's word carries it out; asking again is a new request."""
    own.save("n", "plan", "one two")
    request = ask(tools, **DELETE)
    assert store.approvals.refuse(request.id, acting_as=alice).state == "refused"
    with pytest.raises(Conflict, match="refused by user:alice"):
        store.approvals.grant(request.id, acting_as=alice)
    assert not tools.call("memory", DELETE, approved=True).ok
    assert own.list().total == 1
    assert ask(tools, **DELETE).id != request.id


def test_a_request_expires(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope, clock: Clock
) -> None:
    """Old consent is none, and an expired request leaves the queue with its texts."""
    own.save("n", "plan", "one two")
    request = ask(tools, **DELETE)
    clock.now += timedelta(days=7)
    assert store.approvals.list(acting_as=alice) == []
    assert store.approvals.get(request.id, acting_as=alice).state == "expired"
    for decide in (store.approvals.grant, store.approvals.refuse):
        with pytest.raises(Conflict, match="expired"):
            decide(request.id, acting_as=alice)
    assert own.list().total == 1
    assert ask(tools, **DELETE).id != request.id
    old = store.approvals.get(request.id, acting_as=alice)
    assert (old.state, old.arguments, old.preview) == ("expired", {}, "")


def test_the_hosts_word_grants_the_request_that_waits(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """`approved=True` and the queue are one decision, and bound to the version alike."""
    own.save("n", "plan", "one two")
    request = ask(tools, **REPLACE)
    assert tools.call(request.tool, request.arguments, approved=True).ok
    assert store.approvals.get(request.id, acting_as=alice).state == "granted"
    request = ask(tools, **DELETE)
    own.save("n", "plan", "three")
    result = tools.call(request.tool, request.arguments, approved=True)
    assert (result.ok, result.code) == (False, "edit_conflict")
    assert store.approvals.get(request.id, acting_as=alice).state == "stale"


def test_a_decided_request_keeps_its_line_alone(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """What was written stands in the history; the queue is no second copy of it."""
    own.save("n", "plan", "one two")
    for decide in (store.approvals.refuse, store.approvals.grant):
        request = ask(tools, **REPLACE)
        decide(request.id, acting_as=alice)
        decided = store.approvals.get(request.id, acting_as=alice)
        assert (decided.arguments, decided.preview) == ({}, "")
        assert decided.description == "Memory replace: n (plan)"
    states = [it.state for it in store.approvals.list(acting_as=alice, waiting=False)]
    assert sorted(states) == ["granted", "refused"]


def test_a_redaction_withdraws_what_waits_on_the_shelf(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """A leaked text does not live on in a request."""
    own.save("n", "plan", "one LEAK")
    ask(tools, **DELETE)
    got = ask(tools, action="get", name="n", type="plan")
    assert "LEAK" in store.approvals.grant(got.id, acting_as=alice).text
    own.redact("LEAK")
    assert store.approvals.list(acting_as=alice) == []
    assert store.approvals.get(got.id, acting_as=alice).answer == ""


def test_what_would_be_refused_is_not_asked(tools: MemoryTools, own: Scope) -> None:
    """A person sees no call that cannot succeed, and none that would change nothing."""
    own.save("n", "plan", "two two")
    codes = [
        tools.call("memory", call).code
        for call in (
            DELETE | {"name": "missing"},
            DELETE | {"type": "note"},
            DELETE | {"expected_version": 9},
            REPLACE,
            REPLACE | {"find": "three"},
            SAVE | {"content": "x" * (1 << 20) + "x"},
            SAVE | {"name": "m", "content": None},
        )
    ]
    assert codes == [
        "not_found",
        "unknown_type",
        "edit_conflict",
        "anchor_not_unique",
        "anchor_not_found",
        "too_long",
        "invalid",
    ]
    assert tools.call("clear_memory", {}, prompt="Clear all memories").ok
    own.switch(on=False)
    assert tools.call("memory", SAVE).code == "memory_disabled"


def test_a_trial_leaves_nothing(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """No memory, no revision, no event: only the request is there."""
    heard: list[object] = []

    @hookimpl
    def memory_changed(changes: object) -> None:
        heard.append(changes)

    store.plugins.register(SimpleNamespace(memory_changed=memory_changed))
    request = ask(tools, **SAVE)
    assert (own.list().total, len(own.history()), heard) == (0, 0, [])
    assert store.verify() == []
    store.approvals.grant(request.id, acting_as=alice)
    assert len(heard) == 1


@pytest.mark.parametrize("engine", ["sqlite-file"])
def test_a_request_survives_a_restart(make_store: MakeStore) -> None:
    """Another program finds it, sees it and carries it out."""
    first = make_store("queue.db", durability="process")
    alice = first.principals.user("alice")
    first.scope(acting_as=alice).save("n", "plan", "one two")
    request = ask(MemoryTools(first, acting_as=alice), "global_memory", **DELETE)
    first.close()
    second = make_store("queue.db", durability="process")
    (found,) = second.approvals.list(acting_as=alice)
    assert (found.id, found.arguments, found.version) == (request.id, DELETE, 1)
    assert second.approvals.grant(found.id, acting_as=alice).ok
    assert second.scope(acting_as=alice).list().total == 0


def test_of_many_who_agree_at_once_one_carries_it_out(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """The database arbitrates: the call is carried out once."""
    own.save("n", "plan", "two")
    request = ask(tools, **REPLACE)
    outcomes: list[str] = []

    def agree() -> None:
        try:
            outcomes.append(store.approvals.grant(request.id, acting_as=alice).code)
        except MemoriesError as error:
            outcomes.append(error.code)

    people = [threading.Thread(target=agree) for _ in range(8)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert sorted(outcomes) == ["conflict"] * 7 + ["ok"]
    assert own.get("n", "plan").version == 2


def test_a_failed_grant_can_be_tried_again(
    store: MemoryStore, alice: Principal, tools: MemoryTools, own: Scope
) -> None:
    """What is no decision of a person and no change of the memory leaves the request waiting."""
    request = ask(tools, **SAVE)
    own.switch(on=False)
    with pytest.raises(Conflict, match="switched off"):
        store.approvals.grant(request.id, acting_as=alice)
    own.switch(on=True)
    assert store.approvals.grant(request.id, acting_as=alice).ok


def test_nobody_sees_or_decides_what_is_not_theirs(
    store: MemoryStore, bob: Principal, tools: MemoryTools, own: Scope
) -> None:
    """A foreign request looks like an unknown one, to every verb."""
    own.save("n", "plan", "one two")
    request = ask(tools, **DELETE)
    assert store.approvals.list(acting_as=bob) == []
    assert store.approvals.list(acting_as=bob, waiting=False) == []
    assert store.approvals.count(acting_as=bob) == 0
    messages = set()
    for id in (request.id, own.get("n", "plan").id, "nonsense"):
        for name in ("get", "grant", "refuse", "wait"):
            verb = getattr(store.approvals, name)
            with pytest.raises(NotFound) as caught:
                verb(id, acting_as=bob)
            messages.add(str(caught.value))
    assert len(messages) == 1
    assert own.list().total == 1


def test_members_decide_for_their_group(
    store: MemoryStore, alice: Principal, bob: Principal, lab: Principal
) -> None:
    """Any member sees and grants; who left does neither."""
    crew = store.agents.create("crew", owner=lab)
    tools = MemoryTools(store, acting_as=alice, agent=crew, approval=EVERYTHING)
    request = ask(tools, "global_memory", **SAVE)
    late = ask(tools, "global_memory", **(SAVE | {"name": "late"}))
    assert store.approvals.grant(request.id, acting_as=bob).ok
    assert store.approvals.get(request.id, acting_as=alice).decided_by == "user:bob"
    store.principals.remove_member(lab, bob)
    with pytest.raises(NotFound):
        store.approvals.grant(late.id, acting_as=bob)


def test_a_request_does_not_outlive_the_ownership_of_its_agent(
    store: MemoryStore, alice: Principal, lab: Principal, tools: MemoryTools, own: Scope
) -> None:
    """With the agent its shelf went away: the old owner sees and grants nothing of it."""
    own.save("n", "plan", "one two")
    requests = [ask(tools, **DELETE), ask(tools, "global_memory", **SAVE)]
    store.agents.transfer(store.agents.get("writer", owner=alice), to=lab, acting_as=alice)
    assert store.approvals.list(acting_as=alice) == []
    for request in requests:
        with pytest.raises(NotFound):
            store.approvals.grant(request.id, acting_as=alice)


def test_a_script_asks_its_user(store: MemoryStore, alice: Principal) -> None:
    """A callback decides at once; only a plain yes carries the call out."""
    shelf = store.scope(acting_as=alice)
    asked: list[Approval] = []
    for answer, left in ((False, 1), ("yes", 1), (True, 0)):
        shelf.save("n", "plan", "x")

        def person(approval: Approval, answer: object = answer) -> bool:
            asked.append(approval)
            return answer

        tools = MemoryTools(store, acting_as=alice, ask=person)
        result = tools.call("global_memory", DELETE)
        assert (result.ok, shelf.list().total) == (left == 0, left)
        assert result.code == ("ok" if result.ok else "refused")
    assert [it.description for it in asked] == ["Memory delete: n (plan)"] * 3
    assert store.approvals.count(acting_as=alice) == 0


@pytest.mark.parametrize(
    ("typed", "agrees"), [("y", True), (" YES ", True), ("", False), ("n", False)]
)
def test_the_terminal_asks(
    store: MemoryStore,
    alice: Principal,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    *,
    agrees: bool,
) -> None:
    """The person sees what would go; anything but yes is no."""
    store.scope(acting_as=alice).save("n", "plan", "goes")
    shown: list[str] = []
    monkeypatch.setattr("builtins.input", lambda text: shown.append(text) or typed)
    tools = MemoryTools(store, acting_as=alice, ask=ask_in_terminal)
    assert tools.call("global_memory", DELETE).ok == agrees
    card = "user:alice asks: Memory delete: n (plan)\n\nuser:alice · plan · n\n\n- goes"
    assert shown == [f"{card}\n\nAgree? [y/N] "]


def test_an_agent_can_wait(store: MemoryStore, alice: Principal, tools: MemoryTools) -> None:
    """It gets the decision with the answer, or the open request when time is up."""
    request = ask(tools, **SAVE)
    assert store.approvals.wait(request.id, acting_as=alice, timeout=0).state == "pending"
    person = threading.Thread(
        target=store.approvals.grant, args=(request.id,), kwargs={"acting_as": alice}
    )
    person.start()
    decided = store.approvals.wait(request.id, acting_as=alice)
    person.join()
    assert decided.state == "granted"
    assert store.approvals.get(request.id, acting_as=alice).answer.startswith("Created memory [n]")


def test_a_list_of_requests_is_bounded(store: MemoryStore, alice: Principal) -> None:
    """Oldest first, at most so many."""
    tools = MemoryTools(store, acting_as=alice, approval=EVERYTHING)
    for name in "abc":
        ask(tools, "global_memory", **(SAVE | {"name": name}))
    names = [it.arguments["name"] for it in store.approvals.list(acting_as=alice, limit=2)]
    assert names == ["a", "b"]
    for limit in (0, 501, True, "5"):
        with pytest.raises(InvalidInput, match="limit"):
            store.approvals.list(acting_as=alice, limit=limit)
