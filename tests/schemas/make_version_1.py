"""Write `version_1_*.sql`: what the release with schema 1 left behind, empty and in use.

Run it with that release's code first on the path, from the root of the repository:

    git archive b8d157e src | tar -x -C FOLDER
    PYTHONPATH=FOLDER/src python tests/schemas/make_version_1.py
"""

from __future__ import annotations

import itertools
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from uuid6 import UUID

from memories_sdk import MemoryStore
from memories_sdk.tables import SCHEMA_VERSION

HERE = Path(__file__).parent
START = datetime(2026, 11, 1, 9, tzinfo=UTC)


class Clock:
    """Counts seconds, so that a second run writes the same times."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        """Return the next second."""
        self.now += timedelta(seconds=1)
        return self.now


def counted(numbers: Iterator[int]) -> Callable[[], UUID]:
    """Return a source of ids that a second run repeats."""
    return lambda: UUID(int=next(numbers) << 80, version=7)


def fill(store: MemoryStore) -> None:
    """Do what people and agents do: everything that leaves a row or a kind of revision."""
    alice = store.principals.user("alice")
    shelf = store.scope(acting_as=alice, source="make_version_1")
    shelf.save("plan", "plan", "# Plan\n\nFirst the survey, then the report.", tags=["2026", "é"])
    shelf.save("plan", "plan", "# Plan\n\nFirst the report.", summary="Report first", pinned=True)
    shelf.replace("plan", "plan", find="report", new_text="survey")
    old = shelf.save("old_name", "documentation", 'A body with "name": in it').memory
    shelf.update(old.id, name="new_name", tags=["moved"])
    shelf.save("old_name", "documentation", "Another memory with the name that became free")
    shelf.save("gone", "examples", "deleted later")
    shelf.delete("gone", "examples")
    back = shelf.save("back", "examples", "deleted and restored").memory
    shelf.delete_by_id(back.id)
    shelf.restore(back.id)
    shelf.move(back.id, before=old.id)
    shelf.reorder([back.id, old.id])
    shelf.undo()
    shelf.save("leak", "context", "the secret is swordfish")
    shelf.save("leak", "context", "the secret was swordfish")
    shelf.redact("swordfish")
    shelf.save("brief", "context", "vanishes", expires_at=START + timedelta(minutes=9))
    shelf.save("answer_style", "preference", "Short answers")
    fill_other_shelves(store)


def fill_other_shelves(store: MemoryStore) -> None:
    """Leave the traces of an agent and of a group."""
    alice, bob = store.principals.user("alice"), store.principals.user("bob")
    lab = store.principals.group("lab", owner=alice, members=[bob])
    store.agents.create("writer", owner=alice)
    draft = store.scope(acting_as=alice, agent="writer", actor="agent:writer")
    for number in range(12):
        draft.save(f"note {number}", "plan", f"観測メモ {number}\n" * 5)
    draft.clear()
    draft.undo()
    team = store.scope(acting_as=bob, principal=lab)
    team.save("shared", "plan", "of the group")
    for number in range(5):
        team.save("shared", "plan", f"of the group, {number}")
    team.prune(keep=2)
    team.switch(on=False)


def main() -> None:
    """Write both dumps."""
    assert SCHEMA_VERSION == 1, SCHEMA_VERSION
    for name, use in (("empty", lambda _: None), ("full", fill)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "memories.db")
            with MemoryStore(path, clock=Clock(), ids=counted(itertools.count(1))) as store:
                use(store)
                assert store.verify() == []
            with closing(sqlite3.connect(path)) as connection:
                dump = "\n".join(connection.iterdump())
        Path(HERE, f"version_1_{name}.sql").write_text(f"{dump}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
