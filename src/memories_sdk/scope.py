"""Scope: one shelf, bound to who acts. Every memory is reached through it, from every door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from uuid6 import UUID

from memories_sdk import transfers
from memories_sdk.bound import parsed_id, parsed_ids, unknown_id
from memories_sdk.desk import Desk
from memories_sdk.draft import Draft, edited
from memories_sdk.edits import Edit, apply_edits, wanted_edits
from memories_sdk.errors import EditConflict, InvalidInput
from memories_sdk.fields import (
    checked_order,
    checked_type,
    checked_version,
    normal_content,
    normal_name,
)
from memories_sdk.memory import UNSET, Derived, Memory, Saved, Unset
from memories_sdk.once import writes
from memories_sdk.precondition import expect
from memories_sdk.reader import ScopeReader
from memories_sdk.shelf import Shelf, Stored
from memories_sdk.visit import Visit

Unknown = Literal["refuse", "skip", "count"]


class Scope(Desk):
    """A shelf with all its verbs. Made by `store.scope(…)`.

    Each verb is one transaction: all of it is stored, with its revision, or nothing. Each write
    takes `expected_version`, the version the caller read; when the memory has moved on since, it
    raises `EditConflict` with the current one instead of overwriting.
    """

    def read_only(self) -> ScopeReader:
        """Return the reading half alone, for code that must not write.

        Where the store has a `replica`, it reads there: what was just written may not be there yet.
        """
        return ScopeReader(
            replace(self._setting, database=self._setting.database.to_read()),
            caller=self.caller,
            principal=self.principal,
            agent=self.agent,
            actor=self._actor,
            source=self._source,
        )

    @writes
    def save(
        self,
        name: str,
        type: str,
        content: str | Unset = UNSET,
        *,
        summary: str | Derived | Unset | None = UNSET,
        order: int | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        expires_at: datetime | Unset | None = UNSET,
        untrusted: bool | Unset = UNSET,
        expected_version: int | None = None,
        new_order: int | Unset = UNSET,
    ) -> Saved:
        """Create the memory of that name and type, or update it; what is left out stays.

        Args:
            name: 1 to 200 characters; NFC, without blanks around it.
            type: One of this shelf's types.
            content: The body, stored verbatim; needed for a new memory.
            summary: One line of at most 500 characters; None or blank for none; `DERIVED` to
                follow the body again. A new memory's is derived when left out.
            order: Place in the list; a new memory goes last when left out.
            tags: At most 32 of at most 64 characters.
            pinned: Whether it comes first in a prompt.
            expires_at: The moment at which it vanishes, at once if that has passed; None for never.
            untrusted: Whether agents get it with a label only, as quoted matter.
            expected_version: See the class; with no such memory, any version is stale.
            new_order: Place of a new memory alone, for a door that does not put it last.

        Raises:
            InvalidInput: A value breaks its rule, or a new memory has no content.
            EditConflict: `expected_version` is stale.
        """
        vocabulary = checked_type(type, self.vocabularies)
        name = normal_name(name, vocabulary)
        draft = Draft.of(
            vocabulary,
            content=content,
            summary=summary,
            order=order,
            tags=tags,
            pinned=pinned,
            expires_at=expires_at,
            untrusted=untrusted,
        )
        expected = checked_version(expected_version)
        self._admit(type, draft.texts() | {"name": name})
        with self._writing() as shelf:
            if (stored := shelf.claim(name, type)) is not None:
                expect(shelf, stored, expected, _written(content))
                changed = shelf.change(stored, draft.applied(stored.memory, shelf.now))
                return Saved(changed, created=False)
            if expected is not None:
                raise EditConflict(expected, None)
            if isinstance(draft.order, Unset) and not isinstance(new_order, Unset):
                draft = replace(draft, order=checked_order(new_order))
            return Saved(self._add(shelf, name, type, draft), created=True)

    @writes
    def create(
        self,
        name: str,
        type: str,
        content: str = "",
        *,
        summary: str | Derived | Unset | None = UNSET,
        order: int | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        expires_at: datetime | Unset | None = UNSET,
        untrusted: bool | Unset = UNSET,
    ) -> Memory:
        """Create a memory; the arguments are those of `save`.

        Raises:
            NameTaken: One of that name and type is there already.
            InvalidInput: A value breaks its rule.
        """
        vocabulary = checked_type(type, self.vocabularies)
        name = normal_name(name, vocabulary)
        draft = Draft.of(
            vocabulary,
            content=content,
            summary=summary,
            order=order,
            tags=tags,
            pinned=pinned,
            expires_at=expires_at,
            untrusted=untrusted,
        )
        self._admit(type, draft.texts() | {"name": name})
        with self._writing(taken=f"A memory [{name}] (type={type}) is there already.") as shelf:
            shelf.bury(name, type)
            return self._add(shelf, name, type, draft)

    @writes
    def update(
        self,
        id: UUID | str,
        *,
        name: str | Unset = UNSET,
        type: str | Unset = UNSET,
        content: str | Unset = UNSET,
        summary: str | Derived | Unset | None = UNSET,
        order: int | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        expires_at: datetime | Unset | None = UNSET,
        untrusted: bool | Unset = UNSET,
        expected_version: int | None = None,
    ) -> Memory:
        """Change fields of a memory, its name and type among them; what is left out stays.

        With nothing to change, nothing is written and the version stays.

        Raises:
            NotFound: It is not on this shelf.
            NameTaken: Another memory has that name and type.
            InvalidInput: A value breaks its rule.
            EditConflict: `expected_version` is stale.
        """
        expected = checked_version(expected_version)
        seen = self.get_by_id(id)
        new_type = seen.type if isinstance(type, Unset) else type
        vocabulary = checked_type(new_type, self.vocabularies)
        draft = Draft.of(
            vocabulary,
            name=name,
            type=type,
            content=content,
            summary=summary,
            order=order,
            tags=tags,
            pinned=pinned,
            expires_at=expires_at,
            untrusted=untrusted,
        )
        moved = seen.type not in vocabulary.types
        kept: dict[str, str] = {}
        if moved:
            draft = draft.moved(seen, vocabulary)
            kept = {"summary": seen.summary or ""}
        self._admit(new_type, kept | draft.texts())
        with self._writing(taken="Another memory has that name and type.") as shelf:
            stored = self._with_id(shelf, id)
            old = stored.memory
            expect(shelf, stored, expected, _written(content))
            if old.type != seen.type or (moved and old.version != seen.version):
                raise EditConflict(seen.version, old)
            if draft.empty:
                return old
            new = draft.applied(old, shelf.now)
            if (new.type, new.name) != (old.type, old.name):
                shelf.bury(new.name, new.type)
            return shelf.change(stored, new)

    @writes
    def replace(
        self,
        name: str,
        type: str,
        *,
        find: str | Unset = UNSET,
        new_text: str | Unset = UNSET,
        edits: Sequence[Edit] | Unset = UNSET,
        expected_version: int | None = None,
    ) -> Memory:
        """Replace a passage that stands exactly once in the body, or several, all or none.

        Matching is literal, and places that overlap count. Later edits see what earlier ones did.

        Args:
            name: With `type`, the memory.
            type: See `name`.
            find: The passage.
            new_text: What to put there; an empty text deletes the passage.
            edits: Instead of `find` and `new_text`: several replacements.
            expected_version: See the class.

        Raises:
            NotFound: There is no such memory.
            AnchorNotFound: A passage stands nowhere.
            AnchorNotUnique: A passage stands at several places; the error names them.
            EditConflict: `expected_version` is stale.
        """
        name = self._name(name, type)
        wanted = wanted_edits(find, new_text, edits)
        expected = checked_version(expected_version)
        return self._edit(lambda shelf: self._there(shelf, name, type), wanted, expected)

    @writes
    def replace_by_id(
        self,
        id: UUID | str,
        *,
        find: str | Unset = UNSET,
        new_text: str | Unset = UNSET,
        edits: Sequence[Edit] | Unset = UNSET,
        expected_version: int | None = None,
    ) -> Memory:
        """Replace as `replace` does, in the memory with that id."""
        wanted = wanted_edits(find, new_text, edits)
        expected = checked_version(expected_version)
        return self._edit(lambda shelf: self._with_id(shelf, id), wanted, expected)

    @writes
    def delete(self, name: str, type: str, *, expected_version: int | None = None) -> Memory:
        """Delete a memory and return its last state; `restore` brings it back under its id.

        Raises:
            NotFound: There is no such memory.
            EditConflict: `expected_version` is stale.
        """
        name = self._name(name, type)
        expected = checked_version(expected_version)
        with self._writing() as shelf:
            return _remove(shelf, self._there(shelf, name, type), expected)

    @writes
    def delete_by_id(self, id: UUID | str, *, expected_version: int | None = None) -> Memory:
        """Delete as `delete` does, the memory with that id."""
        expected = checked_version(expected_version)
        with self._writing() as shelf:
            return _remove(shelf, self._with_id(shelf, id), expected)

    @writes
    def clear(self, *, type: str | None = None) -> int:
        """Delete all memories of the shelf, or of one type; return how many went.

        Each keeps its last revision, so each can be restored.
        """
        types = self._types(type)
        with self._writing() as shelf:
            gone = shelf.everything(types)
            for stored in gone:
                shelf.remove(stored, "clear")
        return len(gone)

    @writes
    def move(
        self,
        id: UUID | str,
        *,
        before: UUID | str | None = None,
        after: UUID | str | None = None,
        expected_version: int | None = None,
    ) -> Memory:
        """Put a memory right before or right after another one; the rest keeps its order.

        Works the same in a filtered list. The shelf is renumbered 1…n by one statement; versions
        and `updated_at` stay, since moving is not editing.

        Raises:
            InvalidInput: Not exactly one neighbour was named, or it is the memory itself.
            NotFound: One of the two is not on this shelf.
            EditConflict: `expected_version` is stale.
        """
        neighbour = before if after is None else after
        if neighbour is None or (before is not None and after is not None):
            raise InvalidInput(
                "move needs exactly one of before= and after=.",
                suggestion="Name the memory that it shall stand next to.",
            )
        if parsed_id(id) == parsed_id(neighbour):
            raise InvalidInput(
                "A memory cannot be moved next to itself.", suggestion="Name another neighbour."
            )
        expected = checked_version(expected_version)
        with self._writing() as shelf:
            stored = self._with_id(shelf, id)
            expect(shelf, stored, expected)
            anchor = self._with_id(shelf, neighbour)
            return shelf.move(stored, anchor, 0 if after is None else 1)

    @writes
    def reorder(self, ids: Sequence[UUID | str], *, unknown: Unknown = "refuse") -> None:
        """Put these memories first, in this order; the rest follows in its old order.

        The shelf is renumbered 1…n by one statement; versions and `updated_at` stay.

        Args:
            ids: The memories.
            unknown: What an id does that is not on this shelf: it refuses the call. For doors
                that take what Spora took, it can be passed over ("skip"), or use up its number as
                it did there ("count"): the rest then keeps its numbers, which may tie.

        Raises:
            InvalidInput: An id is named twice.
            NotFound: An id is not on this shelf; nothing was moved.
        """
        if unknown not in ("refuse", "skip", "count"):
            raise InvalidInput(
                "unknown must be refuse, skip or count.",
                field="unknown",
                suggestion="Leave it out to refuse.",
            )
        wanted = [each.bytes for each in parsed_ids(ids)]
        with self._writing() as shelf:
            rows = shelf.order()
            old = list(rows)
            mine = self._ordered(shelf, rows, wanted)
            named = [row for row in mine if row is not None]
            if named != mine and unknown == "refuse":
                raise unknown_id()
            if not named and unknown != "refuse":
                return  # as in Spora, which wrote nothing then
            if named == mine or unknown == "skip":
                known = set(named)
                mine = [*named, *(row for row in rows.values() if row not in known)]
            shelf.reorder(mine, old)

    @writes
    def transfer(self, id: UUID | str, *, to: Scope, expected_version: int | None = None) -> Memory:
        """Move a memory to another shelf of this store, where it stands last under the same id.

        The pictures that its body names go with it; its history stays, and `undo` on either shelf
        brings it back.

        Args:
            id: The memory.
            to: The other shelf, by the right of whoever acts there.
            expected_version: See the class.

        Raises:
            NotFound: It is not on this shelf.
            NameTaken: One of that name and type is there already.
            QuotaExceeded: The owner of the other shelf would have too much.
            UnknownType: The other shelf takes no memories of its type.
            InvalidInput: Both are the same shelf, or of two stores.
            EditConflict: `expected_version` is stale.
        """
        expected = checked_version(expected_version)
        memory = self.get_by_id(id)
        if to._setting.database is not self._setting.database:
            raise InvalidInput(
                "to must be a shelf of the same store.",
                field="to",
                suggestion="For example store.scope(acting_as=alice, principal=lab).",
            )
        checked_type(memory.type, to.vocabularies)
        if to.key == self.key:
            raise InvalidInput(
                "The memory is on that shelf already.", field="to", suggestion="Name another one."
            )
        to._admit(memory.type, _texts(memory))
        taken = f"A memory [{memory.name}] (type={memory.type}) is there already."
        with self._writing(taken=taken) as shelf:
            stored = self._with_id(shelf, id)
            expect(shelf, stored, expected)
            if stored.memory.version != memory.version:
                raise EditConflict(memory.version, stored.memory)  # the guards saw another text
            there = shelf.beside(to._shelf)
            moved = transfers.carry(shelf, there, stored)
            if to.principal != self.principal:
                to._check_quota(there)
            return moved

    @writes
    def switch(self, *, on: bool) -> None:
        """Switch memory on or off for this shelf, for everybody; it is on at first.

        Off, it can be read, and every write raises `MemoryOff`.
        """
        writing = self._setting.database.write(shelf=self.key)
        with self._keeping(Visit(writing, self._shelf)) as shelf:
            shelf.switch(on=on)

    def _ordered(
        self, shelf: Shelf, rows: Mapping[bytes, int], ids: Sequence[bytes]
    ) -> list[int | None]:
        """Return the row of each id, or None where this scope has no memory of that id."""
        if not self._setting.narrowed:
            return [rows.get(id) for id in ids]
        types = self._types(None)
        found = [shelf.find_id(UUID(bytes=id)) for id in ids]
        return [None if it is None or it.memory.type not in types else it.row for it in found]

    def _add(self, shelf: Shelf, name: str, type: str, draft: Draft) -> Memory:
        if isinstance(draft.content, Unset):
            raise InvalidInput(
                "content is required for a new memory.",
                field="content",
                suggestion="Pass an empty text if it shall be empty.",
            )
        blank = shelf.new(self._setting.new_id(), name, type)
        return shelf.add(draft.begun(blank))

    def _edit(
        self, find: Callable[[Shelf], Stored], edits: Sequence[Edit], expected: int | None
    ) -> Memory:
        admitted: tuple[str, str] | None = None
        if self._setting.plugins.foreign:
            # A guard of somebody else may take its time; nobody shall wait for it at the lock.
            with self._reading() as shelf:
                planned = self._edited(shelf, find(shelf), edits, expected)
            admitted = (planned.type, planned.content)
            self._admit(planned.type, {"content": planned.content})
        with self._writing() as shelf:
            stored = find(shelf)
            new = self._edited(shelf, stored, edits, expected)
            if (new.type, new.content) != admitted:
                self._admit(new.type, {"content": new.content})
            return shelf.change(stored, new, "replace")

    def _edited(
        self, shelf: Shelf, stored: Stored, edits: Sequence[Edit], expected: int | None
    ) -> Memory:
        memory = stored.memory
        expect(shelf, stored, expected, lambda base: apply_edits(base, edits))
        vocabulary = checked_type(memory.type, self.vocabularies)
        content = normal_content(apply_edits(memory.content, edits), vocabulary)
        return edited(memory, content, shelf.now)


def _texts(memory: Memory) -> dict[str, str]:
    return {
        "name": memory.name,
        "content": memory.content,
        "summary": memory.summary or "",
        "tags": "\n".join(memory.tags),
    }


def _written(content: str | Unset) -> Callable[[str], str] | None:
    return None if isinstance(content, Unset) else lambda _: content


def _remove(shelf: Shelf, stored: Stored, expected: int | None) -> Memory:
    expect(shelf, stored, expected)
    shelf.remove(stored)
    return stored.memory
