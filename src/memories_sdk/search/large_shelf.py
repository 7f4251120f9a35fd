"""One search on a large shelf: candidates from the index on disk, then the full score.

The index gives who has a word and how often; a sum over the rarest words chooses the candidates.
All figures that enter a score are the shelf's own.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Final

from memories_sdk.database import Connection
from memories_sdk.search import word_index
from memories_sdk.search.embedding import Meaning
from memories_sdk.search.entries import Holders
from memories_sdk.search.filtering import Filter, tags_of
from memories_sdk.search.ranking import Candidate, Query, scores, term_weights
from memories_sdk.search.remembered import Document, Remembered
from memories_sdk.search.spellings import Worded, likeness_of

CANDIDATES: Final = 40
"""Memories that are scored in full for a prompt; for a search, twice as many."""

POSTINGS: Final = 20_000
"""Entries of the index that are read for a prompt, those of its rarest words first. The words left
over choose no candidates; they score those which the others chose."""

ONCE: Final = 1
OFTEN: Final = 2.5
"""How often a word counts for a promise: once, or about that in the memories that have it more."""

FEW: Final = 4_000
"""Memories up to which all entries are read at once, without asking first how many there are."""

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
    """A large shelf at the moment of the caller's read transaction.

    Args:
        connection: In that transaction.
        scope_key: The shelf.
        seq: Its last revision.
        known: What was read of its index.
        query: What is looked for.
        wanted: Applied before anything is left out.
        meaning: What an embedder says.
    """

    def __init__(
        self,
        connection: Connection,
        scope_key: str,
        seq: int,
        known: Remembered,
        query: Query,
        wanted: Filter,
        meaning: Meaning,
    ) -> None:
        self._connection = connection
        self._meaning = meaning
        self._key = scope_key
        self._known = known
        self._query = query
        self._wanted = wanted
        indexed = known.indexed
        self._changed = (
            () if indexed.seq == seq else word_index.stale(connection, scope_key, indexed)
        )
        if indexed.memories <= FEW:
            holders = known.holders(connection, query.terms)
            self._found = {term: held.number for term, held in holders.items() if held.number}
        else:
            self._found = known.counts(connection, query.terms)
        memories = max(indexed.memories, 1)
        self._average = max(indexed.words / memories, 1.0)
        self.weights = term_weights(query, memories, self._found)
        key = {"scope_key": scope_key, "shelf": indexed.shelf, "rows": json.dumps(meaning.alike)}
        alike = connection.execute(_DOCS, key).fetchall() if meaning.alike else ()
        self._alike = sorted(doc for (doc,) in alike)
        self._holders: Mapping[str, Holders] = {}
        self._unread = False

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
        promises: defaultdict[int, float] = defaultdict(float)
        self._read(most)
        for term, holders in self._holders.items():
            for strength, docs in ((ONCE, holders.once), (OFTEN, holders.often)):
                gain = self.weights[term] * strength / (strength + 1)
                for doc in docs:
                    promises[doc] += gain
        for doc in self._outdated():
            promises.pop(doc, None)
        return dict.fromkeys(self._alike, 0.0) | promises

    def _read(self, most: int | None) -> None:
        """Read the holders of the rarest terms, at most so many unless one term has more."""
        terms: list[str] = []
        read = 0
        held = sorted(self._found.keys() & self.weights.keys(), key=self._rarity)
        for term in held:
            read += self._found[term]
            if most is not None and read > most and terms:
                break
            terms.append(term)
        self._holders = self._known.holders(self._connection, terms)
        self._unread = len(terms) < len(held)

    def _rarity(self, term: str) -> tuple[int, str]:
        return self._found[term], term

    def _outdated(self) -> Iterator[int]:
        """Yield the documents that no longer are what the index says."""
        for id in self._changed:
            key = {"shelf": self._known.indexed.shelf, "id": id}
            yield from (doc for (doc,) in self._connection.execute(_STALE_DOC, key).fetchall())

    def _scored(self, promises: dict[int, float], most: int) -> dict[int, float]:
        documents = self._promising(promises, most)
        unindexed = list(self._unindexed())
        candidates = list(self._candidates(documents))
        candidates += [candidate for _, candidate in unindexed]
        texts: list[Worded] = [*documents]
        texts += [Worded(candidate.words) for _, candidate in unindexed]
        found = scores(
            self._query,
            candidates,
            self.weights,
            self._average,
            likeness_of(self._query, texts),
            meaning=self._meaning.share,
        )
        rows = [document.row for document in documents] + [row for row, _ in unindexed]
        return {row: score for row, score in zip(rows, found, strict=True) if score}

    def _promising(self, promises: dict[int, float], most: int) -> list[Document]:
        """Return the most promising documents that pass the filter, and those alike."""
        alike = set(self._alike)
        passing: list[Document] = []
        start, step = 0, most
        while start < len(promises) and len(passing) < most:
            chunk = _in_order(promises, start + step)[start:]
            passing += self._passing([doc for doc in chunk if doc not in alike])
            start, step = start + step, step * 4
        return passing[:most] + self._passing(self._alike)

    def _passing(self, docs: Sequence[int]) -> list[Document]:
        return [
            each
            for each in self._known.documents(self._connection, docs)
            if self._wanted.passes(each.type, each.tags, each.expires)
        ]

    def _candidates(self, documents: Sequence[Document]) -> Iterator[Candidate]:
        for document, strengths in zip(documents, self._strengths(documents), strict=True):
            yield Candidate(
                document.id,
                strengths,
                document.text,
                document.size,
                document.made,
                document.changed,
                document.follows,
                self._meaning.near.of(document.row),
            )

    def _strengths(self, documents: Sequence[Document]) -> Iterator[Mapping[str, int]]:
        """Yield how strongly each document has the terms of the query.

        Which documents have a term once is known already. Only for the others is a text looked at.
        """
        docs = {document.doc for document in documents}
        once: dict[int, dict[str, int]] = {doc: {} for doc in docs}
        unclear = docs if self._unread else set()
        for term, holders in self._holders.items():
            for doc in docs.intersection(holders.once):
                once[doc][term] = ONCE
            if holders.often:
                unclear = unclear.union(docs.intersection(holders.often))
        for document in documents:
            if document.doc in unclear:
                has = document.strengths
                yield {term: has[term] for term in self.weights if term in has}
            else:
                yield once[document.doc]

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
