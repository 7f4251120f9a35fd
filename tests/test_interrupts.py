"""An interrupt, as of a cell that is stopped, at a random moment of each kind of write."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from test_storage import python

# A signal is heard between two steps of the interpreter, so also where a block is entered or left.
SCRIPT = """
import random, signal, sys, time
from memories_sdk import MemoryStore

place, kind = sys.argv[1:]
store = MemoryStore(place, durability="process", timeout=1)
beside = store if place == ":memory:" else MemoryStore(place, durability="process", timeout=1)
shelf, other = (it.scope(acting_as=it.principals.user("alice")) for it in (store, beside))
armed = False

def interrupt(number, frame):
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt

def write(number):
    if kind == "save":
        return shelf.save("it", "plan", f"body {number}")
    if kind == "once":
        return shelf.once(f"key {number}").save("it", "plan", f"body {number}")
    if kind == "replace":
        return shelf.replace("it", "plan", find="body", new_text="body body")
    return shelf.delete("it", "plan"), shelf.undo()

signal.signal(signal.SIGALRM, interrupt)
shelf.save("it", "plan", "body")
start = time.perf_counter()
for number in range(20):
    write(number)
    shelf.save("it", "plan", "body")
length = (time.perf_counter() - start) / 20
stopped = 0
for number in range(20, 5_000):
    if stopped == 60:
        break
    old, new, armed = shelf.history()[0].seq, None, True
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, length))
        new = write(number)
        armed = False
    except KeyboardInterrupt:
        stopped += 1
    if new is not None:
        assert shelf.history()[0].seq > old
    elif not shelf.list():
        shelf.undo()
    other.save("beside", "plan", f"{number}")
    shelf.save("it", "plan", "body")
assert store.verify() == []
print(stopped)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no timers that interrupt")
@pytest.mark.parametrize(
    ("place", "kind"),
    [("file", "save"), ("file", "once"), ("file", "delete"), (":memory:", "replace")],
)
def test_an_interrupted_write_holds_up_nobody(tmp_path: Path, place: str, kind: str) -> None:
    """Whenever it comes, this program and others write on, and the history is whole."""
    where = tmp_path / "m.db" if place == "file" else place
    assert int(python(SCRIPT, where, kind)) == 60
