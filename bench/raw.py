"""What somebody would write by hand with the `sqlite3` module for the same tables.

The same rows are read and written, the history included, in the same transactions, with the same
pragmas; answers are plain tuples. It does the SQL alone: no check of names, types, sizes or
members, no error of its own, and no derived summary, which it is given ready-made. It takes no
digest either, and 32 zeros stand in its place, unless it is asked to: then it takes the four of
each write as the package does, of the body, of the state, of what was there before and of the
revision with the one before it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.ours import ACTOR, FIND, NEW_TEXT, PAGE, TAGS, Call
from bench.shelves import Document, Shelf, Text

from memories_sdk.database import Durability

_GET: Final = """
SELECT m.id, scope, principal_id, agent_id, type, name, summary, summary_derived, tags, pinned,
  position, version, size, expires_at, created_at, updated_at, content, m.row
FROM memories m JOIN memory_bodies USING (row)
WHERE scope_key = ? AND type = ? AND name = ? AND (expires_at IS NULL OR expires_at > ?)
"""
_GET_BY_ID: Final = """
SELECT m.id, scope, principal_id, agent_id, type, name, summary, summary_derived, tags, pinned,
  position, version, size, expires_at, created_at, updated_at, content, m.row
FROM memories m JOIN memory_bodies USING (row)
WHERE id = ? AND scope_key = ? AND (expires_at IS NULL OR expires_at > ?)
"""
_LIST: Final = """
SELECT id, scope, principal_id, agent_id, type, name, summary, summary_derived, tags, pinned,
  position, version, size, expires_at, created_at, updated_at
FROM memories WHERE scope_key = ? AND (expires_at IS NULL OR expires_at > ?)
ORDER BY position, name, id LIMIT ?
"""
_COUNT: Final = """
SELECT count(*) FROM memories WHERE scope_key = ? AND (expires_at IS NULL OR expires_at > ?)
"""
_ROWS: Final = """
SELECT id, row FROM memories WHERE scope_key = ? AND (expires_at IS NULL OR expires_at > ?)
ORDER BY position, name, id
"""
_PLACE: Final = """
SELECT row, position, version FROM memories
WHERE id = ? AND scope_key = ? AND (expires_at IS NULL OR expires_at > ?)
"""
_PREVIOUS: Final = """
SELECT id FROM memories WHERE scope_key = ? AND (expires_at IS NULL OR expires_at > ?)
  AND (position, name, id) < (?, ?, ?) ORDER BY position DESC, name DESC, id DESC LIMIT 1
"""
_NEXT: Final = """
SELECT id FROM memories WHERE scope_key = ? AND (expires_at IS NULL OR expires_at > ?)
  AND (position, name, id) > (?, ?, ?) ORDER BY position, name, id LIMIT 1
