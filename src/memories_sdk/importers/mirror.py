"""Keeps a folder and a shelf in step, both ways.

What was changed on one side is carried to the other; what was changed on both is brought together
line by line. Only what an earlier run has seen on both sides is ever deleted, and many deletions
at once are refused: an empty folder may be a disk that is not there.

```python
from memories_sdk.importers import mirror

print(mirror.sync(shelf, "notes"))
```
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from uuid6 import UUID

from memories_sdk.draft import Draft
from memories_sdk.errors import Conflict, EditConflict, InvalidInput, MemoriesError, NotFound
from memories_sdk.importers import file_names, front_matter
from memories_sdk.importers.files import Folder, text_of
from memories_sdk.importers.markdown_folder import LARGEST, FileNames, file_text, past_of
from memories_sdk.memory import DERIVED, UNSET, Memory, MemoryHead, Unset
from memories_sdk.scope import Scope

LEDGER: Final = ".memories-sync.json"
VERSION: Final = 1
LARGEST_LEDGER: Final = 256 * 1024 * 1024
FEW: Final = 5
"""So many deletions are never too many."""

MOST: Final = 0.25
"""Share of what is known that may be deleted at once, without a word."""

Side = Literal["folder", "shelf"]
What = Literal["to shelf", "to folder", "merged", "deleted there", "deleted here", "conflict"]


class TooManyDeletions(Conflict):
    """So many deletions at once are rarely meant; nothing was changed."""

    code = "too_many_deletions"


@dataclass(frozen=True, slots=True)
class Seen:
    """What an earlier run left the same on both sides."""

    path: str
    digest: str
    version: int
    order: int


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done about one memory or file.

    Attributes:
        what: "to shelf", "to folder", "merged", "deleted there" (on the shelf), "deleted here" (in
            the folder), or "conflict".
        path: The file; None where there is none yet.
        id: The memory; None where there is none yet.
        detail: Why it is a conflict, or which memory has no file yet; may be empty.
    """

    what: What
    path: str | None
    id: UUID | None = None
    detail: str = ""

    def __str__(self) -> str:
        what = _SAID.get(self.what, self.what)
        return ": ".join(each for each in (what, self.path, self.detail) if each)


_SAID: Final[Mapping[str, str]] = {
    "deleted there": "deleted on the shelf",
    "deleted here": "deleted in the folder",
}
"""What a person reads, who may think of either side as here."""


@dataclass(slots=True)
class Outcome:
    """What a run did, or would do.

    Attributes:
        steps: In the order in which they were taken; conflicts changed nothing on either side.
    """

    dry_run: bool = False
    steps: list[Step] = field(default_factory=list)

    @property
    def conflicts(self) -> list[Step]:
        """What was changed on both sides and could not be brought together."""
        return [step for step in self.steps if step.what == "conflict"]

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps)) or "Both sides are in step."


def sync(
    shelf: Scope,
    path: str | os.PathLike[str],
    *,
    prefer: Side | None = None,
    allow_deletions: bool = False,
    dry_run: bool = False,
) -> Outcome:
    """Bring a folder and a shelf in step, and return what was done.

    Args:
        shelf: The shelf.
        path: The folder; made where it is missing.
        prefer: Whose change wins where both clash; the other text stays in the history. None
            leaves both sides alone and says so.
        allow_deletions: Carry out more deletions than 5 and a quarter of what is known.
        dry_run: Tell what would be done, and change nothing.

    Raises:
        TooManyDeletions: There are too many, and they were not allowed.
        InvalidInput: The folder is in step with another shelf.
    """
    checked_side(prefer)
    if dry_run and not os.path.lexists(path):
        return Outcome(dry_run=True, steps=[_unwritten(head) for head in _heads(shelf)])
    with Folder(path, create=not dry_run) as folder:
        mirror = _Mirror(shelf, folder, prefer)
        steps = list(mirror.plan())
        deletions = sum(step.what.startswith("deleted") for step in steps)
        if deletions > max(FEW, MOST * len(mirror.ledger)) and not allow_deletions:
            raise TooManyDeletions(
                f"{deletions} of {len(mirror.ledger)} would be deleted; nothing was changed.",
                suggestion="Look whether the folder is complete, then allow deletions.",
            )
        if dry_run:
            return Outcome(dry_run=True, steps=steps)
        try:
            return Outcome(steps=[mirror.carry_out(step) for step in steps])
        finally:
            mirror.save()


def checked_side(value: str | None) -> Side | None:
    """Return the side that wins a clash.

    Raises:
        InvalidInput: It is none.
    """
    sides: dict[str | None, Side | None] = {None: None, "folder": "folder", "shelf": "shelf"}
    if value in sides:
        return sides[value]
    raise InvalidInput("prefer must be 'folder' or 'shelf'.", field="prefer")


def _unwritten(head: MemoryHead) -> Step:
    """Return the step of a memory that has no file yet."""
    return Step("to folder", None, head.id, f"[{head.name}] (type={head.type})")


