"""What SQLite's errors mean to a caller."""

from __future__ import annotations

import sqlite3

from memories_sdk.errors import (
    MemoriesError,
    StorageError,
    StorageFull,
    StoreBusy,
    StoreDamaged,
    StoreReadOnly,
    StoreUnavailable,
)


def translated(error: sqlite3.Error, path: str, timeout: float) -> MemoriesError:
    """Return our error for the engine's, told apart by its code and never by its text."""
    match code_of(error) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(timeout)
        case sqlite3.SQLITE_FULL:
            return StorageFull(
                f"No room left on the device that holds {path}. Nothing was written.",
                suggestion="Free some space and try again; reading still works.",
            )
        case sqlite3.SQLITE_READONLY:
            return StoreReadOnly(
                f"{path} cannot be written.",
                suggestion="Check the permissions of the file and of its directory.",
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return StoreDamaged(
                f"{path} is not an intact SQLite database.",
                suggestion="Open another file, or restore this one from a backup.",
            )
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR | sqlite3.SQLITE_PERM as code:
            read = code == sqlite3.SQLITE_IOERR
            return StoreUnavailable(
                f"{path} cannot be {'read or written' if read else 'opened'}.",
                suggestion="Check the disk, your quota, and the limits of this process (ulimit)."
                if read
                else "Check that its directory exists, that you may write there, and that this "
                "process may open more files.",
            )
        case _:
            return StorageError(f"The database refused the call: {error}.")


def code_of(error: BaseException) -> int:
    """Return the engine's extended code of an error, 0 where it has none."""
    return getattr(error, "sqlite_errorcode", 0) or 0
