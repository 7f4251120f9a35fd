"""A store behind a server: who calls is what the token says."""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import httpx
from uuid6 import UUID

from memories_sdk import wire
from memories_sdk.approvals import Approvals, Call, run
from memories_sdk.arguments import Arguments
from memories_sdk.bound import missing_agent
from memories_sdk.directory import Agents, Principals
from memories_sdk.doctor import Symptom
from memories_sdk.document_tools import TOOLS, describe
from memories_sdk.errors import AccessDenied, InvalidInput, NotFound
from memories_sdk.history import History
from memories_sdk.hooks import Plugins
from memories_sdk.integrity import NOTHING_NOTED, Finding
from memories_sdk.memory import DOCUMENTS, FACTS, Vocabulary
from memories_sdk.pages import MAX_PAGE
from memories_sdk.principals import Agent, Principal, Role, chosen, denied
from memories_sdk.remote.line import Line, part
from memories_sdk.remote.scope import RemoteScope, only_there
from memories_sdk.results import Answer, Approval, ToolResult
from memories_sdk.store import MemoryStore
from memories_sdk.tokens import Tokens
from memories_sdk.watch import PAUSE, Watch


class RemoteStore(MemoryStore):
    """A store behind a server. `MemoryStore("https://…", token=…)` makes one.

    Args:
        location: The address of the server: https, or this machine.
        token: What `memories token create` printed there; `$MEMORIES_TOKEN` when left out.
        vocabularies: The types that the server's shelves take.
        transport: How requests travel, for tests.
        options: Of a store beside its database; the server has decided them.

    Raises:
        InvalidInput: There is no token, or it would be sent in the open.
        AccessDenied: The server does not know the token.
        StoreUnavailable: The server cannot be reached.
    """

    def __init__(
        self,
        location: str | os.PathLike[str] | None = None,
        *,
        token: str | None = None,
        vocabularies: Sequence[Vocabulary] | None = None,
        transport: httpx.BaseTransport | None = None,
        **options: Any,
    ) -> None:
        if options:
            raise InvalidInput(
                f"{', '.join(sorted(options))}: the server decides that.",
                suggestion="Leave it out beside an address.",
            )
        place = os.fspath(location) if location is not None else os.environ["MEMORIES_URL"]
        self._line = Line(place, token or os.environ.get("MEMORIES_TOKEN"), transport)
        self.plugins = Plugins()
        self._types_here = self.plugins.vocabularies(vocabularies)
        try:
            self.principals = RemotePrincipals(self._line)
        except BaseException:
            self._line.close()
            raise
        self.agents = RemoteAgents(self._line)
        self.approvals = RemoteApprovals(self)
        self.tokens = RemoteTokens()
        self.plugins.opened(self)

    @property
    def location(self) -> str:
        """The address of the server."""
        return self._line.url

    @property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """The types that shelves take, in the order in which they are offered."""
        return self._types_here

    def scope(
        self,
        *,
        acting_as: Principal,
        principal: Principal | None = None,
        agent: Agent | str | int | None = None,
        vocabularies: Sequence[Vocabulary] | None = None,
        actor: str | None = None,
        source: str | None = None,
    ) -> RemoteScope:
        caller = self.principals.known(acting_as)
        if caller.kind != "user":
            raise AccessDenied(
                f"{caller} never acts by itself.",
                suggestion="Name a member as acting_as and the group as principal.",
            )
        owner = caller
        if principal is not None:
            owner = chosen(self.principals.visible_to(caller), principal.id)
        # The history names whom the token names; who acted in the name of that one goes beside it.
        beside = ", ".join(filter(None, (actor, source)))
        return RemoteScope(
            self._line,
            caller=caller,
            principal=owner,
            agent=None if agent is None else self.agents.get(agent, owner=owner),
            vocabularies=self._types_here if vocabularies is None else tuple(vocabularies),
            source=beside or None,
        )

    def changes(self, *, acting_as: Principal, since: int = 0, limit: int = MAX_PAGE) -> History:
        only_there("The changes of all shelves together are read")

    def watch(
        self, *, acting_as: Principal, since: int | None = None, pause: float = PAUSE
    ) -> Watch:
        only_there("The changes of all shelves together are watched")

    def verify(self, *, heads: Mapping[str, str] = NOTHING_NOTED) -> list[Finding]:
        only_there("A store is verified")

    def heads(self) -> dict[str, str]:
        only_there("A store is verified")

    def doctor(self, *, repair: bool = False) -> list[Symptom]:
        only_there("A store is looked over")

    def rekey(self, key: bytes) -> None:
        only_there("A store gets a new key")

    def enable_rls(self) -> None:
        only_there("Rows are walled off")

    def backup(self, path: str | os.PathLike[str]) -> None:
        only_there("A store is copied")

    def close(self) -> None:
        """Hang up."""
        self._line.close()

    def __repr__(self) -> str:
        return f"<MemoryStore {self.location}>"


