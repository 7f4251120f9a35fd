"""The key of a store: recognised when the store is opened, and changed for another one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from memories_sdk.database import Connection, Database
from memories_sdk.encryption import Cipher
from memories_sdk.errors import InvalidInput, StoreDamaged, WrongKey
from memories_sdk.history import image_digest, seal
from memories_sdk.integrity import findings
from memories_sdk.principals import scope_key
from memories_sdk.rows import (
    Parameters,
    body_digest,
    keyed,
    opened_image,
    opened_part,
    sealed_content,
    sealed_image,
    sealed_part,
    sealed_summary,
    to_memory,
)
from memories_sdk.search import stored_vectors, word_index
from memories_sdk.statements import sealing as sql
from memories_sdk.statements.desk import REWRITE_DRAFT
from memories_sdk.statements.memories import UPDATE_BODY
from memories_sdk.statements.revisions import FACTS
from memories_sdk.tables import REQUEST_TEXTS


def unlock(database: Database, key: bytes | None) -> None:
    """Give the database the cipher of its key; a store without memories gets this key.

    Raises:
        WrongKey: The key is not the store's: another, or none, or one for a store that has none.
        InvalidInput: The key is not 32 bytes.
        MissingExtra: The library for it is not installed.
    """
    with database.read(snapshot=True) as connection:
        row = connection.execute(sql.KEY, {}).fetchone()
        fresh = row is None and connection.execute(sql.ANY_REVISION, {}).fetchone() is None
    if row is not None:
        if key is None:
            raise WrongKey(
                "This store is encrypted. Nothing was read or changed.",
                suggestion="Pass the key that it was encrypted with: MemoryStore(…, key=…).",
            )
        database.cipher = Cipher.of(key, bytes(row[0]), bytes(row[1]))
    elif key is not None and not fresh:
        raise WrongKey(
            "This store is not encrypted, and it holds memories. Nothing was changed.",
            suggestion="Open it without a key and call store.rekey(key) to encrypt it.",
        )
    elif key is not None:
        cipher = Cipher.new(key)
        with database.write() as connection:
            # Of two that open a new store at once, the first gives it its salt.
            connection.execute(sql.FIRST_KEY, {"salt": cipher.salt, "kept": cipher.kept})
            salt, kept = connection.execute(sql.KEY, {}).fetchone()
        database.cipher = Cipher.of(key, bytes(salt), bytes(kept))


def check_current(connection: Connection, cipher: Cipher) -> None:
    """Refuse a cipher whose store has another key by now.

    Raises:
        WrongKey: Somebody changed it since the store was opened.
    """
    row = connection.execute(sql.KEY, {}).fetchone()
    if row is None or bytes(row[1]) != cipher.kept:
        raise WrongKey(
            "The key of this store was changed since it was opened.",
            suggestion="Open it again with its present key.",
        )


def rekey(database: Database, key: bytes) -> None:
    """Seal all texts anew, with another key or for the first time, in one transaction.

    Raises:
        StoreDamaged: Something is not as it was written, and would be sealed as if it were.
    """
    old = database.cipher
    new = Cipher.new(key) if old is None else old.renewed(key)
    with database.write(erasing=True) as connection:
        if old is not None:
            check_current(connection, old)
        elif connection.execute(sql.KEY, {}).fetchone() is not None:
            raise InvalidInput("Somebody else encrypted this store just now.", suggestion="Reopen.")
        if hurt := findings(connection, old):
            raise StoreDamaged(
                f"Not encrypted: {hurt[0]}", suggestion="verify() names all that is hurt."
            )
        _reseal_memories(connection, old, new)
        _reseal_history(connection, old, new)
        _reseal_drafts(connection, old, new)
        _reseal_requests(connection, old, new)
        if old is None:
            _key_operations(connection, new)
        for (shelf,) in connection.execute(sql.ALL_SHELVES, {}).fetchall():
            word_index.erase(connection, shelf)
            stored_vectors.erase(connection, shelf)
        connection.execute(sql.SET_KEY, {"salt": new.salt, "kept": new.kept})
    database.cipher = new
    database.compact()


def _reseal_memories(connection: Connection, old: Cipher | None, new: Cipher) -> None:
    for (number,) in connection.execute(sql.ALL_ROWS, {}).fetchall():
        row = connection.execute(sql.WHOLE_ROW, {"row": number}).fetchone()
        memory = to_memory(row, old)
        body = {
            "scope_key": scope_key(principal_id=memory.principal_id, agent_id=memory.agent_id),
            "row": number,
            "content": sealed_content(memory, new),
            "sha256": keyed(body_digest(memory.content), new),
        }
        connection.execute(UPDATE_BODY, body)
        connection.execute(
            sql.UPDATE_SUMMARY, {"row": number, "new_summary": sealed_summary(memory, new)}
        )


def _reseal_history(connection: Connection, old: Cipher | None, new: Cipher) -> None:
    """Seal the before-images; the first time, key the digests too and bind the chain by them."""
    digest: Callable[[bytes], bytes] = new.keyed if old is None else bytes
    shelf, previous = None, b""
    for (seq,) in connection.execute(sql.ALL_SEQS, {}).fetchall():
        row = connection.execute(sql.LINK, {"seq": seq}).fetchone()
        _, *values, before, content, redacted, after, _ = row
        facts = dict(zip(FACTS[1:], values, strict=True))
        if facts["scope_key"] != shelf:
            shelf, previous = facts["scope_key"], b""
        before, content = opened_image(facts, before, content, old)
        image = keyed(image_digest(before, content), new)
        if redacted is not None:
            redacted = image = digest(bytes(redacted))
        after = None if after is None else digest(bytes(after))
        previous = seal(previous, values, image, after)
        stored = sealed_image(facts, before, content, new)
        link: Parameters = dict(zip(("new_before", "new_before_content"), stored, strict=True))
        link |= {"new_redacted": redacted, "new_after": after, "new_seal": previous}
        connection.execute(sql.UPDATE_LINK, link | {"at_seq": seq})


def _reseal_drafts(connection: Connection, old: Cipher | None, new: Cipher) -> None:
    for caller_id, shelf, key, fields in connection.execute(sql.EVERY_DRAFT, {}).fetchall():
        place = ("draft", shelf, str(caller_id), key)
        text = fields if old is None else old.open(fields, *place)
        at = {"scope_key": shelf, "caller_id": caller_id, "at_key": key}
        connection.execute(REWRITE_DRAFT, at | {"new_fields": new.seal(text, *place)})


def _key_operations(connection: Connection, cipher: Cipher) -> None:
    for shelf, caller, key, request in connection.execute(sql.EVERY_OPERATION, {}).fetchall():
        at: Parameters = {"scope_key": shelf, "at_caller": caller, "at_key": key}
        digest = cipher.keyed(bytes(request))
        connection.execute(sql.RESEAL_OPERATION, at | {"new_request": digest})


def _reseal_requests(connection: Connection, old: Cipher | None, new: Cipher) -> None:
    """Seal what requests show; the first time, key the digests by which a call finds its own."""
    for id, *texts, call, waiting in connection.execute(sql.EVERY_REQUEST, {}).fetchall():
        values: Parameters = {"at_id": id, "new_call": call, "new_waiting": waiting}
        plain: dict[str, str | None] = {}
        for name, text in zip(REQUEST_TEXTS, texts, strict=True):
            plain[name] = opened_part(text, old, name, bytes(id).hex())
            values[f"new_{name}"] = sealed_part(plain[name], new, name, bytes(id).hex())
        if old is None:
            call = new.keyed(bytes.fromhex(call)).hex()  # noqa: PLW2901 -- its keyed form
            values["new_call"] = call
            if waiting is not None:
                digest = hashlib.sha256(f"{call} {plain['effect']}".encode()).digest()
                values["new_waiting"] = new.keyed(digest).hex()
        connection.execute(sql.RESEAL_REQUEST, values)
