"""Nobody reads or writes a shelf they may not see, by any verb."""

from __future__ import annotations

import dataclasses
import re
import sqlite3
from typing import TYPE_CHECKING

import pytest
from hidden import CANARY, UNKNOWN, VERBS, WHOSE, attempt, foreign_shelf, hide, state, texts

from memories_sdk import (
    AccessDenied,
    MemoriesError,
    MemoryStore,
    MemoryTools,
    NotFound,
    Principal,
    Scope,
)
from memories_sdk.errors import InvalidInput
from memories_sdk.scope import ScopeReader

if TYPE_CHECKING:
    from conftest import MakeStore

BY_ID = [
    *("get_by_id", "read_only", "update", "replace_by_id", "delete_by_id", "restore"),
    "transfer",
]
each_verb = pytest.mark.parametrize("verb", VERBS)
each_shelf = pytest.mark.parametrize("whose", WHOSE)


@pytest.fixture
def carol(store: MemoryStore) -> Principal:
    """A user in no group, who wants to see what is not hers; she has the agent `mole`."""
    carol = store.principals.user("carol")
    store.agents.create("mole", owner=carol)
    return carol


def public(kind: type) -> set[str]:
    """Return the verbs of a class."""
    return {name for name in dir(kind) if name[0] != "_" and callable(getattr(kind, name))}


def test_every_verb_has_a_row() -> None:
    """A new verb fails here until it is tried on foreign shelves."""
    assert public(Scope) == VERBS.keys()


@each_shelf
@each_verb
def test_no_verb_reaches_a_foreign_shelf(
    store: MemoryStore, alice: Principal, lab: Principal, carol: Principal, verb: str, whose: str
) -> None:
    """Nothing of a foreign memory is told, and nothing of it is changed."""
    theirs, hers = foreign_shelf(store, whose, alice, lab, carol)
    hidden = hide(theirs)
    mine = hers.create("mine", "plan", "my own")
    before = state(theirs)
    told = texts(attempt(verb, hers, hidden, mine))
    assert CANARY not in told
    assert str(hidden.id) not in told
    assert state(theirs) == before


@each_shelf
@pytest.mark.parametrize("verb", [*BY_ID, "move", "reorder"])
def test_a_foreign_id_looks_like_an_unknown_one(
    store: MemoryStore, alice: Principal, lab: Principal, carol: Principal, verb: str, whose: str
) -> None:
    """No answer tells whether an id exists elsewhere."""
    theirs, hers = foreign_shelf(store, whose, alice, lab, carol)
    hidden = hide(theirs)
    mine = hers.create("mine", "plan", "my own")
    nowhere = dataclasses.replace(hidden, id=UNKNOWN)
    foreign, unknown = (attempt(verb, hers, it, mine) for it in (hidden, nowhere))
    assert isinstance(foreign, NotFound)
    assert (type(foreign), vars(foreign)) == (type(unknown), vars(unknown))


def test_the_history_of_a_foreign_id_is_that_of_an_unknown_one(
    store: MemoryStore, alice: Principal, bob: Principal
) -> None:
    """Empty, both times."""
    hidden = hide(store.scope(acting_as=alice))
    hers = store.scope(acting_as=bob)
    assert list(hers.history(id=hidden.id)) == list(hers.history(id=UNKNOWN)) == []
    mine = hers.save("mine", "plan", "x").memory
    found = hers.history(ids=[hidden.id, mine.id, UNKNOWN])
    assert [each.memory_id for each in found] == [mine.id]


@each_verb
def test_a_member_who_left_is_refused_by_every_verb(
    store: MemoryStore, bob: Principal, lab: Principal, verb: str
) -> None:
    """An open scope of a group ends with the membership, for reading and writing alike."""
    team = store.scope(acting_as=bob, principal=lab)
    hidden = hide(team)
    mine = team.create("mine", "plan", "")
    store.principals.remove_member(lab, bob)
    refusal = attempt(verb, team, hidden, mine)
    assert isinstance(refusal, AccessDenied)
    assert CANARY not in texts(refusal)


@each_verb
def test_an_agent_given_away_is_refused_by_every_verb(
    store: MemoryStore, alice: Principal, lab: Principal, verb: str
) -> None:
    """An open scope of an agent ends with its transfer: to the old owner it is not there."""
    writer = store.agents.create("writer", owner=alice)
    own = store.scope(acting_as=alice, agent=writer)
    hidden = hide(own)
    mine = own.create("mine", "plan", "")
    store.agents.transfer(writer, to=lab, acting_as=alice)
    refusal = attempt(verb, own, hidden, mine)
    assert isinstance(refusal, NotFound)
    assert CANARY not in texts(refusal)
    moved = store.scope(acting_as=alice, principal=lab, agent="writer")
    assert moved.get("known", "plan") == hidden


