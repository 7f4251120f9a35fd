"""Waits for the changes of a shelf, made in this process or in another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Final, Self

from memories_sdk.errors import StoreClosed
from memories_sdk.history import History

PAUSE: Final = 0.25
"""Seconds between two looks. A look is one indexed query, some microseconds."""


TOLD: Final = 5.0
"""Seconds between two looks where the engine tells of changes: only in case it fell silent."""

Bell = Callable[[threading.Event], bool]
"""Has the event set at every change from now on; tells whether the engine can do that."""


class Watch(Iterator[History]):
    """An endless iterator over changes as they come, oldest first, each change once.

    Safe to share between threads: each page of changes goes to one of them. It ends when it, or
    the store, is closed. Made by `scope.watch()`.

    Args:
        look: Returns the changes with a `seq` above the given one.
        since: The last `seq` that is known.
        pause: Seconds between two looks.
        bell: Where the engine can tell of changes, so that none is waited for.
        restless: Whether the last look kept something back, of which nobody may tell again.
    """

    def __init__(
        self,
        look: Callable[[int], History],
        since: int,
        pause: float,
        bell: Bell = lambda _: False,
        restless: Callable[[], bool] = lambda: False,
    ) -> None:
        self._look = look
        self._since = since
        self._turn = threading.Lock()
        self._closed = False
        self._stirred = threading.Event()
        self._pause = pause
        self._told = bell(self._stirred)
        self._restless = restless

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> History:
        """Wait for the next changes and return them."""
        with self._turn:
            while not self._closed:
                self._stirred.clear()
                try:
                    changes = self._look(self._since)
                except StoreClosed:
                    break
                if changes:
                    self._since = changes[-1].seq
                    return changes
                if not self._closed:
                    quiet = self._told and not self._restless()
                    self._stirred.wait(max(self._pause, TOLD) if quiet else self._pause)
        raise StopIteration

    def close(self) -> None:
        """End the iteration, also for a thread that waits in it."""
        self._closed = True
        self._stirred.set()
