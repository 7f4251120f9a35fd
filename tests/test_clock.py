"""A clock that goes back, or far ahead, breaks no order."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memories_sdk import MemoryStore, Scope
from memories_sdk.ids import Uuid7
from memories_sdk.statements import revisions as sql

if TYPE_CHECKING:
    from conftest import MakeStore

START = datetime(2026, 6, 1, tzinfo=UTC)
JUMPS = [0, 1, -3600, 2, -86400 * 400, 86400 * 365 * 30, -1, 3]
"""Seconds from one call of the clock to the next: summer time, a lost battery, a wrong year."""


class Clock:
    """A clock that jumps, over and over."""

    def __init__(self) -> None:
        self._now = START
        self._calls = count()

    def __call__(self) -> datetime:
        """Return another moment, earlier or later."""
        self._now += timedelta(seconds=JUMPS[next(self._calls) % len(JUMPS)])
        return self._now

    def nanoseconds(self) -> int:
        """Return one as an id reads it."""
        return int(self().timestamp()) * 1_000_000_000


@pytest.fixture
def store(make_store: MakeStore) -> MemoryStore:
    """A store whose clock jumps, for times and for ids."""
    clock = Clock()
    return make_store(clock=clock, ids=Uuid7(clock.nanoseconds), durability="process")


@pytest.fixture
def shelf(store: MemoryStore) -> Scope:
    """A shelf there."""
    return store.scope(acting_as=store.principals.user("alice"))


def test_versions_and_the_feed_rise(store: MemoryStore, shelf: Scope) -> None:
    """What came later stands later, whatever the clock said."""
    first = shelf.create("n", "plan", "0")
    for number in range(1, 20):
        shelf.save("n", "plan", str(number), expected_version=number)
    assert [each.version for each in reversed(shelf.history(id=first.id))] == list(range(1, 21))
    assert [each.version for each in shelf.changes()] == list(range(1, 21))
    assert shelf.restore(first.id, version=7).content == "6"
    assert store.verify() == []


def test_the_list_keeps_its_order(shelf: Scope) -> None:
    """New memories go last; ids rise within the process."""
    made = [shelf.create(f"n{number:02}", "plan", "x") for number in range(20)]
    assert [head.id for head in shelf.list()] == [each.id for each in made]
    assert all(before.id < after.id for before, after in pairwise(made))
    shelf.move(made[5].id, before=made[0].id)
    assert shelf.list()[0].id == made[5].id


def test_undo_takes_back_the_last_change(store: MemoryStore, shelf: Scope) -> None:
    """The last is the one that was made last, not the one with the latest time."""
    shelf.create("n", "plan", "0")
    for number in range(1, 9):
        shelf.save("n", "plan", str(number))
    for number in reversed(range(8)):
        shelf.undo()
        assert shelf.get("n", "plan").content == str(number)
    assert store.verify() == []


def test_a_process_whose_clock_is_behind_writes_behind(tmp_path: Path) -> None:
    """Ids of two processes may cross; places, versions and the feed do not."""
    with ExitStack() as stores:
        late, early = (
            stores.enter_context(
                MemoryStore(tmp_path / "m.db", ids=Uuid7(lambda moment=moment: moment))
            )
            for moment in (2_000_000_000_000_000_000, 1_000_000_000_000_000_000)
        )
        shelves = [each.scope(acting_as=each.principals.user("alice")) for each in (late, early)]
        made = [shelves[number % 2].create(f"n{number}", "plan", "x") for number in range(6)]
        assert [head.name for head in shelves[0].list()] == [each.name for each in made]
        assert [each.memory_id for each in shelves[1].changes()] == [each.id for each in made]
    assert made[1].id < made[0].id


@pytest.mark.engines("sqlite-file", "sqlite-memory")
@pytest.mark.parametrize(
    ("statement", "index"),
    [("DELETED", "ix_memory_revisions_endings"), ("LAST_NAMED", "ix_memory_revisions_named")],
)
def test_old_names_and_deleted_memories_are_found_by_index(
    store: MemoryStore, statement: str, index: str
) -> None:
    """Nobody walks a long history for them."""
    parameters = {"scope_key": "global:1", "limit": 1, "type": "plan", "name": "n"}
    with store._database.read() as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {getattr(sql, statement)}", parameters)
        steps = [row[3] for row in plan.fetchall()]
    assert index in steps[0]
    assert not any("SCAN" in step or "TEMP" in step for step in steps)
