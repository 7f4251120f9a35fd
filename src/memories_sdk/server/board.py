"""Finds the route of a request by the parts of its path, instead of trying one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from memories_sdk.server.routes import Route, Service


@dataclass(slots=True)
class Place:
    """Where paths meet.

    Attributes:
        path: The pattern of the path; all that a log may tell of it.
        routes: What is there, by method.
        named: The places one part further, by that part.
        any: The place one part further for whatever that part is, by the name of its value.
    """

    path: str = ""
    routes: dict[str, Route] = field(default_factory=dict)
    named: dict[str, Place] = field(default_factory=dict)
    any: dict[str, Place] = field(default_factory=dict)

    def beyond(self, part: str) -> Place:
        """Return the place one part of a pattern further, made on first need."""
        places, key = (self.any, part[1:-1]) if part.startswith("{") else (self.named, part)
        return places.setdefault(key, Place(f"{self.path}/{part}"))


class Board(BaseRoute):
    """All routes of a service as one, for a router among whose routes it stands."""

    def __init__(self, service: Service, routes: Iterable[Route]) -> None:
        self._service = service
        self._root = Place()
        for route in routes:
            place = self._root
            for part in _parts(route.family.prefix + route.path):
                place = place.beyond(part)
            place.routes[route.method] = route

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Tell whether the path is one of ours, and whether its method is there too."""
        if scope["type"] != "http":
            return Match.NONE, {}
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        elsewhere: Scope | None = None
        for place, values in _reached(self._root, _parts(path), {}):
            child: Scope = {"route": place, "path_params": values}
            if _method(scope) in place.routes:
                return Match.FULL, child
            if place.routes:
                elsewhere = elsewhere or child
        return (Match.NONE, {}) if elsewhere is None else (Match.PARTIAL, elsewhere)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for one of our paths."""
        routes: Mapping[str, Route] = scope["route"].routes
        if (route := routes.get(_method(scope))) is None:
            heads = {"HEAD"} if "GET" in routes else set()
            raise HTTPException(405, headers={"Allow": ", ".join(sorted({*routes} | heads))})
        response = await self._service.answer(route, Request(scope, receive))
        await response(scope, receive, send)


def _method(scope: Scope) -> str:
    """Return the method; a client that asks for the head alone is answered as if it read."""
    method: str = scope["method"]
    return "GET" if method == "HEAD" else method


def _parts(path: str) -> list[str]:
    return path.split("/")[1:]


def _reached(
    place: Place, parts: list[str], values: Mapping[str, str]
) -> Iterator[tuple[Place, Mapping[str, str]]]:
    """Yield the places that a path leads to; a part's own name comes before what takes any."""
    if not parts:
        yield place, values
        return
    part, rest = parts[0], parts[1:]
    if (named := place.named.get(part)) is not None:
        yield from _reached(named, rest, values)
    if part:
        for name, further in place.any.items():
            yield from _reached(further, rest, {**values, name: part})
