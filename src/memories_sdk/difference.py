"""What changes in a text, shown to a person in a bounded space. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final

from memories_sdk.characters import cut_graphemes, reveal

MAX_LINES: Final = 80
"""Most lines that are shown; what is left out is counted."""

MAX_LINE: Final = 240
"""Longest line that is shown, in characters."""

MAX_COMPARED: Final = 2_000
"""Above it, what lies between the common start and end counts as one change: comparing two texts
line by line takes time that grows with the product of their lengths."""

_AROUND: Final = 2
_BEFORE: Final = 60


def difference(old: str, new: str) -> str:
    """Return the lines that go, with `- ` before them, and those that come, with `+ `.

    Two lines around each place stand beside them, with two blanks. Characters that nobody sees
    become marks. Of a long line the part is shown in which the two differ.
    """
    lines = list(_changes(old.split("\n") if old else [], new.split("\n") if new else []))
    if len(lines) <= MAX_LINES:
        return "\n".join(lines)
    left = len(lines) - MAX_LINES
    return "\n".join([*lines[:MAX_LINES], f"… and {left} more lines."])


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    end = len(old), len(new)
    before = (0, 0)
    blocks = [block for block in _blocks(old, new) if block[:2] != block[2:]]
    for a, b, a_end, b_end in blocks:
        if a > before[0]:
            yield from _context(old[before[0] : a], first=before == (0, 0), last=False)
        yield from _block(old[a:a_end], new[b:b_end])
        before = (a_end, b_end)
    if blocks and end[0] > before[0]:
        yield from _context(old[before[0] :], first=False, last=True)


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where each change starts in both texts, and where it ends."""
    most = min(len(old), len(new))
    start = next((n for n in range(most) if old[n] != new[n]), most)
    most -= start
    same = next((n for n in range(most) if old[-1 - n] != new[-1 - n]), most)
    old_end, new_end = len(old) - same, len(new) - same
    if max(old_end, new_end) - start > MAX_COMPARED:
        yield start, start, old_end, new_end
        return
    matcher = SequenceMatcher(None, old[start:old_end], new[start:new_end], autojunk=False)
    for kind, a, a_end, b, b_end in matcher.get_opcodes():
        if kind != "equal":
            yield start + a, start + b, start + a_end, start + b_end


def _block(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    gone, come = [], []
    for was, now in zip_longest(old, new):
        start = _start(was, now) if was is not None and now is not None else 0
        gone += [f"- {_shown(was, start)}"] if was is not None else []
        come += [f"+ {_shown(now, start)}"] if now is not None else []
    yield from gone
    yield from come


def _start(was: str, now: str) -> int:
    """Return from where two long lines are shown: a little before they part."""
    if max(len(was), len(now)) <= MAX_LINE:
        return 0
    same = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), 0)
    return max(same - _BEFORE, 0)


def _context(lines: Sequence[str], *, first: bool, last: bool) -> Iterator[str]:
    """Yield what stands around a change, and a mark for what is passed over."""
    if len(lines) <= 2 * _AROUND:
        yield from (f"  {_shown(line)}" for line in lines)
        return
    if not first:
        yield from (f"  {_shown(line)}" for line in lines[:_AROUND])
    yield "  …"
    if not last:
        yield from (f"  {_shown(line)}" for line in lines[-_AROUND:])


def _shown(line: str, start: int = 0) -> str:
    part = reveal(line[start : start + MAX_LINE])
    cut = cut_graphemes(part, MAX_LINE)
    more = "…" if len(line) > start + MAX_LINE or cut != part else ""
    return f"{'…' if start else ''}{cut}{more}"
