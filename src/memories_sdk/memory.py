"""What a memory is: plain values, and the closed sets of types with their limits.

What makes a memory valid stands in `fields`, how its body is edited in `edits`. None of the three
knows a database, a notebook or a network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from typing import Final, Literal, overload

from uuid6 import UUID

from memories_sdk import display, facts
from memories_sdk.principals import ScopeKind

MAX_NAME: Final = 200
MAX_SUMMARY: Final = 500
DERIVED_SUMMARY: Final = 200
MAX_TAGS: Final = 32
MAX_TAG: Final = 64
MAX_BODY_BYTES: Final = 1 << 20
MAX_ORDER: Final = 2**53 - 1
"""Largest order a JavaScript number holds exactly; the smallest is its negative."""

UNTRUSTED: Final = "(untrusted)"
"""What stands before a memory that a reader does not trust, wherever an agent reads it."""

SHOWN_NAMES: Final = 5


class Unset(Enum):
    """Marks an argument that was not given, so that None stays a value."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


class Derived(Enum):
    """Asks for a summary derived from the body, now and at each later change of the body."""

    DERIVED = "derived"

    def __repr__(self) -> str:
        return "DERIVED"


UNSET: Final = Unset.UNSET
DERIVED: Final = Derived.DERIVED


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A closed set of memory types, fixed in code, with the limits of their memories.

    Attributes:
        name: What the set is called.
        labels: Type to plural label, in the order in which types are offered.
        max_body: Largest body, in `unit`.
        unit: "bytes" (of UTF-8) or "characters".
        max_name: Longest name, in characters.
        spell_name: How a name is written, where it is more than NFC without blanks around it.
        spell_tags: The same for a list of tags.
        guarded: Whether a secret that a guard sees in a text is refused, and not only reported.
    """

    name: str
    labels: Mapping[str, str]
    max_body: int = MAX_BODY_BYTES
    unit: Literal["bytes", "characters"] = "bytes"
    max_name: int = MAX_NAME
    spell_name: Callable[[str], str] | None = None
    spell_tags: Callable[[Sequence[str]], Sequence[str]] | None = None
    guarded: bool = False

    @property
    def types(self) -> tuple[str, ...]:
        """The types in their declared order."""
        return tuple(self.labels)


DOCUMENTS: Final = Vocabulary(
    "documents",
    {"plan": "Plans", "documentation": "Docs", "examples": "Examples", "context": "Context"},
)
FACTS: Final = Vocabulary(
    "facts",
    {
        "preference": "Preferences",
        "constraint": "Constraints",
        "fact": "Facts",
        "workflow": "Workflows",
    },
    max_body=1_000,
    unit="characters",
    max_name=120,
    spell_name=facts.readable_key,
    spell_tags=facts.readable_tags,
    guarded=True,
)


@dataclass(frozen=True, slots=True)
class MemoryHead:
    """A memory without its body: what a list shows.

    Attributes:
        summary: One line, or None (or an empty text) when somebody wanted none.
        summary_derived: Whether the summary follows the body by itself.
        order: Place in its shelf; equal places are told apart by name, then id.
        version: 1 at first, one more with each change. Moving is not a change.
        size: Length of the body in bytes of UTF-8.
        created_at: UTC, to the microsecond; so are `updated_at` and `expires_at`.
        untrusted: Whether a reader marked it: agents then get it with a label, as quoted matter.
    """

    id: UUID
    scope: ScopeKind
    principal_id: int | None
    agent_id: int | None
    type: str
    name: str
    summary: str | None
    summary_derived: bool
    tags: tuple[str, ...]
    pinned: bool
    order: int
    version: int
    size: int
    expires_at: datetime | None
    created_at: datetime
    updated_at: datetime
    untrusted: bool

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} ({self.type}) v{self.version}>"

    def __str__(self) -> str:
        label = f"{UNTRUSTED} " if self.untrusted else ""
        return f"{label}[{self.name}] [{self.type}]" + (
            f" — {self.summary}" if self.summary else ""
        )


@dataclass(frozen=True, slots=True, repr=False)
class Memory(MemoryHead):
    """A named markdown document with a type, in one scope. A frozen value, read at one moment."""

    content: str

    def _repr_html_(self) -> str:
        return display.memory(self)


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save did: the memory as stored, and whether it is a new one."""

    memory: Memory
    created: bool


class Page(Sequence[MemoryHead]):
    """One page of a list, in list order: order, then name, then id.

    Attributes:
        total: How many memories match, on all pages.
        next_cursor: What to pass as `cursor` for the page after this, or None on the last.
    """

    __slots__ = ("_heads", "next_cursor", "total")

    def __init__(
        self, heads: Iterable[MemoryHead], *, total: int, next_cursor: str | None = None
    ) -> None:
        self._heads = tuple(heads)
        self.total = total
        self.next_cursor = next_cursor

    @overload
    def __getitem__(self, index: int) -> MemoryHead: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[MemoryHead, ...]: ...
    def __getitem__(self, index: int | slice) -> MemoryHead | tuple[MemoryHead, ...]:
        return self._heads[index]

    def __len__(self) -> int:
        return len(self._heads)

    def __iter__(self) -> Iterator[MemoryHead]:
        return iter(self._heads)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Page):
            return NotImplemented
        mine = (self._heads, self.total, self.next_cursor)
        return mine == (other._heads, other.total, other.next_cursor)

    def __hash__(self) -> int:
        return hash((self._heads, self.total, self.next_cursor))

    def __repr__(self) -> str:
        names = ", ".join(head.name for head in self._heads[:SHOWN_NAMES])
        more = ", …" if len(self._heads) > SHOWN_NAMES else ""
        return f"<Page {len(self)} of {self.total}: {names}{more}>"

    def _repr_html_(self) -> str:
        return display.page(self)


def head_of(memory: MemoryHead) -> MemoryHead:
    """Return the memory without its body."""
    return MemoryHead(*(getattr(memory, field.name) for field in fields(MemoryHead)))
