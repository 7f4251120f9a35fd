"""How much one principal may keep and write: a value, checked inside each write. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Final, NamedTuple

from memories_sdk.errors import InvalidInput, QuotaExceeded

MINUTE: Final = timedelta(minutes=1)


class Usage(NamedTuple):
    """What a principal has on all its shelves, and what one write added.

    Attributes:
        memories: How many there are, and how many more than before the write.
        bytes: Size of their bodies and pictures, and how much more.
        writes: Verbs of the last minute, this one among them.
    """

    memories: tuple[int, int]
    bytes: tuple[int, int]
    writes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Limits of each principal, over its own shelf and those of its agents; None for no limit.

    What is over a limit already can be read, shortened and deleted; only more is refused.

    Attributes:
        memories: Most memories.
        bytes: Most bytes of bodies, in UTF-8, and of pictures. The history is not counted.
        writes_per_minute: Most verbs that write, in any span of sixty seconds.
    """

    memories: int | None = None
    bytes: int | None = None
    writes_per_minute: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (type(value) is not int or value < 1):
                raise InvalidInput(
                    f"{field.name} must be a whole number above 0, or None.",
                    field=field.name,
                    suggestion="Leave it out for no limit.",
                )


def check_quota(quota: Quota, usage: Usage) -> None:
    """Refuse a write that went over a limit.

    Raises:
        QuotaExceeded: It did; the transaction must not be committed.
    """
    (memories, more), (size, grown) = usage.memories, usage.bytes
    if quota.memories is not None and more > 0 and memories > quota.memories:
        raise QuotaExceeded(
            "memories",
            limit=quota.memories,
            suggestion="Delete memories that are not needed, or merge some.",
        )
    if quota.bytes is not None and grown > 0 and size > quota.bytes:
        raise QuotaExceeded(
            "bytes", limit=quota.bytes, suggestion="Shorten or delete some memories."
        )
    if quota.writes_per_minute is not None and usage.writes > quota.writes_per_minute:
        raise QuotaExceeded(
            "writes per minute",
            limit=quota.writes_per_minute,
            suggestion="Wait a minute, or write several changes as one.",
        )
