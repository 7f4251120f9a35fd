"""Carries a memory from one shelf to another, inside one transaction."""

from __future__ import annotations

from collections.abc import Callable

from uuid6 import UUID

from memories_sdk.attachments import picture_digest, referred_to
from memories_sdk.errors import Conflict, MemoryOff
from memories_sdk.history import Revision
from memories_sdk.memory import Memory
from memories_sdk.rows import IMAGE_FIELDS
from memories_sdk.shelf import Shelf, Stored

OpenShelf = Callable[[str], Shelf]
"""Opens the shelf of that key, when the caller may see it."""


def carry(here: Shelf, there: Shelf, stored: Stored, *, order: int | None = None) -> Memory:
    """Move a memory with its id, and the pictures that its body names.

    Each shelf gets a revision: its departure keeps all of the memory, its arrival names the shelf
    it came from.

    Args:
        here: Where it is.
        there: Where it shall be.
        stored: The memory.
        order: Its place there; last when left out.

    Raises:
        MemoryOff: Nothing can be written there.
    """
    if not there.enabled:
        raise MemoryOff
    memory = stored.memory
    for id in referred_to([memory.content]):
        if (picture := here.attachment(id)) is not None:
            content = picture.content
            there.attach(content, picture_digest(content), picture.media_type, picture.name)
    here.remove(stored, "depart")
    there.bury(memory.name, memory.type)
    fields = {name: getattr(memory, name) for name in (*IMAGE_FIELDS, "created_at")}
    del fields["order"]
    if order is not None:
        fields["order"] = order
    arrived = there.revived(memory.id, fields, memory.version + 1)
    return there.add(arrived, "arrive", {"shelf": here.key})


def take_back(shelf: Shelf, part: Revision, open_shelf: OpenShelf) -> None:
    """Carry a memory back that departed from this shelf, or arrived on it.

    Raises:
        Conflict: It is not where it was carried to.
    """
    id = part.memory_id
    key = part.before.get("shelf") if part.action == "arrive" else id and shelf.went_to(id)
    if id is None or not isinstance(key, str):
        raise Conflict(f"It is not known any more where memory {part.name!r} came from.")
    other = open_shelf(key)
    source, target = (shelf, other) if part.action == "arrive" else (other, shelf)
    stored = source.find_id(id)
    if stored is None:
        raise Conflict(f"Memory {part.name!r} is gone; its change cannot be undone.")
    other.undoing = _twin(other, id, "arrive" if part.action == "depart" else "depart")
    order = part.before.get("order")
    back = carry(source, target, stored, order=order if isinstance(order, int) else None)
    target.settle(back, part.before)


def _twin(shelf: Shelf, id: UUID, action: str) -> int | None:
    """Return the first revision of the change by which the memory came to the shelf, or left it."""
    for each in shelf.history(id, limit=-1):
        if each.action == action:
            return each.part_of or each.seq
    return None
