"""The files of a store on disk: found behind links, and watched while the store is open."""

from __future__ import annotations

import copy
import pickle
import sqlite3
import stat
import sys
from pathlib import Path

import pytest
from test_storage import python

from memories_sdk import InvalidInput, MemoryStore, Scope
from memories_sdk.errors import StoreUnavailable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="open files stay where they are")

FILES = ("", "-wal", "-shm")


def opened(path: Path) -> MemoryStore:
    """Open a store."""
    return MemoryStore(path, durability="process")


def shelf_of(store: MemoryStore) -> Scope:
    """Return a shelf."""
    return store.scope(acting_as=store.principals.user("alice"))


def named(path: Path) -> set[str]:
    """Return the names that a file holds, which must be whole."""
    with opened(path) as store:
        assert store.verify() == []
        return {head.name for head in shelf_of(store).list()}


@pytest.mark.parametrize("ending", FILES)
def test_nothing_is_acknowledged_into_a_file_that_went(tmp_path: Path, ending: str) -> None:
    """Where a file of an open store was deleted, a write is refused, and a copy can be saved."""
    path = tmp_path / "m.db"
    with opened(path) as store:
        shelf_of(store).save("kept", "plan", "x")
        Path(f"{path}{ending}").unlink()
        for _ in "12":
            with pytest.raises(StoreUnavailable, match="deleted, moved or replaced"):
                shelf_of(store).save("lost", "plan", "x")
        store.backup(tmp_path / "saved.db")
    assert named(tmp_path / "saved.db") == {"kept"}


@pytest.mark.parametrize("ending", FILES)
def test_a_file_that_came_back_is_written_again(tmp_path: Path, ending: str) -> None:
    """Moved away and back, it is the same file: the store needs no other opening."""
    path = Path(f"{tmp_path / 'm.db'}{ending}")
    with opened(tmp_path / "m.db") as store:
        shelf_of(store).save("kept", "plan", "x")
        path.rename(tmp_path / "away")
        with pytest.raises(StoreUnavailable):
            shelf_of(store).save("lost", "plan", "x")
        (tmp_path / "away").rename(path)
        shelf_of(store).save("again", "plan", "x")
    assert named(tmp_path / "m.db") == {"kept", "again"}


def test_the_file_that_replaced_it_stays_as_it_is(tmp_path: Path) -> None:
    """The log of the file that went does not get into the one that came."""
    path = tmp_path / "m.db"
    with opened(tmp_path / "new.db") as other:
        shelf_of(other).save("new", "plan", "x")
    with opened(path) as store:
        shelf_of(store).save("old", "plan", "x")
        (tmp_path / "new.db").rename(path)
        with pytest.raises(StoreUnavailable):
            shelf_of(store).save("lost", "plan", "x")
    assert named(path) == {"new"}


def test_what_was_acknowledged_goes_with_the_file(tmp_path: Path) -> None:
    """A file that is moved away under an open store has in the end what its log held."""
    path = tmp_path / "m.db"
    with opened(path) as store:
        shelf_of(store).save("kept", "plan", "x")
        path.rename(tmp_path / "away.db")
    assert named(tmp_path / "away.db") == {"kept"}
    assert named(path) == set()


def test_a_log_is_made_anew_after_the_last_connection(tmp_path: Path) -> None:
    """The log that SQLite itself removes and makes again is not taken for a foreign one."""
    path = tmp_path / "m.db"
    with opened(path) as store:
        shelf_of(store).save("one", "plan", "x")
        broken = sqlite3.OperationalError()
        broken.sqlite_errorcode = sqlite3.SQLITE_IOERR
        store._database.take_back(store._database.lend(), broken)
        assert not Path(f"{path}-wal").exists()
        shelf_of(store).save("two", "plan", "x")
    assert named(path) == {"one", "two"}


def test_a_link_and_its_file_are_one_store(tmp_path: Path) -> None:
    """Writers by either name take turns at one place, and the file is private however it came."""
    real, link = tmp_path / "real.db", tmp_path / "link.db"
    link.symlink_to(real)
    with opened(link) as one, opened(real) as other:
        assert one.location == other.location == str(real.resolve())
        shelf_of(one).save("one", "plan", "x")
        shelf_of(other).save("two", "plan", "x")
        assert one._database.turns._path == other._database.turns._path
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert named(link) == {"one", "two"}


def test_a_second_name_is_refused(tmp_path: Path) -> None:
    """A file with two names would have two logs, and lose what either holds."""
    path = tmp_path / "m.db"
    with opened(path) as store:
        shelf_of(store).save("kept", "plan", "x")
    (tmp_path / "twin.db").hardlink_to(path)
    for each in (path, tmp_path / "twin.db"):
        with pytest.raises(StoreUnavailable, match="2 names"):
            opened(each)
    (tmp_path / "twin.db").unlink()
    assert named(path) == {"kept"}


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    """They lead nowhere."""
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(StoreUnavailable, match="behind its links"):
        opened(tmp_path / "a")


