"""What the store asks of a database, whichever engine it is: connections and transactions.

A statement runs as text, compiled once, on a held driver connection: a session per call would cost
ten to thirty times the work of the statement itself. The engines themselves are in `engines`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Any, Final, Literal, Protocol

from memories_sdk.encryption import Cipher
from memories_sdk.errors import InvalidInput

Durability = Literal["full", "process"]

IN_MEMORY: Final = ":memory:"


class Cursor(Protocol):
    """What a statement answered."""

    def __iter__(self) -> Iterator[Any]:
        """Return the rows that are left, one at a time."""

    @property
    def lastrowid(self) -> int | None:
        """The key that the engine gave to the row just inserted."""

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""

    # Drivers do not say what stands in a row.
    def fetchone(self) -> Any:  # noqa: ANN401
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""


class Connection(Protocol):
    """A connection for the length of one transaction, such as one of the `sqlite3` module."""

    def execute(self, statement: str, parameters: Mapping[str, object] = ..., /) -> Cursor:
        """Run a statement, named by its text for the embedded engine."""

    def executemany(self, statement: str, parameters: Iterable[Mapping[str, object]], /) -> object:
        """Run a statement once for each of these."""


class Transaction(Protocol):
    """A connection for the length of a `with` block, which the engine's errors leave as ours."""

    def __enter__(self) -> Connection: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Database(ABC):
    """Connections to one database, and the only transactions there are.

    A connection is lent for the length of one transaction, so threads never share one at a time
    and an idle store holds no lock.

    Attributes:
        location: Where it is, without a password.
        timeout: Longest wait for another writer, in seconds.
        cipher: Seals the texts, where the store has a key.
    """

    location: str
    timeout: float
    cipher: Cipher | None = None

    @abstractmethod
    def read(self, *, shelf: str | None = None, snapshot: bool = False) -> Transaction:
        """Lend a connection for reading.

        Args:
            shelf: The only shelf that is read, by its key; None for all.
            snapshot: Whether several statements shall see one state.
        """

    @abstractmethod
    def write(
        self,
        *,
        shelf: str | None = None,
        taken: str = "That name is taken.",
        erasing: bool = False,
        patience: float | None = None,
    ) -> Transaction:
        """Lend a connection inside a write transaction: all of the block is stored, or nothing.

        Writers of one shelf take turns, from the begin to the end of the block.

        Args:
            shelf: The shelf that is written, by its key; None for what belongs to no shelf.
            taken: The message when a unique key refuses a row.
            erasing: Whether to leave nothing of what is removed, as far as the engine can.
            patience: Longest wait for another writer, in seconds; `timeout` when left out.

        Raises:
            NameTaken: A unique key refused a row.
            StoreBusy: Another writer held the lock for the whole wait.
        """

    def to_read(self) -> Database:
        """Return where those read who never write: here, or on a replica."""
        return self

    @abstractmethod
    def copy(self, target: Path) -> None:
        """Copy all of it, at one moment, to a new file, readable by its owner alone."""

    # Empty for an engine on a server, where a connection that is lost takes its locks with it.
    def give_up(self) -> None:  # noqa: B027
        """Release what an interrupted write of this thread still holds.

        An interrupt may come where a block is entered or left, and nobody else would do it then.
        """

    # Empty for an engine on a server, which looks after its own pages.
    def compact(self) -> None:  # noqa: B027
        """Give back the room of what was removed, so that nothing of it stays on the device."""

    def wall(self) -> None:
        """Have the engine itself keep the shelves apart.

        Raises:
            InvalidInput: It cannot.
        """
        raise InvalidInput(
            "Only PostgreSQL has row-level security.",
            suggestion="Give each principal a file of its own instead.",
        )

    def written(self, shelves: Collection[str]) -> set[str]:  # noqa: ARG002
        """Return those of these shelves, by their keys, that may be written at this moment.

        Empty where the writers of all shelves take turns: then changes are numbered in the order
        in which they are committed.
        """
        return set()

    def tell(self, shelf: str | None, event: Event) -> bool:  # noqa: ARG002
        """Have an event set whenever a shelf, or any, changes; tell whether the engine can."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Close all connections; those lent out at the moment close when they come back."""
