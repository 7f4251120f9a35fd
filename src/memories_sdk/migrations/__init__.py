"""The way from one schema to the next, in Alembic's words; loaded only while a step is pending.

Each step is a module with one function, `upgrade`. It says what its version was, not what the
tables are now, so it never names `tables`. The row of `memory_schema` says which steps are done:
Alembic's own table is not used, so a host program may keep its own there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, StaticPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from memories_sdk.migrations import version_2

STEPS: Final[dict[int, Callable[[Operations], None]]] = {2: version_2.upgrade}
"""What leads to each version from the one before it."""


def migrate(connection: Connection, version: int) -> None:
    """Lead the tables from `version` to the newest, inside the transaction of the caller."""
    operations = Operations(MigrationContext.configure(connection))
    for target, upgrade in sorted(STEPS.items()):
        if target > version:
            upgrade(operations)
            done = text("UPDATE memory_schema SET version = :version WHERE id = 1")
            connection.execute(done, {"version": target})


def migrate_embedded(connection: sqlite3.Connection, prepare: Callable[[], int]) -> None:
    """Migrate in one transaction on a connection of the driver; an error leaves it to be undone.

    Args:
        connection: It has no transaction open.
        prepare: Called when nobody else can write any more; returns the version to begin with.

    Raises:
        sqlite3.Error: The engine refused a step.
    """
    engine = create_engine(
        "sqlite://",
        creator=lambda: connection,
        poolclass=StaticPool,
        # SQLAlchemy neither begins nor ends a transaction.
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,
        skip_autocommit_rollback=True,
    )
    try:
        with engine.connect() as bound:
            connection.execute("BEGIN IMMEDIATE")
            migrate(bound, prepare())
            connection.execute("COMMIT")
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise error.orig from error
        raise
