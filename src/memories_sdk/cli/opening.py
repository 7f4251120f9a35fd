"""Commands that open a store to an agent's host, or lead it to this release: mcp, migrate."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Annotated, Final, TypedDict

import typer

from memories_sdk.cli.shell import Answer, Shell, command
from memories_sdk.document_tools import ALL_OPERATIONS, READING
from memories_sdk.engines import SERVERS, opened
from memories_sdk.policy import APPROVAL
from memories_sdk.tables import SCHEMA_VERSION
from memories_sdk.tools import FACT_TOOLS, TOOLS, MemoryTools

app = typer.Typer()

LOOPBACK: Final = "127.0.0.1"
PATIENCE: Final = 600.0
"""Longest wait for other programs before tables are changed, in seconds."""

_EVERY: Final = (*TOOLS, *FACT_TOOLS)
_READING: Final = READING | {"list_memory"}


class StoppedShape(TypedDict):
    """That the service came to its end."""

    stopped: bool


class MigratedShape(TypedDict):
    """Where the store is, and the schema that it has now."""

    location: str
    schema: int


@command(
    app,
    "mcp",
    shape=StoppedShape,
    examples=["mcp --agent writer", "mcp --facts", "mcp --agent writer --http --port 8643"],
)
def mcp(
    shell: Shell,
    *,
    facts: Annotated[
        bool, typer.Option("--facts", help="Give the tools for facts too; writes ask a person.")
    ] = False,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP, on this machine alone.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port of --http.")] = 8643,
) -> Answer:
    """Serve an agent's tools over MCP on the input and output (extra `mcp`).

    It ends with its input. With --http it serves `/mcp` until it is told to stop, to clients with a
    token of the same user: see `memories token create`. One for reading opens what reads.
    """
    # The door first: it says what to install when something is missing.
    from memories_sdk.integrations.mcp import http_app, serve_stdio  # noqa: PLC0415 - an extra

    had: dict[str, Iterable[str]] = dict.fromkeys(TOOLS, ALL_OPERATIONS)
    tools = _tools(shell, had if facts else had | dict.fromkeys(FACT_TOOLS, ()))
    if http:
        import uvicorn  # noqa: PLC0415 - it comes with the extra

        kept = {tool: [it for it in tools.operations[tool] if it in _READING] for tool in _EVERY}
        known = partial(_opened_by, shell, tools, _tools(shell, kept))
        uvicorn.run(
            http_app(known), host=LOOPBACK, port=port, access_log=False, server_header=False
        )
    else:
        import anyio  # noqa: PLC0415 - it comes with the extra

        anyio.run(serve_stdio, tools)
    return Answer({"stopped": True}, "")


def _tools(shell: Shell, operations: Mapping[str, Iterable[str]]) -> MemoryTools:
    return MemoryTools(
        shell.store,
        acting_as=shell.caller,
        principal=shell.owner,
        agent=shell.shelf.agent,
        operations=operations,
        policy=APPROVAL,
    )


def _opened_by(
    shell: Shell, tools: MemoryTools, reading: MemoryTools, secret: str
) -> MemoryTools | None:
    """Return what a token opens: the tools, those that read, or nothing."""
    token = shell.store.tokens.find(secret)
    if token is None or token.session_of is not None or token.user != shell.caller:
        return None
    if token.principal not in {None, shell.owner}:
        return None
    return tools if token.access == "write" else reading


@command(
    app,
    "migrate",
    shape=MigratedShape,
    shelf=False,
    examples=["migrate", "migrate --store postgresql://user@host/memories"],
)
def migrate(shell: Shell) -> Answer:
    """Lead an older store to the tables of this release.

    A file is led there by itself when it is opened, beside a copy; a database on a server only by
    this command. Back it up first.
    """
    place = shell.location or os.environ.get("MEMORIES_URL") or ""
    if place.partition("://")[0].partition("+")[0] in SERVERS:
        opened(place, timeout=PATIENCE, durability="full", migrating=True).close()
    location = shell.store.location
    data = {"location": location, "schema": SCHEMA_VERSION}
    return Answer(data, f"{location} has schema {SCHEMA_VERSION}.")
