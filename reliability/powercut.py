"""Cuts the power: what a disk may hold then is made from a record of what was written and synced.

A write that was not synced survives by the sector, at random. A file that was made, renamed or
removed is so only once its directory was synced, else at random: the least that POSIX promises.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from memories_sdk import MemoriesError, MemoryStore, Scope
from reliability.device import Device, forked, told
from reliability.lives import State, any_write, fill, shelf_of, state

SECTOR: Final = 512


class Event(NamedTuple):
    """One call."""

    kind: str
    path: str
    place: int
    data: bytes


def events(record: Path) -> Iterator[Event]:
    """Read a record."""
    data = record.read_bytes()
    at = 0
    while at < len(data):
        kind, length, place, size = struct.unpack_from("<cHqI", data, at)
        at += 15
        path = data[at : at + length].decode()
        at += length
        yield Event(kind.decode(), Path(path).name, place, data[at : at + size])
        at += size


class Disk:
    """What is on the disk for certain, and what may be."""

    def __init__(self) -> None:
        self.sure: dict[str, bytearray] = {}
        self.bytes: dict[str, bytearray] = {}
        """Synced contents by name, whether or not the directory knows the name for certain."""
        self.pending: dict[str, list[Event]] = {}
        self.names: list[Event] = []

    def take(self, event: Event) -> None:
        """Let a call happen."""
        match event.kind:
            case "c":
                if event.path not in self.bytes:
                    self.bytes[event.path] = bytearray()
                    self.names.append(event)
            case "w" | "t":
                self.pending.setdefault(event.path, []).append(event)
            case "s":
                for each in self.pending.pop(event.path, []):
                    _apply(self.bytes.setdefault(event.path, bytearray()), each, None)
            case "u" | "r":
                self.names.append(event)
            case "d":
                self.sure = self._after([True] * len(self.names))
                self.bytes = {name: self.bytes.get(name, data) for name, data in self.sure.items()}
                self.names.clear()

    def _after(self, happened: list[bool]) -> dict[str, bytearray]:
        """Return the names in the directory when some of its changes happened."""
        known = {name: self.bytes.get(name, data) for name, data in self.sure.items()}
        for event, done in zip(self.names, happened, strict=True):
            if not done:
                continue
            if event.kind == "c":
                known[event.path] = self.bytes.get(event.path, bytearray())
            elif event.kind == "u":
                known.pop(event.path, None)
            elif event.path in known:
                known[Path(event.data.decode()).name] = known.pop(event.path)
        return known

    def cut(self, folder: Path, random: Random) -> None:
        """Write what a power cut at this moment may leave."""
        known = self._after([random.random() < 0.5 for _ in self.names])
        for name, data in known.items():
            left = bytearray(data)
            for event in self.pending.get(name, []):
                _apply(left, event, random)
            (folder / name).write_bytes(left)


def _apply(data: bytearray, event: Event, random: Random | None) -> None:
    if event.kind == "t":
        if random is None or random.random() < 0.5:
            size = event.place
            data[:] = data[:size] + bytes(max(0, size - len(data)))
        return
    start = 0
    while start < len(event.data):
        end = min(len(event.data), start + SECTOR - (event.place + start) % SECTOR)
        if random is None or random.random() < 0.5:
            place = event.place + start
            data.extend(bytes(max(0, place + end - start - len(data))))
            data[place : place + end - start] = event.data[start:end]
        start = end


def _saves(shelf: Scope, random: Random) -> None:
    shelf.save(f"n{random.randrange(6)}", "plan", f"{random.random()} " * random.randrange(1, 300))


def _mixed(shelf: Scope, random: Random) -> None:
    any_write(shelf, random, "one")


def _sweeping(shelf: Scope, random: Random) -> None:
    """Change many memories at once, and back."""
    dice = random.random()
    if dice < 0.3 and len(shelf.list()):
        shelf.clear()
    elif dice < 0.6:
        shelf.undo()
    else:
        _saves(shelf, random)


MIXES: Final[dict[str, Callable[[Scope, Random], None]]] = {
    "saves": _saves,
    "saves, replaces, moves, reorders, deletes": _mixed,
    "clears, undos and saves": _sweeping,
}


def cuts(mix: str, number: int, verbs: int, *, durability: str = "full") -> Counter[str]:
    """Cut the power so often during a mix of verbs; return what was found afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder, record = Path(name, "disk"), Path(name, "record")
        folder.mkdir()

        def live(tell: Callable[[str], None]) -> None:
            device, random = Device(), Random(mix)
            device.watch(folder)
            device.record(record)
            with MemoryStore(folder / "m.db", durability=durability) as store:
                shelf = shelf_of(store)
                numbers = count()

                def mark() -> None:
                    tell(json.dumps(state(shelf)))
                    device.mark(next(numbers))

                mark()
                fill(shelf, mark)
                for _ in range(verbs):
                    MIXES[mix](shelf, random)
                    mark()

        child, pipe = forked(live)
        lines = told(pipe)
        os.waitpid(child, 0)
        if lines and lines[-1].startswith("failed"):
            raise RuntimeError(lines[-1])
        return _judged(list(events(record)), [json.loads(line) for line in lines], number)


def _judged(record: list[Event], states: list[State], number: int) -> Counter[str]:
    random = Random(number)
    moments = sorted(random.randrange(1, len(record) + 1) for _ in range(number))
    found: Counter[str] = Counter()
    disk, done, acknowledged = Disk(), 0, -1
    for moment in moments:
        for event in record[done:moment]:
            if event.kind == "m":
                acknowledged = event.place
            else:
                disk.take(event)
        done = moment
        folder = Path(tempfile.mkdtemp())
        disk.cut(folder, random)
        found[_judge(folder, states, acknowledged)] += 1
        shutil.rmtree(folder)
    return found


def _judge(folder: Path, states: list[State], acknowledged: int) -> str:
    """Say what became of a store; "whole" is an old or a new state, with all that was promised."""
    path = folder / "m.db"
    if acknowledged >= 0 and not path.exists():
        return "lost file"
    try:
        with MemoryStore(path) as store:
            if store.verify():
                return "corrupt"
            now = state(shelf_of(store))
    except MemoriesError as error:
        return f"corrupt: {error.code}"
    if acknowledged < 0:
        return "whole"
    if now in states[acknowledged : acknowledged + 2]:
        return "whole"
    return "without all acknowledged saves" if now in states else "partial"
