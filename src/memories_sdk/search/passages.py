"""Which sentences of a text answer a prompt, and where they stand. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import fsum
from typing import Final, NamedTuple

from memories_sdk.characters import cut_graphemes
from memories_sdk.search import analysis

GAP: Final = " ... "
"""Stands between two passages with something left out between them."""

END: Final = "..."
"""Stands where a text was cut at its end; at its start too, with a blank."""

SENTENCE: Final = 280
"""Characters after which a sentence without an end is cut, at a blank where there is one."""

_STOPS: Final = "\u3002\uff01\uff1f"
_SENTENCE: Final = re.compile(
    rf"\S(?:[^\n.!?{_STOPS}]++|[.!?](?![\s\"')\]]|$))*+(?:[.!?{_STOPS}]+[\"')\]]*)?", re.MULTILINE
)
_LONG: Final = 40_000
_NEAR: Final = 1_000
_PLACES: Final = 100
"""In a text longer than the first, only the surroundings of the first hundred matches are read."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a memory that matches.

    Attributes:
        field: "name", "summary", "tags" or "content".
        start: Where it begins in that field's text; tags are joined by ", ".
        end: Where it ends, exclusive.
    """

    field: str
    start: int
    end: int
    text: str

    def __repr__(self) -> str:
        return f"<Passage {self.field}[{self.start}:{self.end}] {self.text!r}>"


class Sentence(NamedTuple):
    """A sentence, or a piece of a long one, with what it says about the prompt."""

    start: int
    end: int
    score: float


def sentences(
    text: str, weights: Mapping[str, float], pieces: Mapping[str, int] | None = None
) -> list[Sentence]:
    """Return the sentences of a text with their scores, in their order.

    Args:
        text: Any text.
        weights: Index term of the prompt to what it says.
        pieces: Pieces of the prompt, for sentences in which no term stands.
    """
    found = []
    for start, end in _spans(text, weights):
        said = weights.keys() & set(analysis.terms(analysis.words(text[start:end])))
        # The order of a set changes from process to process; this sum does not depend on it.
        found.append(Sentence(start, end, fsum(map(weights.__getitem__, said))))
    if pieces and not any(sentence.score for sentence in found):
        return [Sentence(start, end, _shared(text[start:end], pieces)) for start, end, _ in found]
    return found


def best_passages(
    field: str, text: str, scored: Sequence[Sentence], most: int
) -> tuple[Passage, ...]:
    """Return at most so many matching sentences, in the order of the text."""
    matching = [sentence for sentence in scored if sentence.score]
    best = sorted(matching, key=lambda sentence: (-sentence.score, sentence.start))[:most]
    return tuple(Passage(field, start, end, text[start:end]) for start, end, _ in sorted(best))


def excerpt(text: str, scored: Sequence[Sentence], room: int) -> str:
    """Return the best sentences of a text in their order, in at most `room` characters.

    What is left out is marked; the marks are not counted. The best sentence comes first into the
    room, then the better ones, then what stands around them. A longer sentence is cut.
    """
    if len(text) <= room:
        return text
    if not scored:
        return _marked(text, 0, len(_cut_words(text, room)))
    by_score = sorted(range(len(scored)), key=lambda number: (-scored[number].score, number))
    first = by_score[0]
    start, end, _ = scored[first]
    if end - start > room:
        return _marked(text, start, start + len(_cut_words(text[start:end], room)))
    chosen = {first}
    left = room - (end - start)
    for number in (*by_score[1:], *_around(first, len(scored))):
        start, end, score = scored[number]
        if number not in chosen and (score or _beside(number, chosen)) and end - start < left:
            chosen.add(number)
            left -= end - start + 1
    return _joined(text, scored, chosen)


def _spans(text: str, weights: Mapping[str, float]) -> Iterator[tuple[int, int]]:
    last = 0
    for low, high in _regions(text, weights):
        for match in _SENTENCE.finditer(text, max(low, last), high):
            last = match.end()
            start = match.start()
            end = match.start() + len(match[0].rstrip())
            while end - start > SENTENCE:
                cut = text.rfind(" ", start + SENTENCE // 2, start + SENTENCE)
                cut = start + len(cut_graphemes(text[start:end], SENTENCE)) if cut < 0 else cut + 1
                cut = cut if cut > start else start + SENTENCE
                yield start, cut
                start = cut
            yield start, end


def _regions(text: str, weights: Mapping[str, float]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are worth reading: all of it, unless it is long."""
    if len(text) <= _LONG:
        yield 0, len(text)
        return
    stems = sorted((re.escape(term) for term in weights if term), key=len, reverse=True)
    at = 0
    if stems:
        pattern = re.compile("|".join(stems), re.IGNORECASE)
        for match in islice(pattern.finditer(text), _PLACES):
            low, high = max(match.start() - _NEAR, at), min(match.end() + _NEAR, len(text))
            if low < high:
                yield low, high
                at = high
    if not at:
        yield 0, _LONG


def _shared(text: str, pieces: Mapping[str, int]) -> float:
    words = f" {' '.join(analysis.words(text))} "
    return float(sum(piece in words for piece in pieces))


def _around(number: int, count: int) -> list[int]:
    return [each for each in (number + 1, number - 1, number + 2, number - 2) if 0 <= each < count]


def _beside(number: int, chosen: set[int]) -> bool:
    return number - 1 in chosen or number + 1 in chosen


def _joined(text: str, scored: Sequence[Sentence], chosen: set[int]) -> str:
    parts: list[str] = []
    start = end = 0
    for number in sorted(chosen):
        if end and number - 1 in chosen:
            end = scored[number].end
            continue
        if end:
            parts.append(text[start:end])
        start, end = scored[number].start, scored[number].end
    parts.append(text[start:end])
    front = f"{END} " if text[: scored[min(chosen)].start].strip() else ""
    back = f" {END}" if text[end:].strip() else ""
    return f"{front}{GAP.join(parts)}{back}"


def _marked(text: str, start: int, end: int) -> str:
    front = f"{END} " if text[:start].strip() else ""
    return f"{front}{text[start:end]}{END}"


def _cut_words(text: str, room: int) -> str:
    """Cut a text at a blank in the second half of the room, or else between graphemes."""
    cut = cut_graphemes(text, room)
    blank = cut.rfind(" ", room // 2)
    return cut[:blank] if blank > 0 and len(cut) < len(text) else cut
