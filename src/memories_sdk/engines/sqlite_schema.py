"""Which tables a file holds: whose they are, of which version, and how ours are made."""

from __future__ import annotations

import sqlite3

from sqlalchemy.schema import CreateIndex, CreateTable

from memories_sdk.errors import SchemaMismatch
from memories_sdk.tables import SCHEMA_VERSION, SchemaRow, metadata
from memories_sdk.wording import EMBEDDED


def schema_version(connection: sqlite3.Connection) -> int | None:
    """Return the version of our tables, or None where nobody signed any.

    Raises:
        SchemaMismatch: They are newer than this release, or another program's.
    """
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if SchemaRow.__tablename__ not in names:
        if foreign := names & metadata.tables.keys():
            raise _foreign_table(min(foreign))
        return None
    row = connection.execute("SELECT version FROM memory_schema WHERE id = 1").fetchone()
    # All of them without a signature were made by a host program, which mounted ours.
    mounted = row is None and names >= metadata.tables.keys()
    version = SCHEMA_VERSION if row is None else row[0]
    if (row is None and not mounted) or type(version) is not int:
        raise _foreign_table(SchemaRow.__tablename__)
    if version > SCHEMA_VERSION:
        raise SchemaMismatch(
            f"This file has schema {version}; this release knows schema {SCHEMA_VERSION}.",
            suggestion="Install a newer memories-sdk; the file was not touched.",
        )
    triggers = connection.execute(
        "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall()
    if acting := sorted(name for name, table in triggers if table in metadata.tables):
        raise SchemaMismatch(
            f"The file holds a trigger {acting[0]!r} that this package did not make.",
            suggestion="It would act on every write. Drop it, or open another file.",
        )
    return None if mounted else version


def _foreign_table(name: str) -> SchemaMismatch:
    return SchemaMismatch(
        f"The file holds a table named {name!r} that this package did not make.",
        suggestion="Open another file; the tables of another program are never touched.",
    )


def create_schema(connection: sqlite3.Connection) -> None:
    """Make our tables, unless a host program did, and sign them."""
    made = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    for table in metadata.sorted_tables:
        if table.name in made:
            continue
        connection.execute(str(CreateTable(table).compile(dialect=EMBEDDED)))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            connection.execute(str(CreateIndex(index).compile(dialect=EMBEDDED)))
    connection.execute(
        "INSERT INTO memory_schema (id, version) VALUES (1, :version)",
        {"version": SCHEMA_VERSION},
    )
