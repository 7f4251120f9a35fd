"""A store that is served over HTTP while a test runs, as `memories serve` does it."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest
import uvicorn

from memories_sdk.server.serving import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memories_sdk import MemoryStore

PATIENCE: Final = 60
"""Longest wait for a server to start or to end, in seconds."""


class Watched(uvicorn.Server):
    """A server that tells when it listens, and when it begins to stop."""

    def __init__(self, config: uvicorn.Config, listening: Future[Watched]) -> None:
        super().__init__(config)
        self._listening = listening
        self.stopping = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        """Tell that it listens."""
        await super().startup(sockets)
        self._listening.set_result(self)

    async def shutdown(self, sockets: Any = None) -> None:
        """Tell that it was told to stop."""
        self.stopping.set()
        await super().shutdown(sockets)

    @property
    def place(self) -> tuple[str, int]:
        """Where it listens."""
        return self.servers[0].sockets[0].getsockname()

    @property
    def url(self) -> str:
        """What all its addresses begin with."""
        return "http://{}:{}".format(*self.place)


@contextmanager
def served(store: MemoryStore, **options: Any) -> Iterator[Watched]:
    """Run the server of a store, at a port that the system chooses, as long as the block runs."""
    listening: Future[Watched] = Future()

    def run(app: Any, **given: Any) -> None:
        Watched(uvicorn.Config(app, **given), listening).run()

    def serving() -> None:
        try:
            serve(store, port=0, **options)
        except BaseException as error:
            if listening.done():
                raise
            listening.set_exception(error)  # it did not start: whoever waits hears why

    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr("uvicorn.run", run)
        ended = pool.submit(serving)
        server = listening.result(PATIENCE)
        try:
            yield server
        finally:
            server.should_exit = True
            ended.result(PATIENCE)
