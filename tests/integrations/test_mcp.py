"""The official client over both transports: every tool, every resource, every prompt."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TypeVar

import httpx2
import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from memories_sdk import InvalidInput, MemoryStore, MemoryTools, Principal, Scope
from memories_sdk.document_tools import UNTRUSTED_NOTE
from memories_sdk.integrations.mcp import http_app, server
from memories_sdk.policy import APPROVAL
from memories_sdk.tools import FACT_TOOLS, TOOLS, ApprovalPolicy

HERS = "token-of-alices-writer"
HIS = "token-of-bob-himself"
PROGRAM = """
import sys
import anyio
from memories_sdk import MemoryStore, MemoryTools
from memories_sdk.integrations.mcp import serve_stdio
from memories_sdk.policy import APPROVAL
with MemoryStore(sys.argv[1], durability="process") as store:
    alice = store.principals.user("alice")
    anyio.run(serve_stdio, MemoryTools(
        store, acting_as=alice, agent="writer", policy=APPROVAL, ask=bool
    ))
"""
_T = TypeVar("_T")

both_transports = pytest.mark.parametrize("transport", ["stdio", "http"])


@pytest.fixture
def tools(store: MemoryStore, alice: Principal) -> MemoryTools:
    """The tools of alice's agent `writer`, whose user agrees to everything."""
    writer = store.agents.create("writer", owner=alice)
    return MemoryTools(store, acting_as=alice, agent=writer, policy=APPROVAL, ask=bool)


