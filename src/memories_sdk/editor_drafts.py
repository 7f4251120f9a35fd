"""What a person typed and did not save, as it is kept against a crash. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from uuid6 import UUID

from memories_sdk.errors import InvalidInput, TooLong
from memories_sdk.fields import byte_size

MAX_DRAFT: Final = 4 * 1024 * 1024
"""Most bytes of one draft, well over the largest body: also a text that is too long is kept."""

MAX_KEY: Final = 64


@dataclass(frozen=True, slots=True)
class EditorDraft:
    """An unsaved text, with the fields as they were typed, right or wrong.

    Attributes:
        key: Names the draft among those of its author on the shelf.
        memory_id: The memory that was edited, or None for one that is not made yet.
        version: The version of it that the edit stands on.
        kept_at: When it was last kept.
    """

    key: str
    memory_id: UUID | None
    version: int | None
    name: str
    type: str
    summary: str = field(repr=False)
    tags: tuple[str, ...] = field(repr=False)
    content: str = field(repr=False)
    kept_at: datetime


def checked_key(key: object) -> str:
    """Return the key of a draft.

    Raises:
        InvalidInput: It is not 1 to 64 letters, digits or hyphens.
    """
    plain = isinstance(key, str) and key.replace("-", "").isascii()
    if not plain or not str(key).replace("-", "").isalnum() or len(str(key)) > MAX_KEY:
        raise InvalidInput(
            "key must be 1 to 64 letters, digits or hyphens.",
            field="key",
            suggestion="For example str(uuid4()).",
        )
    return str(key)


def checked_fields(
    name: object, type: str, summary: object, tags: Sequence[str], content: object
) -> dict[str, object]:
    """Return the fields of a draft; none of a memory's rules holds but a bound of the whole.

    Raises:
        InvalidInput: One is no text.
        TooLong: Together they are too large.
    """
    texts = {"name": name, "summary": summary, "content": content}
    wrong = [field for field, value in texts.items() if not isinstance(value, str)]
    if isinstance(tags, str) or not all(isinstance(tag, str) for tag in tags):
        wrong.append("tags")
    if wrong:
        raise InvalidInput(f"{wrong[0]} must be text.", field=wrong[0])
    fields = {field: _storable(str(value)) for field, value in texts.items()}
    kept = [_storable(tag) for tag in tags]
    size = sum(map(byte_size, [*fields.values(), *kept]))
    if size > MAX_DRAFT:
        raise TooLong(
            "content", size=size, limit=MAX_DRAFT, unit="bytes", suggestion="Save it in parts."
        )
    return {**fields, "type": type, "tags": kept}


def _storable(text: str) -> str:
    """Return the text without lone surrogates, which no engine stores."""
    return text.encode("utf-8", "ignore").decode()
