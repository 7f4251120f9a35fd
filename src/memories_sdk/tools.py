"""The tools of an agent: documents and facts, called by name.

A call goes in as arguments and comes back as a value; nothing is ever raised. What a tool is and
what it says stands in `document_tools` and `fact_tools`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from memories_sdk.approvals import (
    DEFAULT,
    STRICT,
    ApprovalPolicy,
    Call,
    ask_in_terminal,
    operation_of,
    run,
)
from memories_sdk.arguments import Arguments
from memories_sdk.document_tools import (
    ALL_OPERATIONS,
    FURTHER,
    OPERATIONS,
    TOOLS,
    Operation,
    check_required,
    definition,
    describe,
    enabled_by_default,
    needs_approval_by_default,
    schema,
)
from memories_sdk.errors import (
    AnchorNotFound,
    AnchorNotUnique,
    EditConflict,
    InvalidInput,
    MemoriesError,
    NotFound,
)
from memories_sdk.fact_tools import EXPLICIT_REQUIRED, FACT_TOOLS, FactTool, refusal
from memories_sdk.memory import DOCUMENTS, FACTS
from memories_sdk.policy import KEYWORD, Request, Verdict, WishPolicy
from memories_sdk.principals import Agent, Principal
from memories_sdk.results import MAX_TEXT, Answer, Approval, ToolResult
from memories_sdk.schemas import FORMS, Definition, Form
from memories_sdk.scope import Scope
from memories_sdk.store import MemoryStore
from memories_sdk.wire import error_details

__all__ = [
    "DEFAULT",
    "FACT_TOOLS",
    "MAX_TEXT",
    "NO_CONTEXT",
    "OPERATIONS",
    "STRICT",
    "TOOLS",
    "UNFORESEEN",
    "Approval",
    "ApprovalPolicy",
    "MemoryTools",
    "Operation",
    "ToolResult",
    "ask_in_terminal",
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
        operations: The operations the agent has, by document tool; when left out, all five of
            `OPERATIONS`. `search` is one more, for an agent whose list names it. An empty list
            takes any tool away, a fact tool too.
        policy: Decides whether the user wished for a fact to be written.
        approval: Decides which calls a person must agree to.
        ask: Asks that person, for a script: `ask_in_terminal`, or any function that shows an
            `Approval` and returns whether they agree. Without it such calls wait; see
            `store.approvals`.
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
        policy: WishPolicy = KEYWORD,
        approval: ApprovalPolicy = DEFAULT,
        ask: Callable[[Approval], bool] | None = None,
        source: str | None = None,
    ) -> None:
        self._store = store
        self._caller = acting_as
        self._agent = agent
        self._principal = principal
        self._source = source
        self._ask = ask
        self.policy = policy
        self.approval = approval
        everything = dict.fromkeys(TOOLS, tuple(OPERATIONS)) | {it: (it,) for it in FACT_TOOLS}
        self.operations = everything | {it: tuple(kept) for it, kept in (operations or {}).items()}

    def __repr__(self) -> str:
        who = self._agent.name if isinstance(self._agent, Agent) else self._agent
        return f"<MemoryTools of {who} acting as {self._caller}>"

    def definitions(self, tools: Iterable[str] = TOOLS) -> list[Definition]:
        """Return what a model must know of tools, narrowed to the operations that the agent has.

        Args:
            tools: Which; the two document tools when left out. A tool that the agent does not
                have is passed over.

        Raises:
            InvalidInput: There is no tool of that name.
        """
        return [made for tool in tools if (made := self._definition(tool)) is not None]

    def schemas(
        self, tools: Iterable[str] = TOOLS, *, form: Form = "plain"
    ) -> list[dict[str, object]]:
        """Return the definitions of tools as a provider takes them, ready for JSON.

        Args:
            tools: See `definitions`.
            form: `"plain"`: name, description, and parameters as a schema. `"openai"` for chat
                completions and `"responses"` for the Responses API, each also with `-strict`;
                `"anthropic"`, `"gemini"`, `"mcp"`.

        Raises:
            InvalidInput: There is no tool, or no form, of that name.
        """
        if form not in FORMS:
            raise InvalidInput(
                f"form {form!r} is not one of: {', '.join(FORMS)}", field="form", suggestion=""
            )
        return [made.written(form) for made in self.definitions(tools)]

    def needs_approval(self, tool: str, arguments: object) -> bool:
        """Tell whether a person must agree to this call of this tool."""
        if (fact := FACT_TOOLS.get(tool)) is not None and self._verdict(fact, "") == "ask":
            return True
        try:
            given = Arguments(arguments if tool in TOOLS else None)
            return self.approval.needs(tool, operation_of(tool, given))
        except InvalidInput:
            return True

    def call(
        self,
        tool: str,
        arguments: object = None,
        *,
        prompt: str | None = None,
        approved: bool = False,
        operation: str | None = None,
    ) -> ToolResult:
        """Carry out a call of a model. Never raises.

        Args:
            tool: `"memory"`, `"global_memory"` or one of the fact tools.
            arguments: A mapping, or the JSON text of one; None and {} mean list. Unknown names
                are passed over: a scope never comes from arguments. `edits` (a list of find and
                new_text) and `expected_version` are taken beside those of the schema.
            prompt: What the user said, for a fact tool: only the host knows it, so it is no
                argument of the model's.
            approved: True when a person agreed to exactly this call. A request that waits for it
                is granted by that, and bound to what it shows. It stands in for no wish: what
                the policy refuses stays refused.
            operation: The host's key of this call, such as its id. A call that is repeated under
                its key, as after a lost answer, writes once and answers the same.
        """
        try:
            said = prompt if isinstance(prompt, str) else ""
            return self._call(tool, arguments, said, operation, approved=approved is True)
        except MemoriesError as error:
            return _refusal(error, of_facts=tool in FACT_TOOLS)
        except Exception:
            logger.exception("memory tool call failed: %s", tool)
            return ToolResult(ok=False, text=UNFORESEEN, code="internal")

    def shelf(self, tool: str, operation: str | None = None) -> Scope:
        """Return the shelf behind a tool, bound as its calls are, for a door that needs its verbs.

        Args:
            tool: The tool.
            operation: The host's key of the call; see `call`.

        Raises:
            MemoriesError: The caller may not reach it, or no caller or agent was named.
        """
        of_agent = TOOLS.get(tool) == "agent"
        caller = self._caller
        if caller is None or (of_agent and self._agent is None):
            raise _NoAgent
        principal = self._principal
        if principal is None and isinstance(self._agent, Agent):
            principal = self._store.principals.get(self._agent.principal_id)
        agent = self._known_agent(principal or caller)
        scope = self._store.scope(
            acting_as=caller,
            principal=principal,
            agent=agent if of_agent else None,
            vocabularies=(DOCUMENTS if tool in TOOLS else FACTS,),
            actor=None if agent is None else str(agent),
            source=self._source,
        )
        return scope if operation is None else scope.once(operation)

    def _call(
        self, tool: str, arguments: object, prompt: str, key: str | None, *, approved: bool
    ) -> ToolResult:
        if tool not in TOOLS and tool not in FACT_TOOLS:
            return ToolResult(
                ok=False, text=f"Unknown tool. Must be {' or '.join(TOOLS)}.", code="unknown_tool"
            )
        if self._caller is None:
            return ToolResult(ok=False, text=NO_CONTEXT, code="no_context")
        given = Arguments(arguments)
        if tool in FACT_TOOLS:
            return self._call_fact(tool, given, prompt, key, approved=approved)
        return self._call_document(tool, given, key, approved=approved)

    def _call_document(
        self, tool: str, given: Arguments, key: str | None, *, approved: bool
    ) -> ToolResult:
        operation = given.text("action") or "list"
        has = self.operations[tool]
        known = [it for it in ALL_OPERATIONS if it not in FURTHER or it in has]
        if operation not in known:
            text = f"Invalid action. Must be {', '.join(known[:-1])}, or {known[-1]}."
            return ToolResult(ok=False, text=text, code="unknown_action", retryable=True)
        if operation not in has:
            return _disabled(operation)
        check_required(operation, given)
        if self.approval.needs(tool, operation):
            return self._with_consent(tool, given, "", key, approved=approved)
        return _done(run(tool, self.shelf(tool, key), given))

    def _call_fact(
        self, tool: str, given: Arguments, prompt: str, key: str | None, *, approved: bool
    ) -> ToolResult:
        fact = FACT_TOOLS[tool]
        if not self.operations[tool]:
            return _disabled(tool)
        verdict = self._verdict(fact, prompt)
        if verdict not in {"allow", "ask"}:
            return ToolResult(ok=False, text=fact.refusal, code=EXPLICIT_REQUIRED)
        if verdict == "ask" or self.approval.needs(tool, operation_of(tool, given)):
            return self._with_consent(tool, given, prompt, key, approved=approved)
        return _done(run(tool, self.shelf(tool, key), given))

    def _with_consent(
        self, tool: str, given: Arguments, prompt: str, key: str | None, *, approved: bool
    ) -> ToolResult:
        scope = self.shelf(tool)
        call = Call(
            tool,
            given,
            caller=scope.caller,
            principal=scope.principal,
            agent_id=None if (agent := self._known_agent(scope.principal)) is None else agent.id,
            actor=None if agent is None else str(agent),
            source=self._source,
            operation=key,
        )
        approvals = self._store.approvals
        if approved:
            return _done(approvals.settle(call))
        asked = approvals.ask(call, lasts=self.approval.lasts)
        if isinstance(asked, Answer):
            return _done(asked)
        asked = replace(asked, prompt=prompt)
        if self._ask is None or asked.id is None:
            return _waiting(asked)
        if self._ask(asked) is True:
            return approvals.grant(asked.id, acting_as=scope.caller)
        approvals.refuse(asked.id, acting_as=scope.caller)
        text = f"The user does not want this: {asked.description}"
        return ToolResult(ok=False, text=text, code="refused", approval=asked)

    def _verdict(self, fact: FactTool, prompt: str) -> Verdict:
        return "allow" if fact.wish is None else self.policy.judge(Request(fact.wish, prompt))

    def _definition(self, tool: str) -> Definition | None:
        if tool not in self.operations:
            raise InvalidInput(
                f"There is no tool {tool!r}.",
                field="tools",
                suggestion=f"Choose from {', '.join((*TOOLS, *FACT_TOOLS))}.",
            )
        if not (allowed := self.operations[tool]):
            return None
        if (fact := FACT_TOOLS.get(tool)) is not None:
            return fact.definition(tool)
        return definition(tool, allowed)

    def _known_agent(self, owner: Principal) -> Agent | None:
        return None if self._agent is None else self._store.agents.get(self._agent, owner=owner)


class _NoAgent(MemoriesError):
    code = "no_context"

    def __init__(self) -> None:
        super().__init__(
            "Cannot scope a memory: no agent was supplied. "
            "This is a plugin integration error, not a bad argument."
        )


def _done(answer: Answer) -> ToolResult:
    return ToolResult(ok=True, text=answer.text, hint=answer.hint, data=answer.data)


def _disabled(operation: str) -> ToolResult:
    text = f"Operation '{operation}' is disabled for this agent."
    return ToolResult(ok=False, text=text, code="disabled")


def _waiting(approval: Approval) -> ToolResult:
    return ToolResult(
        ok=False,
        text=f"Waiting for approval: {approval.description}",
        code="approval_required",
        approval=approval,
    )


def _refusal(error: MemoriesError, *, of_facts: bool) -> ToolResult:
    code, text, hint = error.code, error.message, error.suggestion
    anchor = isinstance(error, AnchorNotFound | AnchorNotUnique)
    if of_facts:
        code, text = refusal(error)
        hint = hint if text == error.message else str(error)
    elif isinstance(error, InvalidInput) and not anchor:
        text = f"Error: {text}"
    return ToolResult(
        ok=False,
        text=text,
        code=code,
        retryable=error.retryable or isinstance(error, InvalidInput | NotFound),
        hint=hint,
        data=error_details(error) if isinstance(error, EditConflict) else None,
    )
