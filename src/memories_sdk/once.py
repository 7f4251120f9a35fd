"""A write that happens once, however often it is asked for: the same key, the same result."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import astuple
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, Self, TypeVar, cast

from uuid6 import UUID

from memories_sdk import timeline
from memories_sdk.attachments import AttachmentHead
from memories_sdk.bound import missing_agent
from memories_sdk.database import Connection
from memories_sdk.edits import Edit
from memories_sdk.errors import Conflict, KeyReused, NameTaken
from memories_sdk.fields import checked_type, normal_label
from memories_sdk.history import History
from memories_sdk.hooks import Write
from memories_sdk.ledger import Owner
from memories_sdk.memory import Memory, Saved
from memories_sdk.principals import Agent, denied, scope_key
from memories_sdk.quota import check_quota
from memories_sdk.reader import ScopeReader
from memories_sdk.rows import keyed
from memories_sdk.shelf import Shelf
from memories_sdk.statements import people
from memories_sdk.visit import Change, Visit, persistent

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Once")

Outcome = Mapping[str, Any]
"""What is kept of a result: ids, versions and numbers. Texts stay where a redaction finds them."""


class Call(NamedTuple):
    """A call of a verb under a key."""

    caller: int
    key: str
    request: bytes


class Once(ScopeReader):
    """The way of all writing: one transaction, and with a key one write however often asked for."""

    _once_key: str | None = None

    def once(self, key: str) -> Self:
        """Return this scope for one write that may be asked for again, as after a lost answer.

        The first call of a verb is carried out. The same call under the same key, from any
        process and however much later, writes nothing and gives the first result again: from the
        history, so without what was redacted since, and with the place in the list of today. A
        call that failed was none, and `expected_version` is no part of a call. Keys are the
        caller's own, on each shelf; `prune(before=…)` forgets them.

        Args:
            key: 1 to 200 characters, new for each write, such as `str(uuid4())`.

        Raises:
            KeyReused: By the verb: the key stands for another call.
        """
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), _once_key=normal_label(key, "key"))
        return twin

    def _keeping(self, visit: Visit) -> AbstractContextManager[Shelf]:
        """Return the transaction of a verb; with a key, one that ends when its result is kept."""
        held = _held.get()
        # A guard may write on a shelf of its own while a verb is under way.
        return held.over(visit) if held is not None and held.scope is self else visit

    def _writing(
        self, *, taken: str = "That name is taken.", erasing: bool = False
    ) -> AbstractContextManager[Shelf]:
        writing = self._setting.database.write(shelf=self.key, taken=taken, erasing=erasing)
        plugins = self._setting.plugins
        return self._keeping(Change(writing, self._shelf, plugins, self._check_quota))

    def _check_quota(self, shelf: Shelf) -> None:
        quota = self._setting.quota
        if quota is not None and (
            usage := shelf.usage(self.principal.id, quota.writes_per_minute or 0)
        ):
            check_quota(quota, usage)

    def _admit(self, type: str, texts: Mapping[str, str]) -> None:
        """Ask the guards. They may be slow: not while others wait for the lock."""
        write = Write(self.key, self._actor, type, texts)
        self._setting.plugins.admit(write, checked_type(type, self.vocabularies))

    def _result(self, shelf: Shelf, outcome: Outcome) -> object:
        match outcome:
            case {"seq": seq}:
                return History(shelf.parts(seq))
            case {"count": count}:
                return count
            case {"picture": id}:
                return _picture(shelf, UUID(id))
            case {"id": id, "version": version, "shelf": key}:
                there = shelf if key == self.key else shelf.beside(self._other(key))
                memory = timeline.state_at(there, UUID(id), version)
                return Saved(memory, outcome["created"]) if "created" in outcome else memory
        return None

    def _other(self, key: str) -> Callable[[Connection], Shelf]:
        """Return what opens another shelf in the same transaction, by the caller's right."""

        def opened(connection: Connection) -> Shelf:
            kind, _, number = key.partition(":")
            agent = None
            principal_id = int(number)
            if kind == "agent":
                row = connection.execute(people.AGENT, {"id": int(number)}).fetchone()
                if row is None:
                    raise missing_agent(number)
                agent, principal_id = Agent(*row), row[2]
            if principal_id != self.caller.id:
                member = {"group_id": principal_id, "user_id": self.caller.id}
                if connection.execute(people.ROLE, member).fetchone() is None:
                    raise denied(principal_id)
            owner = Owner(
                key,
                "global" if agent is None else "agent",
                principal_id if agent is None else None,
                None if agent is None else agent.id,
            )
            now = self._setting.now()
            cipher = self._setting.database.cipher
            return Shelf(
                connection, owner, now, actor=self._actor, source=self._source, cipher=cipher
            )

        return opened


