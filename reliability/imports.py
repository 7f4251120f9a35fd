"""Kills an import again and again, and resumes it until it is through."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from memories_sdk import MemoryStore
from reliability.lives import shelf_of

IMPORT = """
import sys
from memories_sdk import MemoryStore
from memories_sdk.importers import jsonl
from reliability.lives import shelf_of

with MemoryStore(sys.argv[1]) as store:
    told = lambda done, total: print(done, flush=True)
    report = jsonl.bring_in(shelf_of(store), sys.argv[2], conflict="rename", progress=told)
    print(*(f"{fate}={count}" for fate, count in report.counts.items()))
"""


@dataclass
class Import:
    """What became of an import that was killed and resumed.

    Attributes:
        records: How many the file has.
        reached: Records that each killed run had told of.
        counts: What the last run said of the records.
        here: Memories afterwards.
        revisions: Changes that the history has afterwards.
        names: Different names afterwards: as many as records when none came twice or is missing.
        damaged: What `verify` found.
        peak: Most memory of a run, in mebibytes.
    """

    records: int
    reached: list[int] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    here: int = 0
    revisions: int = 0
    names: int = 0
    damaged: int = 0
    peak: int = 0


def killed_imports(records: int, kills: int) -> Import:
    """Import so many records, killed so many times on the way, and look at what is there."""
    random, result = Random(records), Import(records)
    with tempfile.TemporaryDirectory() as name:
        path, store = Path(name, "in.jsonl"), Path(name, "m.db")
        _write(path, records)
        for number in range(kills):
            # Somewhere in its share of the file: the signal falls into whatever batch is under way.
            share = (number + random.random()) / kills
            _run(store, path, result, stop=max(1, int(share * records)))
        _run(store, path, result, stop=None)
        _look(store, result)
    return result


def _write(path: Path, records: int) -> None:
    sentence = "The tide gauge was read at noon. "
    with path.open("w", encoding="utf-8") as file:
        file.write('{"format": "memories-sdk", "version": 1}\n')
        for number in range(records):
            content = f"# Note {number}\n\n{sentence * (number % 20)}"
            record = {"kind": "memory", "type": "plan", "name": f"record {number}"}
            file.write(json.dumps(record | {"content": content, "order": number}) + "\n")


def _run(store: Path, path: Path, result: Import, stop: int | None) -> None:
    """Run the import in a program of its own, killed once it tells of so many records."""
    program = [sys.executable, "-c", IMPORT, str(store), str(path)]
    child = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    last, told = 0, ""
    with child.stdout or sys.exit("no pipe") as pipe:
        for line in pipe:
            told = line
            last = int(line) if line.strip().isdigit() else last
            if stop is not None and last >= stop:
                child.send_signal(signal.SIGKILL)
                stop = None
                result.reached.append(last)
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0  # it was waited for here, to learn what it used
    result.peak = max(result.peak, usage.ru_maxrss // 1024)
    result.counts = Counter()
    for pair in told.split() if "=" in told else ():
        fate, _, count = pair.partition("=")
        result.counts[fate] = int(count)


def _look(path: Path, result: Import) -> None:
    with MemoryStore(path) as store:
        shelf = shelf_of(store)
        result.damaged = len(store.verify())
        names: set[str] = set()
        cursor: str | None = None
        while True:
            page = shelf.list(limit=500, cursor=cursor)
            names.update(each.name for each in page)
            if (cursor := page.next_cursor) is None:
                break
        result.here, result.names = page.total, len(names)
        since = 0
        while changes := shelf.changes(since=since, limit=500):
            result.revisions += len(changes)
            since = changes[-1].seq