@pytest.mark.parametrize(
    "name", ["q?x=1.db", "h#f.db", "p%41.db", "[a]*.db", "new\nline.db", "é\U0001f600 .db", ":m:"]
)
def test_any_name_of_a_file_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    """No letter of a path is read as part of a URL or a pattern, by the doctor neither."""
    path = tmp_path / name
    with opened(path) as store:
        shelf_of(store).save("kept", "plan", "x")
        path.chmod(0o644)
        assert [each.check for each in store.doctor(repair=True) if each.grave] == ["permissions"]
        store.backup(tmp_path / f"copy of {name}")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert named(tmp_path / f"copy of {name}") == {"kept"}
    assert {each.name for each in tmp_path.iterdir()} >= {name, f"{name}-turn"}


def test_the_doctor_leaves_files_of_like_names_alone(tmp_path: Path) -> None:
    """A store named `m` says nothing of who may read `mine.txt`."""
    neighbour = tmp_path / "mine.txt"
    neighbour.write_text("x")
    neighbour.chmod(0o644)
    with opened(tmp_path / "m") as store:
        assert not [each for each in store.doctor(repair=True) if each.grave]
    assert stat.S_IMODE(neighbour.stat().st_mode) == 0o644


def test_a_backup_is_not_laid_beside_a_foreign_log(tmp_path: Path) -> None:
    """Opened, it would be what that log says, and not what was copied."""
    crashed, path = tmp_path / "x.db", tmp_path / "y.db"
    python(
        "import os, sys; from memories_sdk import MemoryStore; s = MemoryStore(sys.argv[1]);"
        "s.scope(acting_as=s.principals.user('alice')).save('old', 'plan', 'x'); os._exit(0)",
        crashed,
    )
    crashed.unlink()
    with opened(path) as store:
        with pytest.raises(InvalidInput, match="-wal exists"):
            store.backup(crashed)
        (tmp_path / "link").symlink_to(tmp_path / "nowhere")
        for wrong in (path, tmp_path, tmp_path / "link", "", "/", "a\0b"):
            with pytest.raises(InvalidInput):
                store.backup(wrong)


LIMITED = """
import os, resource, sys
from contextlib import suppress
from memories_sdk import MemoriesError, MemoryStore
limit = getattr(resource, sys.argv[2])
store = MemoryStore(sys.argv[1], durability="process")
shelf = store.scope(acting_as=store.principals.user("alice"))
old = resource.getrlimit(limit)
resource.setrlimit(limit, (int(sys.argv[3]), old[1]))
kept, told, held = [], "", []
with suppress(OSError):
    while limit == resource.RLIMIT_NOFILE:
        held.append(os.open("/dev/null", os.O_RDONLY))
try:
    for number in range(99):
        shelf.save(f"n{number}", "plan", "x" * 20_000)
        kept.append(f"n{number}")
        if held:
            store.doctor()
except MemoriesError as error:
    told = error.code + " " + error.suggestion
for each in held:
    os.close(each)
resource.setrlimit(limit, old)
shelf.save("after", "plan", "x")
assert {head.name for head in shelf.list(limit=200)} == {*kept, "after"}
assert store.verify() == []
print(told)
"""


@pytest.mark.parametrize(
    ("limit", "most"), [("RLIMIT_FSIZE", 500_000), ("RLIMIT_NOFILE", 64)], ids=["size", "files"]
)
def test_a_limit_of_the_process_is_told(tmp_path: Path, limit: str, most: int) -> None:
    """Out of room or of open files, what was acknowledged is there and the store goes on."""
    told = python(LIMITED, tmp_path / "m.db", limit, most)
    assert told.startswith("unavailable ")
    assert "Check" in told


def test_a_store_is_neither_copied_nor_pickled(tmp_path: Path) -> None:
    """Two of them would share connections, and close them for one another."""
    with opened(tmp_path / "m.db") as store:
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="open another one"):
                attempt(store)


def test_a_store_outlives_another_one_on_its_file(tmp_path: Path) -> None:
    """Closing one of two in a program drops no lock of the other, and other programs wait."""
    path = tmp_path / "m.db"
    with opened(path) as store:
        opened(path).close()
        with store._database.write():
            said = python(
                "import sqlite3, sys\n"
                "try: sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')\n"
                "except sqlite3.OperationalError as error: print(error)",
                path,
            )
    assert said == "database is locked"