"""
_OWNER: Final = "SELECT principal_id FROM agents WHERE id = ?"
_LAST: Final = "SELECT max(position) FROM memories WHERE scope_key = ?"
_HISTORY: Final = (
    "SELECT seq, memory_id, scope_key, action, actor, source, at, version, type, name, before,"
    " before_content FROM memory_revisions WHERE scope_key = ? ORDER BY seq DESC LIMIT ?"
)
_INSERT: Final = (
    "INSERT INTO memories (id, scope_key, scope, principal_id, type, name, summary,"
    " summary_derived, tags, pinned, position, version, size, created_at, updated_at)"
    " VALUES (?, ?, 'global', ?, ?, ?, ?, 1, '[]', 0, ?, 1, ?, ?, ?)"
)
_SAVE: Final = (
    "UPDATE memories SET summary = ?, size = ?, version = version + 1, updated_at = ? WHERE row = ?"
)
_TAG: Final = "UPDATE memories SET tags = ?, version = version + 1, updated_at = ? WHERE row = ?"
_BODY: Final = "UPDATE memory_bodies SET content = ?, sha256 = ? WHERE row = ?"
_NEW_BODY: Final = "INSERT INTO memory_bodies VALUES (?, ?, ?)"
_REORDER: Final = (
    "UPDATE memories SET position = place.position"
    " FROM (SELECT value AS row, key + 1 AS position FROM json_each(?)) AS place"
    " WHERE memories.row = place.row AND memories.position <> place.position"
)
_REVISION: Final = (
    "INSERT INTO memory_revisions (action, memory_id, scope_key, actor, at, version, type, name,"
    " before, before_content, named, after, seal)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_LAST_SEAL: Final = (
    "SELECT seal FROM memory_revisions WHERE scope_key = ? ORDER BY seq DESC LIMIT 1"
)
_SUMMARY, _TAGS, _VERSION, _CONTENT, _ROW = 6, 8, 11, 16, 17


def connected(file: Path, durability: Durability) -> sqlite3.Connection:
    """Return a connection with the pragmas that the package sets on its own."""
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    level = "FULL" if durability == "full" else "NORMAL"
    for pragma in ("journal_mode=WAL", f"synchronous={level}", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


class Raw:
    """The tables without the package."""

    def __init__(self, file: Path, durability: Durability, *, digests: bool = False) -> None:
        self._connection = connected(file, durability)
        self._digests = digests

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def get(self, document: Document) -> Call:
        """Read one memory by type and name; on an agent's shelf with its owner, in one state."""
        execute, shelf, key = self._connection.execute, document.shelf, document.shelf.key
        type_, name = document.type, document.name

        def call() -> object:
            return execute(_GET, (key, type_, name, _now())).fetchone()

        def call_for_agent() -> object:
            execute("BEGIN")
            execute(_OWNER, (shelf.number,)).fetchone()
            found = call()
            execute("ROLLBACK")
            return found

        return call_for_agent if shelf.agent else call

    def get_by_id(self, document: Document) -> Call:
        """Read one memory by its id."""
        execute, key, id_ = self._connection.execute, document.shelf.key, document.id
        return lambda: execute(_GET_BY_ID, (id_, key, _now())).fetchone()

    def list(self, shelf: Shelf) -> Call:
        """Read the first fifty heads of a shelf, and their number if there are more."""
        execute, key = self._connection.execute, shelf.key

        def call() -> object:
            now = _now()
            heads = execute(_LIST, (key, now, PAGE + 1)).fetchall()
            if len(heads) <= PAGE:
                return heads, len(heads)
            return heads[:PAGE], execute(_COUNT, (key, now)).fetchone()

        return call

    def history(self, shelf: Shelf) -> Call:
        """Read the last fifty revisions of a shelf."""
        execute, key = self._connection.execute, shelf.key
        return lambda: execute(_HISTORY, (key, PAGE + 1)).fetchall()

    def save_over(self, document: Document, text: Text) -> Call:
        """Overwrite the body of a memory."""
        return self._changing(document, text=text)

    def save_new(self, document: Document, text: Text) -> Call:
        """Add a memory at the end of its shelf."""
        execute, shelf, key = self._connection.execute, document.shelf, document.shelf.key
        id_, type_, name = document.id, document.type, document.name
        size = len(text.body.encode())

        def call() -> object:
            now = _now()
            execute("BEGIN IMMEDIATE")
            execute(_GET, (key, type_, name, now)).fetchone()
            last = execute(_LAST, (key,)).fetchone()[0]
            head = (id_, key, shelf.number, type_, name, text.summary, last + 1, size, now, now)
            row = execute(_INSERT, head).lastrowid
            execute(_NEW_BODY, (row, text.body, self._digest(text.body)))
            self._record("create", document, now, 1, None, None, head)
            execute("COMMIT")
            return head

        return call

    def update(self, document: Document) -> Call:
        """Give a memory tags."""
        execute, key, id_ = self._connection.execute, document.shelf.key, document.id

        def call() -> object:
            now = _now()
            execute("BEGIN IMMEDIATE")
            old = execute(_GET_BY_ID, (id_, key, now)).fetchone()
            execute(_TAG, (json.dumps(TAGS), now, old[_ROW]))
            before = json.dumps({"tags": json.loads(old[_TAGS])})
            self._record("update", document, now, old[_VERSION] + 1, before, None, old)
            execute("COMMIT")
            return old

        return call

    def replace(self, document: Document) -> Call:
        """Replace a line of the body, which the summary does not reach."""
        return self._changing(document, text=None)

    def move(self, document: Document, anchor: Document) -> Call:
        """Put a memory in front of another and number the shelf anew, equal places included."""
        execute, key = self._connection.execute, document.shelf.key

        def call() -> object:
            now = _now()
            execute("BEGIN IMMEDIATE")
            row, place, version = execute(_PLACE, (document.id, key, now)).fetchone()
            there = execute(_PLACE, (anchor.id, key, now)).fetchone()[0]
            ids, numbers = zip(*execute(_ROWS, (key, now)), strict=True)
            old = numbers.index(row)
            rows = [*numbers[:old], *numbers[old + 1 :]]
            new = rows.index(there)
            rows.insert(new, row)
            execute(_REORDER, (json.dumps(rows),))
            follower = ids[old + 1].hex() if old + 1 < len(ids) else None
            before = json.dumps({"order": place, "next": follower})
            self._record("move", document, now, version, before, None, (row, new))
            execute("COMMIT")
            return new + 1

        return call

    def reorder(self, documents: Sequence[Document]) -> Call:
        """Give a whole shelf another order."""
        execute, key = self._connection.execute, documents[0].shelf.key
        ids = [each.id for each in documents]

        def call() -> object:
            now = _now()
            execute("BEGIN IMMEDIATE")
            rows = dict(execute(_ROWS, (key, now)).fetchall())
            execute(_REORDER, (json.dumps([rows[each] for each in ids]),))
            before = json.dumps({"order": [each.hex() for each in rows]})
            seal = execute(_LAST_SEAL, (key,)).fetchone()[0]
            facts = ("reorder", None, key, ACTOR, now, 0, None, None)
            sealed = self._sealed(seal, facts, before, None, None)
            execute(_REVISION, (*facts, before, None, None, *sealed))
            execute("COMMIT")
            return rows

        return call

    def delete(self, document: Document) -> Call:
        """Delete a memory; all of it goes into the history."""
        execute, key = self._connection.execute, document.shelf.key

        def call() -> object:
            now = _now()
            execute("BEGIN IMMEDIATE")
            old = execute(_GET, (key, document.type, document.name, now)).fetchone()
            place = (key, now, old[10], old[5], old[0])
            sides = [execute(side, place).fetchone() for side in (_PREVIOUS, _NEXT)]
            execute("DELETE FROM memories WHERE row = ?", (old[_ROW],))
            beside = [None if side is None else side[0].hex() for side in sides]
            fields = _fields(old) | {"previous": beside[0], "next": beside[1]}
            before = json.dumps(fields, ensure_ascii=False)
            self._record("delete", document, now, old[_VERSION] + 1, before, old[_CONTENT])
            execute("COMMIT")
            return old

        return call

    def _changing(self, document: Document, text: Text | None) -> Call:
        execute, key = self._connection.execute, document.shelf.key
        action = "replace" if text is None else "update"

        def call() -> object:
            now = _now()
            execute("BEGIN IMMEDIATE")
            old = execute(_GET, (key, document.type, document.name, now)).fetchone()
            body = old[_CONTENT].replace(FIND, NEW_TEXT) if text is None else text.body
            summary = old[_SUMMARY] if text is None else text.summary
            execute(_SAVE, (summary, len(body.encode()), now, old[_ROW]))
            execute(_BODY, (body, self._digest(body), old[_ROW]))
            before = None
            if summary != old[_SUMMARY]:
                before = json.dumps({"summary": old[_SUMMARY]}, ensure_ascii=False)
            state = (*old[:_CONTENT], summary, now)
            self._record(action, document, now, old[_VERSION] + 1, before, old[_CONTENT], state)
            execute("COMMIT")
            return old

        return call

    def _digest(self, text: str) -> bytes:
        return hashlib.sha256(text.encode()).digest() if self._digests else _ZEROS

    def _sealed(
        self,
        previous: bytes,
        facts: Sequence[object],
        before: str | None,
        content: str | None,
        state: Sequence[object] | None,
    ) -> tuple[bytes, bytes]:
        """Return the digest of the state that a revision leads to, and its seal."""
        if not self._digests:
            return _ZEROS, _ZEROS
        after = b"" if state is None else self._digest(_written(state))
        image = hashlib.sha256((before or "").encode())
        image.update((content or "").encode())
        parts = previous, _written(facts).encode(), image.digest(), after
        return after, hashlib.sha256(b"\0".join(parts)).digest()

    def _record(
        self,
        action: str,
        document: Document,
        now: int,
        version: int,
        before: str | None,
        content: str | None,
        state: Sequence[object] | None = None,
    ) -> None:
        key, type_, name = document.shelf.key, document.type, document.name
        named = 1 if action == "create" else None  # it stands in an index
        facts = (action, document.id, key, ACTOR, now, version, type_, name)
        previous = self._connection.execute(_LAST_SEAL, (key,)).fetchone()
        seal = b"" if previous is None else previous[0]
        sealed = self._sealed(seal, facts, before, content, state)
        self._connection.execute(_REVISION, (*facts, before, content, named, *sealed))


def _fields(row: tuple[Any, ...]) -> dict[str, object]:
    return {
        "type": row[4],
        "name": row[5],
        "summary": row[6],
        "summary_derived": row[7] == 1,
        "tags": json.loads(row[8]),
        "pinned": row[9] == 1,
        "order": row[10],
        "expires_at": row[13],
        "untrusted": False,  # nobody marks one here
        "created_at": row[14],
    }


_ZEROS: Final = bytes(32)
_written: Final = json.JSONEncoder(separators=(",", ":"), default=bytes.hex).encode


def _now() -> int:
    return time.time_ns() // 1_000
