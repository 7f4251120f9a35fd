"""Nobody gets at a foreign shelf by any door: each verb of each door, on each foreign shelf.

The verbs come from the doors' own tables. One that needs an argument nobody filled here fails.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import memories_sdk
from memories_sdk import Memory, MemoryStore, MemoryTools, Scope
from memories_sdk.document_tools import ALL_OPERATIONS, TOOLS
from memories_sdk.fact_tools import FACT_TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from conftest import MakeStore

pytest.importorskip("starlette")
pytest.importorskip("anywidget")

from starlette.testclient import TestClient

from memories_sdk.server import create_app
from memories_sdk.server.beside import ROUTES as BESIDE
from memories_sdk.server.further import ROUTES as FURTHER
from memories_sdk.server.spora import ROUTES as SPORA
from memories_sdk.widgets import MemoryPanel

HTTP = [route for routes in (SPORA, BESIDE, FURTHER) for route in routes]
WAISTED = {
    "agent": "takes the tools of somebody",
    "cli": "opens a shelf of its own user by name, and calls its verbs",
    "importers": "take a shelf that is open already",
    "integrations": "take the tools of somebody",
    "remote": "asks the server, under a token",
}
"""Doors that are given a shelf or tools, and so reach what those reach."""

DOORS = {"tools", "widgets", "server"}


def sibling() -> ModuleType:
    """Return the tests of isolation, whose foreign shelves are tried here too."""
    if (known := sys.modules.get("isolation_shelves")) is None:
        path = Path(__file__).with_name("test_isolation.py")
        spec = importlib.util.spec_from_file_location("isolation_shelves", path)
        known = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(known)
    return known


SHELVES = sibling()
CANARY = SHELVES.CANARY
# Her own agent's shelf is foreign to a scope of hers, and not to a door that may open it for her.
each_shelf = pytest.mark.parametrize(
    "whose", [it for it in SHELVES.WHOSE if it != "an agent's own"]
)


class Foreign:
    """A hidden memory, somebody who looks for it, and all that can be written into a request."""

    def __init__(self, store: MemoryStore, theirs: Scope, hers: Scope) -> None:
        self.store, self.theirs, self.hers = store, theirs, hers
        self.hidden: Memory = SHELVES.hide(theirs)
        self.mine = hers.create("mine", "plan", "my own")
        agents = store.agents.owned_by(theirs.principal)
        id, other = str(self.hidden.id), str(self.mine.id)
        item = {"id": id, "version": self.hidden.version}
        names = ("content", "summary", "text", "new_text", "place", "digest", "source")
        self.values: dict[str, object] = dict.fromkeys(names, "stolen") | {
            "id": id,
            "memory_id": id,
            "ids": [other, id],
            "order": [other, id],
            "items": [item, {"id": other, "version": 1}],
            "before": other,
            "after": None,
            "principal_id": theirs.principal.id,
            "agent_id": agents[0].id if agents else None,
            "name": self.hidden.name,
            "type": self.hidden.type,
            "type_of_name": self.hidden.type,
            "find": CANARY,
            "key": id,
            "value": "stolen",
            "tags": ["stolen"],
            "changes": {"content": "stolen"},
            "fields": {"name": "n", "type": "plan", "content": "x", "summary": "", "tags": []},
            "files": [{"path": "known.md", "text": "stolen"}],
            "version": 1,
            "expected_version": self.hidden.version,
            "query": CANARY,
            "prompt": CANARY,
            "containing": CANARY,
            "keep": 1,
            "since": 0,
            "seq": 1,
            "offset": 0,
            "limit": 50,
            "on": True,
            "pinned": True,
            "enabled": True,
            "dirty": False,
            "unused": False,
            "waiting": True,
        }


@pytest.fixture
def foreign(make_store: MakeStore, whose: str) -> Foreign:
    """A memory on a shelf that carol may not see, and carol's own shelf."""
    store = make_store(durability="process")
    alice, bob, carol = (store.principals.user(name) for name in ("alice", "bob", "carol"))
    lab = store.principals.group("lab", owner=alice, members=[bob])
    # Users and groups take the first numbers: an agent shall have the number of a user too.
    store.agents.create("mole", owner=carol)
    return Foreign(store, *SHELVES.foreign_shelf(store, whose, alice, lab, carol))


