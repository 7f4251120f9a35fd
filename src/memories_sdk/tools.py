"""The two document tools of an agent, `memory` and `global_memory`.

A call goes in as arguments and comes back as a value; nothing is ever raised. The phrases are
those of Spora, word for word, since models and hosts were made for them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from memories_sdk.arguments import Arguments
from memories_sdk.characters import cut_graphemes, reveal
from memories_sdk.errors import (
    AnchorNotFound,
    AnchorNotUnique,
    InvalidInput,
    MemoriesError,
    NotFound,
)
from memories_sdk.memory import DOCUMENTS, MAX_NAME, UNSET, Memory, checked_type, normal_name
from memories_sdk.principals import Agent, Principal, ScopeKind
from memories_sdk.reader import MAX_PAGE
from memories_sdk.scope import Scope
from memories_sdk.store import MemoryStore

logger = logging.getLogger(__name__)

MAX_TEXT: Final = 100_000
"""Longest text of a result, in characters; what is left out is said."""

NO_CONTEXT: Final = (
    "Cannot scope a memory: no PrincipalContext was supplied. "
    "This is a plugin integration error, not a bad argument."
)
UNFORESEEN: Final = "The memory store could not carry out the call. Nothing was changed."


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a tool, with its defaults.

    Attributes:
        required: Arguments it cannot do without, in the order in which they are checked.
        enabled: Whether an agent has it.
        needs_approval: Whether a person must agree to each call.
    """

    required: tuple[str, ...] = ()
    enabled: bool = True
    needs_approval: bool = False


OPERATIONS: Final[Mapping[str, Operation]] = {
    "list": Operation(),
    "get": Operation(("name", "type")),
    "save": Operation(("name", "type", "content")),
    "replace": Operation(("name", "type", "find", "new_text")),
    "delete": Operation(("name", "type"), needs_approval=True),
}
TOOLS: Final[Mapping[str, ScopeKind]] = {"memory": "agent", "global_memory": "global"}


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that waits for a person.

    Attributes:
        tool: The tool.
        arguments: The call, to be made again with `approved=True`.
        description: One line for the person who decides.
    """

    tool: str
    arguments: Mapping[str, object]
    description: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave.

    Attributes:
        ok: Whether it did what was asked.
        text: For the model: the result, or why not.
        code: "ok", or the stable code of the refusal.
        retryable: Whether another try may succeed: with better arguments, or a little later.
        hint: What would help, apart from the text; may be empty.
        approval: The call that waits, when a person must agree first.
    """

    ok: bool
    text: str
    code: str = "ok"
    retryable: bool = False
    hint: str = ""
    approval: Approval | None = None

    def __str__(self) -> str:
        return f"{self.text}\n{self.hint}" if self.hint else self.text


def enabled_by_default(operation: str) -> bool:
    """Tell whether an agent has the operation unless somebody takes it away."""
    return OPERATIONS.get(operation, Operation()).enabled


def needs_approval_by_default(operation: str) -> bool:
    """Tell whether a person must agree; an operation that nobody declared needs it."""
    return OPERATIONS.get(operation, Operation(needs_approval=True)).needs_approval


def describe(arguments: object) -> str:
    """Return the line that an approval card shows: `Memory <operation>: <name> (<type>)`.

    Never the body. Arguments that cannot be read give a line without a name. What a model sent
    cannot forge a second line, nor hide a character: each part is one line, revealed and cut.
    """
    try:
        given = Arguments(arguments)
        operation = _one_line(given.text("action") or "list")
        name = _one_line(given.text("name") or "")
        type = _one_line(given.text("type") or "")
    except InvalidInput:
        return "Memory call that cannot be read"
    return f"Memory {operation}: {name}" + (f" ({type})" if type else "")


def _one_line(text: str) -> str:
    return cut_graphemes(" ".join(reveal(text[: 2 * MAX_NAME]).split()), MAX_NAME)


def schema(operations: Iterable[str] = OPERATIONS) -> dict[str, object]:
    """Return the JSON schema of the arguments, for the operations that an agent has.

    Required is what each of these operations needs, so that a model is not made to send stubs.
    With one operation `action` is not required. `type` stays as a filter for `list`.
    """
    allowed = [name for name in OPERATIONS if name in set(operations)]
    needed = [set(OPERATIONS[name].required) for name in allowed]
    used = set().union(*needed) | {"action"}
    if "list" in allowed:
        used |= {"type"}
    if "save" in allowed:
        used |= {"summary", "order"}
    always = set.intersection(*needed) if needed else set()
    if len(allowed) > 1:
        always |= {"action"}
    properties = {name: value for name, value in _properties(allowed).items() if name in used}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name in always],
        "additionalProperties": False,
    }


