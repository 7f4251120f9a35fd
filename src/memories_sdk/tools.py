"""The tools of an agent: documents and facts, called by name.

A call goes in as arguments and comes back as a value; nothing is ever raised. What a tool is and
what it says stands in `document_tools` and `fact_tools`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final

from memories_sdk import document_tools as documents
from memories_sdk import fact_tools as facts
from memories_sdk.arguments import Arguments
from memories_sdk.document_tools import (
    OPERATIONS,
    TOOLS,
    Operation,
    describe,
    enabled_by_default,
    needs_approval_by_default,
    schema,
)
from memories_sdk.errors import (
    AnchorNotFound,
    AnchorNotUnique,
    InvalidInput,
    MemoriesError,
    MemoryOff,
    NotFound,
)
from memories_sdk.fact_tools import EXPLICIT_REQUIRED, FACT_TOOLS, FactTool
from memories_sdk.memory import DOCUMENTS, FACTS, Vocabulary
from memories_sdk.policy import KEYWORD, Request, WishPolicy
from memories_sdk.principals import Agent, Principal, ScopeKind
from memories_sdk.results import MAX_TEXT, Answer, Approval, ToolResult
from memories_sdk.scope import Scope
from memories_sdk.store import MemoryStore

__all__ = [
    "FACT_TOOLS",
    "MAX_TEXT",
    "NO_CONTEXT",
    "OPERATIONS",
    "TOOLS",
    "UNFORESEEN",
    "Approval",
    "MemoryTools",
    "Operation",
    "ToolResult",
    "describe",
    "enabled_by_default",
    "needs_approval_by_default",
    "schema",
]

logger = logging.getLogger(__name__)

NO_CONTEXT: Final = (
    "Cannot scope a memory: no PrincipalContext was supplied. "
    "This is a plugin integration error, not a bad argument."
)
UNFORESEEN: Final = "The memory store could not carry out the call. Nothing was changed."


class MemoryTools:
    """The tools of one agent, bound to who runs it. Safe to share between threads.

    Args:
        store: Where memories are.
        acting_as: The user who runs the agent. None stands for a host that cannot say: every
            call is then refused.
        agent: The agent, its id, or its name among the principal's. Without one, `memory` is
            refused and `global_memory` works.
        principal: Whose global memories: the agent's owner when left out and an `Agent` is
            given, else the caller itself.
        operations: The operations the agent has, by tool; all five when left out.
        source: Where changes come from, for the history.
    """

    def __init__(
        self,
        store: MemoryStore,
        *,
        acting_as: Principal | None,
        agent: Agent | str | int | None = None,
        principal: Principal | None = None,
        operations: Mapping[str, Iterable[str]] | None = None,
        source: str | None = None,
    ) -> None:
        self._store = store
        self._caller = acting_as
        self._agent = agent
        self._principal = principal
        self._source = source
        narrowed = operations or {}
        self.operations = {tool: tuple(narrowed.get(tool, OPERATIONS)) for tool in TOOLS}

    def __repr__(self) -> str:
        who = self._agent.name if isinstance(self._agent, Agent) else self._agent
        return f"<MemoryTools of {who} acting as {self._caller}>"

    def schemas(self) -> list[dict[str, object]]:
        """Return the definitions of the tools: name, description, and parameters as a schema."""
        return [
            {
                "name": tool,
                "description": _DESCRIPTIONS[tool],
                "parameters": schema(self.operations[tool]),
            }
            for tool in TOOLS
        ]

    def needs_approval(self, tool: str, arguments: object) -> bool:
        """Tell whether a person must agree to this call of this tool."""
        del tool
        try:
            return needs_approval_by_default(Arguments(arguments).text("action") or "list")
        except InvalidInput:
            return True

    def call(self, tool: str, arguments: object = None, *, approved: bool = False) -> ToolResult:
        """Carry out a call of a model. Never raises.

        Args:
            tool: `"memory"` or `"global_memory"`.
            arguments: A mapping, or the JSON text of one; None and {} mean list. Unknown names
                are passed over: a scope never comes from arguments. `edits` (a list of find and
                new_text) and `expected_version` are taken beside those of the schema.
            approved: True when a person agreed to exactly this call.
        """
        try:
            return self._call(tool, arguments, approved=approved is True)
        except MemoriesError as error:
            return _refusal(error)
        except Exception:
            logger.exception("memory tool call failed: %s", tool)
            return ToolResult(ok=False, text=UNFORESEEN, code="internal")

    def _call(self, tool: str, arguments: object, *, approved: bool) -> ToolResult:
        if tool not in TOOLS:
            return ToolResult(
                ok=False, text=f"Unknown tool. Must be {' or '.join(TOOLS)}.", code="unknown_tool"
            )
        if self._caller is None:
            return ToolResult(ok=False, text=NO_CONTEXT, code="no_context")
        given = Arguments(arguments)
        operation = given.text("action") or "list"
        if operation not in OPERATIONS:
            text = "Invalid action. Must be list, get, save, replace, or delete."
            return ToolResult(ok=False, text=text, code="unknown_action", retryable=True)
        if operation not in self.operations[tool]:
            text = f"Operation '{operation}' is disabled for this agent."
            return ToolResult(ok=False, text=text, code="disabled")
        _check_required(operation, given)
        if needs_approval_by_default(operation) and not approved:
            return _waiting(tool, given)
        scope = self._scope(TOOLS[tool])
        return ToolResult(ok=True, text=_RUN[operation](scope, given))

    def _scope(self, kind: ScopeKind) -> Scope:
        caller = self._caller
        if caller is None or (kind == "agent" and self._agent is None):
            raise _NoAgent
        principal = self._principal
        if principal is None and isinstance(self._agent, Agent):
            principal = self._store.principals.get(self._agent.principal_id)
        actor = None
        if self._agent is not None:
            owner = principal or caller
            actor = str(self._store.agents.get(self._agent, owner=owner))
        return self._store.scope(
            acting_as=caller,
            principal=principal,
            agent=self._agent if kind == "agent" else None,
            vocabularies=(DOCUMENTS,),
            actor=actor,
            source=self._source,
        )


class _NoAgent(MemoriesError):
    code = "no_context"

    def __init__(self) -> None:
        super().__init__(
            "Cannot scope a memory: no agent was supplied. "
            "This is a plugin integration error, not a bad argument."
        )


def _waiting(tool: str, given: Arguments) -> ToolResult:
    line = describe(given.values)
    return ToolResult(
        ok=False,
        text=f"Waiting for approval: {line}",
        code="approval_required",
        approval=Approval(tool, given.values, line),
    )


def _refusal(error: MemoriesError) -> ToolResult:
    text = error.message
    anchor = isinstance(error, AnchorNotFound | AnchorNotUnique)
    if isinstance(error, InvalidInput) and not anchor:
        text = f"Error: {text}"
    return ToolResult(
        ok=False,
        text=text,
        code=error.code,
        retryable=error.retryable or isinstance(error, InvalidInput | NotFound),
        hint=error.suggestion,
    )
