"""A shelf bound to who acts, checked at each call: what every verb begins with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from uuid6 import UUID

from memories_sdk.database import Connection
from memories_sdk.errors import InvalidInput, NotFound
from memories_sdk.fields import checked_type, normal_name
from memories_sdk.keys import check_current
from memories_sdk.ledger import Owner
from memories_sdk.memory import Vocabulary
from memories_sdk.principals import Agent, Principal, ScopeKind, denied, scope_key
from memories_sdk.shelf import Shelf, Stored
from memories_sdk.statements import people as sql
from memories_sdk.visit import Setting, Visit


class Bound:
    """A shelf, and by whose right it is read and written."""

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
        self._lent = principal != caller
        self._shared = self._lent or agent is not None
        self._owner = Owner(
            self.key,
            self.kind,
            principal.id if agent is None else None,
            None if agent is None else agent.id,
        )

    @property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """The types this shelf takes, in the order in which they are offered."""
        return self._setting.vocabularies

    def __reduce__(self) -> NoReturn:
        raise TypeError("a scope is bound to who acts: make one with store.scope(…)")

    def __repr__(self) -> str:
        shelf = self.agent or self.principal
        return f"<{type(self).__name__} {shelf} acting as {self.caller}>"

    def _reading(self) -> Visit:
        return Visit(
            self._setting.database.read(shelf=self.key, snapshot=self._shared), self._shelf
        )

    def _shelf(self, connection: Connection) -> Shelf:
        """Return the shelf, unless it was taken away from the caller since the scope was made."""
        if self._lent:
            member = {"group_id": self.principal.id, "user_id": self.caller.id}
            if connection.execute(sql.ROLE, member).fetchone() is None:
                raise denied(self.principal.id)
        if self.agent is not None:
            owner = connection.execute(sql.AGENT, {"id": self.agent.id}).fetchone()
            if owner is None or owner[2] != self.principal.id:
                raise missing_agent(self.agent.name)
        now = self._setting.now()
        cipher = self._setting.database.cipher
        if cipher is not None:
            check_current(connection, cipher)
        return Shelf(
            connection, self._owner, now, actor=self._actor, source=self._source, cipher=cipher
        )

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


def parsed_ids(values: Sequence[UUID | str]) -> list[UUID]:
    """Return the ids in their order.

    Raises:
        InvalidInput: They are no list, or one is named twice.
        NotFound: One is no id at all.
    """
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InvalidInput(
            "ids must be a list of memory ids.",
            field="ids",
            suggestion="For example [head.id for head in shelf.list()].",
        )
    ids = [parsed_id(each) for each in values]
    if len(set(ids)) != len(ids):
        raise InvalidInput(
            "An id is named twice.", field="ids", suggestion="Name each memory once."
        )
    return ids


def unknown_id() -> NotFound:
    """Return the one refusal for an id that is foreign or does not exist."""
    return NotFound("Memory not found.", suggestion="list() shows what is on this shelf.")


def missing_agent(name: str) -> NotFound:
    """Return the one refusal for an agent that is foreign or does not exist."""
    return NotFound(
        f"Agent {name!r} not found.",
        suggestion="store.agents.owned_by(principal) lists the agents of a principal.",
    )
