"""The rows of one shelf inside one transaction: what a verb reads and writes there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from uuid6 import UUID

from memories_sdk.attachments import referred_to
from memories_sdk.database import Connection
from memories_sdk.drawer import Drawer
from memories_sdk.errors import SchemaMismatch
from memories_sdk.fields import byte_size
from memories_sdk.history import Action
from memories_sdk.ledger import bounded
from memories_sdk.memory import Memory, MemoryHead
from memories_sdk.past import Step
from memories_sdk.principals import scope_key
from memories_sdk.quota import MINUTE, Usage
from memories_sdk.rows import (
    Parameters,
    body_digest,
    columns,
    from_time,
    image,
    keyed,
    sealed_content,
    sealed_summary,
    state_digest,
    to_head,
    to_memory,
)
from memories_sdk.statements import desk
from memories_sdk.statements import memories as sql
from memories_sdk.statements.people import AGENTS_OF
from memories_sdk.statements.revisions import BEGINNING, WRITES
from memories_sdk.tables import SCHEMA_VERSION

Place = tuple[int, str, bytes]
"""Where a page ends: order, name and id of its last row."""


PLACED: Final = frozenset({"type", "name", "order"})
"""The fields that stand in an index."""

_HEX_ID: Final = re.compile("[0-9a-f]{32}")

NAMING: Final = frozenset({"type", "name"})
"""The fields that agents know a memory by."""


class Stored(NamedTuple):
    """A memory and the number of its row."""

    memory: Memory
    row: int


class Shelf(Drawer):
    """One shelf during one transaction. An expired memory counts as gone at `now`."""

    def usage(self, principal_id: int, writes: int) -> Usage | None:
        """Return what the principal has on all its shelves; None when nothing was written.

        Args:
            principal_id: Whose shelf this is.
            writes: Most verbs of the last minute that matter.
        """
        if self._first is None and self._grown == [0, 0]:
            return None
        agents = self._connection.execute(AGENTS_OF, {"principal_id": principal_id}).fetchall()
        # On a server this takes a turn, which the writers of all shelves of one owner wait for
        # before they count: each counts what the one before it committed.
        self._connection.execute(sql.ENABLED, {"scope_key": f"owner:{principal_id}"}).fetchone()
        keys = [scope_key(principal_id=principal_id)]
        keys += [scope_key(agent_id=agent[0]) for agent in agents]
        memories = size = recent = 0
        since = from_time(self.now - MINUTE)
        for key in keys:
            at = {"counted": key, "limit": writes + 1}
            count, length = self._connection.execute(sql.USED, at).fetchone()
            (shown,) = self._connection.execute(desk.USED_BY_PICTURES, at).fetchone()
            memories, size = memories + count, size + length + shown
            times = self._connection.execute(WRITES, at).fetchall()
            recent += sum(time > since for (time,) in times)
        return Usage((memories, self._grown[0]), (size, self._grown[1]), recent)

    @property
    def enabled(self) -> bool:
        """Whether memory is switched on here, as it is on a shelf that nobody switched."""
        row = self._connection.execute(sql.ENABLED, self._key).fetchone()
        return row is None or row[0] == 1

    def begin(self) -> bool:
        """Read what a write needs first; return whether memory is switched on here.

        Raises:
            SchemaMismatch: The tables were migrated since the store was opened.
        """
        enabled, seal, version = self._connection.execute(BEGINNING, self._key).fetchone()
        if version is not None and version > SCHEMA_VERSION:
            raise SchemaMismatch(
                f"A newer release brought the tables to schema {version}; this one knows schema "
                f"{SCHEMA_VERSION}. Nothing was written.",
                suggestion="Start this program again with that release of memories-sdk.",
            )
        self._seal = b"" if seal is None else bytes(seal)
        return enabled is None or enabled == 1

    def switch(self, *, on: bool) -> None:
        """Switch memory on or off."""
        self._connection.execute(sql.SWITCH, self._key | {"enabled": int(on)})

    def find(self, name: str, type: str) -> Stored | None:
        """Return the memory of that name and type."""
        return self._one(sql.GET, type=type, name=name)

    def claim(self, name: str, type: str) -> Stored | None:
        """Return the memory of that name and type; an expired one is deleted, and is none."""
        stored = self._one(sql.GET_AT_ALL, type=type, name=name)
        if stored is not None and (end := stored.memory.expires_at) is not None and end <= self.now:
            self.remove(stored, "expire")
            return None
        return stored

    def find_id(self, id: UUID) -> Stored | None:
        """Return the memory with that id."""
        return self._one(sql.GET_BY_ID, id=id.bytes)

    def everything(self, types: Sequence[str] = ()) -> list[Stored]:
        """Return the memories of these types, or of all, with their bodies, in list order."""
        rows = self._all(sql.everything(len(types)), **_numbered(types))
        return [Stored(to_memory(row, self._cipher), row[-1]) for row in rows]

    def recent(self, types: Sequence[str], limit: int, skipped: int) -> list[Memory]:
        """Return memories of these types, last changed first; a limit of -1 means all."""
        place: Parameters = {"limit": bounded(limit), "skipped": skipped}
        rows = self._all(sql.recent(len(types)), **_numbered(types), **place)
        return [to_memory(row, self._cipher) for row in rows]

    def heads(self, types: Sequence[str], limit: int, after: Place | None) -> list[MemoryHead]:
        """Return at most `limit` heads of these types behind a place, in list order."""
        statement = sql.listing(len(types), after=after is not None)
        rows = self._all(statement, limit=limit, **_numbered(types), **_behind(after))
        return [to_head(row, self._cipher) for row in rows]

    def page(self, types: Sequence[str], limit: int, after: Place | None) -> list[Memory]:
        """Return at most `limit` memories with their bodies behind a place, in list order."""
        statement = sql.reading(len(types), after=after is not None)
        rows = self._all(statement, limit=limit, **_numbered(types), **_behind(after))
        return [to_memory(row, self._cipher) for row in rows]

    def counts(self, types: Sequence[str]) -> dict[str, int]:
        """Return how many memories there are of each of these types, where there are any."""
        return dict(self._all(sql.counting(len(types)), **_numbered(types)))

    def total(self, types: Sequence[str]) -> int:
        """Return how many memories there are of these types together."""
        return int(self._all(sql.total(len(types)), **_numbered(types))[0][0])

    def beside(self, opened: Callable[[Connection], Shelf]) -> Shelf:
        """Return another shelf in the same transaction; who hears of this one hears of both."""
        other = opened(self._connection)
        other.recorded = self.recorded
        return other

    def add(
        self, memory: Memory, action: Action = "create", before: Mapping[str, object] | None = None
    ) -> Memory:
        """Insert a memory."""
        after = self._insert(memory)
        self._record(action, memory, before or {}, after, named=True)
        return memory

    def adopt(self, steps: Sequence[Step]) -> None:
        """Insert a memory with its past: how the last step left it, and a revision of each."""
        if (last := steps[-1].after) is not None:
            self._insert(last)
        kept = self.now, self._key, self._actor, self._source
        for version, before, after, at in steps:
            self.now, self._key = at, self._key | {"now": from_time(at)}
            self._actor, self._source = version.actor or kept[2], version.source
            if version.actor is None and version.source is None:
                self._source = kept[3]
            self._tell(version.action, version.version, before, after)
        self.now, self._key, self._actor, self._source = kept

    def _tell(
        self, action: Action, version: int, before: Memory | None, after: Memory | None
    ) -> None:
        if after is not None:
            overwritten = {} if before is None else image(before, after)
            digest = state_digest(columns(after), body_digest(after.content), self._cipher)
            named = before is None or (before.name, before.type) != (after.name, after.type)
            self._record(action, after, overwritten, digest, named=named)
        elif before is not None:
            gone = replace(before, version=version)
            self._record(action, gone, image(before, None), None)

    def _insert(self, memory: Memory) -> bytes:
        """Insert the rows of a memory and return the digest of its state."""
        parameters = columns(memory) | {
            "id": memory.id.bytes,
            "scope_key": self._owner.key,
            "scope": self._owner.kind,
            "principal_id": self._owner.principal_id,
            "agent_id": self._owner.agent_id,
            "created_at": from_time(memory.created_at),
        }
        digest = body_digest(memory.content)
        after = state_digest(parameters, digest, self._cipher)
        parameters["summary"] = sealed_summary(memory, self._cipher)
        row = self._connection.execute(sql.INSERT, parameters).lastrowid
        self._put_body(sql.INSERT_BODY, row, memory, digest)
        self._grow(1, memory.size)
        return after

    def _put_body(self, statement: str, row: int | None, memory: Memory, digest: bytes) -> None:
        body = {
            "scope_key": self._owner.key,
            "row": row,
            "content": sealed_content(memory, self._cipher),
            "sha256": keyed(digest, self._cipher),
        }
        self._connection.execute(statement, body)

    def new(self, id: UUID, name: str, type: str) -> Memory:
        """Return an empty memory for the end of the list, not stored yet."""
        last = self._all(sql.LAST_POSITION)[0][0]
        return Memory(
            id=id,
            scope=self._owner.kind,
            principal_id=self._owner.principal_id,
            agent_id=self._owner.agent_id,
            type=type,
            name=name,
            summary=None,
            summary_derived=True,
            tags=(),
            pinned=False,
            order=max(last or 0, 0) + 1,
            version=1,
            size=0,
            expires_at=None,
            created_at=self.now,
            updated_at=self.now,
            untrusted=False,
            content="",
        )

    def revived(self, id: UUID, fields: Mapping[str, Any], version: int) -> Memory:
        """Return a memory with these fields of a before-image, not stored yet.

        A time at which it expired is not brought back: it would vanish again at once.
        """
        expires = fields["expires_at"]
        fresh = {
            "version": version,
            "size": byte_size(fields["content"]),
            "expires_at": None if expires is None or expires <= self.now else expires,
        }
        blank = self.new(id, fields["name"], fields["type"])
        return replace(blank, **{**fields, **fresh})

    def change(self, old: Stored, new: Memory, action: Action = "update") -> Memory:
        """Overwrite a memory."""
        values = columns(new)
        before = image(old.memory, new)
        stays = before.keys().isdisjoint(PLACED)
        digest = body_digest(new.content)
        after = state_digest(values, digest, self._cipher)
        parameters = {f"new_{name}": value for name, value in values.items()}
        parameters["new_summary"] = sealed_summary(new, self._cipher)
        parameters |= {"scope_key": self._owner.key, "row": old.row}
        self._connection.execute(sql.UPDATE_IN_PLACE if stays else sql.UPDATE, parameters)
        if "content" in before:
            self._put_body(sql.UPDATE_BODY, old.row, new, digest)
        self._grow(0, new.size - old.memory.size)
        named = not before.keys().isdisjoint(NAMING)
        self._record(action, new, before, after, named=named)
        return new

    def remove(self, stored: Stored, action: Action = "delete") -> None:
        """Delete a memory; its revision keeps all of it, and between whom it stood."""
        before = image(stored.memory, None) | self._neighbours(stored.memory)
        self._connection.execute(sql.DELETE, {"scope_key": self._owner.key, "row": stored.row})
        self._grow(-1, -stored.memory.size)
        gone = replace(stored.memory, version=stored.memory.version + 1)
        self._record(action, gone, before, None)

    def bury(self, name: str, type: str) -> None:
        """Delete an expired memory of that name, which still holds the unique key."""
        if (expired := self._one(sql.GET_EXPIRED, type=type, name=name)) is not None:
            self.remove(expired, "expire")

    def move(self, stored: Stored, anchor: Stored, side: int) -> Memory:
        """Put a memory right before (0) or behind (1) another and number the shelf 1…n."""
        order = self.order()
        ids = list(order)
        following = ids[ids.index(stored.memory.id.bytes) + 1 :][:1]
        rows = [row for row in order.values() if row != stored.row]
        place = rows.index(anchor.row) + side
        rows.insert(place, stored.row)
        self._number(rows)
        moved = replace(stored.memory, order=place + 1)
        before = {
            "order": stored.memory.order,
            "next": following[0].hex() if following else None,
        }
        after = state_digest(columns(moved), body_digest(moved.content), self._cipher)
        self._record("move", moved, before, after)
        return moved

    def settle(self, memory: Memory, before: Mapping[str, object]) -> Memory:
        """Put a memory that came back between its old neighbours again.

        Its number does so by itself, unless the shelf was numbered anew in between.

        Args:
            memory: It stands where its number puts it.
            before: What the revision kept by which it went.
        """
        here = _place_of(memory)
        previous, following = (self._place(before.get(name)) for name in ("previous", "next"))
        if following is not None and here > following:
            anchor, side = following[-1], 0
        elif previous is not None and here < previous:
            anchor, side = previous[-1], 1
        else:
            return memory
        rows = self.order()
        ids = [each for each in rows if each != memory.id.bytes]
        at = ids.index(anchor) + side
        ids.insert(at, memory.id.bytes)
        self.reorder([rows[each] for each in ids], list(rows))
        return replace(memory, order=at + 1)

    def _place(self, id: object) -> Place | None:
        """Return the place of a memory by its id in hex, or None when it is not here."""
        # A text that was blotted out may have stood in it.
        if not isinstance(id, str) or not _HEX_ID.fullmatch(id):
            return None
        found = self._all(sql.PLACE, id=bytes.fromhex(id))
        return tuple(found[0]) if found else None

    def _neighbours(self, memory: Memory) -> dict[str, object]:
        behind = _behind(_place_of(memory))
        found = {
            name: self._all(statement, **behind)
            for name, statement in (("previous", sql.PREVIOUS), ("next", sql.NEXT))
        }
        return {name: bytes(rows[0][0]).hex() if rows else None for name, rows in found.items()}

    def order(self) -> dict[bytes, int]:
        """Return the row numbers of the shelf by id, in list order."""
        return dict(self._all(sql.SHELF_ORDER))

    def reorder(self, rows: Iterable[int | None], old: Sequence[bytes]) -> None:
        """Number these rows 1…n; None uses up a number."""
        self._number(rows)
        self._record("reorder", None, {"order": [id.hex() for id in old]}, None)

    def _number(self, rows: Iterable[int | None]) -> None:
        parameters = {"scope_key": self._owner.key, "rows": json.dumps(list(rows))}
        self._connection.execute(sql.REORDER, parameters)

    def is_elsewhere(self, id: UUID) -> bool:
        """Tell whether that memory is on another shelf, and will not come to one meanwhile."""
        # On a server this takes a turn, which all who bring the memory back wait for: in a store
        # of several parts, no unique key spans them.
        self._connection.execute(sql.ENABLED, {"scope_key": f"memory:{id.hex}"}).fetchone()
        return bool(self._all(sql.ELSEWHERE, id=id.bytes))

    def referred_to(self) -> set[UUID]:
        """Return the ids of the pictures that some text of the shelf names, past ones too."""
        if self._cipher is None:
            return referred_to(row[0] for each in desk.REFERRING for row in self._all(each))
        texts = [stored.memory.content for stored in self.everything()]
        texts += [content for _, _, content, _ in self._images() if content is not None]
        texts += [fields for _, _, fields in self._all_drafts()]
        return referred_to(texts)

    def _one(self, statement: str, **parameters: object) -> Stored | None:
        row = self._connection.execute(statement, self._key | parameters).fetchone()
        return None if row is None else Stored(to_memory(row, self._cipher), row[-1])


def _numbered(types: Sequence[str]) -> Parameters:
    return {f"type_{index}": type for index, type in enumerate(types)}


def _place_of(memory: Memory) -> Place:
    return memory.order, memory.name, memory.id.bytes


def _behind(place: Place | None) -> Parameters:
    if place is None:
        return {}
    return dict(zip(("after_position", "after_name", "after_id"), place, strict=True))
