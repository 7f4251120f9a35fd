"""A write under a key happens once, however often it is asked for."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from uuid6 import UUID

from memories_sdk import Edit, InvalidInput, Memory, MemoryStore, MemoryTools, Principal, Scope
from memories_sdk.errors import Conflict, EditConflict, KeyReused, NotFound
from memories_sdk.history import History
from memories_sdk.hooks import hookimpl
from memories_sdk.memory import UNSET
from memories_sdk.policy import APPROVAL

if TYPE_CHECKING:
    from conftest import MakeStore

# Each changes something on a shelf with the memories `it`, which has two versions, and `other`.
WRITES: dict[str, Callable[[Scope, Memory, Memory], object]] = {
    "save": lambda shelf, it, _: shelf.save(it.name, it.type, "saved", tags=["t"]),
    "create": lambda shelf, _it, _: shelf.create("new", "plan", "created"),
    "update": lambda shelf, it, _: shelf.update(it.id, name="renamed", pinned=True),
    "replace": lambda shelf, it, _: shelf.replace(it.name, it.type, find="two", new_text="2"),
    "replace_by_id": lambda shelf, it, _: shelf.replace_by_id(it.id, edits=[Edit("two", "2")]),
    "delete": lambda shelf, it, _: shelf.delete(it.name, it.type),
    "delete_by_id": lambda shelf, it, _: shelf.delete_by_id(it.id, expected_version=2),
    "clear": lambda shelf, _it, _: shelf.clear(),
    "move": lambda shelf, it, other: shelf.move(it.id, after=other.id),
    "reorder": lambda shelf, it, other: shelf.reorder([other.id, it.id]),
    "restore": lambda shelf, it, _: shelf.restore(it.id, version=1),
    "undo": lambda shelf, _it, _: shelf.undo(),
    "redact": lambda shelf, _it, _: shelf.redact("two"),
    "prune": lambda shelf, _it, _: shelf.prune(keep=1),
    "switch": lambda shelf, _it, _: shelf.switch(on=False),
}
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89"
each_write = pytest.mark.parametrize("verb", WRITES)


@pytest.fixture
def it(shelf: Scope) -> Memory:
    """A memory of two versions."""
    shelf.create("it", "plan", "body one")
    return shelf.save("it", "plan", "body two").memory


@pytest.fixture
def other(shelf: Scope, it: Memory) -> Memory:
    """The memory behind it."""
    return shelf.create("other", it.type, "other")


def seqs(shelf: Scope) -> list[int]:
    """Return the numbers of all revisions."""
    return [each.seq for each in shelf.history()]


def same(result: object, again: object) -> bool:
    """Tell whether two results say the same."""
    if isinstance(result, History):
        return list(result) == list(again)
    return result == again


def unwrapped(verb: Callable[..., object]) -> Iterator[Callable[..., object]]:
    """Yield a function and all that it was made of."""
    while True:
        yield verb
        if not hasattr(verb, "__wrapped__"):
            return
        verb = verb.__wrapped__


def test_every_verb_that_writes_is_tested() -> None:
    """A new verb that writes needs the mark of one, and a row above."""
    marked = {
        name
        for name, verb in inspect.getmembers(Scope, inspect.isfunction)
        if any(each.__code__.co_name == "kept" for each in unwrapped(verb))
    }
    # Those that need more than two memories have tests of their own, below.
    assert marked == WRITES.keys() | {"attach", "detach", "transfer"}


@each_write
def test_the_second_call_writes_nothing_and_gives_the_first_result(
    shelf: Scope, it: Memory, other: Memory, verb: str
) -> None:
    """Whoever did not hear the answer asks again, and hears the same."""
    keyed = shelf.once("run 1, call 1")
    first = WRITES[verb](keyed, it, other)
    written = seqs(shelf)
    assert same(WRITES[verb](keyed, it, other), first)
    assert same(WRITES[verb](shelf.once("run 1, call 1"), it, other), first)
    assert seqs(shelf) == written


@each_write
def test_the_first_call_does_what_it_does_without_a_key(make_store: MakeStore, verb: str) -> None:
    """A key changes neither the result nor what is stored."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    outcomes = []
    for name in ("plain.db", "keyed.db"):
        numbers = iter(range(1, 100))
        store = make_store(
            name,
            clock=lambda: moment,
            ids=lambda numbers=numbers: UUID(int=next(numbers) << 80, version=7),
        )
        shelf = store.scope(acting_as=store.principals.user("alice"))
        shelf.create("it", "plan", "body one")
        it = shelf.save("it", "plan", "body two").memory
        other = shelf.create("other", "plan", "other")
        result = WRITES[verb](shelf.once("key") if name == "keyed.db" else shelf, it, other)
        shown = list(result) if isinstance(result, History) else result
        outcomes.append((shown, list(shelf.history()), shelf.enabled))
        assert store.verify() == []
    assert outcomes[0] == outcomes[1]


