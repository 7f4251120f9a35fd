"""Packs memories into a prompt: a hard budget, whole thoughts, a frame nothing breaks. Pure."""

from __future__ import annotations

import json.encoder
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from memories_sdk import display
from memories_sdk.memory import UNTRUSTED, MemoryHead
from memories_sdk.search.passages import Sentence, excerpt, sentences

LEAD: Final = "MEMORY_CONTEXT="
ROOMS: Final = (300, 150, 110, 90)
"""Characters for the text of the first, second and third memory, and of each further one."""

LEAST: Final = 120
"""With less room than this for its text, a memory that does not fit as a whole is left out."""

_SHORTEST: Final = 40

Outcome = Literal["included", "shortened", "left out"]


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that enters the prompt.

    Attributes:
        text: What of it enters: the body, or its best passages.
        score: How well it answers, from 0 to 1; 0 for a pinned one that does not match.
        shortened: Whether something was left out.
        near: How near its meaning comes to the prompt's, from 0 to 1; 0 without an embedder.
    """

    memory: MemoryHead
    text: str
    score: float
    shortened: bool
    near: float = 0.0

    @property
    def line(self) -> str:
        """The entry as it stands in the prompt: `[type/name] text (tags: a, b)`.

        Before one that a reader does not trust stands `(untrusted)`, which no text can take away.
        """
        label = f"{UNTRUSTED} " if self.memory.untrusted else ""
        tags = f" (tags: {', '.join(self.memory.tags)})" if self.memory.tags else ""
        return f"{label}[{self.memory.type}/{self.memory.name}] {self.text}{tags}"

    def __repr__(self) -> str:
        short = ", shortened" if self.shortened else ""
        return f"<Recalled {self.memory.name!r} ({self.memory.type}) {self.score:.2f}{short}>"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one memory that was considered, and why."""

    memory: MemoryHead
    outcome: Outcome
    reason: str

    def __repr__(self) -> str:
        return f"<{self.memory.name!r} ({self.memory.type}) {self.outcome}: {self.reason}>"


@dataclass(frozen=True, slots=True)
class Recall:
    """Memories chosen for a prompt.

    Attributes:
        items: In the order in which they enter.
        text: Their lines, one after the other, for reading. A line may hold line breaks.
        report: Every memory that was considered, in that order, with what became of it.
    """

    items: tuple[Recalled, ...]
    text: str
    report: tuple[Verdict, ...]

    def as_context(self) -> str:
        r"""Return the block for a system prompt: `MEMORY_CONTEXT=` and a JSON list of the lines.

        It is one line, or nothing without items. Decoding the list gives the lines unaltered.
        Stored text cannot end the block or begin another: quotes, line breaks and slashes are
        escaped, and so are characters that cannot be seen and a stored `MEMORY_CONTEXT=`.
        """
        if not self.items:
            return ""
        return f"{LEAD}[{','.join(_quoted(item.line) for item in self.items)}]"

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        names = ", ".join(item.memory.name for item in self.items)
        return f"<Recall of {len(self)}, {len(self.as_context())} characters: {names}>"

    def _repr_html_(self) -> str:
        return display.recall(self)


class Chosen(NamedTuple):
    """A memory that may enter, best first.

    Attributes:
        content: Its body.
        score: 0 when it does not match and is there because it is pinned.
        near: How near its meaning is; 0 without an embedder.
    """

    memory: MemoryHead
    content: str
    score: float
    near: float = 0.0


class _Whole(NamedTuple):
    """An entry with all of the body, or the summary where there is none, and what it costs."""

    entry: Recalled
    cost: int

    @classmethod
    def of(cls, chosen: Chosen) -> _Whole:
        memory, content, score, near = chosen
        text = content if content.strip() else (memory.summary or "")
        text = text if text.strip() else ""
        entry = Recalled(memory, text, score, shortened=False, near=near)
        return cls(entry, _cost(entry))


def least_score(min_relevance: float, best: float) -> float:
    """Return what a memory must score beside the best one.

    That share of the best score where it is weak: nothing is sure then, so more may enter. 1.4
    times that where the best one is a good answer: what is far behind is not needed then.
    """
    return min(min_relevance * best * (0.8 + 2 * min(best, _GOOD)), best)


_GOOD: Final = 0.3


def pack(
    chosen: Iterable[Chosen],
    weights: Mapping[str, float],
    pieces: Mapping[str, int],
    *,
    limit: int,
    max_chars: int,
    max_chars_each: int | None = None,
    least_score: float = 0.0,
) -> Recall:
    """Return what enters a prompt of these memories.

    The budget holds for `as_context()`, frame and escapes included. What does not fit is left out
    and the next is tried. Room that is left at the end goes to those that were shortened.

    Args:
        chosen: Best first; each one gets its verdict.
        weights: Index term of the prompt to what it says.
        pieces: Pieces of the prompt.
        limit: Most memories.
        max_chars: Most characters of the block.
        max_chars_each: Most characters of one memory's text, its mark of a cut not counted.
        least_score: What is not pinned and scores less is left out.
    """
    packing = _Packing(weights, pieces, max_chars, max_chars_each)
    chosen = list(chosen)
    fair = [each for each in chosen if each.memory.pinned or each.score >= least_score]
    wholes = {each.memory.id: _Whole.of(each) for each in fair[:limit]}
    packing.measure(wholes.values())
    for each in chosen:
        if not each.memory.pinned and each.score < least_score:
            packing.leave_out(each.memory, f"score {each.score:.2f} is too far below the best")
        elif len(packing.items) >= limit:
            packing.leave_out(each.memory, f"{limit} memories are in already")
        else:
            packing.offer(wholes.get(each.memory.id) or _Whole.of(each))
    packing.widen()
    items = tuple(packing.items)
    return Recall(items, "\n".join(item.line for item in items), tuple(packing.report))


