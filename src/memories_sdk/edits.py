"""How a body is edited: a passage that stands exactly once gives way to another. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memories_sdk.errors import AnchorNotFound, AnchorNotUnique, InvalidInput
from memories_sdk.fields import checked_text, kind_of
from memories_sdk.memory import Unset

COUNTED_MATCHES: Final = 10_000
SHOWN_MATCHES: Final = 10


@dataclass(frozen=True, slots=True)
class Edit:
    """One literal replacement: `find` must stand exactly once in the text."""

    find: str
    new_text: str


def wanted_edits(
    find: str | Unset, new_text: str | Unset, edits: Sequence[Edit] | Unset
) -> Sequence[Edit]:
    """Return the edits of a call that names one replacement or a list of them.

    Raises:
        InvalidInput: Both were given, or neither wholly.
    """
    if not isinstance(edits, Unset):
        if not isinstance(find, Unset) or not isinstance(new_text, Unset):
            raise InvalidInput(
                "Give either find and new_text, or edits.",
                field="edits",
                suggestion="A single edit needs find and new_text.",
            )
        return edits
    if isinstance(find, Unset) or isinstance(new_text, Unset):
        missing = "find" if isinstance(find, Unset) else "new_text"
        raise InvalidInput(
            f"{missing} is required.",
            field=missing,
            suggestion="Pass an empty new_text to delete the passage.",
        )
    return [Edit(find, new_text)]


def apply_edits(content: str, edits: Sequence[Edit]) -> str:
    """Return the text with each edit applied in turn, or raise and leave all of them out.

    Matching is literal: no pattern, no case folding, no normalising. Places that overlap count
    apart, up to 10,000 (more would make a hostile anchor quadratic).

    Raises:
        InvalidInput: No edit was given, or a `find` is empty.
        AnchorNotFound: A `find` stands nowhere in the text as the edits before it left it.
        AnchorNotUnique: A `find` stands at several places; names the first ten.
    """
    if not edits:
        raise InvalidInput("find cannot be empty.", field="find", suggestion="Name a passage.")
    for index, edit in enumerate(edits):
        content = _apply(content, edit, index)
    return content


def _apply(content: str, edit: Edit, index: int) -> str:
    if not isinstance(edit, Edit):
        raise InvalidInput(
            f"edits must be a list of Edit, not of {kind_of(edit)}.",
            field="edits",
            suggestion='For example [Edit("old", "new")].',
        )
    find = checked_text(edit.find, "find")
    new_text = checked_text(edit.new_text, "new_text")
    if not find:
        raise InvalidInput("find cannot be empty.", field="find", suggestion="Name a passage.")
    starts = _starts(content, find)
    if not starts:
        raise AnchorNotFound(edit=index, suggestion=_near_miss(content, find))
    if len(starts) > 1:
        shown = [_position(content, start) for start in starts[:SHOWN_MATCHES]]
        raise AnchorNotUnique(len(starts), shown, edit=index)
    return content[: starts[0]] + new_text + content[starts[0] + len(find) :]


def _starts(content: str, find: str) -> list[int]:
    starts: list[int] = []
    start = content.find(find)
    while start >= 0 and len(starts) < COUNTED_MATCHES:
        starts.append(start)
        start = content.find(find, start + 1)
    return starts


def _near_miss(content: str, find: str) -> str:
    """Say why a passage that looks the same does not match; nothing is normalised silently."""
    if unicodedata.normalize("NFC", find) in unicodedata.normalize("NFC", content):
        return (
            "A canonically equivalent passage exists: its accents are written in another Unicode "
            "form. Copy the passage from the body as it is."
        )
    if " ".join(find.split()).casefold() in " ".join(content.split()).casefold():
        return "A passage differs from it only in case, blanks or line ends. Copy it exactly."
    return "Read the memory again and copy the passage exactly."


def _position(content: str, start: int) -> tuple[int, int]:
    line_start = content.rfind("\n", 0, start) + 1
    return content.count("\n", 0, start) + 1, start - line_start + 1
