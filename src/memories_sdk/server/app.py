"""Puts the server together: `create_app(store)` is an ASGI application."""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import version

from fastapi import FastAPI
from starlette.exceptions import HTTPException

from memories_sdk.errors import InvalidInput
from memories_sdk.principals import Principal
from memories_sdk.server import beside, further, health, plugged, spora
from memories_sdk.server.authentication import Authenticate, Gate
from memories_sdk.server.board import Board
from memories_sdk.server.frame import Frame, Watcher, not_found
from memories_sdk.server.openapi import describe
from memories_sdk.server.openwp import Facts
from memories_sdk.server.routes import Limits, Service
from memories_sdk.server.sessions import Sessions
from memories_sdk.store import MemoryStore


def create_app(
    store: MemoryStore,
    *,
    authenticate: Authenticate | None = None,
    site: Principal | None = None,
    hosts: Collection[str] = (),
    limits: Limits | None = None,
    secure_cookie: bool = True,
    watchers: Collection[Watcher] = (),
) -> FastAPI:
    """Return the server of a store, to be run by itself or mounted into another application.

    It never answers who has not proved who they are: with a token of `store.tokens`, with the
    session of a browser that logged in with one, or as `authenticate` says.

    Args:
        store: It stays open as long as the application runs.
        authenticate: Tells the caller of a request of a host application: a `Caller`, a user, or
            None to let tokens decide. It may be a coroutine function.
        site: Whose facts the OpenWP routes serve, for all who may act as that principal; left
            out, everybody's own.
        hosts: Names with a dot by which the server may be called; see `Frame`.
        limits: What the server bears; the usual when left out.
        secure_cookie: Whether browsers send the session over HTTPS, and to their own machine,
            alone.
        watchers: Who hears of each answer, for figures.

    Raises:
        InvalidInput: Nobody could prove who they are: there is no usable token and no
            `authenticate`.
    """
    if authenticate is None and not store.tokens.usable():
        raise InvalidInput(
            "The server does not start: nobody could prove who they are.",
            field="authenticate",
            suggestion="Make a token with `memories token create`, or pass authenticate=.",
        )
    bounds = limits or Limits()
    gate = Gate(store, authenticate, failures=bounds.failures, rate=bounds.rate)
    service = Service(store, gate, bounds)
    app = _bare()
    facts = Facts(site).routes()
    sessions = Sessions(gate, secure=secure_cookie).routes()
    routes = (*sessions, *beside.ROUTES, *further.ROUTES, *spora.ROUTES, *facts)
    app.router.routes.append(Board(service, routes))
    health.add(app, store)
    plugged.add(app, service)
    describe(app, routes)
    app.add_middleware(Frame, hosts=hosts, watchers=watchers)
    return app


def _bare() -> FastAPI:
    return FastAPI(
        title="memories-sdk",
        version=version("memories-sdk"),
        summary="Memories that agents and people keep together.",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={HTTPException: not_found},
    )
