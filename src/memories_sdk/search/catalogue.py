"""A small shelf in memory, analysed: finds every memory that shares a word or a part of one. Pure.

Built from bodies in milliseconds and kept while the shelf does not change, so that a small shelf
needs no index on disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from memories_sdk.search import analysis
from memories_sdk.search.embedding import NO_MEANING, Meaning
from memories_sdk.search.ranking import (
    Analysed,
    Candidate,
    Likeness,
    Query,
    scores,
    term_weights,
)
from memories_sdk.search.spellings import Spellings

LIKE: Final = 3
"""A memory that has a third of the pieces of a word matches it. Less is chance."""

LONG: Final = 4
"""Letters from which a word is matched by its pieces: "art" would match "start"."""

PREDECESSORS: Final = 2
"""How many memories written down before one are asked for a share of their scores."""


class Entry(NamedTuple):
    """A memory of the shelf: what filters and ranking look at.

    Attributes:
        row: The number of its row.
        made: Microseconds since 1970; so are `changed` and `expires`.
    """

    row: int
    key: bytes
    version: int
    type: str
    tags: tuple[str, ...]
    made: int
    changed: int
    expires: int | None
    analysed: Analysed


class Catalogue:
    """The memories of one shelf at one moment.

    Args:
        entries: In the order of their keys.
        seq: The last change of the shelf that they show.
    """

    def __init__(self, entries: Iterable[Entry], seq: int) -> None:
        self.entries = tuple(entries)
        self.seq = seq
        self._places = {entry.row: place for place, entry in enumerate(self.entries)}
        self._terms: dict[str, list[tuple[int, int]]] = {}
        for place, entry in enumerate(self.entries):
            for term, strength in entry.analysed.terms.items():
                self._terms.setdefault(term, []).append((place, strength))
        self._spellings = Spellings([entry.analysed.words for entry in self.entries])
        words = sum(entry.analysed.size for entry in self.entries)
        self._average = max(words / max(len(self.entries), 1), 1.0)

    def ranked(
        self,
        query: Query,
        weights: Mapping[str, float],
        wanted: Callable[[Entry], bool],
        *,
        related: bool,
        meaning: Meaning = NO_MEANING,
    ) -> dict[int, float]:
        """Return the scores of the memories that match and are wanted, by row.

        Args:
            query: What is looked for.
            weights: Index term of the query to what it says here.
            wanted: Says whether a memory may be found.
            related: Whether sharing a topic is a match too.
            meaning: What an embedder says.
        """
        strengths: dict[int, dict[str, int]] = {}
        for term in query.terms:
            for place, strength in self._terms.get(term, ()):
                strengths.setdefault(place, {})[term] = strength
        holding = {piece: self._spellings.holding(piece) for piece in query.pieces}
        matching = set(strengths) | self._similar(query, holding)
        if related and query.topics:
            matching.update(self._about(query))
        matching.update(self._places[row] for row in meaning.alike if row in self._places)
        places = [place for place in sorted(matching) if wanted(self.entries[place])]
        found = scores(
            query,
            [self._candidate(place, strengths.get(place, {}), meaning) for place in places],
            weights,
            self._average,
            self._likeness(query, places, holding),
            meaning=meaning.share,
        )
        return {
            self.entries[place].row: score
            for place, score in zip(places, found, strict=True)
            if score
        }

    def weights(self, query: Query) -> dict[str, float]:
        """Return the terms of a query that count, with what they say on this shelf."""
        found = {term: len(self._terms.get(term, ())) for term in query.terms}
        return term_weights(query, len(self.entries), found)

    def _similar(self, query: Query, holding: Mapping[str, tuple[int, ...]]) -> set[int]:
        """Return the places of the memories with a word that is like one of the query."""
        similar: set[int] = set()
        for word in chain.from_iterable(query.surfaces.values()):
            if len(word) < LONG:
                continue
            pieces = analysis.pieces(word)
            held = Counter(chain.from_iterable(holding.get(piece, ()) for piece in pieces))
            similar.update(place for place, number in held.items() if number * LIKE >= len(pieces))
        return similar

    def _about(self, query: Query) -> Iterable[int]:
        """Return the places of the memories that share a topic with the query."""
        asked = query.topics.keys()
        return (
            place
            for place, topics in enumerate(self._spellings.topics)
            if not topics.keys().isdisjoint(asked)
        )

    def _likeness(
        self, query: Query, places: Sequence[int], holding: Mapping[str, tuple[int, ...]]
    ) -> Likeness:
        numbers = {place: number for number, place in enumerate(places)}
        found: dict[str, int] = {}
        held: list[list[str]] = [[] for _ in places]
        for piece, holders in holding.items():
            among = [numbers[place] for place in holders if place in numbers]
            found[piece] = len(among)
            for number in among:
                held[number].append(piece)
        topics = [self._spellings.topics[place] for place in places] if query.topics else ()
        return Likeness(found, held, topics, len(self.entries))

    def _candidate(self, place: int, strengths: Mapping[str, int], meaning: Meaning) -> Candidate:
        entry = self.entries[place]
        before = self.entries[max(place - PREDECESSORS, 0) : place]
        return Candidate(
            entry.key,
            strengths,
            entry.analysed.words,
            entry.analysed.size,
            entry.made,
            entry.changed,
            tuple(other.key for other in reversed(before)),
            meaning.near.of(entry.row),
        )
