"""What stands on the shelves of a measured store, and how it gets there quickly.

Rows are loaded by plain SQL into the schema that the package made. Shelves are filled in turn, one
row each, as they grow in real life: the rows of one shelf are not neighbours in the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from memories_sdk import DOCUMENTS, MemoryStore
from memories_sdk.fields import byte_size, derived_summary
from memories_sdk.ids import Uuid7

PER_SHELF: Final = 50
LONG_SHELVES: Final = (100, 1_000)
"""Sizes of two more shelves, for reorder and for paging."""

AGENT_SHARE: Final = 5
"""Every fifth shelf is an agent's own; the rest are global shelves of users."""

HARD_SHARE: Final = 5

_START: Final = 1_780_000_000_000_000
_TEXTS: Final = 200


class Text(NamedTuple):
    """A body and its derived summary."""

    body: str
    summary: str


class Document(NamedTuple):
    """What a caller knows of one stored memory."""

    shelf: Shelf
    id: bytes
    type: str
    name: str
    text: Text


@dataclass(eq=False)
class Shelf:
    """One shelf: a user's global one, or that of the user's agent."""

    number: int
    agent: bool
    documents: list[Document]

    @property
    def key(self) -> str:
        """The key its rows carry. User n and the agent of user n both have the id n."""
        return f"agent:{self.number}" if self.agent else f"global:{self.number}"


@dataclass(frozen=True)
class Library:
    """All shelves of one store.

    Attributes:
        shelves: Global shelves of `PER_SHELF` rows.
        agents: Agents' own shelves of as many rows.
        long: One global shelf for each of `LONG_SHELVES`, by its size.
    """

    shelves: list[Shelf]
    agents: list[Shelf]
    long: dict[int, Shelf]

    @property
    def all(self) -> list[Shelf]:
        """Every shelf."""
        return [*self.shelves, *self.agents, *self.long.values()]


def text(number: int) -> Text:
    """Return a body of about 1 kB of markdown; the number makes it differ from all others.

    One in `HARD_SHARE` begins with marks that only the whole Markdown parser can read, as about
    one in five of the documents we looked at does: their saves cost more, which the 90th
    percentile shows.
    """
    # Half of the bodies are ASCII, which Python and the engine handle faster.
    who = "Zoë" if number % 2 else "Joe"
    hard = "| what | when |\n|---|---|\n| run | daily |\n\n" if number % HARD_SHARE == 0 else ""
    steps = "\n".join(
        f"{step}. Step {step} of **run {number}** is checked by {who}; [the log](log/{step}.md)."
        for step in range(1, 10)
    )
    body = (
        f"# Release plan {number}\n\n{hard}"
        f"{who} keeps this plan with the *writer* agent. It is read before each run and changed "
        f"after it, so that the next run starts where this one ended.\n\n"
        f"- The steps are those of `make release`, and none is left out.\n- Never on a Friday.\n\n"
        f"{steps}\n\nState: open\n\nAsk before any change that a reader would notice.\n"
    )
    return Text(body, derived_summary(body) or "")


def shelved(rows: int) -> Library:
    """Return a library of `rows` memories on shelves of fifty, and the long shelves beside."""
    count = rows // PER_SHELF
    numbers = iter(range(1, count + len(LONG_SHELVES) + 1))
    texts = [text(number) for number in range(_TEXTS)]
    new_id = Uuid7()
    shelves = [
        Shelf(number, agent=number % AGENT_SHARE == 0, documents=[])
        for number in (next(numbers) for _ in range(count))
    ]
    long = {size: Shelf(next(numbers), agent=False, documents=[]) for size in LONG_SHELVES}
    sizes = dict.fromkeys(shelves, PER_SHELF) | {shelf: size for size, shelf in long.items()}
    for place in range(max(sizes.values())):
        for shelf in (shelf for shelf, size in sizes.items() if place < size):
            kind = DOCUMENTS.types[place % len(DOCUMENTS.types)]
            chosen = texts[(place * 7 + shelf.number) % _TEXTS]
            shelf.documents.append(
                Document(shelf, new_id().bytes, kind, f"release plan {place:04}", chosen)
            )
    return Library(
        [shelf for shelf in shelves if not shelf.agent],
        [shelf for shelf in shelves if shelf.agent],
        long,
    )


def load(library: Library, file: Path) -> None:
    """Make the file with the package's schema and all memories, each with one revision."""
    MemoryStore(file).close()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("BEGIN")
        numbers = [(shelf.number, f"user-{shelf.number}", _START) for shelf in library.all]
        connection.executemany("INSERT INTO principals VALUES (?, 'user', ?, ?)", numbers)
        agents = [(number, number, f"agent-{number}", at) for number, _, at in numbers]
        connection.executemany("INSERT INTO agents VALUES (?, ?, ?, ?)", agents)
        documents = list(in_turn(library))
        connection.executemany(
            "INSERT INTO memories (id, scope_key, scope, principal_id, agent_id, type, name,"
            " summary, summary_derived, tags, pinned, position, version, size, created_at,"
            " updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, '[]', 0, ?, 1, ?, ?, ?)",
            (_head(place, document) for place, document in documents),
        )
        connection.executemany(
            "INSERT INTO memory_bodies (content, sha256) VALUES (?, zeroblob(32))",
            ((document.text.body,) for _, document in documents),
        )
        connection.executemany(
            "INSERT INTO memory_revisions (memory_id, scope_key, action, actor, at, version, type,"
            " name, seal) VALUES (?, ?, 'create', 'user:loader', ?, 1, ?, ?, zeroblob(32))",
            ((each.id, each.shelf.key, _START, each.type, each.name) for _, each in documents),
        )
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def in_turn(library: Library) -> Iterator[tuple[int, Document]]:
    """Yield each document with its place on its shelf, one of each shelf at a time."""
    shelves = library.all
    for place in range(max(LONG_SHELVES)):
        for shelf in shelves:
            if place < len(shelf.documents):
                yield place + 1, shelf.documents[place]


def _head(place: int, document: Document) -> tuple[object, ...]:
    shelf = document.shelf
    owner = (None, shelf.number) if shelf.agent else (shelf.number, None)
    size = byte_size(document.text.body)
    return (
        document.id,
        shelf.key,
        "agent" if shelf.agent else "global",
        *owner,
        document.type,
        document.name,
        document.text.summary,
        place,
        size,
        _START,
        _START,
    )
