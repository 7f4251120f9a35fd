"""The index of large shelves on disk: which memories have a word, kept up when somebody searches.

A save writes nothing here. The next search on that shelf brings the index up to the shelf's last
revision, in short transactions, before it reads. What it holds is derived: it can be dropped and is
then made anew. Each term carries the number of its shelf, so a look-up touches one shelf only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from memories_sdk.database import Database
from memories_sdk.search import analysis, ranking
from memories_sdk.search.ranking import Analysed

BATCH: Final = 200
"""Memories in one transaction."""

PATIENCE: Final = 200
"""Milliseconds that a search waits for another writer before it does without the index's update."""

_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS search_shelves (
      shelf INTEGER PRIMARY KEY,
      scope_key TEXT NOT NULL UNIQUE,
      analyser INTEGER NOT NULL,
      seq INTEGER,
      memories INTEGER NOT NULL DEFAULT 0,
      words INTEGER NOT NULL DEFAULT 0
    )""",
    """CREATE TABLE IF NOT EXISTS search_memories (
      doc INTEGER PRIMARY KEY,
      shelf INTEGER NOT NULL,
      id BLOB NOT NULL,
      version INTEGER NOT NULL,
      size INTEGER NOT NULL,
      words TEXT NOT NULL,
      UNIQUE (shelf, id)
    )""",
    """CREATE VIRTUAL TABLE IF NOT EXISTS search_terms USING fts5(
      once, twice, thrice, often, content='', columnsize=0, detail=column, tokenize='ascii'
    )""",
    "CREATE VIRTUAL TABLE IF NOT EXISTS search_holders USING fts5vocab(search_terms, 'instance')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS search_counts USING fts5vocab(search_terms, 'row')",
)
_COLUMNS: Final = dict(zip(("once", "twice", "thrice", "often"), ranking.STRENGTHS, strict=True))

_SHELF: Final = (
    "SELECT shelf, seq, memories, words FROM search_shelves"
    " WHERE scope_key = :scope_key AND analyser = :analyser"
)
_LAST_SEQ: Final = "SELECT max(seq) FROM memory_revisions WHERE scope_key = :scope_key"
_CHANGED: Final = (
    "SELECT DISTINCT memory_id, action = 'prune' FROM memory_revisions"
    " WHERE scope_key = :scope_key AND seq > :since"
)
_ALL_STALE: Final = """
SELECT m.id FROM memories m LEFT JOIN search_memories s ON s.shelf = :shelf AND s.id = m.id
WHERE m.scope_key = :scope_key AND s.version IS NOT m.version
UNION ALL
SELECT s.id FROM search_memories s LEFT JOIN memories m
  ON m.id = s.id AND m.scope_key = :scope_key
