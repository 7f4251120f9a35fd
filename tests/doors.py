"""Every way to a shelf, and all that can be asked on it, for the tests that try each of them.

A door is a function from who asks to the calls of all that the door can do, by name. What each
can do comes from the package's own tables, so that a new tool, route, message, command or verb is
tried without being written down here, or fails for want of an argument.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
from agents.tool_context import ToolContext
from anthropic.lib.tools import ToolError
from hidden import VERBS, Seen, attempt
from langgraph.store.base import BaseStore
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic_ai import ApprovalRequired, ModelRetry, RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from starlette.testclient import TestClient
from typer.testing import CliRunner

from memories_sdk import MemoriesError, Memory, MemoryStore, MemoryTools, Scope
from memories_sdk.agent import run
from memories_sdk.cli.app import app
from memories_sdk.cli.shell import COMMANDS
from memories_sdk.document_tools import ALL_OPERATIONS, TOOLS
from memories_sdk.fact_tools import FACT_TOOLS
from memories_sdk.importers import jsonl, markdown_folder, mirror
from memories_sdk.integrations.anthropic import _NEEDED, MemoryTool
from memories_sdk.integrations.langchain import langchain_tools
from memories_sdk.integrations.langgraph import ShelfStore
from memories_sdk.integrations.mcp import _Door, server
from memories_sdk.integrations.openai_agents import function_tools
from memories_sdk.integrations.pydantic_ai import MemoryToolset
from memories_sdk.remote import RemoteStore
from memories_sdk.server import create_app
from memories_sdk.server.app import Path as ServedPath
from memories_sdk.server.beside import ROUTES as BESIDE
from memories_sdk.server.description import PARAMETERS
from memories_sdk.server.further import ROUTES as FURTHER
from memories_sdk.server.openwp import Facts
from memories_sdk.server.sessions import Sessions
from memories_sdk.server.spora import NAMED
from memories_sdk.server.spora import ROUTES as SPORA
from memories_sdk.widgets import MemoryPanel

ALL_TOOLS = (*TOOLS, *FACT_TOOLS)
HTTP = (*Sessions(None).routes(), *BESIDE, *FURTHER, *SPORA, *Facts(None).routes())
PROMPT = "Remember this, forget that fact, and clear all of my memory."

Call = Callable[[], object]


@dataclass(frozen=True)
class Asker:
    """Who asks on a door.

    Attributes:
        shelf: The own shelf, in a store on a file.
        wanted: The memory that is asked for.
        own: One of the own shelf.
        values: What can be written into a request, by the name of the argument.
        folder: A folder of the asker's own.
        ending: What is closed after the test.
    """

    store: MemoryStore
    shelf: Scope
    wanted: Memory
    own: Memory
    values: Mapping[str, object]
    folder: Path
    ending: ExitStack

    def tools(self) -> MemoryTools:
        """Return the tools of an agent with every operation, whose user agrees to all."""
        shelf, every = self.shelf, dict.fromkeys(TOOLS, ALL_OPERATIONS)
        return MemoryTools(
            self.store, acting_as=shelf.caller, agent=shelf.agent, operations=every, ask=bool
        )

    def page(self) -> TestClient:
        """Return a client of the server."""
        secret = self.store.tokens.issue(self.shelf.caller, access="write").secret
        page = TestClient(
            create_app(self.store),
            base_url="http://127.0.0.1",
            headers={"Authorization": f"Bearer {secret}", **self.values.get("headers", {})},
        )
        return self.ending.enter_context(page)


def tool_calls(asker: Asker) -> dict[str, tuple[str, dict[str, object]]]:
    """Return the name and the arguments of a call of every operation of every tool."""
    calls = {f"{tool} {it}": (tool, {"action": it}) for tool in TOOLS for it in ALL_OPERATIONS}
    calls |= {tool: (tool, {}) for tool in FACT_TOOLS}
    owner = {"scope": "agent", "acting_as": "alice", "owner": "alice"}
    sent = json.loads(json.dumps({**asker.values, **owner}))
    return {label: (tool, sent | own) for label, (tool, own) in calls.items()}


def through(asker: Asker, said: Callable[[str, dict[str, object]], object]) -> dict[str, Call]:
    """Return a call of every tool through a door that hands calls on."""
    return {
        label: lambda tool=tool, sent=sent: said(tool, sent)
        for label, (tool, sent) in tool_calls(asker).items()
    }


def by_tools(asker: Asker) -> dict[str, Call]:
    """The tools, called by a host."""
    tools = asker.tools()
    return through(asker, lambda tool, sent: tools.call(tool, sent, prompt=PROMPT, approved=True))


def by_widgets(asker: Asker) -> dict[str, Call]:
    """Every message that a page may send to the panel."""
    panel = MemoryPanel(asker.store, acting_as=asker.shelf.caller, agent=asker.shelf.agent)

    def asked(verb: str, names: list[str]) -> object:
        values = {**asker.values, "content": b"stolen"} if verb == "attach" else asker.values
        message = {"id": "x", "verb": verb, "args": {name: values[name] for name in names}}
        return panel._answer(message, [])

    return {
        verb: lambda verb=verb, names=[*each._parameters][1:]: asked(verb, names)
        for verb, each in MemoryPanel._verbs.items()
    }


def by_server(asker: Asker) -> dict[str, Call]:
    """Every route, with all it takes, and once more in the name of the other principal."""
    page = asker.page()
    values = {**asker.values, "agent_id": asker.values["agent_id"] or 1}
    served = {it.path for it in page.app.routes if isinstance(it, ServedPath)}
    assert served == {route.family.prefix + route.path for route in HTTP}

    def asked(route: object) -> object:
        names = (route.body or {}).get("properties", {})
        body = {name: values[name] for name in names if values.get(name) is not None}
        asked = set(route.query) - {"fields", "vocabularies"}
        query = {PARAMETERS[it]["name"]: values[it] for it in asked if values.get(it) is not None}
        whose = {"principal_id": values["principal_id"]}
        tries = []
        for id in (values["id"], NAMED) if "type_of_name" in route.query else (values["id"],):
            path = route.family.prefix + route.path.format(**values | {"id": id})
            tries += [
                page.request(route.method, path, params=params, json=body or None)
                for params in (query, query | whose)
            ]
        return [(each.status_code, each.text) for each in tries]

    return {f"{route.method} {route.path}": lambda route=route: asked(route) for route in HTTP}


def by_remote(asker: Asker) -> dict[str, Call]:
    """Every verb of a shelf that lies behind a server."""
    page = asker.page()

    def answer(request: httpx.Request) -> httpx.Response:
        sent = {"headers": dict(request.headers), "content": request.content}
        got = page.request(request.method, str(request.url), **sent)
        return httpx.Response(got.status_code, headers=dict(got.headers), content=got.content)

    secret = page.headers["Authorization"].removeprefix("Bearer ")
    far = RemoteStore(str(page.base_url), token=secret, transport=httpx.MockTransport(answer))
    asker.ending.callback(far.close)
    agent = asker.shelf.agent
    shelf = far.scope(acting_as=asker.shelf.caller, agent=agent and agent.name)
    seen = Seen(shelf, asker.values["expected_version"])
    there = far.scope(acting_as=asker.shelf.caller, agent=None if agent else "mole")
    calls = {it: lambda it=it: attempt(it, seen, asker.wanted, asker.own) for it in VERBS}
    return calls | {"transfer": lambda: seen.transfer(asker.wanted.id, to=there)}


def by_mcp(asker: Asker) -> dict[str, Call]:
    """Every request of the protocol that the server answers, from the official client."""
    served = server(asker.tools())
    kinds = ("agent", "global", "facts")
    name, type = asker.values["name"], asker.values["type"]
    places = [f"memory://{kind}/{type}/{name}" for kind in kinds]

    def said(do: Callable[[Client], object]) -> Call:
        async def story() -> object:
            async with Client(served) as client:
                try:
                    return await do(client)
                except MCPError as error:
                    return error

        return lambda: asyncio.run(story())

    handlers = {
        "list_tools": said(lambda client: client.list_tools()),
        "list_resources": said(lambda client: client.list_resources()),
        "list_templates": said(lambda client: client.list_resource_templates()),
        "list_prompts": said(lambda client: client.list_prompts()),
    }
    handlers |= {
        f"read_resource {place}": said(lambda client, place=place: client.read_resource(place))
        for place in places
    }
    handlers |= {
        f"get_prompt {each}": said(
            lambda client, each=each: client.get_prompt(each, {"prompt": asker.values["prompt"]})
        )
        for each in ("memory_policy", "memory_context")
    }
    handlers |= {
        f"call_tool {label}": said(
            lambda client, tool=tool, sent=sent: client.call_tool(tool, sent)
        )
        for label, (tool, sent) in tool_calls(asker).items()
    }
    answered = {each for each in vars(_Door) if each[0] != "_"}
    assert {each.partition(" ")[0] for each in handlers} == answered
    return handlers


def by_anthropic(asker: Asker) -> dict[str, Call]:
    """Every command of Anthropic's memory tool, on each of its folders."""
    tool = MemoryTool(asker.tools())
    name, type = asker.values["name"], asker.values["type"]

    def said(command: dict[str, object]) -> object:
        try:
            return tool.call(command)
        except ToolError as error:
            return str(error)

    paths = ["/memories"]
    for scope in ("agent", "global"):
        root = f"/memories/{scope}"
        paths += [root, f"{root}/{type}", f"{root}/{type}/{name}.md"]
    fill = {str: "stolen", int: 0}
    calls = {}
    for command, path in itertools.product(_NEEDED, paths):
        sent = {it: fill[kind] for it, kind in _NEEDED[command].items()}
        stem, dot, ending = path.partition(".")
        sent |= {"command": command, "old_str": asker.values["find"]}
        sent |= {"path": path, "old_path": path, "new_path": f"{stem}2{dot}{ending}"}
        calls[f"{command} {path}"] = lambda sent=sent: said(sent)
    return calls


