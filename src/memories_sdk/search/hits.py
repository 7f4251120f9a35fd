"""What a search answers: hits, each with its score and the passages that match. Pure."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, overload

from memories_sdk import display
from memories_sdk.errors import InvalidInput
from memories_sdk.memory import MemoryHead
from memories_sdk.search.passages import Passage, best_passages, sentences

PASSAGES: Final = 3
"""Passages of a body that a hit shows."""

SHOWN_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that matches.

    Attributes:
        score: How well, from 0 to 1, where 1 is all that the query asks for. The same text scores
            the same on every engine.
        passages: What matches: the name, the tags, the summary, and the best sentences of the
            body in their order. Empty when only a part of a word matches.
    """

    memory: MemoryHead
    score: float
    passages: tuple[Passage, ...]

    def __repr__(self) -> str:
        return f"<Hit {self.memory.name!r} ({self.memory.type}) {self.score:.2f}>"

    def _repr_html_(self) -> str:
        return display.hits((self,), 1)


class Hits(Sequence[Hit]):
    """One page of hits, the best first; the user's order breaks ties.

    Attributes:
        total: How many memories match, on all pages.
        next_cursor: What to pass as `cursor` for the page after this, or None on the last.
    """

    __slots__ = ("_hits", "next_cursor", "total")

    def __init__(
        self, hits: Iterable[Hit] = (), *, total: int = 0, next_cursor: str | None = None
    ) -> None:
        self._hits = tuple(hits)
        self.total = total
        self.next_cursor = next_cursor

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self._hits[index]

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._hits)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hits):
            return NotImplemented
        mine = (self._hits, self.total, self.next_cursor)
        return mine == (other._hits, other.total, other.next_cursor)

    def __hash__(self) -> int:
        return hash((self._hits, self.total, self.next_cursor))

    def __repr__(self) -> str:
        names = ", ".join(hit.memory.name for hit in self._hits[:SHOWN_NAMES])
        more = ", …" if len(self._hits) > SHOWN_NAMES else ""
        return f"<Hits {len(self)} of {self.total}{': ' if names else ''}{names}{more}>"

    def _repr_html_(self) -> str:
        return display.hits(self, self.total)


def hit(
    memory: MemoryHead,
    content: str,
    score: float,
    weights: Mapping[str, float],
    pieces: Mapping[str, int],
) -> Hit:
    """Return the hit of a memory, with the passages in which terms of the query stand."""
    found: list[Passage] = []
    for field, text in (
        ("name", memory.name),
        ("tags", ", ".join(memory.tags)),
        ("summary", "" if memory.summary_derived else memory.summary or ""),
    ):
        found += best_passages(field, text, sentences(text, weights), 1)
    inside = sentences(content, weights, None if found else pieces)
    found += best_passages("content", content, inside, PASSAGES)
    return Hit(memory, score, tuple(found))


def cursor(score: float, memory: MemoryHead) -> str:
    """Return the cursor behind a hit."""
    return base64.urlsafe_b64encode(json.dumps([score, memory.id.hex]).encode()).decode()


def place(cursor: str) -> tuple[float, bytes]:
    """Return the score and the id of the hit that a cursor stands behind.

    Raises:
        InvalidInput: It is not one of ours.
    """
    try:
        score, id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        if isinstance(score, float | int) and isinstance(id, str):
            return float(score), bytes.fromhex(id)
    except (ValueError, TypeError, AttributeError, binascii.Error):
        pass
    raise InvalidInput(
        "cursor is not one of this search.",
        field="cursor",
        suggestion="Pass next_cursor of the page before, unchanged.",
    )
