"""Whether the process lives, and whether it can serve: for whoever supervises it."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.responses import JSONResponse

from memories_sdk.errors import MemoriesError
from memories_sdk.server.authentication import NOBODY
from memories_sdk.store import MemoryStore


def add(app: FastAPI, store: MemoryStore) -> None:
    """Add the two routes; they need no authentication and tell nothing else."""

    async def live() -> JSONResponse:
        """Say that the process answers."""
        return JSONResponse({"status": "ok"})

    def ready() -> JSONResponse:
        """Say whether the store answers."""
        try:
            store.principals.roles(NOBODY.user)  # the smallest of questions
        except MemoriesError:
            return JSONResponse({"status": "unavailable"}, 503)
        return JSONResponse({"status": "ok"})

    for path, said in (("/health/live", live), ("/health/ready", ready)):
        # Some who watch over a process ask for the head alone.
        app.add_api_route(path, said, methods=["HEAD"], include_in_schema=False)
    app.add_api_route("/health/live", live, tags=["health"], summary="Live")
    app.add_api_route(
        "/health/ready",
        ready,
        tags=["health"],
        summary="Ready",
        responses={503: {"description": "The store does not answer."}},
    )
