"""The mirror: changes go both ways, clashes change nothing, and only what was seen is deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from memories_sdk import MemoryStore, NotFound, Principal, Scope
from memories_sdk.errors import InvalidInput
from memories_sdk.importers.mirror import LEDGER, TooManyDeletions, sync

BODY = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def shelf(store: MemoryStore, alice: Principal) -> Scope:
    """A shelf with two memories."""
    shelf = store.scope(acting_as=alice)
    shelf.save("tide", "plan", BODY)
    shelf.save("voice", "context", "British")
    return shelf


@pytest.fixture
def folder(shelf: Scope, tmp_path: Path) -> Path:
    """A folder that is in step with the shelf."""
    assert done(shelf, tmp_path / "notes") == {"to folder": 2}
    assert done(shelf, tmp_path / "notes") == {}
    return tmp_path / "notes"


def done(shelf: Scope, folder: Path, **options: object) -> dict[str, int]:
    """Bring both in step and return how often each thing was done."""
    counts: dict[str, int] = {}
    for step in sync(shelf, folder, **options).steps:
        counts[step.what] = counts.get(step.what, 0) + 1
    return counts


def write(folder: Path, place: str, find: str, text: str) -> None:
    """Change a passage of a file."""
    path = folder / place
    path.write_text(path.read_text().replace(find, text))


def names(folder: Path) -> list[str]:
    """Return the markdown files of a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))


def test_an_edit_of_a_file_reaches_the_shelf(shelf: Scope, folder: Path) -> None:
    """Body and fields; and the next run finds nothing to do."""
    write(folder, "plan/tide.md", "two", "TWO")
    write(folder, "plan/tide.md", "order: 1\n", 'order: 1\n  tags: ["sea"]\n')
    assert done(shelf, folder) == {"to shelf": 1}
    assert shelf.get("tide", "plan").content == BODY.replace("two", "TWO")
    assert shelf.get("tide", "plan").tags == ("sea",)
    assert done(shelf, folder) == {}


def test_an_edit_on_the_shelf_reaches_the_file(shelf: Scope, folder: Path) -> None:
    """Body, fields, place and name."""
    memory = shelf.get("tide", "plan")
    shelf.update(memory.id, name="ebb", content="new", tags=["sea"])
    shelf.move(shelf.get("voice", "context").id, before=memory.id)
    assert done(shelf, folder) == {"to folder": 2}
    assert names(folder) == ["context/voice.md", "plan/ebb.md"]
    assert (folder / "plan/ebb.md").read_text().endswith('tags: ["sea"]\n---\nnew')
    assert "order: 1" in (folder / "context/voice.md").read_text()
    assert done(shelf, folder) == {}


def test_edits_in_different_places_are_brought_together(shelf: Scope, folder: Path) -> None:
    """Nobody's change is lost."""
    write(folder, "plan/tide.md", "one", "ONE")
    shelf.replace("tide", "plan", find="five", new_text="FIVE")
    assert done(shelf, folder) == {"merged": 1}
    both = BODY.replace("one", "ONE").replace("five", "FIVE")
    assert shelf.get("tide", "plan").content == both
    assert (folder / "plan/tide.md").read_text().endswith(both)
    assert done(shelf, folder) == {}


@pytest.mark.parametrize(("prefer", "kept"), [("folder", "mine"), ("shelf", "theirs")])
def test_a_clash_changes_nothing_until_somebody_decides(
    shelf: Scope, folder: Path, prefer: str, kept: str
) -> None:
    """Both texts stay where they are, run after run."""
    write(folder, "plan/tide.md", "one", "mine")
    shelf.replace("tide", "plan", find="one", new_text="theirs")
    for _ in range(2):
        assert done(shelf, folder) == {"conflict": 1}
        assert "mine" in (folder / "plan/tide.md").read_text()
        assert "theirs" in shelf.get("tide", "plan").content
    done(shelf, folder, prefer=prefer)
    assert kept in (folder / "plan/tide.md").read_text()
    assert kept in shelf.get("tide", "plan").content
    assert done(shelf, folder) == {}


def test_a_deletion_reaches_the_other_side(shelf: Scope, folder: Path) -> None:
    """A file that was seen takes its memory with it, which can be restored; and the reverse."""
    (folder / "plan/tide.md").unlink()
    id = shelf.get("tide", "plan").id
    shelf.delete("voice", "context")
    assert done(shelf, folder) == {"deleted there": 1, "deleted here": 1}
    assert names(folder) == []
    assert shelf.list().total == 0
    assert shelf.restore(id).content == BODY
    assert done(shelf, folder) == {"to folder": 1}


def test_an_edit_outlives_a_deletion(shelf: Scope, folder: Path) -> None:
    """What one side still works on is not taken away by the other."""
    (folder / "plan/tide.md").unlink()
    shelf.replace("tide", "plan", find="one", new_text="ONE")
    shelf.delete("voice", "context")
    write(folder, "context/voice.md", "British", "Scottish")
    assert done(shelf, folder) == {"to folder": 1, "to shelf": 1}
    assert "ONE" in (folder / "plan/tide.md").read_text()
    assert shelf.get("voice", "context").content == "Scottish"
    assert done(shelf, folder) == {}


