"""Commands that open a store to an agent's host, or lead it to this release: mcp, migrate."""

from __future__ import annotations

import os
from typing import Annotated, Final, TypedDict

import typer

from memories_sdk.cli.shell import Answer, Shell, command
from memories_sdk.engines import SERVERS, opened
from memories_sdk.policy import APPROVAL
from memories_sdk.tables import SCHEMA_VERSION
from memories_sdk.tools import FACT_TOOLS, MemoryTools

app = typer.Typer()

PATIENCE: Final = 600.0
"""Longest wait for other programs before tables are changed, in seconds."""


class StoppedShape(TypedDict):
    """That the service came to its end."""

    stopped: bool


class MigratedShape(TypedDict):
    """Where the store is, and the schema that it has now."""

    location: str
    schema: int


@command(app, "mcp", shape=StoppedShape, examples=["mcp --agent writer", "mcp --facts"])
def mcp(
    shell: Shell,
    *,
    facts: Annotated[
        bool, typer.Option("--facts", help="Give the tools for facts too; writes ask a person.")
    ] = False,
) -> Answer:
    """Serve an agent's tools over MCP on the input and output (extra `mcp`).

    It ends with its input.
    """
    import anyio  # noqa: PLC0415 - it comes with the extra, whose door says when it is missing

    from memories_sdk.integrations.mcp import serve_stdio  # noqa: PLC0415 - an extra

    tools = MemoryTools(
        shell.store,
        acting_as=shell.caller,
        principal=shell.owner,
        agent=shell.shelf.agent,
        operations=None if facts else dict.fromkeys(FACT_TOOLS, ()),
        policy=APPROVAL,
    )
    anyio.run(serve_stdio, tools)
    return Answer({"stopped": True}, "")


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
