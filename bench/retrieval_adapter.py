"""Lets the retrieval harness of the shared material run on this package, and on plain baselines.

    python $MEMORIES_SHARED/retrieval/evaluate.py --adapter bench.retrieval_adapter:factory

`factory` is the package as it comes, `semantic` with the model of that extra. The rest are what one
would write without it: `fts5_or` and `fts5_stop` (SQLite's index with Porter stems, all words or
all but joining ones), `like_any`, `minilm` (the same model alone) and `rrf` (its ranks and those of
`fts5_stop` fused).
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Final

from memories_sdk import MemoryStore, Vocabulary
from memories_sdk.search.common_words import EMPTY
from memories_sdk.search.embedding import Embedder

if TYPE_CHECKING:
    import numpy as np

Document = Mapping[str, str | None]

DEPTH: Final = 100
"""Documents of each ranking that are fused."""

RRF: Final = 60
"""What is added to each rank, as its authors do."""

_UNDATED: Final = datetime(2026, 1, 1, tzinfo=UTC)
_SIGNS: Final = ".:;,-+="
_CHINESE_DATE: Final = re.compile(r"(\d{4})年(\d\d)月(\d\d)日\D*(\d\d):(\d\d)")


class Package:
    """The package's own search and recall, on a store in memory."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._now = _UNDATED
        self._store: MemoryStore | None = None

    def load(self, documents: Sequence[Document]) -> None:
        """Save the documents, each at the time it bears.

        Names must differ within a type: a suffix of punctuation, which is no word, sees to it.
        """
        types = dict.fromkeys(str(each["type"]) for each in documents)
        vocabulary = Vocabulary("set", {type: type for type in types})
        self._store = MemoryStore(
            ":memory:",
            vocabularies=(vocabulary,),
            clock=lambda: self._now,
            embedder=self._embedder,
        )
        self._shelf = self._store.scope(acting_as=self._store.principals.user("reader"))
        self._ids: dict[object, str] = {}
        taken: dict[tuple[str, str], int] = {}
        for each in documents:
            type, name = str(each["type"]), str(each["name"] or "")[:180].strip()
            taken[type, name] = number = taken.get((type, name), -1) + 1
            self._now = moment(each["t"])
            saved = self._shelf.save(
                f"{name} {_marks(number)}" if number or not name else name, type, str(each["text"])
            )
            self._ids[saved.memory.id] = str(each["id"])

    def search(self, query: str, limit: int) -> list[str]:
        """Return the ids of the best hits."""
        return [self._ids[hit.memory.id] for hit in self._shelf.search(query, limit=limit)]

    def recall(self, prompt: str, limit: int, max_chars: int) -> tuple[list[str], str]:
        """Return what would enter the prompt."""
        recall = self._shelf.relevant_for_prompt(prompt, limit, max_chars)
        return [self._ids[item.memory.id] for item in recall.items], recall.as_context()

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()


class Plain:
    """A table and a query: what the package is compared with.

    Recall puts the newest of equal scores first and fills the prompt with whole lines, cut at 220
    characters, until one does not fit.
    """

    def __init__(self, words: str, *, drop: frozenset[str] = frozenset()) -> None:
        self._how = words
        self._drop = drop

    def load(self, documents: Sequence[Document]) -> None:
        """Fill an index, or a table."""
        self._db = sqlite3.connect(":memory:")
        self._lines = {
            str(each["id"]): f"[{each['type']}/{each['name']}] {each['text']}" for each in documents
        }
        self._db.execute(
            "CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, body, tokenize='porter')"
        )
        self._db.executemany(
            "INSERT INTO docs VALUES (?, ?)",
            [(str(each["id"]), f"{each['name']} {each['text']}") for each in documents],
        )

    def search(self, query: str, limit: int) -> list[str]:
        """Return the ids of the best matches."""
        words = dict.fromkeys(re.findall(r"\w+", query.lower()))
        words = [word for word in words if word not in self._drop] or list(words)
        if not words:
            return []
        if self._how == "like":
            test = " + ".join(["(body LIKE '%' || ? || '%')"] * len(words))
            sql = f"SELECT id, {test} AS n FROM docs WHERE n ORDER BY n DESC, rowid DESC LIMIT ?"  # noqa: S608 -- marks alone
            return [row[0] for row in self._db.execute(sql, [*words, limit])]
        match = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT id FROM docs WHERE docs MATCH ? ORDER BY rank, rowid DESC LIMIT ?"
        return [row[0] for row in self._db.execute(sql, (match, limit))]

    def recall(self, prompt: str, limit: int, max_chars: int) -> tuple[list[str], str]:
        """Return the best lines until one does not fit."""
        chosen, text = [], ""
        for id in self.search(prompt, limit):
            line = self._lines[id]
            line = line if len(line) <= 220 else f"{line[:217]}..."  # noqa: PLR2004 -- the seed's cut
            if len(text) + len(line) + 1 > max_chars:
                break
            chosen.append(id)
            text += f"{line}\n"
        return chosen, text

    def close(self) -> None:
        """Close the database."""
        self._db.close()