def test_a_scope_fails_closed(store: MemoryStore, bob: Principal) -> None:
    """No caller, no shelf: a forgotten acting_as is a TypeError, and None is refused."""
    with pytest.raises(TypeError):
        store.scope()
    for value in (None, "bob", bob.id, {"id": bob.id}):
        with pytest.raises(InvalidInput):
            store.scope(acting_as=value)
        if value is not None:
            with pytest.raises(InvalidInput):
                store.scope(acting_as=bob, principal=value)


def test_a_stranger_cannot_act_as_a_group_or_another_user(
    store: MemoryStore, alice: Principal, lab: Principal, carol: Principal
) -> None:
    """Foreign and unknown principals are refused in the same words, but for the number."""
    unknown = Principal(999, "group", "nobody")
    messages = set()
    for principal in (alice, lab, unknown):
        with pytest.raises(AccessDenied) as caught:
            store.scope(acting_as=carol, principal=principal)
        messages.add(re.sub(r"#\d+", "#", str(caught.value)))
    assert len(messages) == 1


def test_a_forged_caller_is_refused(store: MemoryStore, alice: Principal) -> None:
    """A principal that is not stored so, by id, kind or name, is nobody."""
    for forged in (
        dataclasses.replace(alice, id=alice.id + 50),
        dataclasses.replace(alice, name="root"),
        dataclasses.replace(alice, kind="group"),
        dataclasses.replace(alice, id=2**70),
        dataclasses.replace(alice, id=-1),
    ):
        with pytest.raises(AccessDenied):
            store.scope(acting_as=forged)


def test_a_group_never_acts_by_itself(store: MemoryStore, alice: Principal, lab: Principal) -> None:
    """A group as the caller would pass by the check of its members."""
    with pytest.raises(AccessDenied):
        store.scope(acting_as=lab)
    with pytest.raises(AccessDenied):
        store.scope(acting_as=lab, principal=alice)
    assert store.principals.visible_to(lab) == []


def test_an_agent_is_found_under_its_owner_alone(
    store: MemoryStore, alice: Principal, bob: Principal, lab: Principal
) -> None:
    """Neither name, id nor value of an agent opens it to another principal, its group included."""
    writer = store.agents.create("writer", owner=alice)
    for agent in (writer, writer.id, "writer", 2**70, True, "no such"):
        with pytest.raises(NotFound):
            store.scope(acting_as=bob, agent=agent)
        with pytest.raises(NotFound):
            store.scope(acting_as=alice, principal=lab, agent=agent)
    assert store.scope(acting_as=alice, agent=writer.id).key == f"agent:{writer.id}"


def test_visible_are_oneself_first_and_then_ones_groups_by_name(
    store: MemoryStore, alice: Principal, bob: Principal
) -> None:
    """Any role is enough to see; no other principal is listed."""
    zoo = store.principals.group("zoo", owner=bob, members=[alice])
    art = store.principals.group("art", owner=alice)
    store.principals.group("closed", owner=bob)
    assert store.principals.visible_to(alice) == [alice, art, zoo]


def test_transfer_needs_control_of_both_sides(
    store: MemoryStore, alice: Principal, bob: Principal, lab: Principal, carol: Principal
) -> None:
    """A member's role is not enough to give or to take; an admin's is."""
    crew = store.agents.create("crew", owner=lab)
    own = store.agents.create("own", owner=alice)
    for agent, to, by in ((crew, bob, bob), (own, carol, alice), (own, bob, bob), (own, lab, lab)):
        with pytest.raises(AccessDenied):
            store.agents.transfer(agent, to=to, acting_as=by)
    assert store.agents.get("crew", owner=lab) == crew
    store.principals.add_member(lab, bob, role="admin")
    assert store.agents.transfer(crew, to=bob, acting_as=bob).principal_id == bob.id
    assert store.agents.owned_by(lab) == []


def test_a_reader_has_no_verb_that_writes(store: MemoryStore, alice: Principal) -> None:
    """`read_only()` hands out the reading half, which is not the whole in disguise."""
    shelf = store.scope(acting_as=alice)
    memory = shelf.create("n", "plan", "x")
    reader = shelf.read_only()
    assert not isinstance(reader, Scope)
    assert public(ScopeReader) == {
        *("list", "read", "counts", "recent", "get", "get_by_id", "search", "relevant_for_prompt"),
        *("history", "deleted", "changes", "watch", "inspect"),
    }
    assert reader.get("n", "plan") == memory


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [("acme", "acme-corp"), ("john_doe", "john-doe"), ("FOO", "foo"), ("%", "john"), ("a", "a b")],
)
def test_names_of_principals_are_exact(store: MemoryStore, mine: str, theirs: str) -> None:
    """No prefix, no wildcard and no case folding joins two shelves."""
    first, second = (store.scope(acting_as=store.principals.user(it)) for it in (mine, theirs))
    first.save("n", "context", "mine")
    second.save("n", "context", CANARY)
    assert first.get("n", "context").content == "mine"
    assert first.list().total == 1


