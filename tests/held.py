"""A clock that a test holds, a call as a person let it pass, and the rows of a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memories_sdk import MemoryStore, MemoryTools, ToolResult

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""What a clock says at first."""

TABLES = ("memories", "memory_bodies", "memory_revisions")


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        """Return the moment."""
        return self.now

    def go_on(self, **delta: float) -> None:
        """Let time go by."""
        self.now += timedelta(**delta)


def run(tools: MemoryTools, action: str, tool: str = "memory", **arguments: object) -> ToolResult:
    """Call a tool as after a person's approval."""
    return tools.call(tool, {"action": action, **arguments}, approved=True)


def stored(store: MemoryStore) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows of memories, bodies and revisions."""
    with store._database.read() as connection:
        return {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()  # noqa: S608 -- names of ours
            for table in TABLES
        }
