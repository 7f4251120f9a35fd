"""What a model for meaning must do, so that any can be put in. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Final, Literal, NamedTuple, Protocol

from memories_sdk.errors import InvalidInput, MissingExtra

Kind = Literal["query", "memory"]

MEANING: Final = 0.3
"""Share of the meaning in a score."""

ALIKE: Final = 0.2
"""Cosine from which a memory matches by its meaning alone. With 0.3, a quarter of what answers a
question in other words is not found; with 0.1, more that does not answer it comes along."""

NEAREST: Final = 64
"""Memories of a shelf that are scored for their meaning alone: the nearest."""


class Embedder(Protocol):
    """Turns texts into vectors that point the same way when the texts mean the same.

    Texts that have nothing to do with each other should have a cosine near 0; a model whose
    cosines start higher takes its mean vector off before it returns one.
    """

    @property
    def id(self) -> str:
        """Names the model and its version: vectors of another id are made anew."""
        ...

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        ...

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Iterable[Iterable[float]]:
        """Return one vector for each text, of any length; 0 for one that the model cannot read.

        Args:
            texts: Any texts, also empty ones; of a long one its beginning may do.
            kind: Whether these are questions or what may answer them; most models need not know.
        """
        ...


class Insight(NamedTuple):
    """A model, and the share of the meaning in a score."""

    embedder: Embedder
    share: float

    @classmethod
    def of(cls, embedder: Embedder, share: float) -> Insight:
        """Return both when they can be used.

        Raises:
            InvalidInput: The share is not between 0 and 1.
            MissingExtra: numpy is not installed.
        """
        if type(share) not in {int, float} or not 0 <= share <= 1:
            raise InvalidInput(
                f"meaning must be a number from 0 to 1, not {share!r}.",
                field="meaning",
                suggestion=f"Leave it out for {MEANING}.",
            )
        if find_spec("numpy") is None:
            raise MissingExtra("An embedder", "semantic")
        return cls(embedder, share)


class Nearness(Protocol):
    """How near the memories of a shelf come to a query."""

    def of(self, row: int) -> float:
        """Return how near one memory is, from 0 to 1."""
        ...

    def above(self, least: float, most: int) -> list[int]:
        """Return the rows that are at least so near, the nearest first, and at most so many."""
        ...


class Meaning(NamedTuple):
    """What an embedder says about one query on one shelf.

    Attributes:
        share: Share of the meaning in a score, from 0 to 1.
        near: How near each memory is.
        alike: Rows that match by their meaning alone.
    """

    share: float
    near: Nearness
    alike: tuple[int, ...]

    @classmethod
    def of(cls, share: float, near: Nearness) -> Meaning:
        """Return the meaning with the memories that match by it alone."""
        return cls(share, near, tuple(near.above(ALIKE, NEAREST)))


class _Nowhere:
    def of(self, row: int) -> float:
        del row  # nothing is near without an embedder
        return 0.0

    def above(self, least: float, most: int) -> list[int]:
        del least, most  # the same
        return []


NO_MEANING: Final = Meaning(0.0, _Nowhere(), ())
