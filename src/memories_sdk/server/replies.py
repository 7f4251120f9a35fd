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
from memories_sdk.memory import FACTS
from memories_sdk.wire import Json, error_details, error_json


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


ADVICE: Final[Mapping[str, str]] = {
    "INVALID_JSON": "Send one JSON object, as text in UTF-8.",
    "BODY_ENCODED": "Send the body as it is, without Content-Encoding.",
    "UNAUTHENTICATED": "Send Authorization: Bearer and a token of `memories token create`.",
    "CSRF_TOKEN_MISSING": "Repeat csrf_token of the login in X-CSRF-Token.",
    "CSRF_INVALID": "Log in again, and repeat its csrf_token in X-CSRF-Token.",
    "READ_ONLY": "Take a token of `memories token create --write`.",
    "BAD_REQUEST": "The routes are described at /openapi.json.",
    "NOT_FOUND": "The routes are described at /openapi.json; none ends in a slash.",
    "METHOD_NOT_ALLOWED": "The header Allow names the methods of this path.",
    "REPLACE_NOT_FOUND": "List the memories to see what is there.",
    "REQUEST_TIMEOUT": "Send the whole body at once.",
    "NAME_MISMATCH": "Leave name and type out, or send those that the memory has now.",
    "EDIT_CONFLICT": "Read it again, bring your change into the new text, and save that.",
    "NAME_TAKEN": "Choose another name.",
    "CONFLICT": "Read what is there now.",
    "KEY_REUSED": "Take a new key for each write, and the same one only to repeat it.",
    "QUOTA_EXCEEDED": "Delete what is no longer needed.",
    "REQUEST_TOO_LARGE": "Send less at a time.",
    "FORBIDDEN": "GET /api/v1/session lists whom you may act as.",
    "UNKNOWN_HOST": "Its owner can name it: `memories serve --allow-host`.",
    "VALIDATION_ERROR": "Bodies and parameters are described at /openapi.json.",
    "TYPE_NOT_ALLOWED": "Types are exact: lower case, no blanks around them.",
    "REPLACE_NOT_UNIQUE": "Add a neighbouring word or line to find.",
    "WRITE_REFUSED": "Leave it out and say where it is kept instead.",
    "TOO_MANY_REQUESTS": "The header Retry-After names the seconds to wait.",
    "INTERNAL_SERVER_ERROR": "The log of the server tells its owner more.",
    "STORE_BUSY": "Try again a little later.",
    "STORAGE_UNAVAILABLE": "Try again a little later.",
    "openwp_memory_invalid_type": f"Types of facts are {', '.join(FACTS.types)}.",
    "openwp_rest_nonce_invalid": "Repeat csrf_token of the login in X-WP-Nonce.",
    "openwp_rest_capability_denied": "Send a token of somebody who may act as this principal.",
}
"""What to do about a refusal, by its code, where the error itself says nothing."""


class Refused(Exception):
    """A request that is turned away before it reaches a memory.

    Attributes:
        suggestion: What to do about it.
    """

    def __init__(
        self, status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.suggestion = ADVICE[code]
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
        told = {"code": code, "message": error.message, "suggestion": error.suggestion}
        return Answer({"error": told}, status, error.headers)
    if not isinstance(error, MemoriesError):
        return refusal(UNFORESEEN)
    said: Json = {"code": code, **error_json(error)}
    if status == STORAGE:
        # No path leaves the machine.
        said["message"] = "The store is not available; nothing was written."
        said["suggestion"] = ADVICE[code]
    return Answer({"error": said}, status, {"Retry-After": "1"} if error.retryable else {})


def openwp_refusal(error: Exception) -> Answer:
    """Say an error in the envelope of OpenWP."""
    status, code = _status(error)
    headers: Mapping[str, str] = {}
    advice = ADVICE.get(code, "")
    if isinstance(error, Refused):
        message, headers = error.message, error.headers
    elif not isinstance(error, MemoriesError):
        return openwp_refusal(UNFORESEEN)
    elif status == STORAGE:
        code, message = error.code, "The store is not available; nothing was written."
    else:
        code, message = fact_tools.refusal(error)
        advice = ADVICE.get(code) or error.suggestion or advice
    said: Json = {"status": status, "suggestion": advice}
    if isinstance(error, EditConflict):
        said["details"] = error_details(error)
    return Answer({"code": code, "message": message, "data": said}, status, headers)


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
