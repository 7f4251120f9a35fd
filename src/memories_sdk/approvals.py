"""Calls that a person must agree to: which they are, and the requests that wait.

A request is stored, so it outlives the program that made it. It shows what the call would do, and
is bound to it: granted, the call is carried out once, or refused when the memory changed since.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar

from uuid6 import UUID

from memories_sdk import document_tools
from memories_sdk.arguments import Arguments
from memories_sdk.bound import parsed_id
from memories_sdk.database import Connection
from memories_sdk.document_tools import ALL_OPERATIONS, TOOLS, describe
from memories_sdk.errors import (
    Conflict,
    EditConflict,
    InvalidInput,
    NotFound,
)
from memories_sdk.fact_tools import FACT_TOOLS
from memories_sdk.history import Revision
from memories_sdk.memory import DOCUMENTS, FACTS, Memory, Vocabulary
from memories_sdk.principals import Agent, Principal
from memories_sdk.results import Answer, Approval, ApprovalState, Card, ToolResult, place
from memories_sdk.rows import (
    Request,
    Row,
    from_time,
    keyed,
    sealed_part,
    to_request,
)
from memories_sdk.scope import Scope
from memories_sdk.statements import approvals as sql
from memories_sdk.tables import REQUEST_TEXTS
from memories_sdk.trial import ChangedSince, Granted, Trial
from memories_sdk.visit import Setting, persistent
from memories_sdk.watch import PAUSE

MAX_LISTED: Final = 500

_FACT_OPERATIONS: Final = {tool: tool.removesuffix("_memory") for tool in FACT_TOOLS}
_READS: Final = frozenset({"list", "get"})


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """Which calls a person must agree to, by tool and operation.

    ```python
    ApprovalPolicy()                                        # delete and clear
    ApprovalPolicy({"memory": ["delete", "replace"]})       # the other tools as ever
    ApprovalPolicy({"remember_memory": ["remember"]})
    ```

    Attributes:
        operations: The operations that need it, by tool; a tool that is not named keeps the
            default. The operation of a fact tool is its name without `_memory`.
        lasts: How long a request waits.

    Raises:
        InvalidInput: There is no tool, or no operation, of that name.
    """

    operations: Mapping[str, Collection[str]] = field(default_factory=dict, hash=False)
    lasts: timedelta = timedelta(days=7)

    def __post_init__(self) -> None:
        for tool, operations in self.operations.items():
            known = (_FACT_OPERATIONS[tool],) if tool in FACT_TOOLS else tuple(ALL_OPERATIONS)
            if tool not in {**TOOLS, **FACT_TOOLS} or not set(operations) <= set(known):
                raise InvalidInput(
                    f"There is no such operation of {tool!r}: {', '.join(operations)}.",
                    field="operations",
                    suggestion=f"Tools are {', '.join((*TOOLS, *FACT_TOOLS))}.",
                )
        if self.lasts <= timedelta(0):
            raise InvalidInput("lasts must be more than nothing.", field="lasts", suggestion="")
        whole = {tool: frozenset(chosen) for tool, chosen in self.operations.items()}
        object.__setattr__(self, "operations", MappingProxyType(whole))

    def needs(self, tool: str, operation: str) -> bool:
        """Tell whether a person must agree; what nobody declared needs it."""
        if (chosen := self.operations.get(tool)) is not None and (
            operation in ALL_OPERATIONS or operation == _FACT_OPERATIONS.get(tool)
        ):
            return operation in chosen
        if tool in FACT_TOOLS:
            return FACT_TOOLS[tool].needs_approval
        return document_tools.needs_approval_by_default(operation)


DEFAULT: Final = ApprovalPolicy()
STRICT: Final = ApprovalPolicy(dict.fromkeys(TOOLS, ("replace", "delete")))
"""Asks for each replace of a document too."""


def operation_of(tool: str, given: Arguments) -> str:
    """Return what a call wants to do, in the words of `ApprovalPolicy`."""
    return _FACT_OPERATIONS.get(tool) or given.text("action") or "list"


def run(tool: str, scope: Scope, given: Arguments) -> Answer:
    """Carry out a call on a shelf. Nothing is asked here."""
    if (fact := FACT_TOOLS.get(tool)) is not None:
        return fact.run(scope, given)
    return document_tools.RUN[operation_of(tool, given)](scope, given)


def ask_in_terminal(approval: Approval) -> bool:
    """Show a request in the terminal and return whether the person agrees: `ask=` for scripts."""
    return input(f"{approval}\n\nAgree? [y/N] ").strip().casefold() in {"y", "yes"}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, and on whose behalf it is made.

    Attributes:
        agent_id: The agent that calls, if it is one.
        actor: Who the history names; the caller when None.
        source: Where changes come from, for the history.
        operation: The host's key of this call, under which it writes once.
    """

    tool: str
    given: Arguments
    caller: Principal
    principal: Principal
    agent_id: int | None = None
    actor: str | None = None
    source: str | None = None
    operation: str | None = None

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return operation_of(self.tool, self.given) in _READS

    def digest(self, shelf: str) -> str:
        """Return what tells this call from every other one on a shelf."""
        who = self.actor or str(self.caller)
        parts = [shelf, who, self.tool, self.given.values]
        return hashlib.sha256(_json(parts).encode()).hexdigest()


