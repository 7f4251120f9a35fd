"""Who is calling: bearer tokens, browser sessions, or what the host application says."""

from __future__ import annotations

import hashlib
import hmac
import inspect
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

import anyio.from_thread
from starlette.requests import Request

from memories_sdk.errors import InvalidInput
from memories_sdk.principals import Principal
from memories_sdk.server.replies import Refused
from memories_sdk.store import MemoryStore
from memories_sdk.tokens import Token

COOKIE: Final = "__Host-memories_session"
"""By its name alone a browser takes it from no neighbouring site, and not in the open."""

LESSER_COOKIE: Final = "memories_session"
"""Where that name is not to be had: below a path, or where the cookie may travel in the open."""

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling.

    Attributes:
        user: Who acts.
        principal: The one principal the caller may act as; None for all that the user may act as.
        may_write: Whether the caller may change anything.
        csrf: What each write must repeat in a header, for a browser that sends its cookies by
            itself; None where nothing is sent by itself.
    """

    user: Principal
    principal: Principal | None = None
    may_write: bool = True
    csrf: str | None = None


NOBODY: Final = Caller(Principal(0, "user", "nobody"), may_write=False)
"""Whoever calls a route that is open to all."""

Authenticate = Callable[[Request], Caller | Principal | Awaitable[Caller | Principal | None] | None]
"""Tells the caller of a request of the host application, or None for nobody."""


class Gate:
    """Lets callers in, and holds off who guesses.

    Args:
        store: Whose tokens count.
        authenticate: Asked first; a write of whom it names must come from its own site, or
            repeat what it said with the caller.
        failures: Wrong tokens of one address in a minute before it has to wait.
        rate: Requests of one caller in a second, over ten seconds; 0 for any number.
        secure: Whether a session cookie travels over HTTPS, and on this machine, alone.
    """

    def __init__(
        self,
        store: MemoryStore,
        authenticate: Authenticate | None,
        *,
        failures: int,
        rate: float,
        secure: bool,
    ) -> None:
        self._store = store
        self._authenticate = authenticate
        self._secure = secure
        self._guesses = Meter(rate=failures / 60, burst=failures)
        self._requests = Meter(rate=rate, burst=rate * 10)

    def shut(self, request: Request) -> bool:
        """Tell whether a request names nobody at all, which needs no look into its body."""
        named = "authorization" in request.headers or self._cookie(request) in request.cookies
        return self._authenticate is None and not named

    def caller(self, request: Request) -> Caller:
        """Return who is calling.

        Raises:
            Refused: Nobody, or somebody who calls too often.
        """
        found = self._named_by_host(request) or self._bearer(request) or self._session(request)
        if found is None:
            raise unauthenticated()
        if not self._requests.passes(found.user.id):
            raise too_many()
        return found

    def log_in(self, request: Request, secret: object) -> tuple[str, Caller]:
        """Return the secret of a new session, for the token that a browser logs in with.

        Raises:
            Refused: The token is wrong, or the address has guessed too often.
        """
        if not _same_site(request):
            # Logged in by a page of somebody else's, a person would write on that one's shelf.
            raise Refused(403, "CSRF_INVALID", "A login must come from its own site.")
        address = _address(request)
        if not self._guesses.would_pass(address):
            raise too_many()
        token = self._store.tokens.find(secret) if isinstance(secret, str) else None
        if token is None or token.session_of is not None:
            self._guesses.passes(address)
            raise Refused(401, "UNAUTHENTICATED", "That token is not valid.")
        issued = self._store.tokens.open_session(token)
        return issued.secret, _caller(issued.token, csrf_token(issued.secret))

    def log_out(self, request: Request) -> None:
        """End the session of a browser."""
        token = self._store.tokens.find(request.cookies.get(self._cookie(request), ""))
        if token is not None and token.session_of is not None:
            self._store.tokens.revoke(token.id)

    def cookie(self, request: Request, secret: str, seconds: int) -> str:
        """Return the header that gives a browser the cookie of its session."""
        path = request.scope.get("root_path") or "/"
        # Strict: a page of another site cannot make a browser send it at all.
        parts = [f"{self._cookie(request)}={secret}", "HttpOnly", "SameSite=Strict"]
        parts += [f"Path={path}", f"Max-Age={seconds}", *(["Secure"] if self._secure else [])]
        return "; ".join(parts)

    def _cookie(self, request: Request) -> str:
        below = request.scope.get("root_path")
        return COOKIE if self._secure and not below else LESSER_COOKIE

    def _named_by_host(self, request: Request) -> Caller | None:
        if self._authenticate is None:
            return None
        found = self._authenticate(request)
        if inspect.isawaitable(found):
            found = anyio.from_thread.run(_awaited, found)
        if found is None:
            return None
        if isinstance(found, Principal):
            found = Caller(found)
        if not isinstance(found, Caller):
            raise InvalidInput(
                "authenticate must return a Caller, a Principal or None.",
                field="authenticate",
                suggestion='For example store.principals.user("alice").',
            )
        if found.csrf is None and request.method not in SAFE and not _same_site(request):
            raise Refused(403, "CSRF_INVALID", "A write must come from its own site.")
        return found

    def _bearer(self, request: Request) -> Caller | None:
        header = request.headers.get("authorization")
        if header is None:
            return None
        scheme, _, secret = header.partition(" ")
        token = None
        if scheme.lower() == "bearer":
            token = self._store.tokens.find(secret.strip())
        if token is None or token.session_of is not None:
            # Looked at after the token: who has a right one is not locked out by a neighbour.
            if not self._guesses.passes(_address(request)):
                raise too_many()
            raise unauthenticated()
        return _caller(token, None)

    def _session(self, request: Request) -> Caller | None:
        secret = request.cookies.get(self._cookie(request))
        token = None if secret is None else self._store.tokens.find(secret)
        if secret is None or token is None or token.session_of is None:
            return None
        return _caller(token, csrf_token(secret))


def check_access(caller: Caller, *, writes: bool) -> None:
    """Refuse a write of a caller who may only read.

    Raises:
        Refused: It is one.
    """
    if writes and not caller.may_write:
        raise Refused(403, "READ_ONLY", "This token may only read.")


def check_csrf(caller: Caller, sent: str | None) -> None:
    """Refuse what a page of another site could have made a browser send.

    Raises:
        Refused: The token is missing or wrong.
    """
    if caller.csrf is None:
        return
    if not sent:
        raise Refused(403, "CSRF_TOKEN_MISSING", "CSRF token is required.")
    if not hmac.compare_digest(sent.encode(), caller.csrf.encode()):
        raise Refused(403, "CSRF_INVALID", "CSRF token is invalid.")


def csrf_token(secret: str) -> str:
    """Return what a page must repeat; only one that could read the answer of the login knows it."""
    return hmac.digest(secret.encode(), b"csrf", hashlib.sha256).hex()


class Meter:
    """Counts what each of many may do: so much in a second, and a burst after a pause."""

    MOST = 10_000
    """Whoever was longest silent is forgotten first: a flood of addresses fills no memory."""

    def __init__(self, *, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._left: OrderedDict[object, tuple[float, float]] = OrderedDict()
        self._turn = threading.Lock()

    def passes(self, key: object) -> bool:
        """Count one, and tell whether it was within the limit."""
        if not self._rate:
            return True
        with self._turn:
            left = self._now(key)
            within = left >= 1
            self._left[key] = (left - within, time.monotonic())
            self._left.move_to_end(key)
            if len(self._left) > self.MOST:
                self._left.popitem(last=False)
        return within

    def would_pass(self, key: object) -> bool:
        """Tell whether one more would be within the limit."""
        with self._turn:
            return not self._rate or self._now(key) >= 1

    def _now(self, key: object) -> float:
        left, seen = self._left.get(key, (self._burst, -math.inf))
        return min(self._burst, left + (time.monotonic() - seen) * self._rate)


def unauthenticated() -> Refused:
    """Return the refusal of a caller who is nobody."""
    headers = {"WWW-Authenticate": "Bearer"}
    return Refused(401, "UNAUTHENTICATED", "Authentication required.", headers=headers)


def too_many() -> Refused:
    """Return the refusal of a caller who calls too often."""
    return Refused(
        429, "TOO_MANY_REQUESTS", "Too many requests; wait a little.", headers={"Retry-After": "5"}
    )


async def _awaited(
    found: Awaitable[Caller | Principal | None],
) -> Caller | Principal | None:
    return await found


def _caller(token: Token, csrf: str | None) -> Caller:
    return Caller(token.user, token.principal, token.access == "write", csrf)


def _address(request: Request) -> str:
    host = "" if request.client is None else request.client.host
    with suppress(ValueError):
        # One line has 2^64 addresses of the newer kind: they count as one.
        if (address := ip_address(host)).version == NEWER:
            return str(IPv6Network((int(address) >> 64 << 64, 64)))
    return host


NEWER: Final = 6


def _same_site(request: Request) -> bool:
    """Tell whether a browser says that its own page sent this; a program says nothing."""
    if request.headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")
