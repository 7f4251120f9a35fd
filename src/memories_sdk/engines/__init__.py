"""The engines a store can live on: one module each, the only ones that know its dialect."""

from __future__ import annotations

from memories_sdk.database import Database, Durability
from memories_sdk.engines.sqlite import SqliteDatabase


def opened(location: str, *, timeout: float, durability: Durability) -> Database:
    """Open the database at a path.

    Args:
        location: A file, made with mode 0600 where missing, or ":memory:".
        timeout: Longest wait for another writer, in seconds.
        durability: "full" syncs every commit to the device; "process" survives a crash of the
            program but may lose the last commits when the power goes.
    """
    return SqliteDatabase(location, timeout=timeout, durability=durability)
