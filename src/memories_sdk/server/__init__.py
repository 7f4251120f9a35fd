"""A store over HTTP: the routes of Spora and OpenWP, and what they lacked. Safe by default."""

from __future__ import annotations

from memories_sdk.errors import MissingExtra

try:
    import fastapi  # noqa: F401 -- whether it is there
except ImportError as error:
    raise MissingExtra("memories_sdk.server", "server") from error

from memories_sdk.server.app import create_app
from memories_sdk.server.authentication import Authenticate, Caller
from memories_sdk.server.routes import Limits

__all__ = ["Authenticate", "Caller", "Limits", "create_app"]