class RemotePrincipals(Principals):
    """Who calls, and as whom that may act."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._user = line.ask("GET", "/session").one("user", wire.principal_from)

    def user(self, name: str) -> Principal:
        if name != self._user.name:
            raise AccessDenied(
                f"The token is {self._user}'s.", suggestion="Name that user, or use another token."
            )
        return self._user

    def group(
        self,
        name: str,
        *,
        members: Sequence[Principal] = (),
        owner: Principal | None = None,
    ) -> Principal:
        if not members and owner is None:
            for each in self.everyone():
                if (each.kind, each.name) == ("group", name):
                    return each
        return only_there("Groups are made")

    def add_member(self, group: Principal, user: Principal, *, role: Role = "member") -> None:
        only_there("Members are added")

    def remove_member(self, group: Principal, user: Principal) -> None:
        only_there("Members are removed")

    def roles(self, group: Principal) -> dict[Principal, Role]:
        only_there("Roles are listed")

    def visible_to(self, caller: Principal) -> list[Principal]:
        self.known(caller)
        return self.everyone()

    def everyone(self) -> list[Principal]:
        return self._line.ask("GET", "/session").each("principals", wire.principal_from)

    def known(self, principal: Principal) -> Principal:
        if principal == self._user:
            return principal
        if principal in self.everyone():
            return principal
        raise denied(getattr(principal, "id", 0))

    def get(self, id: int) -> Principal:
        for each in (self._user, *self.everyone()):
            if each.id == id:
                return each
        raise NotFound(f"Principal #{id} not found.")


class RemoteAgents(Agents):
    """The agents of those the caller may act as."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def create(self, name: str, *, owner: Principal) -> Agent:
        only_there("Agents are made")

    def ensure(self, name: str, *, owner: Principal) -> Agent:
        try:
            return self.get(name, owner=owner)
        except NotFound:
            return only_there("Agents are made")

    def get(self, agent: Agent | str | int, *, owner: Principal) -> Agent:
        wanted = agent.id if isinstance(agent, Agent) else agent
        for each in self.owned_by(owner):
            if wanted in (each.id, each.name):
                return each
        raise missing_agent(agent.name if isinstance(agent, Agent) else str(agent))

    def seen_by(self, id: int, caller: Principal) -> Agent:
        for each in self._all():
            if each.id == id:
                return each
        raise missing_agent(str(id))

    def owned_by(self, owner: Principal) -> list[Agent]:
        return [each for each in self._all() if each.principal_id == owner.id]

    def transfer(self, agent: Agent, *, to: Principal, acting_as: Principal) -> Agent:
        only_there("Agents are given away")

    def _all(self) -> list[Agent]:
        return self._line.ask("GET", "/session").each("agents", wire.agent_from)


class RemoteApprovals(Approvals):
    """The calls that wait for a person on the server.

    A call that is made over the line is not stored there: its host shows it, and makes it again.
    """

    def __init__(self, store: RemoteStore) -> None:
        self._store = store
        self._line = store._line

    def list(
        self, *, acting_as: Principal, waiting: bool = True, limit: int = 50
    ) -> builtins.list[Approval]:
        query = {"waiting": str(waiting).lower(), "limit": limit}
        found = self._line.ask("GET", "/approvals", query=query)
        return found.each("approvals", wire.approval_from)

    def count(self, *, acting_as: Principal) -> int:
        return len(self.list(acting_as=acting_as, limit=MAX_PAGE))

    def get(self, id: UUID | str, *, acting_as: Principal) -> Approval:
        found = self._line.ask("GET", f"/approvals/{part(id)}")
        return found.one("approval", wire.approval_from)

    def grant(self, id: UUID | str, *, acting_as: Principal) -> ToolResult:
        found = self._line.ask("POST", f"/approvals/{part(id)}/grant")
        return ToolResult(ok=True, text=found["text"], hint=found["hint"], data=found["data"])

    def refuse(self, id: UUID | str, *, acting_as: Principal) -> Approval:
        found = self._line.ask("POST", f"/approvals/{part(id)}/refuse")
        return found.one("approval", wire.approval_from)

    def ask(self, call: Call, *, lasts: timedelta) -> Approval | Answer:
        del lasts  # nothing is stored
        line = describe(call.given.values) if call.tool in TOOLS else f"Memory call: {call.tool}"
        return Approval(call.tool, call.given.values, line, actor=call.actor or str(call.caller))

    def settle(self, call: Call) -> Answer:
        scope = self._store.scope(
            acting_as=call.caller,
            principal=call.principal,
            agent=call.agent_id if TOOLS.get(call.tool) == "agent" else None,
            vocabularies=(DOCUMENTS,) if call.tool in TOOLS else (FACTS,),
            actor=call.actor,
            source=call.source,
        )
        kept = scope if call.operation is None else scope.once(call.operation)
        return run(call.tool, kept, Arguments(call.given.values))


class RemoteTokens(Tokens):
    """Nothing: tokens are made where the server runs."""

    def __init__(self) -> None:
        pass

    def __getattribute__(self, name: str) -> Any:
        if name[0] == "_":
            return super().__getattribute__(name)
        return only_there("Tokens are made")