class _Packing:
    """A prompt while it is filled."""

    def __init__(
        self,
        weights: Mapping[str, float],
        pieces: Mapping[str, int],
        max_chars: int,
        max_chars_each: int | None,
    ) -> None:
        self._weights = weights
        self._pieces = pieces
        self._room = (
            max_chars - len(LEAD) - 1
        )  # a bracket; each entry brings its comma or the other
        self._most = max_chars_each
        self._roomy = False
        self._scored: list[tuple[str, list[Sentence]]] = []
        self.items: list[Recalled] = []
        self.report: list[Verdict] = []

    def measure(self, wholes: Collection[_Whole]) -> None:
        """Note whether all of these fit whole: none is then shortened, to be widened again."""
        lengths = [len(whole.entry.text) for whole in wholes]
        self._roomy = (
            all(lengths)
            and (self._most is None or max(lengths, default=0) <= self._most)
            and sum(whole.cost for whole in wholes) <= self._room
        )

    def offer(self, whole: _Whole) -> None:
        """Let a memory in as far as there is room."""
        entry, cost = whole
        text = entry.text
        if not text:
            self.leave_out(entry.memory, "it is empty")
            return
        room = ROOMS[min(len(self.items), len(ROOMS) - 1)]
        if self._most is not None:
            room = min(room, self._most)
        if self._roomy or (len(text) <= room and cost <= self._room):
            self._let_in(entry, cost, text, [])
            return
        left = self._room - _cost(_with_text(entry, "", text))
        if left < min(LEAST, self._most or LEAST, len(text)):
            self.leave_out(entry.memory, f"{len(text)} characters do not fit in {max(left, 0)}")
            return
        scored = sentences(text, self._weights, self._pieces)
        shortened = self._shortened(entry, scored, min(room, len(text)), text)
        if shortened is None:
            self.leave_out(entry.memory, f"{len(text)} characters do not fit in {left}")
            return
        self._let_in(shortened, _cost(shortened), text, scored)

    def leave_out(self, memory: MemoryHead, reason: str) -> None:
        """Note why a memory stays out."""
        self.report.append(Verdict(memory, "left out", reason))

    def widen(self) -> None:
        """Give the room that is left to what was shortened, the first one first."""
        for place, item in enumerate(self.items):
            if not item.shortened:
                continue
            text, scored = self._scored[place]
            self._room += _cost(item)
            room = len(item.text) + self._room - _cost(item)
            if self._most is not None:
                room = min(room, self._most)
            wider = self._shortened(item, scored, min(room, len(text)), text) or item
            best = max(item, wider, key=lambda each: len(each.text))
            self._room -= _cost(best)
            self.items[place] = best
            verdict = next(n for n, each in enumerate(self.report) if each.memory is item.memory)
            self.report[verdict] = _admitted(best, text)

    def _shortened(
        self, item: Recalled, scored: list[Sentence], room: int, text: str
    ) -> Recalled | None:
        """Return the item with its best passages in at most `room` characters, as fits."""
        while room >= min(_SHORTEST, self._most or _SHORTEST, len(text)):
            part = excerpt(text, scored, room)
            entry = _with_text(item, part, text)
            if (excess := _cost(entry) - self._room) <= 0:
                return entry
            room = min(room, len(part)) - excess
        return None

    def _let_in(self, item: Recalled, cost: int, text: str, scored: list[Sentence]) -> None:
        self._room -= cost
        self.items.append(item)
        self._scored.append((text, scored))
        self.report.append(_admitted(item, text))


def _with_text(item: Recalled, part: str, text: str) -> Recalled:
    """Return the entry with a part of its text."""
    return Recalled(item.memory, part, item.score, shortened=part != text, near=item.near)


def _admitted(item: Recalled, text: str) -> Verdict:
    why = f"score {item.score:.2f}" if item.score else "it is pinned"
    if item.score and item.near:
        why = f"{why} (meaning {item.near:.2f})"
    if item.memory.pinned and item.score:
        why = f"it is pinned, {why}"
    if not item.shortened:
        return Verdict(item.memory, "included", why)
    return Verdict(item.memory, "shortened", f"{why}; {len(item.text)} of {len(text)} characters")


def _cost(item: Recalled) -> int:
    return len(_quoted(item.line)) + 1


def _quoted(line: str) -> str:
    quoted = _encode(line).replace("/", "\\/").replace(LEAD, _OTHER_LEAD)
    if quoted.isascii() and "\x7f" not in quoted:
        return quoted
    return _UNSEEN.sub(lambda match: "".join(map(_escape, match[0])), quoted)


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFFFF:  # noqa: PLR2004 -- the end of the first plane
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


_encode: Final = json.encoder.encode_basestring
"""What `json.dumps` calls for a string; all around it would take twice the time."""

_OTHER_LEAD: Final = LEAD.replace("=", "\\u003d")
_UNSEEN: Final = re.compile(
    "[\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
"""Line separators, direction controls and what can carry hidden text. Joiners and selectors of
emoji and of Indic and Persian words stay."""
