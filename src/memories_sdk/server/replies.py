"""What goes back to a client: answers, refusals, and which status an error has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from starlette.responses import Response

from memories_sdk import fact_tools
from memories_sdk.errors import (
    AccessDenied,
    AnchorNotFound,
    AnchorNotUnique,
    Conflict,
    EditConflict,
    InvalidInput,
    KeyReused,
    MemoriesError,
    NameTaken,
    NotFound,
    StorageError,
    StoreBusy,
    UnknownType,
    WriteRefused,
)
from memories_sdk.wire import Json, error_details


@dataclass(frozen=True, slots=True)
class Answer:
    """What a route gives back.

    Attributes:
        content: Ready for JSON.
        raw: Bytes to send instead, with their media type in the headers.
    """

    content: object = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None

    def response(self) -> Response:
        """Return it as it is sent."""
        if self.raw is not None or self.status == NOT_MODIFIED:
            return Response(self.raw, self.status, dict(self.headers))
        body = _encode(self.content).encode()
        return Response(body, self.status, dict(self.headers), "application/json")


class Refused(Exception):
    """A request that is turned away before it reaches a memory."""

    def __init__(
        self, status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})


Refusal = Callable[[Exception], Answer]
"""Says an error in the words of one family of routes."""

NOT_MODIFIED: Final = 304
_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode

STATUS: Final[tuple[tuple[type[Exception], int, str], ...]] = (
    (UnknownType, 422, "TYPE_NOT_ALLOWED"),
    (AnchorNotFound, 422, "REPLACE_NOT_UNIQUE"),
    (AnchorNotUnique, 422, "REPLACE_NOT_UNIQUE"),
    (WriteRefused, 422, "WRITE_REFUSED"),
    (KeyReused, 409, "KEY_REUSED"),
    (InvalidInput, 422, "VALIDATION_ERROR"),
    (NotFound, 404, "NOT_FOUND"),
    (AccessDenied, 403, "FORBIDDEN"),
    (EditConflict, 409, "EDIT_CONFLICT"),
    (NameTaken, 409, "NAME_TAKEN"),
    (StoreBusy, 503, "STORE_BUSY"),
    (StorageError, 503, "STORAGE_UNAVAILABLE"),
)
UNFORESEEN: Final = Refused(500, "INTERNAL_SERVER_ERROR", "An unexpected error occurred.")


def data(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Return a success in Spora's envelope."""
    return Answer({"data": content}, status, headers or {})


def refusal(error: Exception) -> Answer:
    """Say an error in Spora's envelope; what its codes cannot say follows in further fields."""
    status, code = _status(error)
    if isinstance(error, Refused):
        said = {"code": code, "message": error.message}
        return Answer({"error": said}, status, error.headers)
    if not isinstance(error, MemoriesError):
        return refusal(UNFORESEEN)
    message = error.message
    if status == STORAGE:
        message = "The store is not available; nothing was written."  # no path leaves the machine
    said = {"code": code, "message": message, "kind": error.code}
    if error.suggestion and status != STORAGE:
        said["suggestion"] = error.suggestion
    details = error_details(error)
    envelope: Json = {"error": said | ({"details": details} if details else {})}
    return Answer(envelope, status, {"Retry-After": "1"} if error.retryable else {})


def openwp_refusal(error: Exception) -> Answer:
    """Say an error in the envelope of OpenWP."""
    status, code = _status(error)
    headers: Mapping[str, str] = {}
    if isinstance(error, Refused):
        message, headers = error.message, error.headers
    elif not isinstance(error, MemoriesError):
        return openwp_refusal(UNFORESEEN)
    elif status == STORAGE:
        code, message = error.code, "The store is not available; nothing was written."
    else:
        code, message = fact_tools.refusal(error)
    return Answer({"code": code, "message": message, "data": {"status": status}}, status, headers)


STORAGE: Final = 503


def _status(error: Exception) -> tuple[int, str]:
    if isinstance(error, Refused):
        return error.status, error.code
    for kind, status, code in STATUS:
        if isinstance(error, kind):
            return status, code
    if isinstance(error, Conflict):
        return 409, error.code.upper()
    return UNFORESEEN.status, UNFORESEEN.code
