"""Pages of a list: how long they are, what they hold, and the cursors from one to the next."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Final, NamedTuple

from uuid6 import UUID

from memories_sdk.errors import InvalidInput
from memories_sdk.fields import checked_order
from memories_sdk.history import LAST_SEQ
from memories_sdk.memory import Memory, MemoryHead
from memories_sdk.shelf import Place

MAX_PAGE: Final = 500
_DIGITS: Final = re.compile(r"[0-9]{1,18}\Z")


class Recent(NamedTuple):
    """Memories with their bodies, last changed first.

    Attributes:
        total: How many match, on all pages.
    """

    memories: tuple[Memory, ...]
    total: int


class Bodies(NamedTuple):
    """One page of memories with their bodies, in list order.

    Attributes:
        total: How many match, on all pages.
        next_cursor: What to pass as `cursor` for the page after this, or None on the last.
    """

    memories: tuple[Memory, ...]
    total: int
    next_cursor: str | None


def check_limit(limit: int) -> None:
    """Refuse a page that is too large, or none.

    Raises:
        InvalidInput: It is out of range.
    """
    if type(limit) is not int or not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(
            f"limit must lie between 1 and {MAX_PAGE}.",
            field="limit",
            suggestion="Follow next_cursor for more.",
        )


def check_since(since: int) -> None:
    """Refuse what is no place in the change feed.

    Raises:
        InvalidInput: It is none.
    """
    if type(since) is not int or not 0 <= since <= LAST_SEQ:
        raise InvalidInput(
            "since must be a seq, or 0 for the beginning.",
            field="since",
            suggestion="Pass the last seq that you saw.",
        )


def check_skip(skip: int) -> None:
    """Refuse what is no number of memories to pass over.

    Raises:
        InvalidInput: It is none.
    """
    if type(skip) is not int or not 0 <= skip <= LAST_SEQ:
        raise InvalidInput(
            "skip must be 0 or more.", field="skip", suggestion="Leave it out for the first page."
        )


def cursor_behind(head: MemoryHead) -> str:
    """Return the cursor of the page that begins behind a memory."""
    place = json.dumps([head.order, head.name, head.id.hex], ensure_ascii=False)
    return base64.urlsafe_b64encode(place.encode()).decode()


def place_of(cursor: str) -> Place:
    """Return where a page of a list begins.

    Raises:
        InvalidInput: The cursor is not one of ours.
    """
    try:
        order, name, id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        name.encode()  # a lone surrogate would fail in the engine
        return checked_order(order), name, UUID(id).bytes
    except (ValueError, TypeError, AttributeError, binascii.Error):
        pass
    raise _foreign_cursor()


def seq_of(cursor: str) -> int:
    """Return where a page of a history begins.

    Raises:
        InvalidInput: The cursor is not one of ours.
    """
    if not _DIGITS.match(str(cursor)):
        raise _foreign_cursor()
    return int(cursor)


def _foreign_cursor() -> InvalidInput:
    return InvalidInput(
        "cursor is not one of this list.",
        field="cursor",
        suggestion="Pass next_cursor of the page before, unchanged.",
    )
