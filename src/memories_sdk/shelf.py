"""The rows of one shelf inside one transaction: what a verb reads and writes there."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple

from uuid6 import UUID

from memories_sdk import statements as sql
from memories_sdk.attachments import Attachment, AttachmentHead, picture_id, referred_to
from memories_sdk.database import Connection
from memories_sdk.editor_drafts import EditorDraft
from memories_sdk.encryption import Cipher
from memories_sdk.fields import byte_size
from memories_sdk.history import Action, Revision, image_digest
from memories_sdk.memory import Memory, MemoryHead
from memories_sdk.past import Step
from memories_sdk.principals import ScopeKind, scope_key
from memories_sdk.quota import MINUTE, Usage
from memories_sdk.rows import (
    Parameters,
    body_digest,
    columns,
    from_time,
    image,
    keyed,
    opened_image,
    sealed_content,
    sealed_image,
    sealed_summary,
    state_digest,
    to_attachment,
    to_attachment_head,
    to_draft,
    to_entry,
    to_head,
    to_memory,
    to_revision,
)
from memories_sdk.search import stored_vectors, word_index

Place = tuple[int, str, bytes]
"""Where a page ends: order, name and id of its last row."""


PLACED: Final = frozenset({"type", "name", "order"})
"""The fields that stand in an index."""

NAMING: Final = frozenset({"type", "name"})
"""The fields that agents know a memory by."""


class Owner(NamedTuple):
    """Whose shelf it is: exactly one of the two ids is set."""

    key: str
    kind: ScopeKind
    principal_id: int | None
    agent_id: int | None


class Stored(NamedTuple):
    """A memory and the number of its row."""

    memory: Memory
    row: int


class Shelf:
    """One shelf during one transaction. An expired memory counts as gone at `now`.

    Attributes:
        now: The moment of the transaction.
        undoing: The change that the revisions to be written take back, or None.
        recorded: The revisions written so far, or None when nobody wants to hear of them.
    """

    def __init__(
        self,
        connection: Connection,
        owner: Owner,
        now: datetime,
        *,
        actor: str,
        source: str | None,
        cipher: Cipher | None = None,
    ) -> None:
        self._connection = connection
        self._cipher = cipher
        self._owner = owner
        self._key: Parameters = {"scope_key": owner.key, "now": from_time(now)}
        self._actor = actor
        self._source = source
        self._seal: bytes | None = None
        self._first: int | None = None
        self._grown = [0, 0]
        self.undoing: int | None = None
        self.recorded: list[Revision] | None = None
        self.now = now

    def usage(self, principal_id: int, writes: int) -> Usage | None:
        """Return what the principal has on all its shelves; None when nothing was written.

        Args:
            principal_id: Whose shelf this is.
            writes: Most verbs of the last minute that matter.
        """
        if self._first is None and self._grown == [0, 0]:
            return None
        agents = self._connection.execute(sql.AGENTS_OF, {"principal_id": principal_id}).fetchall()
        keys = [scope_key(principal_id=principal_id)]
        keys += [scope_key(agent_id=agent[0]) for agent in agents]
        memories = size = recent = 0
        since = from_time(self.now - MINUTE)
        for key in keys:
            at = {"scope_key": key, "limit": writes + 1}
            count, length = self._connection.execute(sql.USED, at).fetchone()
            (shown,) = self._connection.execute(sql.USED_BY_PICTURES, at).fetchone()
            memories, size = memories + count, size + length + shown
            times = self._connection.execute(sql.WRITES, at).fetchall()
            recent += sum(time > since for (time,) in times)
        return Usage((memories, self._grown[0]), (size, self._grown[1]), recent)

    @property
    def enabled(self) -> bool:
        """Whether memory is switched on here, as it is on a shelf that nobody switched."""
        row = self._connection.execute(sql.ENABLED, self._key).fetchone()
        return row is None or row[0] == 1

    def switch(self, *, on: bool) -> None:
        """Switch memory on or off."""
        self._connection.execute(sql.SWITCH, self._key | {"enabled": int(on)})

    def operation(self, caller: int, key: str) -> tuple[bytes, str] | None:
        """Return request and outcome of the write that a caller named by this key."""
        parameters = self._key | {"caller": caller, "key": key}
        row = self._connection.execute(sql.OPERATION, parameters).fetchone()
        return None if row is None else (row[0], row[1])

    def keep_operation(self, caller: int, key: str, request: bytes, outcome: str) -> None:
        """Record that the write of this key was carried out."""
        parameters = {"caller": caller, "key": key, "request": request, "outcome": outcome}
        parameters |= {"scope_key": self._owner.key, "at": self._key["now"]}
        self._connection.execute(sql.KEEP_OPERATION, parameters)

    def forget_operations(self, before: datetime) -> None:
        """Forget the keys of writes before this moment."""
        parameters = {"scope_key": self._owner.key, "before": from_time(before)}
        self._connection.execute(sql.FORGET_OPERATIONS, parameters)

    def find(self, name: str, type: str) -> Stored | None:
        """Return the memory of that name and type."""
        return self._one(sql.GET, type=type, name=name)

    def find_id(self, id: UUID) -> Stored | None:
        """Return the memory with that id."""
        return self._one(sql.GET_BY_ID, id=id.bytes)

    def last_named(self, name: str, type: str) -> UUID | None:
        """Return the id of the memory that had the name last, deleted or not."""
        row = self._all(sql.LAST_NAMED, type=type, name=name)
        return UUID(bytes=row[0][0]) if row else None

    def everything(self, types: Sequence[str] = ()) -> list[Stored]:
        """Return the memories of these types, or of all, with their bodies, in list order."""
        rows = self._all(sql.everything(len(types)), **_numbered(types))
        return [Stored(to_memory(row, self._cipher), row[-1]) for row in rows]

    def recent(self, types: Sequence[str], limit: int, skipped: int) -> list[Memory]:
        """Return memories of these types, last changed first; a limit of -1 means all."""
        place: Parameters = {"limit": _bounded(limit), "skipped": skipped}
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

    def history(self, id: UUID | None, limit: int, before: int | None = None) -> list[Revision]:
        """Return revisions of a memory or of the shelf, newest first; a limit of -1 means all."""
        parameters: Parameters = {"limit": _bounded(limit), "before_seq": before or sql.LAST_SEQ}
        if id is None:
            return self._revisions(sql.HISTORY, **parameters)
        return self._revisions(sql.HISTORY_OF, id=id.bytes, **parameters)

    def deleted(self, limit: int) -> list[Revision]:
        """Return the last revision of each memory that is gone, newest first."""
        return self._revisions(sql.DELETED, limit=limit)

    def changes(self, since: int, limit: int) -> list[Revision]:
        """Return revisions with a `seq` above `since`, oldest first."""
        return self._revisions(sql.CHANGES, since=since, limit=limit)

    def last_change(self) -> Revision | None:
        """Return the first revision of the last change that nothing took back yet."""
        found = self._revisions(sql.LAST_CHANGE)
        return found[0] if found else None

    def parts(self, seq: int) -> list[Revision]:
        """Return all revisions of the change that began with `seq`, last first."""
        return self._revisions(sql.PARTS, seq=seq)

    def beside(self, opened: Callable[[Connection], Shelf]) -> Shelf:
        """Return another shelf in the same transaction; who hears of this one hears of both."""
        other = opened(self._connection)
        other.recorded = self.recorded
        return other

    @property
    def key(self) -> str:
        """`global:<principal>` or `agent:<agent>`."""
        return self._owner.key

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
        """Delete a memory; its revision keeps all of it."""
        self._connection.execute(sql.DELETE, {"scope_key": self._owner.key, "row": stored.row})
        self._grow(-1, -stored.memory.size)
        gone = replace(stored.memory, version=stored.memory.version + 1)
        self._record(action, gone, image(stored.memory, None), None)

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

    def blot(self, text: str, mark: str) -> int:
        """Put `mark` for `text` in all before-images; return in how many it stood.

        The shelf's search index goes with it: it keeps words of texts that are gone. So do the
        calls that wait for a person, who could not grant half of one.
        """
        word_index.erase(self._connection, self._owner.key)
        stored_vectors.erase(self._connection, self._owner.key)
        count = 0
        for facts, before, content, redacted in self._images():
            fields = json.loads(before) if before else {}
            marked = {name: _marked(value, text, mark) for name, value in fields.items()}
            new_content = content and content.replace(text, mark)
            if marked == fields and new_content == content:
                continue
            count += 1
            new_before = json.dumps(marked, ensure_ascii=False) if before else None
            digest = redacted or keyed(image_digest(before, content), self._cipher)
            self._rewrite(facts, new_before, new_content, digest)
        for statement in sql.FORGET_REQUESTS:
            self._connection.execute(statement, self._key)
        return count

    def empty(self, seqs: Collection[int]) -> None:
        """Forget the before-images of these revisions; their seals still hold."""
        for facts, before, content, redacted in self._images():
            if facts["seq"] in seqs:
                digest = redacted or keyed(image_digest(before, content), self._cipher)
                self._rewrite(facts, None, None, digest)

    def _images(self) -> Iterator[tuple[Parameters, str | None, str | None, bytes | None]]:
        """Yield the facts of each revision that keeps something, its image, and what it was."""
        for row in self._all(sql.IMAGES):
            facts = dict(zip(sql.FACTS, row, strict=False))
            before, content, redacted = row[len(sql.FACTS) :]
            yield facts, *opened_image(facts, before, content, self._cipher), redacted

    def went_to(self, id: UUID) -> str | None:
        """Return the key of the shelf on which that memory arrived last, or None."""
        row = self._connection.execute(sql.LAST_ARRIVAL, {"id": id.bytes}).fetchone()
        return None if row is None else str(row[0])

    def is_elsewhere(self, id: UUID) -> bool:
        """Tell whether that memory is on another shelf."""
        return bool(self._all(sql.ELSEWHERE, id=id.bytes))

    def attach(self, content: bytes, digest: bytes, media_type: str, name: str) -> AttachmentHead:
        """Keep a picture; one that is there already stays as it is."""
        id = picture_id(digest)
        picture: Parameters = {
            "id": id.bytes,
            "media_type": media_type,
            "name": name,
            "size": len(content),
            "sha256": digest,
            "content": content,
            "created_at": self._key["now"],
        }
        if not self._all(sql.ATTACHED, id=id.bytes):
            self._connection.execute(sql.ATTACH, self._key | picture)
            self._grow(0, len(content))
        (row,) = self._all(sql.ATTACHED, id=id.bytes)
        return to_attachment_head(row)

    def attachment(self, id: UUID) -> Attachment | None:
        """Return a picture with its bytes."""
        row = self._connection.execute(sql.ATTACHMENT, self._key | {"id": id.bytes}).fetchone()
        return None if row is None else to_attachment(row)

    def attachments(self) -> list[AttachmentHead]:
        """Return the pictures without their bytes, oldest first."""
        return [to_attachment_head(row) for row in self._all(sql.ATTACHMENTS)]

    def detach(self, id: UUID) -> None:
        """Remove a picture."""
        self._connection.execute(sql.DETACH, self._key | {"id": id.bytes})

    def referred_to(self) -> set[UUID]:
        """Return the ids of the pictures that some text of the shelf names, past ones too."""
        if self._cipher is None:
            return referred_to(row[0] for each in sql.REFERRING for row in self._all(each))
        texts = [stored.memory.content for stored in self.everything()]
        texts += [content for _, _, content, _ in self._images() if content is not None]
        texts += [fields for _, _, fields in self._all_drafts()]
        return referred_to(texts)

    def keep_draft(self, caller_id: int, draft: EditorDraft, fields: Mapping[str, object]) -> None:
        """Keep an unsaved text, in place of the one with its key."""
        memory_id = draft.memory_id and draft.memory_id.bytes
        row: Parameters = {
            "caller_id": caller_id,
            "key": draft.key,
            "memory_id": memory_id,
            "version": draft.version,
            "fields": self._sealed_draft(caller_id, draft.key, fields),
            "kept_at": self._key["now"],
        }
        self._connection.execute(sql.KEEP_DRAFT, self._key | row)

    def drafts(self, caller_id: int) -> list[EditorDraft]:
        """Return somebody's unsaved texts, the last kept first."""
        rows = self._all(sql.DRAFTS, caller_id=caller_id)
        return [to_draft(row, partial(self._opened_draft, caller_id)) for row in rows]

    def drop_draft(self, caller_id: int, key: str) -> None:
        """Forget an unsaved text."""
        self._connection.execute(sql.DROP_DRAFT, self._key | {"caller_id": caller_id, "key": key})

    def blot_drafts(self, text: str, mark: str) -> int:
        """Put `mark` for `text` in everybody's unsaved texts; return in how many it stood."""
        count = 0
        for caller_id, key, fields in self._all_drafts():
            known = json.loads(fields)
            marked = {name: _marked(value, text, mark) for name, value in known.items()}
            if marked != known:
                count += 1
                new: Parameters = {
                    "caller_id": caller_id,
                    "at_key": key,
                    "new_fields": self._sealed_draft(caller_id, key, marked),
                }
                self._connection.execute(sql.REWRITE_DRAFT, self._key | new)
        return count

    def _all_drafts(self) -> Iterator[tuple[int, str, str]]:
        for caller_id, key, fields in self._all(sql.ALL_DRAFTS):
            yield caller_id, key, self._opened_draft(caller_id, key, fields)

    def _sealed_draft(self, caller_id: int, key: str, fields: Mapping[str, object]) -> str:
        text = json.dumps(fields, ensure_ascii=False)
        if self._cipher is None:
            return text
        return self._cipher.seal(text, "draft", self._owner.key, str(caller_id), key)

    def _opened_draft(self, caller_id: int, key: str, fields: str) -> str:
        if self._cipher is None:
            return fields
        return self._cipher.open(fields, "draft", self._owner.key, str(caller_id), key)

    def note(self, action: Action, facts: Mapping[str, object]) -> None:
        """Append a revision of the shelf itself."""
        self._record(action, None, facts, None)

    def _rewrite(
        self, facts: Parameters, before: str | None, content: str | None, redacted: bytes
    ) -> None:
        if self._cipher is not None:
            before, content = sealed_image(facts, before, content, self._cipher)
        parameters: Parameters = {
            "scope_key": self._owner.key,
            "at_seq": facts["seq"],
            "new_before": before,
            "new_before_content": content,
            "new_redacted": redacted,
        }
        self._connection.execute(sql.REWRITE_IMAGE, parameters)

    def _grow(self, memories: int, size: int) -> None:
        self._grown[0] += memories
        self._grown[1] += size

    def _one(self, statement: str, **parameters: object) -> Stored | None:
        row = self._connection.execute(statement, self._key | parameters).fetchone()
        return None if row is None else Stored(to_memory(row, self._cipher), row[-1])

    def _all(self, statement: str, **parameters: object) -> list[Any]:
        return self._connection.execute(statement, self._key | parameters).fetchall()

    def _revisions(self, statement: str, **parameters: object) -> list[Revision]:
        return [to_revision(row, self._cipher) for row in self._all(statement, **parameters)]

    def _record(
        self,
        action: Action,
        memory: Memory | None,
        before: Mapping[str, object],
        after: bytes | None,
        *,
        named: bool = False,
    ) -> None:
        """Append a revision, bound to the one before it on the shelf."""
        facts: Parameters = {
            "memory_id": None if memory is None else memory.id.bytes,
            "scope_key": self._owner.key,
            "action": action,
            "actor": self._actor,
            "source": self._source,
            "at": self._key["now"],
            "version": 0 if memory is None else memory.version,
            "type": None if memory is None else memory.type,
            "name": None if memory is None else memory.name,
        }
        entry = to_entry(facts, before, after, self._previous_seal(), self._cipher)
        entry |= {"part_of": self._first, "undoes": self.undoing, "named": 1 if named else None}
        seq = self._connection.execute(sql.INSERT_REVISION, entry).lastrowid
        self._seal = entry["seal"]
        if self.recorded is not None:
            self.recorded.append(self._revision(int(seq or 0), facts, memory, before))
        self._first = self._first or seq

    def _revision(
        self, seq: int, facts: Parameters, memory: Memory | None, before: Mapping[str, object]
    ) -> Revision:
        values: dict[str, Any] = facts | {
            "memory_id": None if memory is None else memory.id,
            "at": self.now,
        }
        del values["scope_key"]
        return Revision(
            seq=seq,
            shelf=self._owner.key,
            before=before,
            part_of=self._first,
            undoes=self.undoing,
            **values,
        )

    def _previous_seal(self) -> bytes:
        if self._seal is None:
            row = self._connection.execute(sql.LAST_SEAL, self._key).fetchone()
            self._seal = b"" if row is None else bytes(row[0])
        return self._seal


def _marked(value: object, text: str, mark: str) -> object:
    if isinstance(value, list):
        return [_marked(each, text, mark) for each in value]
    return value.replace(text, mark) if isinstance(value, str) else value


def _numbered(types: Sequence[str]) -> Parameters:
    return {f"type_{index}": type for index, type in enumerate(types)}


def _behind(place: Place | None) -> Parameters:
    if place is None:
        return {}
    return dict(zip(("after_position", "after_name", "after_id"), place, strict=True))


def _bounded(limit: int) -> int:
    """Return a limit as every engine takes it, where -1 means all."""
    return limit if limit >= 0 else sql.LAST_SEQ
