"""The files of an embedded store: made private, renamed when whole, and known to the directory."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from memories_sdk.errors import StorageFull, StoreUnavailable
from memories_sdk.tables import SCHEMA_VERSION


def create_private(path: Path) -> bool:
    """Make the file readable by its owner alone; tell whether it was missing.

    Raises:
        StoreUnavailable: It cannot be made there.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return False
    except OSError as error:
        raise StoreUnavailable(
            f"{path} cannot be created: {error.strerror}.",
            suggestion="Make its directory first, or choose another place.",
        ) from error
    return True


def resolved(location: str) -> str:
    """Return the path behind links: the log, and the turns of writers, lie beside the file itself.

    Raises:
        StoreUnavailable: The links lead nowhere, or the file has a second name. Whoever opens it by
            that one has a log and turns of its own, and overwrites what others wrote.
    """
    try:
        path = Path(location).resolve(strict=False)
        names = path.stat().st_nlink if path.is_file() else 1
    except (OSError, RuntimeError) as error:  # a circle of links is the one or the other
        raise StoreUnavailable(
            f"{location} cannot be found behind its links.", suggestion="Name the file itself."
        ) from error
    if names > 1:
        raise StoreUnavailable(
            f"{path} has {names} names (hard links), and every name would get a log of its own.",
            suggestion="Remove the others, or make a copy of the file and open that.",
        )
    return str(path)


class Footing:
    """The files of an open store: the database, its log, and the index of the log.

    Where one of them is deleted, moved or replaced, a connection goes on with a file that nobody
    else sees: what it wrote would be gone with the program, or get into the file of another store.

    Args:
        path: The database file.
    """

    def __init__(self, path: str) -> None:
        self._paths = tuple(f"{path}{ending}" for ending in ("", "-wal", "-shm"))
        self._known: tuple[object, ...] | None = None

    def holds(self) -> bool:
        """Tell whether they are those of the first time; inside a transaction, which makes all."""
        try:
            found = tuple([(now.st_ino, now.st_dev) for now in map(os.stat, self._paths)])
        except FileNotFoundError:
            found = ()
        if self._known is None:
            self._known = found
        return found == self._known

    def log_remains(self) -> bool:
        """Tell whether the database went and its log did not: the next file there would get it."""
        if not self._known:
            return False
        file, log = map(_known_by, self._paths[:2])
        return file != self._known[0] and log == self._known[1]

    def forget(self) -> None:
        """Begin anew: with its last connection, SQLite itself removes the log."""
        self._known = None


def _known_by(path: str) -> tuple[int, int] | None:
    try:
        now = Path(path).stat()
    except OSError:
        return None
    return now.st_ino, now.st_dev


def rename(part: Path, target: Path) -> None:
    """Give a file that is whole its name.

    Raises:
        StorageFull: The directory has no room for it.
        StoreUnavailable: It cannot be done.
    """
    try:
        part.rename(target)
    except OSError as error:
        kind = StorageFull if error.errno in {errno.ENOSPC, errno.EDQUOT} else StoreUnavailable
        raise kind(
            f"{target} cannot be made: {error.strerror}.",
            suggestion="Choose another place, or free some space there.",
        ) from error


def sync_directory(directory: Path) -> None:
    """Bring the names in a directory to the device."""
    with suppress(OSError):  # some file systems refuse to open a directory; nothing else to do
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def copy_before(path: Path, now: datetime) -> Path:
    """Return where the copy is kept that is made before a migration."""
    moment = now.strftime("%Y%m%dT%H%M%S.%fZ")
    return path.with_name(f"{path.stem}.before-v{SCHEMA_VERSION}-{moment}.db")