class _Mirror:
    """One run: what both sides hold, and what the run before left."""

    def __init__(self, shelf: Scope, folder: Folder, prefer: Side | None) -> None:
        self.shelf = shelf
        self.folder = folder
        self.prefer = prefer
        self.ledger = self._ledger()
        self.files = {
            found.path: _digest(data)
            for found in folder.walk()
            if not found.skipped
            and found.parts[-1].endswith(file_names.ENDING)
            and (data := self._read(found.path)) is not None
        }
        self.heads = {head.id: head for head in _heads(shelf)}
        self.names = FileNames()
        for place in self.files:
            self.names.take(place.split("/"))

    def plan(self) -> Iterator[Step]:
        """Yield what is to be done, before anything is."""
        moved = self._moved()
        known = {seen.path for seen in self.ledger.values()} | set(moved.values())
        for id, seen in self.ledger.items():
            step = self._known(id, seen, moved.get(id))
            if step is not None:
                yield step
        named = {(head.type, head.name): head for head in self.heads.values()}
        linked: set[UUID] = set()
        for place in self.files:
            if place not in known:
                step = self._new_file(place, named)
                linked |= {step.id} if step.id is not None else set()
                yield step
        for id in self.heads:
            if id not in self.ledger and id not in linked:
                yield _unwritten(self.heads[id])

    def carry_out(self, step: Step) -> Step:
        """Do it, and return what came of it."""
        try:
            match step.what:
                case "to folder":
                    return self._to_folder(step)
                case "to shelf" | "merged":
                    return self._to_shelf(step)
                case "deleted here":
                    self._remove_file(step)
                case "deleted there":
                    self._remove_memory(step)
                case "conflict":
                    pass
        except (MemoriesError, OSError) as error:
            message = getattr(error, "message", str(error))
            return Step("conflict", step.path, step.id, message)
        return step

    def save(self) -> None:
        """Keep what is the same on both sides now, for the next run."""
        entries = {str(id): asdict(seen) for id, seen in self.ledger.items()}
        known = {"version": VERSION, "shelf": self._shelf_name(), "seen": entries}
        self.folder.write((LEDGER,), json.dumps(known, ensure_ascii=False, indent=1).encode())

    def _ledger(self) -> dict[UUID, Seen]:
        try:
            known = json.loads(self.folder.read((LEDGER,), limit=LARGEST_LEDGER))
        except NotFound:
            return {}
        except ValueError as error:
            raise InvalidInput(f"{LEDGER} in the folder cannot be read.") from error
        if known.get("version") != VERSION or known.get("shelf") != self._shelf_name():
            raise InvalidInput(
                f"The folder is in step with {known.get('shelf')}, not with {self._shelf_name()}.",
                field="path",
                suggestion="Name another folder.",
            )
        return {UUID(id): Seen(**seen) for id, seen in known["seen"].items()}

    def _shelf_name(self) -> str:
        agent = "" if self.shelf.agent is None else f"/{self.shelf.agent.name}"
        return f"{self.shelf.principal}{agent}"

    def _moved(self) -> dict[UUID, str]:
        """Return the files that somebody gave another name, to the byte."""
        loose = {
            digest: place
            for place, digest in self.files.items()
            if place not in {seen.path for seen in self.ledger.values()}
        }
        return {
            id: loose.pop(seen.digest)
            for id, seen in self.ledger.items()
            if seen.path not in self.files and seen.digest in loose and id in self.heads
        }

    def _known(self, id: UUID, seen: Seen, moved: str | None) -> Step | None:
        head = self.heads.get(id)
        place = moved or (seen.path if seen.path in self.files else None)
        edited = moved is not None or (place is not None and self.files[place] != seen.digest)
        changed = head is not None and (head.version, head.order) != (seen.version, seen.order)
        if place is None:
            if head is None:
                return None
            return _unwritten(head) if changed else Step("deleted there", seen.path, id)
        if head is None:
            return Step("to shelf", place) if edited else Step("deleted here", place, id)
        if not edited:
            return Step("to folder", place, id) if changed else None
        if not changed or head.version == seen.version:
            return Step("to shelf", place, id)
        return self._both(place, id)

    def _both(self, place: str, id: UUID) -> Step:
        if self.prefer is not None:
            return Step("to shelf" if self.prefer == "folder" else "to folder", place, id)
        return Step("merged", place, id)

    def _new_file(self, place: str, named: dict[tuple[str, str], MemoryHead]) -> Step:
        try:
            past = past_of(self._text(place), place.split("/"), self.shelf.vocabularies)[0]
        except MemoriesError as error:
            return Step("conflict", place, None, error.message)
        head = named.get((past.type, past.name))
        if head is None or head.id in self.ledger:
            return Step("to shelf", place)
        memory = self.shelf.get_by_id(head.id)
        if past.last.content == memory.content or self.prefer is not None:
            side: What = "to folder" if self.prefer == "shelf" else "to shelf"
            return Step(side, place, head.id)
        return Step("conflict", place, head.id, "both sides have one of that name")

    def _to_folder(self, step: Step) -> Step:
        if step.id is None:
            return step
        memory = self.shelf.get_by_id(step.id)
        seen = self.ledger.get(step.id)
        if step.path is not None and (seen is None or self.files[step.path] != seen.digest):
            memory = self._keep(step.path, memory)
        parts = tuple(step.path.split("/")) if step.path is not None else None
        renamed = seen is not None and (memory.type, memory.name) != self._called(step.path)
        if parts is None or renamed:
            old, parts = parts, self.names.parts(memory)
            if old is not None:
                self._check(step.path)
                self.folder.remove(old)
        else:
            self._check(step.path)
        data = file_text(memory, parts).encode()
        self.folder.write(parts, data)
        self._see(memory, "/".join(parts), data)
        return Step(step.what, "/".join(parts), step.id)

    def _keep(self, place: str, memory: Memory) -> Memory:
        """Put the text of a file that is about to be overwritten into the memory's history."""
        text = past_of(self._text(place), place.split("/"), self.shelf.vocabularies)[0].last.content
        if isinstance(text, Unset) or text == memory.content:
            return memory
        kept = self.shelf.update(memory.id, content=text, expected_version=memory.version)
        return self.shelf.update(memory.id, content=memory.content, expected_version=kept.version)

    def _to_shelf(self, step: Step) -> Step:
        place = str(step.path)
        text = self._text(place)
        past = past_of(text, place.split("/"), self.shelf.vocabularies)[0]
        if step.id is None:
            memory = self.shelf.adopt([past], conflict="fail")[0]
            if memory.id is None:
                raise memory.error or InvalidInput("It is expired.")
            self._forget(place)
            self._see(self.shelf.get_by_id(memory.id), place, text.encode())
            return Step(step.what, place, memory.id)
        fields = _fields(past.last, whole=bool(front_matter.split(text).fields))
        seen = self.ledger.get(step.id)
        known = None if seen is None or self.prefer == "folder" else seen.version
        try:
            changed = self.shelf.update(step.id, **fields, expected_version=known)
        except EditConflict as conflict:
            return self._merge(step, conflict)
        self._see(changed, place, text.encode())
        return Step("to shelf", place, step.id)

    def _merge(self, step: Step, conflict: EditConflict) -> Step:
        both, current = conflict.difference, conflict.current
        if step.id is None or both is None or current is None or not both.clean:
            return Step("conflict", step.path, step.id, "both sides changed the same lines")
        merged = self.shelf.update(step.id, content=both.text, expected_version=current.version)
        place = str(step.path)
        data = file_text(merged, place.split("/")).encode()
        self._check(place)
        self.folder.write(place.split("/"), data)
        self._see(merged, place, data)
        return Step("merged", place, step.id)

    def _called(self, place: str | None) -> tuple[str, str] | None:
        """Return the type and name that a file has now."""
        if place is None:
            return None
        past = past_of(self._text(place), place.split("/"), self.shelf.vocabularies)[0]
        return past.type, past.name

    def _remove_file(self, step: Step) -> None:
        place = str(step.path)
        self._check(place)
        self.folder.remove(place.split("/"))
        self._forget(place)

    def _remove_memory(self, step: Step) -> None:
        if step.id is not None:
            self.shelf.delete_by_id(step.id, expected_version=self.ledger[step.id].version)
            self._forget(str(step.path))

    def _see(self, memory: Memory, place: str, data: bytes) -> None:
        self.ledger[memory.id] = Seen(place, _digest(data), memory.version, memory.order)

    def _forget(self, place: str) -> None:
        self.ledger = {id: seen for id, seen in self.ledger.items() if seen.path != place}

    def _check(self, place: str | None) -> None:
        """Refuse to overwrite what was changed since the run began to look."""
        data = None if place is None else self._read(place)
        if place is not None and data is not None and _digest(data) != self.files.get(place):
            raise Conflict(f"{place} was changed meanwhile.", suggestion="Run it again.")

    def _read(self, place: str) -> bytes | None:
        try:
            return self.folder.read(place.split("/"), limit=LARGEST)
        except MemoriesError:
            return None

    def _text(self, place: str) -> str:
        return text_of(self.folder.read(place.split("/"), limit=LARGEST))


def _heads(shelf: Scope) -> Iterator[MemoryHead]:
    cursor: str | None = None
    while True:
        page = shelf.list(limit=500, cursor=cursor)
        yield from page
        if (cursor := page.next_cursor) is None:
            return


def _fields(draft: Draft, *, whole: bool) -> dict[str, Any]:
    """Return what a file says of a memory; one with our fields says all of them."""
    fields: dict[str, Any] = {"name": draft.name, "type": draft.type, "content": draft.content}
    if not whole:
        return fields
    defaults = {"summary": DERIVED, "tags": (), "pinned": False, "untrusted": False}
    for name, default in (*defaults.items(), ("expires_at", None), ("order", UNSET)):
        value = getattr(draft, name)
        fields[name] = default if isinstance(value, Unset) else value
    return fields


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
