"""Finds the memories of one shelf that answer a text.

A small shelf is analysed in memory and kept there while it does not change. A large one has an
index on disk, from which the best candidates are taken and then scored by the same rules. Either
way every search sees the last write, and nothing of another shelf has a part in a score.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from memories_sdk.database import Connection, Database
from memories_sdk.encryption import Cipher
from memories_sdk.errors import StoreBusy, StoreReadOnly
from memories_sdk.memory import MemoryHead
from memories_sdk.rows import Row, to_text
from memories_sdk.search import word_index
from memories_sdk.search.catalogue import Catalogue, Entry
from memories_sdk.search.embedding import NO_MEANING, Embedder, Insight, Meaning
from memories_sdk.search.filtering import Filter, tags_of
from memories_sdk.search.hits import Hits, cursor, hit
from memories_sdk.search.kept import Hoard, Recent
from memories_sdk.search.large_shelf import LargeShelf
from memories_sdk.search.ranking import Analysed, Query
from memories_sdk.search.recall import Chosen, Recall, least_score, pack
from memories_sdk.search.remembered import Remembered
from memories_sdk.statements.memories import HEAD_COLUMNS

SMALL: Final = 512
"""Memories up to which a shelf is ranked in memory, all of them."""

SMALL_BYTES: Final = 1 << 18
"""Bytes of bodies up to which it is."""

SMALL_KEPT: Final = 32
"""Small shelves that are kept analysed, for each open store."""

LARGE_KEPT: Final = 8
"""Large shelves of which is kept what was read of their index, for each open store."""

CHARACTERS: Final = 1 << 18
"""Characters of bodies that are kept, for each of these shelves."""

CONSIDERED: Final = 2
"""Memories that are considered for a prompt, for each that may enter."""

AT_ONCE: Final = 16
"""Memories that are read by one statement."""

_HEADS: Final = """
SELECT m.row, m.id, m.version, m.type, m.tags, m.created_at, m.updated_at, m.expires_at
FROM memories m WHERE m.scope_key = :scope_key ORDER BY m.id
"""
_MEASURE: Final = """
SELECT count(*), sum(size)
FROM (SELECT size FROM memories WHERE scope_key = :scope_key LIMIT :most) AS beginning
"""
_PLACES: Final = """
SELECT m.row FROM json_each(:rows) j JOIN memories m ON m.row = j.value
ORDER BY m.position, m.name, m.id
"""
_PINNED: Final = """
SELECT m.row, m.type, m.tags, m.expires_at FROM memories m
WHERE m.scope_key = :scope_key AND m.pinned = 1 ORDER BY m.position, m.name, m.id
"""
_ROW: Final = "SELECT m.row FROM memories m WHERE m.id = :id"
# A cross join keeps its order in SQLite, which would walk the shelf instead.
_WHOLE: Final = f"""
SELECT m.row, {", ".join(f"m.{column.name}" for column in HEAD_COLUMNS)}, b.content
FROM json_each(:rows) j CROSS JOIN memories m CROSS JOIN memory_bodies b
WHERE m.row = j.value AND m.scope_key = :scope_key AND b.row = m.row
"""  # noqa: S608 -- names of our own columns


if TYPE_CHECKING:
    from memories_sdk.search.vectors import Vectors


@dataclass(slots=True)
class Sight:
    """A shelf as one transaction sees it: analysed in memory, or in the index, or neither yet.

    Attributes:
        seq: Its last revision.
        texts: Heads and bodies that were read, by row.
        pinned: What filters look at in the pinned memories, in the user's order, when it was read.
    """

    seq: int
    catalogue: Catalogue | None = None
    index: Remembered | None = None
    texts: Hoard[int, tuple[MemoryHead, str]] = field(default_factory=lambda: Hoard(CHARACTERS))
    pinned: Sequence[Row] | None = None

    @property
    def ready(self) -> bool:
        """Whether it shows all that is on the shelf."""
        return self.catalogue is not None or (
            self.index is not None and self.index.indexed.seq == self.seq
        )

    def stands(self, connection: Connection) -> bool:
        """Whether the index is still the one that was read: one made anew has other numbers."""
        return self.index is not None and word_index.stands(connection, self.index.indexed)


class Ranking(NamedTuple):
    """What was found on a shelf.

    Attributes:
        scores: Row to score, of all that match, or of the best of a large shelf.
        weights: Index term of the query to what it says on this shelf.
        meaning: What an embedder says.
    """

    scores: dict[int, float]
    weights: dict[str, float]
    meaning: Meaning


class Searcher:
    """Searches the shelves of one database; keeps small ones analysed. Safe between threads.

    Args:
        database: Where the shelves are.
        insight: The model that says what texts mean, if there is one.
    """

    def __init__(self, database: Database, insight: Insight | None = None) -> None:
        self._database = database
        self._share = 0.0 if insight is None else insight.share
        self._vectors = None if insight is None else _vectors(database, insight.embedder)
        self._small: Recent[str, Sight] = Recent(SMALL_KEPT)
        self._large: Recent[str, Sight] = Recent(LARGE_KEPT)

    def ready(self, connection: Connection, scope_key: str) -> Sight | None:
        """Return the shelf, or None when `prepare` has something to do first."""
        seq = word_index.last_change(connection, scope_key)
        if self._vectors is not None and not self._vectors.ready(scope_key, seq):
            return None
        sight = self._seen(connection, scope_key, seq)
        return sight if sight.ready else None

    def prepare(self, scope_key: str) -> None:
        """Bring what is kept of a shelf up to date, unless nobody may write just now."""
        if self._database.cipher is not None:
            return  # an index on disk would hold the words of texts that are sealed
        if self._vectors is not None:
            self._vectors.prepare(scope_key)
        with self._database.read(shelf=scope_key, snapshot=True) as connection:
            seq = word_index.last_change(connection, scope_key)
            if self._seen(connection, scope_key, seq).ready:
                return
        with suppress(StoreBusy, StoreReadOnly):
            word_index.bring_up(self._database, scope_key)

    def sight(self, connection: Connection, scope_key: str) -> Sight:
        """Return the shelf, as far as it could be prepared."""
        seq = word_index.last_change(connection, scope_key)
        seen = self._seen(connection, scope_key, seq)
        if seen.catalogue is None and seen.index is None:
            # Large, never indexed, and nobody may write: correct, if slow the first time.
            return self._read(connection, scope_key, seq)
        return seen

    def ranked(
        self,
        connection: Connection,
        scope_key: str,
        sight: Sight,
        query: Query,
        wanted: Filter,
        *,
        all_matching: bool,
    ) -> Ranking:
        """Return what answers a query.

        Args:
            connection: In a read transaction, so that all is of one moment.
            scope_key: The shelf.
            sight: The shelf as this transaction sees it.
            query: What is looked for.
            wanted: Applied before anything is left out.
            all_matching: Whether all that match are wanted, and nothing that is only related,
                rather than the best.
        """
        if not query.terms:
            return Ranking({}, {}, NO_MEANING)
        meaning = self._meaning(connection, scope_key, query)
        if sight.index is not None:
            large = LargeShelf(
                connection, scope_key, sight.seq, sight.index, query, wanted, meaning
            )
            found = large.all() if all_matching else large.best()
            return Ranking(found, large.weights, meaning)
        catalogue = sight.catalogue or Catalogue((), 0)
        weights = catalogue.weights(query)
        found = catalogue.ranked(
            query,
            weights,
            lambda entry: wanted.passes(entry.type, entry.tags, entry.expires),
            related=not all_matching,
            meaning=meaning,
        )
        return Ranking(found, weights, meaning)

    def hits(
        self,
        connection: Connection,
        scope_key: str,
        sight: Sight,
        query: Query,
        wanted: Filter,
        *,
        limit: int,
        after: tuple[float, bytes] | None,
    ) -> Hits:
        """Return one page of hits."""
        ranking = self.ranked(connection, scope_key, sight, query, wanted, all_matching=True)
        scores = ranking.scores
        rows = in_order(connection, scores)
        start = 0 if after is None else _behind(connection, rows, scores, after)
        shown = rows[start : start + limit]
        page = [
            hit(head, content, scores[row], ranking.weights, query.pieces)
            for row, head, content in self._texts(connection, scope_key, sight, shown)
        ]
        more = start + limit < len(rows)
        end = cursor(page[-1].score, page[-1].memory) if more else None
        return Hits(page, total=len(rows), next_cursor=end)

    def recall(
        self,
        connection: Connection,
        scope_key: str,
        sight: Sight,
        query: Query,
        wanted: Filter,
        *,
        limit: int,
        max_chars: int,
        max_chars_each: int | None,
        min_relevance: float,
    ) -> Recall:
        """Return the memories for a prompt: the pinned ones, then what answers it best."""
        ranking = self.ranked(connection, scope_key, sight, query, wanted, all_matching=False)
        scores = ranking.scores
        first = _pinned(connection, scope_key, sight, wanted)[:limit]
        behind = nlargest(CONSIDERED * limit + len(first), scores.values())
        floor = behind[-1] if behind else 0.0
        rest = in_order(connection, {row: it for row, it in scores.items() if it >= floor})
        rest = [row for row in rest if row not in first][: CONSIDERED * limit]
        return pack(
            (
                Chosen(head, content, scores.get(row, 0.0), ranking.meaning.near.of(row))
                for row, head, content in self._texts(connection, scope_key, sight, [*first, *rest])
            ),
            ranking.weights,
            query.pieces,
            limit=limit,
            max_chars=max_chars,
            max_chars_each=max_chars_each,
            least_score=least_score(min_relevance, max(scores.values(), default=0.0)),
        )

    def _meaning(self, connection: Connection, scope_key: str, query: Query) -> Meaning:
        if self._vectors is None:
            return NO_MEANING
        near = self._vectors.near(connection, scope_key, query.text)
        return NO_MEANING if near is None else Meaning.of(self._share, near)

    def _seen(self, connection: Connection, scope_key: str, seq: int) -> Sight:
        """Return the shelf: analysed in memory, unless it is large."""
        if (sight := self._small.get(scope_key)) is not None and sight.seq == seq:
            return sight
        sight = self._large.get(scope_key)
        if sight is not None and sight.seq == seq and sight.stands(connection):
            return sight
        if self._database.cipher is not None:
            return self._read(connection, scope_key, seq)
        indexed = word_index.state(connection, scope_key)
        if indexed is None or indexed.seq != seq or indexed.memories <= SMALL:
            measure = {"scope_key": scope_key, "most": SMALL + 1}
            count, size = connection.execute(_MEASURE, measure).fetchone()
            if count <= SMALL and (size or 0) <= SMALL_BYTES:
                return self._read(connection, scope_key, seq)
        if indexed is None or indexed.seq is None:
            return Sight(seq)
        sight = Sight(seq, index=Remembered(scope_key, indexed))
        return self._large.put(scope_key, sight) if sight.ready else sight

    def _read(self, connection: Connection, scope_key: str, seq: int) -> Sight:
        old = self._small.get(scope_key)
        known = None if old is None else old.catalogue
        found = _read(connection, scope_key, seq, known, self._database.cipher)
        return self._small.put(scope_key, Sight(seq, found))

    def _texts(
        self, connection: Connection, scope_key: str, sight: Sight, rows: Sequence[int]
    ) -> Iterator[tuple[int, MemoryHead, str]]:
        """Yield heads and bodies of rows that were found in this transaction, in their order."""
        for start in range(0, len(rows), AT_ONCE):
            some = rows[start : start + AT_ONCE]
            found = {row: sight.texts.get(row) for row in some}
            if missing := [row for row, text in found.items() if text is None]:
                key = {"scope_key": scope_key, "rows": json.dumps(missing)}
                fresh = {
                    row[0]: to_text(row[1:], self._database.cipher)
                    for row in connection.execute(_WHOLE, key).fetchall()
                }
                found |= fresh
                if self._database.cipher is None:
                    sight.texts.add(fresh, sum(len(content) for _, content in fresh.values()))
            for row, text in found.items():
                if text is not None:
                    yield row, *text


_searchers: WeakKeyDictionary[Database, Searcher] = WeakKeyDictionary()


def searcher(database: Database, insight: Insight | None) -> Searcher:
    """Return the one searcher of a database."""
    if (known := _searchers.get(database)) is None:
        known = _searchers.setdefault(database, Searcher(database, insight))
    return known


def _vectors(database: Database, embedder: Embedder) -> Vectors:
    # numpy is not there without an embedder, and takes longer to load than all of this package.
    from memories_sdk.search.vectors import Vectors  # noqa: PLC0415

    return Vectors(database, embedder)


def in_order(connection: Connection, scores: dict[int, float]) -> list[int]:
    """Return rows by their scores, the best first; the user's order breaks ties."""
    ranked = sorted(scores, key=lambda row: (-scores[row], row))
    ordered: list[int] = []
    for _, group in groupby(ranked, key=lambda row: scores[row]):
        ordered += _by_place(connection, list(group))
    return ordered


