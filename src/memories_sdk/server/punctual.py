"""Cuts a line on which no request comes: the HTTP library would wait for it for ever."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol


class Punctual(H11Protocol):
    """One line, by the strictest reader of HTTP that uvicorn has."""

    SECONDS: ClassVar[float] = 30.0
    """Longest time from the beginning of a line, or of a request on it, to the end of the head."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first request."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Read on, and wait for the rest of a head that has begun."""
        super().data_received(data)
        # Before the first request there is no cycle, whatever the library's type says.
        if self.cycle is None or self.cycle.response_complete:  # type: ignore[redundant-expr]
            self._await_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self.SECONDS, self._cut)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _cut(self) -> None:
        self._late = None
        self.transport.close()
