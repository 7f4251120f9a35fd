"""Measure recall for a prompt beside FTS5 and LangGraph's store: `python -m bench.search`.

All answer the same prompts on the same texts in turn, so a machine that slows down slows them all.
Times are CPU milliseconds, medians. The texts are made: common words as often as they are in
English, and invented words as rare as names.
"""

from __future__ import annotations

import argparse
import itertools
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final

from bench.retrieval_adapter import fts5_or, fts5_stop
from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore

from memories_sdk import MemoryStore, Scope
from memories_sdk.search.common_words import COMMON, EMPTY, FREQUENT

SIZES: Final = (1_000, 10_000, 100_000)
SHELVES: Final = 20_000
PER_SHELF: Final = 50
WORDS: Final = 18
LONG: Final = 330
QUESTION: Final = 8
PROMPT: Final = 100
ROUNDS: Final = 25
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
        print("| prompt | ours, warm | ours, cold | FTS5 | FTS5 without stop words | LangGraph |")
        print("|---|---|---|---|---|---|")
        peers = {
            "warm": shelf.relevant_for_prompt,
            "cold": _cold(file),
            "or": _fts5(fts5_or(), bodies),
            "stop": _fts5(fts5_stop(), bodies),
            "langgraph": _langgraph(folder / f"{size}-langgraph.db", bodies),
        }
        for title, words in (("question", QUESTION), (f"{PROMPT} words", PROMPT)):
            prompts = [texts.text(words) for _ in range(ROUNDS)]
            times = _measured(peers, prompts)
            print(f"| {title} | " + " | ".join(f"{times[peer]:.2f}" for peer in peers) + " |")


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


def _cold(file: Path) -> Find:
    """Answer as the first call of a store that was just opened; opening it is not counted."""
    fresh = [_shelf(MemoryStore(file)) for _ in range(2 * ROUNDS)]
    return lambda prompt: fresh.pop().relevant_for_prompt(prompt)


def _fts5(plain: object, bodies: Sequence[str]) -> Find:
    plain.load(  # type: ignore[attr-defined]
        [
            {"id": str(n), "type": "context", "name": f"m{n}", "text": b}
            for n, b in enumerate(bodies)
        ]
    )
    return lambda prompt: plain.recall(prompt, 8, 1200)  # type: ignore[attr-defined]


def _langgraph(file: Path, bodies: Iterable[str]) -> Find:
    connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    store = SqliteStore(connection)
    store.setup()
    items = (PutOp(("reader",), f"m{n}", {"text": body}) for n, body in enumerate(bodies))
    while some := list(itertools.islice(items, 1_000)):
        store.batch(some)
    return lambda prompt: store.search(("reader",), query=prompt, limit=8)


def _measured(peers: dict[str, Find], prompts: Sequence[str]) -> dict[str, float]:
    times: dict[str, list[float]] = {peer: [] for peer in peers}
    for number, prompt in enumerate(prompts):
        names = list(peers)
        names = names[number % len(names) :] + names[: number % len(names)]
        for name in names:
            start = time.thread_time()
            peers[name](prompt)
            times[name].append(time.thread_time() - start)
    return {name: statistics.median(each) * 1e3 for name, each in times.items()}


def _bytes(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return file.stat().st_size


if __name__ == "__main__":
    main()
