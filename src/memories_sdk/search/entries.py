"""The entries of the index: which memories of a shelf have a term, and how strongly.

The embedded engine keeps them in its own full-text table, where each term carries the number of
its shelf, so that a look-up touches one shelf only. On a server they are rows of a plain table.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from memories_sdk.database import Connection
from memories_sdk.search import ranking

_SHELF: Final = """CREATE TABLE IF NOT EXISTS search_shelves (
      shelf INTEGER PRIMARY KEY AUTOINCREMENT,
      scope_key TEXT NOT NULL UNIQUE,
      analyser INTEGER NOT NULL,
      seq INTEGER,
      memories INTEGER NOT NULL DEFAULT 0,
      words INTEGER NOT NULL DEFAULT 0
    )"""
_MEMORIES: Final = """CREATE TABLE IF NOT EXISTS search_memories (
      doc INTEGER PRIMARY KEY,
      shelf INTEGER NOT NULL,
      id BLOB NOT NULL,
      version INTEGER NOT NULL,
      size INTEGER NOT NULL,
      words TEXT NOT NULL,
      UNIQUE (shelf, id)
    )"""
_TERMS: Final = """CREATE VIRTUAL TABLE IF NOT EXISTS search_terms USING fts5(
      once, twice, thrice, often, content='', columnsize=0, detail=column, tokenize='ascii'
    )"""
_COUNTS: Final = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS search_counts USING fts5vocab(search_terms, 'row')"
)
_BUFFER: Final = 8 << 20
"""Bytes of entries that wait in memory for the end of a transaction: all of most, so that each
leaves one part to be merged."""

_COUNTED: Final = """
SELECT j.value, (SELECT doc FROM search_counts WHERE term = j.value) FROM json_each(:terms) j
"""
_HELD: Final = """
SELECT j.value,
  (SELECT json_group_array(rowid) FROM search_terms WHERE search_terms MATCH 'once:' || quoted),
  (SELECT json_group_array(rowid) FROM search_terms
    WHERE search_terms MATCH '{twice thrice often}:' || quoted)
