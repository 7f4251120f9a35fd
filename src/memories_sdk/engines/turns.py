"""Lets the writers of a file take turns, in this process and in all others.

SQLite 3.7.0 to 3.51.2 can corrupt a write-ahead log when one connection commits at the instant at
which another one resets the log. Both happen in here only while the turn is held, so they cannot
meet, whichever SQLite each process brings. Writers also waste less time than in SQLite's own wait,
which sleeps ever longer.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakSet

if sys.platform != "win32":
    import fcntl

SUFFIX: Final = "-turn"
_SHORTEST: Final = 0.0002
_LONGEST: Final = 0.005
_PATIENCE: Final = 1.0
"""Longest wait of a fork, in seconds: a writer may be waiting for another program."""


class Turns:
    """The turn to write to one file.

    The lock is on a file of its own: whoever opens the database file a second time and closes it
    drops the locks that SQLite holds on it.

    Args:
        path: The database file.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(f"{path}{SUFFIX}")
        self._mine = threading.RLock()
        self._depth = 0
        self._gate = threading.Lock()
        self._forking = self._paused = False
        self._file: int | None = None
        _known.add(self)

    def take(self, timeout: float) -> bool:
        """Wait for the turn, at most so many seconds; tell whether it came."""
        end = time.monotonic() + timeout
        with self._gate:  # closed while a process forks, so that it need not queue for its turn
            pass
        if not self._mine.acquire(timeout=timeout):
            return False
        try:
            taken = self._depth > 0 or self._lock(end)
            self._depth += taken
        except BaseException:
            self._mine.release()
            raise
        if not taken:
            self._mine.release()
        return taken

    def give(self) -> None:
        """Let the next one write."""
        self._depth -= 1
        if self._depth == 0 and self._file is not None:
            _unlock(self._file)
        self._mine.release()

    def give_up(self) -> None:
        """Let the next one write, however far an interrupted call of this thread had come."""
        if self._mine.acquire(blocking=False):  # this thread's, or nobody's
            self._depth = 0
            if self._file is not None:
                _unlock(self._file)
            release_all(self._mine)

    def close(self) -> None:
        """Close the file; it stays, for others may wait on it."""
        if self._file is not None and self._mine.acquire(blocking=False):
            os.close(self._file)
            self._file = None
            self._mine.release()

    def pause(self) -> None:
        """Let no write of this process be under way while it forks.

        What SQLite knows of its locks is copied too: in the child, the writer of another thread
        would go on for ever.
        """
        self._gate.acquire()
        self._forking = True
        self._paused = self._mine.acquire(timeout=_PATIENCE)

    def go_on(self) -> None:
        """Let writers go on after a fork."""
        if self._forking:  # and was not made since
            if self._paused:
                self._mine.release()
            self._forking = False
            self._gate.release()

    def forget(self) -> None:
        """Start anew in a forked process, or the parent's turn would last as long as the child."""
        if self._file is not None:
            os.close(self._file)
        self._file = None
        self._depth = 0
        self._mine = threading.RLock()
        self._gate = threading.Lock()
        self._forking = self._paused = False

    def _lock(self, end: float) -> bool:
        if self._file is None:
            try:
                self._file = os.open(
                    self._path, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600
                )
            except OSError:  # where nothing can be made, nothing can be written either
                return True
        pause = _SHORTEST
        while not _locked(self._file):
            if time.monotonic() >= end:
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)
        return True


def release_all(lock: threading.RLock) -> None:
    """Release a lock of this thread, as often as it was taken."""
    with suppress(RuntimeError):
        while True:
            lock.release()


def _locked(file: int) -> bool:
    """Try to lock a file."""
    if sys.platform == "win32":  # there, only the threads of this process take turns
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without such locks; SQLite's own still hold
        return True
    return True


def _unlock(file: int) -> None:
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)


_known: Final[WeakSet[Turns]] = WeakSet()


def _pause_all() -> None:
    for turns in list(_known):
        turns.pause()


def _go_on() -> None:
    for turns in list(_known):
        turns.go_on()


def _forget_all() -> None:
    for turns in list(_known):
        turns.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_pause_all, after_in_parent=_go_on, after_in_child=_forget_all)
