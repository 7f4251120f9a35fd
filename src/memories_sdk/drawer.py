"""What lies on one shelf beside its memories, inside one transaction: pictures and drafts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial

from uuid6 import UUID

from memories_sdk.attachments import Attachment, AttachmentHead, picture_id
from memories_sdk.editor_drafts import EditorDraft
from memories_sdk.ledger import Ledger, marked
from memories_sdk.rows import Parameters, to_attachment, to_attachment_head, to_draft
from memories_sdk.statements import desk as sql


class Drawer(Ledger):
    """The pictures and unsaved texts of one shelf during one transaction."""

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
            blotted = {name: marked(value, text, mark) for name, value in known.items()}
            if blotted != known:
                count += 1
                new: Parameters = {
                    "caller_id": caller_id,
                    "at_key": key,
                    "new_fields": self._sealed_draft(caller_id, key, blotted),
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