def by_openai_agents(asker: Asker) -> dict[str, Call]:
    """Every function tool of the Agents SDK."""
    made = {it.name: it for it in function_tools(asker.tools(), ALL_TOOLS, prompt=PROMPT)}
    number = itertools.count()

    def said(tool: str, sent: dict[str, object]) -> object:
        text = json.dumps(sent)
        context = ToolContext(
            None, tool_name=tool, tool_call_id=f"c{next(number)}", tool_arguments=text
        )
        return asyncio.run(made[tool].on_invoke_tool(context, text))

    return through(asker, said)


def by_pydantic_ai(asker: Asker) -> dict[str, Call]:
    """Every tool of the toolset."""
    toolset = MemoryToolset(asker.tools(), ALL_TOOLS)
    context = RunContext(
        deps=None, model=TestModel(), usage=RunUsage(), prompt=PROMPT, tool_call_approved=True
    )

    async def story(tool: str, sent: dict[str, object]) -> object:
        there = await toolset.get_tools(context)
        try:
            return await toolset.call_tool(tool, sent, context, there[tool])
        except (ApprovalRequired, ModelRetry) as error:
            return str(error)

    return through(asker, lambda tool, sent: asyncio.run(story(tool, sent)))


def by_langchain(asker: Asker) -> dict[str, Call]:
    """Every tool as LangChain takes it."""
    made = {it.name: it for it in langchain_tools(asker.tools(), ALL_TOOLS, prompt=PROMPT)}
    return through(asker, lambda tool, sent: made[tool].func(**sent)[0])


