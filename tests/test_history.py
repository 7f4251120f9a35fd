"""What happened to memories, and the way back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from held import START
from uuid6 import uuid7

from memories_sdk import InvalidInput, MemoryStore, NotFound, Principal, Scope
from memories_sdk.errors import NameTaken

if TYPE_CHECKING:
    from conftest import MakeStore
    from held import Clock


@pytest.fixture
def store(make_store: MakeStore, clock: Clock) -> MemoryStore:
    """An empty store whose clock the test holds."""
    return make_store(clock=clock, durability="process")


def actions(shelf: Scope, **which: object) -> list[str]:
    """Return the actions of a history, oldest first."""
    return [revision.action for revision in shelf.history(**which)][::-1]


def test_every_verb_leaves_one_revision(shelf: Scope) -> None:
    """The history of a shelf names each change once, in the order in which they happened."""
    first = shelf.create("a", "plan", "one")
    second = shelf.create("b", "plan", "")
    shelf.save("a", "plan", "two")
    shelf.update(first.id, pinned=True)
    shelf.replace("a", "plan", find="two", new_text="three")
    shelf.move(first.id, after=second.id)
    shelf.reorder([first.id])
    shelf.restore(first.id, version=1)
    shelf.delete("a", "plan")
    shelf.restore(first.id)
    shelf.clear()
    assert actions(shelf) == [
        *("create", "create", "update", "update", "replace", "move", "reorder"),
        *("restore", "delete", "restore", "clear", "clear"),
    ]
    seqs = [revision.seq for revision in shelf.history()]
    assert seqs == sorted(seqs, reverse=True)
    assert len(set(seqs)) == len(seqs)


def test_reading_leaves_no_revision(shelf: Scope) -> None:
    """A look at a shelf is not a change of it."""
    memory = shelf.create("a", "plan", "x")
    shelf.list()
    shelf.counts()
    shelf.get("a", "plan")
    shelf.get_by_id(memory.id)
    shelf.history()
    shelf.changes()
    shelf.deleted()
    assert actions(shelf) == ["create"]


def test_a_revision_says_who_when_what_and_what_was_before(
    store: MemoryStore, alice: Principal, clock: Clock
) -> None:
    """An edit by hand does not rewrite who wrote the memory first, and from where."""
    by_agent = store.scope(acting_as=alice, actor="agent:g", source="run 12")
    memory = by_agent.create("n", "plan", "One", tags=["t"])
    clock.go_on(minutes=1)
    store.scope(acting_as=alice).update(memory.id, content="2", tags=[], summary="Two")
    second, first = by_agent.history("n", "plan")
    assert (first.actor, first.source, first.action) == ("agent:g", "run 12", "create")
    assert (first.at, first.version, first.before) == (START, 1, {})
    assert (second.actor, second.source, second.action) == ("user:alice", None, "update")
    assert (second.at, second.version) == (START + timedelta(minutes=1), 2)
    assert second.before == {
        "content": "One",
        "tags": ("t",),
        "summary": "One",
        "summary_derived": True,
    }
    assert second.memory_id == memory.id
    assert second.shelf == by_agent.key


def test_a_rename_can_be_followed(shelf: Scope) -> None:
    """A history is found by the present name, else by the last memory that bore it."""
    memory = shelf.create("old", "plan", "x")
    shelf.update(memory.id, name="new")
    assert shelf.history("new", "plan")[0].before["name"] == "old"
    assert [it.memory_id for it in shelf.history("old", "plan")] == [memory.id] * 2
    other = shelf.create("old", "plan", "y")
    assert [it.memory_id for it in shelf.history("old", "plan")] == [other.id]


def test_the_history_of_a_name_that_never_was_is_not_found(shelf: Scope) -> None:
    """A typing error is not an empty history."""
    with pytest.raises(NotFound):
        shelf.history("never", "plan")


def test_history_comes_in_pages(shelf: Scope) -> None:
    """Cursors lead through all revisions once, newest first."""
    for i in range(7):
        shelf.save("n", "plan", f"{i}")
    versions: list[int] = []
    cursor = None
    while True:
        page = shelf.history("n", "plan", limit=3, cursor=cursor)
        versions += [revision.version for revision in page]
        if (cursor := page.next_cursor) is None:
            break
    assert versions == [7, 6, 5, 4, 3, 2, 1]


def test_the_history_of_several_memories_comes_in_one_go(shelf: Scope) -> None:
    """Deleted ones too, and no other's; as a whole it comes in pages as any history does."""
    ids = [shelf.save(name, "plan", "x").memory.id for name in ("a", "b", "c")]
    for text in ("y", "z"):
        for name in ("c", "b", "a"):
            shelf.save(name, "plan", text)
    shelf.delete("a", "plan")
    wanted = ids[:2]
    whole = shelf.history(ids=wanted)
    assert list(whole) == [it for it in shelf.history() if it.memory_id in wanted]
    assert len(whole) == 7
    first = shelf.history(ids=wanted, limit=4)
    rest = shelf.history(ids=wanted, limit=4, cursor=first.next_cursor)
    assert (*first, *rest) == tuple(whole)
    assert (list(shelf.history(ids=[])), rest.next_cursor) == ([], None)


