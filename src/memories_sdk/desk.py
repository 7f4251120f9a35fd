"""Desk: what people keep on a shelf beside its memories."""

from __future__ import annotations

from collections.abc import Sequence

from uuid6 import UUID

from memories_sdk.archive import Archive
from memories_sdk.attachments import (
    Attachment,
    AttachmentHead,
    checked_picture,
    picture_digest,
)
from memories_sdk.bound import parsed_id
from memories_sdk.editor_drafts import EditorDraft, checked_fields, checked_key
from memories_sdk.errors import InvalidInput, NotFound
from memories_sdk.fields import checked_type, checked_version, normal_label
from memories_sdk.once import writes
from memories_sdk.pages import MAX_PAGE
from memories_sdk.visit import persistent

MOST_DRAFTS = 100
"""Drafts of one person on one shelf; the oldest go when there are more."""


class Desk(Archive):
    """Pictures that bodies refer to, and texts that nobody saved yet. Part of every `Scope`."""

    @writes
    def attach(
        self, content: bytes, *, name: str = "picture", media_type: str | None = None
    ) -> AttachmentHead:
        """Keep a picture on this shelf; `.markdown` of what is returned shows it in a body.

        The same picture is kept once, under its first name.

        Args:
            content: A PNG, JPEG, GIF or WebP of at most 5 MiB. Its first bytes decide, and SVG is
                refused: it is a program.
            name: What it is called, 1 to 200 characters.
            media_type: What it is said to be; refused when its bytes say otherwise.

        Raises:
            InvalidInput: It is no such picture.
            TooLong: It is too large.
        """
        content, found = checked_picture(content)
        if media_type not in (None, found):
            raise InvalidInput(
                f"content is {found}, not {media_type}.",
                field="media_type",
                suggestion="Leave it out.",
            )
        label = normal_label(name, "name")
        with self._writing() as shelf:
            return shelf.attach(content, picture_digest(content), found, label)

    def attachment(self, id: UUID | str) -> Attachment:
        """Return a picture of this shelf with its bytes.

        Raises:
            NotFound: It is not on this shelf; a foreign one looks like an unknown one.
        """
        with self._reading() as shelf:
            if (found := shelf.attachment(parsed_id(id))) is not None:
                return found
        raise NotFound("Attachment not found.", suggestion="attachments() lists them.")

    def attachments(self, *, unused: bool = False) -> tuple[AttachmentHead, ...]:
        """Return the first 500 pictures of this shelf without their bytes, oldest first.

        Args:
            unused: Only those that no body, no past version and no draft names.
        """
        with self._reading() as shelf:
            heads = shelf.attachments()
            used = shelf.referred_to() if unused else set()
        return tuple(head for head in heads if head.id not in used)[:MAX_PAGE]

    @writes
    def detach(self, id: UUID | str) -> None:
        """Remove a picture for good; bodies that name it show its label from then on.

        Raises:
            NotFound: It is not on this shelf.
        """
        with self._writing() as shelf:
            if shelf.attachment(parsed_id(id)) is None:
                raise NotFound("Attachment not found.", suggestion="attachments() lists them.")
            shelf.detach(parsed_id(id))

    @persistent
    def keep_draft(
        self,
        key: str,
        *,
        type: str,
        name: str = "",
        content: str = "",
        summary: str = "",
        tags: Sequence[str] = (),
        memory_id: UUID | str | None = None,
        version: int | None = None,
    ) -> EditorDraft:
        """Keep an unsaved text of the caller's, in place of the last one with that key.

        It is no memory: no list, search or prompt shows it, and nobody but the caller sees it. It
        may break every rule that a save would check, but for the guards.

        Args:
            key: Names the text: 1 to 64 letters, digits or hyphens.
            type: As typed, like `name`, `content`, `summary` and `tags`.
            name: See `type`.
            content: See `type`.
            summary: See `type`.
            tags: See `type`.
            memory_id: The memory that is being edited; None for a new one.
            version: The version of it that the edit stands on.

        Raises:
            TooLong: All of it together has over 4 MiB.
            WriteRefused: A guard found what must not be stored.
        """
        checked_type(type, self.vocabularies)
        fields = checked_fields(name, type, summary, tags, content)
        texts = {"name": name, "content": content, "summary": summary, "tags": "\n".join(tags)}
        self._admit(type, {field: text for field, text in texts.items() if text})
        id = None if memory_id is None else parsed_id(memory_id)
        with self._writing() as shelf:
            draft = EditorDraft(
                key=checked_key(key),
                memory_id=id,
                version=checked_version(version),
                name=name,
                type=type,
                summary=summary,
                tags=tuple(tags),
                content=content,
                kept_at=shelf.now,
            )
            shelf.keep_draft(self.caller.id, draft, fields)
            for old in shelf.drafts(self.caller.id)[MOST_DRAFTS:]:
                shelf.drop_draft(self.caller.id, old.key)
            return draft

    def drafts(self) -> tuple[EditorDraft, ...]:
        """Return the caller's unsaved texts on this shelf, the last kept first."""
        types = self._types(None)
        with self._reading() as shelf:
            found = shelf.drafts(self.caller.id)
        return tuple(each for each in found if each.type in types)

    @persistent
    def drop_draft(self, key: str) -> None:
        """Forget an unsaved text; one that is not there is forgotten already."""
        key = checked_key(key)
        with self._writing() as shelf:
            shelf.drop_draft(self.caller.id, key)
