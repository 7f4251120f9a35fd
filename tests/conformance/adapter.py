"""Speaks the conformance cases' operations to this package's public interface.

Thin on purpose: each operation becomes calls that any program could make, and nothing more.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import uuid
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import httpx
import uvicorn

from memories_sdk import (
    DOCUMENTS,
    FACTS,
    MemoriesError,
    MemoryStore,
    MemoryTools,
    NotFound,
    fact_tools,
    facts,
    guards,
)
from memories_sdk import principals as rules
from memories_sdk import tools as definitions
from memories_sdk.importers import spora as importer
from memories_sdk.policy import KEYWORD, Request
from memories_sdk.search import analysis
from memories_sdk.server import create_app, spora

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType
    from typing import Any

    from memories_sdk import Agent, Principal, Scope
    from memories_sdk.search.recall import Recall

OWNERS_PRINCIPAL = object()
"""Stands for a context that a step does not name."""


@cache
def spora_tables() -> ModuleType:
    """Return what makes the tables of a Spora host."""
    place = Path(__file__).parent.parent / "importers" / "spora_tables.py"
    spec = importlib.util.spec_from_file_location("spora_tables", place)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def factory(system: str) -> Spora | OpenWP:
    """Return a fresh, empty object for the cases of a system."""
    kind = {"spora": Spora, "openwp": OpenWP}[system]
    return kind(os.environ.get("MEMORIES_TEST_URL"))


class Server:
    """A running server, and browsers that are logged in to it.

    Args:
        store: Whose memories.
        site: Whose facts the routes of OpenWP serve.
    """

    def __init__(self, store: MemoryStore, site: Principal | None = None) -> None:
        self._store = store
        app = create_app(store, site=site)
        config = uvicorn.Config(app, port=0, log_level="critical", lifespan="off")
        self._server = uvicorn.Server(config)
        listener = config.bind_socket()
        listener.listen()  # a client that is quicker than the server waits, and is not refused
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)
        self._thread.start()
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=30
        )
        self._browsers: dict[Principal, dict[str, str]] = {}

    def close(self) -> None:
        """Stop the server."""
        self._client.close()
        self._server.should_exit = True
        self._thread.join()

    def ask(
        self, user: Principal | None, proof: str, state: str, method: str, path: str, **rest: Any
    ) -> dict[str, object]:
        """Send a request as a user's browser; STATE says whether PROOF is a good header."""
        headers: dict[str, str] = {}
        if user is not None:
            browser = self._browser(user)
            headers["Cookie"] = browser["cookie"]
            headers |= {"valid": {proof: browser["csrf"]}, "bad": {proof: "0" * 64}}.get(state, {})
        query, body, raw = (rest.get(name) for name in ("query", "body", "raw_body"))
        content = {"content": raw} if raw is not None else {} if body is None else {"json": body}
        answer = self._client.request(method, path, params=query, headers=headers, **content)
        return {"status": answer.status_code, "body": answer.json()}

    def _browser(self, user: Principal) -> dict[str, str]:
        if user not in self._browsers:
            secret = self._store.tokens.issue(user, access="write").secret
            answer = self._client.post("/api/v1/session", json={"token": secret})
            cookie = answer.headers["set-cookie"].split(";")[0]
            csrf = answer.json()["data"]["csrf_token"]
            self._browsers[user] = {"cookie": cookie, "csrf": csrf}
        return self._browsers[user]


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
        if "server" in vars(self):
            self.server.close()
        self._store.close()

    @cached_property
    def server(self) -> Server:
        """The server of this store, started on first need."""
        # Without a token it would not start, and some cases have nobody but a stranger.
        self._store.tokens.issue(self._store.principals.user("keeper"))
        return Server(self._store)

    def op_rest(self, method: str, path: str, csrf: str = "valid", **rest: Any) -> object:
        """Send a request to the running server."""
        user = rest["as"] and self._principals[rest["as"]]
        return self.server.ask(user, "X-CSRF-Token", csrf, method, path, **rest)

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

    def op_migrate_v1(self, rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
        """Bring a table of the first schema over, as strictly as the seed's own migration."""
        with TemporaryDirectory() as folder:
            place = Path(folder) / "spora.db"
            numbered = [{"id": number, **row} for number, row in enumerate(rows, 1)]
            spora_tables().build(f"sqlite:///{place}", 1, numbered, host=False)
            try:
                importer.bring_in(self._store, place, strict=True)
            except MemoriesError as error:
                return {"ok": False, "error": error.message}
        principals = self._store.principals.everyone()
        shelves = [self._store.scope(acting_as=each) for each in principals]
        found = [shelf.get_by_id(head.id) for shelf in shelves for head in shelf.list()]
        fields = ("scope", "type", "agent_id", "principal_id", "name", "summary", "content")
        return {
            "ok": True,
            "rows": [{name: getattr(each, name) for name in (*fields, "order")} for each in found],
        }

    def op_routes(self) -> dict[str, object]:
        """Return the routes of the server that Spora had."""
        routes = [f"{route.method} {route.family.prefix}{route.path}" for route in spora.ROUTES]
        return {"count": len(routes), "routes": routes}

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


class OpenWP:
    """The operations of the second seed system: one shelf of facts, and the tools on it.

    Args:
        url: The database; None for one in memory. In a shared one each case has a user of its own.
    """

    def __init__(self, url: str | None) -> None:
        self._store = MemoryStore(url or ":memory:")
        self._user = self._store.principals.user(f"admin-{uuid.uuid4().hex[:8]}")
        self._shelf = self._store.scope(acting_as=self._user, vocabularies=[FACTS])
        self._tools = MemoryTools(self._store, acting_as=self._user, policy=KEYWORD)

    def close(self) -> None:
        """Close the store."""
        if "server" in vars(self):
            self.server.close()
        self._store.close()

    @cached_property
    def server(self) -> Server:
        """The server of this store, started on first need."""
        self._store.tokens.issue(self._user)
        return Server(self._store, site=self._user)

    def op_wp_rest(self, method: str, path: str, nonce: str = "valid", **rest: Any) -> object:
        """Send a request to the running server; only the admin may act as the site."""
        who = rest["as"]
        user = self._user if who == "admin" else who and self._store.principals.user(who)
        return self.server.ask(user, "X-WP-Nonce", nonce, method, path, **rest)

    def op_store(self, type: str, key: str, text: str, tags: Sequence[str]) -> dict[str, object]:
        """Store a fact by hand: nobody's wish is looked at."""
        try:
            saved = fact_tools.remember(self._shelf, type, key, text, tags)
        except MemoriesError as error:
            code, message = fact_tools.refusal(error)
            return {"ok": False, "code": code, "message": message}
        item = fact_tools.item(saved.memory)
        created_by = self._shelf.history(id=saved.memory.id)[-1].actor
        item["value"] |= {"created_by": created_by}
        return {"ok": True, "created": saved.created, "item": item}

    def op_action(self, action: str, prompt: str, params: object) -> dict[str, object]:
        """Call a tool as a host does: what waits for a person is shown, and granted."""
        result = self._tools.call(action, params, prompt=prompt)
        if (card := result.approval) is not None:
            result = self._tools.call(card.tool, card.arguments, prompt=card.prompt, approved=True)
        message = result.text.split("\n", maxsplit=1)[0]
        return {"ok": result.ok, "message": message, "data": result.data, "code": result.code}

    def op_normalize(self, kind: str, value: object) -> dict[str, object]:
        """Return a value as it is stored or looked for."""
        return {"value": NORMAL[kind](value)}

    def op_contains_secret(self, value: str) -> dict[str, object]:
        """Tell whether a text holds a credential."""
        return {"blocked": guards.contains_secret(value)}

    def op_intent(self, mode: str, prompt: str) -> dict[str, object]:
        """Tell whether a prompt asks for it."""
        return {"allowed": KEYWORD.judge(Request(mode, prompt)) == "allow"}

    def op_tokens(self, text: str) -> dict[str, object]:
        """Return the words of a text as search counts them."""
        placed = analysis.placed_words(text)
        return {"tokens": [text[word.start : word.end].lower() for word in placed]}

    def op_relevant(self, prompt: str, limit: int = 8, max_chars: int = 1200) -> dict[str, object]:
        """Recall within OpenWP's bounds: 1 to 20 memories, 120 to 5,000 characters, 220 each."""
        found = self._recall(prompt, limit, max_chars)
        return {
            "lines": [item.line for item in found.items],
            "scores": [item.score for item in found.items],
        }

    def op_memory_context(self, prompt: str) -> dict[str, object]:
        """Return the block without the name in front of it."""
        return {"block": self._recall(prompt, 8, 1200).as_context().removeprefix("MEMORY_CONTEXT=")}

    def _recall(self, prompt: str, limit: int, max_chars: int) -> Recall:
        # OpenWP counts the lines alone; the block's name and closing bracket come on top.
        return self._shelf.relevant_for_prompt(
            prompt,
            min(max(abs(limit), 1), 20),
            min(max(abs(max_chars), 120), 5000) + len("MEMORY_CONTEXT=]"),
            max_chars_each=220,
        )

    def op_setting(self, *, memory_enabled: bool) -> None:
        """Switch memory on or off."""
        self._shelf.switch(on=memory_enabled)


def fact_type(text: str) -> str:
    """Return the type that a text means, or an empty text."""
    cleaned = facts.cleaned_type(text)
    return cleaned if cleaned in FACTS.types else ""


def fact_tags(value: object) -> list[str]:
    """Return tags as they are stored; no list is none."""
    return list(facts.readable_tags(value)) if isinstance(value, list) else []


NORMAL: dict[str, Callable[[Any], object]] = {
    "type": fact_type,
    "key": facts.readable_key,
    "text": facts.cleaned_text,
    "tags": fact_tags,
    "query": facts.cleaned_query,
}
