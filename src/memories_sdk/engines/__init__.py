"""The engines a store can live on: one module each, the only ones that know its dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memories_sdk.database import Database, Durability
from memories_sdk.engines.address import Address
from memories_sdk.engines.sqlite import SqliteDatabase
from memories_sdk.errors import InvalidInput

if TYPE_CHECKING:
    from memories_sdk.engines.mysql import MysqlDatabase
    from memories_sdk.engines.postgres import PostgresDatabase
    from memories_sdk.engines.server import Use

_POSTGRESQL: Final = frozenset({"postgresql", "postgres"})
_MYSQL: Final = frozenset({"mysql", "mariadb"})
SERVERS: Final = _POSTGRESQL | _MYSQL
"""Schemes of URLs that name a database on a server."""


def opened(
    location: str,
    *,
    timeout: float,
    durability: Durability,
    migrating: bool = False,
    replica: str | None = None,
) -> Database:
    """Open the database at a path or a URL.

    Args:
        location: A file, made with mode 0600 where missing, or ":memory:"; or the URL of a
            database on PostgreSQL, MariaDB or MySQL.
        timeout: Longest wait for another writer, in seconds.
        durability: "full" syncs every commit to the device; "process" survives a crash of the
            program but may lose the last commits when the power goes. A server has its own
            setting for that.
        migrating: Whether to lead the older tables of a server to this release's, rather than
            refuse them. A file is always migrated.
        replica: The URL of a server that follows the one of `location`, to read from.

    Raises:
        MissingExtra: The driver of that server is not installed.
        InvalidInput: A replica was named beside a file, or is one.
    """
    server = _server(location)
    if server is None:
        if replica is not None:
            raise _no_replica()
        return SqliteDatabase(location, timeout=timeout, durability=durability)
    if replica is not None and _server(replica) is not server:
        raise _no_replica()
    use: Use = "migrate" if migrating else "write"
    database = server(Address.parsed(location), timeout=timeout, use=use)
    if replica is not None:
        try:
            database.replica = server(Address.parsed(replica), timeout=timeout, use="read")
        except BaseException:
            database.close()
            raise
    return database


def _server(location: str) -> type[PostgresDatabase | MysqlDatabase] | None:
    """Return the class of the server that a URL names; None for a file."""
    scheme = location.partition("://")[0].partition("+")[0] if "://" in location else ""
    if scheme in _POSTGRESQL:
        from memories_sdk.engines.postgres import PostgresDatabase  # noqa: PLC0415 -- an extra

        return PostgresDatabase
    if scheme in _MYSQL:
        from memories_sdk.engines.mysql import MysqlDatabase  # noqa: PLC0415 -- an extra

        return MysqlDatabase
    return None


def _no_replica() -> InvalidInput:
    return InvalidInput(
        "A replica is a server that follows another one of its kind.",
        field="replica",
        suggestion="Name the URLs of both, or leave the replica out.",
    )
