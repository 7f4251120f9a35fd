"""The file, its tables, its clock and its ids."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select
from uuid6 import UUID

from memories_sdk import MemoriesError, MemoryStore, Scope
from memories_sdk.errors import (
    InvalidInput,
    SchemaMismatch,
    StorageError,
    StorageFull,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreReadOnly,
    StoreUnavailable,
)
from memories_sdk.ids import Uuid7
from memories_sdk.statements.terms import memories
from memories_sdk.wording import compiled

if TYPE_CHECKING:
    from conftest import MakeStore

TABLES = {
    *("memory_schema", "principals", "members", "agents", "memories", "memory_bodies"),
    *("memory_revisions", "attachments", "approvals", "drafts"),
}


def python(script: str, *arguments: object, **environment: str) -> str:
    """Run a script in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def contents(path: Path) -> dict[str, bytes]:
    """Return the bytes of a file and of those that an engine lays beside it."""
    return {it.name: it.read_bytes() for it in path.parent.glob(f"{path.name}*")}


def rewrite(path: Path, *statements: str) -> None:
    """Change a file with another program's connection."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement).fetchall()
        connection.commit()


def pragma(store: MemoryStore, name: str) -> object:
    """Return a setting of the store's connections."""
    with store._database.read() as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a store with one memory, closed."""
    path = tmp_path / "memories.db"
    with MemoryStore(path) as store:
        store.scope(acting_as=store.principals.user("alice")).save("n", "plan", "kept")
    return path


def content_of(path: Path) -> str:
    """Open a store and return the body of its memory."""
    with MemoryStore(path) as store:
        return store.scope(acting_as=store.principals.user("alice")).get("n", "plan").content


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    """Others on the machine cannot read memories, whatever the umask; nor the files beside it."""
    before = os.umask(0)
    try:
        with MemoryStore(tmp_path / "m.db") as store:
            store.principals.user("alice")
            modes = {it.name: stat.S_IMODE(it.stat().st_mode) for it in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}
    assert "m.db" in modes


@pytest.mark.engines("sqlite-file", "sqlite-memory")
def test_connections_keep_the_promises_of_the_design(make_store: MakeStore, engine: str) -> None:
    """Foreign keys are checked; a commit waits for the device unless that was given up by name."""
    store = make_store()
    assert pragma(store, "foreign_keys") == 1
    assert pragma(store, "synchronous") == 2
    assert pragma(make_store("other.db", durability="process"), "synchronous") == 1
    assert pragma(store, "journal_mode") == {"sqlite-file": "wal"}.get(engine, "memory")
    assert tables(store) >= TABLES


def tables(store: MemoryStore) -> set[str]:
    """Return the names of the tables."""
    with store._database.read() as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {name for (name,) in rows}


@pytest.mark.parametrize(
    "owner",
    [
        "scope = 'agent'",
        "agent_id = 1",
        "principal_id = NULL",
        "principal_id = NULL, agent_id = 1",
        "scope = 'shared'",
        "scope_key = NULL",
        "principal_id = 999",
        "name = ''",
        "version = 0",
        "name = NULL",
    ],
)
def test_tables_refuse_a_row_with_the_wrong_owner(make_store: MakeStore, owner: str) -> None:
    """A shelf has exactly one owner, also for a program that goes past this package."""
    store = make_store()
    alice = store.principals.user("alice")
    store.agents.create("writer", owner=alice)
    store.scope(acting_as=alice).save("n", "plan", "x")
    with (
        pytest.raises(StorageError, match=r"(?i)constraint|cannot be null"),
        store._database.write() as connection,
    ):
        connection.execute(f"UPDATE memories SET {owner}")  # noqa: S608 -- literals above


def test_a_second_row_for_one_name_is_refused_by_the_engine(make_store: MakeStore) -> None:
    """Uniqueness does not hang on a look before the insert."""
    store = make_store()
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.save("n", "plan", "x")
    shelf.save("m", "plan", "x")
    with pytest.raises(MemoriesError) as caught, store._database.write() as connection:
        connection.execute("UPDATE memories SET name = 'n'")
    assert caught.value.code == "name_taken"


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_newer_file_is_refused_and_not_touched(path: Path, journal: str) -> None:
    """An older release changes not one byte of what a newer one wrote."""
    rewrite(path, "UPDATE memory_schema SET version = 99")
    rewrite(path, f"PRAGMA journal_mode = {journal}")
    before = contents(path)
    with pytest.raises(SchemaMismatch) as caught:
        MemoryStore(path)
    assert "99" in caught.value.message
    assert contents(path) == before


def test_tables_that_were_migrated_meanwhile_are_written_no_more(
    store: MemoryStore, shelf: Scope
) -> None:
    """Who has the store open while a newer release migrates it stops at the next write."""
    memory = shelf.create("n", "plan", "x")
    with store._database.write() as connection:
        connection.execute("UPDATE memory_schema SET version = version + 1")
    for write in (
        lambda: shelf.save("n", "plan", "y"),
        lambda: shelf.create("m", "plan", "y"),
        lambda: shelf.delete_by_id(memory.id),
    ):
        with pytest.raises(SchemaMismatch, match="newer release"):
            write()
    assert shelf.get("n", "plan") == memory
    with store._database.write() as connection:
        connection.execute("UPDATE memory_schema SET version = version - 1")
    shelf.save("n", "plan", "y")


@pytest.mark.parametrize(
    "tables",
    [
        ["CREATE TABLE memories (id INTEGER)"],
        ["CREATE TABLE agents (id INTEGER)", "INSERT INTO agents VALUES (1)"],
        ["CREATE TABLE memory_schema (id INTEGER, version TEXT)"],
        [
            "CREATE TABLE memory_schema (id INTEGER, version TEXT)",
            "INSERT INTO memory_schema VALUES (1, 'two')",
        ],
    ],
)
def test_tables_of_another_program_are_refused_and_not_touched(
    tmp_path: Path, tables: list[str]
) -> None:
    """A table that only bears our name is never written to."""
    path = tmp_path / "other.db"
    rewrite(path, *tables)
    before = contents(path)
    with pytest.raises(SchemaMismatch):
        MemoryStore(path)
    assert contents(path) == before


def test_a_file_with_other_tables_can_be_shared(tmp_path: Path) -> None:
    """Tables under other names stay, beside ours."""
    path = tmp_path / "app.db"
    rewrite(path, "CREATE TABLE settings (x)", "INSERT INTO settings VALUES (7)")
    with MemoryStore(path) as store:
        assert {"settings", "memories"} <= tables(store)


def test_what_is_no_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    """A wrong path never destroys a document."""
    path = tmp_path / "letter.txt"
    path.write_text("Dear all,\n" * 500, encoding="utf-8")
    before = contents(path)
    with pytest.raises(StoreDamaged):
        MemoryStore(path)
    assert contents(path) == before


def test_a_torn_file_is_told(path: Path) -> None:
    """A file that lost its end is damaged, not empty."""
    path.write_bytes(path.read_bytes()[:5_000])
    with pytest.raises(StoreDamaged):
        MemoryStore(path)


def test_a_place_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    """A missing directory, a directory and an unknown engine each name the place."""
    missing = tmp_path / "none" / "m.db"
    for place, name in ((missing, "m.db"), (tmp_path, tmp_path.name), ("mars://x/y", "mars")):
        with pytest.raises(StoreUnavailable, match=name) as caught:
            MemoryStore(place)
        assert caught.value.suggestion
    assert not missing.parent.exists()


def test_a_database_can_be_named_in_three_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path, a URL and the environment lead to the same file."""
    path = tmp_path / "a b.db"
    with MemoryStore(str(path)) as store:
        store.principals.user("alice")
    with MemoryStore(f"sqlite:///{str(path).replace(' ', '%20')}") as store:
        assert store.location == str(path)
        assert [it.name for it in store.principals.everyone()] == ["alice"]
    monkeypatch.setenv("MEMORIES_URL", f"sqlite:///{path}")
    with MemoryStore() as store:
        assert store.location == str(path)


