"""Measure recall for a prompt beside FTS5 and LangGraph's store: `python -m bench.search`.

All answer the same prompts on the same texts in turn, so a machine that slows down slows them all.
Times are CPU milliseconds, medians. The texts are made: common words as often as they are in
English, and invented words as rare as names.

Each peer keeps the texts in a file of its own and gives what a prompt needs: the best eight. FTS5
writes them down within the budget, as we do. LangGraph's store is measured twice: on SQLite as it
comes, where it reads none of the words and returns the newest, and in memory with vectors, for
which a sum of random ones stands in for a model that would take longer. "Cold" is the first call
of a store that was just opened.
"""

from __future__ import annotations

import argparse
import itertools
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from bench import peers

from memories_sdk import MemoryStore, Scope
from memories_sdk.search.common_words import COMMON, EMPTY, FREQUENT

SIZES: Final = (1_000, 10_000, 100_000)
SHELVES: Final = 20_000
PER_SHELF: Final = 50
WORDS: Final = 18
LONG: Final = 290
QUESTION: Final = 8
PROMPT: Final = 100
ROUNDS: Final = 45
WARMING: Final = 20
_SYLLABLES: Final = (
    "ba",
    "ke",
    "li",
    "mo",
    "nu",
    "ra",
    "se",
    "ti",
    "vo",
    "zu",
    "dra",
    "plen",
    "sk",
)

Find = Callable[[str], object]


class Texts:
    """Texts that follow Zipf's law, the same in every run."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 -- not for secrets
        rare = ("".join(each) for each in itertools.product(_SYLLABLES, repeat=4))
        self._words = [
            *EMPTY.split(),
            *FREQUENT.split(),
            *COMMON.split(),
            *itertools.islice(rare, 20_000),
        ]
        self._weights = list(
            itertools.accumulate(1 / (rank + 8) for rank in range(len(self._words)))
        )

    def text(self, words: int) -> str:
        """Return a text of so many words."""
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=words))


def main() -> None:
    """Print one table for each thing measured."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="without the large stores")
    arguments.add_argument("--million", action="store_true", help="also 20,000 shelves of 50")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for size in SIZES[:2] if given.quick else SIZES:
            one_shelf(Path(name), size)
        upkeep(Path(name))
        if given.million:
            many_shelves(Path(name))


def one_shelf(folder: Path, size: int) -> None:
    """Compare on one shelf of so many short memories."""
    texts = Texts(size)
    bodies = [texts.text(WORDS) for _ in range(size)]
    file = folder / f"{size}.db"
    with MemoryStore(file, durability="process") as store:
        shelf = _shelf(store)
        for number, body in enumerate(bodies):
            shelf.save(f"m{number}", "context", body)
        before = _bytes(file)
        start = time.process_time()
        shelf.search("first")
        indexed = time.process_time() - start
        print(
            f"\n{size:,} memories on one shelf; index {(_bytes(file) - before) / size:.0f} bytes"
            f" and {indexed / size * 1e3:.2f} ms a memory\n"
        )
    openers = {"ours": partial(_ours, file), **peers.filled(folder, bodies)}
    print(f"| prompt | {' | '.join(openers)} |")
    print(f"|---|{'--:|' * len(openers)}")
    warm = {name: opener() for name, opener in openers.items()}
    for title, words in (("question", QUESTION), (f"{PROMPT} words", PROMPT)):
        prompts = [texts.text(words) for _ in range(ROUNDS)]
        for prompt in prompts[:WARMING]:
            for find in warm.values():
                find(prompt)
        _row(f"{title}, warm", _measured(warm, prompts[WARMING:]))
        cold = {name: _anew(opener) for name, opener in openers.items()}
        _row(f"{title}, cold", _measured(cold, prompts[:WARMING]))


def upkeep(folder: Path) -> None:
    """Print what the index costs for memories of two kilobytes, also right after a save."""
    texts = Texts(1)
    file = folder / "upkeep.db"
    with MemoryStore(file, durability="process") as store:
        shelf = _shelf(store)
        for number in range(2_000):
            shelf.save(f"m{number}", "context", texts.text(LONG))
        start = time.process_time()
        shelf.search("first")
        each = (time.process_time() - start) / 2_000 * 1e3
        after = []
        for number in range(ROUNDS):
            shelf.save(f"m{number}", "context", texts.text(LONG))
            start = time.process_time()
            shelf.relevant_for_prompt(texts.text(QUESTION))
            after.append(time.process_time() - start)
    print(
        f"\nUpkeep: {each:.2f} ms a memory of {LONG} words; recall right after a save:"
        f" {statistics.median(after) * 1e3:.2f} ms"
    )


