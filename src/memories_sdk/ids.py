"""Mints UUIDv7 ids that rise within the process and stay with the clock."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

from uuid6 import UUID


class Uuid7:
    """A source of UUIDv7 values, each greater than the one before, from any thread.

    Sixty bits of time (milliseconds and a 12-bit fraction, RFC 9562 method 3) are followed by 62
    random bits. `uuid6.uuid7()` steps a whole millisecond per call and so runs minutes ahead of
    the clock in a bulk import; this steps a 4,096th, so that another process is not left behind.
    When the clock goes back, ids go on from the last one.
    """

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0

    def __call__(self) -> UUID:
        """Return the next id."""
        milliseconds, rest = divmod(self._clock(), 1_000_000)
        moment = milliseconds << 12 | (rest << 12) // 1_000_000
        with self._lock:
            self._last = moment = max(moment, self._last + 1)
        value = (moment >> 12) << 80 | (moment & 0xFFF) << 64 | secrets.randbits(62)
        return UUID(int=value, version=7)
