"""LangGraph's `SqliteStore` as it is measured: the verbs that it shares with this package.

It gets the same bodies under the same pragmas. It keeps no history, no order and no ids; its search
answers with whole items, bodies included, newest first.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from pathlib import Path

from bench.ours import PAGE, Call
from bench.raw import connected
from bench.shelves import Document, Library, Shelf, Text, in_turn
from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore

from memories_sdk.database import Durability


def load(library: Library, file: Path) -> None:
    """Make the file with all memories as items."""
    connection = connected(file, "process")
    store = SqliteStore(connection)
    store.setup()
    documents = (document for _, document in in_turn(library))
    while some := list(islice(documents, 1_000)):
        store.batch(
            [PutOp(_namespace(each.shelf), _key(each), _value(each, each.text)) for each in some]
        )
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


class LangGraph:
    """LangGraph's store: a namespace for each shelf, an item for each memory."""

    def __init__(self, file: Path, durability: Durability) -> None:
        self._connection = connected(file, durability)
        self._store = SqliteStore(self._connection)
        self._store.setup()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def get(self, document: Document) -> Call:
        """Read one item."""
        return partial(self._store.get, _namespace(document.shelf), _key(document))

    def list(self, shelf: Shelf) -> Call:
        """Read fifty items of a namespace."""
        return partial(self._store.search, _namespace(shelf), limit=PAGE)

    def save_over(self, document: Document, text: Text) -> Call:
        """Overwrite an item, or add it."""
        namespace, value = _namespace(document.shelf), _value(document, text)
        return partial(self._store.put, namespace, _key(document), value)

    save_new = save_over

    def delete(self, document: Document) -> Call:
        """Delete an item."""
        return partial(self._store.delete, _namespace(document.shelf), _key(document))


def _namespace(shelf: Shelf) -> tuple[str, ...]:
    return ("memories", shelf.key)


def _key(document: Document) -> str:
    return f"{document.type}/{document.name}"


def _value(document: Document, text: Text) -> dict[str, str]:
    return {
        "type": document.type,
        "name": document.name,
        "summary": text.summary,
        "content": text.body,
    }