FROM (SELECT value, '"' || value || '"' AS quoted FROM json_each(:terms)) j
"""


class Holders(NamedTuple):
    """The documents that have a term, in their order: those that have it once, and more often."""

    once: Sequence[int]
    often: Sequence[int]

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.once) + len(self.often)


class Entries(Protocol):
    """The entries during one transaction: a memory by its terms, or by how it was analysed."""

    def there(self) -> bool:
        """Tell whether the tables are there."""

    def make(self) -> None:
        """Make the tables where they are missing."""

    def add(self, shelf: int, doc: int, terms: Mapping[str, int]) -> None:
        """Enter a memory."""

    def drop(self, shelf: int, doc: int, words: str) -> None:
        """Take out a memory, as it was entered."""

    def settle(self) -> None:
        """Leave nothing of what was taken out."""

    def counts(self, shelf: int, terms: Iterable[str]) -> dict[str, int]:
        """Return how many memories of a shelf have each of these terms."""

    def holders(self, shelf: int, terms: Iterable[str]) -> dict[str, Holders]:
        """Return the documents of a shelf that have each of these terms."""


def entries(connection: Connection) -> Entries:
    """Return the entries as the engine of this connection keeps them."""
    return FullText(connection) if isinstance(connection, sqlite3.Connection) else Rows(connection)


class FullText:
    """Entries in a full-text table of SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def there(self) -> bool:
        """Tell whether the tables are there: the first search of a large shelf makes them."""
        found = "SELECT 1 FROM sqlite_master WHERE name = 'search_counts'"
        return self._connection.execute(found).fetchone() is not None

    def make(self) -> None:
        """Make the tables where they are missing."""
        for table in (_SHELF, _MEMORIES, _TERMS, _COUNTS):
            self._connection.execute(table)
        buffered = "INSERT INTO search_terms (search_terms, rank) VALUES ('hashsize', ?)"
        self._connection.execute(buffered, (_BUFFER,))

    def add(self, shelf: int, doc: int, terms: Mapping[str, int]) -> None:
        """Enter a memory."""
        added = (
            "INSERT INTO search_terms (rowid, once, twice, thrice, often) VALUES (?, ?, ?, ?, ?)"
        )
        self._connection.execute(added, (doc, *_columns(shelf, terms)))

    def drop(self, shelf: int, doc: int, words: str) -> None:
        """Take out a memory, as it was entered."""
        dropped = (
            "INSERT INTO search_terms (search_terms, rowid, once, twice, thrice, often)"
            " VALUES ('delete', ?, ?, ?, ?, ?)"
        )
        columns = _columns(shelf, ranking.strengths_of(words))
        self._connection.execute(dropped, (doc, *columns))

    def settle(self) -> None:
        """Merge the table's parts: what was taken out lingers in them until then."""
        self._connection.execute("INSERT INTO search_terms (search_terms) VALUES ('optimize')")

    def counts(self, shelf: int, terms: Iterable[str]) -> dict[str, int]:
        """Return how many memories of a shelf have each of these terms."""
        found = self._asked(_COUNTED, shelf, terms)
        return {term: int(count) for term, (count,) in found if count is not None}

    def holders(self, shelf: int, terms: Iterable[str]) -> dict[str, Holders]:
        """Return the documents of a shelf that have each of these terms."""
        found = self._asked(_HELD, shelf, terms)
        return {term: Holders(*map(json.loads, docs)) for term, docs in found}

    def _asked(
        self, statement: str, shelf: int, terms: Iterable[str]
    ) -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield what one statement says of each term: asking term by term takes twice as long."""
        marked = json.dumps([_term(shelf, term) for term in terms])
        start = len(_term(shelf, ""))
        for row in self._connection.execute(statement, {"terms": marked}).fetchall():
            yield row[0][start:], row[1:]


class Rows:
    """Entries in a plain table, which came with the others."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def there(self) -> bool:
        """Tell whether the tables are there: they always are."""
        return True

    def make(self) -> None:
        """Make nothing: on a server a search must not change the schema."""

    def add(self, shelf: int, doc: int, terms: Mapping[str, int]) -> None:
        """Enter a memory."""
        classes = zip(ranking.STRENGTHS, ranking.terms_by_strength(terms), strict=True)
        self._connection.executemany(
            "INSERT INTO search_entries (shelf, term, doc, strength)"
            " VALUES (:shelf, :term, :doc, :strength)",
            [
                {"shelf": shelf, "term": term, "doc": doc, "strength": strength}
                for strength, group in classes
                for term in group
            ],
        )

    def drop(self, shelf: int, doc: int, words: str) -> None:  # noqa: ARG002 -- its rows are known
        """Take out a memory."""
        dropped = "DELETE FROM search_entries WHERE shelf = :shelf AND doc = :doc"
        self._connection.execute(dropped, {"shelf": shelf, "doc": doc})

    def settle(self) -> None:
        """Do nothing: what is left on a server's disk is the server's to clean."""

    def counts(self, shelf: int, terms: Iterable[str]) -> dict[str, int]:
        """Return how many memories of a shelf have each of these terms."""
        counted = "SELECT count(*) FROM search_entries WHERE shelf = :shelf AND term = :term"
        found = {}
        for term in terms:
            key = {"shelf": shelf, "term": term}
            if count := self._connection.execute(counted, key).fetchone()[0]:
                found[term] = count
        return found

    def holders(self, shelf: int, terms: Iterable[str]) -> dict[str, Holders]:
        """Return the documents of a shelf that have each of these terms."""
        held = (
            "SELECT strength, doc FROM search_entries"
            " WHERE shelf = :shelf AND term = :term ORDER BY doc"
        )
        found = {}
        for term in terms:
            rows = self._connection.execute(held, {"shelf": shelf, "term": term}).fetchall()
            once = [doc for strength, doc in rows if strength == 1]
            found[term] = Holders(once, [doc for strength, doc in rows if strength > 1])
        return found


def _columns(shelf: int, terms: Mapping[str, int]) -> list[str]:
    mark = _term(shelf, "")
    return [
        f"{mark}{f' {mark}'.join(group)}" if group else ""
        for group in ranking.terms_by_strength(terms)
    ]


def _term(shelf: int, term: str) -> str:
    return f"{shelf}x{term}"
