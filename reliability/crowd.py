"""Sixteen programs on one file; a checker replays what the history says against what they did."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from memories_sdk import MemoriesError, MemoryStore, Scope
from memories_sdk.history import Revision
from reliability.device import forked, told
from reliability.lives import any_write, hash_of, shelf_of


@dataclass
class Crowd:
    """What many programs did at the same time.

    Attributes:
        times: Milliseconds, by what was done, sorted.
        errors: What reached a caller, by code.
        wrong: What the checker found, one line each.
    """

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    writes: int = 0
    revisions: int = 0

    def percentile(self, what: str, share: float) -> float:
        """Return the time within which so many were done."""
        times = self.times.get(what) or [0.0]
        return times[min(len(times) - 1, int(len(times) * share))]


def crowd(programs: int, seconds: float) -> Crowd:
    """Let programs write and read on one shelf for a while, then check."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "m.db")
        with MemoryStore(path) as store:
            shelf_of(store).save("n0", "plan", "x")
        end = time.time() + seconds
        children = [forked(_life(path, number, end)) for number in range(programs)]
        result = Crowd()
        acknowledged: list[tuple[str, int, str]] = []
        for child, pipe in children:
            for line in told(pipe):
                if line.startswith("failed"):
                    result.wrong.append(line)
                    continue
                told_all = json.loads(line)
                for what, times in told_all["times"].items():
                    result.times.setdefault(what, []).extend(times)
                result.errors.update(told_all["errors"])
                acknowledged += [tuple(each) for each in told_all["done"]]
            os.waitpid(child, 0)
        for times in result.times.values():
            times.sort()
        with MemoryStore(path) as store:
            result.writes = len(acknowledged)
            result.wrong += [str(each) for each in store.verify()]
            _replay(shelf_of(store), acknowledged, result)
        return result


def _life(path: Path, number: int, end: float) -> Callable[[Callable[[str], None]], None]:
    def live(tell: Callable[[str], None]) -> None:
        random = Random(number)
        times: dict[str, list[float]] = {"read": [], "write": []}
        errors: Counter[str] = Counter()
        done = []
        with MemoryStore(path) as store:
            shelf = shelf_of(store)
            while time.time() < end:
                what = "read" if random.random() < 0.4 else "write"
                start = time.perf_counter()
                try:
                    if what == "read":
                        heads = shelf.list()
                        if len(heads):
                            shelf.get_by_id(random.choice(list(heads)).id)
                    elif (write := any_write(shelf, random, str(number))) is not None:
                        done.append((write[0], write[1], hash_of(write[2])))
                except MemoriesError as error:
                    if error.code != "not_found":
                        errors[error.code] += 1
                times[what].append(round((time.perf_counter() - start) * 1000, 2))
        tell(json.dumps({"times": times, "errors": errors, "done": done}))

    return live


def _replay(shelf: Scope, acknowledged: list[tuple[str, int, str]], result: Crowd) -> None:
    """Compare what callers were told with what the history says, version by version."""
    by_memory: dict[str, list[Revision]] = {}
    since = 0
    while page := shelf.changes(since=since):
        for each in page:
            result.revisions += 1
            if each.memory_id is not None and each.action != "move":
                by_memory.setdefault(str(each.memory_id), []).append(each)
        since = page[-1].seq
    told_of = Counter((id, version) for id, version, _ in acknowledged)
    bodies = {(id, version): body for id, version, body in acknowledged}
    result.wrong += [f"told twice: {key}" for key, times in told_of.items() if times > 1]
    for id, revisions in by_memory.items():
        versions = [each.version for each in revisions]
        if versions != list(range(1, len(versions) + 1)):
            result.wrong.append(f"versions of {id}: {versions[:20]}")
        result.wrong += _other_bodies(shelf, id, revisions, bodies)
    made = {(id, each.version) for id, revisions in by_memory.items() for each in revisions}
    result.wrong += [f"lost: {key}" for key in told_of if key not in made]
    extra = len(made) - len(told_of) - 1  # the first one was made before they began
    if extra:
        result.wrong.append(f"{extra} changes that nobody was told of")


def _other_bodies(
    shelf: Scope, id: str, revisions: list[Revision], bodies: dict[tuple[str, int], str]
) -> Iterator[str]:
    """Yield the versions that hold something else than their writers were told."""
    for each, following in zip(revisions, [*revisions[1:], None], strict=True):
        expected = bodies.get((id, each.version))
        if expected is not None and each.action != "delete":
            found = _body_after(shelf, id, following)
            if found is not None and hash_of(found) != expected:
                yield f"another body at version {each.version} of {id}"


def _body_after(shelf: Scope, id: str, following: Revision | None) -> str | None:
    """Return the body that a revision left, where its follower or the present says it."""
    if following is None:
        return shelf.get_by_id(id).content
    content = following.before.get("content")
    return content if isinstance(content, str) else None
