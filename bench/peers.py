"""What recall is compared with: FTS5 as one would write it, and LangGraph's store."""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Final

from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from memories_sdk.search.common_words import EMPTY

LIMIT: Final = 8
BUDGET: Final = 1200
DIMENSIONS: Final = 32
"""Numbers in a vector: a model's have ten times as many, and would take as much longer."""

_AT_ONCE: Final = 1_000
_EMPTY: Final = frozenset(EMPTY.split())

Find = Callable[[str], object]


def filled(folder: Path, bodies: Sequence[str]) -> dict[str, Callable[[], Find]]:
    """Put the texts into a file for each peer; return by its name what opens it."""
    size = len(bodies)
    index, plain = (folder / f"{size}-{name}.db" for name in ("fts5", "langgraph"))
    _fill_fts5(index, bodies)
    _fill_langgraph(_on_disk(plain), bodies)
    vectors = InMemoryStore(index={"dims": DIMENSIONS, "embed": _embed, "fields": ["text"]})
    _fill_langgraph(vectors, bodies)
    return {
        "FTS5, OR": partial(_fts5, index, frozenset()),
        "FTS5, OR, no stop words": partial(_fts5, index, _EMPTY),
        "LangGraph, newest": partial(_langgraph, partial(_on_disk, plain)),
        "LangGraph, vectors": partial(_langgraph, lambda: vectors),
    }


def _fill_fts5(file: Path, bodies: Sequence[str]) -> None:
    connection = _connection(file)
    connection.execute("CREATE VIRTUAL TABLE docs USING fts5(name, body, tokenize='porter')")
    connection.execute("BEGIN")
    rows = ((f"m{number}", body) for number, body in enumerate(bodies))
    connection.executemany("INSERT INTO docs VALUES (?, ?)", rows)
    connection.execute("COMMIT")
    connection.close()


def _fts5(file: Path, drop: frozenset[str]) -> Find:
    connection = _connection(file)

    def find(prompt: str) -> str:
        words = dict.fromkeys(re.findall(r"\w+", prompt.lower()))
        telling = [word for word in words if word not in drop] or list(words)
        match = " OR ".join(f'"{word}"' for word in telling)
        rows = connection.execute(
            "SELECT name, body FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?", (match, LIMIT)
        ).fetchall()
        lines: list[str] = []
        for name, body in rows:
            more = json.dumps([*lines, f"[context/{name}] {body}"], ensure_ascii=False)
            if len(more) <= BUDGET:
                lines.append(f"[context/{name}] {body}")
        return json.dumps(lines, ensure_ascii=False)

    return find


def _fill_langgraph(store: BaseStore, bodies: Iterable[str]) -> None:
    items = (PutOp(("reader",), f"m{n}", {"text": body}) for n, body in enumerate(bodies))
    while some := list(itertools.islice(items, _AT_ONCE)):
        store.batch(some)


def _langgraph(store: Callable[[], BaseStore]) -> Find:
    opened = store()
    return lambda prompt: opened.search(("reader",), query=prompt, limit=LIMIT)


def _on_disk(file: Path) -> SqliteStore:
    store = SqliteStore(_connection(file))
    store.setup()
    return store


def _connection(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL").fetchone()
    return connection


_known: dict[str, list[float]] = {}


def _embed(texts: Sequence[str]) -> list[list[float]]:
    """Return the sum of a random vector for each word."""
    return [[sum(each) for each in zip(*map(_vector, text.split()), strict=True)] for text in texts]


def _vector(word: str) -> list[float]:
    if word not in _known:
        random = Random(blake2b(word.encode()).digest())  # noqa: S311 -- not for secrets
        _known[word] = [random.uniform(-1, 1) for _ in range(DIMENSIONS)]
    return _known[word]
