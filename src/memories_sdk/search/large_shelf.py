"""One search on a large shelf: candidates from the index on disk, then the full score.

The index gives who has a word and how often; a sum over the rarest words chooses the candidates.
All figures that enter a score are the shelf's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from heapq import nlargest
from operator import itemgetter
from typing import Final

from memories_sdk.database import Connection
from memories_sdk.rows import Row
from memories_sdk.search import word_index
from memories_sdk.search.embedding import Meaning
from memories_sdk.search.entries import entries
from memories_sdk.search.filtering import Filter, tags_of
from memories_sdk.search.ranking import (
    Candidate,
    Query,
    Statistics,
    scores,
    term_weights,
)
from memories_sdk.search.spellings import likeness_of
from memories_sdk.search.word_index import Indexed

CANDIDATES: Final = 40
"""Memories that are scored in full for a prompt; for a search, twice as many."""

POSTINGS: Final = 20_000
"""Entries of the index that are read for a prompt, those of its rarest words first. The words left
over choose no candidates; they score those which the others chose."""

FEW: Final = 4_000
"""Memories up to which all entries are read at once, without asking first how many there are."""

_DETAIL: Final = """
SELECT s.doc, s.id, s.size, s.words, m.row, m.type, m.tags, m.created_at, m.updated_at,
  m.expires_at, m.version = s.version,
  (SELECT p.id FROM search_memories p WHERE p.shelf = s.shelf AND p.id < s.id
    ORDER BY p.id DESC LIMIT 1),
  (SELECT p.id FROM search_memories p WHERE p.shelf = s.shelf AND p.id < s.id
    ORDER BY p.id DESC LIMIT 1 OFFSET 1)