AnyScope = TypeVar("AnyScope", bound=Scope)


class Bind(Protocol):
    """Returns a shelf of some kind, with all the checks of `store.scope`."""

    def __call__(
        self,
        kind: type[AnyScope],
        *,
        acting_as: Principal,
        principal: Principal | None,
        agent: Agent | str | int | None,
        vocabularies: tuple[Vocabulary, ...],
        actor: str | None,
        source: str | None,
    ) -> AnyScope:
        """Return it."""
        ...


class Approvals:
    """The calls that wait for a person: `store.approvals`.

    Who may act as a principal may decide what its agents ask for.
    """

    def __init__(
        self,
        setting: Setting,
        *,
        bind: Bind,
        known: Callable[[Principal], Principal],
        principal: Callable[[int], Principal],
    ) -> None:
        self._database = setting.database
        self._setting = setting
        self._bind = bind
        self._known = known
        self._principal = principal

    def list(
        self, *, acting_as: Principal, waiting: bool = True, limit: int = 50
    ) -> list[Approval]:
        """Return the requests that the caller may decide.

        Args:
            acting_as: The caller.
            waiting: Only those that nobody decided, the oldest first; else all, the newest first.
            limit: 1 to 500.

        Raises:
            InvalidInput: The limit is out of range.
        """
        if type(limit) is not int or not 0 < limit <= MAX_LISTED:
            raise InvalidInput(
                f"limit must be 1 to {MAX_LISTED}.", field="limit", suggestion="limit=50"
            )
        statement = sql.APPROVALS_WAITING if waiting else sql.APPROVALS
        now = self._setting.now()
        theirs = {"caller_id": self._known(acting_as).id, "now": from_time(now), "limit": limit}
        with self._database.read() as connection:
            rows = connection.execute(statement, theirs).fetchall()
        return [self._read(row).approval for row in rows]

    def count(self, *, acting_as: Principal) -> int:
        """Return how many requests wait for the caller, or another one who may decide them."""
        now = from_time(self._setting.now())
        theirs = {"caller_id": self._known(acting_as).id, "now": now}
        with self._database.read() as connection:
            row = connection.execute(sql.COUNT_APPROVALS, theirs).fetchone()
        return int(row[0])

    def get(self, id: UUID | str, *, acting_as: Principal) -> Approval:
        """Return a request, decided or not.

        Raises:
            NotFound: There is none that the caller may decide.
        """
        return self._found(id, acting_as).approval

    def grant(self, id: UUID | str, *, acting_as: Principal) -> ToolResult:
        """Carry out the call, exactly as it was shown, and say what it gave.

        The decision and the change are one transaction: of two people who agree at once, one gets
        `Conflict`, and the call is carried out once.

        Raises:
            NotFound: There is no such request, or its agent is not the principal's any more.
            EditConflict: The memory changed since; the request is stale, nothing was written.
            Conflict: It was decided already, or its time is over.
        """
        found = self._found(id, acting_as)
        call = Call(
            found.approval.tool,
            Arguments(found.approval.arguments),
            caller=acting_as,
            principal=self._principal(found.principal_id),
            agent_id=found.agent_id,
            actor=found.approval.actor,
            source=found.source,
        )
        answer = self._carry_out(found, call)
        return ToolResult(ok=True, text=answer.text, hint=answer.hint, data=answer.data)

    @persistent
    def refuse(self, id: UUID | str, *, acting_as: Principal) -> Approval:
        """Decide that a call is not carried out.

        Raises:
            NotFound: There is no such request.
            Conflict: It was decided already, or its time is over.
        """
        found = self._found(id, acting_as)
        with self._database.write(shelf=found.approval.shelf) as connection:
            self._decide(found, acting_as, "refused", connection)
        return self.get(id, acting_as=acting_as)

    def wait(
        self, id: UUID | str, *, acting_as: Principal, timeout: float | None = None
    ) -> Approval:
        """Wait until a person decides, here or in another process, and return the request.

        Args:
            id: The request.
            acting_as: The caller.
            timeout: Longest wait, in seconds; the request is then returned as it stands.

        Raises:
            NotFound: There is no such request.
        """
        end = None if timeout is None else time.monotonic() + timeout
        pause = threading.Event()
        while (found := self.get(id, acting_as=acting_as)).state == "pending":
            if end is not None and time.monotonic() >= end:
                break
            pause.wait(PAUSE)
        return found

    @persistent
    def ask(self, call: Call, *, lasts: timedelta) -> Approval | Answer:
        """Store a request for a call, or find the one that waits for this very call already.

        A call that would be refused is refused now, and one that would change nothing is carried
        out: nobody is asked about it.
        """
        trial = self._scope(Trial, call)
        if not call.reads:
            answer = run(call.tool, trial, call.given)
            if not trial.outcomes:
                return answer
        now = self._setting.now()
        values = self._request(trial, call, now, lasts)
        due = {"principal_id": call.principal.id, "now": from_time(now)}
        with self._database.write(shelf=trial.key) as connection:
            connection.execute(sql.EXPIRE_APPROVALS, due)
            connection.execute(sql.INSERT_APPROVAL, values)
            waiting = {"waiting": values["waiting"]}
            row = connection.execute(sql.APPROVAL_FOR, waiting).fetchone()
        return self._read(row).approval

    def settle(self, call: Call) -> Answer:
        """Carry out a call that the host's own user agreed to.

        When a request waits for this very call it is granted, bound to what it shows; without one
        the host's word is for the memory as it is.

        Raises:
            Conflict: The request was refused, is stale or has expired: the host must ask again.
        """
        scope = self._scope(Scope, call)
        key = {"call": self._keyed(call.digest(scope.key)), "scope_key": scope.key}
        with self._database.read() as connection:
            row = connection.execute(sql.APPROVAL_OF_CALL, key).fetchone()
        found = None if row is None else self._read(row)
        if found is None or found.approval.state == "granted":
            return run(call.tool, scope, call.given)
        return self._carry_out(found, call)

    def _carry_out(self, found: Request, call: Call) -> Answer:
        if found.approval.state != "pending":
            raise _decided(found.approval)
        try:
            answer = self._run(found, call)
        except EditConflict:
            with self._database.write(shelf=found.approval.shelf) as connection:
                self._decide(found, call.caller, "stale", connection)
            raise
        cipher = self._database.cipher
        said = sealed_part(answer.text, cipher, "answer", found.id.hex())
        told = {"id": found.id, "caller_id": call.caller.id, "new_answer": said}
        with self._database.write(shelf=found.approval.shelf) as connection:
            connection.execute(sql.ANSWER_APPROVAL, told)
        return answer

    def _run(self, found: Request, call: Call) -> Answer:
        decide = partial(self._decide, found, call.caller, "granted")
        if call.reads:
            with self._database.write(shelf=found.approval.shelf) as connection:
                decide(connection)
            return run(call.tool, self._scope(Scope, call), call.given)
        given, version = call.given, found.approval.version
        if version is not None and not given.has("expected_version"):
            # The verb's own refusal shows both changes side by side.
            given = Arguments(given.values | {"expected_version": version})
        scope = self._scope(Granted, call)
        scope.bind(found.effect, decide)
        try:
            answer = run(call.tool, scope, given)
        except NotFound as error:
            raise EditConflict(version or 0, None) from error
        except ChangedSince as error:
            raise EditConflict(version or 0, _present(scope, error.revision)) from error
        if not scope.done:  # a tool that takes "gone already" for an answer
            raise EditConflict(version or 0, None)
        return answer

    def _decide(
        self,
        found: Request,
        caller: Principal,
        state: ApprovalState,
        connection: Connection,
    ) -> None:
        """Write a decision down; the database arbitrates between two."""
        now = from_time(self._setting.now())
        decision = {"id": found.id, "caller_id": caller.id, "now": now}
        decision |= {"new_state": state, "by": str(caller)}
        if connection.execute(sql.DECIDE_APPROVAL, decision).rowcount != 1:
            key = {"id": found.id, "caller_id": caller.id}
            row = connection.execute(sql.APPROVAL, key).fetchone()
            raise (unknown_approval() if row is None else _decided(self._read(row).approval))

    def _found(self, id: UUID | str, caller: Principal) -> Request:
        try:
            key = {"id": parsed_id(id).bytes, "caller_id": self._known(caller).id}
        except NotFound as error:
            raise unknown_approval() from error
        with self._database.read() as connection:
            row = connection.execute(sql.APPROVAL, key).fetchone()
        if row is None:
            raise unknown_approval()
        return self._read(row)

    def _scope(self, kind: type[AnyScope], call: Call) -> AnyScope:
        of_agent = TOOLS.get(call.tool) == "agent"
        scope = self._bind(
            kind,
            acting_as=call.caller,
            principal=call.principal,
            agent=call.agent_id if of_agent else None,
            vocabularies=(DOCUMENTS,) if call.tool in TOOLS else (FACTS,),
            actor=call.actor,
            source=call.source,
        )
        return scope if call.operation is None else scope.once(call.operation)

    def _request(
        self, trial: Trial, call: Call, now: datetime, lasts: timedelta
    ) -> dict[str, object]:
        """Return the columns of a new request."""
        card = _card(trial, call)
        digest = self._keyed(call.digest(trial.key))
        made = [outcome.revision for outcome in trial.outcomes]
        one = made[0] if len(made) == 1 and made[0].action != "clear" else None
        values: dict[str, Any] = {
            "id": self._setting.new_id().bytes,
            "principal_id": call.principal.id,
            "agent_id": call.agent_id,
            "scope_key": trial.key,
            "version": one.version - 1 if one and one.version > 1 else None,
            "tool": call.tool,
            "arguments": _json(call.given.values),
            "description": card.line,
            "preview": card.preview,
            "actor": call.actor or str(call.caller),
            "source": call.source,
            "call": digest,
            "effect": trial.effect,
            "waiting": self._keyed(hashlib.sha256(f"{digest} {trial.effect}".encode()).hexdigest()),
            "state": "pending",
            "created_at": from_time(now),
            "expires_at": from_time(now + lasts),
            "decided_by": None,
            "decided_at": None,
            "answer": None,
        }
        sealed = {
            name: sealed_part(values[name], self._database.cipher, name, values["id"].hex())
            for name in REQUEST_TEXTS
        }
        return values | sealed

    def _read(self, row: Row) -> Request:
        return to_request(row, self._setting.now(), self._database.cipher)

    def _keyed(self, digest: str) -> str:
        return keyed(bytes.fromhex(digest), self._database.cipher).hex()


