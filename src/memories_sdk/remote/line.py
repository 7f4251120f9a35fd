"""The way to a server: requests, answers, and the errors that answers tell of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

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
        place = urlsplit(url)
        if place.scheme != "https" and not _here(place.hostname or ""):
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
    ) -> Any:
        """Return what a route gives.

        Raises:
            MemoriesError: As the verb would beside the database.
            StoreUnavailable: The server cannot be reached, or does not answer as ours does.
        """
        given = {} if body is None else {"json": body}
        return self.send(method, path, query=query, headers=headers, **given).json()["data"]

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
        except httpx.HTTPError as error:
            raise StoreUnavailable(
                f"{self.url} cannot be reached.",
                suggestion="Whether a write arrived is not known; repeat it with scope.once(key).",
            ) from error
        if answer.is_success:
            return answer
        raise _refusal(answer)


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
        said = dict(answer.json()["error"])
    except (ValueError, KeyError, TypeError):
        return StoreUnavailable(
            f"What answers there is no memories server (status {answer.status_code}).",
            suggestion="Check the address.",
        )
    if "kind" in said:
        return wire.error_from(said)
    invalid = 400 <= answer.status_code < 500 and answer.status_code != 429  # noqa: PLR2004
    kind = _PLAIN.get(answer.status_code, InvalidInput if invalid else StoreUnavailable)
    return kind(str(said.get("message", "")))


def _here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
