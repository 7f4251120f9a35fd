"""Who has a word that is like this one, and what are its words about. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

from memories_sdk.search import analysis
from memories_sdk.search.ranking import Likeness, Query

LOOKED_FOR: Final = 3
"""Pieces, for each word of a text, up to which it is faster to look for them in it than to take it
apart."""


def likeness_of(query: Query, texts: Sequence[str]) -> Likeness:
    """Return what a few texts, each looked through once, have in common with a query."""
    asked = frozenset(query.pieces)
    shared = _Shared(asked)
    holders: dict[str, list[int]] = {piece: [] for piece in query.pieces}
    topics: list[dict[int, float]] = []
    for number, text in enumerate(texts):
        words = text.split()
        if len(asked) <= LOOKED_FOR * len(words):
            held: Iterable[str] = [piece for piece in asked if piece in text]
        else:
            held = set().union(*map(shared.__getitem__, words))
        for piece in held:
            holders[piece].append(number)
        if query.topics:
            topics.append(_topics(words))
    return Likeness(holders, topics, len(texts))


class _Shared(dict[str, frozenset[str]]):
    """Words to those of their pieces that are asked for, found once: texts share most words."""

    def __init__(self, asked: frozenset[str]) -> None:
        super().__init__()
        self._asked = asked

    def __missing__(self, word: str) -> frozenset[str]:
        self[word] = found = self._asked.intersection(analysis.pieces(word))
        return found


def _topics(words: Iterable[str]) -> dict[int, float]:
    found: dict[int, float] = {}
    for word in words:
        for topic, share in analysis.topics(word):
            found[topic] = found.get(topic, 0.0) + share
    return found


class Spellings:
    """The distinct words of many texts, kept to be asked often.

    Looking for a piece in them takes a fraction of looking for it in every text.

    Args:
        texts: Folded words with blanks around them, as an analysis gives them.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        words: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            for word in text.replace("|", "").split():
                words.setdefault(word, []).append(place)
        self._words = words
        self._texts = len(texts)
        self._holders = list(words.values())
        self._joined = f" {'  '.join(words)} "
        # Where each word begins with its blank, and where the text of all of them ends.
        self._starts = list(accumulate((len(word) + 2 for word in words), initial=0))
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

    @cached_property
    def topics(self) -> list[dict[int, float]]:
        """For each text its topics, with how much its words mean each of them."""
        found: list[dict[int, float]] = [{} for _ in range(self._texts)]
        for word, places in self._words.items():
            for topic, share in analysis.topics(word):
                for place in places:
                    found[place][topic] = found[place].get(topic, 0.0) + share
        return found