WHERE s.shelf = :shelf AND m.id IS NULL
"""
_READ: Final = """
SELECT m.id, m.version, m.name, m.summary, m.summary_derived, m.tags, b.content
FROM memories m JOIN memory_bodies b ON b.row = m.row
WHERE m.id = :id AND m.scope_key = :scope_key
"""
_VERSION: Final = "SELECT version FROM memories WHERE id = :id AND scope_key = :scope_key"
_INDEXED: Final = (
    "SELECT doc, version, size, words FROM search_memories WHERE shelf = :shelf AND id = :id"
)
_DROP: Final = (
    "INSERT INTO search_terms (search_terms, rowid, once, twice, thrice, often)"
    " VALUES ('delete', ?, ?, ?, ?, ?)"
)
_ADD: Final = "INSERT INTO search_terms (rowid, once, twice, thrice, often) VALUES (?, ?, ?, ?, ?)"
_NEW: Final = "INSERT INTO search_memories (shelf, id, version, size, words) VALUES (?, ?, ?, ?, ?)"
_FORGET: Final = "DELETE FROM search_memories WHERE doc = ?"
_COUNT: Final = (
    "UPDATE search_shelves SET memories = memories + :memories, words = words + :words,"
    " seq = coalesce(max(:seq, seq), :seq, seq) WHERE shelf = :shelf"
)


class Indexed(NamedTuple):
    """What the index knows of a shelf.

    Attributes:
        shelf: Its number in the index.
        seq: The last revision that is in the index, or None while it is first being made.
    """

    shelf: int
    seq: int | None
    memories: int
    words: int


class Text(NamedTuple):
    """A memory to be analysed: its id, its version and what its fields say."""

    id: bytes
    version: int
    analysed: Analysed


def last_change(connection: sqlite3.Connection, scope_key: str) -> int:
    """Return the last revision of a shelf, or 0."""
    return connection.execute(_LAST_SEQ, {"scope_key": scope_key}).fetchone()[0] or 0


def state(connection: sqlite3.Connection, scope_key: str) -> Indexed | None:
    """Return what the index knows of a shelf, or None when it has none of it."""
    if not _is_there(connection):
        return None
    key = {"scope_key": scope_key, "analyser": analysis.VERSION}
    row = connection.execute(_SHELF, key).fetchone()
    return None if row is None else Indexed(*row)


def stale(connection: sqlite3.Connection, scope_key: str, indexed: Indexed) -> list[bytes]:
    """Return the ids of memories that changed, came or went since the index was brought up."""
    key = {"scope_key": scope_key, "shelf": indexed.shelf, "since": indexed.seq}
    if indexed.seq is not None:
        changed = connection.execute(_CHANGED, key).fetchall()
        if not any(pruned for _, pruned in changed):
            ids = [id for id, _ in changed if id is not None]
            return [id for id in ids if _differs(connection, scope_key, indexed.shelf, id)]
    # Pruning may have taken revisions that the index has not seen: every version is compared.
    return [id for (id,) in connection.execute(_ALL_STALE, key).fetchall()]


def texts(connection: sqlite3.Connection, scope_key: str, ids: Iterable[bytes]) -> list[Text]:
    """Read and analyse those of these memories that are there."""
    found = []
    for id in ids:
        row = connection.execute(_READ, {"scope_key": scope_key, "id": id}).fetchone()
        if row is not None:
            found.append(Text(row[0], row[1], analysed(*row[2:])))
    return found


def analysed(name: str, summary: str | None, derived: int, tags: str, content: str) -> Analysed:
    """Return the analysis of a row; a derived summary says nothing that the body does not."""
    return ranking.analyse(
        content,
        name=name,
        summary="" if derived or not summary else summary,
        tags=json.loads(tags),
    )


def bring_up(database: Database, scope_key: str) -> None:
    """Bring the index of a shelf up to its last revision, or as far as nobody else writes.

    Raises:
        StoreBusy: Another writer held the lock; the index is as it was, which a search can do with.
        StoreReadOnly: The same for a file that cannot be written.
    """
    with database.read(snapshot=True) as connection:
        known = state(connection, scope_key)
        seq = last_change(connection, scope_key)
        if known is not None and known.seq == seq:
            return
        waiting = None if known is None else stale(connection, scope_key, known)
    if known is None or waiting is None:
        with _writing(database) as connection:
            known = _begin(connection, scope_key)
            waiting = stale(connection, scope_key, known)
            seq = last_change(connection, scope_key)
    for start in range(0, len(waiting), BATCH):
        ids = waiting[start : start + BATCH]
        with database.read(snapshot=True) as connection:
            fresh = {text.id: text for text in texts(connection, scope_key, ids)}
        with _writing(database) as connection:
            _put(connection, scope_key, known.shelf, ids, fresh)
    with _writing(database) as connection:
        _count(connection, known.shelf, seq=seq)
        if len(waiting) > BATCH:
            connection.execute("INSERT INTO search_terms (search_terms) VALUES ('optimize')")


def erase(connection: sqlite3.Connection, scope_key: str) -> None:
    """Take a shelf out of the index for good, inside the caller's transaction.

    For words that must not stay in the file: removed entries would otherwise linger in the index
    until it is merged. The next search makes it anew.
    """
    if not _is_there(connection):
        return
    for (shelf,) in connection.execute(
        "SELECT shelf FROM search_shelves WHERE scope_key = ?", (scope_key,)
    ).fetchall():
        for doc, words in connection.execute(
            "SELECT doc, words FROM search_memories WHERE shelf = ?", (shelf,)
        ).fetchall():
            connection.execute(_DROP, (doc, *_columns(shelf, words)))
        connection.execute("DELETE FROM search_memories WHERE shelf = ?", (shelf,))
        connection.execute("DELETE FROM search_shelves WHERE shelf = ?", (shelf,))
        connection.execute("INSERT INTO search_terms (search_terms) VALUES ('optimize')")


def counts(connection: sqlite3.Connection, shelf: int, terms: Iterable[str]) -> dict[str, int]:
    """Return how many memories of a shelf have each of these terms."""
    found = {}
    for term in terms:
        row = connection.execute(
            "SELECT doc FROM search_counts WHERE term = ?", (_term(shelf, term),)
        ).fetchone()
        if row is not None:
            found[term] = int(row[0])
    return found


def holders(connection: sqlite3.Connection, shelf: int, term: str) -> list[tuple[int, list[int]]]:
    """Return the documents of a shelf that have a term, by its strength there."""
    rows = connection.execute(
        "SELECT col, json_group_array(doc) FROM search_holders WHERE term = ? GROUP BY col",
        (_term(shelf, term),),
    ).fetchall()
    return [(_COLUMNS[column], json.loads(docs)) for column, docs in rows]


@contextmanager
def _writing(database: Database) -> Iterator[sqlite3.Connection]:
    """Write like `Database.write`, but with little patience: a search must not wait long."""
    with database.read() as connection:
        connection.execute(f"PRAGMA busy_timeout={PATIENCE}")
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        finally:
            connection.execute(f"PRAGMA busy_timeout={round(database.timeout * 1000)}")


def _begin(connection: sqlite3.Connection, scope_key: str) -> Indexed:
    for table in _TABLES:
        connection.execute(table)
    if (known := state(connection, scope_key)) is not None:
        return known
    erase(connection, scope_key)  # what an older analyser left
    key = {"scope_key": scope_key, "analyser": analysis.VERSION}
    connection.execute(
        "INSERT INTO search_shelves (scope_key, analyser) VALUES (:scope_key, :analyser)", key
    )
    return Indexed(*connection.execute(_SHELF, key).fetchone())


def _put(
    connection: sqlite3.Connection,
    scope_key: str,
    shelf: int,
    ids: Sequence[bytes],
    fresh: Mapping[bytes, Text],
) -> None:
    """Replace what the index has of these memories, unless they changed since they were read.

    Such a change has a revision that is still to come, so the next round takes it up. Without the
    test a slow process could put an old text over a newer one.
    """
    memories = words = 0
    for id in ids:
        text = fresh.get(id)
        now = connection.execute(_VERSION, {"scope_key": scope_key, "id": id}).fetchone()
        if now != (None if text is None else (text.version,)):
            continue
        old = connection.execute(_INDEXED, {"shelf": shelf, "id": id}).fetchone()
        if old is not None:
            connection.execute(_DROP, (old[0], *_columns(shelf, old[3])))
            connection.execute(_FORGET, (old[0],))
            memories, words = memories - 1, words - old[2]
        if text is not None:
            row = (shelf, id, text.version, text.analysed.size, text.analysed.words)
            doc = connection.execute(_NEW, row).lastrowid
            connection.execute(_ADD, (doc, *_columns(shelf, text.analysed.words)))
            memories, words = memories + 1, words + text.analysed.size
    _count(connection, shelf, memories=memories, words=words)


def _count(
    connection: sqlite3.Connection,
    shelf: int,
    *,
    memories: int = 0,
    words: int = 0,
    seq: int | None = None,
) -> None:
    connection.execute(_COUNT, {"shelf": shelf, "memories": memories, "words": words, "seq": seq})


def _differs(connection: sqlite3.Connection, scope_key: str, shelf: int, id: bytes) -> bool:
    now = connection.execute(_VERSION, {"scope_key": scope_key, "id": id}).fetchone()
    then = connection.execute(_INDEXED, {"shelf": shelf, "id": id}).fetchone()
    return bool((now and now[0]) != (then and then[1]))


def _columns(shelf: int, words: str) -> list[str]:
    mark = _term(shelf, "")
    return [
        f"{mark}{f' {mark}'.join(terms)}" if terms else ""
        for terms in ranking.terms_by_strength(words)
    ]


def _term(shelf: int, term: str) -> str:
    return f"{shelf}x{term}"


def _is_there(connection: sqlite3.Connection) -> bool:
    found = "SELECT 1 FROM sqlite_master WHERE name = 'search_counts'"
    return connection.execute(found).fetchone() is not None
