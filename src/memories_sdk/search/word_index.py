"""The index of large shelves on disk: which memories have a word, kept up when somebody searches.

A save writes nothing here. The next search on that shelf brings the index up to the shelf's last
revision, in short transactions, before it reads. What it holds is derived: it can be dropped and is
then made anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from sqlalchemy import bindparam, insert

from memories_sdk.database import Connection, Database
from memories_sdk.encryption import Cipher
from memories_sdk.search import analysis, ranking
from memories_sdk.search.entries import entries
from memories_sdk.search.ranking import Analysed
from memories_sdk.tables import index_metadata
from memories_sdk.wording import compiled

indexed_shelves = index_metadata.tables["search_shelves"]
indexed_memories = index_metadata.tables["search_memories"]

BATCH: Final = 1_000
"""Memories in one transaction. Fewer cost more: each transaction leaves a part to be merged."""

VOLUME: Final = 400_000
"""Words after which a transaction ends all the same, about a tenth of a second."""

PATIENCE: Final = 0.2
"""Seconds that a search waits for another writer before it does without the index's update."""

_SHELF: Final = (
    "SELECT shelf, seq, memories, words FROM search_shelves"
    " WHERE scope_key = :scope_key AND analyser = :analyser"
)
_STANDS: Final = "SELECT 1 FROM search_shelves WHERE shelf = :shelf AND seq = :seq"
_NUMBERS: Final = "SELECT shelf FROM search_shelves WHERE scope_key = :scope_key"
_DOCS: Final = "SELECT doc, words FROM search_memories WHERE shelf = :shelf"
_LAST_SEQ: Final = "SELECT max(seq) FROM memory_revisions WHERE scope_key = :scope_key"
_CHANGED: Final = (
    "SELECT DISTINCT memory_id, action = 'prune' FROM memory_revisions"
    " WHERE scope_key = :scope_key AND seq > :since"
)
_ALL_STALE: Final = """
SELECT m.id FROM memories m LEFT JOIN search_memories s ON s.shelf = :shelf AND s.id = m.id
WHERE m.scope_key = :scope_key AND (s.version IS NULL OR s.version <> m.version)
UNION ALL
SELECT s.id FROM search_memories s LEFT JOIN memories m
  ON m.id = s.id AND m.scope_key = :scope_key
WHERE s.shelf = :shelf AND m.id IS NULL
ORDER BY 1
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
_NEW: Final = compiled(
    insert(indexed_memories).values(
        {name: bindparam(name) for name in ("shelf", "id", "version", "size", "words")}
    )
)
_BEGIN: Final = compiled(
    insert(indexed_shelves).values(
        {name: bindparam(name) for name in ("scope_key", "analyser", "memories", "words")}
    )
)
_AGAIN: Final = (
    "UPDATE search_memories SET version = :version, size = :size, words = :words WHERE doc = :doc"
)
_FORGET: Final = "DELETE FROM search_memories WHERE doc = :doc"
_COUNT: Final = (
    "UPDATE search_shelves SET memories = memories + :memories, words = words + :words,"
    " seq = CASE WHEN seq < :seq OR seq IS NULL THEN :seq ELSE seq END WHERE shelf = :shelf"
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


def last_change(connection: Connection, scope_key: str) -> int:
    """Return the last revision of a shelf, or 0."""
    return connection.execute(_LAST_SEQ, {"scope_key": scope_key}).fetchone()[0] or 0


def state(connection: Connection, scope_key: str) -> Indexed | None:
    """Return what the index knows of a shelf, or None when it has none of it."""
    if not entries(connection).there():
        return None
    key = {"scope_key": scope_key, "analyser": analysis.VERSION}
    row = connection.execute(_SHELF, key).fetchone()
    return None if row is None else Indexed(*row)


def stands(connection: Connection, indexed: Indexed) -> bool:
    """Whether the index of a shelf is the one that is known: one made anew has another number."""
    key = {"shelf": indexed.shelf, "seq": indexed.seq}
    return connection.execute(_STANDS, key).fetchone() is not None


def stale(connection: Connection, scope_key: str, indexed: Indexed) -> list[bytes]:
    """Return the ids of memories that changed, came or went since the index was brought up."""
    key = {"scope_key": scope_key, "shelf": indexed.shelf, "since": indexed.seq}
    if indexed.seq is not None:
        changed = connection.execute(_CHANGED, key).fetchall()
        if not any(pruned for _, pruned in changed):
            ids = sorted(id for id, _ in changed if id is not None)
            return [id for id in ids if _differs(connection, scope_key, indexed.shelf, id)]
    # Pruning may have taken revisions that the index has not seen: every version is compared.
    return [id for (id,) in connection.execute(_ALL_STALE, key).fetchall()]


def texts(
    connection: Connection, scope_key: str, ids: Iterable[bytes], cipher: Cipher | None = None
) -> list[Text]:
    """Read and analyse those of these memories that are there."""
    found = (_text(connection, scope_key, id, cipher) for id in ids)
    return [text for text in found if text is not None]


def _text(
    connection: Connection, scope_key: str, id: bytes, cipher: Cipher | None = None
) -> Text | None:
    row = connection.execute(_READ, {"scope_key": scope_key, "id": id}).fetchone()
    if row is None:
        return None
    name, summary, derived, tags, content = row[2:]
    summary, content = opened(scope_key, id, summary, content, cipher)
    return Text(row[0], row[1], analysed(name, summary, derived, tags, content))


def opened(
    scope_key: str, id: bytes, summary: str | None, content: str, cipher: Cipher | None
) -> tuple[str | None, str]:
    """Return the summary and the body of a memory as they were written."""
    if cipher is None:
        return summary, content
    place = (scope_key, id.hex())
    return summary and cipher.open(summary, "summary", *place), cipher.open(
        content, "content", *place
    )


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
        with database.write(shelf=scope_key, patience=PATIENCE) as connection:
            known = _begin(connection, scope_key)
            waiting = stale(connection, scope_key, known)
            seq = last_change(connection, scope_key)
    done = 0
    while done < len(waiting):
        with database.read(snapshot=True) as connection:
            fresh = _fresh(connection, scope_key, waiting[done : done + BATCH])
        with database.write(shelf=scope_key, patience=PATIENCE) as connection:
            _put(connection, scope_key, known.shelf, fresh)
        done += len(fresh)
    with database.write(shelf=scope_key, patience=PATIENCE) as connection:
        _count(connection, known.shelf, seq=seq)
        if len(waiting) > BATCH:
            entries(connection).settle()


def erase(connection: Connection, scope_key: str) -> None:
    """Take a shelf out of the index for good, inside the caller's transaction.

    For words that must not stay in the file: removed entries would otherwise linger in the index
    until it is merged. The next search makes it anew.
    """
    if not entries(connection).there():
        return
    index = entries(connection)
    for (shelf,) in connection.execute(_NUMBERS, {"scope_key": scope_key}).fetchall():
        for doc, words in connection.execute(_DOCS, {"shelf": shelf}).fetchall():
            index.drop(shelf, doc, words)
        connection.execute("DELETE FROM search_memories WHERE shelf = :shelf", {"shelf": shelf})
        connection.execute("DELETE FROM search_shelves WHERE shelf = :shelf", {"shelf": shelf})
        index.settle()


def _begin(connection: Connection, scope_key: str) -> Indexed:
    entries(connection).make()
    if (known := state(connection, scope_key)) is not None:
        return known
    erase(connection, scope_key)  # what an older analyser left
    key = {"scope_key": scope_key, "analyser": analysis.VERSION}
    connection.execute(_BEGIN, key | {"memories": 0, "words": 0})
    return Indexed(*connection.execute(_SHELF, key).fetchone())


def _fresh(
    connection: Connection, scope_key: str, ids: Sequence[bytes]
) -> dict[bytes, Text | None]:
    """Return the first of these memories as they are now, as many as one transaction takes."""
    fresh: dict[bytes, Text | None] = {}
    volume = 0
    for id in ids:
        if volume > VOLUME:
            break
        fresh[id] = text = _text(connection, scope_key, id)
        volume += text.analysed.size if text else 0
    return fresh


def _put(
    connection: Connection, scope_key: str, shelf: int, fresh: Mapping[bytes, Text | None]
) -> None:
    """Replace what the index has of these memories, unless they changed since they were read.

    Such a change has a revision that is still to come, so the next round takes it up. Without the
    test a slow process could put an old text over a newer one.
    """
    index = entries(connection)
    memories = words = 0
    for id, text in fresh.items():
        now = connection.execute(_VERSION, {"scope_key": scope_key, "id": id}).fetchone()
        if now != (None if text is None else (text.version,)):
            continue
        old = connection.execute(_INDEXED, {"shelf": shelf, "id": id}).fetchone()
        if old is not None:
            index.drop(shelf, old[0], old[3])
            memories, words = memories - 1, words - old[2]
            if text is None:
                connection.execute(_FORGET, {"doc": old[0]})
        if text is not None:
            doc = _described(connection, shelf, text, None if old is None else old[0])
            index.add(shelf, doc, text.analysed.terms)
            memories, words = memories + 1, words + text.analysed.size
    _count(connection, shelf, memories=memories, words=words)


def _described(connection: Connection, shelf: int, text: Text, doc: int | None) -> int:
    """Store how a memory was analysed; return its number, which stays with it.

    Of equals, the one with the higher number is chosen: an answer must not depend on how often
    somebody searched between two changes.
    """
    row: dict[str, object] = {"version": text.version, "size": text.analysed.size}
    row["words"] = text.analysed.words
    if doc is not None:
        connection.execute(_AGAIN, row | {"doc": doc})
        return doc
    return int(connection.execute(_NEW, row | {"shelf": shelf, "id": text.id}).lastrowid or 0)


def _count(
    connection: Connection,
    shelf: int,
    *,
    memories: int = 0,
    words: int = 0,
    seq: int | None = None,
) -> None:
    connection.execute(_COUNT, {"shelf": shelf, "memories": memories, "words": words, "seq": seq})


def _differs(connection: Connection, scope_key: str, shelf: int, id: bytes) -> bool:
    now = connection.execute(_VERSION, {"scope_key": scope_key, "id": id}).fetchone()
    then = connection.execute(_INDEXED, {"shelf": shelf, "id": id}).fetchone()
    return bool((now and now[0]) != (then and then[1]))