def test_without_a_place_the_users_data_folder_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is made, for its owner alone."""
    monkeypatch.delenv("MEMORIES_URL", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with MemoryStore() as store:
        place = Path(store.location)
    assert place.is_relative_to(tmp_path)
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_an_unknown_durability_is_refused() -> None:
    """A typing error does not choose the unsafe way."""
    with pytest.raises(InvalidInput, match="durability"):
        MemoryStore(":memory:", durability="none")


@pytest.mark.engines("sqlite-file", "sqlite-memory")
def test_a_full_device_is_told_and_nothing_is_lost(make_store: MakeStore) -> None:
    """A write that finds no room fails whole; reading goes on."""
    store = make_store()
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.save("n", "plan", "kept")
    with store._database.read() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 1}").fetchone()
    with pytest.raises(StorageFull):
        shelf.save("big", "plan", "x" * 900_000)
    assert [head.name for head in shelf.list()] == ["n"]
    assert shelf.get("n", "plan").content == "kept"


READ_ONLY = """
import os, sys
from memories_sdk import MemoryStore
if os.geteuid() == 0:
    os.setuid(65534)  # permissions bind nobody who is root
for place in sys.argv[1:]:
    try:
        with MemoryStore(place) as store:
            store.principals.user("bob")
    except Exception as error:
        print(type(error).__name__)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_what_may_not_be_written_is_told(open_folder: Path, path: Path) -> None:
    """A directory and a file without the right to write are told apart from damage."""
    place = open_folder / "memories.db"
    shutil.copy(path, place)
    place.chmod(0o444)
    before = contents(place)
    open_folder.chmod(0o555)
    said = python(READ_ONLY, open_folder / "new.db", place).split()
    assert said == [StoreUnavailable.__name__, StoreReadOnly.__name__]
    assert contents(place) == before


