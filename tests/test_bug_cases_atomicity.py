"""All of a verb is stored, its history included, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from held import START, stored
from uuid6 import UUID, uuid7

from memories_sdk import (
    Edit,
    Memory,
    MemoryStore,
    NotFound,
    Scope,
)
from memories_sdk.errors import NameTaken, StorageError
from memories_sdk.statements import revisions as sql

if TYPE_CHECKING:
    from conftest import MakeStore
    from held import Clock


@pytest.fixture
def store(make_store: MakeStore, clock: Clock) -> MemoryStore:
    """An empty store whose clock the test holds."""
    return make_store(clock=clock, durability="process")


WRITES: dict[str, Callable[[Scope, Memory], object]] = {
    "save": lambda shelf, it: shelf.save(it.name, it.type, "new"),
    "save of a new one": lambda shelf, _: shelf.save("new", "plan", "new"),
    "create": lambda shelf, _: shelf.create("new", "plan", "new"),
    "update": lambda shelf, it: shelf.update(it.id, name="new", content="new"),
    "replace": lambda shelf, it: shelf.replace(it.name, it.type, find="body", new_text="new"),
    "replace_by_id": lambda shelf, it: shelf.replace_by_id(it.id, edits=[Edit("body", "new")]),
    "delete": lambda shelf, it: shelf.delete(it.name, it.type),
    "delete_by_id": lambda shelf, it: shelf.delete_by_id(it.id),
    "clear": lambda shelf, _: shelf.clear(),
    "move": lambda shelf, it: shelf.move(it.id, after=shelf.list()[1].id),
    "reorder": lambda shelf, _: shelf.reorder([head.id for head in shelf.list()][::-1]),
    "restore": lambda shelf, it: shelf.restore(it.id, version=1),
}


@pytest.mark.parametrize("verb", WRITES)
def test_a_refused_revision_undoes_the_whole_verb(
    store: MemoryStore, shelf: Scope, verb: str
) -> None:
    """No change is stored without its history: both are, or none is."""
    memory = shelf.create("n", "plan", "first body")
    shelf.create("m", "plan", "other body")
    memory = shelf.save("n", "plan", "body").memory
    before = stored(store)
    with pytest.MonkeyPatch.context() as patch:
        # The engine refuses it: most of its columns must not be empty.
        patch.setattr(sql, "INSERT_REVISION", "INSERT INTO memory_revisions (at) VALUES (:at)")
        with pytest.raises(StorageError):
            WRITES[verb](shelf, memory)
    assert stored(store) == before
    WRITES[verb](shelf, memory)
    assert stored(store) != before


def test_a_failing_id_source_undoes_the_burial_before_it(
    make_store: MakeStore, clock: Clock
) -> None:
    """An expired memory stays restorable when the save that would replace it fails."""
    minted = iter([uuid7()])

    def ids() -> UUID:
        return next(minted)

    store = make_store("planned.db", clock=clock, ids=ids, durability="process")
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.create("n", "plan", "x", expires_at=START + timedelta(hours=1))
    clock.go_on(hours=1)
    before = stored(store)
    with pytest.raises(StopIteration):
        shelf.save("n", "plan", "y")
    assert stored(store) == before


def test_a_failed_verb_leaves_the_store_usable(shelf: Scope) -> None:
    """The connection of a failed write is clean for the next caller."""
    shelf.create("n", "plan", "x")
    for _ in range(3):
        with pytest.raises(NameTaken):
            shelf.create("n", "plan", "y")
    assert shelf.save("m", "plan", "z").created


def test_a_failing_thread_takes_no_other_threads_rows_along(shelf: Scope) -> None:
    """A rollback undoes its own call alone, also where all threads share one connection."""

    def save(number: int) -> bool:
        if number % 2:
            shelf.save(f"good {number}", "plan", "x")
        else:
            with pytest.raises(NotFound):
                shelf.replace("nowhere", "plan", find="a", new_text="b")
        return True

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(save, range(40)))
    assert shelf.counts()["plan"] == 20
