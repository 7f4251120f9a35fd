"""Turns rows into frozen values and back: times, ids, tags and before-images."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from uuid6 import UUID

from memories_sdk.history import Revision, image_digest, seal
from memories_sdk.memory import Memory, MemoryHead

Row = Sequence[Any]
Parameters = dict[str, object]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
IMAGE_FIELDS: Final = (
    "type",
    "name",
    "summary",
    "summary_derived",
    "tags",
    "pinned",
    "order",
    "expires_at",
    "content",
)
"""The fields that a before-image may hold, and that a restore brings back."""


def to_head(row: Row) -> MemoryHead:
    """Return the head of a memory from a row of `HEAD_COLUMNS`."""
    return MemoryHead(*_values(row))


def to_memory(row: Row) -> Memory:
    """Return a memory from a row of `HEAD_COLUMNS` and the body."""
    return Memory(*(*_values(row), row[16]))


def _values(row: Row) -> tuple[Any, ...]:
    tags = row[8]
    expires = row[13]
    return (
        to_id(row[0]),
        *row[1:7],
        row[7] == 1,
        () if tags == "[]" else tuple(json.loads(tags)),
        row[9] == 1,
        *row[10:13],
        None if expires is None else to_time(expires),
        to_time(row[14]),
        to_time(row[15]),
    )


def to_id(value: bytes) -> UUID:
    """Return the id from its sixteen bytes."""
    return UUID(int=int.from_bytes(value))


def to_time(microseconds: int) -> datetime:
    """Return the moment, in UTC."""
    return EPOCH + timedelta(microseconds=microseconds)


def from_time(moment: datetime) -> int:
    """Return microseconds since 1970, exactly: a float would round them."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def columns(memory: Memory) -> Parameters:
    """Return the columns of a memory that its verbs may change, by name."""
    return {
        "type": memory.type,
        "name": memory.name,
        "summary": memory.summary,
        "summary_derived": int(memory.summary_derived),
        "tags": json.dumps(memory.tags, ensure_ascii=False) if memory.tags else "[]",
        "pinned": int(memory.pinned),
        "position": memory.order,
        "version": memory.version,
        "size": memory.size,
        "expires_at": None if memory.expires_at is None else from_time(memory.expires_at),
        "updated_at": from_time(memory.updated_at),
    }


def image(old: Memory, new: Memory | None) -> dict[str, object]:
    """Return the fields of `old` that differ in `new`; all of them when there is no `new`."""
    if new is None:
        created = {"created_at": old.created_at}
        return {name: getattr(old, name) for name in IMAGE_FIELDS} | created
    return {
        name: value for name in IMAGE_FIELDS if (value := getattr(old, name)) != getattr(new, name)
    }


def body_digest(content: str) -> bytes:
    """Return the SHA-256 of a body."""
    return hashlib.sha256(content.encode()).digest()


def state_digest(memory: Memory, body: bytes) -> bytes:
    """Return the SHA-256 of all that a version is, its place in the list excepted.

    The place may change without a revision of its own, when another memory is moved.
    """
    values = {name: value for name, value in columns(memory).items() if name not in _PASSING}
    written = json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(written.encode() + b"\0" + body).digest()


_PASSING: Final = ("position", "updated_at", "size")


def to_entry(
    facts: Parameters, before: Mapping[str, object], after: bytes | None, previous: bytes
) -> dict[str, Any]:
    """Return the columns of a revision: its facts, its before-image, and its seal."""
    rest = {name: value for name, value in before.items() if name != "content"}
    image = json.dumps(rest, ensure_ascii=False, default=_plain) if rest else None
    content = before.get("content")
    body = content if isinstance(content, str) else None
    return facts | {
        "before": image,
        "before_content": body,
        "after": after,
        "redacted": None,
        "seal": seal(previous, list(facts.values()), image_digest(image, body), after),
    }


def to_revision(row: Row) -> Revision:
    """Return a revision from a row of `REVISION_COLUMNS`."""
    seq, memory_id, shelf, action, actor, source, at, version, type_, name, *kept = row
    before, content, redacted, part_of, undoes = kept
    image: dict[str, object] = json.loads(before) if before else {}
    if "tags" in image:
        image["tags"] = tuple(json.loads(before)["tags"])
    for field in ("expires_at", "created_at"):
        if isinstance(moment := image.get(field), int):
            image[field] = to_time(moment)
    if content is not None:
        image["content"] = content
    return Revision(
        seq,
        None if memory_id is None else to_id(memory_id),
        shelf,
        action,
        actor,
        source,
        to_time(at),
        version,
        type_,
        name,
        image,
        part_of,
        undoes,
        redacted is not None and not image,
    )


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return from_time(value)
    msg = f"no column form for {type(value).__name__}"
    raise TypeError(msg)
