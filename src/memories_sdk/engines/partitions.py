"""Partitions on PostgreSQL: a shelf's rows lie in one of several parts of each large table.

The part is found by a hash of `scope_key`, so this key stands in each primary and unique key, and
in bodies and vectors too. It is the layout that spreads over machines as well: whatever belongs to
a shelf, and every statement on it, names the same key.
"""

from __future__ import annotations

import re
from typing import Final

from memories_sdk.engines.server import ServerConnection
from memories_sdk.errors import InvalidInput
from memories_sdk.wording import POSTGRESQL, Worded, Wording

PARTED: Final = (
    "memories",
    "memory_bodies",
    "memory_vectors",
    "memory_revisions",
    "attachments",
)
"""The tables that grow with what is kept. The rest stays whole."""

MOST: Final = 1_024

PLANS: Final = "SET plan_cache_mode = force_generic_plan"
"""Has the server choose the part while a statement runs. Otherwise it plans each one anew for its
part, which took longer than what it planned."""

_KEYLESS: Final = ("memory_bodies", "memory_vectors")
"""Those that lead to a shelf by a row of `memories` alone, as long as nothing is parted."""

_CREATED: Final = re.compile(r"\s*CREATE TABLE (\w+) \(")
_KEY: Final = re.compile(r"(PRIMARY KEY|UNIQUE|memories) \(((?:(?!scope_key)[\w, ])+)\)")
_FOREIGN: Final = re.compile(r"FOREIGN KEY\(row\) (?=REFERENCES memories)")
_INSERTED: Final = re.compile(r"(INSERT INTO (?:memory_bodies|memory_vectors) \()(.*?VALUES \()")
_JOINED: Final = re.compile(
    rf"\b({'|'.join(_KEYLESS)}|b)\.row = (memories|m)\.row\b"
    rf"|\b(memories|m)\.row = ({'|'.join(_KEYLESS)}|b)\.row\b"
)
_SOUGHT: Final = re.compile(rf"WHERE ({'|'.join(_KEYLESS)})\.row\b")


class PartedWording(Wording):
    """The statements in the words of PostgreSQL, with the key that says in which part rows are.

    Inserts need it; where rows are looked for, it spares a look into every other part.
    """

    def __missing__(self, statement: str) -> Worded:
        found = super().__missing__(statement)
        self[statement] = found = found._replace(text=_keyed(found.text))
        return found


WORDING: Final = PartedWording(POSTGRESQL)


def split(statement: str, parts: int) -> list[str]:
    """Return what makes a table in parts, for the statement that would make it whole."""
    created = _CREATED.match(statement)
    if created is None or (name := created[1]) not in PARTED:
        return [statement]
    if name in _KEYLESS:
        statement = statement.replace("(", '(\n\tscope_key TEXT COLLATE "C" NOT NULL,', 1)
    statement = _KEY.sub(r"\1 (\2, scope_key)", statement)
    statement = _FOREIGN.sub("FOREIGN KEY(row, scope_key) ", statement)
    whole = f"{statement.rstrip()} PARTITION BY HASH (scope_key)"
    return [
        whole,
        *(
            f"CREATE TABLE {name}_{part} PARTITION OF {name}"
            f" FOR VALUES WITH (MODULUS {parts}, REMAINDER {part})"
            for part in range(parts)
        ),
    ]


def count(connection: ServerConnection) -> int:
    """Return in how many parts the tables of a store are; 0 for whole ones."""
    parts = "SELECT count(*) FROM pg_catalog.pg_inherits WHERE inhparent = 'memories'::regclass"
    return int(connection.run(parts).fetchone()[0])


def check_number(asked: int) -> None:
    """Refuse a number of parts that helps nobody.

    Raises:
        InvalidInput: It is 1, or too large.
    """
    if asked == 1 or asked > MOST:
        raise InvalidInput(
            f"partitions= in the URL must be between 2 and {MOST:,}.",
            field="location",
            suggestion="Leave it out for whole tables.",
        )


def check(asked: int, found: int) -> None:
    """Refuse a number of parts that the tables do not have.

    Raises:
        InvalidInput: They were made otherwise; what is there is never moved.
    """
    if asked and asked != found:
        raise InvalidInput(
            f"The tables of this store are {f'in {found} parts' if found else 'whole'},"
            f" and not in {asked} parts.",
            field="location",
            suggestion="Leave partitions= out, or bring the memories into a new store.",
        )


def _keyed(text: str) -> str:
    text = _INSERTED.sub(r"\1scope_key, \2%(scope_key)s, ", text)
    text = text.replace("ON CONFLICT (row, embedder)", "ON CONFLICT (row, embedder, scope_key)")
    text = _SOUGHT.sub(r"WHERE \1.scope_key = %(scope_key)s AND \1.row", text)
    return _JOINED.sub(_joined, text)


def _joined(found: re.Match[str]) -> str:
    one, other = (found[1], found[2]) if found[1] else (found[3], found[4])
    return f"{found[0]} AND {one}.scope_key = {other}.scope_key"