def _pinned(connection: Connection, scope_key: str, sight: Sight, wanted: Filter) -> list[int]:
    """Return the rows of the pinned memories, in the user's order."""
    if sight.pinned is None:
        sight.pinned = connection.execute(_PINNED, {"scope_key": scope_key}).fetchall()
    return [
        row
        for row, type, tags, expires in sight.pinned
        if wanted.passes(type, tags_of(tags), expires)
    ]


def _behind(
    connection: Connection,
    rows: Sequence[int],
    scores: Mapping[int, float],
    after: tuple[float, bytes],
) -> int:
    """Return where the page after a hit begins; by its score when the hit itself is gone."""
    score, id = after
    found = connection.execute(_ROW, {"id": id}).fetchone()
    if found is not None and found[0] in scores:
        return rows.index(found[0]) + 1
    return next((place for place, row in enumerate(rows) if scores[row] < score), len(rows))


def _by_place(connection: Connection, rows: list[int]) -> Sequence[int]:
    if len(rows) == 1:
        return rows
    key = {"rows": json.dumps(rows)}
    return [row for (row,) in connection.execute(_PLACES, key).fetchall()]


def _read(
    connection: Connection,
    scope_key: str,
    seq: int,
    old: Catalogue | None,
    cipher: Cipher | None,
) -> Catalogue:
    """Read a shelf; only what changed since `old` is analysed again."""
    known = {} if old is None else {(each.key, each.version): each for each in old.entries}
    rows = connection.execute(_HEADS, {"scope_key": scope_key}).fetchall()
    missing = [row[1] for row in rows if (row[1], row[2]) not in known]
    texts = word_index.texts(connection, scope_key, missing, cipher)
    fresh = {text.id: text.analysed for text in texts}
    return Catalogue(
        (
            _entry(row, fresh[row[1]] if row[1] in fresh else known[row[1], row[2]].analysed)
            for row in rows
        ),
        seq,
    )


def _entry(row: Row, analysed: Analysed) -> Entry:
    number, id, version, type, tags, made, changed, expires = row
    return Entry(number, id, version, type, tags_of(tags), made, changed, expires, analysed)
