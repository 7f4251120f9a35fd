"""What happened to a memory: revisions, and the way back through them. Pure.

A revision keeps what its change overwrote, not what it wrote: the present state and the revisions
walked backwards give every state there ever was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, overload

from uuid6 import UUID

from memories_sdk.errors import NotFound

Action = Literal[
    "create",
    "update",
    "replace",
    "delete",
    "clear",
    "expire",
    "move",
    "reorder",
    "restore",
    "redact",
    "prune",
    "depart",
    "arrive",
]
ENDINGS: Final[tuple[Action, ...]] = ("delete", "clear", "expire", "depart")
"""The actions after which a memory is gone from its shelf."""

NEIGHBOURS: Final = frozenset({"previous", "next"})
"""What an image keeps beside the fields of a memory that went: the ids between which it stood."""

LAST_SEQ: Final = 2**63 - 1
"""The largest whole number that every engine takes."""


@dataclass(frozen=True, slots=True)
class Revision:
    """The record of one change.

    Attributes:
        seq: Rises with every change of the store; the place in the change feed.
        memory_id: The memory, or None for a reorder, which touches a whole shelf.
        shelf: Key of the shelf, `global:<principal>` or `agent:<agent>`.
        actor: Who did it, such as `user:alice` or `agent:writer`.
        source: Where the change came from, as the caller named it, or None.
        version: The version the change led to; a delete counts, moving does not. Zero for a
            reorder.
        type: The type after the change; before it for a delete. So is `name`.
        before: The fields the change overwrote, with their old values; all fields for a delete,
            and as `previous` and `next` the ids between which it stood; none for a create, the
            `shelf` it came from for an arrival.
        part_of: `seq` of the first revision of the verb, when the verb wrote several.
        undoes: `seq` of the change that this one takes back.
        pruned: Whether what it overwrote was forgotten.
    """

    seq: int
    memory_id: UUID | None
    shelf: str
    action: Action
    actor: str
    source: str | None
    at: datetime
    version: int
    type: str | None
    name: str | None
    before: Mapping[str, object] = field(repr=False)
    part_of: int | None = None
    undoes: int | None = None
    pruned: bool = False

    def __repr__(self) -> str:
        what = self.name if self.memory_id is not None else self.shelf
        return f"<Revision {self.seq} {self.action} {what!r} v{self.version} by {self.actor}>"


class History(Sequence[Revision]):
    """One page of revisions, newest first.

    Attributes:
        next_cursor: What to pass as `cursor` for the page after this, or None on the last.
    """

    __slots__ = ("_revisions", "next_cursor")

    def __init__(self, revisions: Iterable[Revision], *, next_cursor: str | None = None) -> None:
        self._revisions = tuple(revisions)
        self.next_cursor = next_cursor

    @overload
    def __getitem__(self, index: int) -> Revision: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Revision, ...]: ...
    def __getitem__(self, index: int | slice) -> Revision | tuple[Revision, ...]:
        return self._revisions[index]

    def __len__(self) -> int:
        return len(self._revisions)

    def __iter__(self) -> Iterator[Revision]:
        return iter(self._revisions)

    def __repr__(self) -> str:
        lines = "".join(f"\n  {revision!r}" for revision in self._revisions)
        return f"<History of {len(self)}:{lines}>"


def image_digest(before: str | None, content: str | None) -> bytes:
    """Return the SHA-256 of a before-image as it is stored: its fields as JSON, and its body."""
    digest = hashlib.sha256()
    for part in (before, content):
        # Stored texts hold no NUL, so neither the parts nor "none" and "empty" can be confused.
        digest.update(b"\0" if part is None else part.encode() + b"\0\0")
    return digest.digest()


def seal(previous: bytes, facts: Sequence[object], before: bytes, after: bytes | None) -> bytes:
    """Return the SHA-256 that binds a revision to the one before it on its shelf.

    Args:
        previous: The seal before; empty for the first revision of a shelf.
        facts: What the revision says of itself, in a fixed order: texts, numbers, ids, None.
        before: Digest of its before-image, which still holds when the image is blotted out.
        after: Digest of the state it led to, or None when the memory went.
    """
    written = _written(facts).encode()
    return hashlib.sha256(b"\0".join((previous, written, before, after or b""))).digest()


_written: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=bytes.hex
).encode


def rewind(
    state: Mapping[str, object], version: int, revisions: Iterable[Revision], target: int
) -> dict[str, object]:
    """Return the fields as they were at version `target`.

    Args:
        state: The fields at `version`.
        version: Where to start.
        revisions: Of that memory, newest first; those after `version` are passed over.
        target: At least 1 and at most `version`.

    Raises:
        NotFound: The revisions do not reach back that far, or the memory did not exist then.
    """
    past = dict(state)
    if target == version:
        return past
    for revision in revisions:
        if revision.version > version or revision.action == "move":
            continue
        if revision.action == "arrive" and revision.version != target + 1:
            continue  # what it was on another shelf is in the history of that one
        if revision.pruned or revision.action == "arrive":
            break
        past |= {name: old for name, old in revision.before.items() if name not in NEIGHBOURS}
        if revision.version == target + 1:
            if revision.action == "restore" and not revision.before:
                break  # it came back from a delete: at `target` there was no memory
            return past
    raise NotFound(
        f"Version {target} is not in the history of this memory.",
        suggestion="history(id=…) lists the versions that can be restored.",
    )