def test_the_same_name_on_three_shelves_is_three_memories(
    store: MemoryStore, alice: Principal
) -> None:
    """Global and agent shelves never mix."""
    shelves = [store.scope(acting_as=alice)]
    for name in ("g1", "g2"):
        store.agents.create(name, owner=alice)
        shelves.append(store.scope(acting_as=alice, agent=name))
    for i, shelf in enumerate(shelves):
        assert shelf.save("n", "context", f"{i}").created
    assert [shelf.get("n", "context").content for shelf in shelves] == ["0", "1", "2"]
    shelves[1].clear()
    assert [shelf.list().total for shelf in shelves] == [1, 0, 1]


OPERATIONS = [
    {"action": "list"},
    {"action": "list", "type": "plan"},
    {"action": "get", "name": "known", "type": "plan"},
    {"action": "save", "name": "known", "type": "plan", "content": "stolen"},
    {"action": "replace", "name": "known", "type": "plan", "find": CANARY, "new_text": "x"},
    {"action": "delete", "name": "known", "type": "plan"},
]


@pytest.mark.parametrize("arguments", OPERATIONS, ids=lambda it: "-".join(it.values())[:30])
@pytest.mark.parametrize("tool", ["memory", "global_memory"])
def test_no_tool_argument_reaches_a_foreign_shelf(
    store: MemoryStore, alice: Principal, carol: Principal, tool: str, arguments: dict[str, str]
) -> None:
    """The scope comes from the host alone: arguments that name another owner are passed over."""
    writer = store.agents.create("writer", owner=alice)
    theirs = [store.scope(acting_as=alice), store.scope(acting_as=alice, agent=writer)]
    for shelf in theirs:
        hide(shelf)
    before = [state(shelf) for shelf in theirs]
    tools = MemoryTools(store, acting_as=carol, agent="mole")
    owner = {
        "principal_id": alice.id,
        "agent_id": writer.id,
        "scope": "global",
        "acting_as": "alice",
    }
    result = tools.call(tool, arguments | owner, approved=True)
    assert CANARY not in texts(result)
    assert [state(shelf) for shelf in theirs] == before


def test_tools_bound_to_a_foreign_agent_are_refused(
    store: MemoryStore, alice: Principal, carol: Principal
) -> None:
    """An agent's value alone opens neither its own shelf nor its owner's."""
    writer = store.agents.create("writer", owner=alice)
    hide(store.scope(acting_as=alice))
    hide(store.scope(acting_as=alice, agent=writer))
    for agent in (writer, writer.id, "writer"):
        tools = MemoryTools(store, acting_as=carol, agent=agent)
        for tool in ("memory", "global_memory"):
            result = tools.call(tool, {"action": "list"})
            assert not result.ok
            assert CANARY not in texts(result)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All SQL that stores opened from now on run, with the bound values in it."""
    seen: list[str] = []
    connect = sqlite3.connect

    def traced(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(seen.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    return seen


@pytest.mark.engines("sqlite-file", "sqlite-memory")
def test_every_statement_on_memories_names_the_shelf(
    statements: list[str], make_store: MakeStore
) -> None:
    """An id alone never reaches a row: each read and write of memories says whose they are.

    A body is reached by the row of its memory, which the same transaction found on the shelf.
    """
    store = make_store()
    alice = store.principals.user("alice")
    store.agents.create("writer", owner=alice)
    statements.clear()
    for agent in (None, "writer"):
        shelf = store.scope(acting_as=alice, agent=agent)
        for verb in VERBS:
            mine = shelf.save("mine", "plan", "x").memory
            it = shelf.save("known", "plan", f"{CANARY} {verb}").memory
            refusal = attempt(verb, shelf, it, mine)
            assert verb in {"create", "transfer"} or not isinstance(refusal, MemoriesError)
            shelf.list(limit=1, cursor=shelf.list(limit=1).next_cursor)
        named = [it for it in statements if re.search(r"\bmemor(ies|y_revisions)\b", it)]
        assert len(named) > 50
        key = re.escape(shelf.key)
        loose = [it for it in named if not re.search(rf"scope_key = '{key}'", it)]
        assert [it for it in loose if not inserts_for(shelf, it)] == []
        statements.clear()


@pytest.mark.engines("sqlite-file", "sqlite-memory")
def test_a_list_never_touches_bodies(statements: list[str], make_store: MakeStore) -> None:
    """A shelf of large documents is listed at the cost of its heads."""
    store = make_store()
    shelf = store.scope(acting_as=store.principals.user("alice"))
    for name in "abc":
        shelf.create(name, "plan", "x" * 100_000)
    statements.clear()
    page = shelf.list(limit=2)
    shelf.list(limit=2, cursor=page.next_cursor, type="plan")
    shelf.counts()
    assert len(statements) >= 4
    assert [it for it in statements if "bodies" in it or "content" in it] == []


def inserts_for(shelf: Scope, statement: str) -> bool:
    """Tell whether a statement adds a row that carries the shelf's key."""
    inserts = ("INSERT INTO memories ", "INSERT INTO memory_revisions ")
    return statement.startswith(inserts) and f"'{shelf.key}'" in statement
