"""One thread that looks for changes made elsewhere, on behalf of all widgets that are on a page.

A page that asked every second would make the kernel look busy every second. So the kernel looks by
itself, and tells a page only when something happened.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final, Protocol
from weakref import WeakKeyDictionary

PAUSE: Final = 0.6
"""Seconds between two looks; with the way to the page and back it stays under two."""

LEASE: Final = 60.0
"""Seconds after which a page that was not heard of counts as gone."""

_log = logging.getLogger("memories_sdk.widgets")


class Watched(Protocol):
    """What the thread looks after."""

    def look(self) -> None:
        """Tell the page when the shelf is another than at the last look."""


class Watch:
    """Looks after widgets whose pages are heard of. The thread ends when none is left."""

    def __init__(self, *, pause: float = PAUSE, lease: float = LEASE) -> None:
        self._pause = pause
        self._lease = lease
        self._lock = threading.Lock()
        self._until: WeakKeyDictionary[Watched, float] = WeakKeyDictionary()
        self._thread: threading.Thread | None = None

    def extend(self, widget: Watched) -> bool:
        """Look after the widget for another lease; tell whether that is possible here."""
        with self._lock:
            self._until[widget] = time.monotonic() + self._lease
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="memories-watch", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # Python in the browser has no threads
                    return False
                self._thread = thread
            return True

    def drop(self, widget: Watched) -> None:
        """Look after the widget no more."""
        with self._lock:
            self._until.pop(widget, None)

    def _run(self) -> None:
        while widgets := self._due():
            for widget in widgets:
                try:
                    widget.look()
                # One widget's fault must not leave the others without news.
                except Exception:  # noqa: BLE001
                    _log.exception("looking for changes failed")
                    self.drop(widget)
            del widget, widgets  # a name of this loop would keep a closed widget alive
            time.sleep(self._pause)

    def _due(self) -> list[Watched]:
        """Return whom to look after; with nobody left, let the next one start a new thread."""
        now = time.monotonic()
        with self._lock:
            due = [widget for widget, until in self._until.items() if until > now]
            if not due:
                self._until.clear()
                self._thread = None
            return due


WATCH: Final = Watch()
