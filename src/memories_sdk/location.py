"""Where a store lies: a path, a URL, or the place that is used when none is named."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

import platformdirs

from memories_sdk.database import IN_MEMORY
from memories_sdk.engines import SERVERS
from memories_sdk.errors import InvalidInput, StoreUnavailable


def located(location: str | os.PathLike[str] | None) -> str:
    """Return the path of the database file, or the URL of a server, for what a caller named.

    Raises:
        InvalidInput: It is empty, or holds a NUL.
        StoreUnavailable: No engine is known by that scheme.
    """
    place = os.fspath(location) if location is not None else os.environ.get("MEMORIES_URL")
    if (location is not None and not place) or (place and "\0" in place):
        raise InvalidInput(
            "location must be a path without NUL characters.",
            field="location",
            suggestion="Leave it out for the store in your data folder.",
        )
    if not place:
        folder = platformdirs.user_data_path("memories-sdk")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return str(folder / "memories.db")
    if "://" not in place:
        return place if place == IN_MEMORY else str(Path(place).expanduser().absolute())
    url = urlsplit(place)
    if url.scheme.partition("+")[0] in SERVERS:
        return place
    if url.scheme != "sqlite":
        raise StoreUnavailable(
            f"{url.scheme}:// is not supported by this release.",
            suggestion="Use a path, or a URL of sqlite, postgresql, mariadb or mysql.",
        )
    path = unquote(url.path.removeprefix("/"))
    return str(Path(path).absolute()) if path and path != IN_MEMORY else IN_MEMORY