def writes(verb: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Mark a verb that writes: on a scope with a key, it is carried out once."""
    signature = inspect.signature(verb)

    @persistent
    @wraps(verb)
    def kept(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._once_key is None:
            return verb(self, *args, **kwargs)
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        digest = _digest(verb.__name__, given.arguments)
        call = Call(self.caller.id, self._once_key, keyed(digest, self._setting.database.cipher))

        def earlier() -> Outcome | None:
            with self._reading() as shelf:
                return _found(shelf, call)

        outcome = earlier()
        if outcome is None:
            try:
                return Held(self, call).carry_out(lambda: verb(self, *args, **kwargs))
            except _Done as done:
                outcome = done.outcome
            except NameTaken:
                # It may be the key that the engine refused: another process was faster.
                if (outcome := earlier()) is None:
                    raise
        with self._reading() as shelf:
            return cast("R", self._result(shelf, outcome))

    return kept


class Held:
    """The transaction of a verb, held open until what the verb returned is stored with it."""

    def __init__(self, scope: Once, call: Call) -> None:
        self.scope = scope
        self._call = call
        self._stack = ExitStack()
        self._shelf: Shelf | None = None

    def carry_out(self, verb: Callable[[], R]) -> R:
        """Let a verb do its work, then store its result and commit."""
        with self._stack:
            before = _held.set(self)
            try:
                result = verb()
            finally:
                _held.reset(before)
            if self._shelf is not None:
                outcome = json.dumps(_outcome(result), separators=(",", ":"))
                self._shelf.keep_operation(*self._call, outcome)
        return result

    @contextmanager
    def over(self, visit: Visit) -> Iterator[Shelf]:
        """Begin the transaction of a verb; it ends with the verb and not with the block."""
        shelf = self._stack.enter_context(visit)
        if (outcome := _found(shelf, self._call)) is not None:
            raise _Done(outcome)
        self._shelf = shelf
        yield shelf


_held: Final[ContextVar[Held | None]] = ContextVar("held", default=None)


class _Done(BaseException):
    """The call was carried out before. No Exception: no verb may take it for a refusal."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


def _found(shelf: Shelf, call: Call) -> Outcome | None:
    row = shelf.operation(call.caller, call.key)
    if row is None:
        return None
    request, outcome = row
    if request != call.request:
        raise KeyReused(call.key)
    found: Outcome = json.loads(outcome)
    return found


def _outcome(result: object) -> Outcome:
    match result:
        case Saved(memory, created):
            return {**_outcome(memory), "created": created}
        case Memory():
            key = scope_key(principal_id=result.principal_id, agent_id=result.agent_id)
            return {"id": result.id.hex, "version": result.version, "shelf": key}
        case AttachmentHead():
            return {"picture": result.id.hex}
        case History():
            return {"seq": result[-1].seq}
        case int():
            return {"count": result}
    return {}


def _picture(shelf: Shelf, id: UUID) -> AttachmentHead:
    for head in shelf.attachments():
        if head.id == id:
            return head
    raise Conflict(
        "This was done before; the picture was removed since.", suggestion="Attach it anew."
    )


def _digest(verb: str, given: Mapping[str, object]) -> bytes:
    """Return the SHA-256 of a call: equal calls have equal ones, in every process."""
    # A precondition is no part of what is written; who grants a call adds the one it was shown.
    passed = {"self", "expected_version"}
    arguments = {name: value for name, value in given.items() if name not in passed}
    try:
        written = json.dumps([verb, arguments], sort_keys=True, default=_plain)
    except (ValueError, TypeError, RecursionError):
        written = verb  # the verb refuses such arguments
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).digest()


def _plain(value: object) -> object:
    if isinstance(value, Edit):
        return astuple(value)
    if isinstance(value, ScopeReader):
        return value.key
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return str(value) if isinstance(value, UUID) else repr(value)
