"""A memory that expires vanishes at that moment, on every path, without a sweeper."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from held import START

from memories_sdk import (
    MemoryStore,
    NotFound,
    Scope,
)

if TYPE_CHECKING:
    from conftest import MakeStore
    from held import Clock


@pytest.fixture
def store(make_store: MakeStore, clock: Clock) -> MemoryStore:
    """An empty store whose clock the test holds."""
    return make_store(clock=clock, durability="process")


def test_a_memory_is_gone_at_the_instant_it_expires(shelf: Scope, clock: Clock) -> None:
    """No sweeper is needed: a microsecond before it is there, at the moment it is not."""
    moment = START + timedelta(hours=1)
    memory = shelf.create("n", "plan", "x", expires_at=moment)
    clock.now = moment - timedelta(microseconds=1)
    assert shelf.get("n", "plan") == memory
    clock.now = moment
    assert shelf.list().total == 0
    assert shelf.counts()["plan"] == 0
    for find in (lambda: shelf.get("n", "plan"), lambda: shelf.get_by_id(memory.id)):
        with pytest.raises(NotFound):
            find()


def test_writes_do_not_find_an_expired_memory(shelf: Scope, clock: Clock) -> None:
    """An expired memory cannot be edited, moved or deleted."""
    memory = shelf.create("n", "plan", "x", expires_at=START + timedelta(hours=1))
    other = shelf.create("m", "plan", "y")
    clock.go_on(hours=1)
    for write in (
        lambda: shelf.update(memory.id, content="z"),
        lambda: shelf.replace("n", "plan", find="x", new_text="z"),
        lambda: shelf.delete("n", "plan"),
        lambda: shelf.move(memory.id, after=other.id),
        lambda: shelf.move(other.id, after=memory.id),
        lambda: shelf.reorder([memory.id]),
    ):
        with pytest.raises(NotFound):
            write()
    assert shelf.clear() == 1


def test_the_name_of_an_expired_memory_is_free(shelf: Scope, clock: Clock) -> None:
    """A save on an expired name makes a new memory and ends the old one in its history."""
    old = shelf.create("n", "plan", "old", expires_at=START + timedelta(hours=1))
    clock.go_on(hours=2)
    saved = shelf.save("n", "plan", "new")
    assert saved.created
    assert saved.memory.id != old.id
    assert saved.memory.version == 1
    assert [revision.action for revision in shelf.history(id=old.id)] == ["expire", "create"]


def test_a_rename_can_take_the_name_of_an_expired_memory(shelf: Scope, clock: Clock) -> None:
    """The unique key of an expired memory stands in nobody's way."""
    shelf.create("n", "plan", "old", expires_at=START + timedelta(hours=1))
    other = shelf.create("m", "plan", "other")
    clock.go_on(hours=1)
    assert shelf.update(other.id, name="n").name == "n"


def test_an_expiry_can_be_lifted(shelf: Scope, clock: Clock) -> None:
    """None means never."""
    memory = shelf.create("n", "plan", "x", expires_at=START + timedelta(hours=1))
    assert shelf.update(memory.id, expires_at=None).expires_at is None
    clock.go_on(days=400)
    assert shelf.get("n", "plan").content == "x"


def test_an_expiry_is_kept_in_utc(shelf: Scope) -> None:
    """A moment given in another zone is the same moment."""
    zone = datetime.fromisoformat("2026-01-02T05:30:00.123456+05:30")
    memory = shelf.create("n", "plan", "x", expires_at=zone)
    assert memory.expires_at == datetime(2026, 1, 2, 0, 0, 0, 123456, tzinfo=UTC)
    assert shelf.get("n", "plan") == memory
