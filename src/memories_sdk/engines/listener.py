"""Hears from PostgreSQL when a shelf has changed, on a connection and a thread of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

if TYPE_CHECKING:
    import psycopg

_PATIENCE: Final = 0.5
"""Seconds between two looks at whether the store was closed."""


class Listener:
    """Sets events when their shelf changes. Its thread starts with the first event.

    Args:
        connect: Returns a new connection.
        errors: What the driver raises.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection], errors: type[Exception]) -> None:
        self._connect = connect
        self._errors = errors
        self._events: dict[str | None, WeakSet[threading.Event]] = {}
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._closed = threading.Event()
        self._process = 0

    def tell(self, shelf: str | None, event: threading.Event) -> bool:
        """Have an event set whenever a shelf, or any, changes; wait until it is so."""
        with self._lock:
            self._events.setdefault(shelf, WeakSet()).add(event)
            if self._process != os.getpid():  # a thread does not follow into a forked process
                self._process = os.getpid()
                threading.Thread(target=self._listen, name="memories", daemon=True).start()
        return self._ready.wait(_PATIENCE * 10)

    def close(self) -> None:
        """End the thread, soon."""
        self._closed.set()
        self._ring(None, everywhere=True)

    def _listen(self) -> None:
        while not self._closed.is_set():
            try:
                with self._connect() as connection:
                    self._hear(connection)
            except self._errors:
                self._ready.clear()
                self._closed.wait(_PATIENCE)
            # What came while nobody listened was not told.
            self._ring(None, everywhere=True)

    def _hear(self, connection: psycopg.Connection) -> None:
        connection.execute("LISTEN memories_sdk")
        row = connection.execute("SELECT current_schema()").fetchone()
        schema = row[0] if row else ""
        self._ready.set()
        while not self._closed.is_set():
            for notice in connection.notifies(timeout=_PATIENCE):
                where, _, shelf = notice.payload.rpartition(" ")
                if where == schema:
                    self._ring(shelf)

    def _ring(self, shelf: str | None, *, everywhere: bool = False) -> None:
        with self._lock:
            shelves = list(self._events) if everywhere else (shelf, None)
            events = [event for each in shelves for event in self._events.get(each, ())]
        for event in events:
            event.set()