def many_shelves(folder: Path) -> None:
    """Print the times on one of many shelves."""
    texts = Texts(2)
    file = folder / "million.db"
    bodies = [texts.text(WORDS) for _ in range(1_000)]
    with MemoryStore(file, durability="process") as store:
        for name in ("first", "other"):
            shelf = _shelf(store, name)
            for number in range(PER_SHELF):
                shelf.save(f"m{number}", "context", bodies[number])
        _fill(file)
        cold, warm = [], []
        for _ in range(ROUNDS):
            with MemoryStore(file) as fresh:
                shelf = _shelf(fresh, "other")
                for times in (cold, warm):
                    prompt = texts.text(QUESTION)
                    start = time.process_time()
                    shelf.relevant_for_prompt(prompt)
                    times.append(time.process_time() - start)
        with closing(sqlite3.connect(file)) as connection:
            rows = connection.execute("SELECT count(*) FROM memories").fetchone()[0]
    print(
        f"\n{rows:,} memories on {SHELVES:,} shelves: recall on one of them"
        f" {statistics.median(cold) * 1e3:.2f} ms cold, {statistics.median(warm) * 1e3:.2f} ms warm"
    )


def _fill(file: Path) -> None:
    """Copy the first shelf until there are as many as wanted, by plain SQL."""
    with closing(sqlite3.connect(file)) as connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(memories)")]
        own = [name for name in names if name not in {"row", "id", "scope_key", "principal_id"}]
        columns = ", ".join(own)
        connection.execute(
            "WITH RECURSIVE n(v) AS (VALUES (1) UNION ALL SELECT v + 1 FROM n WHERE v < ?)"
            " INSERT INTO principals (kind, name, created_at) SELECT 'user', 'u' || v, 0 FROM n",
            (SHELVES - 2,),
        )
        connection.execute(
            f"INSERT INTO memories (id, scope_key, principal_id, {columns})"  # noqa: S608 -- own names
            f" SELECT randomblob(16), 'global:' || p.id, p.id, {', '.join(f'm.{c}' for c in own)}"
            " FROM principals p, memories m"
            " WHERE m.scope_key = 'global:1' AND p.name LIKE 'u%'"
        )
        connection.execute(
            "INSERT INTO memory_bodies (row, content, sha256)"
            " SELECT m.row, b.content, b.sha256 FROM memories m"
            " JOIN memories f ON f.scope_key = 'global:1' AND f.type = m.type AND f.name = m.name"
            " JOIN memory_bodies b ON b.row = f.row"
            " WHERE m.row NOT IN (SELECT row FROM memory_bodies)"
        )
        connection.commit()


def _shelf(store: MemoryStore, name: str = "reader") -> Scope:
    return store.scope(acting_as=store.principals.user(name))


def _ours(file: Path) -> Find:
    shelf = _shelf(MemoryStore(file))
    return lambda prompt: shelf.relevant_for_prompt(prompt).as_context()


def _anew(opener: Callable[[], Find]) -> Find:
    """Answer each prompt as the first of a store that was just opened; opening is not counted."""
    fresh = [opener() for _ in range(WARMING)]

    def find(prompt: str) -> object:
        return fresh.pop()(prompt)

    return find


def _row(title: str, times: dict[str, float]) -> None:
    print(f"| {title} | " + " | ".join(f"{each:.2f}" for each in times.values()) + " |", flush=True)


def _measured(finders: dict[str, Find], prompts: Sequence[str]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in finders}
    for number, prompt in enumerate(prompts):
        names = list(finders)
        names = names[number % len(names) :] + names[: number % len(names)]
        for name in names:
            start = time.thread_time()
            finders[name](prompt)
            times[name].append(time.thread_time() - start)
    return {name: statistics.median(each) * 1e3 for name, each in times.items()}


def _bytes(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return file.stat().st_size


if __name__ == "__main__":
    main()
