"""This package as it is measured: each verb through `Scope`, one scope for each shelf.

Each verb of a peer takes its arguments and returns the call to time, so that nothing but the call
itself lies between the two readings of the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from bench.shelves import Document, Library, Shelf, Text
from uuid6 import UUID

from memories_sdk import MemoryStore, Scope
from memories_sdk.database import Durability

Call = Callable[[], object]

PAGE: Final = 50
FIND: Final = "State: open"
NEW_TEXT: Final = "State: closed"
TAGS: Final = ("read", "bench")
ACTOR: Final = "user:bench"


class Ours:
    """The package's own store."""

    def __init__(self, file: Path, library: Library, durability: Durability) -> None:
        self._store = MemoryStore(file, durability=durability)
        self._scopes = {shelf.key: self._scope(shelf) for shelf in library.all}

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def get(self, document: Document) -> Call:
        """Read one memory by type and name."""
        return partial(self._of(document).get, document.name, document.type)

    def get_by_id(self, document: Document) -> Call:
        """Read one memory by its id."""
        return partial(self._of(document).get_by_id, UUID(bytes=document.id))

    def list(self, shelf: Shelf) -> Call:
        """Read the first fifty heads of a shelf."""
        return partial(self._scopes[shelf.key].list, limit=PAGE)

    def history(self, shelf: Shelf) -> Call:
        """Read the last fifty revisions of a shelf."""
        return partial(self._scopes[shelf.key].history, limit=PAGE)

    def save_over(self, document: Document, text: Text) -> Call:
        """Overwrite the body of a memory."""
        return partial(self._of(document).save, document.name, document.type, text.body)

    def save_new(self, document: Document, text: Text) -> Call:
        """Add a memory at the end of its shelf."""
        return self.save_over(document, text)

    def update(self, document: Document) -> Call:
        """Give a memory tags."""
        return partial(self._of(document).update, UUID(bytes=document.id), tags=TAGS)

    def replace(self, document: Document) -> Call:
        """Replace a line of the body."""
        scope = self._of(document)
        return partial(scope.replace, document.name, document.type, find=FIND, new_text=NEW_TEXT)

    def move(self, document: Document, anchor: Document) -> Call:
        """Put a memory in front of another."""
        scope = self._of(document)
        return partial(scope.move, UUID(bytes=document.id), before=UUID(bytes=anchor.id))

    def reorder(self, documents: Sequence[Document]) -> Call:
        """Give a whole shelf another order."""
        ids = [UUID(bytes=document.id) for document in documents]
        return partial(self._of(documents[0]).reorder, ids)

    def delete(self, document: Document) -> Call:
        """Delete a memory."""
        return partial(self._of(document).delete, document.name, document.type)

    def _of(self, document: Document) -> Scope:
        return self._scopes[document.shelf.key]

    def _scope(self, shelf: Shelf) -> Scope:
        user = self._store.principals.get(shelf.number)
        agent = shelf.number if shelf.agent else None
        return self._store.scope(acting_as=user, agent=agent, actor=ACTOR)