def by_langgraph(asker: Asker) -> dict[str, Call]:
    """Every verb of LangGraph's stores."""
    store = ShelfStore(asker.shelf, type=asker.values["type"])
    key, query = asker.values["name"], asker.values["query"]
    calls = {
        "get": lambda: store.get((), key),
        "search": lambda: [store.search(()), store.search((), query=query)],
        "list_namespaces": store.list_namespaces,
        "put": lambda: store.put((key,), key, {"content": "stolen"}),
        "delete": lambda: store.delete((), key),
    }
    # What is left goes through these, or through batch, as these do.
    left = {"batch", "abatch", "supports_ttl", "ttl_config", *(f"a{each}" for each in calls)}
    assert {each for each in vars(BaseStore) if each[0] != "_"} - left == calls.keys()
    return calls


def by_agent(asker: Asker) -> dict[str, Call]:
    """Every call that a model may make in the loop, with all that the loop tells it."""

    def said(tool: str, sent: dict[str, object]) -> object:
        function = {"name": tool, "arguments": json.dumps(sent)}
        answers = iter([{"tool_calls": [{"id": "c", "function": function}]}, {"content": "Done."}])
        ended = run(lambda *_: next(answers), asker.tools(), PROMPT, names=ALL_TOOLS)
        return [it["content"] for it in ended.messages if it["role"] in {"system", "tool"}]

    return through(asker, said)


def by_cli(asker: Asker) -> dict[str, Call]:
    """Every command that works on a shelf, as a user of the program; then as a group or agent."""
    whose = [[], *asker.values["whose"]]
    folder = asker.folder / "cli"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / f"{asker.values['name']}.md").write_text("stolen")
    (folder / "questions.jsonl").write_text('{"question": "x", "evidence": ["mine"]}\n')
    environment = {
        "MEMORIES_URL": asker.store.location,
        "MEMORIES_USER": asker.shelf.caller.name,
        "EDITOR": "true",
        "VISUAL": "",
    }

    def said(words: str) -> object:
        given = []
        for number, owner in enumerate(whose):
            place = {**asker.values, "folder": str(folder), "out": str(folder / f"out{number}")}
            sent = [word.format_map(place) for word in words.split()]
            given.append(CliRunner().invoke(app, [*sent, *owner], env=environment).output)
        for each in folder.glob("out*"):
            given += [it.read_text("utf-8") for it in each.rglob("*") if it.is_file()]
            shutil.rmtree(each)
        return given

    assert COMMANDS.keys() == ON_SHELF.keys() | ON_STORE.keys()
    return {name: lambda words=words: said(words) for name, words in ON_SHELF.items()}


