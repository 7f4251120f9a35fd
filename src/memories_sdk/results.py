"""What a tool call gives back: a result, and the card of a call that waits for a person. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from memories_sdk.characters import cut_graphemes, reveal, reveal_letters

MAX_TEXT: Final = 100_000
"""Longest text of a result, in characters; what is left out is said."""

MAX_PART: Final = 200
"""Longest part of a line on a card, in characters."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that waits for a person.

    Attributes:
        tool: The tool.
        arguments: The call, to be made again with `approved=True`.
        description: One line for the person who decides.
        preview: What would be written or deleted, whole, where the line does not say it.
        prompt: The user's words, to be passed again with the call.
    """

    tool: str
    arguments: Mapping[str, object]
    description: str
    preview: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave.

    Attributes:
        ok: Whether it did what was asked.
        text: For the model: the result, or why not.
        code: "ok", or the stable code of the refusal.
        retryable: Whether another try may succeed: with better arguments, or a little later.
        hint: What would help, apart from the text; may be empty.
        approval: The call that waits, when a person must agree first.
        data: The result for programs, ready for JSON, where the tool has one.
    """

    ok: bool
    text: str
    code: str = "ok"
    retryable: bool = False
    hint: str = ""
    approval: Approval | None = None
    data: Mapping[str, object] | None = None

    def __str__(self) -> str:
        return f"{self.text}\n{self.hint}" if self.hint else self.text


class Answer(NamedTuple):
    """What carrying out a call gave: the parts of a result that did not fail."""

    text: str
    data: Mapping[str, object] | None = None
    hint: str = ""


def one_line(text: str) -> str:
    """Return a text as a part of a card's line: revealed, without line breaks, cut."""
    shown = reveal_letters(reveal(text[: 2 * MAX_PART]))
    return cut_graphemes(" ".join(shown.split()), MAX_PART)
