"""What a tool call gives back: a result, and the card of a call that waits for a person. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple

from uuid6 import UUID

from memories_sdk.characters import cut_graphemes, reveal, reveal_letters

MAX_TEXT: Final = 100_000
"""Longest text of a result, in characters; what is left out is said."""

MAX_PART: Final = 200
"""Longest part of a line on a card, in characters."""


ApprovalState = Literal["pending", "granted", "refused", "stale", "expired"]


@dataclass(frozen=True, slots=True, repr=False)
class Approval:
    """A call that waits for a person, or waited.

    Attributes:
        tool: The tool.
        arguments: The call, to be made again with `approved=True`; empty once it is decided.
        description: One line for the person who decides.
        preview: Whose shelf, and what would change there; empty once it is decided.
        prompt: The user's words, to be passed again with the call; never stored.
        id: What `store.approvals` knows it by.
        shelf: Key of the shelf, `global:<principal>` or `agent:<agent>`.
        actor: Who asked, such as `agent:writer`.
        version: The version of the memory that is shown; None when there is none yet, or when
            the call is about several.
        state: "pending"; "granted", "refused", or "stale" when the memory changed before; or
            "expired".
        created_at: When the agent asked first.
        expires_at: Until when it can be granted.
        decided_by: Who granted or refused it.
        decided_at: When.
        answer: What the granted call gave, for the agent that waits.
    """

    tool: str
    arguments: Mapping[str, object]
    description: str
    preview: str = ""
    prompt: str = ""
    id: UUID | None = None
    shelf: str = ""
    actor: str = ""
    version: int | None = None
    state: ApprovalState = "pending"
    created_at: datetime | None = None
    expires_at: datetime | None = None
    decided_by: str | None = None
    decided_at: datetime | None = None
    answer: str = ""

    def __repr__(self) -> str:
        return f"<Approval {self.description!r} {self.state}>"

    def __str__(self) -> str:
        who = f"{self.actor} asks: " if self.actor else ""
        return f"{who}{self.description}\n\n{self.preview}".rstrip()


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
        data: The result for programs, ready for JSON, where the tool has one; of a conflict the
            memory as it is now, and the difference of the two changes.
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


class Card(NamedTuple):
    """What a person sees of a call before it is carried out.

    Attributes:
        line: The call in one line.
        preview: Whose shelf, and what would be written there, or would go.
    """

    line: str
    preview: str


class Answer(NamedTuple):
    """What carrying out a call gave: the parts of a result that did not fail."""

    text: str
    data: Mapping[str, object] | None = None
    hint: str = ""


def place(*parts: str) -> str:
    """Return where a call would write, as the first line of a preview."""
    return " · ".join(one_line(part) for part in parts)


def one_line(text: str) -> str:
    """Return a text as a part of a card's line: revealed, without line breaks, cut."""
    shown = reveal_letters(reveal(text[: 2 * MAX_PART]))
    return cut_graphemes(" ".join(shown.split()), MAX_PART)
