"""What `--json` prints: the shape of each answer, and how values take it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypedDict

from uuid6 import UUID

from memories_sdk.history import Revision
from memories_sdk.memory import Memory, MemoryHead


class HeadShape(TypedDict):
    """A memory without its body. Times are ISO 8601 in UTC."""

    id: str
    scope: str
    principal_id: int | None
    agent_id: int | None
    type: str
    name: str
    summary: str | None
    summary_derived: bool
    tags: list[str]
    pinned: bool
    untrusted: bool
    order: int
    version: int
    size: int
    expires_at: str | None
    created_at: str
    updated_at: str


class MemoryShape(HeadShape):
    """A memory with its body."""

    content: str


class RevisionShape(TypedDict):
    """The record of one change; `before` holds the fields it overwrote."""

    seq: int
    memory_id: str | None
    shelf: str
    action: str
    actor: str
    source: str | None
    at: str
    version: int
    type: str | None
    name: str | None
    before: dict[str, object]
    part_of: int | None
    undoes: int | None
    pruned: bool


class ErrorShape(TypedDict):
    """A refusal, printed to the error output.

    `details` has what a program needs to go on: of a stale version the memory as it is now
    (`current`) and the two changes side by side (`difference`).
    """

    code: str
    message: str
    suggestion: str
    retryable: bool
    details: dict[str, object]


def plain(value: object) -> object:
    """Return a value that JSON knows for a time or an id; any other as it is."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, tuple):
        return list(value)
    return value


def head(memory: MemoryHead) -> dict[str, object]:
    """Return a memory's head as `HeadShape`."""
    return {name: plain(getattr(memory, name)) for name in HeadShape.__annotations__}


def memory(value: Memory) -> dict[str, object]:
    """Return a memory as `MemoryShape`."""
    return head(value) | {"content": value.content}


def revision(value: Revision) -> dict[str, object]:
    """Return a revision as `RevisionShape`."""
    found = {name: plain(getattr(value, name)) for name in RevisionShape.__annotations__}
    return found | {"before": mapping(value.before)}


def mapping(values: Mapping[str, object]) -> dict[str, object]:
    """Return a mapping with values that JSON knows."""
    return {name: plain(value) for name, value in values.items()}
