"""No door writes over what its caller has not seen, and none writes twice what was asked once.

Each call of each door is made on a memory whose current version it names, then on one that has
moved on. What a call does is found out, not written down here: a new verb, tool, route, message or
command that changes a memory whatever version it is fails, until it stands in a table with the
reason.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
import uuid6
from hidden import CANARY, VERBS, Seen, attempt, state, texts

from memories_sdk import EditConflict, MemoriesError, MemoryStore
from memories_sdk.results import ToolResult
from memories_sdk.wire import error_details, memory_from, merge_from

pytest.importorskip("doors", reason="install the extras: make test does")

from doors import DOORS, HAND_ON, PROMPT, Asker
from test_doors import asks_of
from typer.testing import CliRunner

from memories_sdk.cli.app import app
from memories_sdk.document_tools import TOOLS
from memories_sdk.server.openwp import OPENWP

if TYPE_CHECKING:
    from pathlib import Path

    from memories_sdk import Scope

    Variant = tuple[str, str, object]

CURRENT, STALE = 3, 2
VARIANTS = (
    ("global", "plan", 1),
    ("global", "fact", 1),
    ("agent", "plan", 1),
    ("global", "plan", ()),
)
"""The shelf and the type of the memory that is written, and what `order` is: a number to a memory,
a list to a shelf. Between them, each call can write."""


def by_scope(asker: Asker) -> dict[str, Callable[[], object]]:
    """Every verb of a shelf."""
    shelf = asker.shelf
    seen = Seen(shelf, asker.values["expected_version"])
    there = asker.store.scope(acting_as=shelf.caller, agent=None if shelf.agent else "mole")
    calls = {it: lambda it=it: attempt(it, seen, asker.wanted, asker.own) for it in VERBS}
    return calls | {"transfer": lambda: seen.transfer(asker.wanted.id, to=there)}


ALL_DOORS = {"scope": by_scope, **DOORS}
each_door = pytest.mark.parametrize("door", ALL_DOORS)

READING = {
    "scope": """
        list counts read get get_by_id recent inspect history deleted changes watch search
        relevant_for_prompt read_only attachment attachments drafts
    """,
    "tools": [
        *(f"{tool} {it}" for tool in TOOLS for it in ("list", "get", "search")),
        "list_memory",
    ],
    "widgets": """
        asset changes choose deleted draft drafts enter group hello history ids narrow note open
        past picture places preview requests rewrite rows seek select shelves types
    """,
    "cli": ["list", "get", "history", "search", "recall", "export", "eval", "agents list"],
    "importers": ["jsonl.export", "markdown_folder.export", "markdown_folder.look"],
    "integrations.anthropic": ["view"],
    "integrations.langgraph": ["get", "search", "list_namespaces"],
}
READING["integrations.mcp"] = [
    *READING["tools"],
    *("list_tools", "list_resources", "list_templates", "list_prompts"),
    *("read_resource", "get_prompt"),
]
"""What a door has that changes no memory; on the server it is what HTTP calls safe."""

WHOLE = "is about a shelf, and whoever asks saw no version of it; `undo` takes it back"
PAST = "rewrites what was, whatever version is now"
UNSAVED = "is the caller's own text, which no one else changes"
PICTURE = "goes by the digest of its bytes: the same ones are the same picture"
SWITCH = "is a state and no text"
FILE = "was told to overwrite; what was there stays in the history"
NAMED = "refuses a name that is taken"
PROTOCOL = "comes by a protocol that has no place for a version"

ANYWAY = {
    "scope": {
        "clear": WHOLE,
        "reorder": WHOLE,
        "undo": "names the change that it takes back",
        "adopt": FILE,
        "prune": PAST,
        "redact": PAST,
        "attach": PICTURE,
        "keep_draft": UNSAVED,
    },
    "tools": {"clear_memory": WHOLE},
    "widgets": {"clear": WHOLE, "keep": UNSAVED},
    "server": {
        "DELETE /memories": WHOLE,
        "PATCH /memories/reorder": WHOLE,
        "POST /memories/undo": "names the change that it takes back",
        "POST /memories/adopt": FILE,
        "POST /memories/redact": PAST,
        "PUT /memories/drafts/{id}": UNSAVED,
        "PUT /memories/enabled": SWITCH,
    },
    "importers": {"jsonl.bring_in": FILE, "markdown_folder.bring_in": FILE},
    "integrations.anthropic": {
        "delete": PROTOCOL,
        "insert": f"{PROTOCOL}; it takes the version whose lines it counted",
        "rename": f"{PROTOCOL}; it takes the version that it read",
        "str_replace": f"{PROTOCOL}; a passage that changed is not found",
    },
    "integrations.langgraph": {"put": PROTOCOL, "delete": PROTOCOL},
}
"""What a door changes whatever version was seen, and why it may."""

ELSEWHERE = {
    "scope": {
        "create": NAMED,
        "switch": SWITCH,
        "detach": PICTURE,
        "drop_draft": UNSAVED,
    },
    "widgets": {
        "attach": PICTURE,
        "create": NAMED,
        "take_in": NAMED,
        "drop": UNSAVED,
        "grant": "carries out what was shown at the version that was shown: test_approvals.py",
        "refuse": "changes no memory",
        "bring_back": "brings back what is gone, which has no version that is current",
        "fetch_back": "brings back what went to another shelf, as it is by now",
    },
    "server": {
        "POST /session": "changes no memory",
        "DELETE /session": "changes no memory",
        "POST /memories": NAMED,
        "POST /memories/inspect": "changes no memory",
        "POST /memories/recall": "changes no memory",
        "POST /memories/prune": PAST,
        "POST /memories/attachments": PICTURE,
        "DELETE /memories/attachments/{id}": PICTURE,
        "DELETE /memories/drafts/{id}": UNSAVED,
        "POST /approvals/{id}/grant": "carries out what was shown, at the version that was shown",
        "POST /approvals/{id}/refuse": "changes no memory",
    },
    "cli": {
        "agents add": "changes no memory",
        "edit": "saves over the version that it opened: test_cli.py",
        "import": "leaves what is there, unless it is told to overwrite",
        "sync": "saves over the version that it wrote into the folder: test_mirror.py",
    },
    "importers": {"mirror.sync": "saves over the version that it wrote into the folder"},
    "integrations.anthropic": {"create": NAMED},
    "integrations.mcp": dict.fromkeys(
        ("remember_memory", "forget_memory", "clear_memory"),
        "needs the words of the user, which this protocol does not bring",
    ),
}
"""What else writes and does not come so far here, and why it needs no version."""

SAME = {"remote": "scope"} | {
    it: "tools" for it in HAND_ON if it not in {"integrations.anthropic", "integrations.mcp"}
}
"""Doors with the calls of another one."""


def table(tables: Mapping[str, Iterable[str]], door: str) -> set[str]:
    """Return the calls of a door that stand in a table."""
    found = tables.get(SAME.get(door, door), ())
    return set(found.split() if isinstance(found, str) else found)


def name_of(door: str, call: str) -> str:
    """Return the name of a call in the tables."""
    if door == "server":
        return call.replace("/agents/{agent_id}", "")
    first, _, rest = call.partition(" ")
    if door == "integrations.mcp":
        return rest if first == "call_tool" else first
    return first if door == "integrations.anthropic" else call


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Variant, Path]:
    """A store for each variant, whose memory was changed since it was seen."""
    made = {}
    for variant in VARIANTS:
        made[variant] = tmp_path_factory.mktemp("base") / "memories.db"
        with MemoryStore(made[variant], durability="process") as store:
            alice = store.principals.user("alice")
            store.agents.create("mole", owner=alice)
            shelf = shelf_of(store, variant)
            shelf.create("mine", variant[1], "my own")
            for text in ("first", "second", "third"):
                shelf.save("known", variant[1], f"{text} {CANARY}\n\nlast")
    return made


def shelf_of(store: MemoryStore, variant: Variant) -> Scope:
    """Return the shelf of a variant."""
    agent = "mole" if variant[0] == "agent" else None
    return store.scope(acting_as=store.principals.user("alice"), agent=agent)


def opened(
    base: Path, variant: Variant, place: Path, ending: ExitStack, headers: Mapping[str, str]
) -> Asker:
    """Return somebody who saw the version that `headers` name, on a store of their own."""
    kind, type, order = variant
    copy = shutil.copy(base, place / f"{uuid6.uuid7()}.db")
    store = ending.enter_context(MemoryStore(copy, durability="process"))
    shelf = shelf_of(store, variant)
    wanted, own = shelf.get("known", type), shelf.get("mine", type)
    (folder := copy.with_suffix("")).mkdir()
    asker = asks_of(store, shelf, wanted, own, folder, ending)
    id, version = str(wanted.id), int(headers.get("If-Match", f'"v{CURRENT}"').strip('"v'))
    new = {"name": "new", "type": type, "content": "new"}
    values = asker.values | {
        "expected_version": version,
        "items": [{"id": id, "version": version}],
        "order": order or [id, str(own.id)],
        "key": "known" if type == "fact" else id,
        "seq": shelf.history()[0].seq,
        "whose": [["--agent", "mole"]] if kind == "agent" else [],
        "enabled": False,
        "memories": [{"versions": [{"state": new}]}],
        "headers": headers,
    }
    return replace(asker, values=values)


class Trial:
    """A door, and somebody at it; after a call that changed the shelf everything is as at first.

    Attributes:
        changed: Whether the last call changed the shelf.
    """

    def __init__(self, door: str, make: Callable[[], Asker]) -> None:
        self._door = ALL_DOORS[door]
        self._make = make
        self._renew()

    def __call__(self, call: str) -> str:
        """Make a call and return what it says."""
        if self.changed:
            self._renew()
        try:
            said = self.calls[call]()
        except MemoriesError as error:
            said = error
        self.changed = self.state() != self._before
        return texts(said)

    def repeat(self, call: str) -> None:
        """Make a call again."""
        self.calls[call]()

    def state(self) -> object:
        """Return the shelf, and whether it is switched on."""
        return state(self._asker.shelf), self._asker.shelf.enabled

    def _renew(self) -> None:
        self._asker = self._make()
        self.calls = self._door(self._asker)
        self._before = self.state()
        self.changed = False


@each_door
def test_no_door_writes_over_what_was_not_seen(
    bases: Mapping[Variant, Path], tmp_path: Path, door: str
) -> None:
    """A stale version is refused with the current one, and nothing changes, whatever the call."""
    changed: set[str] = set()
    anyway: set[str] = set()
    there: set[str] = set()
    for variant in VARIANTS[: None if door == "server" else -1]:
        with ExitStack() as ending:
            known, stale = (
                Trial(door, partial(opened, bases[variant], variant, tmp_path, ending, saw(it)))
                for it in (CURRENT, STALE)
            )
            for call in [*known.calls]:
                name = name_of(door, call)
                there.add(name)
                known(call)
                if not known.changed:
                    continue
                changed.add(name)
                said = stale(call)
                if stale.changed:
                    anyway.add(name)
                else:
                    assert f"at version {CURRENT}" in said, call
    assert anyway == table(ANYWAY, door)
    reading = {it for it in there if door == "server" and it.startswith("GET ")}
    assert there - changed == table(READING, door) | table(ELSEWHERE, door) | reading


def saw(version: int) -> dict[str, str]:
    """Return what a client sends that saw a version."""
    return {"If-Match": f'"v{version}"'}


def test_every_route_writes_once_under_a_key(bases: Mapping[Variant, Path], tmp_path: Path) -> None:
    """A request that is sent again and again under its key writes what one request writes."""
    repeated = set()
    for variant in VARIANTS[::3]:
        with ExitStack() as ending:
            key = {"Idempotency-Key": "k"}
            keyed = Trial("server", partial(opened, bases[variant], variant, tmp_path, ending, key))
            for call in [*keyed.calls]:
                keyed(call)
                if not keyed.changed or name_of("server", call) == "PUT /memories/drafts/{id}":
                    continue
                repeated.add(name_of("server", call))
                written = keyed.state()
                keyed.repeat(call)
                assert keyed.state() == written, call
    assert repeated >= {"PUT /memories", "PUT /memories/{id}", "POST /memories/undo"}


def by_page(asker: Asker, method: str, path: str, body: dict[str, object]) -> dict[str, object]:
    """Return the details of what a server refuses."""
    answer = asker.page().request(method, path, json=body)
    assert answer.status_code == 409
    told = answer.json()
    return (told["error"] if "error" in told else told["data"])["details"]


def by_command(asker: Asker, content: str) -> dict[str, object]:
    """Return the details of what the program refuses."""
    environment = {"MEMORIES_URL": asker.store.location, "MEMORIES_USER": "alice"}
    sent = ["save", "known", "--type", asker.wanted.type, "--content", content]
    sent += ["--expected-version", str(STALE), "--json"]
    answer = CliRunner().invoke(app, sent, env=environment)
    assert answer.exit_code == 5
    return json.loads(answer.stderr)["error"]["details"]


def by_verb(asker: Asker, content: str) -> dict[str, object]:
    """Return what the error of a verb carries."""
    with pytest.raises(EditConflict) as caught:
        asker.shelf.update(asker.wanted.id, content=content, expected_version=STALE)
    return error_details(caught.value)


TELLING: dict[str, Callable[[Asker, str], object]] = {
    "scope": by_verb,
    "tools": lambda asker, text: asker.tools().call(
        "global_memory",
        {
            "action": "save",
            "name": "known",
            "type": asker.wanted.type,
            "content": text,
            "expected_version": STALE,
        },
    ),
    "fact tools": lambda asker, text: asker.tools().call(
        "remember_memory",
        {"type": asker.wanted.type, "key": "known", "value": text, "expected_version": STALE},
        prompt=PROMPT,
        approved=True,
    ),
    "cli": by_command,
    "server": lambda asker, text: by_page(
        asker,
        "PUT",
        f"/api/v1/memories/{asker.wanted.id}",
        {"content": text, "expected_version": STALE},
    ),
    "facts of the server": lambda asker, text: by_page(
        asker,
        "POST",
        f"{OPENWP.prefix}/memory",
        {"type": asker.wanted.type, "key": "known", "value": text, "expected_version": STALE},
    ),
}
"""Doors that programs read, each with a write over a version that is not current any more."""


@pytest.mark.parametrize("door", TELLING)
def test_a_conflict_tells_what_is_there_and_both_changes(
    bases: Mapping[Variant, Path], tmp_path: Path, door: str
) -> None:
    """A program gets the memory as it is now, and the two changes side by side, by every door."""
    variant = VARIANTS["fact" in door]
    with ExitStack() as ending:
        asker = opened(bases[variant], variant, tmp_path, ending, {})
        told = TELLING[door](asker, f"second {CANARY}\n\nmine")
        details = told.data if isinstance(told, ToolResult) else told
        assert details["expected_version"] == STALE
        assert memory_from(details["current"]) == asker.wanted
        difference = merge_from(details["difference"])
        assert difference.clean
        assert difference.text == f"third {CANARY}\n\nmine"
