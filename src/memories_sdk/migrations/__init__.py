"""The way from one schema to the next, in Alembic's words; loaded only while a step is pending.

Each step is a module with one function, `upgrade`. It says what its version was, not what the
tables are now, so it never names `tables`. The row of `memory_schema` says which steps are done:
Alembic's own table is not used, so a host program may keep its own there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, StaticPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from memories_sdk.errors import StorageError
from memories_sdk.migrations import version_2
from memories_sdk.migrations.resuming import Resuming

STEPS: Final[dict[int, Callable[[Operations], None]]] = {2: version_2.upgrade}
"""What leads to each version from the one before it."""


def migrate(connection: Connection, version: int, *, resuming: bool = False) -> None:
    """Lead the tables from `version` to the newest, inside the transaction of the caller.

    Args:
        connection: Of the caller.
        version: Where they are.
        resuming: Whether to leave out what an earlier attempt has done already.
    """
    kind = Resuming if resuming else Operations
    operations = kind(MigrationContext.configure(connection))
    for target, upgrade in sorted(STEPS.items()):
        if target > version:
            upgrade(operations)
            done = text("UPDATE memory_schema SET version = :version WHERE id = 1")
            connection.execute(done, {"version": target})


def migrate_server(raw: object, url: str, begins: Iterable[str]) -> None:
    """Migrate on a connection of a server's driver.

    PostgreSQL does it in one transaction. MariaDB and MySQL end one with every change of a table:
    there, a step that broke off is gone on with by the next call, and no store opens till then.

    Args:
        raw: It has no transaction open.
        url: The engine and its driver, in SQLAlchemy's words.
        begins: What begins a transaction.

    Raises:
        StorageError: The engine refused a step.
    """
    engine = create_engine(
        url,
        creator=lambda: raw,
        poolclass=StaticPool,
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,
        skip_autocommit_rollback=True,
    )
    with engine.connect() as bound:
        for statement in begins:
            bound.exec_driver_sql(statement)
        try:
            # Of several programs that migrate at once, the others wait here and then find it done.
            known = text("SELECT version FROM memory_schema WHERE id = 1 FOR UPDATE")
            resuming = bound.dialect.name == "mysql"
            migrate(bound, bound.execute(known).scalar_one(), resuming=resuming)
            bound.exec_driver_sql("COMMIT")
        except BaseException as error:
            with suppress(DBAPIError):  # the first error is the one that is told
                bound.exec_driver_sql("ROLLBACK")
            if isinstance(error, DBAPIError):
                raise _refused(error, resuming=bound.dialect.name == "mysql") from error
            raise


def _refused(error: DBAPIError, *, resuming: bool) -> StorageError:
    reason = " ".join(str(error.orig).split())
    return StorageError(
        f"The database refused a step of the migration: {reason}",
        suggestion=(
            "Its rows are all there. Mend the cause and migrate again: it goes on where it broke"
            " off. Or restore your backup."
            if resuming
            else "Nothing was changed. Mend the cause and migrate again."
        ),
    )


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
