"""How well a memory answers a prompt, as one number. Pure, with fixed weights.

Two scores are mixed, each a share of what a perfect answer would get, so that the sum lies in
[0, 1] and means the same for every prompt: BM25 over words, and over pieces of four characters,
which find what stems do not. What is added is small and explained where it is added. Rules, weights
and what was tried are in `docs/decisions`; the figures come from `bench`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from math import fsum, log
from typing import Final, NamedTuple

from memories_sdk.search import analysis
from memories_sdk.search.moments import Span, asks_when, named_dates, tells_time

PIECES: Final = 0.4
"""Share of the pieces in a score; the rest is that of the words. It shrinks with the part of the
prompt that is in scripts without pieces."""

COVERAGE: Final = 0.3
"""Share of a score that takes all words of the prompt to earn."""

TOPIC: Final = 0.2
"""What sharing the topics of the prompt adds, as a share of the best score."""

UNMATCHED: Final = 0.1
"""Taken for the best score when nothing but topics is shared."""

COMPANY: Final = 0.15
"""What a memory gets of the scores of the two written down right before and after it."""

FURTHER_COMPANY: Final = 0.075
"""The same for those two places away."""

SHORT: Final = 80
"""Words up to which a memory gets all of that share; a longer one explains itself."""

TOGETHER: Final = 3_600_000_000
"""Microseconds within which memories count as written down together."""

DATED: Final = 0.25
"""What the day that the prompt names adds, as a share of the best score."""

TELLS_TIME: Final = 0.1
"""What telling a time adds when the prompt asks for one, as a share of the best score."""

RECENT: Final = 0.03
"""What the newest memory has before the oldest, as a share of the best score."""

K1: Final = 1.2
B: Final = 0.4
DELTA: Final = 0.5
_PERFECT: Final = K1 + 1 + DELTA

NAME: Final = 2
TAG: Final = 2
HEADING: Final = 2
"""How often a word of the name, a tag or a heading counts; any other word counts once."""

_FEW: Final = 3
MANY: Final = 6
STRENGTHS: Final = (1, 2, _FEW, MANY)
"""Classes of how often a word counts: once, twice, three or four times, more often."""

_BAR: Final = "|"

MAX_TERMS: Final = 240
"""Terms of a prompt that count: those which say the most."""

_HEAD: Final = 4_000
_TAIL: Final = 12_000
"""Characters of a prompt that are read, from its start and from its end."""

_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Analysed:
    """What ranking knows of a text.

    Attributes:
        terms: Index term to the class of how often it counts.
        words: The distinct folded words with a blank before and after each, those that count once
            first; a bar parts the classes of `STRENGTHS`.
        size: How many words there are.
    """

    terms: Mapping[str, int]
    words: str
    size: int


def analyse(
    content: str, *, name: str = "", summary: str = "", tags: Iterable[str] = ()
) -> Analysed:
    """Return the analysis of a memory; all of its body counts."""
    body = analysis.words(content)
    size = len(body)
    words = dict.fromkeys(body)
    totals = Counter(analysis.terms(body))
    for text, times in (
        (name, NAME),
        (" ".join(tags), TAG),
        (" ".join(_HEADING.findall(content)) if "#" in content else "", HEADING - 1),
        (summary, 1),
    ):
        found = analysis.words(text) if text else []
        size += len(found)
        for word in found:
            words[word] = None
            totals[analysis.term(word)] += times
    repeated = {term: _CLASS[times] for term, times in totals.items() if times > 1}
    groups: dict[int, list[str]] = {strength: [] for strength in STRENGTHS}
    for word, term in zip(words, analysis.terms(words), strict=True):
        groups[repeated.get(term, 1)].append(word)
    return Analysed(
        dict.fromkeys(totals, 1) | repeated,
        _BAR.join([f" {' '.join(group)} " for group in groups.values()]),
        size,
    )


class _Classes(dict[int, int]):
    """How often a word counts to its class of `STRENGTHS`."""

    def __missing__(self, times: int) -> int:
        return MANY


_CLASS: Final = _Classes({2: 2, _FEW: _FEW, _FEW + 1: _FEW})


def terms_by_strength(strengths: Mapping[str, int]) -> list[list[str]]:
    """Return index terms class by class, those that count once first."""
    groups: dict[int, list[str]] = {strength: [] for strength in STRENGTHS}
    for term, strength in strengths.items():
        groups[strength].append(term)
    return list(groups.values())


def strengths_of(words: str) -> dict[str, int]:
    """Return the index terms of analysed words, with the classes of how often they count."""
    found: dict[str, int] = {}
    for strength, part in zip(STRENGTHS, words.split(_BAR), strict=True):
        found |= dict.fromkeys(analysis.terms(part.split()), strength)
    return found


@dataclass(frozen=True, slots=True)
class Query:
    """A prompt as ranking sees it. User text is never syntax: it is words and nothing else.

    Attributes:
        terms: Index term to its weight: how often it stands there times what its word says.
        surfaces: Index term to the folded words of the prompt that it stands for.
        pieces: Pieces of four characters to how often they stand there.
        spaced: Share of the words that have pieces, from 0 to 1.
        topics: Numbers of the topics of its words to how much they are meant.
        text: What was read of it.
    """

    terms: Mapping[str, float]
    surfaces: Mapping[str, tuple[str, ...]]
    pieces: Mapping[str, int]
    spaced: float
    topics: Mapping[int, float]
    dates: tuple[Span, ...]
    asks_when: bool
    text: str

    @classmethod
    def of(cls, text: str, *, only_joining: bool = False) -> Query:
        """Return the query of a text.

        Args:
            text: Any text; of a long one the start and the end count.
            only_joining: Whether a text that has no other words is looked for with words such
                as "what" and "should"; it finds nothing otherwise.
        """
        if len(text) > _HEAD + _TAIL:
            text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
        words = analysis.words(text)
        telling = [word for word in words if not analysis.is_empty(word)]
        if not telling and only_joining:
            telling = words
        terms: dict[str, float] = {}
        surfaces: dict[str, dict[str, None]] = {}
        topics: dict[int, float] = {}
        for word, term in zip(telling, analysis.terms(telling), strict=True):
            terms[term] = terms.get(term, 0.0) + analysis.weight(word)
            if (known := surfaces.get(term)) is not None:
                known[word] = None
                continue
            surfaces[term] = {word: None}
            for topic, share in analysis.topics(word):
                topics[topic] = topics.get(topic, 0.0) + share
        parts = list(analysis.pieces_of(telling))
        return cls(
            terms,
            {term: tuple(words) for term, words in surfaces.items()},
            Counter(chain.from_iterable(parts)),
            sum(map(bool, parts)) / max(len(telling), 1),
            topics,
            named_dates(text, words),
            asks_when(text, words),
            text,
        )


class Candidate(NamedTuple):
    """A memory that may answer.

    Attributes:
        key: Sorts the shelf in the order in which it was written down.
        strengths: Terms of the query that it has, with their strengths.
        made: When it was made, in microseconds since 1970; so is `changed`.
        follows: Keys of the memories one and two places before it on the shelf.
        near: How near its meaning is, from 0 to 1; 0 without an embedder.
    """

    key: bytes
    strengths: Mapping[str, int]
    words: str
    size: int
    made: int
    changed: int
    follows: tuple[bytes, ...]
    near: float = 0.0


class Likeness(NamedTuple):
    """What candidates have in common with a query beyond whole words.

    Attributes:
        found: Piece of the query to how many candidates have it.
        held: For each candidate, the pieces of the query that it has.
        topics: For each candidate, its topics and how much its words mean them.
        among: How many texts the pieces were looked for in.
    """

    found: Mapping[str, int]
    held: Sequence[Collection[str]]
    topics: Sequence[Mapping[int, float]]
    among: int


def scores(
    query: Query,
    candidates: Sequence[Candidate],
    weights: Mapping[str, float],
    average: float,
    likeness: Likeness,
    *,
    meaning: float = 0.0,
) -> list[float]:
    """Return the score of each candidate, from 0 (no match) to 1.

    Args:
        query: What is looked for.
        candidates: What may answer it.
        weights: Index term of the query to what it says on this shelf.
        average: Words of a memory on this shelf.
        likeness: What the candidates have in common with the query beyond whole words.
        meaning: Share of the meaning in a score.
    """
    by_words = word_scores(weights, candidates, average)
    by_pieces = _piece_scores(query, candidates, likeness)
    pieces = PIECES * query.spaced
    found = [
        (1 - meaning) * ((1 - pieces) * word + pieces * piece) + meaning * candidate.near
        for word, piece, candidate in zip(by_words, by_pieces, candidates, strict=True)
    ]
    best = max(found, default=0.0) or UNMATCHED
    # What an embedder says, it says of topics too.
    _add_topics(query, likeness.topics, found, best * (1 - meaning))
    found = _with_company(found, candidates)
    _add_time(query, candidates, found, best)
    return [round(min(score, 1.0), 6) for score in found]


def idf(memories: int, holding: int) -> float:
    """Return what a word says on a shelf: the rarer, the more. Never negative."""
    return log(1 + (memories - holding + 0.5) / (holding + 0.5))


def term_weights(query: Query, memories: int, found: Mapping[str, int]) -> dict[str, float]:
    """Return the terms that count, the telling ones first, with their full weights.

    Args:
        query: What is looked for.
        memories: How many there are on the shelf.
        found: Index term of the query to how many of them have it.
    """
    weights = {
        term: weight * idf(memories, found.get(term, 0)) for term, weight in query.terms.items()
    }
    kept = sorted(weights, key=lambda term: (-weights[term], term))[:MAX_TERMS]
    return {term: weights[term] for term in kept}


def word_scores(
    weights: Mapping[str, float], candidates: Sequence[Candidate], average: float
) -> list[float]:
    """Return the share that the words of each candidate have in a perfect answer."""
    perfect = sum(weights.values())
    if not perfect:
        return [0.0] * len(candidates)
    found = []
    for candidate in candidates:
        length = K1 * (1 - B + B * candidate.size / average)
        score = covered = 0.0
        for term, strength in candidate.strengths.items():
            if (weight := weights.get(term)) is not None:
                score += weight * (strength * (K1 + 1) / (strength + length) + DELTA)
                covered += weight
        share = 1 - COVERAGE + COVERAGE * covered / perfect
        found.append(share * score / (perfect * _PERFECT))
    return found


def _piece_scores(query: Query, candidates: Sequence[Candidate], likeness: Likeness) -> list[float]:
    rarities = {holding: idf(likeness.among, holding) for holding in {0, *likeness.found.values()}}
    weights = {
        piece: times * rarities[likeness.found.get(piece, 0)]
        for piece, times in query.pieces.items()
    }
    perfect = sum(weights.values()) * _PERFECT
    if not perfect or not candidates:
        return [0.0] * len(candidates)
    average = max(sum(len(each.words) for each in candidates) / len(candidates), 1.0)
    found = []
    for held, candidate in zip(likeness.held, candidates, strict=True):
        length = K1 * (1 - B + B * len(candidate.words) / average)
        # The order of a set changes from process to process; this sum does not depend on it.
        share = fsum(map(weights.__getitem__, held))
        found.append(share * ((K1 + 1) / (1 + length) + DELTA) / perfect)
    return found


def _add_topics(
    query: Query, topics: Sequence[Mapping[int, float]], found: list[float], best: float
) -> None:
    """Add what the topics of the prompt say: a hotel has to do with travel.

    For a memory that is here for its topic alone, this is the whole score.
    """
    if not query.topics:
        return
    holding = Counter(chain.from_iterable(query.topics.keys() & share.keys() for share in topics))
    weights = {
        topic: meant * idf(len(topics), holding[topic]) for topic, meant in query.topics.items()
    }
    gains = [
        sum(
            weight * min(share[topic], 2) / (min(share[topic], 2) + 1)
            for topic, weight in weights.items()
            if topic in share
        )
        for share in topics
    ]
    if highest := max(gains, default=0.0):
        for number, gain in enumerate(gains):
            found[number] += best * TOPIC * gain / highest


def _with_company(found: Sequence[float], candidates: Sequence[Candidate]) -> list[float]:
    """Return the scores with a share of their neighbours': short notes explain each other.

    What matches nothing gets nothing: company alone is no match.
    """
    places = {candidate.key: place for place, candidate in enumerate(candidates)}
    need = [min(SHORT / max(candidate.size, 1), 1.0) for candidate in candidates]
    total = list(found)
    for place, candidate in enumerate(candidates):
        for share, key in zip((COMPANY, FURTHER_COMPANY), candidate.follows, strict=False):
            other = places.get(key)
            if other is None or abs(candidate.made - candidates[other].made) > TOGETHER:
                continue
            if found[place] and found[other]:
                total[place] += share * need[place] * found[other]
                total[other] += share * need[other] * found[place]
    return total


def _add_time(
    query: Query, candidates: Sequence[Candidate], found: list[float], best: float
) -> None:
    """Add what time says: the named day, a time where one is asked for, and the newest first."""
    matching = [number for number, score in enumerate(found) if score]
    moments = sorted({candidates[number].changed for number in matching})
    age = {moment: rank for rank, moment in enumerate(moments, 1)}
    for number in matching:
        candidate = candidates[number]
        found[number] += best * RECENT * age[candidate.changed] / len(moments)
        if query.dates:
            made = date.fromordinal(_EPOCH + candidate.made // _DAY)
            found[number] += best * DATED * max(span.closeness(made) for span in query.dates)
        if query.asks_when and tells_time(candidate.words):
            found[number] += best * TELLS_TIME


_EPOCH: Final = date(1970, 1, 1).toordinal()
_DAY: Final = 86_400_000_000
