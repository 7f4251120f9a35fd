"""ScopeReader: the reading half of a shelf, bound to who acts."""

from __future__ import annotations

import base64
import binascii
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from uuid6 import UUID

from memories_sdk import display
from memories_sdk import statements as sql
from memories_sdk.database import Database
from memories_sdk.errors import InvalidInput, NotFound
from memories_sdk.history import History
from memories_sdk.memory import (
    Memory,
    MemoryHead,
    Page,
    Vocabulary,
    checked_order,
    checked_type,
    normal_name,
)
from memories_sdk.principals import Agent, Principal, ScopeKind, denied, scope_key
from memories_sdk.shelf import Owner, Place, Shelf, Stored
from memories_sdk.watch import PAUSE, Watch

MAX_PAGE: Final = 500
DIGITS: Final = re.compile(r"[0-9]{1,18}\Z")


@dataclass(frozen=True, slots=True)
class Setting:
    """What all scopes of a store share.

    Attributes:
        now: The clock; aware datetimes in UTC.
        new_id: Where ids come from.
        vocabularies: The types that shelves take.
    """

    database: Database
    now: Callable[[], datetime]
    new_id: Callable[[], UUID]
    vocabularies: tuple[Vocabulary, ...]


class ScopeReader:
    """The reading half of a shelf. Made by `store.scope(…)` and `Scope.read_only()`.

    Attributes:
        caller: Who acts.
        principal: As whom: the caller itself or one of its groups.
        agent: Whose own shelf it is, or None for the principal's global shelf.
        kind: `"agent"` for an agent's own shelf, else `"global"`.
        key: `global:<principal>` or `agent:<agent>`.
    """

    def __init__(
        self,
        setting: Setting,
        *,
        caller: Principal,
        principal: Principal,
        agent: Agent | None,
        actor: str,
        source: str | None,
    ) -> None:
        self._setting = setting
        self._actor = actor
        self._source = source
        self.caller = caller
        self.principal = principal
        self.agent = agent
        self.kind: ScopeKind = "global" if agent is None else "agent"
        self.key = (
            scope_key(principal_id=principal.id) if agent is None else scope_key(agent_id=agent.id)
        )
        # The caller's own global shelf cannot be taken away; any other is checked at each call.
        self._shared = agent is not None or principal != caller

    @property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """The types this shelf takes, in the order in which they are offered."""
        return self._setting.vocabularies

    def __repr__(self) -> str:
        shelf = self.agent or self.principal
        return f"<{type(self).__name__} {shelf} acting as {self.caller}>"

    def _repr_html_(self) -> str:
        return display.scope(self)

    def list(self, *, type: str | None = None, limit: int = 50, cursor: str | None = None) -> Page:
        """Return one page of heads, by order, then name (by code point), then id.

        Bodies are not read. Following the cursors gives each memory once, also when others are
        added meanwhile; one that is moved meanwhile may be met twice or not at all.

        Args:
            type: Only this type; None for all.
            limit: 1 to 500.
            cursor: `next_cursor` of the page before.

        Raises:
            UnknownType: The type is not one of this shelf's.
            InvalidInput: The limit is out of range, or the cursor is not one of ours.
        """
        types = self._types(type)
        _check_limit(limit)
        after = None if cursor is None else _place(cursor)
        with self._reading() as shelf:
            heads = shelf.heads(types, limit + 1, after)
            if cursor is None and len(heads) <= limit:
                return Page(heads, total=len(heads))
            total = sum(shelf.counts(types).values())
        more = len(heads) > limit
        heads = heads[:limit]
        return Page(heads, total=total, next_cursor=_cursor(heads[-1]) if more else None)

    def counts(self) -> dict[str, int]:
        """Return how many memories there are of each type, in the order of the vocabularies."""
        types = self._types(None)
        with self._reading() as shelf:
            found = shelf.counts(types)
        return {each: found.get(each, 0) for each in types}

    def get(self, name: str, type: str) -> Memory:
        """Return a memory with its body.

        Raises:
            NotFound: There is none of that name and type here.
        """
        name = self._name(name, type)
        with self._reading() as shelf:
            return self._there(shelf, name, type).memory

    def get_by_id(self, id: UUID | str) -> Memory:
        """Return a memory with its body.

        Raises:
            NotFound: It is not on this shelf; a foreign one looks like an unknown one.
        """
        with self._reading() as shelf:
            return self._with_id(shelf, id).memory

    def history(
        self,
        name: str | None = None,
        type: str | None = None,
        *,
        id: UUID | str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> History:
        """Return revisions of one memory, or of the whole shelf, newest first.

        Args:
            name: With `type`, the memory that has the name now, else the one that had it last;
                leave both and `id` out for the whole shelf.
            type: See `name`.
            id: The memory, deleted or not.
            limit: 1 to 500.
            cursor: `next_cursor` of the page before.

        Raises:
            NotFound: No memory of that name and type was ever here.
        """
        _check_limit(limit)
        before = None if cursor is None else _seq(cursor)
        memory_id = None if id is None else parsed_id(id)
        if memory_id is None and name is not None:
            name = self._name(name, type or "")
        with self._reading() as shelf:
            if memory_id is None and name is not None:
                memory_id = self._had_name(shelf, name, type or "")
            found = shelf.history(memory_id, limit + 1, before)
        more = len(found) > limit
        found = found[:limit]
        return History(found, next_cursor=str(found[-1].seq) if more else None)

    def deleted(self, *, limit: int = 50) -> History:
        """Return the last revision of each memory that is gone, newest first: see `restore`."""
        _check_limit(limit)
        with self._reading() as shelf:
            return History(shelf.deleted(limit))

    def changes(self, *, since: int = 0, limit: int = MAX_PAGE) -> History:
        """Return revisions of this shelf with a `seq` above `since`, oldest first.

        Pass the last `seq` seen to go on. An empty answer means that nothing changed.

        Raises:
            InvalidInput: The limit is out of range, or `since` is no `seq`.
        """
        _check_limit(limit)
        if type(since) is not int or not 0 <= since <= sql.LAST_SEQ:
            raise InvalidInput(
                "since must be a seq, or 0 for the beginning.",
                field="since",
                suggestion="Pass the last seq that you saw.",
            )
        with self._reading() as shelf:
            return History(shelf.changes(since, limit))

    def watch(self, *, since: int | None = None, pause: float = PAUSE) -> Watch:
        """Return an endless iterator over the changes of this shelf, from any process.

        Args:
            since: The last `seq` that is known; None for only what comes from now on.
            pause: Seconds between two looks; a change is seen within that time.
        """
        if since is None:
            last = self.history(limit=1)
            since = last[0].seq if last else 0
        return Watch(lambda seq: self.changes(since=seq), since, pause)

    @contextmanager
    def _reading(self) -> Iterator[Shelf]:
        with self._setting.database.read(snapshot=self._shared) as connection:
            yield self._shelf(connection)

    def _shelf(self, connection: sqlite3.Connection) -> Shelf:
        """Return the shelf, unless it was taken away from the caller since the scope was made."""
        if self.principal != self.caller:
            member = {"group_id": self.principal.id, "user_id": self.caller.id}
            if connection.execute(sql.ROLE, member).fetchone() is None:
                raise denied(self.principal.id)
        if self.agent is not None:
            owner = connection.execute(sql.AGENT, {"id": self.agent.id}).fetchone()
            if owner is None or owner[2] != self.principal.id:
                raise missing_agent(self.agent.name)
        owner = Owner(
            self.key,
            self.kind,
            self.principal.id if self.agent is None else None,
            None if self.agent is None else self.agent.id,
        )
        return Shelf(connection, owner, self._setting.now(), actor=self._actor, source=self._source)

    def _types(self, type: str | None) -> tuple[str, ...]:
        if type is not None:
            checked_type(type, self.vocabularies)
            return (type,)
        return tuple(each for vocabulary in self.vocabularies for each in vocabulary.types)

    def _name(self, name: str, type: str) -> str:
        return normal_name(name, checked_type(type, self.vocabularies))

    def _there(self, shelf: Shelf, name: str, type: str) -> Stored:
        if (stored := shelf.find(name, type)) is None:
            raise self._missing(name, type)
        return stored

    def _with_id(self, shelf: Shelf, id: UUID | str) -> Stored:
        stored = shelf.find_id(parsed_id(id))
        if stored is None or stored.memory.type not in self._types(None):
            raise unknown_id()
        return stored

    def _had_name(self, shelf: Shelf, name: str, type: str) -> UUID:
        if (stored := shelf.find(name, type)) is not None:
            return stored.memory.id
        if (id := shelf.last_named(name, type)) is None:
            raise self._missing(name, type)
        return id

    def _missing(self, name: str, type: str) -> NotFound:
        return NotFound(
            f"Memory [{name}] (type={type}) not found in {self.kind} scope.",
            suggestion="list() shows what is on this shelf.",
        )


def parsed_id(value: UUID | str) -> UUID:
    """Return the id.

    Raises:
        NotFound: It is no id at all, so nothing can have it.
    """
    if isinstance(value, UUID):
        return value
    try:
        return UUID(str(value))
    except ValueError:
        raise unknown_id() from None


def unknown_id() -> NotFound:
    """Return the one refusal for an id that is foreign or does not exist."""
    return NotFound("Memory not found.", suggestion="list() shows what is on this shelf.")


def missing_agent(name: str) -> NotFound:
    """Return the one refusal for an agent that is foreign or does not exist."""
    return NotFound(
        f"Agent {name!r} not found.",
        suggestion="store.agents.owned_by(principal) lists the agents of a principal.",
    )


def _check_limit(limit: int) -> None:
    if type(limit) is not int or not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(
            f"limit must lie between 1 and {MAX_PAGE}.",
            field="limit",
            suggestion="Follow next_cursor for more.",
        )


def _cursor(head: MemoryHead) -> str:
    place = json.dumps([head.order, head.name, head.id.hex], ensure_ascii=False)
    return base64.urlsafe_b64encode(place.encode()).decode()


def _place(cursor: str) -> Place:
    try:
        order, name, id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        name.encode()  # a lone surrogate would fail in the engine
        return checked_order(order), name, UUID(id).bytes
    except (ValueError, TypeError, AttributeError, binascii.Error):
        pass
    raise _foreign_cursor()


def _seq(cursor: str) -> int:
    if not DIGITS.match(str(cursor)):
        raise _foreign_cursor()
    return int(cursor)


def _foreign_cursor() -> InvalidInput:
    return InvalidInput(
        "cursor is not one of this list.",
        field="cursor",
        suggestion="Pass next_cursor of the page before, unchanged.",
    )
