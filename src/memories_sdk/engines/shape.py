"""The shape of our tables on an engine: the same tables, on a server in the types it has.

One rule for every column, so that a table declared once is right everywhere: text is compared and
sorted by code point, integers and times have 64 bits, bodies any length.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT, VARBINARY, VARCHAR
from sqlalchemy.dialects.postgresql import BYTEA
from sqlalchemy.types import TypeEngine

from memories_sdk.tables import index_metadata, metadata, server_metadata

KEY_LENGTH: Final = 255
"""Characters of a text in an index on MySQL. Three of them fill what an index can hold."""


def mount(metadata: MetaData, engine: str, *, collation: str = "utf8mb4_nopad_bin") -> None:
    """Add our tables to a host program's own metadata, so that its migrations make them.

    A store that is opened there afterwards finds them, signs them with its version and makes none.

    Args:
        metadata: Of the host program.
        engine: "sqlite", "postgresql" or "mysql".
        collation: For MySQL, name "utf8mb4_0900_bin".
    """
    for table in shaped(engine, collation=collation).sorted_tables:
        table.to_metadata(metadata)


def shaped(engine: str, *, collation: str = "") -> MetaData:
    """Return our tables for "sqlite", "postgresql" or "mysql".

    Args:
        engine: Whose types.
        collation: On MySQL and MariaDB, the one that compares bytes and keeps trailing blanks.
    """
    shape = MetaData()
    if engine == "sqlite":  # they were declared for it, and what a search keeps is made by one
        for table in metadata.sorted_tables:
            table.to_metadata(shape)
        return shape
    for source in (metadata, index_metadata, server_metadata):
        for table in source.sorted_tables:
            _shape(table.to_metadata(shape), engine, collation)
    return shape


def _shape(table: Table, engine: str, collation: str) -> None:
    indexed = {each.name for each in table.columns if each.primary_key or each.foreign_keys}
    for key in (*table.indexes, *table.constraints):
        if isinstance(key, (Index, UniqueConstraint)):
            indexed |= {column.name for column in key.columns}
    for column in table.columns:
        column.type = _type(column, engine, keyed=column.name in indexed)
    if engine == "mysql":
        table.kwargs.update(mysql_engine="InnoDB", mysql_charset="utf8mb4", mysql_collate=collation)
        return
    for index in table.indexes:
        where = index.dialect_options["sqlite"]["where"]
        index.dialect_options["postgresql"]["where"] = where


def _type(column: Column[Any], engine: str, *, keyed: bool) -> TypeEngine[Any]:
    kind = column.type
    if isinstance(kind, Integer):
        return BigInteger()
    if isinstance(kind, LargeBinary):
        return BYTEA() if engine == "postgresql" else VARBINARY(64) if keyed else LONGBLOB()
    if not isinstance(kind, Text):
        return kind
    if engine == "postgresql":
        return Text(collation="C")
    return VARCHAR(KEY_LENGTH) if keyed else LONGTEXT()
