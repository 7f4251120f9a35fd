"""Lets each system call of each operation fail in turn, or kills the program there."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

# Here once: each of the forked programs would load Alembic anew.
import memories_sdk.migrations  # noqa: F401
from memories_sdk import MemoriesError, MemoryStore
from memories_sdk.errors import OldPagesRemain
from reliability.device import Device, forked, told
from reliability.lives import OPERATIONS, State, fill, old_file, shelf_of, state

FAILURES: Final = {"a crash": -1, "ENOSPC": errno.ENOSPC, "EIO": errno.EIO}
EVERYTHING: Final = (*OPERATIONS, "backup", "migration")


def failures(operation: str, failure: str, *, most: int = 400) -> tuple[int, Counter[str]]:
    """Let each call of an operation fail in turn; return how many there are, and what was found."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        prepared = Path(name, "prepared")
        prepared.mkdir()
        _prepare(prepared, operation)
        for nth in range(1, most):
            folder = Path(name, "disk")
            shutil.copytree(prepared, folder)
            hit, verdict = _tried(folder, operation, nth, FAILURES[failure], prepared)
            shutil.rmtree(folder)
            if not hit:
                return nth - 1, found
            found[verdict] += 1
    return most, found


def _prepare(folder: Path, operation: str) -> None:
    if operation == "migration":
        old_file(folder / "m.db")
        return
    with MemoryStore(folder / "m.db") as store:
        fill(shelf_of(store))


def _act(path: Path, operation: str, store: MemoryStore | None) -> None:
    if store is None:
        MemoryStore(path).close()
    elif operation == "backup":
        store.backup(path.with_name("copy.db"))
    else:
        OPERATIONS[operation](shelf_of(store))


def _tried(folder: Path, operation: str, nth: int, how: int, prepared: Path) -> tuple[bool, str]:
    path = folder / "m.db"

    def live(tell: Callable[[str], None]) -> None:
        warnings.simplefilter("ignore", OldPagesRemain)
        device = Device()
        device.watch(folder)
        store = None if operation == "migration" else MemoryStore(path)
        if store is not None:
            shelf_of(store).list()
        device.fail(nth, how)
        try:
            _act(path, operation, store)
        except MemoriesError as error:
            tell(f"refused {error.code}")
        else:
            tell("done")
        tell(f"counted {device.counted()}")
        device.fail(0, 0)
        with store or MemoryStore(path) as store:
            shelf_of(store).save("again", "plan", "x")
        tell("again")

    child, pipe = forked(live)
    lines = told(pipe)
    os.waitpid(child, 0)
    counted = [int(line.split()[1]) for line in lines if line.startswith("counted")]
    if counted and counted[0] < nth:
        return False, ""
    if any(line.startswith("failed") for line in lines):
        return True, f"not typed: {lines[-1]}"
    if counted and "again" not in lines:
        return True, "the next call did not work"
    return True, _judge(path, operation, prepared, done="done" in lines)


def _judge(path: Path, operation: str, prepared: Path, *, done: bool) -> str:
    try:
        with MemoryStore(path) as store:
            if store.verify():
                return "corrupt"
            now = [each for each in state(shelf_of(store)) if each[0] != "again"]
        if operation == "backup" and (found := _copy(path.with_name("copy.db"), done=done)):
            return found
    except MemoriesError as error:
        return f"corrupt: {error.code}"
    old, new = _ends(operation, prepared)
    verdicts = {
        (True, True): "new state, acknowledged",
        (True, False): "new state, not acknowledged",
        (False, True): "lost",
        (False, False): "old state",
    }
    if now not in (old, new):
        return "in between"
    if old == new:
        return "whole, acknowledged" if done else "whole, not acknowledged"
    return verdicts[now == new, done]


def _copy(path: Path, *, done: bool) -> str:
    """Say what is wrong with a copy."""
    if not path.exists():
        return "no copy, though acknowledged" if done else ""
    with MemoryStore(path) as store:
        return "half a copy" if store.verify() else ""


_known: dict[str, tuple[State, State]] = {}


def _ends(operation: str, prepared: Path) -> tuple[State, State]:
    """Return the shelf before and after the operation."""
    if operation not in _known:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name, "disk")
            shutil.copytree(prepared, folder)
            if operation == "migration":
                _act(folder / "m.db", operation, None)
            with MemoryStore(folder / "m.db") as store:
                old: State = json.loads(json.dumps(state(shelf_of(store))))
                if operation != "migration":
                    _act(folder / "m.db", operation, store)
                _known[operation] = old, state(shelf_of(store))
    return _known[operation]
