"""What plugins add to the server: an application each, and nobody reaches it unproved."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memories_sdk.errors import MemoriesError
from memories_sdk.server.authentication import Caller
from memories_sdk.server.frame import not_found
from memories_sdk.server.replies import Refused, refusal
from memories_sdk.server.routes import SPORA, Service

PREFIX: Final = "/plugins"
_CALLER: Final = "memories_sdk.caller"
_AGAINST_POLICY: Final = 1008


def add(app: FastAPI, service: Service) -> None:
    """Let the plugins of a store add their routes, each below a path with its name.

    Raises:
        PluginFailed: One of them failed.
    """

    def place(name: str) -> FastAPI:
        made = FastAPI(
            title=name,
            docs_url=None,  # their pages load scripts from elsewhere
            redoc_url=None,
            redirect_slashes=False,
            exception_handlers={
                HTTPException: not_found,
                MemoriesError: _refused,
                Exception: _refused,
            },
        )
        app.mount(f"{PREFIX}/{name}", _Gated(made, service))
        return made

    service.store.plugins.add_routes(place, service.store, caller)


def caller(request: Request) -> Caller:
    """Return who calls a plugin's route."""
    found = request.scope[_CALLER]
    if not isinstance(found, Caller):
        raise TypeError
    return found


class _Gated:
    """Holds a plugin's application to what holds for the server's own writes and reads.

    Whatever a plugin adds stands behind it, a mounted application too, so no plugin can forget it.
    """

    def __init__(self, application: ASGIApp, service: Service) -> None:
        self._application = application
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":  # nothing of a page's is proved there
            await send({"type": "websocket.close", "code": _AGAINST_POLICY})
            return
        try:
            found, body = await self._service.admit(Request(scope, receive), SPORA)
        except (Refused, MemoriesError) as error:
            await refusal(error).response()(scope, receive, send)
            return
        scope[_CALLER] = found
        parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return parts.pop() if parts else await receive()

        await self._application(scope, again, send)


async def _refused(request: Request, error: Exception) -> Response:
    del request  # it says nothing more
    return refusal(error).response()
