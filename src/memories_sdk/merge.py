"""Brings two changes of one text together, line by line. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

Side = Literal["same", "yours", "theirs", "both", "conflict"]

MAX_LINES: Final = 2_000
"""Above it, what lies between the common start and end counts as one change: comparing two texts
line by line takes time that grows with the product of their lengths."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of lines, in the order of the text.

    Attributes:
        side: Who changed it: nobody ("same"), one of the two, "both" in the same way, or both
            differently ("conflict").
        base: What it was.
        yours: What you made of it.
        theirs: What the other made of it.
    """

    side: Side
    base: str
    yours: str
    theirs: str

    @property
    def text(self) -> str:
        """The stretch with the changes of both; a conflict keeps yours, then theirs."""
        if self.side == "conflict":
            return self.yours + self.theirs
        return self.theirs if self.side == "theirs" else self.yours


@dataclass(frozen=True, slots=True)
class Merge:
    """Two changes of one text, side by side.

    Attributes:
        chunks: All of the text, in order.
    """

    chunks: tuple[Chunk, ...]

    @property
    def clean(self) -> bool:
        """Whether the two changes touch different places."""
        return all(chunk.side != "conflict" for chunk in self.chunks)

    @property
    def text(self) -> str:
        """The text with both changes; where they clash, both versions stand, yours first."""
        return "".join(chunk.text for chunk in self.chunks)


def merge(base: str, yours: str, theirs: str) -> Merge:
    """Return what became of `base` in two hands."""
    texts = [text.splitlines(keepends=True) for text in (base, yours, theirs)]
    found: list[Chunk] = []
    start = (0, 0, 0)
    end = (len(texts[0]), len(texts[1]), len(texts[2]))
    for stop in [*_anchors(*texts), end]:
        parts = ["".join(t[a:b]) for t, a, b in zip(texts, start, stop, strict=True)]
        if any(parts):
            found.append(Chunk(_side(*parts), *parts))
        start = stop
    return Merge(tuple(_joined(found)))


def _anchors(
    base: Sequence[str], yours: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[int, int, int]]:
    """Yield the places before and behind each run of lines that all three share."""
    mine, other = _matches(base, yours), _matches(base, theirs)
    shared = [line for line in range(len(base)) if line in mine and line in other]
    previous = (-1, -1, -1)
    for line in shared:
        place = (line, mine[line], other[line])
        if any(now != before + 1 for now, before in zip(place, previous, strict=True)):
            yield _behind(previous)
            yield place
        previous = place
    yield _behind(previous)


def _behind(place: tuple[int, int, int]) -> tuple[int, int, int]:
    return place[0] + 1, place[1] + 1, place[2] + 1


def _matches(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Return the lines of `base` that stand in `other` too, with their places there."""
    most = min(len(base), len(other))
    start = next((n for n in range(most) if base[n] != other[n]), most)
    most -= start
    end = next((n for n in range(most) if base[-1 - n] != other[-1 - n]), most)
    pairs = {line: line for line in range(start)}
    if max(len(base), len(other)) - start - end <= MAX_LINES:
        matcher = SequenceMatcher(
            None, base[start : len(base) - end], other[start : len(other) - end], autojunk=False
        )
        for block in matcher.get_matching_blocks():
            for step in range(block.size):
                pairs[start + block.a + step] = start + block.b + step
    shift = len(other) - len(base)
    return pairs | {line: line + shift for line in range(len(base) - end, len(base))}


def _side(base: str, yours: str, theirs: str) -> Side:
    if yours == theirs:
        return "same" if yours == base else "both"
    if yours == base:
        return "theirs"
    return "yours" if theirs == base else "conflict"


def _joined(chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    last: Chunk | None = None
    for chunk in chunks:
        if last is not None and last.side == chunk.side == "same":
            both = last.base + chunk.base
            last = Chunk("same", both, both, both)
            continue
        if last is not None:
            yield last
        last = chunk
    if last is not None:
        yield last
