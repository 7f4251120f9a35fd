"""What a route is, and how a request runs through one: read, hop to a worker, answer.

The core is synchronous. A request hops once: who calls, the shelf and the verb all run on the same
worker thread, and the event loop is never held up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from memories_sdk.errors import EditConflict
from memories_sdk.server.authentication import (
    NOBODY,
    SAFE,
    Caller,
    Gate,
    check_access,
    check_csrf,
    unauthenticated,
)
from memories_sdk.server.calls import Call
from memories_sdk.server.replies import Answer, Refusal, Refused, refusal
from memories_sdk.store import MemoryStore

IDENTITY: Final = "identity"
SPORA_CSRF: Final = "x-csrf-token"
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Family:
    """Routes that speak alike.

    Attributes:
        refusal: Says an error in their words.
        check: Refuses a caller, from the request, before anything of it is looked at.
        prefix: What all their paths begin with.
    """

    name: str
    prefix: str
    refusal: Refusal
    check: Callable[[Request, Caller], None]


@dataclass(frozen=True, slots=True)
class Route:
    """One route.

    Attributes:
        path: Behind the family's prefix.
        run: Carries out a call.
        summary: One line for the description.
        writes: Whether it changes anything, which a token for reading may not.
        status: Of a success.
        query: Parameters that it takes, by the names of `description`.
        body: Schema of the body, or None for none.
        example: A success, as it is sent.
        otherwise: Another one of another shape, or None.
        refuses: Codes of refusals beyond those that every route has.
        open: Whether anybody may call it.
        raw: Whether bytes are sent instead of JSON: in the body of a write, else in the answer.
    """

    family: Family
    method: str
    path: str
    run: Callable[[Call], Answer]
    summary: str
    writes: bool = False
    status: int = 200
    query: tuple[str, ...] = ()
    body: Mapping[str, Any] | None = None
    example: object = None
    otherwise: object = None
    refuses: tuple[str, ...] = ()
    open: bool = False
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server bears.

    Attributes:
        body: Largest body of a request, in bytes.
        seconds: Longest time in which a body must have arrived.
        rate: Requests of one caller in a second, over ten seconds; 0 for any number.
        failures: Wrong tokens of one address in a minute before it has to wait.
        workers: Requests that are worked on at the same time; the others wait in line.
    """

    body: int = 8 << 20
    seconds: float = 30.0
    rate: float = 2_000.0
    failures: int = 20
    workers: int = 16


class Service:
    """Answers requests for a store."""

    def __init__(self, store: MemoryStore, gate: Gate, limits: Limits) -> None:
        self.store = store
        self.gate = gate
        self.limits = limits
        self._workers: anyio.CapacityLimiter | None = None

    async def answer(self, route: Route, request: Request) -> Response:
        """Return the answer of a route."""
        try:
            body = await self._read(request, of_nobody=route.open)
        except Refused as error:
            return route.family.refusal(error).response()
        return await self._in_worker(lambda: self._respond(route, request, body))

    async def admit(self, request: Request, family: Family) -> tuple[Caller, bytes]:
        """Return who makes a request, and its body, for what answers in the server's stead.

        Raises:
            Refused: A route of that family would refuse it too, whatever it does.
        """
        body = await self._read(request)
        writes = request.method not in SAFE
        return await self._in_worker(lambda: self._proved(request, family, writes=writes)), body

    def _respond(self, route: Route, request: Request, body: bytes) -> Response:
        try:
            caller = NOBODY
            if not route.open:
                caller = self._proved(request, route.family, writes=route.writes)
            else:
                route.family.check(request, caller)
            call = Call(self.store, request, body, caller)
            call.check()
            _ = call.named_principal, route.raw or call.given
            return _run(route, call).response()
        except Exception as error:
            answer = route.family.refusal(error)
            if answer.status == UNFORESEEN_STATUS:
                raise  # logged with its trace by the frame around the application
            return answer.response()

    def _proved(self, request: Request, family: Family, *, writes: bool) -> Caller:
        caller = self.gate.caller(request)
        family.check(request, caller)
        check_access(caller, writes=writes)
        return caller

    async def _in_worker(self, work: Callable[[], Done]) -> Done:
        if self._workers is None:
            self._workers = anyio.CapacityLimiter(self.limits.workers)
        return await anyio.to_thread.run_sync(work, limiter=self._workers)

    async def _read(self, request: Request, *, of_nobody: bool = False) -> bytes:
        if not of_nobody and self.gate.shut(request):
            raise unauthenticated()  # before a body of nobody's is read
        return b"" if request.method in SAFE else await self._body(request)

    async def _body(self, request: Request) -> bytes:
        """Return the body, of bounded size and in bounded time."""
        if request.headers.get("content-encoding", IDENTITY).lower() != IDENTITY:
            raise Refused(415, "BODY_ENCODED", "A body with a Content-Encoding is not read.")
        parts: list[bytes] = []
        left = self.limits.body
        declared = request.headers.get("content-length", "0")
        if declared.isdigit():
            _check_room(left - int(declared), left)
        try:
            with anyio.fail_after(self.limits.seconds):
                async for part in request.stream():
                    left -= len(part)
                    _check_room(left, self.limits.body)
                    parts.append(part)
        except TimeoutError:
            raise Refused(
                408, "REQUEST_TIMEOUT", "The body took too long.", headers={"Connection": "close"}
            ) from None
        except ClientDisconnect:
            raise Refused(400, "INVALID_JSON", "The body ended too early.") from None
        return b"".join(parts)


UNFORESEEN_STATUS: Final = 500


def _run(route: Route, call: Call) -> Answer:
    # Each turn has seen a newer version than the one before.
    while True:
        try:
            return route.run(call)
        except EditConflict as stale:
            if not call.catches_up(stale):
                raise


def check_spora(request: Request, caller: Caller) -> None:
    """Refuse a write of a browser that does not repeat its token."""
    if request.method not in SAFE:
        check_csrf(caller, request.headers.get(SPORA_CSRF))


SPORA: Final = Family("spora", "/api/v1", refusal, check_spora)


def _check_room(left: int, limit: int) -> None:
    if left < 0:
        raise Refused(
            413,
            "REQUEST_TOO_LARGE",
            f"The body is larger than {limit:,} bytes.",
            headers={"Connection": "close"},
        )