def test_a_closed_store_says_so(make_store: MakeStore) -> None:
    """Every use after close is StoreClosed, of the store and of its scopes; to close is allowed."""
    store = make_store()
    alice = store.principals.user("alice")
    shelf = store.scope(acting_as=alice)
    shelf.save("n", "plan", "x")
    store.close()
    store.close()
    for use in (
        shelf.list,
        lambda: shelf.save("n", "plan", "y"),
        lambda: store.scope(acting_as=alice),
        lambda: store.principals.user("alice"),
        lambda: store.agents.create("a", owner=alice),
    ):
        with pytest.raises(StoreClosed):
            use()


def test_what_is_written_is_there_after_reopening(path: Path) -> None:
    """A store is its file; two open stores of it see one another's writes."""
    assert content_of(path) == "kept"
    with MemoryStore(path) as first, MemoryStore(path) as second:
        shelves = [it.scope(acting_as=it.principals.user("alice")) for it in (first, second)]
        shelves[0].save("n", "plan", "new")
        assert shelves[1].get("n", "plan").content == "new"


FORK = """
import os, sys
from memories_sdk import MemoryStore
from memories_sdk.errors import StoreClosed
store = MemoryStore(sys.argv[1])
shelf = store.scope(acting_as=store.principals.user("alice"))
shelf.save("n", "plan", "parent")
child = os.fork()
if not child:
    status = 1
    try:
        shelf.save("n", "plan", "child")
        shelf.save("m", "plan", "child")
        status = 0
    except StoreClosed:
        status = 7
    finally:
        os._exit(status)
_, status = os.waitpid(child, 0)
shelf.save("o", "plan", "parent again")
print(os.waitstatus_to_exitcode(status), *(head.name for head in shelf.list()))
print(*store.verify())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_works_on_the_same_file(tmp_path: Path) -> None:
    """Parent and child share no connection; neither drops the other's locks or writes."""
    assert python(FORK, tmp_path / "m.db") == "0 n m o"