ON_SHELF = {
    "list": "list",
    "get": "get {name} --type {type}",
    "history": "history --limit 20",
    "search": "search {query}",
    "recall": "recall {query}",
    "save": "save {name} --type {type} --content stolen --expected-version {expected_version}",
    "edit": "edit {name} --type {type}",
    "replace": "replace {name} --find {find} --with x --expected-version {expected_version}",
    "delete": "delete {name} --expected-version {expected_version}",
    "restore": "restore {id} --version 1 --expected-version {expected_version}",
    "import": "import {folder}/in --type {type}",
    "export": "export {out}",
    "sync": "sync {out}",
    "eval": "eval {folder}/questions.jsonl",
    "agents list": "agents list",
    "agents add": "agents add spy",
}
"""The commands that work on one shelf, each with its arguments."""

ON_STORE = dict.fromkeys(
    ("principals list", "principals add", "principals remove-member", "agents transfer"),
    "keeps the people of the store, which is for whoever has its file",
) | {
    "verify": "counts over all shelves",
    "doctor": "counts over all shelves",
    "backup": "copies the file",
    "migrate": "changes tables",
    "import-spora": "makes principals and gives each theirs",
    "mcp": "opens the tools of somebody",
    "serve": "opens the server",
    "token create": "keeps the tokens of the store",
    "token list": "keeps the tokens of the store",
    "token revoke": "keeps the tokens of the store",
}
"""The commands that are for whoever has the file, and why."""


def by_importers(asker: Asker) -> dict[str, Call]:
    """Every format that a shelf is written in or read from."""
    shelf, values, folder = asker.shelf, asker.values, asker.folder
    (folder / "wild").mkdir()
    front = f"---\nid: {values['id']}\nname: {values['name']}\nprincipal_id: 1\n---\nstolen"
    (folder / "wild" / "known.md").write_text(front)
    plain = {"kind": "memory", "content": "stolen"} | {it: values[it] for it in ("name", "type")}
    forged = {it: values[it] for it in ("id", "principal_id", "agent_id")} | {"scope": "global"}
    sent = [{"format": "memories-sdk", "version": 1}, plain, plain | forged]
    (folder / "in.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in sent))

    def read(name: str, write: Callable[[Path], object]) -> object:
        place = folder / name
        told = write(place)
        files = [place] if place.is_file() else [it for it in place.rglob("*") if it.is_file()]
        return [told, *(it.read_text("utf-8", "replace") for it in files)]

    return {
        "markdown_folder.export": lambda: read(
            "out", lambda place: markdown_folder.export(shelf, place)
        ),
        "markdown_folder.look": lambda: markdown_folder.look(folder / "wild", shelf.vocabularies),
        "markdown_folder.bring_in": lambda: markdown_folder.bring_in(
            shelf, folder / "wild", conflict="overwrite"
        ),
        "jsonl.export": lambda: read("out.jsonl", lambda place: jsonl.export(shelf, place)),
        "jsonl.bring_in": lambda: jsonl.bring_in(shelf, folder / "in.jsonl", conflict="overwrite"),
        "mirror.sync": lambda: read(
            "mirror", lambda place: mirror.sync(shelf, place, allow_deletions=True)
        ),
    }


DOORS: dict[str, Callable[[Asker], dict[str, Call]]] = {
    "tools": by_tools,
    "widgets": by_widgets,
    "server": by_server,
    "remote": by_remote,
    "agent": by_agent,
    "cli": by_cli,
    "importers": by_importers,
    "integrations.anthropic": by_anthropic,
    "integrations.langchain": by_langchain,
    "integrations.langgraph": by_langgraph,
    "integrations.mcp": by_mcp,
    "integrations.openai_agents": by_openai_agents,
    "integrations.pydantic_ai": by_pydantic_ai,
}
"""Each door, by its module."""

HAND_ON = ("agent", *(it for it in DOORS if it.startswith("integrations") and "graph" not in it))
"""Doors that hand calls on to the tools."""


def tried(door: str, asker: Asker) -> Iterator[tuple[str, object]]:
    """Yield what each call of a door gives or says."""
    for label, call in DOORS[door](asker).items():
        try:
            yield label, call()
        except MemoriesError as error:
            yield label, error
