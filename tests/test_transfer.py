"""A memory moves between shelves in one transaction, with all it has, and can come back."""

from __future__ import annotations

import pytest

from memories_sdk import AccessDenied, EditConflict, MemoryStore, NotFound, Vocabulary
from memories_sdk.errors import (
    Conflict,
    InvalidInput,
    MemoryOff,
    NameTaken,
    QuotaExceeded,
    UnknownType,
)
from memories_sdk.hooks import hookimpl
from memories_sdk.quota import Quota

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR picture"


@pytest.fixture
def team(store, alice, lab):
    """The shelf of a group that alice is in."""
    return store.scope(acting_as=alice, principal=lab)


def names(shelf) -> list[str]:
    """Return the names on a shelf, in their order."""
    return [head.name for head in shelf.list()]


def test_it_takes_its_id_and_all_its_fields_along(shelf, team) -> None:
    """Only the shelf, the place and the version change."""
    team.create("there", "plan")
    memory = shelf.create("n", "plan", "# Text", summary="s", tags=["t"], pinned=True)
    moved = shelf.transfer(memory.id, to=team, expected_version=1)
    assert names(shelf) == []
    assert names(team) == ["there", "n"]
    assert team.get_by_id(memory.id) == moved
    for field in ("id", "name", "type", "content", "summary", "tags", "pinned", "created_at"):
        assert getattr(moved, field) == getattr(memory, field), field
    assert (moved.version, moved.principal_id, moved.order) == (2, team.principal.id, 2)


def test_both_shelves_tell_of_it_and_the_file_stays_intact(store, shelf, team) -> None:
    """The one says that it left, the other that it came and from where."""
    memory = shelf.create("n", "plan", "text")
    shelf.transfer(memory.id, to=team)
    assert [each.action for each in shelf.history(id=memory.id)] == ["depart", "create"]
    (arrival,) = team.history(id=memory.id)
    assert (arrival.action, dict(arrival.before)) == ("arrive", {"shelf": shelf.key})
    assert list(shelf.deleted()) == []
    assert store.verify() == []


def test_undo_on_either_shelf_brings_it_back(store, shelf, team) -> None:
    """To its old place, with what was written meanwhile; the undo of the undo is the next one."""
    for name in ("a", "b", "c"):
        shelf.create(name, "plan", name)
    wanted = shelf.get("b", "plan")
    for undoing in (shelf, team):
        shelf.transfer(wanted.id, to=team)
        assert names(shelf) == ["a", "c"]
        undoing.undo()
        assert names(team) == []
        assert sorted(names(shelf)) == ["a", "b", "c"]
    assert shelf.get("b", "plan").content == "b"
    with pytest.raises(NotFound):
        team.undo()
    assert store.verify() == []


def test_undo_on_the_old_shelf_keeps_its_place(shelf, team) -> None:
    """A memory that comes back stands where it stood."""
    ids = [shelf.create(name, "plan").id for name in ("a", "b", "c")]
    shelf.transfer(ids[1], to=team)
    shelf.undo()
    assert names(shelf) == ["a", "b", "c"]


def test_what_was_written_there_comes_back_too(shelf, team) -> None:
    """Undoing the way takes nothing of the text."""
    memory = shelf.create("n", "plan", "old")
    shelf.transfer(memory.id, to=team)
    team.update(memory.id, content="new")
    shelf.undo()
    assert shelf.get("n", "plan").content == "new"


def test_its_past_on_a_shelf_can_be_restored_after_its_return(shelf, team) -> None:
    """History stays with the shelf on which it was made."""
    memory = shelf.create("n", "plan", "one")
    shelf.update(memory.id, content="two")
    shelf.transfer(memory.id, to=team)
    team.update(memory.id, content="theirs")
    with pytest.raises(NotFound):
        team.restore(memory.id, version=1)
    assert team.restore(memory.id, version=3).content == "two"
    shelf.undo()
    assert shelf.restore(memory.id, version=1).content == "one"
    with pytest.raises(NotFound):
        shelf.restore(memory.id, version=4)


def test_a_taken_name_refuses_the_move(store, shelf, team) -> None:
    """Nothing changes on either side."""
    team.create("n", "plan", "theirs")
    memory = shelf.create("n", "plan", "mine")
    with pytest.raises(NameTaken):
        shelf.transfer(memory.id, to=team)
    assert shelf.get("n", "plan") == memory
    assert team.get("n", "plan").content == "theirs"
    assert len(team.history()) == 1
    assert store.verify() == []


def test_a_name_taken_meanwhile_refuses_the_way_back(shelf, team) -> None:
    """Undo overwrites nothing."""
    memory = shelf.create("n", "plan", "mine")
    shelf.transfer(memory.id, to=team)
    shelf.create("n", "plan", "another")
    with pytest.raises(NameTaken):
        team.undo()
    assert team.get("n", "plan").content == "mine"


def test_what_is_gone_from_there_cannot_come_back_by_undo(shelf, team) -> None:
    """The departure is the last change here, and what it moved is no more."""
    memory = shelf.create("n", "plan", "mine")
    shelf.transfer(memory.id, to=team)
    team.delete("n", "plan")
    with pytest.raises(Conflict):
        shelf.undo()
    assert shelf.restore(memory.id).content == "mine"


