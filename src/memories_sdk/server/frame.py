"""What stands around every answer: hosts, safe headers, a log line, and no trace for a client."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Collection, Mapping
from typing import Any, Final, Protocol

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memories_sdk.server.replies import UNFORESEEN, Refused, openwp_refusal, refusal

logger: Final = logging.getLogger("memories_sdk.server")

SAFE_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Authorization, Cookie",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_SAFE: Final = [(name.lower().encode(), value.encode()) for name, value in SAFE_HEADERS.items()]
OPENWP: Final = "/openwp/v1/"
_PORT: Final = re.compile(r":[0-9]+\Z")
_ADDRESS: Final = re.compile(r"[0-9.]+\Z|\[[0-9a-fA-F:.]+\]\Z")


class Watcher(Protocol):
    """Hears of each answer, for figures."""

    def __call__(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Take note of an answer."""


class Frame:
    """Stands around an application.

    Args:
        application: What answers.
        hosts: Names with a dot by which this server may be called. A page of another site can
            make its own name point at this machine; addresses and plain names it cannot.
        watchers: Who hears of each answer.
    """

    def __init__(
        self, application: ASGIApp, hosts: Collection[str], watchers: Collection[Watcher]
    ) -> None:
        self._application = application
        self._hosts = frozenset(host.lower() for host in hosts)
        self._watchers = tuple(watchers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        began = time.monotonic()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"]
                own = {name for name, _ in headers}
                headers += [each for each in _SAFE if each[0] not in own]
            await send(message)

        try:
            refused = self._refused(Headers(scope=scope))
            answer = self._application if refused is None else refusal(refused).response()
            await answer(scope, receive, sending)
        except Exception:
            logger.exception("unforeseen error in %s", _route(scope))
            if status:
                raise  # half an answer is sent; only breaking off can tell the client
            await refusal(UNFORESEEN).response()(scope, receive, sending)
        finally:
            self._note(scope, status, time.monotonic() - began)

    def _refused(self, headers: Headers) -> Refused | None:
        if not self._known(headers.get("host", "")):
            return _foreign_host()
        if "content-length" in headers and "transfer-encoding" in headers:
            # A proxy that believes the other one of the two would see another request begin.
            closed = {"Connection": "close"}
            return Refused(400, "BAD_REQUEST", "The body has two lengths.", headers=closed)
        return None

    def _known(self, host: str) -> bool:
        name = _PORT.sub("", host.lower())
        local = "." not in name or name.endswith(".localhost") or bool(_ADDRESS.match(name))
        return local or name in self._hosts

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route, method = _route(scope), scope["method"]
        if logger.isEnabledFor(logging.INFO):
            client = scope.get("client")
            # The pattern of the path: neither ids, nor queries, nor bodies, nor tokens.
            line = {
                "method": method,
                "route": route,
                "status": status,
                "ms": round(seconds * 1000, 2),
                "client": client[0] if client else None,
            }
            logger.info(json.dumps(line))
        for watcher in self._watchers:
            watcher(route=route, method=method, status=status, seconds=seconds)


def _route(scope: Scope) -> str:
    route: Any = scope.get("route")
    return str(getattr(route, "path", "")) or "-"


def _foreign_host() -> Refused:
    return Refused(
        421,
        "UNKNOWN_HOST",
        "This server is not known by that name; its owner can add it to hosts.",
    )


def not_found(request: Request, error: Exception) -> Any:  # noqa: ANN401 -- as FastAPI asks
    """Answer for a path or method that there is not, in the envelope of its neighbours."""
    status = getattr(error, "status_code", 404)
    code = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}.get(status, "BAD_REQUEST")
    message = {404: "There is no such route.", 405: "That method is not allowed here."}
    headers = getattr(error, "headers", None)
    said = Refused(status, code, message.get(status, "Bad request."), headers=headers)
    return (openwp_refusal if OPENWP in request.url.path else refusal)(said).response()