def test_what_was_never_seen_is_never_deleted(shelf: Scope, folder: Path) -> None:
    """A new file is taken in, a new memory is written out."""
    (folder / "plan" / "new.md").write_text("new")
    shelf.save("fresh", "plan", "fresh")
    assert done(shelf, folder) == {"to shelf": 1, "to folder": 1}
    assert names(folder) == ["context/voice.md", "plan/fresh.md", "plan/new.md", "plan/tide.md"]
    assert (folder / "plan" / "new.md").read_text() == "new"
    assert done(shelf, folder) == {}


def test_a_renamed_file_renames_its_memory(shelf: Scope, folder: Path) -> None:
    """Under the same id, with its history."""
    id = shelf.get("tide", "plan").id
    (folder / "plan/tide.md").rename(folder / "context" / "ebb.md")
    assert done(shelf, folder) == {"to shelf": 1}
    assert (shelf.get("ebb", "context").id, shelf.list().total) == (id, 2)
    assert done(shelf, folder) == {}


@pytest.mark.parametrize("side", ["folder", "shelf"])
def test_many_deletions_at_once_are_refused(shelf: Scope, folder: Path, side: str) -> None:
    """A disk that is not there, or a clear by mistake, costs nothing on the other side."""
    for number in range(20):
        shelf.save(f"note {number}", "plan", f"text {number}")
    done(shelf, folder)
    if side == "folder":
        for path in folder.rglob("*.md"):
            path.unlink()
    else:
        shelf.clear()
    with pytest.raises(TooManyDeletions):
        sync(shelf, folder)
    assert (shelf.list().total, len(names(folder))) == ((22, 0) if side == "folder" else (0, 22))
    counts = done(shelf, folder, allow_deletions=True)
    assert counts == {"deleted there" if side == "folder" else "deleted here": 22}
    assert (shelf.list().total, names(folder)) == (0, [])


def test_a_dry_run_changes_nothing(shelf: Scope, folder: Path) -> None:
    """It tells, and the run after does it."""
    write(folder, "plan/tide.md", "two", "TWO")
    (folder / "context/voice.md").unlink()
    foretold = done(shelf, folder, dry_run=True)
    assert shelf.get("voice", "context")
    assert done(shelf, folder) == foretold == {"to shelf": 1, "deleted there": 1}


def test_a_dry_run_names_what_has_no_file_yet(shelf: Scope, tmp_path: Path) -> None:
    """Also where the folder is still to be made; and a person reads on which side one goes."""
    for folder in (tmp_path, tmp_path / "new"):
        told = str(sync(shelf, folder, dry_run=True)).splitlines()
        assert "to folder: [tide] (type=plan)" in told
        assert len(told) == 2
    assert not (tmp_path / "new").exists()
    sync(shelf, tmp_path / "new")
    (tmp_path / "new/plan/tide.md").unlink()
    shelf.delete("voice", "context")
    gone = str(sync(shelf, tmp_path / "new")).splitlines()
    sides = ["deleted in the folder: context/voice.md", "deleted on the shelf: plan/tide.md"]
    assert sorted(gone) == sides


def test_two_full_sides_meet(shelf: Scope, tmp_path: Path) -> None:
    """The same text is the same memory; another one under the same name is a clash."""
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "tide.md").write_text(BODY)
    (tmp_path / "context").mkdir()
    (tmp_path / "context" / "voice.md").write_text("Irish")
    assert done(shelf, tmp_path) == {"to shelf": 1, "conflict": 1}
    assert shelf.list().total == 2
    assert (tmp_path / "context" / "voice.md").read_text() == "Irish"
    assert shelf.get("voice", "context").content == "British"


def test_one_odd_file_does_not_stop_the_rest(shelf: Scope, folder: Path) -> None:
    """It is named as a conflict, and stays."""
    (folder / "plan" / "odd.md").write_bytes(b"\xff\xfe")
    (folder / "plan" / "link.md").symlink_to("/etc/passwd")
    write(folder, "plan/tide.md", "two", "TWO")
    assert done(shelf, folder) == {"to shelf": 1, "conflict": 1}
    with pytest.raises(NotFound):
        shelf.get("link", "plan")


def test_a_folder_belongs_to_one_shelf(store: MemoryStore, bob: Principal, folder: Path) -> None:
    """Another shelf is refused instead of mixed in."""
    with pytest.raises(InvalidInput, match="in step with user:alice"):
        sync(store.scope(acting_as=bob), folder)
    (folder / LEDGER).write_text("{")
    with pytest.raises(InvalidInput):
        sync(store.scope(acting_as=bob), folder)


def test_who_loses_a_clash_stays_in_the_history(shelf: Scope, folder: Path) -> None:
    """Whichever side is preferred, the text of the other one can be had again."""
    for side, name, place in (
        ("shelf", "tide", "plan/tide.md"),
        ("folder", "voice", "context/voice.md"),
    ):
        type = place.partition("/")[0]
        first = shelf.get(name, type).content.split("\n")[0]
        write(folder, place, first, "in the folder")
        shelf.replace(name, type, find=first, new_text="on the shelf")
        sync(shelf, folder, prefer=side)
        won, lost = ("on the shelf", "in the folder")[:: 1 if side == "shelf" else -1]
        assert won in (folder / place).read_text()
        assert won in shelf.get(name, type).content
        past = [str(each.before.get("content")) for each in shelf.history(name, type)]
        assert any(lost in text for text in past)
    assert done(shelf, folder) == {}
