"""Servers of a cluster on loopback, and a load of writers that notes what was acknowledged."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from ports import free_port

from memories_sdk import MemoriesError, MemoryStore

PATIENCE = 40

__all__ = ["Load", "free_port", "kill", "own", "run", "until"]


def run(*command: object, user: str = "") -> str:
    """Run a command as a server's own user and return what it says."""
    words = [str(part) for part in command]
    if user and os.geteuid() == 0:
        words = ["runuser", "-u", user, "--", *words]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        raise RuntimeError(f"{words}\n{done.stdout}{done.stderr}")
    return done.stdout


def own(folder: Path, user: str) -> Path:
    """Make a folder that a server's user owns, under parents that it may walk through."""
    folder.mkdir(parents=True)
    for parent in (folder.parent, folder.parent.parent):
        with suppress(PermissionError):
            parent.chmod(parent.stat().st_mode | 0o055)
    if os.geteuid() == 0:
        shutil.chown(folder, user, user)
    return folder


def until(what: Callable[[], object], why: Callable[[], str]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while True:
        with suppress(Exception):
            if what():
                return
        if time.monotonic() > end:
            raise TimeoutError(why())
        time.sleep(0.1)


def kill(pid: int) -> None:
    """End a process and those of its group as a power cut would."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Load:
    """Writers on a shelf of their own each, who go on through errors that may be repeated.

    Attributes:
        acknowledged: Names of the memories whose save returned.
        unknown: Names of those whose save ended without an answer.
        errors: Codes of the errors that callers met, and how often.
        final: Those that do not say that the call may be tried again, and errors not of ours.
    """

    def __init__(self, urls: list[str], writers: int) -> None:
        self.acknowledged: set[str] = set()
        self.unknown: set[str] = set()
        self.errors: dict[str, int] = {}
        self.final: set[str] = set()
        self._urls = urls
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(writers)]

    @contextmanager
    def running(self) -> Iterator[Load]:
        """Write for the length of a `with` block."""
        for thread in self._threads:
            thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            for thread in self._threads:
                thread.join()

    def wait_for(self, more: int) -> None:
        """Wait until so many further saves were acknowledged."""
        aim = len(self.acknowledged) + more
        until(
            lambda: len(self.acknowledged) >= aim,
            lambda: f"fewer than {more} further saves: {self.errors}",
        )

    def _write(self, number: int) -> None:
        url = self._urls[number % len(self._urls)]
        with MemoryStore(url, timeout=30) as store:
            shelf = store.scope(acting_as=store.principals.user(f"user{number}"))
            each = 0
            while not self._stop.is_set():
                name = f"{number}.{each}"
                each += 1
                try:
                    shelf.save(name, "plan", f"body of {name}")
                except MemoriesError as error:
                    with self._lock:
                        self.errors[error.code] = self.errors.get(error.code, 0) + 1
                        self.unknown.add(name)
                        if not error.retryable:
                            self.final.add(error.code)
                    time.sleep(0.05)
                except Exception as error:
                    self.final.add(repr(error))
                    raise
                else:
                    with self._lock:
                        self.acknowledged.add(name)

    def lost(self, url: str, writers: int) -> set[str]:
        """Return what was acknowledged and is not there."""
        found: set[str] = set()
        with MemoryStore(url, timeout=30) as store:
            for number in range(writers):
                shelf = store.scope(acting_as=store.principals.user(f"user{number}"))
                cursor = None
                while True:
                    page = shelf.list(limit=500, cursor=cursor)
                    found |= {head.name for head in page}
                    if (cursor := page.next_cursor) is None:
                        break
            assert store.verify() == []
        return self.acknowledged - found
