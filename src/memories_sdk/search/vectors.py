"""What the memories of a shelf mean: one vector each, made by the user's embedder when needed.

A save makes none. The next search embeds what it finds new, in short transactions, and keeps the
vectors in the file beside the memories, where a delete takes them along. Eight bits a number are
enough: they change no ranking.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memories_sdk.database import Connection, Database
from memories_sdk.errors import InvalidInput, StoreBusy, StoreReadOnly
from memories_sdk.search import stored_vectors, word_index
from memories_sdk.search.embedding import Embedder, Kind
from memories_sdk.search.kept import Recent
from memories_sdk.search.stored_vectors import Stored

CHANCE: Final = 0.1
"""Cosine of texts that have nothing to do with each other, about: it says nothing."""

_REST: Final = 1 - CHANCE

BATCH: Final = 64
"""Memories that are embedded before they are stored."""

KEPT: Final = 8
"""Shelves whose vectors are kept in memory."""

Matrix = NDArray[np.float32]


class Near(NamedTuple):
    """How near each memory of a shelf comes to a query.

    Attributes:
        places: Row to its place in `cosines`.
    """

    places: dict[int, int]
    cosines: Matrix

    def of(self, row: int) -> float:
        """Return how near one memory is, from 0 to 1."""
        place = self.places.get(row)
        return 0.0 if place is None else max(float(self.cosines[place]) - CHANCE, 0.0) / _REST

    def above(self, least: float, most: int) -> list[int]:
        """Return the rows that are at least so near, the nearest first, and at most so many."""
        places = np.flatnonzero(self.cosines >= least)
        best = places[np.argsort(-self.cosines[places], kind="stable")[:most]]
        rows = list(self.places)
        return [rows[place] for place in best.tolist()]


class _Shelf(NamedTuple):
    """The vectors of a shelf in memory, at one of its revisions."""

    seq: int
    stored: dict[int, Stored]
    places: dict[int, int]
    matrix: Matrix


class Vectors:
    """The vectors of the shelves of one database by one embedder. Safe between threads."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._kept: Recent[str, _Shelf] = Recent(KEPT)

    def ready(self, scope_key: str, seq: int) -> bool:
        """Whether the vectors of a shelf are known as of one of its revisions."""
        kept = self._kept.get(scope_key)
        return kept is not None and kept.seq == seq

    def prepare(self, scope_key: str) -> None:
        """Embed and store what is new on a shelf, as far as nobody else writes."""
        with suppress(StoreBusy, StoreReadOnly):
            self._bring_up(scope_key)

    def near(self, connection: Connection, scope_key: str, text: str) -> Near | None:
        """Return how near the memories of a shelf come to a text, as the connection sees them.

        None for a text that means nothing to the model: a vector of length 0.
        """
        query = _unit(self._embed([text], "query"))[0]
        if not query.any():
            return None
        shelf = self._shelf(connection, scope_key)
        return Near(shelf.places, shelf.matrix @ query)

    def _bring_up(self, scope_key: str) -> None:
        with self._database.read(snapshot=True) as connection:
            kept = self._kept.get(scope_key)
            if kept is not None and kept.seq == word_index.last_change(connection, scope_key):
                return
            stored = self._stored(connection, scope_key)
            stale = stored_vectors.stale(connection, scope_key, stored)
        for start in range(0, len(stale), BATCH):
            with self._database.read(snapshot=True) as connection:
                fresh = self._fresh(connection, scope_key, stale[start : start + BATCH], stored)
            with self._database.write(shelf=scope_key, patience=word_index.PATIENCE) as connection:
                stored_vectors.put(connection, scope_key, self._embedder.id, fresh)

    def _shelf(self, connection: Connection, scope_key: str) -> _Shelf:
        seq = word_index.last_change(connection, scope_key)
        kept = self._kept.get(scope_key)
        if kept is not None and kept.seq == seq:
            return kept
        stored = self._stored(connection, scope_key)
        # What nobody may store just now is embedded for this process alone.
        known = (kept.stored if kept is not None else {}) | stored
        stale = stored_vectors.stale(connection, scope_key, known)
        known |= self._fresh(connection, scope_key, stale, known)
        rows = [row for row, _ in stored_vectors.versions(connection, scope_key) if row in known]
        shelf = _Shelf(
            seq,
            {row: known[row] for row in rows},
            {row: place for place, row in enumerate(rows)},
            self._matrix([known[row].vector for row in rows]),
        )
        return self._kept.put(scope_key, shelf)

    def _stored(self, connection: Connection, scope_key: str) -> dict[int, Stored]:
        return stored_vectors.stored(connection, scope_key, self._embedder.id, self._embedder.dim)

    def _fresh(
        self,
        connection: Connection,
        scope_key: str,
        rows: Sequence[int],
        known: dict[int, Stored],
    ) -> dict[int, Stored]:
        """Return the vectors of these memories as they are now; known texts keep theirs."""
        found: dict[int, Stored] = {}
        texts: dict[int, str] = {}
        for row, version, text in stored_vectors.texts(
            connection, scope_key, rows, self._database.cipher
        ):
            digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
            old = known.get(row)
            if old is not None and old.digest == digest:
                found[row] = old._replace(version=version)
            else:
                found[row] = Stored(version, digest, b"")
                texts[row] = text
        for start in range(0, len(texts), BATCH):
            some = list(texts)[start : start + BATCH]
            units = _unit(self._embed([texts[row] for row in some], "memory"))
            for row, small in zip(some, _eight_bits(units), strict=True):
                found[row] = found[row]._replace(vector=small)
        return found

    def _embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        rows = self._embedder.embed(texts, kind=kind)
        found = np.array([np.fromiter(row, np.float32) for row in rows], np.float32)
        if found.shape != (len(texts), self._embedder.dim) or not np.isfinite(found).all():
            raise InvalidInput(
                f"The embedder {self._embedder.id} did not return {len(texts)} vectors of"
                f" {self._embedder.dim} finite numbers.",
                field="embedder",
                suggestion="Its embed(texts, kind=) returns one vector for each text.",
            )
        return found

    def _matrix(self, vectors: Iterable[bytes]) -> Matrix:
        joined = np.frombuffer(b"".join(vectors), np.int8).astype(np.float32)
        return _unit(joined.reshape(-1, self._embedder.dim))


def _unit(rows: Matrix) -> Matrix:
    """Return the vectors with length 1; one of length 0 stays, and is near to nothing."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def _eight_bits(units: Matrix) -> list[bytes]:
    highest = np.abs(units).max(axis=1, keepdims=True)
    scaled = np.rint(units / np.where(highest > 0, highest, 1) * 127)
    return [row.tobytes() for row in scaled.astype(np.int8)]
