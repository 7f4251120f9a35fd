"""The distinct words of some texts: who has a word like this one, and what it is about. Pure.

Looking for a piece in the distinct words takes a fraction of looking for it in every text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from memories_sdk import analysis


class Spellings:
    """Words to the places of the texts that have them.

    Args:
        texts: Folded words with blanks around them, as an analysis gives them.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        words: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            for word in text.replace("|", "").split():
                words.setdefault(word, []).append(place)
        self.topics = _topics(words, len(texts))
        self._holders = list(words.values())
        self._joined = f" {'  '.join(words)} "
        self._starts = _starts(words)
        self._known: dict[str, tuple[int, ...]] = {}

    def holding(self, piece: str) -> tuple[int, ...]:
        """Return the places of the texts with a word that has the piece, in their order."""
        if (known := self._known.get(piece)) is None:
            held: set[int] = set()
            at = self._joined.find(piece)
            while at >= 0:
                number = bisect_right(self._starts, at) - 1
                held.update(self._holders[number])
                at = self._joined.find(piece, self._starts[number + 1])
            known = self._known[piece] = tuple(sorted(held))
        return known


def _starts(words: Iterable[str]) -> list[int]:
    """Return where each word begins with its blank, and where the text of all of them ends."""
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word) + 2)
    return starts


def _topics(words: Mapping[str, Sequence[int]], texts: int) -> list[dict[int, float]]:
    """Return for each text its topics, with how much its words mean each of them."""
    found: list[dict[int, float]] = [{} for _ in range(texts)]
    for word, places in words.items():
        for topic, share in analysis.topics(word):
            for place in places:
                found[place][topic] = found[place].get(topic, 0.0) + share
    return found