@pytest.mark.parametrize("ids", ["x", [""] * 501])
def test_only_so_many_histories_at_once(shelf: Scope, ids: list[str]) -> None:
    """A list that is too long, or none, is refused before anything is read."""
    with pytest.raises(InvalidInput, match="at most 500"):
        shelf.history(ids=ids)


def test_changes_are_a_feed(shelf: Scope) -> None:
    """Asking on from the last `seq` seen gives each change once, oldest first."""
    shelf.create("a", "plan", "")
    shelf.create("b", "plan", "")
    first = shelf.changes(limit=1)
    rest = shelf.changes(since=first[-1].seq)
    assert [change.name for change in (*first, *rest)] == ["a", "b"]
    assert len(shelf.changes(since=rest[-1].seq)) == 0
    shelf.delete("a", "plan")
    assert [change.action for change in shelf.changes(since=rest[-1].seq)] == ["delete"]


def test_restore_brings_a_deleted_memory_back_under_its_id(shelf: Scope, clock: Clock) -> None:
    """All of it comes back, at its place, as a version of its own."""
    before = shelf.create("n", "plan", "body", summary="Mine", tags=["a"], pinned=True, order=3)
    clock.go_on(hours=1)
    gone = shelf.delete("n", "plan")
    clock.go_on(hours=1)
    back = shelf.restore(before.id)
    assert gone == before
    assert (back.id, back.version, back.created_at) == (before.id, 3, START)
    assert back.updated_at == START + timedelta(hours=2)
    assert (back.content, back.summary, back.tags) == ("body", "Mine", ("a",))
    assert (back.pinned, back.order, back.size) == (True, 3, 4)
    assert shelf.get("n", "plan") == back
    assert actions(shelf, id=before.id) == ["create", "delete", "restore"]


def test_deleted_names_what_can_be_restored(shelf: Scope) -> None:
    """Each memory that is gone is listed once, with its last state; one that is back is not."""
    first, second, third = (shelf.create(name, "plan", name) for name in "abc")
    shelf.delete("a", "plan")
    shelf.restore(first.id)
    shelf.delete("a", "plan")
    shelf.delete("b", "plan")
    shelf.restore(second.id)
    shelf.clear(type="context")
    assert [it.memory_id for it in shelf.deleted()] == [first.id]
    shelf.clear()
    assert {it.memory_id for it in shelf.deleted()} == {first.id, second.id, third.id}
    assert len(shelf.deleted(limit=2)) == 2
    for revision in shelf.deleted():
        assert shelf.restore(revision.memory_id).content == revision.before["content"]
    assert len(shelf.deleted()) == 0


def test_restore_brings_back_an_earlier_version(shelf: Scope) -> None:
    """An old state comes back whole, as a new version; the place in the list stays."""
    first = shelf.create("n", "plan", "one", tags=["a"])
    shelf.update(first.id, name="m", type="context", content="two", tags=["b"], order=9)
    shelf.save("m", "context", "three and more", summary="Mine", pinned=True)
    back = shelf.restore(first.id, version=1)
    assert (back.name, back.type, back.content) == ("n", "plan", "one")
    assert (back.tags, back.pinned) == (("a",), False)
    assert (back.summary, back.summary_derived) == ("one", True)
    assert (back.version, back.order, back.size) == (4, 9, 3)
    assert shelf.get("n", "plan") == back
    assert shelf.restore(first.id, version=3).content == "three and more"


def test_restore_reaches_across_a_delete(shelf: Scope) -> None:
    """Versions from before a delete can be restored after it; the gap itself cannot."""
    first = shelf.create("n", "plan", "one")
    shelf.save("n", "plan", "two")
    shelf.delete("n", "plan")
    with pytest.raises(NotFound):
        shelf.restore(first.id, version=3)
    assert shelf.restore(first.id, version=1).content == "one"
    assert shelf.restore(first.id, version=2).content == "two"
    with pytest.raises(NotFound):
        shelf.restore(first.id, version=3)


def test_restoring_the_present_version_changes_nothing(shelf: Scope) -> None:
    """Going back to where one is, is no change."""
    memory = shelf.create("n", "plan", "one")
    assert shelf.restore(memory.id, version=1) == memory
    assert actions(shelf) == ["create"]


@pytest.mark.parametrize("version", [2, 99])
def test_a_version_that_never_was_is_not_found(shelf: Scope, version: int) -> None:
    """A version ahead of the memory is none."""
    memory = shelf.create("n", "plan", "one")
    with pytest.raises(NotFound):
        shelf.restore(memory.id, version=version)