class Dense(Plain):
    """The model's vectors alone, or their ranks fused with those of an index."""

    def __init__(self, *, fused: bool) -> None:
        super().__init__("fts5", drop=frozenset(EMPTY.split()))
        self._fused = fused

    def load(self, documents: Sequence[Document]) -> None:
        """Embed the documents, the newest last, and fill the index."""
        super().load(documents)
        self._ids = [str(each["id"]) for each in documents]
        texts = [f"{each['name']} {each['text']}" for each in documents]
        self._vectors = _unit(_minilm().embed(texts, kind="memory"))

    def search(self, query: str, limit: int) -> list[str]:
        """Return the ids of the nearest, or of those with the best ranks together."""
        likeness = self._vectors @ _unit(_minilm().embed([query], kind="query"))[0]
        nearest = [self._ids[place] for place in likeness.argsort()[::-1][:DEPTH]]
        if not self._fused:
            return nearest[:limit]
        scores: defaultdict[str, float] = defaultdict(float)
        for ranking in (nearest, super().search(query, DEPTH)):
            for rank, id in enumerate(ranking, 1):
                scores[id] += 1 / (RRF + rank)
        return sorted(scores, key=lambda id: -scores[id])[:limit]


def factory() -> Package:
    """Return the package's own search and recall."""
    return Package()


def semantic() -> Package:
    """Return the package with the model of its extra `semantic`."""
    return Package(_minilm())


@cache
def _minilm() -> Embedder:
    # The other adapters run without the extra.
    from memories_sdk.semantic import MiniLM  # noqa: PLC0415

    return MiniLM()


def _unit(vectors: Iterable[Iterable[float]]) -> np.ndarray:
    """Return vectors of length 1; those of length 0 stay."""
    import numpy as np  # noqa: PLC0415 -- as MiniLM above

    rows = np.array([list(each) for each in vectors], dtype=np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def fts5_or() -> Plain:
    """Return FTS5 with Porter stems, any word of the query."""
    return Plain("fts5")


def fts5_stop() -> Plain:
    """Return the same without the words that only join others."""
    return Plain("fts5", drop=frozenset(EMPTY.split()))


def minilm() -> Dense:
    """Return the model of the extra alone."""
    return Dense(fused=False)


def rrf() -> Dense:
    """Return that model and FTS5, their ranks fused."""
    return Dense(fused=True)


def like_any() -> Plain:
    """Return a count of the query's words, found as substrings."""
    return Plain("like", drop=frozenset(EMPTY.split()))


def moment(text: str | None) -> datetime:
    """Return the time of a document; one without a time gets the same as all such."""
    if text and (match := _CHINESE_DATE.search(text)):
        return datetime(*map(int, match.groups()), tzinfo=UTC)  # type: ignore[arg-type, misc]
    with suppress(ValueError):
        found = datetime.fromisoformat(text or "")
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return _UNDATED


def _marks(number: int) -> str:
    marks = _SIGNS[number % len(_SIGNS)]
    while number := number // len(_SIGNS):
        marks += _SIGNS[number % len(_SIGNS)]
    return marks
