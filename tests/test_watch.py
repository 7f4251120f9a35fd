"""Whoever watches a shelf hears of each change once, from any thread and any process."""

import subprocess
import sys
import threading

from memories_sdk import MemoryStore

WRITER = """
import sys
from memories_sdk import MemoryStore
store = MemoryStore(sys.argv[1])
store.scope(acting_as=store.principals.user("alice")).create("from elsewhere", "plan", "x")
"""


def test_a_watch_gives_each_change_once_and_in_order(shelf):
    """Changes since the start come oldest first, and none comes twice."""
    shelf.create("before", "plan", "x")
    watch = shelf.watch(pause=0.01)
    shelf.create("a", "plan", "x")
    shelf.save("a", "plan", "y")
    assert [(each.action, each.name) for each in next(watch)] == [("create", "a"), ("update", "a")]
    shelf.delete("a", "plan")
    assert [each.action for each in next(watch)] == ["delete"]


def test_a_watch_wakes_for_a_commit_of_another_process(tmp_path):
    """What another process commits reaches a waiting iterator."""
    with MemoryStore(tmp_path / "store.db") as store:
        watch = store.scope(acting_as=store.principals.user("alice")).watch()
        command = [sys.executable, "-c", WRITER, store.location]
        with subprocess.Popen(command) as writer:
            assert [each.name for each in next(watch)] == ["from elsewhere"]
        assert writer.returncode == 0


def test_two_threads_share_a_watch(shelf):
    """Each change goes to exactly one of the threads that iterate."""
    watch = shelf.watch(pause=0.001)
    heard = []

    def listen():
        heard.extend(each.name for page in watch for each in page)

    threads = [threading.Thread(target=listen) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(30):
        shelf.create(f"n{number}", "plan", "x")
    while len(heard) < 30:
        threads[0].join(0.01)
    watch.close()
    for thread in threads:
        thread.join(5)
    assert sorted(heard) == sorted(f"n{number}" for number in range(30))
    assert not any(thread.is_alive() for thread in threads)


def test_a_watch_ends_with_its_store(make_store):
    """Closing the store ends the iteration instead of raising in a background thread."""
    store = make_store()
    watch = store.scope(acting_as=store.principals.user("alice")).watch(pause=0.01)
    store.close()
    assert list(watch) == []