def _card(trial: Trial, call: Call) -> Card:
    if call.tool in FACT_TOOLS and (card := FACT_TOOLS[call.tool].card) is not None:
        return card(trial, call.given)
    if trial.outcomes:
        return document_tools.card(trial, call.given)
    line = describe(call.given.values) if call.tool in TOOLS else "Memory list: facts"
    return Card(line, place(str(trial.agent or trial.principal)))


def _present(scope: Scope, revision: Revision | None) -> Memory | None:
    """Return the memory that a person did not know of."""
    if revision is None or revision.name is None or revision.type is None:
        return None
    with suppress(NotFound):
        return scope.get(revision.name, revision.type)
    return None


def _json(values: object) -> str:
    # Escaped, for what a model sends may hold half a character, which no database takes.
    return json.dumps(values, sort_keys=True, default=str)


def unknown_approval() -> NotFound:
    """Return the error for a request that is not there, or not the caller's to see."""
    return NotFound(
        "Approval not found.", suggestion="store.approvals.list(acting_as=…) shows those that wait."
    )


def _decided(approval: Approval) -> Conflict:
    by = f" by {approval.decided_by}" if approval.decided_by else ""
    return Conflict(
        f"This call is not to be decided any more: it is {approval.state}{by}.",
        suggestion="Ask again, by making the call without approved=True.",
    )