def test_the_result_is_that_of_the_first_call_whatever_came_after(shelf: Scope, it: Memory) -> None:
    """The answer to a repeated save is not what others made of the memory since."""
    saved = shelf.once("key").save("it", "plan", "mine", summary="by me")
    shelf.save("it", "plan", "theirs")
    shelf.update(it.id, name="theirs", tags=["theirs"])
    assert shelf.once("key").save("it", "plan", "mine", summary="by me") == saved
    shelf.delete_by_id(it.id)
    assert shelf.once("key").save("it", "plan", "mine", summary="by me") == saved
    assert [head.name for head in shelf.list()] == []


def test_a_repeated_delete_leaves_the_one_that_has_the_name_now(shelf: Scope, it: Memory) -> None:
    """The second call deletes nothing, not even what was made in between."""
    gone = shelf.once("key").delete("it", "plan")
    new = shelf.create("it", "plan", "another")
    assert shelf.once("key").delete("it", "plan") == gone
    assert shelf.get("it", "plan") == new
    assert gone == it


def test_a_call_that_changed_nothing_is_kept_too(shelf: Scope, it: Memory) -> None:
    """Clearing an empty shelf does not clear what came later."""
    assert shelf.once("key").clear(type="context") == 0
    shelf.create("later", "context", "x")
    assert shelf.once("key").clear(type="context") == 0
    assert shelf.get("later", "context").content == "x"
    assert shelf.once("none").update(it.id) == it
    assert shelf.once("none").update(it.id) == it


