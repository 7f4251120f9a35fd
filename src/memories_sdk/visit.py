"""Visits a shelf for the length of a `with` block, in one transaction."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from types import TracebackType
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar

from uuid6 import UUID

from memories_sdk.database import Connection, Database, Transaction
from memories_sdk.errors import MemoryOff, StoreBusy, StoreInterrupted
from memories_sdk.hooks import Plugins
from memories_sdk.memory import Vocabulary
from memories_sdk.quota import Quota
from memories_sdk.search.embedding import Insight
from memories_sdk.shelf import Shelf

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Settled")

FIRST_PAUSE: Final = 0.002
LONGEST_PAUSE: Final = 0.25
"""Seconds between two attempts at a write that a server rolled back."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What all scopes of a store share.

    Attributes:
        now: The clock; aware datetimes in UTC.
        new_id: Where ids come from.
        vocabularies: The types that shelves take.
        plugins: Who looks at writes, and who hears of changes.
        narrowed: Whether the vocabularies are fewer than the store's.
        quota: What each principal may keep and write, where that is limited.
        insight: The model that says what texts mean, if there is one.
    """

    database: Database
    now: Callable[[], datetime]
    new_id: Callable[[], UUID]
    vocabularies: tuple[Vocabulary, ...]
    plugins: Plugins
    narrowed: bool = False
    quota: Quota | None = None
    insight: Insight | None = None


class Settled(Protocol):
    """What has a setting."""

    _setting: Setting


def persistent(verb: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Carry out a verb anew, in a new transaction, when a server rolled it back for another's sake.

    For the store's timeout at most. A write whose fate is unknown is never repeated: it might
    happen twice.

    Raises:
        StoreBusy: By the verb: it was rolled back again and again.
    """

    @wraps(verb)
    def carried_out(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        attempts, end = 0, 0.0
        while True:
            try:
                return verb(self, *args, **kwargs)
            except (KeyboardInterrupt, SystemExit):
                self._setting.database.give_up()
                raise
            except StoreInterrupted as error:
                timeout = self._setting.database.timeout
                end = end or time.monotonic() + timeout
                if error.unknown:
                    raise
                if time.monotonic() > end:
                    raise StoreBusy(timeout) from error
            # At random, or two that met once would meet again.
            longest = min(FIRST_PAUSE * 2**attempts, LONGEST_PAUSE)
            time.sleep(random.uniform(0, longest))  # noqa: S311 -- no secret
            attempts = min(attempts + 1, 10)

    return carried_out


class Visit:
    """A shelf for the length of a `with` block, in one transaction."""

    __slots__ = ("_shelf", "_transaction")

    def __init__(self, transaction: Transaction, shelf: Callable[[Connection], Shelf]) -> None:
        self._transaction = transaction
        self._shelf = shelf

    def __enter__(self) -> Shelf:
        connection = self._transaction.__enter__()
        try:
            return self._entered(connection)
        except BaseException as error:
            self._transaction.__exit__(type(error), error, error.__traceback__)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._transaction.__exit__(kind, error, trace)

    def _entered(self, connection: Connection) -> Shelf:
        return self._shelf(connection)


class Change(Visit):
    """A visit that writes, to a shelf that is switched on; listeners hear of it afterwards."""

    __slots__ = ("_check", "_plugins", "_visited")

    def __init__(
        self,
        transaction: Transaction,
        shelf: Callable[[Connection], Shelf],
        plugins: Plugins,
        check: Callable[[Shelf], None],
    ) -> None:
        super().__init__(transaction, shelf)
        self._check = check
        self._plugins = plugins
        self._visited: Shelf | None = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self._visited is not None:
            try:
                self._check(self._visited)
            except BaseException as refused:
                super().__exit__(type(refused), refused, refused.__traceback__)
                raise
        super().__exit__(kind, error, trace)
        if kind is None and self._visited is not None and self._visited.recorded:
            self._plugins.announce(tuple(self._visited.recorded))

    def _entered(self, connection: Connection) -> Shelf:
        shelf = self._shelf(connection)
        if not shelf.begin():
            raise MemoryOff
        if self._plugins.listening:
            shelf.recorded = []
        self._visited = shelf
        return shelf
