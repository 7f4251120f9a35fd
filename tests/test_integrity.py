"""A file that was changed behind the store's back says so; a backup is whole."""

import sqlite3
from contextlib import closing

import pytest

from memories_sdk import InvalidInput, MemoryStore


@pytest.fixture
def lived_in(tmp_path):
    """A store in which everything that writes a revision has happened once."""
    with MemoryStore(tmp_path / "store.db") as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        first, second, third = (shelf.create(name, "plan", f"# {name}") for name in "abc")
        shelf.move(first.id, after=third.id)
        shelf.reorder([second.id])
        shelf.save("a", "plan", "changed", tags=["x"], pinned=True)
        shelf.replace("b", "plan", find="b", new_text="B")
        shelf.delete("c", "plan")
        shelf.restore(third.id)
        shelf.clear()
        shelf.restore(first.id)
        shelf.restore(second.id, version=1)
        shelf.attach(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR a picture", name="p")
        shelf.keep_draft("k", type="plan", content="x")
        agent = store.agents.create("writer", owner=shelf.caller)
        shelf.transfer(second.id, to=store.scope(acting_as=shelf.caller, agent=agent))
        shelf.undo()
        yield store


def tamper(store, statement):
    """Run a statement past the store."""
    with closing(sqlite3.connect(store.location)) as connection:
        connection.execute(statement)
        connection.commit()


def test_an_untouched_store_verifies(lived_in):
    """All that verbs do leaves a store in which nothing is found."""
    assert lived_in.verify() == []


@pytest.mark.parametrize(
    ("statement", "damage"),
    [
        ("UPDATE memory_bodies SET content = content || ' '", "body"),
        ("UPDATE memory_bodies SET sha256 = zeroblob(32)", "body"),
        ("UPDATE attachments SET content = zeroblob(9)", "attachment"),
        ("UPDATE memories SET pinned = 1 - pinned", "state"),
        ("UPDATE memories SET summary = 'forged'", "state"),
        ("UPDATE memories SET version = version + 1", "state"),
        ("UPDATE memory_revisions SET actor = 'user:mallory' WHERE seq = 3", "seal"),
        ("UPDATE memory_revisions SET before_content = 'forged' WHERE seq = 6", "seal"),
        ("UPDATE memory_revisions SET at = at + 1 WHERE seq = 1", "seal"),
        ("DELETE FROM memory_revisions WHERE seq = 5", "seal"),
        (
            "DELETE FROM memory_revisions WHERE seq = (SELECT max(seq) FROM memory_revisions)",
            "state",
        ),
    ],
)
def test_what_changed_behind_the_stores_back_is_found(lived_in, statement, damage):
    """Each kind of change outside the store is named by its kind."""
    tamper(lived_in, statement)
    assert {finding.damage for finding in lived_in.verify()} == {damage}


def swapped(store, first, second):
    """Let two revisions change places."""
    for old, new in ((first, -1), (second, first), (-1, second)):
        statement = f"UPDATE memory_revisions SET seq = {new} WHERE seq = {old}"  # noqa: S608
        tamper(store, statement)


def test_revisions_that_changed_places_are_found(lived_in):
    """Each is sealed to the one before it, so their order cannot be changed."""
    swapped(lived_in, 2, 3)
    assert {finding.damage for finding in lived_in.verify()} == {"seal"}


def test_a_history_without_its_end_is_told_by_a_head_that_was_noted(lived_in):
    """Who cuts off the last changes and what they led to leaves a whole, older file.

    `verify` alone cannot tell; the seal of then, kept elsewhere, can.
    """
    shelf = lived_in.scope(acting_as=lived_in.principals.user("alice"))
    before = lived_in.heads()
    shelf.create("last", "plan", "x")
    noted = lived_in.heads()
    assert lived_in.verify(heads=before) == lived_in.verify(heads=noted) == []
    tamper(lived_in, "DELETE FROM memories WHERE name = 'last'")
    tamper(lived_in, "DELETE FROM memory_bodies WHERE row NOT IN (SELECT row FROM memories)")
    tamper(
        lived_in, "DELETE FROM memory_revisions WHERE seq = (SELECT max(seq) FROM memory_revisions)"
    )
    assert lived_in.verify() == []
    (found,) = lived_in.verify(heads=noted)
    assert (found.damage, found.shelf) == ("seal", shelf.key)


def test_a_row_without_its_owner_is_found(lived_in):
    """A row that refers to a principal that is gone is a finding."""
    tamper(lived_in, "DELETE FROM principals")
    assert "reference" in {finding.damage for finding in lived_in.verify()}


def test_a_backup_is_a_store_of_one_moment(lived_in, tmp_path):
    """A backup opens, verifies, and holds what was there when it was made."""
    lived_in.backup(tmp_path / "copy.db")
    lived_in.scope(acting_as=lived_in.principals.user("alice")).create("later", "plan", "x")
    with MemoryStore(tmp_path / "copy.db") as copy:
        names = [head.name for head in copy.scope(acting_as=copy.principals.user("alice")).list()]
        assert sorted(names) == ["a", "b"]
        assert copy.verify() == []
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600


def test_a_backup_never_overwrites(lived_in, tmp_path):
    """A file that exists is refused and stays as it was."""
    (tmp_path / "copy.db").write_bytes(b"precious")
    with pytest.raises(InvalidInput):
        lived_in.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_bytes() == b"precious"
