"""What one principal may keep and write: refused with advice, inside the write's transaction."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from memories_sdk import InvalidInput, MemoryStore, MemoryTools, Quota, Scope
from memories_sdk.errors import QuotaExceeded

if TYPE_CHECKING:
    from conftest import MakeStore


def shelf_of(store: MemoryStore, name: str = "alice") -> Scope:
    """Return the global shelf of a user."""
    return store.scope(acting_as=store.principals.user(name))


def test_the_memories_of_all_shelves_count_together(make_store: MakeStore) -> None:
    """An agent's shelf is its owner's room; another principal has room of its own."""
    store = make_store(quota=Quota(memories=3))
    alice = store.principals.user("alice")
    store.agents.create("writer", owner=alice)
    shelf, own = store.scope(acting_as=alice), store.scope(acting_as=alice, agent="writer")
    for name in "ab":
        shelf.create(name, "plan", "x")
    own.create("c", "plan", "x")
    for each in (shelf, own):
        with pytest.raises(QuotaExceeded) as caught:
            each.save("d", "plan", "x")
        assert (caught.value.quota, caught.value.limit) == ("memories", 3)
        assert caught.value.suggestion
    assert (shelf.list().total, own.list().total) == (2, 1)
    assert len(shelf.history()) == 2
    assert shelf_of(store, "bob").save("d", "plan", "x").created


def test_what_is_there_can_be_changed_and_deleted_at_the_limit(make_store: MakeStore) -> None:
    """Only more is refused: nobody is locked in by a limit that was lowered."""
    store = make_store()
    for name in "abc":
        shelf_of(store).create(name, "plan", "xxxx")
    if store.location == ":memory:":
        object.__setattr__(store._setting, "quota", Quota(memories=1, bytes=5))
    else:
        store = make_store(quota=Quota(memories=1, bytes=5))
    shelf = shelf_of(store)
    assert shelf.save("a", "plan", "yyy").memory.version == 2
    with pytest.raises(QuotaExceeded):
        shelf.save("a", "plan", "yyyyyyyyy")
    shelf.delete("b", "plan")
    with pytest.raises(QuotaExceeded):
        shelf.restore(shelf.deleted()[0].memory_id)
    assert shelf.clear() == 2
    assert shelf.save("n", "plan", "12345").created


def test_bytes_are_those_of_the_bodies(make_store: MakeStore) -> None:
    """The limit counts UTF-8, after the whole verb: a replace cannot grow past it."""
    shelf = shelf_of(make_store(quota=Quota(bytes=10)))
    shelf.save("n", "plan", "é" * 5)
    for write in (
        lambda: shelf.replace("n", "plan", find="ééééé", new_text="é" * 6),
        lambda: shelf.create("m", "plan", "x"),
    ):
        with pytest.raises(QuotaExceeded) as caught:
            write()
        assert caught.value.quota == "bytes"
    assert shelf.get("n", "plan").content == "é" * 5


def test_writes_are_counted_in_any_minute(make_store: MakeStore) -> None:
    """A verb is one write, whatever its parts; a minute later there is room again."""
    moment = [datetime(2026, 1, 1, tzinfo=UTC)]
    store = make_store(quota=Quota(writes_per_minute=3), clock=lambda: moment[0])
    shelf = shelf_of(store)
    for name in "abc":
        shelf.create(name, "plan", "x")
    for write in (shelf.clear, lambda: shelf.save("d", "plan", "x")):
        with pytest.raises(QuotaExceeded) as caught:
            write()
        assert caught.value.quota == "writes per minute"
    moment[0] += timedelta(seconds=60)
    assert shelf.clear() == 3
    shelf.undo()
    assert shelf.save("a", "plan", "y").memory.content == "y"
    with pytest.raises(QuotaExceeded):
        shelf.save("a", "plan", "z")


def test_many_writers_do_not_pass_the_limit_together(make_store: MakeStore) -> None:
    """The count is taken inside the transaction that writes."""
    store = make_store(quota=Quota(memories=5), durability="process")
    shelf = shelf_of(store)

    def save(number: int) -> bool:
        try:
            return shelf.save(f"m{number}", "plan", "x").created
        except QuotaExceeded:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(save, range(24))) == 5
    assert shelf.list().total == 5


@pytest.mark.parametrize(
    "quota",
    [Quota(memories=5), Quota(bytes=50), Quota(writes_per_minute=5)],
    ids=["memories", "bytes", "writes"],
)
def test_writers_of_all_shelves_of_an_owner_do_not_pass_it_together(
    make_store: MakeStore, quota: Quota
) -> None:
    """Eight shelves of one principal are written at once: together they stop at the limit."""
    store = make_store(quota=quota, durability="process")
    alice = store.principals.user("alice")
    agents = [store.agents.create(f"a{number}", owner=alice) for number in range(7)]
    shelves = [store.scope(acting_as=alice, agent=agent) for agent in (None, *agents)]
    together = Barrier(len(shelves))

    def write(shelf: Scope) -> int:
        together.wait(30)
        done = 0
        for number in range(3):
            with suppress(QuotaExceeded):
                done += shelf.save(f"m{number}", "plan", "0123456789").created
        return done

    with ThreadPoolExecutor(len(shelves)) as pool:
        assert sum(pool.map(write, shelves)) == 5
    assert sum(shelf.list().total for shelf in shelves) == 5
    assert store.verify() == []


def test_a_tool_says_what_is_used_up(make_store: MakeStore) -> None:
    """A model gets the code, the sentence and the advice."""
    store = make_store(quota=Quota(memories=1))
    tools = MemoryTools(store, acting_as=store.principals.user("alice"))
    call = {"action": "save", "type": "plan", "content": "x"}
    assert tools.call("global_memory", call | {"name": "a"}).ok
    result = tools.call("global_memory", call | {"name": "b"})
    assert (result.code, result.hint) == (
        "quota_exceeded",
        "Delete memories that are not needed, or merge some.",
    )
    assert "quota of 1 memories" in result.text


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "5"], ids=repr)
def test_a_quota_is_a_whole_number(value: object) -> None:
    """A limit that is none is told when it is made, not when it is passed."""
    with pytest.raises(InvalidInput):
        Quota(memories=value)
