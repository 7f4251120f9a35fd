"""A store behind a server, by the same verbs: `MemoryStore("https://…", token="mem_…")`.

Rules, transactions and rights are the server's. Here a verb becomes a request, and its answer the
same value, or the same error, that the verb gives beside the database.
"""

from __future__ import annotations

from memories_sdk.errors import MissingExtra

try:
    import httpx  # noqa: F401 -- whether it is there
except ImportError as error:
    raise MissingExtra("A store behind a server", "remote") from error

from memories_sdk.remote.store import RemoteStore

__all__ = ["RemoteStore"]
