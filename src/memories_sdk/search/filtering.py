"""Which memories of a shelf a search may find. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple


class Filter(NamedTuple):
    """What a memory must be to be found.

    Attributes:
        types: Its type is one of these.
        tags: It has one of each of these: a tag as it was asked for, or as a vocabulary keeps it.
        now: Microseconds since 1970; what expires until then is gone.
    """

    types: frozenset[str]
    tags: tuple[frozenset[str], ...]
    now: int

    def passes(self, type: str, tags: Iterable[str], expires: int | None) -> bool:
        """Whether a memory may be found."""
        return (
            type in self.types
            and (expires is None or expires > self.now)
            and not any(spellings.isdisjoint(tags) for spellings in self.tags)
        )


def tags_of(column: str) -> tuple[str, ...]:
    """Return the tags from their column."""
    return () if column == "[]" else tuple(json.loads(column))
