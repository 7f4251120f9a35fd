"""The memories of a shelf, in their order, by windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import traitlets

from memories_sdk.memory import MemoryHead
from memories_sdk.widgets._bridge import verb
from memories_sdk.widgets._place import Placed

MAX_WINDOW: Final = 500


@dataclass(frozen=True, slots=True)
class _Heads:
    """The heads of one shelf as they were at one place of the change feed."""

    key: str
    seq: int
    heads: tuple[MemoryHead, ...]


class MemoryList(Placed):
    """The memories of the open shelf: found by search, moved by mouse, touch or key.

    Attributes:
        filter: Only memories of this type; None for all.
        query: Only memories with these words in name, summary or tags. Never saved in a notebook.
        selected: Id of the memory that is open, or None.
    """

    filter = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    query = traitlets.Unicode("")
    selected = traitlets.Unicode(None, allow_none=True).tag(sync=True)

    _heads: _Heads | None = None

    @verb("rows")
    def _rows(self, *, offset: int, limit: int) -> dict[str, object]:
        """Return the rows [offset, offset + limit) of those that match, and how many there are."""
        heads = self._all()
        found = self._matching(heads)
        start = max(0, offset)
        window = found[start : start + max(0, min(limit, MAX_WINDOW))]
        return {
            "offset": start,
            "rows": [row_of(head) for head in window],
            "total": len(found),
            "all": len(heads),
        }

    @verb("ids")
    def _ids(self) -> list[str]:
        """Return the ids of all memories that match, in their order."""
        return [str(head.id) for head in self._matching(self._all())]

    @verb("seek")
    def _seek(self, *, query: str) -> None:
        """Show only memories with these words."""
        self.query = query

    @verb("select")
    def _select(self, *, id: str | None) -> None:
        """Open that memory; None closes the open one."""
        self.selected = id

    @verb("move")
    def _move(self, *, id: str, before: str | None = None, after: str | None = None) -> None:
        """Put a memory next to another one."""
        self.scope.move(id, before=before, after=after)
        self._touched()

    def _all(self) -> tuple[MemoryHead, ...]:
        scope = self.scope
        # Read first: a change during the listing then makes the next look read again.
        seq = self._seq()
        known = self._heads
        if known is None or (known.key, known.seq) != (scope.key, seq):
            heads: list[MemoryHead] = []
            cursor = None
            while True:
                page = scope.list(limit=MAX_WINDOW, cursor=cursor)
                heads += page
                cursor = page.next_cursor
                if cursor is None:
                    break
            known = self._heads = _Heads(scope.key, seq, tuple(heads))
        return known.heads

    def _matching(self, heads: tuple[MemoryHead, ...]) -> tuple[MemoryHead, ...]:
        words = self.query.casefold().split()
        if self.filter is None and not words:
            return heads
        return tuple(
            head
            for head in heads
            if self.filter in (None, head.type) and all(word in _text(head) for word in words)
        )


def row_of(head: MemoryHead) -> dict[str, object]:
    """Return what a row shows."""
    return {
        "id": str(head.id),
        "name": head.name,
        "type": head.type,
        "summary": head.summary or "",
        "tags": list(head.tags),
        "pinned": head.pinned,
        "updated": head.updated_at.isoformat(),
        "version": head.version,
    }


def _text(head: MemoryHead) -> str:
    return " ".join((head.name, head.summary or "", *head.tags)).casefold()
