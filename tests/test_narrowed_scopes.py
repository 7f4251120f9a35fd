"""A scope of fewer types sees and touches those types alone; odd arguments are refused by kind."""

import pytest

from memories_sdk import (
    DOCUMENTS,
    FACTS,
    AccessDenied,
    EditConflict,
    InvalidInput,
    MemoryStore,
    NotFound,
)


@pytest.fixture
def both(store, alice):
    """A shelf with a document and facts, seen whole and seen as documents alone."""
    whole = store.scope(acting_as=alice)
    whole.create("doc", "plan", "body")
    whole.create("tea", "preference", "green")
    whole.create("milk", "preference", "oat")
    whole.delete("milk", "preference")
    return whole, store.scope(acting_as=alice, vocabularies=[DOCUMENTS])


def test_history_of_other_types_does_not_show(both):
    """History, the bin and the feed of a narrowed scope name no memory of another type."""
    whole, narrow = both
    fact = whole.get("tea", "preference")
    seen = [*narrow.history(), *narrow.deleted(), *narrow.changes(), *narrow.history(id=fact.id)]
    assert {revision.type for revision in seen} == {"plan"}


def test_verbs_by_id_refuse_other_types(both):
    """Restore, reorder and undo do not reach a memory of another type."""
    whole, narrow = both
    gone, fact = whole.deleted()[0].memory_id, whole.get("tea", "preference")
    for attempt in (
        lambda: narrow.restore(gone),
        lambda: narrow.reorder([fact.id]),
        narrow.undo,
    ):
        with pytest.raises(NotFound):
            attempt()
    assert [head.name for head in whole.list()] == ["doc", "tea"]
    assert narrow.reorder([narrow.get("doc", "plan").id]) is None


@pytest.mark.usefixtures("both")
def test_facts_alone_are_a_scope_too(store, alice):
    """A scope of facts lists facts."""
    facts = store.scope(acting_as=alice, vocabularies=[FACTS])
    assert [head.name for head in facts.list()] == ["tea"]


def test_move_and_restore_refuse_a_stale_version(store, alice):
    """Every write of one memory can say which version it saw."""
    shelf = store.scope(acting_as=alice)
    first, second = shelf.create("a", "plan", "1"), shelf.create("b", "plan", "1")
    shelf.save("a", "plan", "2")
    with pytest.raises(EditConflict):
        shelf.move(first.id, after=second.id, expected_version=1)
    with pytest.raises(EditConflict):
        shelf.restore(first.id, version=1, expected_version=1)
    shelf.move(first.id, after=second.id, expected_version=2)
    assert shelf.restore(first.id, version=1, expected_version=2).content == "1"
    shelf.delete("a", "plan")
    with pytest.raises(EditConflict):
        shelf.restore(first.id, expected_version=3)


def test_a_history_by_type_alone_is_refused(store, alice):
    """A type without a name would read as a filter that there is not."""
    with pytest.raises(InvalidInput):
        store.scope(acting_as=alice).history(type="plan")


@pytest.mark.parametrize("label", ["", "  ", "two\nlines", "\ud800", "x" * 201, 7])
def test_actor_and_source_are_one_printable_line(store, alice, label):
    """What the history names can neither forge a row nor fail in the engine."""
    for arguments in ({"actor": label}, {"source": label}):
        with pytest.raises(InvalidInput):
            store.scope(acting_as=alice, **arguments)


@pytest.mark.parametrize("location", ["", "a\0b"])
def test_a_location_that_is_no_path_is_refused(location):
    """An empty path does not mean the user's own store."""
    with pytest.raises(InvalidInput):
        MemoryStore(location)


@pytest.mark.parametrize("timeout", ["x", -1, float("nan"), float("inf"), None])
def test_a_timeout_that_is_no_wait_is_refused(timeout):
    """The wait for a lock is bounded."""
    with pytest.raises(InvalidInput):
        MemoryStore(":memory:", timeout=timeout)


def test_owners_that_are_none_are_refused_by_kind(store):
    """A name for a principal, nothing, and a principal of another store are typed errors."""
    with MemoryStore(":memory:") as other:
        for _ in range(5):
            stranger = other.principals.user(f"stranger {_}")
    with pytest.raises(AccessDenied):
        store.agents.create("a", owner=stranger)
    for attempt in (
        lambda: store.agents.create("a", owner="alice"),
        lambda: store.agents.ensure("a", owner="alice"),
        lambda: store.principals.visible_to(None),
    ):
        with pytest.raises(InvalidInput):
            attempt()
