"""The history of one shelf inside one transaction: what a verb writes down, and reads again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from uuid6 import UUID

from memories_sdk.database import Connection
from memories_sdk.encryption import Cipher
from memories_sdk.history import LAST_SEQ, Action, Revision, image_digest
from memories_sdk.memory import Memory
from memories_sdk.principals import ScopeKind
from memories_sdk.rows import (
    Parameters,
    from_time,
    keyed,
    opened_image,
    sealed_image,
    to_entry,
    to_revision,
)
from memories_sdk.search import stored_vectors, word_index
from memories_sdk.statements import operations
from memories_sdk.statements import revisions as sql
from memories_sdk.statements.approvals import FORGET_REQUESTS


class Owner(NamedTuple):
    """Whose shelf it is: exactly one of the two ids is set."""

    key: str
    kind: ScopeKind
    principal_id: int | None
    agent_id: int | None


class Ledger:
    """The history of one shelf during one transaction.

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

    @property
    def key(self) -> str:
        """`global:<principal>` or `agent:<agent>`."""
        return self._owner.key

    def operation(self, caller: int, key: str) -> tuple[bytes, str] | None:
        """Return request and outcome of the write that a caller named by this key."""
        parameters = self._key | {"caller": caller, "key": key}
        row = self._connection.execute(operations.OPERATION, parameters).fetchone()
        return None if row is None else (row[0], row[1])

    def keep_operation(self, caller: int, key: str, request: bytes, outcome: str) -> None:
        """Record that the write of this key was carried out."""
        parameters = {"caller": caller, "key": key, "request": request, "outcome": outcome}
        parameters |= {"scope_key": self._owner.key, "at": self._key["now"]}
        self._connection.execute(operations.KEEP_OPERATION, parameters)

    def forget_operations(self, before: datetime) -> None:
        """Forget the keys of writes before this moment."""
        parameters = {"scope_key": self._owner.key, "before": from_time(before)}
        self._connection.execute(operations.FORGET_OPERATIONS, parameters)

    def last_named(self, name: str, type: str) -> UUID | None:
        """Return the id of the memory that had the name last, deleted or not."""
        row = self._all(sql.LAST_NAMED, type=type, name=name)
        return UUID(bytes=row[0][0]) if row else None

    def history(self, id: UUID | None, limit: int, before: int | None = None) -> list[Revision]:
        """Return revisions of a memory or of the shelf, newest first; a limit of -1 means all."""
        parameters: Parameters = {"limit": bounded(limit), "before_seq": before or LAST_SEQ}
        if id is None:
            return self._revisions(sql.HISTORY, **parameters)
        return self.histories([id], limit, before)

    def histories(
        self, ids: Sequence[UUID], limit: int, before: int | None = None
    ) -> list[Revision]:
        """Return revisions of all these memories together, as `history` does."""
        if not ids:
            return []
        parameters: Parameters = {"limit": bounded(limit), "before_seq": before or LAST_SEQ}
        named = {f"id_{index}": id.bytes for index, id in enumerate(ids)}
        return self._revisions(sql.history_of(len(ids)), **named, **parameters)

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

    def went_to(self, id: UUID) -> str | None:
        """Return the key of the shelf on which that memory arrived last, or None."""
        row = self._connection.execute(sql.LAST_ARRIVAL, {"id": id.bytes}).fetchone()
        return None if row is None else str(row[0])

    def note(self, action: Action, facts: Mapping[str, object]) -> None:
        """Append a revision of the shelf itself."""
        self._record(action, None, facts, None)

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
            blotted = {name: marked(value, text, mark) for name, value in fields.items()}
            new_content = content and content.replace(text, mark)
            if blotted == fields and new_content == content:
                continue
            count += 1
            new_before = json.dumps(blotted, ensure_ascii=False) if before else None
            digest = redacted or keyed(image_digest(before, content), self._cipher)
            self._rewrite(facts, new_before, new_content, digest)
        for statement in FORGET_REQUESTS:
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


def marked(value: object, text: str, mark: str) -> object:
    """Return a text with `mark` for each `text` in it, or a list of such texts."""
    if isinstance(value, list):
        return [marked(each, text, mark) for each in value]
    return value.replace(text, mark) if isinstance(value, str) else value


def bounded(limit: int) -> int:
    """Return a limit as every engine takes it, where -1 means all."""
    return limit if limit >= 0 else LAST_SEQ
