"""The changes of a whole store, for one caller."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path

import pytest

from memories_sdk import AccessDenied, InvalidInput, MemoryStore, Principal
from memories_sdk.history import History

CANARY = "canary-4711"


def told(changes: History) -> list[tuple[str, str | None]]:
    """Return what changes say in short."""
    return [(each.shelf, each.name) for each in changes]


def test_a_caller_hears_of_every_shelf_of_its_own(
    store: MemoryStore, alice: Principal, bob: Principal, lab: Principal
) -> None:
    """Own, a group's and their agents' shelves, in the order of the changes; nobody else's."""
    writer = store.agents.create("writer", owner=alice)
    reader = store.agents.create("reader", owner=lab)
    shelves = [
        store.scope(acting_as=alice),
        store.scope(acting_as=bob),
        store.scope(acting_as=alice, agent=writer),
        store.scope(acting_as=alice, principal=lab),
        store.scope(acting_as=bob, principal=lab, agent=reader),
    ]
    for number, shelf in enumerate([*shelves, shelves[0]]):
        shelf.save(f"n{number}", "plan", "x")
    keys = [shelf.key for shelf in shelves]
    assert told(store.changes(acting_as=alice)) == [
        (keys[0], "n0"),
        (keys[2], "n2"),
        (keys[3], "n3"),
        (keys[4], "n4"),
        (keys[0], "n5"),
    ]
    assert told(store.changes(acting_as=bob)) == [
        (keys[1], "n1"),
        (keys[3], "n3"),
        (keys[4], "n4"),
    ]


def test_the_feed_tells_no_text(store: MemoryStore, alice: Principal) -> None:
    """What was written and overwritten is read on the shelf, by whoever may."""
    shelf = store.scope(acting_as=alice)
    shelf.create("n", "plan", CANARY, summary=CANARY, tags=[CANARY])
    shelf.save("n", "plan", "x", summary="x", tags=["x"])
    shelf.delete("n", "plan")
    changes = store.changes(acting_as=alice)
    assert [each.action for each in changes] == ["create", "update", "delete"]
    assert CANARY not in repr([astuple(each) for each in changes])


def test_pages_join_without_a_gap(store: MemoryStore, alice: Principal, lab: Principal) -> None:
    """Going on from the last number seen gives each change once."""
    own, team = store.scope(acting_as=alice), store.scope(acting_as=alice, principal=lab)
    for number in range(20):
        (team if number % 3 else own).save(f"n{number}", "plan", "x")
    seen: list[str | None] = []
    since = 0
    while page := store.changes(acting_as=alice, since=since, limit=3):
        seen += [each.name for each in page]
        since = page[-1].seq
    assert seen == [f"n{number}" for number in range(20)]


def test_who_leaves_a_group_hears_no_more_of_it(
    store: MemoryStore, bob: Principal, alice: Principal, lab: Principal
) -> None:
    """A watch that is under way loses the shelf with the right to it, and gains one likewise."""
    team = store.scope(acting_as=alice, principal=lab)
    own = store.scope(acting_as=bob)
    watch = store.watch(acting_as=bob, pause=0.001)
    team.save("seen", "plan", "x")
    assert told(next(watch)) == [(team.key, "seen")]
    store.principals.remove_member(lab, bob)
    team.save("unseen", "plan", "x")
    own.save("own", "plan", "x")
    assert told(next(watch)) == [(own.key, "own")]
    store.principals.add_member(lab, bob)
    team.save("again", "plan", "x")
    assert (team.key, "again") in told(next(watch))


def test_nobody_hears_nothing(store: MemoryStore, alice: Principal) -> None:
    """A principal that is not of this store is refused, as everywhere."""
    for stranger in (Principal(99, "user", "alice"), Principal(alice.id, "user", "mallory")):
        with pytest.raises(AccessDenied):
            store.changes(acting_as=stranger)
        with pytest.raises(AccessDenied):
            store.watch(acting_as=stranger)


@pytest.mark.parametrize("wrong", [{"since": -1}, {"since": "1"}, {"limit": 0}, {"limit": 501}])
def test_a_wrong_place_is_refused(
    store: MemoryStore, alice: Principal, wrong: dict[str, object]
) -> None:
    """A number that no change can have is a mistake, not the end."""
    with pytest.raises(InvalidInput) as caught:
        store.changes(acting_as=alice, **wrong)
    assert caught.value.field == next(iter(wrong))


WRITER = """
import sys, time
from memories_sdk import MemoryStore
with MemoryStore(sys.argv[1]) as store:
    shelf = store.scope(acting_as=store.principals.user("alice"))
    sys.stdin.readline()
    shelf.create("from elsewhere", "plan", "x")
    print(time.time())
"""


