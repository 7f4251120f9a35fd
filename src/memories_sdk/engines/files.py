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