def test_restore_of_what_is_there_needs_a_version(shelf: Scope) -> None:
    """Without a version there is nothing to bring back; the suggestion says what to name."""
    memory = shelf.create("n", "plan", "one")
    with pytest.raises(InvalidInput) as caught:
        shelf.restore(memory.id)
    assert "version" in caught.value.suggestion


def test_restore_of_the_unknown_and_the_foreign_look_the_same(
    store: MemoryStore, shelf: Scope, bob: Principal
) -> None:
    """The trash of another shelf cannot be probed."""
    theirs = store.scope(acting_as=bob)
    foreign = theirs.create("n", "plan", "x")
    theirs.delete("n", "plan")
    messages = set()
    for stranger in (foreign.id, uuid7()):
        with pytest.raises(NotFound) as caught:
            shelf.restore(stranger)
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert theirs.restore(foreign.id).content == "x"


def test_restore_never_overwrites_who_has_the_name_now(shelf: Scope) -> None:
    """Both ways back, from the trash and to an old name, are refused while the name is taken."""
    deleted = shelf.create("n", "plan", "one")
    shelf.delete("n", "plan")
    renamed = shelf.create("n", "plan", "two")
    shelf.update(renamed.id, name="m")
    holder = shelf.create("n", "plan", "three")
    with pytest.raises(NameTaken):
        shelf.restore(deleted.id)
    with pytest.raises(NameTaken):
        shelf.restore(renamed.id, version=1)
    assert shelf.get("n", "plan") == holder
    shelf.delete("n", "plan")
    assert shelf.restore(deleted.id).content == "one"


def test_a_name_can_be_used_again_after_a_delete(shelf: Scope) -> None:
    """No tombstone holds the unique key; the new memory starts a history of its own."""
    old = shelf.create("n", "plan", "1")
    shelf.delete("n", "plan")
    new = shelf.save("n", "plan", "2")
    assert new.created
    assert new.memory.id != old.id
    assert actions(shelf, name="n", type="plan") == ["create"]
    assert actions(shelf, id=old.id) == ["create", "delete"]


def test_clear_takes_one_type_or_all_and_can_be_undone(shelf: Scope) -> None:
    """Clear says how many went, and each comes back."""
    plans = [shelf.create(name, "plan", name) for name in "ab"]
    shelf.create("c", "context", "c")
    assert shelf.clear(type="plan") == 2
    assert [head.name for head in shelf.list()] == ["c"]
    assert [shelf.restore(it.id).content for it in plans] == ["a", "b"]
    assert shelf.clear() == 3
    assert shelf.clear() == 0


def test_an_expired_memory_comes_back_to_stay(shelf: Scope, clock: Clock) -> None:
    """Restored, it does not vanish again at once."""
    memory = shelf.create("n", "plan", "x", expires_at=START + timedelta(hours=1))
    clock.go_on(hours=2)
    back = shelf.restore(memory.id)
    assert (back.content, back.expires_at) == ("x", None)
    assert shelf.get("n", "plan") == back
    assert actions(shelf, id=memory.id) == ["create", "expire", "restore"]


def test_an_earlier_version_that_has_expired_comes_back_to_stay(shelf: Scope, clock: Clock) -> None:
    """Going back to a version whose time is over does not make the memory vanish."""
    memory = shelf.create("n", "plan", "one", expires_at=START + timedelta(hours=1))
    shelf.update(memory.id, expires_at=None, content="two")
    clock.go_on(hours=2)
    back = shelf.restore(memory.id, version=1)
    assert (back.content, back.expires_at) == ("one", None)
    assert shelf.get("n", "plan") == back


def test_moves_do_not_stand_between_versions(shelf: Scope) -> None:
    """A restore walks past moves and reorders, which are no versions."""
    first = shelf.create("a", "plan", "one")
    other = shelf.create("b", "plan", "")
    shelf.save("a", "plan", "two")
    shelf.move(first.id, after=other.id)
    shelf.save("a", "plan", "three")
    shelf.reorder([first.id])
    shelf.move(first.id, after=other.id)
    assert shelf.restore(first.id, version=1).content == "one"
    assert shelf.restore(first.id, version=2).content == "two"
    assert [head.name for head in shelf.list()] == ["b", "a"]


def test_a_history_shows_its_revisions_by_name(shelf: Scope) -> None:
    """A revision's repr is one stable line without the body."""
    shelf.create("n", "plan", "SECRET")
    shelf.save("n", "plan", "x")
    shelf.reorder([])
    texts = [repr(revision) for revision in shelf.history()]
    assert "reorder" in texts[0]
    assert texts[1].endswith("update 'n' v2 by user:alice>")
    assert "SECRET" not in repr(shelf.history())
