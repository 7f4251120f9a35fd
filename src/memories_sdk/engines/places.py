"""Where a file lies: whether other machines may write there too."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Final

MOUNTS: Final = Path("/proc/mounts")
_NETWORK: Final = frozenset(
    {
        *("9p", "afs", "beegfs", "ceph", "cifs", "coda", "glusterfs", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "smb3", "smbfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs"),
        *("fuse.sshfs",),
    }
)
_ESCAPE: Final = re.compile(r"\\([0-7]{3})")


class NetworkPlace(UserWarning):
    """The file lies on a network file system, where locks and the log of SQLite may fail."""


def network(path: Path, mounts: Path = MOUNTS) -> str | None:
    """Return the kind of network file system that a file lies on, or None.

    Known on Linux alone, from the table of mounts; the longest mount point above the file counts.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    here, longest, kind = str(path.resolve()), -1, ""
    for line in lines:
        fields = line.split(" ")
        point = _ESCAPE.sub(lambda found: chr(int(found[1], 8)), fields[1]).rstrip("/")
        if len(point) >= longest and (here == point or here.startswith(f"{point}/")):
            longest, kind = len(point), fields[2]
    return kind if kind in _NETWORK else None


def warn_of_network(path: Path) -> None:
    """Warn where several machines could reach the file."""
    if (kind := network(path)) is not None:
        warnings.warn(
            f"{path} lies on a network file system ({kind}): SQLite's locks may not hold there. "
            "Use a file of this machine, or a server such as PostgreSQL.",
            NetworkPlace,
            stacklevel=5,
        )