def by_tools(foreign: Foreign) -> dict[str, Callable[[], object]]:
    """Return a call of every operation of every tool."""
    hers = foreign.hers
    every = dict.fromkeys(TOOLS, ALL_OPERATIONS)
    tools = MemoryTools(foreign.store, acting_as=hers.caller, agent=hers.agent, operations=every)
    calls = {f"{tool} {it}": (tool, {"action": it}) for tool in TOOLS for it in ALL_OPERATIONS}
    calls |= {tool: (tool, {}) for tool in FACT_TOOLS}
    sent = foreign.values | {"scope": "agent", "acting_as": "alice", "owner": "alice"}
    return {
        verb: lambda tool=tool, own=own: tools.call(
            tool, sent | own, prompt="remember, forget and clear all", approved=True
        )
        for verb, (tool, own) in calls.items()
    }


def by_widgets(foreign: Foreign) -> dict[str, Callable[[], object]]:
    """Return a request of every verb that the page may send."""
    hers = foreign.hers
    panel = MemoryPanel(foreign.store, acting_as=hers.caller, agent=hers.agent)

    def asked(verb: str, names: list[str]) -> object:
        values = foreign.values | {"content": b"stolen"} if verb == "attach" else foreign.values
        message = {"id": "x", "verb": verb, "args": {name: values[name] for name in names}}
        return panel._answer(message, [])

    return {
        verb: lambda verb=verb, names=[*each._parameters][1:]: asked(verb, names)
        for verb, each in MemoryPanel._verbs.items()
    }


def by_server(foreign: Foreign) -> dict[str, Callable[[], object]]:
    """Return a request of every route, with all it takes, under her token."""
    store = foreign.store
    secret = store.tokens.issue(foreign.hers.caller, access="write").secret
    page = TestClient(create_app(store), headers={"Authorization": f"Bearer {secret}"})
    page.__enter__()
    values = foreign.values | {"agent_id": foreign.values["agent_id"] or 1}

    def asked(route: object) -> object:
        path = route.family.prefix + route.path.format(**values)
        query = {name: values[name] for name in route.query if values.get(name) is not None}
        query.pop("fields", None)
        query.pop("vocabularies", None)
        names = (route.body or {}).get("properties", {})
        body = {name: values[name] for name in names if values.get(name) is not None}
        tries = [page.request(route.method, path, params=query, json=body or None)]
        query |= {"principal_id": values["principal_id"]}
        tries.append(page.request(route.method, path, params=query, json=body or None))
        return [(each.status_code, each.text) for each in tries]

    return {f"{route.method} {route.path}": lambda route=route: asked(route) for route in HTTP}


REACHED = {"tools": by_tools, "widgets": by_widgets, "server": by_server}
# What only says or shows what the caller sent, or says who there is for the caller to act as.
TELLS_THE_QUESTION = {"seek", "rewrite", "preview"}


@pytest.mark.parametrize("engine", ["sqlite-memory"])
@pytest.mark.parametrize("door", REACHED)
@each_shelf
def test_no_door_reaches_a_foreign_shelf(foreign: Foreign, door: str) -> None:
    """Nothing hidden is told by any verb of the door, and nothing of it is changed."""
    before = SHELVES.state(foreign.theirs)
    calls = REACHED[door](foreign)
    assert len(calls) > 10
    for verb, call in calls.items():
        told = SHELVES.texts(call())
        if verb not in TELLS_THE_QUESTION:
            # What she asked for may stand in the answer; the hidden body is more than that.
            assert f"two {CANARY}" not in told, verb
        assert SHELVES.state(foreign.theirs) == before, verb


def test_every_door_is_tried() -> None:
    """A new door fails here until it has its row, or is said to stand on another one."""
    root = Path(memories_sdk.__file__).parent
    floors = (Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8")
    above = floors.split("layers = [", 1)[1].split('"tools"', 1)[0]
    names = {
        name.strip(' "()')
        for line in above.splitlines()
        for name in line.strip(" ,").strip('"').split("|")
        if name.strip(' "()')
    }
    there = {name for name in names if (root / name).exists() or (root / f"{name}.py").exists()}
    assert (there - {"__main__", "semantic", "telemetry"}) | {"tools"} == DOORS | WAISTED.keys()
    assert REACHED.keys() == DOORS
