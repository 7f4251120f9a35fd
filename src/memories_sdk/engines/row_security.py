"""Row-level security on PostgreSQL: a second wall around each shelf.

A transaction names its shelves in a setting that ends with it; the policies show the rows of those
alone. Nothing named, nothing shown. What belongs to no shelf is not behind the wall: principals,
members, agents, tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import MetaData

from memories_sdk.engines.partitions import PARTED
from memories_sdk.engines.server import ServerConnection

_NAMED: Final = (
    "(scope_key = ANY (string_to_array(current_setting('memories.shelves', true), ','))"
    " OR current_setting('memories.shelves', true) = '*')"
)
_THROUGH: Final = {
    "memory_bodies": "EXISTS (SELECT FROM memories m WHERE m.row = memory_bodies.row)",
    "memory_vectors": "EXISTS (SELECT FROM memories m WHERE m.row = memory_vectors.row)",
    "search_memories": (
        "EXISTS (SELECT FROM search_shelves s WHERE s.shelf = search_memories.shelf)"
    ),
    "search_entries": "EXISTS (SELECT FROM search_shelves s WHERE s.shelf = search_entries.shelf)",
}
"""Tables that lead to a shelf by another one, which is behind the wall itself."""

_PARTS: Final = f"""
SELECT part.relname, whole.relname FROM pg_catalog.pg_inherits
JOIN pg_catalog.pg_class part ON part.oid = inhrelid
JOIN pg_catalog.pg_class whole ON whole.oid = inhparent
WHERE part.relkind = 'r' AND inhparent IN ({", ".join(f"'{name}'::regclass" for name in PARTED)})
"""  # noqa: S608 -- names of ours
"""The parts of our tables, each of which has the key of its shelf in every row."""

_OPEN: Final = frozenset({"memory_turns"})
"""Tables whose rows say nothing but that a shelf is there."""


def stands(connection: ServerConnection) -> bool:
    """Tell whether the wall stands."""
    found = "SELECT relrowsecurity FROM pg_catalog.pg_class WHERE oid = 'memories'::regclass"
    return bool(connection.run(found).fetchone()[0])


def build(connection: ServerConnection, shape: MetaData) -> None:
    """Put up the wall, inside the transaction of the caller; around each part of a table too."""
    walled = dict(_conditions(shape))
    # Whoever names a part is held to the policies of that part alone.
    for part, whole in connection.run(_PARTS).fetchall():
        walled[whole] = walled[part] = _NAMED
    for name, condition in walled.items():
        for statement in (
            f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY",
            f"DROP POLICY IF EXISTS memories_shelf ON {name}",
            f"CREATE POLICY memories_shelf ON {name} USING {condition} WITH CHECK {condition}",
        ):
            connection.run(statement)


def _conditions(shape: MetaData) -> Iterator[tuple[str, str]]:
    for name, table in shape.tables.items():
        if name in _THROUGH:
            yield name, f"({_THROUGH[name]})"
        elif "scope_key" in table.columns and name not in _OPEN:
            yield name, _NAMED
