"""Where vectors are kept: one for each memory and embedder, beside the memory.

What stands here is derived: it can be dropped and is then made anew. A delete of the memory takes
its vectors along.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects.sqlite import insert

from memories_sdk.database import Connection
from memories_sdk.encryption import Cipher
from memories_sdk.search import word_index
from memories_sdk.statements.terms import memories
from memories_sdk.tables import metadata
from memories_sdk.wording import compiled

vectors = metadata.tables["memory_vectors"]

HEAD: Final = 2_000
"""Characters of a body that are embedded: models read no more."""

_VERSIONS: Final = "SELECT row, version FROM memories WHERE scope_key = :scope_key ORDER BY row"
_STORED: Final = compiled(
    select(vectors.c.row, vectors.c.version, vectors.c.digest, vectors.c.vector)
    .join(memories, memories.c.row == vectors.c.row)
    .where(
        memories.c.scope_key == bindparam("scope_key"),
        vectors.c.embedder == bindparam("embedder"),
    )
)
_READ: Final = """
SELECT m.id, m.version, m.name, m.summary, m.summary_derived, m.tags, b.content
FROM memories m JOIN memory_bodies b ON b.row = m.row
WHERE m.row = :row AND m.scope_key = :scope_key
"""
_VERSION: Final = "SELECT version FROM memories WHERE row = :row AND scope_key = :scope_key"
_COLUMNS: Final = ("row", "embedder", "version", "digest", "vector")
_INSERT: Final = insert(vectors).values({name: bindparam(name) for name in _COLUMNS})
_PUT: Final = compiled(
    _INSERT.on_conflict_do_update(
        index_elements=["row", "embedder"],
        set_={name: _INSERT.excluded[name] for name in ("version", "digest", "vector")},
    )
)
_ERASE: Final = compiled(
    delete(vectors).where(
        vectors.c.row.in_(
            select(memories.c.row).where(memories.c.scope_key == bindparam("scope_key"))
        )
    )
)


class Stored(NamedTuple):
    """The vector of one memory.

    Attributes:
        digest: Of the text it was made of: while that stays, it stays.
        vector: Eight bits a number.
    """

    version: int
    digest: bytes
    vector: bytes


def versions(connection: Connection, scope_key: str) -> list[tuple[int, int]]:
    """Return the rows of a shelf with their versions."""
    return connection.execute(_VERSIONS, {"scope_key": scope_key}).fetchall()


def stale(connection: Connection, scope_key: str, known: Mapping[int, Stored]) -> list[int]:
    """Return the rows of a shelf whose vector is missing or of another version."""
    return [
        row
        for row, version in versions(connection, scope_key)
        if row not in known or known[row].version != version
    ]


def stored(connection: Connection, scope_key: str, embedder: str, dim: int) -> dict[int, Stored]:
    """Return the vectors of a shelf that one embedder made."""
    key = {"scope_key": scope_key, "embedder": embedder}
    rows = connection.execute(_STORED, key).fetchall()
    return {row[0]: Stored(*row[1:]) for row in rows if len(row[3]) == dim}


def texts(
    connection: Connection, scope_key: str, rows: Sequence[int], cipher: Cipher | None
) -> Iterator[tuple[int, int, str]]:
    """Yield row, version and the text to embed of those of these memories that are there."""
    for row in rows:
        found = connection.execute(_READ, {"scope_key": scope_key, "row": row}).fetchone()
        if found is not None:
            id, version, name, summary, derived, tags, content = found
            summary, content = word_index.opened(scope_key, id, summary, content, cipher)
            said = "" if derived else summary
            fields = (name, said, ", ".join(json.loads(tags)), content[:HEAD])
            yield row, version, "\n".join(filter(None, fields))


def put(connection: Connection, scope_key: str, embedder: str, fresh: Mapping[int, Stored]) -> None:
    """Store vectors, unless a memory changed since its text was read."""
    for row, each in fresh.items():
        key = {"scope_key": scope_key, "row": row}
        if connection.execute(_VERSION, key).fetchone() == (each.version,):
            connection.execute(_PUT, each._asdict() | key | {"embedder": embedder})


def erase(connection: Connection, scope_key: str) -> None:
    """Take the vectors of a shelf out of the database, inside the caller's transaction.

    What a text said can be guessed from its vector.
    """
    connection.execute(_ERASE, {"scope_key": scope_key})