FROM json_each(:docs) j JOIN search_memories s ON s.doc = j.value
JOIN memories m ON m.id = s.id AND m.scope_key = :scope_key
"""
_PASSING: Final = """
SELECT s.doc, m.row, m.type, m.tags, m.expires_at
FROM json_each(:docs) j JOIN search_memories s ON s.doc = j.value
JOIN memories m ON m.id = s.id AND m.scope_key = :scope_key AND m.version = s.version
"""
_DOCS: Final = """
SELECT s.doc FROM json_each(:rows) j JOIN memories m ON m.row = j.value AND m.scope_key = :scope_key
JOIN search_memories s ON s.shelf = :shelf AND s.id = m.id AND s.version = m.version
"""
_STALE_DOC: Final = "SELECT doc FROM search_memories WHERE shelf = :shelf AND id = :id"
_ROW: Final = """
SELECT m.row, m.type, m.tags, m.created_at, m.updated_at, m.expires_at
FROM memories m WHERE m.id = :id AND m.scope_key = :scope_key
"""


class LargeShelf:
    """A large shelf at the moment of the caller's read transaction."""

    def __init__(
        self,
        connection: Connection,
        scope_key: str,
        indexed: Indexed,
        query: Query,
        wanted: Filter,
        meaning: Meaning,
    ) -> None:
        self._connection = connection
        self._entries = entries(connection)
        self._meaning = meaning
        self._key = scope_key
        self._shelf = indexed.shelf
        self._query = query
        self._wanted = wanted
        self._changed = word_index.stale(connection, scope_key, indexed)
        self._holders: dict[str, list[tuple[int, list[int]]]] = {}
        self._unread: frozenset[str] = frozenset()
        if indexed.memories <= FEW:
            holders = {term: self._entries.holders(indexed.shelf, term) for term in query.terms}
            found = {term: sum(len(docs) for _, docs in held) for term, held in holders.items()}
            self._holders = holders
        else:
            found = self._entries.counts(indexed.shelf, query.terms)
        self._statistics = Statistics(max(indexed.memories, 1), indexed.words, found)
        self.weights = term_weights(query, self._statistics)
        key = {"scope_key": scope_key, "shelf": indexed.shelf, "rows": json.dumps(meaning.alike)}
        alike = connection.execute(_DOCS, key).fetchall() if meaning.alike else ()
        self._alike = [doc for (doc,) in alike]

    def best(self) -> dict[int, float]:
        """Return the scores of the most promising memories, by row."""
        return self._scored(self._promises(POSTINGS), CANDIDATES)

    def all(self) -> dict[int, float]:
        """Return the scores of all that match, by row.

        Those beyond twice the candidates follow in the order of their promise.
        """
        promises = self._promises(None)
        key = {"scope_key": self._key, "docs": json.dumps(list(promises))}
        passing = {
            row[0]: row[1]
            for row in self._connection.execute(_PASSING, key).fetchall()
            if self._wanted.passes(row[2], tags_of(row[3]), row[4])
        }
        promises = {doc: promise for doc, promise in promises.items() if doc in passing}
        ranked = self._scored(promises, CANDIDATES * 2)
        lowest = min(ranked.values(), default=1.0)
        rest = [doc for doc in _in_order(promises, len(promises)) if passing[doc] not in ranked]
        for place, doc in enumerate(rest, 1):
            ranked[passing[doc]] = round(lowest * (1 - place / (len(rest) + 1)), 9)
        return ranked

    def _promises(self, most: int | None) -> dict[int, float]:
        """Return how much each document promises, from the holders of the rarest terms."""
        found = self._statistics.found
        promises: dict[int, float] = {}
        read = 0
        for term in sorted(self.weights, key=lambda term: (found.get(term, 0), term)):
            read += found.get(term, 0)
            if most is not None and read > most and promises:
                break
            if (holders := self._holders.get(term)) is None:
                holders = self._holders[term] = self._entries.holders(self._shelf, term)
            for strength, docs in holders:
                gain = self.weights[term] * strength / (strength + 1)
                for doc in docs:
                    promises[doc] = promises.get(doc, 0.0) + gain
        for doc in self._outdated():
            promises.pop(doc, None)
        return dict.fromkeys(self._alike, 0.0) | promises

    def _outdated(self) -> Iterator[int]:
        """Yield the documents that no longer are what the index says."""
        for id in self._changed:
            key = {"shelf": self._shelf, "id": id}
            yield from (doc for (doc,) in self._connection.execute(_STALE_DOC, key).fetchall())

    def _scored(self, promises: dict[int, float], most: int) -> dict[int, float]:
        rows: list[int] = []
        candidates: list[Candidate] = []
        for row, candidate in self._details(promises, most):
            rows.append(row)
            candidates.append(candidate)
        for row, candidate in self._unindexed():
            rows.append(row)
            candidates.append(candidate)
        likeness = likeness_of(self._query, [candidate.words for candidate in candidates])
        found = scores(
            self._query, candidates, self._statistics, likeness, meaning=self._meaning.share
        )
        return {row: score for row, score in zip(rows, found, strict=True) if score}

    def _details(self, promises: dict[int, float], most: int) -> list[tuple[int, Candidate]]:
        """Return the most promising documents that pass the filter: their rows, and what scores."""
        alike = set(self._alike)
        passing: list[Row] = []
        start, step = 0, most
        while start < len(promises) and len(passing) < most:
            chunk = _in_order(promises, start + step)[start:]
            passing += self._passing(doc for doc in chunk if doc not in alike)
            start, step = start + step, step * 4
        passing = passing[:most] + self._passing(alike)
        self._unread = frozenset(self.weights.keys() - self._holders.keys())
        strengths = self._strengths({row[0] for row in passing})
        return [(row[4], self._candidate(row, strengths[row[0]])) for row in passing]

    def _passing(self, docs: Iterable[int]) -> list[Row]:
        key = {"scope_key": self._key, "docs": json.dumps(list(docs))}
        return [
            row
            for row in self._connection.execute(_DETAIL, key).fetchall()
            if row[10] and self._wanted.passes(row[5], tags_of(row[6]), row[9])
        ]

    def _strengths(self, docs: set[int]) -> dict[int, dict[str, int]]:
        strengths: dict[int, dict[str, int]] = {doc: {} for doc in docs}
        for term, holders in self._holders.items():
            for strength, holding in holders:
                for doc in docs.intersection(holding):
                    strengths[doc][term] = strength
        return strengths

    def _candidate(self, row: Row, strengths: dict[str, int]) -> Candidate:
        words = row[3]
        for term in self._unread:
            if any(f" {word} " in words for word in self._query.surfaces[term]):
                strengths[term] = 1
        follows = tuple(key for key in row[11:13] if key is not None)
        near = self._meaning.near.of(row[4])
        return Candidate(row[1], strengths, words, row[2], row[7], row[8], follows, near)

    def _unindexed(self) -> Iterator[tuple[int, Candidate]]:
        """Yield the memories that the index does not show as they are, where they match."""
        for text in word_index.texts(self._connection, self._key, self._changed):
            key = {"scope_key": self._key, "id": text.id}
            row, type, tags, made, changed, expires = self._connection.execute(_ROW, key).fetchone()
            has = text.analysed
            held = {term: has.terms[term] for term in self.weights if term in has.terms}
            near = self._meaning.near.of(row)
            matches = held or row in self._meaning.alike
            if matches and self._wanted.passes(type, tags_of(tags), expires):
                yield row, Candidate(text.id, held, has.words, has.size, made, changed, (), near)


def _in_order(promises: dict[int, float], most: int) -> list[int]:
    """Return the most promising documents; of equal ones, the newest first."""
    return [doc for doc, _ in nlargest(most, promises.items(), key=itemgetter(1, 0))]
