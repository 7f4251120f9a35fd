"""A shelf adopts memories that were kept elsewhere: their pasts, their names, and nothing twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memories_sdk import MemoryStore, NotFound, Scope
from memories_sdk.errors import NameTaken, WriteRefused
from memories_sdk.past import Past, Version, single, version_of

LONG_AGO = datetime(2001, 2, 3, 4, 5, 6, 7, tzinfo=UTC)


def one(shelf: Scope, name: str = "voice", content: str = "new", **fields: object) -> Past:
    """Return a memory of which only the present state is known."""
    return single(shelf.vocabularies, {"name": name, "type": "plan", "content": content, **fields})


def told(shelf: Scope) -> Past:
    """Return a memory that was made, renamed, deleted, brought back, by bob, long ago."""

    def step(days: int, version: int, action: str, **fields: object) -> Version:
        state = {"type": "plan", "content": "first", "summary": "", "order": 7, **fields}
        at = LONG_AGO + timedelta(days=days)
        facts = {"action": action, "version": version, "actor": "user:bob", "at": at}
        made = version_of(shelf.vocabularies, state, **facts)
        return made if fields else Version(None, action, version, "user:bob", None, at)

    return Past(
        (
            step(0, 1, "create", name="taken"),
            step(1, 2, "update", name="voice", content="second"),
            step(2, 3, "delete"),
            step(3, 4, "restore", name="voice", content="second"),
        ),
        created_at=LONG_AGO,
    )


def test_adopts_a_past_as_it_was(store: MemoryStore, shelf: Scope) -> None:
    """Each change keeps its maker, moment, kind and what it overwrote; the store stays proven."""
    shelf.save("taken", "plan", "another one has the old name now")
    (done,) = shelf.adopt([told(shelf)])
    memory = shelf.get("voice", "plan")
    assert (done.fate, done.id) == ("created", memory.id)
    assert (memory.version, memory.order, memory.summary) == (4, 7, "")
    assert (memory.created_at, memory.updated_at) == (LONG_AGO, LONG_AGO + timedelta(days=3))
    history = list(shelf.history(id=memory.id))
    assert [(it.version, it.action, it.actor) for it in history] == [
        (4, "restore", "user:bob"),
        (3, "delete", "user:bob"),
        (2, "update", "user:bob"),
        (1, "create", "user:bob"),
    ]
    assert history[2].before == {"name": "taken", "content": "first"}
    assert store.verify() == []
    assert shelf.restore(memory.id, version=2).content == "second"


def test_a_deleted_memory_comes_with_its_past(shelf: Scope) -> None:
    """It is gone here too, and can be brought back here too."""
    past = told(shelf)
    gone = Past(past.versions[:3], created_at=LONG_AGO)
    assert shelf.adopt([gone])[0].fate == "created"
    with pytest.raises(NotFound):
        shelf.get("voice", "plan")
    assert shelf.restore(shelf.deleted()[0].memory_id).content == "second"


def test_the_same_again_changes_nothing(shelf: Scope) -> None:
    """An import that was interrupted can be run again: no record comes twice."""
    shelf.save("other", "plan", "old")
    past = told(shelf)
    gone = Past(past.versions[:3], created_at=LONG_AGO)
    pasts = [gone, past, one(shelf, "other")]
    first = shelf.adopt(pasts, conflict="rename")
    assert [it.fate for it in first] == ["created", "created", "renamed"]
    before = list(shelf.list()), list(shelf.history())
    again = shelf.adopt(pasts, conflict="rename")
    assert [it.fate for it in again] == ["skipped", "unchanged", "unchanged"]
    assert [it.id for it in again[1:]] == [it.id for it in first[1:]]
    assert (list(shelf.list()), list(shelf.history())) == before


@pytest.mark.parametrize(
    ("conflict", "fate", "content", "names"),
    [
        ("skip", "skipped", "old", ["voice"]),
        ("overwrite", "updated", "new", ["voice"]),
        ("rename", "renamed", "old", ["voice", "voice (2)"]),
    ],
)
def test_a_conflict_is_settled_as_chosen(
    shelf: Scope, conflict: str, fate: str, content: str, names: list[str]
) -> None:
    """No choice loses the old text: it stays, or is in the history. A dry run foretells it."""
    old = shelf.save("voice", "plan", "old", tags=["kept"]).memory
    assert [it.fate for it in shelf.adopt([one(shelf)], conflict=conflict, dry_run=True)] == [fate]
    assert len(shelf.history()) == 1
    (done,) = shelf.adopt([one(shelf)], conflict=conflict)
    assert (done.fate, shelf.get("voice", "plan").content) == (fate, content)
    assert [head.name for head in shelf.list()] == names
    assert shelf.get("voice", "plan").tags == ("kept",)
    if conflict == "overwrite":
        assert shelf.restore(old.id, version=1).content == "old"


def test_fail_writes_nothing_of_the_call(shelf: Scope) -> None:
    """One conflict and all of it stays out."""
    shelf.save("voice", "plan", "old")
    with pytest.raises(NameTaken):
        shelf.adopt([one(shelf, "fine"), one(shelf)], conflict="fail")
    assert [head.name for head in shelf.list()] == ["voice"]


def test_what_a_guard_refuses_does_not_stop_the_rest(shelf: Scope) -> None:
    """The answer says which record was refused, and why."""
    key = {"name": "key", "type": "fact", "content": f"ghp_{'a1B2' * 9}"}
    done = shelf.adopt([single(shelf.vocabularies, key), one(shelf)])
    assert [it.fate for it in done] == ["refused", "created"]
    assert isinstance(done[0].error, WriteRefused)


def test_one_call_is_one_change(shelf: Scope) -> None:
    """What was adopted by mistake is taken back by one undo."""
    shelf.save("mine", "plan", "")
    shelf.adopt([one(shelf, f"record {number}") for number in range(5)])
    shelf.undo()
    assert [head.name for head in shelf.list()] == ["mine"]


def test_what_is_expired_is_left_out(shelf: Scope) -> None:
    """It would vanish at once, and come again with each import."""
    expired = one(shelf, expires_at=LONG_AGO)
    assert [it.fate for it in shelf.adopt([expired])] == ["skipped"]
