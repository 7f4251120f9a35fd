"""Puts the server together: `create_app(store)` is an ASGI application."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import version

import starlette.routing
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from memories_sdk.errors import InvalidInput
from memories_sdk.principals import Principal
from memories_sdk.server import beside, further, health, plugged, spora
from memories_sdk.server.authentication import Authenticate, Gate
from memories_sdk.server.frame import Frame, Watcher, not_found
from memories_sdk.server.openapi import describe
from memories_sdk.server.openwp import Facts
from memories_sdk.server.routes import Limits, Route, Service
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
            suggestion="Make a token: `memories token create alice`, or pass authenticate=.",
        )
    bounds = limits or Limits()
    gate = Gate(
        store,
        authenticate,
        failures=bounds.failures,
        rate=bounds.rate,
        secure=secure_cookie,
    )
    service = Service(store, gate, bounds)
    app = _bare()
    facts = Facts(site).routes()
    sessions = Sessions(gate).routes()
    routes = (*sessions, *beside.ROUTES, *further.ROUTES, *spora.ROUTES, *facts)
    app.router.routes += _paths(service, routes)
    health.add(app, store)
    plugged.add(app, service)
    describe(app, routes)
    app.add_middleware(Frame, hosts=hosts, watchers=watchers)
    return app


class Path(starlette.routing.Route):
    """A path of ours, whose pattern is all that the log tells of a request's path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Tell whether the path is this one, and name it."""
        match, found = super().matches(scope)
        return match, found if match is Match.NONE else {**found, "route": self}


def _paths(service: Service, routes: Iterable[Route]) -> Iterator[Path]:
    """Yield the paths of routes, each with all its methods: one that is refused hears of them.

    The framework reads nothing of a request here, since a route does; its own routes would.
    """
    paths: defaultdict[str, dict[str, Route]] = defaultdict(dict)
    for route in routes:
        paths[route.family.prefix + route.path][route.method] = route
    for path, methods in paths.items():
        yield Path(path, partial(_answer, service, methods), methods={*methods, "OPTIONS"})


async def _answer(service: Service, methods: Mapping[str, Route], request: Request) -> Response:
    if request.method == "OPTIONS":
        # No word of other origins: a browser lets a page of another site send nothing more.
        allowed = {*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])}
        return Response(status_code=204, headers={"Allow": ", ".join(sorted(allowed))})
    # Who asks for the head alone is answered as if they read.
    return await service.answer(methods.get(request.method) or methods["GET"], request)


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
