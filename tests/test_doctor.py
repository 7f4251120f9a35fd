"""The doctor names what a store has, and mends what can be mended."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path

import pytest

from memories_sdk import MemoryStore
from memories_sdk.engines import places
from memories_sdk.engines.places import NetworkPlace, network
from memories_sdk.errors import StoreDamaged
from memories_sdk.search import searcher


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a store with three memories, closed."""
    path = tmp_path / "m.db"
    with MemoryStore(path) as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        for name in "abc":
            shelf.save(name, "plan", f"the body of {name} " * 50)
    return path


def changed(path: Path, *statements: str) -> None:
    """Change a file past the store."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def checks(path: Path, *, repair: bool = False) -> list[tuple[str, bool]]:
    """Return what the doctor finds beside the engine: the check, and if it was mended."""
    with MemoryStore(path) as store:
        found = store.doctor(repair=repair)
    return [(each.check, each.repaired) for each in found if each.check != "engine"]


def test_a_sound_store_has_nothing(path: Path) -> None:
    """Nobody is troubled without a reason."""
    assert checks(path) == []
    assert checks(path, repair=True) == []


def test_an_old_engine_is_explained(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the versions with the defect are named, with what keeps it away."""
    with MemoryStore(path) as store:
        for version, named in (((3, 40, 1), True), ((3, 51, 2), True), ((3, 51, 3), False)):
            monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
            found = [each for each in store.doctor() if each.check == "engine"]
            assert bool(found) == named
            assert not any(each.grave for each in found)
            assert all("turns" in each.advice for each in found)


def test_a_changed_body_is_grave_and_cannot_be_mended(path: Path) -> None:
    """What SQLite's own check passes over is found by its digest."""
    changed(path, "UPDATE memory_bodies SET content = replace(content, 'body', 'dody')")
    assert checks(path, repair=True) == [("content", False)] * 3


def test_orphans_are_removed(path: Path) -> None:
    """A body without its memory, and a picture of nobody, are of no use."""
    changed(
        path,
        "INSERT INTO memory_bodies VALUES (99, 'stray', x'00')",
        "INSERT INTO attachments VALUES ('agent:99', x'00', 'image/png', 'n', 1, x'00', x'00', 0)",
    )
    found = checks(path)
    assert found.count(("orphan", False)) == 2
    assert checks(path, repair=True).count(("orphan", True)) == 2
    assert checks(path) == []


def test_a_missing_index_is_made_anew(path: Path) -> None:
    """A store without it would answer, but slowly."""
    changed(path, "DROP INDEX ix_memory_revisions_named")
    assert checks(path) == [("schema", False)]
    assert checks(path, repair=True) == [("schema", True)]
    assert checks(path) == []


def test_a_search_index_that_drifted_is_dropped(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next search makes it anew and finds what is there."""
    monkeypatch.setattr(searcher, "SMALL", 0)
    monkeypatch.setattr(searcher, "SMALL_BYTES", 0)
    with MemoryStore(path) as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        assert len(shelf.search("body")) == 3
    changed(path, "UPDATE search_memories SET version = version + 1")
    assert checks(path) == [("search", False)]
    assert checks(path, repair=True) == [("search", True)]
    assert checks(path) == []


def test_a_file_that_others_can_open_is_closed_to_them(path: Path) -> None:
    """The mode is mended for the file, what the engine lays beside it, and the copies."""
    copy = path.with_name("m.before-v2-x.db")
    copy.write_bytes(b"")
    for each in (path, copy):
        each.chmod(0o644)
    assert checks(path).count(("permissions", False)) >= 2
    assert checks(path, repair=True).count(("permissions", True)) >= 2
    assert {stat.S_IMODE(each.stat().st_mode) for each in (path, copy)} == {0o600}
    assert checks(path) == [("leftover", False)]


def test_half_a_copy_goes_when_it_is_old(path: Path) -> None:
    """One that another program may be making stays."""
    part = path.with_name("m.db.1-2.part")
    part.write_bytes(b"half")
    part.chmod(0o600)
    assert checks(path, repair=True) == []
    os.utime(part, (time.time() - 200_000,) * 2)
    assert checks(path, repair=True) == [("leftover", True)]
    assert not part.exists()


@pytest.mark.parametrize(
    ("kind", "said"), [("nfs4", "nfs4"), ("ext4", None), ("cifs", "cifs"), ("tmpfs", None)]
)
def test_a_network_file_system_is_known(tmp_path: Path, kind: str, said: str | None) -> None:
    """The innermost mount counts, also one with a blank in its name."""
    mounts = tmp_path / "mounts"
    inner = tmp_path / "a b"
    inner.mkdir()
    escaped = str(inner).replace(" ", "\\040")
    mounts.write_text(f"/dev/x / ext4 rw 0 0\nsrv:/x {escaped} {kind} rw 0 0\n", encoding="utf-8")
    assert network(inner / "m.db", mounts) == said
    assert network(tmp_path / "m.db", mounts) is None
    assert network(tmp_path / "m.db", tmp_path / "none") is None


def test_a_store_on_a_network_warns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens, and says in its own kind of warning what may happen."""
    monkeypatch.setattr(places, "network", lambda _: "nfs4")
    with pytest.warns(NetworkPlace, match="nfs4"):
        MemoryStore(path).close()


def test_a_corrupted_page_is_told(path: Path) -> None:
    """A page that was overwritten is damage, whether the engine trips over it or not."""
    data = bytearray(path.read_bytes())
    for at in range(3 * 4096, len(data), 4096):
        data[at : at + 200] = b"\xff" * 200
    path.write_bytes(data)
    with pytest.raises(StoreDamaged) as caught:
        checks(path)
    assert "backup" in caught.value.suggestion


def test_a_log_without_its_end_keeps_what_is_whole(path: Path, tmp_path: Path) -> None:
    """A cut log gives an earlier state, never a mixture."""
    store = MemoryStore(path)
    shelf = store.scope(acting_as=store.principals.user("alice"))
    for number in range(10):
        shelf.save("a", "plan", f"{number} " * 400)
    copy = tmp_path / "cut" / "m.db"
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    log = path.with_name("m.db-wal").read_bytes()
    copy.with_name("m.db-wal").write_bytes(log[: len(log) * 2 // 3])
    store.close()
    with MemoryStore(copy) as cut:
        assert cut.verify() == []
        body = cut.scope(acting_as=cut.principals.user("alice")).get("a", "plan").content
    assert body in {f"{number} " * 400 for number in range(10)} | {"the body of a " * 50}