def _properties(allowed: list[str]) -> dict[str, dict[str, object]]:
    return {
        "action": {
            "type": "string",
            "description": f"What to do: {', '.join(allowed)}.",
            "enum": allowed,
        },
        "name": {
            "type": "string",
            "description": "Name of the memory, unique per type, for example user_preferences.",
        },
        "type": {
            "type": "string",
            "description": "Type of the document; with list, show only this type.",
            "enum": list(DOCUMENTS.types),
        },
        "content": {"type": "string", "description": "Body in markdown; save needs it."},
        "summary": {
            "type": "string",
            "description": "One line that list shows; made from the body when left out.",
        },
        "order": {"type": "integer", "description": "Place in the list; 0 when left out."},
        "find": {
            "type": "string",
            "description": "Passage to replace, copied exactly; it must occur once.",
        },
        "new_text": {"type": "string", "description": "Text to put in its place."},
    }


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


def _check_required(operation: str, given: Arguments) -> None:
    for name in OPERATIONS[operation].required:
        value = given.text(name)
        # An empty new_text deletes the passage; an empty content is an empty body, and its
        # absence is for the scope to judge, which knows whether the memory is there.
        blank = value is None or (name == "name" and not value.strip()) or value == ""
        if name == "content" or (name == "new_text" and value == ""):
            continue
        if name in {"find", "new_text"} and given.has("edits"):
            continue
        if blank:
            raise InvalidInput(f"{name} is required for {operation} action.", field=name)


def _list(scope: Scope, given: Arguments) -> str:
    type = given.text("type") or None
    page = scope.list(type=type, limit=MAX_PAGE)
    if not page.total:
        return f"No memories found in {scope.kind} scope."
    text = [f"Found {page.total} memory(ies) in {scope.kind} scope:"]
    room = MAX_TEXT
    shown = 0
    while True:
        for head in page:
            line = f"- {head}"
            room -= len(line) + 1
            if room < 0:
                text.append(f"… and {page.total - shown} more. Name a type to see fewer.")
                return "\n".join(text)
            text.append(line)
            shown += 1
        if page.next_cursor is None:
            return "\n".join(text)
        page = scope.list(type=type, limit=MAX_PAGE, cursor=page.next_cursor)


def _get(scope: Scope, given: Arguments) -> str:
    memory = scope.get(*_identity(given))
    summary = f"*Summary: {memory.summary}*\n" if memory.summary else ""
    left_out = len(memory.content) - MAX_TEXT
    more = f"\n… and {left_out} more characters." if left_out > 0 else ""
    return f"# {memory.name} ({memory.type})\n{summary}\n{memory.content[:MAX_TEXT]}{more}"


def _save(scope: Scope, given: Arguments) -> str:
    name, type = _identity(given)
    content = given.text("content")
    summary = given.text("summary")
    order = given.integer("order")
    saved = scope.save(
        name,
        type,
        UNSET if content is None else content,
        summary=UNSET if summary is None else summary,
        order=UNSET if order is None else order,
        expected_version=given.integer("expected_version"),
        new_order=0,
    )
    did = "Created" if saved.created else "Updated"
    return f"{did} memory {_tag(saved.memory)} in {scope.kind} scope."


def _replace(scope: Scope, given: Arguments) -> str:
    name, type = _identity(given)
    edits = given.edits("edits")
    find, new_text = given.text("find"), given.text("new_text")
    memory = scope.replace(
        name,
        type,
        find=UNSET if find is None else find,
        new_text=UNSET if new_text is None else new_text,
        edits=UNSET if edits is None else edits,
        expected_version=given.integer("expected_version"),
    )
    count = len(edits or [None])
    return f"Replaced {count} occurrence{'s' if count > 1 else ''} in {_tag(memory)}."


def _delete(scope: Scope, given: Arguments) -> str:
    memory = scope.delete(*_identity(given), expected_version=given.integer("expected_version"))
    return f"Deleted memory {_tag(memory)} from {scope.kind} scope."


_RUN: Final[Mapping[str, Callable[[Scope, Arguments], str]]] = {
    "list": _list,
    "get": _get,
    "save": _save,
    "replace": _replace,
    "delete": _delete,
}
_DESCRIPTIONS: Final[Mapping[str, str]] = {
    "memory": "Keep documents that only this agent needs: list, get, save, replace, delete.",
    "global_memory": (
        "Keep documents that follow the user to every agent: list, get, save, replace, delete."
    ),
}


def _identity(given: Arguments) -> tuple[str, str]:
    type = given.text("type") or ""
    vocabulary = checked_type(type, (DOCUMENTS,))
    return normal_name(given.text("name"), vocabulary), type


def _tag(memory: Memory) -> str:
    return f"[{memory.name}] (type={memory.type})"


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