OTHERS: dict[str, Callable[[Scope], object]] = {
    "another body": lambda shelf: shelf.save("it", "plan", "other"),
    "more": lambda shelf: shelf.save("it", "plan", "mine", pinned=True),
    "another verb": lambda shelf: shelf.create("it", "plan", "mine"),
    "delete": lambda shelf: shelf.delete("it", "plan"),
    "clear": lambda shelf: shelf.clear(),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_key_stands_for_one_call(shelf: Scope, other: str) -> None:
    """Other arguments, or another verb, under the same key are refused and write nothing."""
    shelf.once("key").save("it", "plan", "mine")
    written = seqs(shelf)
    with pytest.raises(KeyReused) as caught:
        OTHERS[other](shelf.once("key"))
    assert (caught.value.code, caught.value.field, caught.value.key) == ("key_reused", "key", "key")
    assert seqs(shelf) == written


def test_the_same_call_may_be_written_in_several_ways(shelf: Scope, it: Memory) -> None:
    """What is left out and what is given as it would be anyway are one call."""
    key = shelf.once("key")
    first = key.save("n", "plan", "x", expires_at=datetime(2050, 1, 1, tzinfo=UTC))
    moment = datetime(2050, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert key.save(name="n", type="plan", content="x", tags=UNSET, expires_at=moment) == first
    assert shelf.once("id").delete_by_id(it.id) == shelf.once("id").delete_by_id(str(it.id))


def test_a_refused_call_leaves_its_key_free(shelf: Scope, it: Memory) -> None:
    """What was not done may be done, also differently."""
    key = shelf.once("key")
    for _ in range(2):
        with pytest.raises(EditConflict):
            key.save(it.name, "plan", "mine", expected_version=1)
    assert key.save(it.name, "plan", "mine", expected_version=2).memory.version == 3
    with pytest.raises(NotFound):
        shelf.once("gone").delete("gone", "plan")
    shelf.create("gone", "plan", "x")
    assert shelf.once("gone").delete("gone", "plan").name == "gone"


@pytest.mark.parametrize("key", ["", "  ", "a\nb", "x" * 201, None, 7])
def test_a_key_is_one_line(shelf: Scope, key: object) -> None:
    """What cannot be told apart in a log is no key."""
    with pytest.raises(InvalidInput) as caught:
        shelf.once(key)
    assert caught.value.field == "key"


def test_keys_are_the_callers_own(
    store: MemoryStore, alice: Principal, bob: Principal, lab: Principal
) -> None:
    """Two members who both count their calls from 1 do not take each other's place."""
    for caller in (alice, bob):
        shelf = store.scope(acting_as=caller, principal=lab).once("1")
        assert shelf.save("notes", "plan", f"of {caller.name}").created == (caller == alice)
    assert store.scope(acting_as=alice).once("1").save("notes", "plan", "own").created
    assert store.scope(acting_as=bob, principal=lab).get("notes", "plan").content == "of bob"


def test_who_lost_the_shelf_is_told_nothing(
    store: MemoryStore, bob: Principal, lab: Principal
) -> None:
    """A key is no way back to a result."""
    shelf = store.scope(acting_as=bob, principal=lab).once("key")
    shelf.save("notes", "plan", "secret")
    store.principals.remove_member(lab, bob)
    with pytest.raises(PermissionError):
        shelf.save("notes", "plan", "secret")


def test_a_transfer_is_repeated(store: MemoryStore, alice: Principal, it: Memory) -> None:
    """The memory is shown as it arrived, though it may be back by now."""
    store.agents.create("writer", owner=alice)
    here = store.scope(acting_as=alice)
    there = store.scope(acting_as=alice, agent="writer")
    arrived = here.once("key").transfer(it.id, to=there)
    assert here.once("key").transfer(it.id, to=there) == arrived
    there.transfer(it.id, to=here)
    assert here.once("key").transfer(it.id, to=there) == arrived
    assert [head.id for head in here.list()] == [it.id]


def test_pictures_are_kept_and_removed_once(shelf: Scope) -> None:
    """A picture that was removed is not back because somebody asked twice."""
    head = shelf.once("put").attach(PICTURE, name="a dot")
    assert shelf.once("put").attach(PICTURE, name="a dot") == head
    shelf.once("remove").detach(head.id)
    with pytest.raises(Conflict, match="removed since"):
        shelf.once("put").attach(PICTURE, name="a dot")
    shelf.attach(PICTURE)
    shelf.once("remove").detach(head.id)
    assert [each.id for each in shelf.attachments()] == [head.id]


def test_a_redacted_text_does_not_come_back(shelf: Scope) -> None:
    """A key keeps no copy of what was written under it."""
    shelf.once("key").save("it", "plan", "the swordfish")
    shelf.save("it", "plan", "nothing")
    shelf.redact("swordfish")
    assert "swordfish" not in shelf.once("key").save("it", "plan", "the swordfish").memory.content


def test_after_pruning_the_present_is_the_answer(shelf: Scope) -> None:
    """What is not kept any more is not made up; the write is not repeated."""
    memory = shelf.once("key").save("it", "plan", "mine").memory
    shelf.save("it", "plan", "theirs")
    shelf.prune(keep=1)
    shelf.save("it", "plan", "last")
    shelf.prune(keep=1)
    assert shelf.once("key").save("it", "plan", "mine").memory.content == "last"
    shelf.delete_by_id(memory.id)
    with pytest.raises(Conflict, match="not kept"):
        shelf.once("key").save("it", "plan", "mine")


def test_pruning_by_age_forgets_keys(make_store: MakeStore) -> None:
    """A key that is older than what is kept is free again."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    store = make_store(clock=lambda: now)
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.once("key").save("it", "plan", "x")
    shelf.prune(before=now)
    with pytest.raises(KeyReused):
        shelf.once("key").save("it", "plan", "y")
    shelf.prune(before=now + timedelta(seconds=1))
    assert shelf.once("key").save("it", "plan", "y").memory.version == 2


def test_threads_with_one_key_write_once(make_store: MakeStore) -> None:
    """The look and the write are one: two at the same time are one write."""
    store = make_store(durability="process")
    shelf = store.scope(acting_as=store.principals.user("alice")).once("key")
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: shelf.save("it", "plan", "x"), range(40)))
    assert set(map(repr, results)) == {repr(results[0])}
    assert len(shelf.history()) == 1


RETRYING = """
import sys
from memories_sdk import MemoryStore
with MemoryStore(sys.argv[1]) as store:
    shelf = store.scope(acting_as=store.principals.user("alice"))
    sys.stdin.readline()
    for number in range(20):
        print(shelf.once(f"call {number}").create(f"n{number}", "plan", "x").id)
"""


def test_processes_with_the_same_keys_write_once(tmp_path: Path) -> None:
    """A retry may come from another process while the first call is under way."""
    path = tmp_path / "m.db"
    MemoryStore(path).close()
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", RETRYING, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for run in runs:
        run.stdin.write("go\n")
        run.stdin.flush()
    answers = [run.communicate()[0] for run in runs]
    assert len(answers[0].split()) == 20
    assert set(answers) == {answers[0]}
    with MemoryStore(path) as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        assert len(shelf.history()) == 20


def test_listeners_hear_of_it_once(store: MemoryStore, shelf: Scope) -> None:
    """Who copies changes elsewhere does not copy one twice."""
    heard = []

    class Listener:
        @hookimpl
        def memory_changed(self, changes: object) -> None:
            heard.append(changes)

    store.plugins.register(Listener(), name="listener")
    for _ in range(3):
        shelf.once("key").save("it", "plan", "x")
    assert len(heard) == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("global_memory", {"action": "save", "name": "new", "type": "plan", "content": "x"}),
        (
            "global_memory",
            {"action": "replace", "name": "it", "type": "plan", "find": "two", "new_text": "2"},
        ),
        ("global_memory", {"action": "delete", "name": "it", "type": "plan"}),
        ("remember_memory", {"type": "fact", "key": "k", "value": "v"}),
        ("forget_memory", {"type": "fact", "key": "known"}),
        ("clear_memory", {}),
    ],
)
def test_a_tool_call_is_repeated_under_its_key(
    store: MemoryStore, alice: Principal, shelf: Scope, it: Memory, tool: str, arguments: object
) -> None:
    """A host that lost the answer calls again and gets the same words."""
    shelf.save("known", "fact", f"beside {it.name}")
    tools = MemoryTools(store, acting_as=alice, policy=APPROVAL)
    first = tools.call(tool, arguments, approved=True, operation="call 7")
    written = seqs(shelf)
    assert first.ok
    assert tools.call(tool, arguments, approved=True, operation="call 7") == first
    assert seqs(shelf) == written


def test_a_tool_call_under_a_foreign_key_is_answered(store: MemoryStore, alice: Principal) -> None:
    """A key that was used, or is none, is a refusal in words and never an exception."""
    tools = MemoryTools(store, acting_as=alice)
    call = {"action": "save", "name": "n", "type": "plan", "content": "x"}
    assert tools.call("global_memory", call, operation="1").ok
    again = tools.call("global_memory", {**call, "content": "y"}, operation="1")
    assert (again.ok, again.code) == (False, "key_reused")
    assert tools.call("global_memory", call, operation="").code == "invalid"


def test_a_call_that_was_asked_for_is_carried_out_once(
    store: MemoryStore, alice: Principal, shelf: Scope, it: Memory
) -> None:
    """A person's consent is to one call: asked for again, it is answered and not done again."""
    tools = MemoryTools(store, acting_as=alice)
    call = {"action": "delete", "name": it.name, "type": it.type}
    assert tools.call("global_memory", call, operation="1").code == "approval_required"
    done = tools.call("global_memory", call, operation="1", approved=True)
    assert done.ok
    again = shelf.create(it.name, it.type, "made since")
    assert tools.call("global_memory", call, operation="1", approved=True) == done
    assert tools.call("global_memory", call, operation="1") == done
    assert shelf.get(it.name, it.type) == again


def test_a_guard_may_write_meanwhile(store: MemoryStore, alice: Principal, shelf: Scope) -> None:
    """What somebody else writes during a call is theirs, and stays when the call fails."""
    diary = store.scope(acting_as=store.principals.user("guard"))

    class Guard:
        @hookimpl
        def write_guard(self, write: object) -> None:
            if write.shelf != diary.key:
                diary.save("seen", "plan", "a write")

    store.plugins.register(Guard(), name="guard")
    with pytest.raises(NotFound):
        shelf.once("key").replace("gone", "plan", find="a", new_text="b")
    assert shelf.once("key").save("it", "plan", "x").created
    assert diary.get("seen", "plan").version == 1
    assert shelf.once("key").save("it", "plan", "x").created
    assert alice == shelf.caller
