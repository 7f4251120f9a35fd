"""Doors for agent frameworks: each its own module with its own extra, none loaded by the package.

A door translates a framework's calls into those of `MemoryTools` or of a scope; it holds no rule.
Hosts that run an event loop never wait in it: each call hops to a worker thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from memories_sdk.errors import MissingExtra
from memories_sdk.memory import MemoryHead
from memories_sdk.pages import MAX_PAGE
from memories_sdk.reader import ScopeReader


def heads(shelf: ScopeReader, *, type: str | None = None) -> Iterator[MemoryHead]:
    """Yield the heads of a shelf, page by page."""
    page = shelf.list(type=type, limit=MAX_PAGE)
    yield from page
    while page.next_cursor is not None:
        page = shelf.list(type=type, limit=MAX_PAGE, cursor=page.next_cursor)
        yield from page


class Extra:
    """Names the line that installs what a door needs, when it is missing.

    Args:
        name: The extra, which is also the door's module but for dashes.
        packages: The top-level packages that it brings.
    """

    def __init__(self, name: str, *packages: str) -> None:
        self._name = name
        self._packages = packages

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, ModuleNotFoundError):
            missing = (error.name or "").split(".")[0]
            if missing in self._packages:
                module = self._name.replace("-", "_")
                raise MissingExtra(f"memories_sdk.integrations.{module}", self._name) from error
