"""The two sides of a shelf as protocols: what a host injects where only one of them is needed.

Both are those of a `Scope`; a `ScopeReader` is the reading one alone. A host may pass its own, a
fake in a test among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from uuid6 import UUID

from memories_sdk.edits import Edit
from memories_sdk.guards import Concern
from memories_sdk.history import History
from memories_sdk.memory import UNSET, Derived, Memory, Page, Saved, Unset, Vocabulary
from memories_sdk.pages import MAX_PAGE, Bodies, Recent
from memories_sdk.reader import MIN_RELEVANCE
from memories_sdk.scope import Unknown
from memories_sdk.search.hits import Hits
from memories_sdk.search.recall import Recall
from memories_sdk.watch import PAUSE, Watch


class MemoryReader(Protocol):
    """The verbs that read a shelf, as `ScopeReader` explains them."""

    @property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """The types this shelf takes, in the order in which they are offered."""
        ...

    @property
    def enabled(self) -> bool:
        """Whether memory is switched on here. Off, every write raises `MemoryOff`."""
        ...

    def list(self, *, type: str | None = None, limit: int = 50, cursor: str | None = None) -> Page:
        """Return one page of heads, by order, then name (by code point), then id."""
        ...

    def read(
        self, *, type: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Bodies:
        """Return one page as `list` does, of memories with their bodies."""
        ...

    def counts(self) -> dict[str, int]:
        """Return how many memories there are of each type, in the order of the vocabularies."""
        ...

    def recent(
        self, *, type: str | None = None, containing: str = "", limit: int = 50, skip: int = 0
    ) -> Recent:
        """Return memories with their bodies, last changed first; moving is no change."""
        ...

    def get(self, name: str, type: str) -> Memory:
        """Return a memory with its body."""
        ...

    def get_by_id(self, id: UUID | str) -> Memory:
        """Return a memory with its body."""
        ...

    def history(
        self,
        name: str | None = None,
        type: str | None = None,
        *,
        id: UUID | str | None = None,
        ids: Sequence[UUID | str] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> History:
        """Return revisions of one memory, of several, or of the whole shelf, newest first."""
        ...

    def deleted(self, *, limit: int = 50) -> History:
        """Return the last revision of each memory that is gone, newest first: see `restore`."""
        ...

    def search(
        self,
        query: str,
        *,
        type: str | None = None,
        tags: Sequence[str] = (),
        limit: int = 20,
        cursor: str | None = None,
    ) -> Hits:
        """Return one page of the memories that match a text, the best first."""
        ...

    def relevant_for_prompt(
        self,
        prompt: str,
        limit: int = 8,
        max_chars: int = 1200,
        *,
        type: str | None = None,
        tags: Sequence[str] = (),
        min_relevance: float = MIN_RELEVANCE,
        max_chars_each: int | None = None,
    ) -> Recall:
        """Return the memories to put before an agent with this prompt."""
        ...

    def changes(self, *, since: int = 0, limit: int = MAX_PAGE) -> History:
        """Return revisions of this shelf with a `seq` above `since`, oldest first."""
        ...

    def watch(self, *, since: int | None = None, pause: float = PAUSE) -> Watch:
        """Return an endless iterator over the changes of this shelf, from any process."""
        ...

    def inspect(
        self,
        type: str,
        *,
        name: str = "",
        content: str = "",
        summary: str = "",
        tags: Sequence[str] = (),
    ) -> Sequence[Concern]:
        """Return what the guards find in these texts, without writing anything."""
        ...


class MemoryWriter(Protocol):
    """The verbs that change memories, as `Scope` explains them.

    What keeps the house stays with whoever has the `Scope`: `adopt`, `prune`, `redact`, `switch`
    and `transfer`, pictures and drafts.
    """

    def save(
        self,
        name: str,
        type: str,
        content: str | Unset = UNSET,
        *,
        summary: str | Derived | Unset | None = UNSET,
        order: int | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        expires_at: datetime | Unset | None = UNSET,
        untrusted: bool | Unset = UNSET,
        expected_version: int | None = None,
        new_order: int | Unset = UNSET,
    ) -> Saved:
        """Create the memory of that name and type, or update it; what is left out stays."""
        ...

    def create(
        self,
        name: str,
        type: str,
        content: str = "",
        *,
        summary: str | Derived | Unset | None = UNSET,
        order: int | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        expires_at: datetime | Unset | None = UNSET,
        untrusted: bool | Unset = UNSET,
    ) -> Memory:
        """Create a memory; the arguments are those of `save`."""
        ...

    def update(
        self,
        id: UUID | str,
        *,
        name: str | Unset = UNSET,
        type: str | Unset = UNSET,
        content: str | Unset = UNSET,
        summary: str | Derived | Unset | None = UNSET,
        order: int | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        expires_at: datetime | Unset | None = UNSET,
        untrusted: bool | Unset = UNSET,
        expected_version: int | None = None,
    ) -> Memory:
        """Change fields of a memory, its name and type among them; what is left out stays."""
        ...

    def replace(
        self,
        name: str,
        type: str,
        *,
        find: str | Unset = UNSET,
        new_text: str | Unset = UNSET,
        edits: Sequence[Edit] | Unset = UNSET,
        expected_version: int | None = None,
    ) -> Memory:
        """Replace a passage that stands exactly once in the body, or several, all or none."""
        ...

    def replace_by_id(
        self,
        id: UUID | str,
        *,
        find: str | Unset = UNSET,
        new_text: str | Unset = UNSET,
        edits: Sequence[Edit] | Unset = UNSET,
        expected_version: int | None = None,
    ) -> Memory:
        """Replace as `replace` does, in the memory with that id."""
        ...

    def delete(self, name: str, type: str, *, expected_version: int | None = None) -> Memory:
        """Delete a memory and return its last state; `restore` brings it back under its id."""
        ...

    def delete_by_id(self, id: UUID | str, *, expected_version: int | None = None) -> Memory:
        """Delete as `delete` does, the memory with that id."""
        ...

    def clear(self, *, type: str | None = None) -> int:
        """Delete all memories of the shelf, or of one type; return how many went."""
        ...

    def move(
        self,
        id: UUID | str,
        *,
        before: UUID | str | None = None,
        after: UUID | str | None = None,
        expected_version: int | None = None,
    ) -> Memory:
        """Put a memory right before or right after another one; the rest keeps its order."""
        ...

    def reorder(self, ids: Sequence[UUID | str], *, unknown: Unknown = "refuse") -> None:
        """Put these memories first, in this order; the rest follows in its old order."""
        ...

    def restore(
        self, id: UUID | str, *, version: int | None = None, expected_version: int | None = None
    ) -> Memory:
        """Bring back a deleted memory under its id, or an earlier version of one that is there."""
        ...

    def undo(self, *, seq: int | None = None) -> History:
        """Take back the last change of this shelf, whoever made it, with all of its parts."""
        ...
