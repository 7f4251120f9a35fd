"""Nobody gets at a foreign shelf by any door: each call of each door, on each foreign shelf.

The calls come from the doors' own tables. One that needs an argument nobody filled here fails.
"""

from __future__ import annotations

import pkgutil
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hidden import CANARY, WHOSE, foreign_shelf, hide, state, texts

import memories_sdk
from memories_sdk import importers, integrations

doors = pytest.importorskip("doors", reason="install the extras: make test does")

from doors import DOORS, Asker, tried  # noqa: E402 -- after the line that skips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import MakeStore

    from memories_sdk import MemoryStore, Scope

HANDS_NOTHING_OUT = {
    "__main__": "starts the command line",
    "semantic": "gives a store its embedder",
    "telemetry": "watches a store's calls",
    "importers.bringing": "the part that all importers share",
    "importers.file_names": "reads and writes names of files",
    "importers.files": "reads folders, and knows no shelf",
    "importers.foreign": "the part that the importers of other stores share",
    "importers.front_matter": "reads and writes text",
    "importers.guesses": "reads text",
    "importers.sql_dump": "reads rows of a file",
    "importers.openwp": "adopts rows to the shelf that it is given, as the format jsonl does",
    "importers.spora": "makes principals of its own file, each with its shelf; for operators",
}
"""Modules over the tools that are no way to a shelf, or another one's, and why."""

TELLS_THE_QUESTION = {"seek", "rewrite", "preview"}
"""Messages whose answer is what was asked."""

# Her own agent's shelf is foreign to a scope of hers, and not to a door that may open it for her.
each_shelf = pytest.mark.parametrize("whose", [it for it in WHOSE if it != "an agent's own"])
each_door = pytest.mark.parametrize("door", DOORS)


@pytest.fixture
def ending() -> Iterator[ExitStack]:
    """What ends after the test."""
    with ExitStack() as stack:
        yield stack


def asks(store: MemoryStore, theirs: Scope, hers: Scope, folder: Path, ending: ExitStack) -> Asker:
    """Return somebody who asks for all that another shelf hides."""
    hidden = hide(theirs)
    own = hers.create("mine", "plan", "my own")
    agents = store.agents.owned_by(theirs.principal)
    id, other = str(hidden.id), str(own.id)
    items = [{"id": id, "version": hidden.version}, {"id": other, "version": 1}]
    names = ("content", "summary", "text", "new_text", "place", "digest", "source")
    values = dict.fromkeys(names, "stolen") | {
        **dict.fromkeys(("id", "memory_id", "key"), id),
        "ids": [other, id],
        "order": [other, id],
        **dict.fromkeys(("query", "prompt", "containing", "find"), CANARY),
        **dict.fromkeys(("on", "pinned", "enabled", "waiting"), True),
        **dict.fromkeys(("dirty", "unused"), False),
        **dict.fromkeys(("version", "keep", "seq"), 1),
        **dict.fromkeys(("since", "offset"), 0),
        **dict.fromkeys(("type", "type_of_name"), hidden.type),
        "items": items,
        "before": other,
        "after": None,
        "principal_id": theirs.principal.id,
        "agent_id": agents[0].id if agents else None,
        "name": hidden.name,
        "value": "stolen",
        "tags": ["stolen"],
        "changes": {"content": "stolen"},
        "fields": {"name": "n", "type": "plan", "content": "x", "summary": "", "tags": []},
        "files": [{"path": "known.md", "text": "stolen"}],
        "expected_version": hidden.version,
        "limit": 50,
        "whose": [["--principal", theirs.principal.name], ["--agent", "writer"]],
    }
    return Asker(store, hers, hidden, own, values, folder, ending)


@pytest.mark.parametrize("engine", ["sqlite-file"])
@each_door
@each_shelf
def test_no_door_reaches_a_foreign_shelf(
    make_store: MakeStore, tmp_path: Path, ending: ExitStack, door: str, whose: str
) -> None:
    """Nothing hidden is told by any call of the door, and nothing of it is changed."""
    store = make_store(durability="process")
    alice, bob, carol = (store.principals.user(name) for name in ("alice", "bob", "carol"))
    lab = store.principals.group("lab", owner=alice, members=[bob])
    # Users and groups take the first numbers: an agent shall have the number of a user too.
    store.agents.create("mole", owner=carol)
    theirs, hers = foreign_shelf(store, whose, alice, lab, carol)
    asker = asks(store, theirs, hers, tmp_path, ending)
    before, asked = state(theirs), 0
    for call, answer in tried(door, asker):
        asked += 1
        if call not in TELLS_THE_QUESTION:
            # What she asked for may stand in the answer; the hidden body is more than that.
            assert f"two {CANARY}" not in texts(answer), call
        assert state(theirs) == before, call
    assert asked >= 5


@pytest.mark.parametrize("engine", ["sqlite-file"])
@each_door
def test_every_door_tells_the_owner(
    make_store: MakeStore, tmp_path: Path, ending: ExitStack, door: str
) -> None:
    """The same calls tell the one whose shelf it is: silence elsewhere means something."""
    store = make_store(durability="process")
    alice = store.principals.user("alice")
    store.agents.create("mole", owner=alice)
    shelf = store.scope(acting_as=alice)
    told = (texts(answer) for _, answer in tried(door, asks(store, shelf, shelf, tmp_path, ending)))
    assert any(f"two {CANARY}" in each for each in told)


def test_every_door_is_tried() -> None:
    """A new door fails here until it has its row, or is said to be none."""
    root = Path(memories_sdk.__file__).parent
    floors = (root.parent.parent / "pyproject.toml").read_text("utf-8")
    above = floors.split("layers = [", 1)[1].split('"tools"', 1)[0]
    there = set(re.findall(r"[a-z_]+", re.sub(r"#.*", "", above))) | {"tools"}
    for package in (integrations, importers):
        short = package.__name__.rpartition(".")[2]
        there -= {short}
        there |= {f"{short}.{each.name}" for each in pkgutil.iter_modules(package.__path__)}
    formats = {"importers.jsonl", "importers.markdown_folder", "importers.mirror"}
    assert there == (DOORS.keys() - {"importers"}) | formats | HANDS_NOTHING_OUT.keys()
