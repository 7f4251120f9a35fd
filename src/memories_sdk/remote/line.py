"""The way to a server: requests, answers, and the errors that answers tell of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Any, Final, NoReturn, TypeVar
from urllib.parse import quote

import httpx

from memories_sdk import wire
from memories_sdk.errors import (
    AccessDenied,
    Conflict,
    InvalidInput,
    MemoriesError,
    NotFound,
    StoreUnavailable,
)

API: Final = "/api/v1"
TIMEOUT: Final = 60.0
_PLAIN: Final[Mapping[int, type[MemoriesError]]] = {
    401: AccessDenied,
    403: AccessDenied,
    404: NotFound,
    409: Conflict,
}


Value = TypeVar("Value")


class Line:
    """The way to a server.

    Args:
        url: Where it is; HTTPS, or this machine.
        token: What the caller proves itself with.

    Raises:
        InvalidInput: The token would be sent in the open, or there is none.
    """

    def __init__(
        self, url: str, token: str | None, transport: httpx.BaseTransport | None = None
    ) -> None:
        try:
            place = httpx.URL(url)
        except (httpx.InvalidURL, ValueError):
            raise InvalidInput(
                "That is no address.", field="location", suggestion="For example https://host:8642."
            ) from None
        if place.scheme != "https" and not _here(place.host):
            raise InvalidInput(
                "A token would cross the network in the open.",
                field="location",
                suggestion="Use an address that begins with https://.",
            )
        if not token:
            raise InvalidInput(
                "A store behind a server needs a token.",
                field="token",
                suggestion="Make one there with `memories token create`, and pass token=.",
            )
        self.url = url.rstrip("/")
        self._client = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT,
            transport=transport,
        )

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Told:
        """Return what a route gives.

        Raises:
            MemoriesError: As the verb would beside the database.
            StoreUnavailable: The server cannot be reached, or does not answer as ours does.
        """
        given = {} if body is None else {"json": body}
        return told(self.send(method, path, query=query, headers=headers, **given))

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        **given: object,
    ) -> httpx.Response:
        """Send a request and return its answer, if it is no refusal."""
        params = {name: value for name, value in (query or {}).items() if value is not None}
        if "json" in given:
            given["content"] = _written(given.pop("json"))
            headers = {**(headers or {}), "Content-Type": "application/json"}
        try:
            sent: Any = {"params": params, "headers": headers, **given}
            answer = self._client.request(method, API + path, **sent)
        except (httpx.HTTPError, OverflowError) as error:  # a port that no machine has
            raise StoreUnavailable(
                f"{self.url} cannot be reached.",
                suggestion="Whether a write arrived is not known; repeat it with scope.once(key).",
            ) from error
        if answer.is_success:
            return answer
        raise _refusal(answer)


class Told(dict[str, Any]):
    """What a route gave; what it lacks, another server or another version did not say."""

    def __missing__(self, key: str) -> NoReturn:
        """Refuse to read on."""
        raise strange(f"Its answer lacks {key!r}.")

    def read(self, reader: Callable[[Any], Value]) -> Value:
        """Return what READER makes of the whole.

        Raises:
            StoreUnavailable: It can make nothing of it, here and below.
        """
        return _read(reader, self)

    def one(self, key: str, reader: Callable[[Any], Value]) -> Value:
        """Return what READER makes of the value of a key."""
        return _read(reader, self[key])

    def each(self, key: str, reader: Callable[[Any], Value]) -> list[Value]:
        """Return what READER makes of each entry of a list."""
        return _read(lambda found: [reader(entry) for entry in found], self[key])


def _read(reader: Callable[[Any], Value], found: object) -> Value:
    try:
        return reader(found)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise strange("What it sent is not what was asked for.") from error


def told(answer: httpx.Response) -> Told:
    """Return what an answer gives.

    Raises:
        StoreUnavailable: It is none of a server of ours.
    """
    try:
        return Told(json.loads(answer.content)["data"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        what = f"Status {answer.status_code}, and nothing that could be read."
        raise strange(what) from error


def strange(what: str) -> StoreUnavailable:
    """Return the error of an answer that no server of ours gives."""
    return StoreUnavailable(
        f"What answers there is no memories server of this version. {what}",
        suggestion="Check the address, and that the server is not older than this package.",
    )


def part(value: object) -> str:
    """Return one part of a path: whatever stands in it, it is no other path."""
    return quote(str(value), safe="")


def _written(body: object) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "An argument is of a type that cannot be sent.", suggestion="Pass texts and numbers."
        ) from error


def _refusal(answer: httpx.Response) -> MemoriesError:
    """Return the error that an answer tells of."""
    try:
        said = json.loads(answer.content)["error"]
        error = wire.error_from(said)
        message, suggestion = str(said["message"]), str(said.get("suggestion", ""))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return strange(f"Status {answer.status_code}, and no refusal that could be read.")
    if type(error) is not MemoriesError:
        return error
    # Turned away at the door, or for a reason that only a newer version knows.
    invalid = 400 <= answer.status_code < 500 and answer.status_code != 429  # noqa: PLR2004
    kind = _PLAIN.get(answer.status_code, InvalidInput if invalid else StoreUnavailable)
    return kind(message, suggestion=suggestion)


def _here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
