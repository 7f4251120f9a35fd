"""The engines a store can live on: one module each, the only ones that know its dialect."""

from __future__ import annotations

from typing import Final

from memories_sdk.database import Database, Durability
from memories_sdk.engines.address import Address
from memories_sdk.engines.sqlite import SqliteDatabase

_POSTGRESQL: Final = frozenset({"postgresql", "postgres"})
_MYSQL: Final = frozenset({"mysql", "mariadb"})
SERVERS: Final = _POSTGRESQL | _MYSQL
"""Schemes of URLs that name a database on a server."""


def opened(
    location: str, *, timeout: float, durability: Durability, migrating: bool = False
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

    Raises:
        MissingExtra: The driver of that server is not installed.
    """
    scheme = location.partition("://")[0].partition("+")[0] if "://" in location else ""
    if scheme in _POSTGRESQL:
        from memories_sdk.engines.postgres import PostgresDatabase  # noqa: PLC0415 -- an extra

        return PostgresDatabase(Address.parsed(location), timeout=timeout, migrating=migrating)
    if scheme in _MYSQL:
        from memories_sdk.engines.mysql import MysqlDatabase  # noqa: PLC0415 -- an extra

        return MysqlDatabase(Address.parsed(location), timeout=timeout, migrating=migrating)
    return SqliteDatabase(location, timeout=timeout, durability=durability)