def test_what_is_elsewhere_cannot_be_restored_here(shelf, team) -> None:
    """One memory is on one shelf."""
    memory = shelf.create("n", "plan", "mine")
    shelf.transfer(memory.id, to=team)
    with pytest.raises(Conflict, match="on another shelf"):
        shelf.restore(memory.id)


def test_both_sides_are_checked_at_the_moment_of_the_move(store, alice, bob, lab) -> None:
    """A right that was taken away ends open scopes, as target and as source, and for undo."""
    own = store.scope(acting_as=bob)
    team = store.scope(acting_as=bob, principal=lab)
    mine, theirs = own.create("mine", "plan"), team.create("theirs", "plan")
    lent = own.create("lent", "plan")
    own.transfer(lent.id, to=team)
    store.principals.remove_member(lab, bob)
    for source, memory, target in ((own, mine, team), (team, theirs, own)):
        with pytest.raises(AccessDenied):
            source.transfer(memory.id, to=target)
    with pytest.raises(AccessDenied):
        own.undo()
    assert names(own) == ["mine"]
    assert names(store.scope(acting_as=alice, principal=lab)) == ["theirs", "lent"]


def test_an_agent_given_away_is_no_target(store, shelf, alice) -> None:
    """And what moved to it does not come back over its new owner's head."""
    writer = store.agents.create("writer", owner=alice)
    desk = store.scope(acting_as=alice, agent=writer)
    first, second = shelf.create("a", "plan"), shelf.create("b", "plan")
    shelf.transfer(first.id, to=desk)
    outsider = store.principals.group("others", owner=store.principals.user("carol"))
    store.principals.add_member(outsider, alice, role="admin")
    store.agents.transfer(writer, to=outsider, acting_as=alice)
    store.principals.remove_member(outsider, alice)
    with pytest.raises(NotFound):
        shelf.transfer(second.id, to=desk)
    with pytest.raises(AccessDenied):
        shelf.undo()
    assert names(shelf) == ["b"]


def test_a_stale_version_is_refused(shelf, team) -> None:
    """Nobody moves what they have not seen."""
    memory = shelf.create("n", "plan", "one")
    shelf.update(memory.id, content="two")
    with pytest.raises(EditConflict):
        shelf.transfer(memory.id, to=team, expected_version=1)
    assert names(team) == []


def test_it_is_no_move_to_the_same_shelf_or_another_store(shelf, store, alice, tmp_path) -> None:
    """Each would lose or double something."""
    memory = shelf.create("n", "plan", "one")
    with MemoryStore(tmp_path / "other.db") as other:
        foreign = other.scope(acting_as=other.principals.user("alice"))
        for target in (shelf, store.scope(acting_as=alice), foreign):
            with pytest.raises(InvalidInput):
                shelf.transfer(memory.id, to=target)
    assert shelf.get("n", "plan") == memory


def test_a_shelf_that_is_off_takes_nothing(shelf, team) -> None:
    """Off means off for arrivals too."""
    memory = shelf.create("n", "plan", "one")
    team.switch(on=False)
    with pytest.raises(MemoryOff):
        shelf.transfer(memory.id, to=team)
    assert names(shelf) == ["n"]


def test_a_narrower_shelf_refuses_a_type_it_does_not_take(store, shelf, alice, lab) -> None:
    """The target's types count."""
    facts = Vocabulary("only", {"fact": "Facts"})
    narrow = store.scope(acting_as=alice, principal=lab, vocabularies=[facts])
    memory = shelf.create("n", "plan", "one")
    with pytest.raises(UnknownType):
        shelf.transfer(memory.id, to=narrow)


def test_the_pictures_of_its_body_go_along(shelf, team) -> None:
    """The body reads the same on the new shelf, though the picture was never attached there."""
    picture = shelf.attach(PNG, name="plot")
    other = shelf.attach(PNG + b"2", name="unnamed")
    memory = shelf.create("n", "plan", f"See {picture.markdown}.")
    shelf.transfer(memory.id, to=team)
    assert [each.id for each in team.attachments()] == [picture.id]
    assert team.attachment(picture.id).content == PNG
    assert {each.id for each in shelf.attachments()} == {picture.id, other.id}


def test_the_quota_of_the_other_owner_counts(make_store) -> None:
    """What cannot be written there cannot be moved there."""
    store = make_store(quota=Quota(memories=2))
    alice = store.principals.user("alice")
    lab = store.principals.group("lab", members=[alice])
    shelf, team = store.scope(acting_as=alice), store.scope(acting_as=alice, principal=lab)
    ids = [shelf.create(name, "plan").id for name in ("a", "b")]
    team.create("c", "plan")
    shelf.transfer(ids[0], to=team)
    with pytest.raises(QuotaExceeded):
        shelf.transfer(ids[1], to=team)
    assert names(shelf) == ["b"]
    agent = store.agents.create("writer", owner=alice)
    shelf.transfer(ids[1], to=store.scope(acting_as=alice, agent=agent))


def test_listeners_hear_of_both_sides(shelf, team, store) -> None:
    """A departure and an arrival, after the commit."""
    heard = []

    class Listener:
        @hookimpl
        def memory_changed(self, changes) -> None:
            heard.extend((each.action, each.shelf) for each in changes)

    store.plugins.register(Listener())
    memory = shelf.create("n", "plan", "one")
    shelf.transfer(memory.id, to=team)
    assert heard[1:] == [("depart", shelf.key), ("arrive", team.key)]
