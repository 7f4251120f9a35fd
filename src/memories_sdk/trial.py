"""Shelves on which a call is tried before it is asked for, and carried out once it is granted.

A trial runs the very call, keeps what it would do, and stores nothing of it. A grant runs it
again and stores it only if it does just that, in one transaction with the decision.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final, NamedTuple

from memories_sdk.database import Connection
from memories_sdk.history import Revision
from memories_sdk.memory import Memory
from memories_sdk.scope import Scope
from memories_sdk.shelf import Shelf
from memories_sdk.visit import Change

NOTHING: Final = ""
"""The effect of a call that changes nothing."""


class Outcome(NamedTuple):
    """What a call does to one memory.

    Attributes:
        after: The memory then; None when it is gone.
    """

    revision: Revision
    after: Memory | None


class Trial(Scope):
    """A shelf on which a verb is refused as ever, or else does everything but stay.

    Attributes:
        outcomes: What the verb did, memory by memory.
    """

    outcomes: tuple[Outcome, ...] = ()

    @property
    def effect(self) -> str:
        """A digest of what the verb did, to be compared with what it does later."""
        return _effect([outcome.revision for outcome in self.outcomes])

    def _writing(self, *, taken: str = "That name is taken.", erasing: bool = False) -> Change:
        writing = self._setting.database.write(shelf=self.key, taken=taken, erasing=erasing)
        return _Tried(writing, self._shelf, self._setting.plugins, self._keep)

    def _keep(self, shelf: Shelf) -> None:
        self._check_quota(shelf)
        self.outcomes = tuple(
            Outcome(each, _after(shelf, each)) for each in _told(shelf.recorded or ())
        )


class Granted(Scope):
    """A shelf on which one verb is carried out, if it does what the person was shown.

    Attributes:
        done: Whether the verb was carried out, and the decision with it.
    """

    done: bool = False
    _effect: str = NOTHING
    _decide: Callable[[Connection], None]

    def bind(self, effect: str, decide: Callable[[Connection], None]) -> None:
        """Say what was shown, and how the decision is written down.

        `decide` is called inside the verb's own transaction; it raises to stop it.
        """
        self._effect = effect
        self._decide = decide

    def _writing(
        self, *, taken: str = "That name is taken.", erasing: bool = False
    ) -> AbstractContextManager[Shelf]:
        writing = self._setting.database.write(shelf=self.key, taken=taken, erasing=erasing)
        plugins = self._setting.plugins
        return self._keeping(_Recording(writing, self._entered, plugins, self._check))

    def _entered(self, connection: Connection) -> Shelf:
        shelf = self._shelf(connection)
        self._decide(connection)
        return shelf

    def _check(self, shelf: Shelf) -> None:
        self._check_quota(shelf)
        done = _told(shelf.recorded or ())
        if _effect(done) != self._effect:
            raise ChangedSince(done[0] if len(done) == 1 else None)
        self.done = True


class ChangedSince(Exception):
    """A granted call would do something else than what was shown.

    Attributes:
        revision: What it would do, when it is one thing.
    """

    def __init__(self, revision: Revision | None) -> None:
        super().__init__()
        self.revision = revision


class _Recording(Change):
    """A change whose revisions can be looked at before its transaction ends."""

    __slots__ = ()

    def _entered(self, connection: Connection) -> Shelf:
        shelf = super()._entered(connection)
        shelf.recorded = []
        return shelf


class _Tried(_Recording):
    """A change that is always taken back."""

    __slots__ = ()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        end = error or _TakenBack()
        try:
            if error is None and self._visited is not None:
                self._check(self._visited)
        except BaseException as refused:
            end = refused
            raise
        finally:
            self._transaction.__exit__(type(end), end, end.__traceback__)


class _TakenBack(Exception):
    """What a transaction sees of a trial that went well: an error that rolls it back."""


def _after(shelf: Shelf, revision: Revision) -> Memory | None:
    if revision.memory_id is None or (stored := shelf.find_id(revision.memory_id)) is None:
        return None
    return stored.memory


def _told(revisions: Sequence[Revision]) -> list[Revision]:
    """Return what a person is told of: not that an expired memory made room."""
    return [each for each in revisions if each.action != "expire"]


def _effect(revisions: Sequence[Revision]) -> str:
    """Return a digest of which memories, at which versions, are changed how.

    A new memory's id is made at random and stands for nothing.
    """
    if not revisions:
        return NOTHING
    parts = [
        [
            each.action,
            each.memory_id.hex if each.memory_id and each.action != "create" else "",
            each.version,
        ]
        for each in revisions
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
