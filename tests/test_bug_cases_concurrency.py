"""Many writers at once: no write is lost, and no lock error reaches a caller."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memories_sdk import EditConflict, MemoryStore
from memories_sdk.errors import NameTaken, StoreBusy

if TYPE_CHECKING:
    from conftest import MakeStore


def together(script: str, *argument_lists: tuple[object, ...]) -> list[str]:
    """Run a script in several processes at once and return what each prints."""
    with ExitStack() as stack:
        running = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for arguments in argument_lists
        ]
        outputs = [process.communicate() for process in running]
    for process, (_, errors) in zip(running, outputs, strict=True):
        assert process.returncode == 0, errors
    return [output.strip() for output, _ in outputs]


WRITER = """
import sys
from memories_sdk import MemoryStore
path, me = sys.argv[1:]
with MemoryStore(path, durability="process") as store:
    shelf = store.scope(acting_as=store.principals.user("alice"), actor=f"agent:{me}")
    for i in range(250):
        match i % 4:
            case 0:
                shelf.replace("hot", "plan", find="END", new_text=f"{me}-{i}\\nEND")
            case 1:
                shelf.save("hot", "plan", tags=[f"{me}-{i}"])
            case 2:
                shelf.save(f"own {me}", "plan", f"{i}")
            case 3:
                shelf.replace(f"own {me}", "plan", find=f"{i - 1}", new_text=f"{i}")
"""


def test_a_thousand_writes_of_four_processes_are_all_kept(tmp_path: Path) -> None:
    """Saves and replaces, on one hot memory and on own ones: each has its effect and revision."""
    path = tmp_path / "m.db"
    with MemoryStore(path) as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        hot = shelf.create("hot", "plan", "END")
        together(WRITER, *((path, me) for me in range(4)))
        lines = shelf.get("hot", "plan").content.split("\n")
        assert lines.pop() == "END"
        assert Counter(lines) == Counter(f"{me}-{i}" for me in range(4) for i in range(0, 250, 4))
        assert shelf.get("hot", "plan").version == 1 + 4 * (63 + 63)
        assert [shelf.get(f"own {me}", "plan").version for me in range(4)] == [124] * 4
        changes = list(shelf.changes())
        while page := list(shelf.changes(since=changes[-1].seq)):
            changes += page
        assert len(changes) == 1 + 1_000
        assert Counter(it.actor for it in changes[1:]) == {f"agent:{me}": 250 for me in range(4)}
        of_hot = [it.version for it in changes if it.memory_id == hot.id]
        assert of_hot == list(range(1, len(of_hot) + 1))
        assert store.verify() == []


FIRST = """
import sys
from memories_sdk import MemoryStore
for i in range(12):
    with MemoryStore(f"{sys.argv[1]}/{i}.db") as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        shelf.save(sys.argv[2], "plan", "x")
        print(store.principals.user("alice").id, end=" ")
"""


def test_two_processes_open_one_new_file_at_once(tmp_path: Path) -> None:
    """Both make the tables or find them made, and mean the same user by a name."""
    said = together(FIRST, (tmp_path, "a"), (tmp_path, "b"))
    assert said == [" ".join(["1"] * 12)] * 2
    for i in range(12):
        with MemoryStore(tmp_path / f"{i}.db") as store:
            shelf = store.scope(acting_as=store.principals.user("alice"))
            assert sorted(head.name for head in shelf.list()) == ["a", "b"]


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_lock_held_too_long_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    """The wait is bounded by `timeout`, the error says what to do, and reading goes on."""
    path = tmp_path / "m.db"
    with MemoryStore(path, timeout=0.2) as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        shelf.save("n", "plan", "x")
        with subprocess.Popen(
            [sys.executable, "-c", HOLDER, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            for _ in range(2):
                with pytest.raises(StoreBusy, match=r"0\.2 s") as caught:
                    shelf.save("n", "plan", "y")
            assert caught.value.retryable
            assert "timeout=" in caught.value.suggestion
            assert shelf.get("n", "plan").content == "x"
            with MemoryStore(path, timeout=0.2) as second:
                assert second.principals.user("alice").name == "alice"
            holder.communicate()
        assert shelf.save("n", "plan", "z").memory.version == 2


OTHER = """
import sys
from memories_sdk import MemoryStore
with MemoryStore(sys.argv[1], timeout=1) as store:
    store.scope(acting_as=store.principals.user("alice")).save("m", "plan", "2")
"""


def test_an_idle_store_holds_no_lock(tmp_path: Path) -> None:
    """A notebook that stays open keeps nobody from writing, and sees what they wrote."""
    with MemoryStore(tmp_path / "m.db") as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        shelf.save("n", "plan", "1")
        shelf.list()
        together(OTHER, (tmp_path / "m.db",))
        assert [head.name for head in shelf.list()] == ["n", "m"]


def test_twenty_saves_at_once_make_twenty_memories(make_store: MakeStore) -> None:
    """New memories take places of their own, one behind the other."""
    store = make_store(durability="process")
    shelf = store.scope(acting_as=store.principals.user("alice"))
    start = threading.Barrier(20)

    def save(number: int) -> bool:
        start.wait()
        return shelf.save(f"e{number}", "context", "o").created

    with ThreadPoolExecutor(20) as threads:
        assert all(threads.map(save, range(20)))
    assert sorted(head.order for head in shelf.list()) == list(range(1, 21))


def test_one_of_many_creates_of_a_name_wins(make_store: MakeStore) -> None:
    """The engine decides; the others are told that the name is taken."""
    store = make_store(durability="process")
    shelf = store.scope(acting_as=store.principals.user("alice"))
    start = threading.Barrier(8)

    def create(number: int) -> str:
        start.wait()
        try:
            return shelf.create("n", "plan", f"{number}").content
        except NameTaken:
            return "taken"

    with ThreadPoolExecutor(8) as threads:
        outcomes = Counter(threads.map(create, range(8)))
    assert outcomes["taken"] == 7
    assert outcomes[shelf.get("n", "plan").content] == 1


def test_a_compared_version_loses_no_count(make_store: MakeStore) -> None:
    """Read, add one, save with the version read, retry on conflict: every step counts once."""
    store = make_store(durability="process")
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.save("count", "plan", "0")
    start = threading.Barrier(4)

    def add(times: int) -> None:
        start.wait()
        while times:
            seen = shelf.get("count", "plan")
            try:
                shelf.save(
                    "count", "plan", f"{int(seen.content) + 1}", expected_version=seen.version
                )
            except EditConflict as conflict:
                assert conflict.current is not None  # noqa: PT017 -- a retry starts from it
                assert conflict.current.version > seen.version  # noqa: PT017 -- as above
            else:
                times -= 1

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, [25] * 4))
    memory = shelf.get("count", "plan")
    assert (memory.content, memory.version) == ("100", 101)


def test_one_user_is_made_by_many_threads(make_store: MakeStore) -> None:
    """First need comes from everywhere at once and still means one principal."""
    store = make_store(durability="process")
    start = threading.Barrier(8)

    def user(_: int) -> int:
        start.wait()
        return store.principals.user("alice").id

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(user, range(8)))) == 1
    assert len(store.principals.everyone()) == 1
