"""Goes back in the history of a shelf: restore, undo, blot out. Each inside one transaction."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from uuid6 import UUID

from memories_sdk import transfers
from memories_sdk.errors import Conflict, InvalidInput, NotFound
from memories_sdk.fields import byte_size, derived_summary
from memories_sdk.history import ENDINGS, Revision, rewind
from memories_sdk.memory import Memory
from memories_sdk.shelf import Shelf, Stored
from memories_sdk.transfers import OpenShelf

MARK: Final = "█████"
"""Stands where a text was blotted out."""


def restore(shelf: Shelf, id: UUID, target: int | None) -> Memory:
    """Bring back a deleted memory, or an earlier version of one that is there.

    Raises:
        NotFound: It was never on this shelf, or the history does not reach that far.
        InvalidInput: It is not deleted and no version was named.
    """
    revisions = shelf.history(id, limit=-1)
    if not revisions:
        raise NotFound("Memory not found.", suggestion="deleted() lists what can return.")
    stored = shelf.find_id(id)
    if stored is None:
        if revisions[0].action not in ENDINGS:
            # It expired: its row still holds the name.
            shelf.bury(str(revisions[0].name), str(revisions[0].type))
            revisions = shelf.history(id, limit=-1)
        return _bring_back(shelf, id, revisions, target)
    if target is None:
        raise InvalidInput(
            "The memory is not deleted.",
            field="version",
            suggestion="Name the version to go back to; history(id=…) lists them.",
        )
    past = rewind({}, stored.memory.version, revisions, target)
    return _go_back(shelf, stored, {**past, "order": stored.memory.order})


def state_at(shelf: Shelf, id: UUID, version: int) -> Memory:
    """Return a memory as it was at a version, deleted since or not; its place is that of now.

    Where the history was pruned, the memory is returned as it is.

    Raises:
        Conflict: It was pruned, and the memory is gone.
    """
    revisions = shelf.history(id, limit=-1)
    stored = shelf.find_id(id)
    newest = revisions[0].version if stored is None else stored.memory.version
    past: dict[str, Any] = {}
    with suppress(NotFound):
        past = rewind({}, newest, revisions, version)
    if stored is not None:
        now = stored.memory
        past |= {"order": now.order}
    elif past:
        now = shelf.new(id, str(past["name"]), str(past["type"]))
    else:
        raise Conflict(
            f"This was done before; the version {version} that it made is not kept any more.",
            suggestion="Read what is there now.",
        )
    if past.keys() <= {"order"}:
        return now
    left = next(each for each in revisions if each.version == version and each.action != "move")
    then = replace(now, **past, version=version, updated_at=left.at)
    return replace(then, size=byte_size(then.content))


def undo(shelf: Shelf, seq: int | None, open_shelf: OpenShelf) -> list[Revision]:
    """Take back the last change of the shelf that was not taken back yet, all of its parts.

    Args:
        shelf: Where.
        seq: The change that is meant, or None for the last.
        open_shelf: Opens the other shelf of a memory that moved between two.

    Raises:
        NotFound: There is nothing to take back.
        Conflict: `seq` is not that change: something else came after it.
    """
    last = shelf.last_change()
    if last is None:
        raise NotFound("There is no change to undo.", suggestion="history() shows what was done.")
    if seq is not None and seq != last.seq:
        raise Conflict(
            f"Revision {seq} is not the last change any more; {last.seq} is.",
            suggestion="history() shows what came after it.",
        )
    parts = shelf.parts(last.seq)
    shelf.undoing = last.seq
    for part in parts:
        if part.action in ("depart", "arrive"):
            transfers.take_back(shelf, part, open_shelf)
        else:
            _take_back(shelf, part)
    return parts


def redact(shelf: Shelf, text: str) -> int:
    """Blot out a text in the bodies, summaries and tags of the shelf and in all its history.

    Returns:
        In how many memories and revisions it stood.
    """
    memories = 0
    for stored in shelf.everything():
        memory = stored.memory
        content = memory.content.replace(text, MARK)
        summary = memory.summary and memory.summary.replace(text, MARK)
        if memory.summary_derived:
            summary = derived_summary(content)
        tags = tuple(tag.replace(text, MARK) for tag in memory.tags)
        if (content, summary, tags) != (memory.content, memory.summary, memory.tags):
            memories += 1
            _go_back(
                shelf,
                stored,
                {"content": content, "summary": summary, "tags": tags},
                action="redact",
            )
    # After the memories: the revisions just written hold the text as what they overwrote.
    revisions = shelf.blot(text, MARK) + shelf.blot_drafts(text, MARK)
    shelf.note("redact", {"memories": memories, "revisions": revisions})
    return memories + revisions


def prune(shelf: Shelf, *, keep: int | None, before: datetime | None) -> int:
    """Forget what old revisions overwrote; that they were, and their seals, stay.

    Returns:
        How many revisions were emptied.
    """
    found: dict[UUID | None, int] = {}
    emptied = []
    if before is not None:
        shelf.forget_operations(before)
    for revision in shelf.history(None, limit=-1):
        rank = found[revision.memory_id] = found.get(revision.memory_id, 0) + 1
        old = (keep is not None and rank > keep) or (before is not None and revision.at < before)
        if old and revision.before:
            emptied.append(revision.seq)
    shelf.empty(emptied)
    if emptied:
        shelf.note("prune", {"revisions": len(emptied)})
    return len(emptied)


def _take_back(shelf: Shelf, part: Revision) -> None:
    if part.action == "reorder":
        _put_in_order(shelf, part.before.get("order"))
    elif part.memory_id is None or part.action == "expire":
        return
    elif part.action in ENDINGS:
        _bring_back(shelf, part.memory_id, [part], None)
    else:
        stored = shelf.find_id(part.memory_id)
        if stored is None:
            raise Conflict(f"Memory {part.name!r} is gone; its change cannot be undone.")
        if part.action == "move":
            _put_before(shelf, part.memory_id.bytes, part.before.get("next"))
        elif part.action == "create" or (part.action == "restore" and not part.before):
            shelf.remove(stored)
        else:
            _go_back(shelf, stored, dict(part.before))


def _put_in_order(shelf: Shelf, ids: object) -> None:
    """Put the memories of a recorded order first; what came since follows."""
    rows = shelf.order()
    old = list(rows)
    by_hex = {id.hex(): id for id in rows}
    known = [by_hex[id] for id in ids if id in by_hex] if isinstance(ids, list) else []
    first = [rows.pop(id) for id in known if id in rows]
    shelf.reorder([*first, *rows.values()], old)


def _put_before(shelf: Shelf, id: bytes, following: object) -> None:
    """Put a memory before the one that followed it once, or last when that is gone."""
    rows = shelf.order()
    ids = [each for each in rows if each != id]
    hexes = [each.hex() for each in ids]  # a text blotted out of an id is none of them
    ids.insert(hexes.index(following) if following in hexes else len(ids), id)
    shelf.reorder([rows[each] for each in ids], list(rows))


def _bring_back(shelf: Shelf, id: UUID, revisions: list[Revision], target: int | None) -> Memory:
    gone = revisions[0]
    if target == gone.version:
        raise NotFound(
            f"At version {target} the memory was deleted.",
            suggestion="Leave version out for the last one before.",
        )
    past = rewind({}, gone.version, revisions, target or gone.version - 1)
    if shelf.is_elsewhere(id):
        raise Conflict(
            f"Memory {past['name']!r} is on another shelf now.",
            suggestion="transfer() brings it back from there.",
        )
    shelf.bury(str(past["name"]), str(past["type"]))
    # An undo may reach back behind later versions; a version never stands for two states.
    newest = shelf.history(id, limit=1)[0].version
    restored = shelf.revived(id, past, newest + 1)
    return shelf.settle(shelf.add(restored, "restore"), gone.before)


def _go_back(
    shelf: Shelf, stored: Stored, fields: dict[str, Any], action: str = "restore"
) -> Memory:
    memory = stored.memory
    new = replace(memory, **fields)
    if new.expires_at is not None and new.expires_at <= shelf.now:
        new = replace(new, expires_at=None)  # else it would vanish again at once
    new = replace(new, size=byte_size(new.content))
    if new == memory and shelf.undoing is None:
        return memory  # an undo leaves its mark, or the next one would meet the same change again
    if (new.type, new.name) != (memory.type, memory.name):
        shelf.bury(new.name, new.type)
    new = replace(new, version=memory.version + 1, updated_at=shelf.now)
    return shelf.change(stored, new, "redact" if action == "redact" else "restore")