def test_a_watch_wakes_for_another_process(tmp_path: Path) -> None:
    """A commit elsewhere reaches a waiting thread, well within the pause it was given."""
    with MemoryStore(tmp_path / "m.db") as store:
        watch = store.watch(acting_as=store.principals.user("alice"))
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, store.location],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as writer:
            heard: list[float] = []
            thread = threading.Thread(target=lambda: (next(watch), heard.append(time.time())))
            thread.start()
            answer, _ = writer.communicate("go\n")
            thread.join(30)
    assert len(heard) == 1
    assert float(answer) <= heard[0] + 30


def test_a_watch_ends_with_its_store(tmp_path: Path) -> None:
    """A thread that waits is let go when the store, or the watch, is closed."""
    for close in ("store", "watch"):
        store = MemoryStore(tmp_path / "m.db")
        watch = store.watch(acting_as=store.principals.user("alice"), pause=0.01)
        thread = threading.Thread(target=lambda watch=watch: list(watch))
        thread.start()
        (store if close == "store" else watch).close()
        thread.join(30)
        assert not thread.is_alive()
        store.close()


def test_threads_share_a_watch(store: MemoryStore, alice: Principal, lab: Principal) -> None:
    """Each change goes to one of the threads that iterate."""
    own, team = store.scope(acting_as=alice), store.scope(acting_as=alice, principal=lab)
    watch = store.watch(acting_as=alice, pause=0.001)
    heard: list[str | None] = []
    everything = threading.Event()

    def listen() -> None:
        for page in watch:
            heard.extend(each.name for each in page)
            if len(heard) >= 30:
                everything.set()

    threads = [threading.Thread(target=listen) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(30):
        (team if number % 2 else own).create(f"n{number}", "plan", "x")
    assert everything.wait(30)
    watch.close()
    for thread in threads:
        thread.join(30)
    assert sorted(map(str, heard)) == sorted(f"n{number}" for number in range(30))


@contextmanager
def uncommitted(save: Callable[[], object]) -> Iterator[None]:
    """Carry out a write that reaches its commit, and commits when the block ends."""
    from memories_sdk.engines.server import ServerConnection  # noqa: PLC0415 -- embedded: unused

    run, reached, let_go = ServerConnection.run, threading.Event(), threading.Event()

    def slow(connection: ServerConnection, text: str, *parameters: object) -> object:
        if text == "COMMIT" and threading.current_thread() is writer:
            reached.set()
            let_go.wait(30)
        return run(connection, text, *parameters)

    writer = threading.Thread(target=save)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerConnection, "run", slow)
        writer.start()
        assert reached.wait(30)
        yield
        let_go.set()
        writer.join(30)


@pytest.mark.engines("postgresql", "mariadb")
@pytest.mark.parametrize("first", [True, False], ids=["first of its shelf", "later"])
def test_a_slow_commit_is_not_passed_over(
    store: MemoryStore, alice: Principal, lab: Principal, *, first: bool
) -> None:
    """A change that is numbered before another and committed after it is told, and in its place."""
    own, team = store.scope(acting_as=alice), store.scope(acting_as=alice, principal=lab)
    if not first:
        team.save("early", "plan", "x")
    own.save("before", "plan", "x")
    known = store.changes(acting_as=alice)[-1].seq
    with uncommitted(lambda: team.save("slow", "plan", "x")):
        own.save("quick", "plan", "x")
        assert told(store.changes(acting_as=alice, since=known)) == []
        watch = store.watch(acting_as=alice, pause=0.01)
        # Who sees none of these shelves does not wait for them.
        bob = store.principals.user("carol")
        store.scope(acting_as=bob).save("hers", "plan", "x")
        assert [name for _, name in told(store.changes(acting_as=bob))] == ["hers"]
    expected = [(team.key, "slow"), (own.key, "quick")]
    assert told(store.changes(acting_as=alice, since=known)) == expected
    assert told(next(watch)) == expected[:1]  # the other one was there before it began


@pytest.mark.engines("postgresql", "mariadb")
def test_writers_of_many_shelves_are_followed_without_a_gap(
    store: MemoryStore, alice: Principal
) -> None:
    """Going on from the last number, while eight shelves are written, gives each change once."""
    agents = [store.agents.create(f"a{number}", owner=alice) for number in range(8)]
    shelves = [store.scope(acting_as=alice, agent=agent) for agent in agents]
    seen: list[tuple[str, str | None]] = []
    since = 0
    with ThreadPoolExecutor(8) as pool:
        done = [
            pool.submit(lambda shelf=shelf: [shelf.save(f"n{n}", "plan", "x") for n in range(12)])
            for shelf in shelves
        ]
        while not all(each.done() for each in done) or len(seen) < 96:
            page = store.changes(acting_as=alice, since=since)
            seen += told(page)
            since = page[-1].seq if page else since
            assert all(each.exception() is None for each in done if each.done())
    assert sorted(seen) == sorted((shelf.key, f"n{n}") for shelf in shelves for n in range(12))
