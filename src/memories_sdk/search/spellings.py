"""Who has a word that is like this one, and what are its words about. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import accumulate, chain
from typing import Final

from memories_sdk.search import analysis
from memories_sdk.search.ranking import Likeness, Query

TAKEN_APART: Final = 2
"""Characters of a text, for each piece that is looked for in it, up to which it is faster to take
the text apart."""


class Worded:
    """The words of one text, and what is found out about them when it is first asked for.

    Args:
        text: Folded words with blanks around them, as an analysis gives them.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def sharing(self, asked: AbstractSet[str]) -> Collection[str]:
        """Return those of these pieces that one of the words has."""
        if len(self.text) < TAKEN_APART * len(asked):
            return asked & self._pieces
        return [piece for piece in asked if piece in self.text]

    @cached_property
    def _words(self) -> list[str]:
        return self.text.replace("|", "").split()

    @cached_property
    def _pieces(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(analysis.pieces_of(self._words)))

    @cached_property
    def topics(self) -> dict[int, float]:
        """The topics of the words, and how much they mean each of them."""
        found: dict[int, float] = {}
        for topic, share in chain.from_iterable(analysis.topics_of(self._words)):
            found[topic] = found.get(topic, 0.0) + share
        return found


def likeness_of(query: Query, texts: Sequence[Worded]) -> Likeness:
    """Return what a few texts, each looked through once, have in common with a query."""
    asked = query.pieces.keys()
    held = [text.sharing(asked) for text in texts]
    topics = [text.topics for text in texts] if query.topics else ()
    return Likeness(Counter(chain.from_iterable(held)), held, topics, len(texts))


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
