"""Kills programs at random moments, while they write, migrate and copy."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

from memories_sdk import MemoryStore, Scope
from memories_sdk.errors import NotFound
from reliability.device import forked, told
from reliability.lives import any_write, old_file, shelf_of


@dataclass
class Kills:
    """What became of programs that were killed.

    Attributes:
        kills: How many.
        acknowledged: Writes, migrations or copies that had been reported as done.
        lost: Of those, not there afterwards.
        damaged: Files that were not whole afterwards.
    """

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    damaged: int = 0


def _kill_after(child: int, seconds: float) -> None:
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def while_writing(number: int, *, writers: int = 2, rounds: int = 25) -> Kills:
    """Kill writers, two at a time, on one file; start a new file every so many rounds."""
    random, result = Random(number), Kills()
    while result.kills < number:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name, "m.db")
            with MemoryStore(path) as store:
                shelf_of(store).save("n0", "plan", "x")
            newest: dict[str, int] = {}
            for _ in range(rounds):
                if result.kills >= number:
                    break
                _round(path, random, writers, newest, result)
            with MemoryStore(path) as store:
                result.damaged += bool(store.verify())
    return result


def _round(path: Path, random: Random, writers: int, newest: dict[str, int], result: Kills) -> None:
    def live(tell: Callable[[str], None]) -> None:
        dice = Random(os.getpid())
        with MemoryStore(path) as store:
            shelf = shelf_of(store)
            while True:
                if (done := any_write(shelf, dice, str(os.getpid()))) is not None:
                    tell(f"ack {done[0]} {done[1]}")

    children = [forked(live) for _ in range(writers)]
    # Once both write: on a busy machine the kill would else meet programs that only start.
    for _, pipe in children:
        select.select([pipe], [], [], 30)
    time.sleep(random.random() * 0.08)
    for child, _ in children:
        os.kill(child, signal.SIGKILL)
    for child, pipe in children:
        _hear(told(pipe), newest, result)
        os.waitpid(child, 0)
        result.kills += 1
    with MemoryStore(path) as store:
        shelf = shelf_of(store)
        result.lost += sum(_newest(shelf, id) < version for id, version in newest.items())
    with closing(sqlite3.connect(path)) as connection:
        result.damaged += connection.execute("PRAGMA integrity_check").fetchone()[0] != "ok"


def _hear(lines: list[str], newest: dict[str, int], result: Kills) -> None:
    for line in lines:
        word, *rest = line.split()
        if word == "ack" and len(rest) == 2:
            result.acknowledged += 1
            newest[rest[0]] = max(newest.get(rest[0], 0), int(rest[1]))


def _newest(shelf: Scope, id: str) -> int:
    """Return the last version that the history knows of a memory."""
    try:
        return shelf.history(id=id, limit=1)[0].version
    except (NotFound, IndexError):
        return 0


def while_migrating(number: int) -> Kills:
    """Kill programs that open a file of the first release."""
    random, result = Random(number), Kills()
    with tempfile.TemporaryDirectory() as name:
        prepared = Path(name, "old.db")
        old_file(prepared)
        with MemoryStore(shutil.copy(prepared, Path(name, "first.db"))) as store:
            whole = len(shelf_of(store).history(limit=500))
        for turn in range(number):
            folder = Path(name, str(turn))
            folder.mkdir()
            path = Path(shutil.copy(prepared, folder / "m.db"))

            def live(tell: Callable[[str], None], path: Path = path) -> None:
                MemoryStore(path).close()
                tell("ack")
                time.sleep(10)

            child, pipe = forked(live)
            _kill_after(child, random.random() * 0.35)
            result.kills += 1
            result.acknowledged += "ack" in told(pipe)
            with MemoryStore(path) as store:
                result.damaged += bool(store.verify())
                result.lost += len(shelf_of(store).history(limit=500)) != whole
            shutil.rmtree(folder)
    return result


def while_copying(number: int) -> Kills:
    """Kill programs that copy a store, over and over, while it is written."""
    random, result = Random(number), Kills()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with MemoryStore(folder / "m.db") as store:
            shelf = shelf_of(store)
            for at in range(40):
                shelf.save(f"n{at}", "plan", "body " * 400)
            for turn in range(number):

                def live(tell: Callable[[str], None], turn: int = turn) -> None:
                    with MemoryStore(folder / "m.db") as mine:
                        for at in count():
                            mine.backup(folder / f"copy-{turn}-{at}.db")
                            tell(f"ack copy-{turn}-{at}.db")

                child, pipe = forked(live)
                shelf.save(f"n{turn % 40}", "plan", f"{turn} " * 300)
                _kill_after(child, random.random() * 0.1)
                result.kills += 1
                _count_copies(folder, told(pipe), result)
    return result


def _count_copies(folder: Path, lines: list[str], result: Kills) -> None:
    acknowledged = {line.split()[1] for line in lines if line.startswith("ack") and " " in line}
    made = {each.name for each in folder.glob("copy-*.db")}
    result.acknowledged += len(acknowledged)
    result.lost += len(acknowledged - made)
    for each in sorted(made)[-2:]:  # the last ones: those that the kill may have met
        with MemoryStore(folder / each) as copy:
            result.damaged += bool(copy.verify())
    for each in folder.glob("copy-*"):
        each.unlink()
