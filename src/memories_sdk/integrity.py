"""Proves that a store holds what was written: bodies, states and the chain of revisions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from uuid6 import UUID

from memories_sdk.attachments import picture_digest, picture_id
from memories_sdk.database import Connection
from memories_sdk.encryption import Cipher
from memories_sdk.errors import WrongKey
from memories_sdk.history import image_digest, seal
from memories_sdk.rows import (
    body_digest,
    columns,
    keyed,
    opened_image,
    state_digest,
    to_id,
    to_memory,
)
from memories_sdk.statements import revisions as sql
from memories_sdk.statements.desk import PICTURES

NOTHING_NOTED: Final[Mapping[str, str]] = MappingProxyType({})
Damage = Literal["engine", "reference", "body", "state", "seal", "attachment"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was written.

    Attributes:
        damage: "engine" (the file itself), "reference" (a row without its owner), "body" (a text
            that changed outside the store), "state" (a memory that differs from its last
            revision), "seal" (a revision that was changed, put in or taken out), or "attachment"
            (a picture whose bytes are not those it was attached with).
        text: What is wrong, one sentence.
        shelf: The shelf, where one is known.
        memory_id: The memory, where one is known.
        seq: The revision, where one is known.
    """

    damage: Damage
    text: str
    shelf: str | None = None
    memory_id: UUID | None = None
    seq: int | None = None

    def __str__(self) -> str:
        return f"{self.damage}: {self.text}"


def findings(
    connection: Connection, cipher: Cipher | None = None, noted: Mapping[str, str] = NOTHING_NOTED
) -> list[Finding]:
    """Return what is not as it was written, engine first; an empty list proves the store.

    The chain of a shelf ties each revision to the one before it, so none can be changed or taken
    out of its middle unseen. What is cut off at its end shows in the memories that it led to, but
    not where they went with it: then only a head that was noted elsewhere tells.
    """
    return [
        *_engine(connection),
        *_memories(connection, cipher),
        *_chains(connection, cipher, noted),
        *_attachments(connection),
    ]


def heads(connection: Connection) -> dict[str, str]:
    """Return the last seal of each shelf, in hex, by the key of the shelf."""
    return {shelf: bytes(seal).hex() for shelf, seal in connection.execute(sql.HEADS).fetchall()}


def _engine(connection: Connection) -> Iterator[Finding]:
    if not isinstance(connection, sqlite3.Connection):
        return  # a server looks after its own pages and references
    for (text,) in connection.execute("PRAGMA integrity_check(20)").fetchall():
        if text != "ok":
            yield Finding("engine", str(text))
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchall():
        yield Finding("reference", f"Row {row} of {table} refers to nothing in {parent}.")


def _memories(connection: Connection, cipher: Cipher | None) -> Iterator[Finding]:
    for row in connection.execute(sql.STATES).fetchall():
        *head, content, shelf, digest, after = row
        try:
            memory = to_memory([*head, content], cipher)
        except WrongKey:
            yield Finding("body", f"A text of {head[5]!r} does not open.", shelf, to_id(head[0]))
            continue
        body = body_digest(memory.content)
        if keyed(body, cipher) != digest or memory.size != len(memory.content.encode()):
            text = f"The body of {memory.name!r} changed outside the store."
            yield Finding("body", text, shelf, memory.id)
        elif after != state_digest(columns(memory), body, cipher):
            text = f"{memory.name!r} is not as its last revision left it."
            yield Finding("state", text, shelf, memory.id)


def _attachments(connection: Connection) -> Iterator[Finding]:
    for *head, shelf, digest, content in connection.execute(PICTURES):
        if picture_digest(content) != digest or picture_id(digest) != to_id(head[0]):
            yield Finding(
                "attachment", f"The picture {head[1]!r} changed outside the store.", shelf
            )


def _chains(
    connection: Connection, cipher: Cipher | None, noted: Mapping[str, str]
) -> Iterator[Finding]:
    shelf, previous = None, b""
    missing = dict(noted)
    for row in connection.execute(sql.CHAIN):
        seq, *facts, before, content, redacted, after, stored = row
        if facts[1] != shelf:
            shelf, previous = facts[1], b""
        image = redacted
        if image is None:
            image = _image(dict(zip(sql.FACTS[1:], facts, strict=True)), before, content, cipher)
        if seal(previous, facts, image, after) != stored:
            memory_id = None if facts[0] is None else to_id(facts[0])
            text = f"Revision {seq} does not fit the revision before it."
            yield Finding("seal", text, shelf, memory_id, seq)
        previous = stored
        if missing.get(shelf or "") == bytes(stored).hex():
            del missing[shelf or ""]
    for lost in missing:
        text = f"The history of {lost} lacks the revision whose seal was noted."
        yield Finding("seal", text, lost)


def _image(
    facts: dict[str, object], before: str | None, content: str | None, cipher: Cipher | None
) -> bytes:
    """Return the digest of a before-image; of one that does not open, none that fits."""
    try:
        return keyed(image_digest(*opened_image(facts, before, content, cipher)), cipher)
    except WrongKey:
        return b""
