"""Pictures that bodies refer to: which are taken, and how a body names one. Pure."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from uuid6 import UUID

from memories_sdk.errors import InvalidInput, TooLong

MAX_ATTACHMENT: Final = 5 * 1024 * 1024
"""Most bytes of one picture; it crosses the way between page and kernel in one message."""

_BEGINNINGS: Final = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
)
"""The first bytes of each kind that is taken. SVG is none of them: it is a program."""

_REFERENCE: Final = re.compile(
    r"attachment:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class AttachmentHead:
    """A picture without its bytes.

    Attributes:
        id: Made from the bytes: the same picture has the same id on every shelf.
        name: What it was called, such as a file name; also its first label in a body.
        media_type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`, as the bytes say.
        size: Bytes.
    """

    id: UUID
    name: str
    media_type: str
    size: int
    created_at: datetime

    @property
    def markdown(self) -> str:
        """What shows the picture in a body."""
        label = re.sub(r"([\\\[\]])", r"\\\1", self.name)
        return f"![{label}](attachment:{self.id})"


@dataclass(frozen=True, slots=True)
class Attachment(AttachmentHead):
    """A picture with its bytes."""

    content: bytes = field(repr=False)

    @property
    def data_url(self) -> str:
        """The picture as `render_safe(attachments={str(id): data_url})` takes it."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.content).decode()}"


def checked_picture(content: object) -> tuple[bytes, str]:
    """Return the bytes of a picture and its media type.

    Raises:
        InvalidInput: They are no bytes, or not those of a PNG, JPEG, GIF or WebP.
        TooLong: There are too many.
    """
    if not isinstance(content, bytes | bytearray | memoryview):
        raise InvalidInput(
            "content must be bytes.", field="content", suggestion="Path(…).read_bytes()"
        )
    content = bytes(content)
    if len(content) > MAX_ATTACHMENT:
        raise TooLong(
            "content",
            size=len(content),
            limit=MAX_ATTACHMENT,
            unit="bytes",
            suggestion="Make the picture smaller.",
        )
    for media_type, beginning in _BEGINNINGS:
        if beginning.match(content):
            return content, media_type
    raise InvalidInput(
        "content is no PNG, JPEG, GIF or WebP picture.",
        field="content",
        suggestion="Its first bytes decide, whatever its name says.",
    )


def picture_id(digest: bytes) -> UUID:
    """Return the id of the picture with that SHA-256."""
    return UUID(int=int.from_bytes(digest[:16]), version=8)


def picture_digest(content: bytes) -> bytes:
    """Return the SHA-256 of a picture."""
    return hashlib.sha256(content).digest()


def referred_to(texts: Iterable[str]) -> set[UUID]:
    """Return the ids of the pictures that these texts name."""
    return {UUID(id) for text in texts for id in _REFERENCE.findall(text)}
