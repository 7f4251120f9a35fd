"""An MCP server over the tools of an agent: tools, resources and prompts.

```python
anyio.run(serve_stdio, MemoryTools(store, acting_as=alice, agent="writer"))
app = http_app({"a secret token": tools})     # an ASGI application, for uvicorn
```

A memory is the resource `memory://<scope>/<type>/<name>`. Each bearer token has tools of its own,
so who may see and do what is decided as everywhere else. No client can pass on what its user
said, so a fact is written only where the tools ask a person: `policy=APPROVAL`.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Final, TypeVar
from urllib.parse import quote, unquote, urlsplit

from memories_sdk.document_tools import UNTRUSTED_NOTE, body_shown
from memories_sdk.errors import InvalidInput, MemoriesError, NotFound
from memories_sdk.integrations import Extra
from memories_sdk.memory import FACTS, UNTRUSTED, Memory, MemoryHead
from memories_sdk.reader import ScopeReader
from memories_sdk.schemas import Definition
from memories_sdk.tools import FACT_TOOLS, TOOLS, MemoryTools

with Extra("mcp", "mcp", "mcp_types", "anyio", "starlette"):
    import mcp_types as types
    from anyio.to_thread import run_sync
    from mcp.server.auth.middleware.auth_context import get_access_token
    from mcp.server.auth.provider import AccessToken
    from mcp.server.auth.settings import AuthSettings
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel.server import Server
    from mcp.server.stdio import stdio_server
    from mcp.shared.exceptions import MCPError
    from starlette.applications import Starlette

MARKDOWN: Final = "text/markdown"
TEMPLATE: Final = "memory://{scope}/{type}/{name}"
PAGE: Final = 100
"""Resources in one page of their list."""

MIN_TOKEN: Final = 16
"""Shortest bearer token, in characters."""

_TOOL_OF: Final[Mapping[str, str]] = {
    "agent": "memory",
    "global": "global_memory",
    "facts": "list_memory",
}
"""The tool that stands for each shelf; facts share the global one."""

_Answer = TypeVar("_Answer")
Pick = Callable[[], MemoryTools]
Knows = Callable[[str], MemoryTools | None]
"""Returns the tools of a bearer token, or None for one that it does not know."""


class _Door:
    """The handlers of a server; each does its work in a thread, so the loop is never blocked."""

    def __init__(self, pick: Pick) -> None:
        self._pick = pick

    async def list_tools(
        self, _: ServerRequestContext, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Return the tools that the agent has."""
        tools = self._pick()
        made = [it.written("mcp") for it in await run_sync(_definitions, tools)]
        return types.ListToolsResult(tools=[types.Tool.model_validate(it) for it in made])

    async def call_tool(
        self, _: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Carry out a call; a refusal is a result that says so."""
        result = await run_sync(self._pick().call, params.name, params.arguments)
        text = types.TextContent(type="text", text=str(result))
        return types.CallToolResult(content=[text], is_error=not result.ok)

    async def list_resources(
        self, _: ServerRequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return one page of memories."""
        cursor = None if params is None else params.cursor
        return await _told(_resources, self._pick(), cursor)

    async def list_templates(
        self, _: ServerRequestContext, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return how the address of a memory is made."""
        template = types.ResourceTemplate(
            name="memory",
            uri_template=TEMPLATE,
            description="A memory, by shelf (agent or global), type and name.",
            mime_type=MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, _: ServerRequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return a memory's body."""
        return await _told(_read, self._pick(), str(params.uri))

    async def list_prompts(
        self, _: ServerRequestContext, __: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """Return the prompts: the rule of remembering, and what is known about a text."""
        said = types.PromptArgument(
            name="prompt", description="What the user asks for.", required=True
        )
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name="memory_policy", description="When to write a fact, and when not."
                ),
                types.Prompt(
                    name="memory_context",
                    description="The memories that matter for a text.",
                    arguments=[said],
                ),
            ]
        )

    async def get_prompt(
        self, _: ServerRequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Return a prompt as one message."""
        text = await _told(_prompt, self._pick(), params.name, params.arguments or {})
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


def server(tools: MemoryTools | Pick) -> Server:
    """Return an MCP server of the official SDK.

    Args:
        tools: The agent's tools, or what returns those of the request that is being answered.
    """
    door = _Door(tools if not isinstance(tools, MemoryTools) else lambda: tools)
    return Server(
        "memories-sdk",
        version=version("memories-sdk"),
        instructions="Memories that the user and their agents keep together.",
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
        on_list_resources=door.list_resources,
        on_list_resource_templates=door.list_templates,
        on_read_resource=door.read_resource,
        on_list_prompts=door.list_prompts,
        on_get_prompt=door.get_prompt,
    )


async def serve_stdio(tools: MemoryTools) -> None:
    """Serve one client over the program's own input and output, until it leaves."""
    made = server(tools)
    async with stdio_server() as (reading, writing):
        await made.run(reading, writing, made.create_initialization_options())


def http_app(
    tokens: Mapping[str, MemoryTools] | Knows, *, host: str = "127.0.0.1", path: str = "/mcp"
) -> Starlette:
    """Return an ASGI application that serves streamable HTTP.

    Args:
        tokens: The tools of each bearer token, or a function that returns those of one, or None.
            It is called in a worker thread. A request without a token that is known gets 401.
        host: Where it will listen; on the own machine, other host names are refused.
        path: Where the server is.

    Raises:
        InvalidInput: There is no token, or one of less than 16 characters.
    """
    if not callable(tokens) and (not tokens or any(len(token) < MIN_TOKEN for token in tokens)):
        raise InvalidInput(
            f"http_app needs tokens of at least {MIN_TOKEN} characters.",
            field="tokens",
            suggestion="Make one with secrets.token_urlsafe().",
        )

    def of_request() -> MemoryTools:
        token = get_access_token()
        if not isinstance(token, _Access):
            raise MCPError(types.INVALID_REQUEST, "No bearer token.")
        return token.tools

    return server(of_request).streamable_http_app(
        streamable_http_path=path,
        host=host,
        # Without sessions of its own the server answers each request as its token may.
        stateless_http=True,
        auth=AuthSettings.model_validate(
            {"issuer_url": f"http://{host}", "resource_server_url": None}
        ),
        token_verifier=_Tokens(tokens if callable(tokens) else partial(_known, dict(tokens))),
    )


class _Access(AccessToken, arbitrary_types_allowed=True):
    """A token that was proved, with the tools that it opens."""

    tools: MemoryTools


class _Tokens:
    """Proves the token of each request."""

    def __init__(self, knows: Knows) -> None:
        self._knows = knows

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what a token opens, or None."""
        found = await run_sync(self._knows, token)
        if found is None:
            return None
        return _Access(token=token, client_id="memories", scopes=[], tools=found)


def _known(tokens: Mapping[str, MemoryTools], token: str) -> MemoryTools | None:
    """Look a token up, telling no stranger by its timing how much of one was right."""
    sent = token.encode()
    found = None
    for known, tools in tokens.items():
        if hmac.compare_digest(known.encode(), sent):
            found = tools
    return found


async def _told(work: Callable[..., _Answer], *arguments: object) -> _Answer:
    """Do work in a thread; what the store refuses is an error of the protocol."""
    try:
        return await run_sync(work, *arguments)
    except MemoriesError as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from error


def _definitions(tools: MemoryTools) -> list[Definition]:
    return [
        made
        for made in tools.definitions((*TOOLS, *FACT_TOOLS))
        if made.name != "memory" or _shelf(tools, "agent", "list") or _shelf(tools, "agent", "get")
    ]


def _shelf(tools: MemoryTools, kind: str, operation: str) -> ScopeReader | None:
    """Return a shelf that the agent may read so without asking anybody, or None."""
    tool = _TOOL_OF[kind]
    has = tools.operations[tool]
    named = {"action": operation}
    if (tool if tool in FACT_TOOLS else operation) not in has or tools.needs_approval(tool, named):
        return None
    try:
        return tools.shelf(tool).read_only()
    except MemoriesError:
        return None  # whoever calls without an agent has the global shelf alone


def _resources(tools: MemoryTools, cursor: str | None) -> types.ListResourcesResult:
    kinds = list(_TOOL_OF)
    kind, _, place = (cursor or "agent ").partition(" ")
    if kind not in kinds:
        raise InvalidInput("That cursor is not one of ours.", field="cursor", suggestion="")
    rest = kinds[kinds.index(kind) :]
    for each, following in zip(rest, [*rest[1:], None], strict=True):
        if (shelf := _shelf(tools, each, "list")) is not None:
            page = shelf.list(limit=PAGE, cursor=place or None)
            further = following and f"{following} "
            further = f"{each} {page.next_cursor}" if page.next_cursor else further
            # A client may take an empty page for the end: an empty shelf makes none.
            if page or further is None:
                found = [_resource(head) for head in page]
                return types.ListResourcesResult(resources=found, next_cursor=further)
        place = ""
    return types.ListResourcesResult(resources=[])


def _resource(head: MemoryHead) -> types.Resource:
    label = f"{UNTRUSTED} " * head.untrusted
    return types.Resource(
        uri=f"memory://{head.scope}/{head.type}/{quote(head.name, safe='')}",
        name=head.name,
        description=f"{label}{head.summary or ''}" or None,
        mime_type=MARKDOWN,
        size=head.size,
    )


def _read(tools: MemoryTools, uri: str) -> types.ReadResourceResult:
    unknown = NotFound(f"There is no resource {uri}.")
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise unknown from error
    type, _, name = parts.path.removeprefix("/").partition("/")
    kind = parts.netloc
    if kind == "global" and type in FACTS.types:
        kind = "facts"
    known = kind in _TOOL_OF and parts.scheme == "memory"
    if not known or (shelf := _shelf(tools, kind, "get")) is None:
        raise unknown
    text = _text(shelf.get(unquote(name), type))
    contents = types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)
    return types.ReadResourceResult(contents=[contents])


def _text(memory: Memory) -> str:
    note = f"{UNTRUSTED_NOTE}\n\n" if memory.untrusted else ""
    return f"{note}{body_shown(memory)}"


def _prompt(tools: MemoryTools, name: str, arguments: Mapping[str, str]) -> str:
    if name == "memory_policy":
        return tools.policy.system_prompt
    if name != "memory_context":
        raise NotFound(f"There is no prompt {name!r}.")
    said = arguments.get("prompt", "")
    shelves = (_shelf(tools, kind, "get") for kind in _TOOL_OF)
    found = (shelf.relevant_for_prompt(said).as_context() for shelf in shelves if shelf is not None)
    return "\n\n".join(text for text in found if text) or "Nothing is known about this."