@asynccontextmanager
async def over_http(tools: dict[str, MemoryTools]) -> AsyncIterator[str]:
    """Serve on a free port of this machine."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(http_app(tools), log_level="error", ws="none")
    running = uvicorn.Server(config)
    serving = asyncio.create_task(running.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        with suppress(asyncio.CancelledError):
            await serving
        listening.close()


@asynccontextmanager
async def connected(
    transport: str, store: MemoryStore, tools: MemoryTools, token: str = HERS
) -> AsyncIterator[Client]:
    """Connect the official client to a server over a transport."""
    if transport == "stdio":
        program = ["-W", "error", "-c", PROGRAM, store.location]
        environment = dict(os.environ)
        started = StdioServerParameters(command=sys.executable, args=program, env=environment)
        async with Client(started) as client:
            yield client
        return
    async with (
        over_http({HERS: tools}) as url,
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def use(
    transport: str,
    store: MemoryStore,
    tools: MemoryTools,
    story: Callable[[Client], Awaitable[_T]],
) -> _T:
    """Run a story with a connected client."""

    async def run() -> _T:
        async with connected(transport, store, tools) as client:
            return await story(client)

    return asyncio.run(run())


def text(result: object) -> str:
    """Return the text of a result."""
    (block,) = result.content
    return block.text


@both_transports
def test_the_official_client_lists_and_calls_every_tool(
    store: MemoryStore, tools: MemoryTools, shelf: Scope, transport: str
) -> None:
    """Each tool, each operation, in the phrases of the tools."""
    document = {"name": "n", "type": "plan"}
    calls = [
        (tool, {"action": action, **document, **more}, said)
        for tool, kind in TOOLS.items()
        for action, more, said in [
            ("save", {"content": "one"}, f"Created memory [n] (type=plan) in {kind} scope."),
            ("list", {"name": None}, f"Found 1 memory(ies) in {kind} scope:\n- [n] [plan] — one"),
            ("replace", {"find": "one", "new_text": "1"}, "Replaced 1 occurrence in [n]"),
            ("get", {}, "# n (plan)"),
            ("delete", {}, f"Deleted memory [n] (type=plan) from {kind} scope."),
        ]
    ]
    fact = {"type": "fact", "key": "k"}
    calls += [
        ("remember_memory", fact | {"value": "v"}, "Memory saved."),
        ("list_memory", {}, "Memory listed."),
        ("forget_memory", fact, "Memory deleted."),
        ("clear_memory", {}, "All memory cleared. 0 record(s) deleted."),
    ]

    async def story(client: Client) -> None:
        listed = await client.list_tools()
        assert [it.name for it in listed.tools] == [*TOOLS, *FACT_TOOLS]
        assert all(it.input_schema["type"] == "object" for it in listed.tools)
        for tool, arguments, said in calls:
            sent = {name: value for name, value in arguments.items() if value is not None}
            result = await client.call_tool(tool, sent)
            assert text(result).startswith(said)
            assert not result.is_error
        refused = await client.call_tool("memory", {"action": "get", **document})
        assert refused.is_error
        assert text(refused).startswith("Memory [n] (type=plan) not found in agent scope.")

    use(transport, store, tools, story)
    assert shelf.list().total == 0


@both_transports
def test_the_official_client_reads_every_resource(
    store: MemoryStore, tools: MemoryTools, shelf: Scope, own: Scope, transport: str
) -> None:
    """All pages of all shelves; each address leads to the body, whatever the name."""
    for number in range(120):
        own.create(f"{number:03}", "plan", f"own {number}")
    for name in ("a/b", "50%", "ümläut 日本", "?#"):
        shelf.create(name, "context", f"body of {name}")
    shelf.save("reply-tone", "preference", "Friendly")

    async def story(client: Client) -> list[str]:
        uris: list[str] = []
        cursor = None
        while True:
            page = await client.list_resources(cursor=cursor)
            uris += [str(it.uri) for it in page.resources]
            if (cursor := page.next_cursor) is None:
                break
        templates = await client.list_resource_templates()
        assert templates.resource_templates[0].uri_template == "memory://{scope}/{type}/{name}"
        return [(await client.read_resource(uri)).contents[0].text for uri in uris]

    bodies = use(transport, store, tools, story)
    assert sorted(bodies) == sorted(
        [f"own {number}" for number in range(120)]
        + [f"body of {name}" for name in ("a/b", "50%", "ümläut 日本", "?#")]
        + ["Friendly"]
    )


@both_transports
def test_pipelined_writes_are_all_kept(
    store: MemoryStore, tools: MemoryTools, shelf: Scope, transport: str
) -> None:
    """Twenty calls at once, of one file and of twenty."""
    shelf.save("one", "plan", "".join(f"<{i}>" for i in range(20)))

    async def story(client: Client) -> None:
        named = {"name": "one", "type": "plan", "action": "replace"}
        calls = [named | {"find": f"<{i}>", "new_text": f"[{i}]"} for i in range(20)]
        calls += [
            {"action": "save", "type": "plan", "name": f"n{i}", "content": "x"} for i in range(20)
        ]
        results = await asyncio.gather(*(client.call_tool("global_memory", call) for call in calls))
        assert not any(result.is_error for result in results)

    use(transport, store, tools, story)
    assert shelf.get("one", "plan").content == "".join(f"[{i}]" for i in range(20))
    assert shelf.list().total == 21


@both_transports
def test_prompts_carry_the_rule_and_the_context(
    store: MemoryStore, tools: MemoryTools, shelf: Scope, transport: str
) -> None:
    """What a host puts before its model, by name."""
    shelf.save("reader", "context", "Alice reads on the tram")

    async def story(client: Client) -> list[str]:
        names = [it.name for it in (await client.list_prompts()).prompts]
        assert names == ["memory_policy", "memory_context"]
        policy = await client.get_prompt("memory_policy")
        known = await client.get_prompt("memory_context", {"prompt": "tram reading"})
        nothing = await client.get_prompt("memory_context", {"prompt": "xyzzy"})
        return [it.messages[0].content.text for it in (policy, known, nothing)]

    policy, known, nothing = use(transport, store, tools, story)
    assert policy == APPROVAL.system_prompt
    assert "Alice reads on the tram" in known
    assert nothing == "Nothing is known about this."


@pytest.mark.parametrize(
    "uri",
    [
        "memory://global/plan/missing",
        "memory://global/note/n",
        "memory://elsewhere/plan/n",
        "file:///etc/passwd",
        "memory://global/plan",
        "memory://agent/fact/n",
        "memory://[/plan/n",
    ],
)
def test_what_is_not_there_is_an_error(
    store: MemoryStore, tools: MemoryTools, shelf: Scope, uri: str
) -> None:
    """Unknown and forbidden addresses alike; the connection goes on."""
    shelf.save("n", "fact", "x")

    async def story() -> None:
        async with Client(server(tools)) as client:
            with pytest.raises(MCPError):
                await client.read_resource(uri)
            with pytest.raises(MCPError):
                await client.get_prompt("unknown")
            with pytest.raises(MCPError):
                await client.list_resources(cursor="nonsense x")
            assert (await client.list_tools()).tools
            assert (await client.call_tool("filesystem")).is_error

    asyncio.run(story())
    assert store.verify() == []


def test_an_empty_shelf_is_no_empty_page(tools: MemoryTools, shelf: Scope) -> None:
    """Many clients take an empty page for the end, whatever cursor it has."""
    shelf.save("n", "plan", "x")

    async def story() -> list[str]:
        async with Client(server(tools)) as client:
            return [str(it.uri) for it in (await client.list_resources()).resources]

    assert asyncio.run(story()) == ["memory://global/plan/n"]


def test_what_the_agent_may_not_read_is_no_resource(
    store: MemoryStore, alice: Principal, shelf: Scope
) -> None:
    """Neither without the operation, nor where a person must agree, nor without an agent."""
    shelf.save("n", "plan", "x")
    nobody_asked = ApprovalPolicy({"global_memory": ["get", "list"]})
    for more in ({"operations": {"global_memory": ["save"]}}, {"approval": nobody_asked}):
        tools = MemoryTools(store, acting_as=alice, **more)

        async def story(tools: MemoryTools = tools) -> None:
            async with Client(server(tools)) as client:
                names = [it.name for it in (await client.list_tools()).tools]
                assert "memory" not in names
                page = await client.list_resources()
                while page.next_cursor is not None:
                    assert page.resources == []
                    page = await client.list_resources(cursor=page.next_cursor)
                assert page.resources == []
                with pytest.raises(MCPError):
                    await client.read_resource("memory://global/plan/n")

        asyncio.run(story())


def test_results_are_bounded_and_marked(tools: MemoryTools, shelf: Scope) -> None:
    """A megabyte floods no client, by resource, call or prompt; what is untrusted says so."""
    shelf.save("n", "plan", "tram " * 200_000, untrusted=True)
    for number in range(520):
        shelf.create(f"{number:04}{'n' * 190}", "context", "tram", summary="s" * 200)

    async def story() -> list[str]:
        async with Client(server(tools)) as client:
            call = {"action": "get", "name": "n", "type": "plan"}
            known = await client.get_prompt("memory_context", {"prompt": "tram"})
            return [
                (await client.read_resource("memory://global/plan/n")).contents[0].text,
                text(await client.call_tool("global_memory", call)),
                text(await client.call_tool("global_memory", {"action": "list"})),
                known.messages[0].content.text,
            ]

    body, got, listed, context = asyncio.run(story())
    assert body.startswith(UNTRUSTED_NOTE)
    assert body.endswith("… and 900002 more characters.")
    assert max(map(len, (body, got, listed))) < 101_000
    assert len(context) < 10_000


def test_a_token_opens_its_own_shelf_alone(
    store: MemoryStore, bob: Principal, tools: MemoryTools, shelf: Scope
) -> None:
    """Two tokens, two callers; no token, or a wrong one, is 401 before anything is read."""
    shelf.save("secret", "plan", "canary")
    his = MemoryTools(store, acting_as=bob)

    async def story() -> list[str]:
        async with over_http({HERS: tools, HIS: his}) as url:
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": HERS}):
                async with httpx2.AsyncClient(headers=headers) as http:
                    answer = await http.post(
                        url, json={"jsonrpc": "2.0", "method": "ping", "id": 1}
                    )
                    assert answer.status_code == 401
            told = []
            for token in (HERS, HIS, HERS):
                headers = {"Authorization": f"Bearer {token}"}
                async with (
                    httpx2.AsyncClient(headers=headers) as http,
                    Client(streamable_http_client(url, http_client=http)) as client,
                ):
                    call = {"action": "get", "name": "secret", "type": "plan"}
                    told.append(text(await client.call_tool("global_memory", call)))
            return told

    hers, foreign, again = asyncio.run(story())
    assert "canary" in hers
    assert "canary" not in foreign
    assert again == hers


@contextmanager
def command_over_http(store: MemoryStore) -> Iterator[str]:
    """Run `memories mcp --http` for alice's agent and return its address, which it prints."""
    command = [sys.executable, "-m", "memories_sdk", "mcp", "--store", store.location]
    command += ["--as", "alice", "--agent", "writer", "--http", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        lines = []
        for line in running.stderr:  # it ends with the program, so a failed start is no long wait
            lines.append(line)
            if found := re.search(r"running on (http://127.0.0.1:\d+)", line):
                break
        else:
            pytest.fail("".join(lines))
        try:
            yield f"{found[1]}/mcp"
        finally:
            running.terminate()
            running.stderr.read()


def test_the_command_serves_http_to_tokens_of_the_store(
    store: MemoryStore, alice: Principal, bob: Principal, tools: MemoryTools, own: Scope
) -> None:
    """One to write opens the tools, one to read those that read, a foreign or old one nothing."""
    assert tools  # they made the agent
    issued = {
        "write": store.tokens.issue(alice, access="write"),
        "read": store.tokens.issue(alice),
        "foreign": store.tokens.issue(bob, access="write"),
        "revoked": store.tokens.issue(alice, access="write"),
    }
    store.tokens.revoke(issued["revoked"].token.id)
    save = {"action": "save", "name": "n", "type": "plan", "content": "x"}

    async def ask(url: str, who: str) -> tuple[list[str], list[bool]]:
        headers = {"Authorization": f"Bearer {issued[who].secret}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            names = [it.name for it in (await client.list_tools()).tools]
            calls = (save, {"action": "get", "name": "n", "type": "plan"})
            return names, [(await client.call_tool("memory", it)).is_error for it in calls]

    with command_over_http(store) as url:
        assert asyncio.run(ask(url, "write")) == ([*TOOLS], [False, False])
        assert asyncio.run(ask(url, "read")) == ([*TOOLS], [True, False])
        for who in ("foreign", "revoked"):
            headers = {"Authorization": f"Bearer {issued[who].secret}"}
            ping = {"jsonrpc": "2.0", "method": "ping", "id": 1}
            assert httpx2.post(url, json=ping, headers=headers).status_code == 401
    assert own.get("n", "plan").version == 1


@pytest.mark.parametrize("tokens", [{}, {"short": None}, {"": None}])
def test_no_server_starts_open(tokens: dict[str, MemoryTools]) -> None:
    """Without a token worth the name there is no application."""
    with pytest.raises(InvalidInput, match="at least 16"):
        http_app(tokens)


def test_the_loop_turns_while_a_write_waits(
    tools: MemoryTools, turns_while_locked: Callable[[object], object]
) -> None:
    """A server goes on answering while one call waits for another program's lock."""
    call = {"action": "save", "name": "n", "type": "plan", "content": "x"}

    async def story() -> str:
        async with Client(server(tools)) as client:
            return text(await client.call_tool("global_memory", call))

    assert str(turns_while_locked(story)).startswith("Created")


def test_the_example_runs(run_example: Callable[[str], str]) -> None:
    """Offline, in one process."""
    said = "Created memory [tone] (type=context) in global scope.\nPlain words.\n"
    assert run_example("mcp_server") == said
