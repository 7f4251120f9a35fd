"""What a caller saw before it writes: the version it names must be the current one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from memories_sdk.errors import EditConflict, InvalidInput, NotFound
from memories_sdk.history import rewind
from memories_sdk.merge import merge
from memories_sdk.shelf import Shelf, Stored


def expect(
    shelf: Shelf, stored: Stored, version: int | None, change: Callable[[str], str] | None = None
) -> None:
    """Refuse a stale version, with what `change` would have made of the body that was seen."""
    memory = stored.memory
    if version is None or version == memory.version:
        return
    difference = None
    if change is not None and version < memory.version:
        seen = {"content": memory.content}
        # A pruned history, or edits that fit no body but the new one, leave nothing to compare.
        with suppress(NotFound, InvalidInput):
            past = rewind(seen, memory.version, shelf.history(memory.id, limit=-1), version)
            base = str(past["content"])
            difference = merge(base, change(base), memory.content)
    raise EditConflict(version, memory, difference)
