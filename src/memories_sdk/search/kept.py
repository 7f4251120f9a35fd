"""What a process keeps of what it read, so as not to read it again: as much as has room. Pure."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The values that were asked for last. Safe between threads.

    Args:
        most: How many there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        with self._lock:
            if (value := self._values.get(key)) is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: K, value: V) -> V:
        """Keep a value and return it."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

    def forget(self) -> None:
        """Keep nothing of it."""
        with self._lock:
            self._values.clear()


class Hoard(dict[K, V]):
    """Values that are kept until all of them weigh too much: then it starts again.

    Threads may share one. What another one added may be gone a moment later.

    Args:
        most: What they may weigh.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._weight = 0

    def add(self, values: Mapping[K, V], weight: int) -> None:
        """Keep these values too, unless they alone weigh too much."""
        if weight > self._most:
            return
        if self._weight + weight > self._most:
            self.clear()
            self._weight = 0
        self.update(values)
        self._weight += weight