FORKED_AMID_WRITES = """
import os, sys, threading, warnings
from memories_sdk import MemoryStore
warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, which is the point
store = MemoryStore(sys.argv[1], durability="process", timeout=5)
shelf = store.scope(acting_as=store.principals.user("alice"))
ended, kept = threading.Event(), []
def write(who):
    while not ended.is_set():
        kept.append(shelf.save(f"{who} {len(kept)}", "plan", "x").memory.name)
writers = [threading.Thread(target=write, args=(who,)) for who in "ab"]
for each in writers:
    each.start()
codes = []
for number in range(5):
    before = len(kept)
    while len(kept) < before + 5:
        pass
    child = os.fork()
    if child == 0:
        shelf.save(f"child {number}", "plan", "x")
        os._exit(7)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
ended.set()
for each in writers:
    each.join()
there = {head.name for head in shelf.list(limit=500)}
cursor = shelf.list(limit=500).next_cursor
while cursor:
    page = shelf.list(limit=500, cursor=cursor)
    there, cursor = there | {head.name for head in page}, page.next_cursor
assert there == {*kept, *(f"child {number}" for number in range(5))}
assert store.verify() == []
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_may_be_forked_while_others_write(tmp_path: Path) -> None:
    """A child takes no lock of another thread's with it, which nobody would ever give back."""
    assert python(FORKED_AMID_WRITES, tmp_path / "m.db") == str([7] * 5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_no_store_in_memory() -> None:
    """A copy of the parent's memory would silently part ways; it is closed instead."""
    assert python(FORK, ":memory:") == "7 n o"


def test_eight_threads_share_one_store(make_store: MakeStore) -> None:
    """Reads and writes from many threads at once lose nothing and mix nothing up."""
    store = make_store(durability="process")
    shelves = [store.scope(acting_as=store.principals.user(f"u{i}")) for i in range(8)]
    start = threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        for i in range(25):
            shelves[number].save(f"n{i}", "plan", f"{number}")
            assert shelves[number].get(f"n{i}", "plan").content == f"{number}"

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert [shelf.list().total for shelf in shelves] == [25] * 8
    assert store.verify() == []


def test_threads_wait_for_their_turn_in_memory_no_longer_than_the_timeout() -> None:
    """A database in memory has one connection; who waits for it too long is told."""
    with MemoryStore(":memory:", timeout=0.05) as store, ThreadPoolExecutor(1) as other:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        with store._database.read():
            waiting = other.submit(shelf.save, "n", "plan", "x")
            with pytest.raises(StoreBusy):
                waiting.result()
        assert shelf.save("n", "plan", "x").created


def test_a_statement_with_a_literal_is_refused_when_it_is_compiled() -> None:
    """Only the text of a statement is kept: a value written into it would be lost."""
    with pytest.raises(ValueError, match="bindparam"):
        compiled(select(memories.c.row).where(memories.c.scope_key == "global:1"))


TIMES = """
import sys
from datetime import timedelta
from memories_sdk import MemoryStore
store = MemoryStore(sys.argv[1])
memory = store.scope(acting_as=store.principals.user("alice")).get("n", "plan")
for moment in (memory.created_at, memory.updated_at):
    assert moment.utcoffset() == timedelta(0)
print(memory.created_at.isoformat(timespec="microseconds"))
"""


def test_times_are_utc_and_keep_their_microseconds(tmp_path: Path) -> None:
    """A machine fourteen hours ahead reads the same moment, to the microsecond."""
    moment = datetime(2026, 1, 1, 23, 59, 59, 999_999, tzinfo=UTC)
    path = tmp_path / "m.db"
    with MemoryStore(path, clock=lambda: moment) as store:
        store.scope(acting_as=store.principals.user("alice")).save("n", "plan", "x")
    assert python(TIMES, path, TZ="Pacific/Kiritimati") == "2026-01-01T23:59:59.999999+00:00"


def test_the_clock_of_the_machine_gives_aware_times(make_store: MakeStore) -> None:
    """Without a clock of one's own, times lie between before and after."""
    shelf = (store := make_store()).scope(acting_as=store.principals.user("alice"))
    before = datetime.now(UTC)
    memory = shelf.create("n", "plan", "x")
    assert before <= memory.created_at <= datetime.now(UTC)


def test_a_clock_that_goes_back_changes_no_order(make_store: MakeStore) -> None:
    """List order hangs on places, never on the clock; versions go on rising."""
    moments = [datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)]
    now = [moments[0]]
    store = make_store(clock=lambda: now[0])
    shelf = store.scope(acting_as=store.principals.user("alice"))
    first = shelf.create("a", "plan", "1")
    now[0] = moments[1]
    second = shelf.create("b", "plan", "1")
    third = shelf.save("a", "plan", "2").memory
    assert [head.name for head in shelf.list()] == ["a", "b"]
    assert third.version == 2
    assert [it.at for it in shelf.history()] == [moments[1], moments[1], moments[0]]
    assert first.id != second.id


def milliseconds(id: UUID) -> int:
    """Return the time in an id."""
    return id.int >> 80


def test_ids_rise_from_many_threads() -> None:
    """Each id is greater than the one before, and none is given twice."""
    mint = Uuid7()
    with ThreadPoolExecutor(4) as threads:
        batches = list(threads.map(lambda _: [mint() for _ in range(2_000)], range(4)))
    assert all(batch == sorted(batch) for batch in batches)
    assert len({id for batch in batches for id in batch}) == 8_000
    assert {(id.version, id.variant) for batch in batches for id in batch} == {
        (7, "specified in RFC 4122")
    }


def test_ids_stay_with_the_clock() -> None:
    """A burst of 10,000 ids in one instant runs less than three milliseconds ahead."""
    instant = 1_767_225_600_000
    mint = Uuid7(lambda: instant * 1_000_000)
    ids = [mint() for _ in range(10_000)]
    assert ids == sorted(set(ids))
    assert milliseconds(ids[0]) == instant
    assert milliseconds(ids[-1]) - instant == 2


def test_ids_rise_when_the_clock_goes_back() -> None:
    """They go on from the last one until the clock has caught up."""
    moment = [1_767_225_600_000_000_000]
    mint = Uuid7(lambda: moment[0])
    first = mint()
    moment[0] -= int(timedelta(days=1) / timedelta(microseconds=1)) * 1_000
    second = mint()
    moment[0] += int(timedelta(days=2) / timedelta(microseconds=1)) * 1_000
    third = mint()
    assert first < second < third
    assert milliseconds(second) - milliseconds(first) <= 1
    assert milliseconds(third) - milliseconds(first) == 86_400_000
