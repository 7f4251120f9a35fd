"""Speaks the conformance cases' operations to this package's public interface.

Thin on purpose: each operation becomes calls that any program could make, and nothing more.
"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from memories_sdk import (
    DOCUMENTS,
    MemoriesError,
    MemoryStore,
    MemoryTools,
    NotFound,
)
from memories_sdk import principals as rules
from memories_sdk import tools as definitions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memories_sdk import Agent, Principal, Scope

OWNERS_PRINCIPAL = object()
"""Stands for a context that a step does not name."""


def factory(system: str) -> Spora:
    """Return a fresh, empty object for the cases of a system."""
    if system != "spora":
        raise NotImplementedError(system)
    return Spora(os.environ.get("MEMORIES_TEST_URL"))


class Spora:
    """The operations of the first seed system.

    Args:
        url: The database; None for one in memory. In a shared one the principals' names carry
            a suffix of their own, so each case finds its shelves empty.
    """

    def __init__(self, url: str | None) -> None:
        self._store = MemoryStore(url or ":memory:")
        self._suffix = f"-{uuid.uuid4().hex[:8]}" if url else ""
        self._principals: dict[str, Principal] = {}
        self._acting: dict[int, Principal] = {}
        self._agents: dict[str, Agent] = {}

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def bindings(self) -> dict[str, int]:
        """Return the ids that steps may refer to."""
        principals = {f"{name}.principal": each.id for name, each in self._principals.items()}
        return principals | {f"{name}.id": agent.id for name, agent in self._agents.items()}

    def op_user(self, name: str) -> None:
        """Make a user, who acts as itself."""
        user = self._store.principals.user(name + self._suffix)
        self._principals[name] = user
        self._acting[user.id] = user

    def op_group(
        self, name: str, owner: str, members: Sequence[str | Mapping[str, str]] = ()
    ) -> None:
        """Make a group, for which its owner acts."""
        principals = self._store.principals
        group = principals.group(name + self._suffix, owner=self._principals[owner])
        for member in members:
            entry = {"user": member, "role": "member"} if isinstance(member, str) else member
            principals.add_member(group, self._principals[entry["user"]], role=entry["role"])
        self._principals[name] = group
        self._acting[group.id] = self._principals[owner]

    def op_agent(self, name: str, owner: str) -> None:
        """Make an agent."""
        self._agents[name] = self._store.agents.create(name, owner=self._principals[owner])

    def op_transfer_agent(self, agent: str, to: str, by: str) -> dict[str, object]:
        """Give an agent to another principal."""
        try:
            self._agents[agent] = self._store.agents.transfer(
                self._agents[agent], to=self._principals[to], acting_as=self._principals[by]
            )
        except MemoriesError:
            return {"ok": False}
        return {"ok": True}

    def op_tool(
        self, tool: str, agent: str, args: object, context: object = OWNERS_PRINCIPAL
    ) -> dict[str, object]:
        """Call a tool; the cases begin after a person's approval."""
        caller = self._agents[agent]
        acting_as = self._acting[caller.principal_id]
        tools = MemoryTools(
            self._store, acting_as=None if context is None else acting_as, agent=caller
        )
        result = tools.call(tool, args, approved=True)
        return {"ok": result.ok, "text": result.text}

    def op_row(
        self,
        scope: str,
        name: str,
        type: str,
        agent: str | None = None,
        principal: str | None = None,
    ) -> dict[str, object] | None:
        """Return a stored memory, or None."""
        del scope  # the agent or the principal says it
        try:
            memory = self._shelf(agent, principal).get(name, type)
        except NotFound:
            return None
        return {
            "id": str(memory.id),
            "principal_id": memory.principal_id,
            "agent_id": memory.agent_id,
            "scope": memory.scope,
            "type": memory.type,
            "name": memory.name,
            "summary": memory.summary,
            "content": memory.content,
            "order": memory.order,
        }

    def op_insert_row(
        self,
        scope: str,
        name: str,
        type: str,
        agent: str | None = None,
        principal: str | None = None,
        content: str = "",
        summary: str | None = None,
    ) -> None:
        """Store a memory whose summary nobody derived."""
        del scope  # the agent or the principal says it
        self._shelf(agent, principal).create(name, type, content, summary=summary)

    def op_count_rows(self) -> dict[str, object]:
        """Count the memories on all shelves."""
        shelves = [self._shelf(None, name) for name in self._principals]
        shelves += [self._shelf(name, None) for name in self._agents]
        return {"count": sum(sum(shelf.counts().values()) for shelf in shelves)}

    def op_describe(self, tool: str, args: object) -> dict[str, object]:
        """Return the line of an approval card."""
        del tool  # both say the same
        return {"text": definitions.describe(args)}

    def op_approval_default(self, tool: str, operation: str) -> dict[str, object]:
        """Tell whether a person must agree."""
        del tool  # both say the same
        return {"requires_approval": definitions.needs_approval_by_default(operation)}

    def op_enabled_default(self, tool: str, operation: str) -> dict[str, object]:
        """Tell whether an agent has an operation."""
        del tool  # both say the same
        return {"enabled": definitions.enabled_by_default(operation)}

    def op_tool_schema(
        self, tool: str, allowed: Sequence[str] = tuple(definitions.OPERATIONS)
    ) -> dict[str, object]:
        """Return the schema of a tool's arguments, and the order of its properties."""
        tools = MemoryTools(self._store, acting_as=None, operations={tool: allowed})
        (schema,) = (each["parameters"] for each in tools.schemas() if each["name"] == tool)
        return schema | {"property_order": list(schema["properties"])}

    def op_types(self) -> dict[str, object]:
        """Return the types of documents, in order."""
        return {"types": list(DOCUMENTS.types)}

    def op_scope_key(
        self,
        scope: str,
        type: str,
        name: str,
        principal_id: int | None = None,
        agent_id: int | None = None,
    ) -> dict[str, object]:
        """Return the five-part key of a memory."""
        key = rules.spora_key(
            scope, principal_id=principal_id, agent_id=agent_id, type=type, name=name
        )
        return {"key": key}

    def op_routes(self) -> dict[str, object]:
        """Return the routes of the server."""
        raise NotImplementedError

    def _shelf(self, agent: str | None, principal: str | None) -> Scope:
        if agent is None:
            owner = self._principals[principal]
            return self._store.scope(acting_as=self._acting[owner.id], principal=owner)
        owned = self._agents[agent]
        return self._store.scope(
            acting_as=self._acting[owned.principal_id],
            principal=self._store.principals.get(owned.principal_id),
            agent=owned,
        )
