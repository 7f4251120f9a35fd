"""What the package offers: names, signatures, words about them, and no more than installed.

A difference to the committed list is a decision. Write it anew with
`python tests/test_public_api.py`.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import memories_sdk
from memories_sdk import (
    Agent,
    Memory,
    MemoryReader,
    MemoryStore,
    MemoryWriter,
    Principal,
    Scope,
    ToolResult,
    Vocabulary,
)
from memories_sdk.approvals import Approvals
from memories_sdk.attachments import Attachment, AttachmentHead
from memories_sdk.directory import Agents, Principals
from memories_sdk.editor_drafts import EditorDraft
from memories_sdk.guards import Concern
from memories_sdk.history import History, Revision
from memories_sdk.hooks import Plugins
from memories_sdk.memory import Page, Saved
from memories_sdk.pages import Recent
from memories_sdk.reader import ScopeReader
from memories_sdk.schemas import Definition
from memories_sdk.search.hits import Hit, Hits
from memories_sdk.search.recall import Recall, Recalled
from memories_sdk.tokens import IssuedToken, Token, Tokens
from memories_sdk.tools import Approval, ApprovalPolicy
from memories_sdk.watch import Watch

COMMITTED = Path(__file__).parent / "data" / "public_api.txt"
TYPES = Path(__file__).parent / "typing" / "public_api.py"
HANDED_OUT = (
    *(Attachment, AttachmentHead, EditorDraft),
    *(Agents, Approval, ApprovalPolicy, Approvals, Definition),
    *(Concern, Hit, Hits, History, Page, Plugins, Principals),
    *(IssuedToken, Token, Tokens),
    *(Recall, Recalled, Recent, Revision, Saved, ScopeReader, Watch),
)
"""Classes that callers meet without importing them."""


def members(kind: type) -> dict[str, object]:
    """Return what a class of this package offers by name, in alphabetical order."""
    found = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("memories_sdk"):
            found |= {name: value for name, value in vars(base).items() if name[0] != "_"}
    return {
        name: value
        for name, value in sorted(found.items())
        if isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)
    }


def described(name: str, value: object) -> list[str]:
    """Return the lines of the list about one name."""
    if not inspect.isclass(value):
        return [f"{name}: {type(value).__name__}"]
    bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
    lines = [f"class {name}({bases})" if bases else f"class {name}"]
    protocol = vars(value).get("_is_protocol")  # it has an `__init__` that is not ours
    if (
        not protocol
        and "__init__" in vars(value)
        and (dataclasses.is_dataclass(value) or value not in HANDED_OUT)
    ):
        lines.append(f"    __init__{signature(value.__init__)}")
    for member, found in members(value).items():
        if isinstance(found, property):
            lines.append(f"    {member} -> {inspect.get_annotations(found.fget)['return']}")
        else:
            lines.append(f"    {member}{signature(getattr(found, '__func__', found))}")
    return lines


def signature(function: Callable[..., object]) -> str:
    """Return a signature as it is written in the source, without `self`."""
    written = inspect.signature(function)
    parts, starred = [], False
    for name, parameter in written.parameters.items():
        if name in {"self", "cls"}:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        given = "" if parameter.default is parameter.empty else f" = {shown(parameter.default)}"
        parts.append(f"{name}: {parameter.annotation}{given}")
    return f"({', '.join(parts)}) -> {written.return_annotation}"


def shown(default: object) -> str:
    """Return a default as it is written in the source."""
    if isinstance(default, tuple):
        return f"({', '.join(shown(each) for each in default)})"
    return default.name.upper() if isinstance(default, Vocabulary) else repr(default)


def public_api() -> str:
    """Return the list: one paragraph for each class, one line for anything else."""
    offered = {name: getattr(memories_sdk, name) for name in memories_sdk.__all__}
    handed_out = {kind.__name__: kind for kind in HANDED_OUT}
    paragraphs = ["\n".join(described(*item)) for item in sorted((offered | handed_out).items())]
    return "\n\n".join(paragraphs) + "\n"


def python(script: str) -> str:
    """Run a script in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env=os.environ | {"MEMORIES_URL": ":memory:"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_public_face_is_the_committed_one() -> None:
    """Names, signatures and defaults change by decision alone."""
    assert public_api() == COMMITTED.read_text(encoding="utf-8")


def test_all_names_exist_and_are_sorted() -> None:
    """`from memories_sdk import *` gives what the list says, and nothing private."""
    names = memories_sdk.__all__
    assert len(set(names)) == len(names)
    assert all(hasattr(memories_sdk, name) and name[0] != "_" for name in names)
    assert names == sorted(names, key=lambda name: (not name.isupper(), name))


KINDS = {
    kind.__name__: kind
    for kind in (*HANDED_OUT, *(getattr(memories_sdk, name) for name in memories_sdk.__all__))
    if inspect.isclass(kind)
}


@pytest.mark.parametrize("name", KINDS)
def test_everything_public_is_documented(name: str) -> None:
    """Each class, verb and property has a docstring whose first paragraph is a sentence."""
    texts = {member: inspect.getdoc(value) for member, value in members(KINDS[name]).items()}
    texts[name] = vars(KINDS[name])["__doc__"]
    first = {member: (text or "").split("\n\n")[0].rstrip() for member, text in texts.items()}
    assert [member for member, text in first.items() if not text.endswith((".", ":"))] == []


@pytest.mark.parametrize("name", KINDS)
def test_every_verb_has_its_types_checked(name: str) -> None:
    """A new verb needs a line in `typing/public_api.py`, which mypy reads."""
    checked = TYPES.read_text(encoding="utf-8")
    missing = [verb for verb in members(KINDS[name]) if f".{verb}" not in checked]
    assert missing == []


def test_the_modules_say_what_they_are_for() -> None:
    """A newcomer learns from the first line of each file what it holds."""
    folder = Path(memories_sdk.__file__).parent
    for path in folder.glob("*.py"):
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        assert first.startswith('"""'), path.name
        assert len(first) > 20, path.name


def test_reprs_are_short_and_stable(store: MemoryStore, alice: Principal) -> None:
    """No repr holds an address, a body or a time: it can stand in a document."""
    store.agents.create("writer", owner=alice)
    shelf = store.scope(acting_as=alice, agent="writer")
    memory = shelf.create("n", "plan", "SECRET")
    shown = [
        memory,
        shelf.list()[0],
        shelf.list(),
        shelf,
        shelf.read_only(),
        store,
        memories_sdk.MemoryTools(store, acting_as=alice, agent="writer"),
        shelf.history(),
    ]
    texts = [repr(value) for value in shown]
    assert texts == [
        "<Memory 'n' (plan) v1>",
        "<MemoryHead 'n' (plan) v1>",
        "<Page 1 of 1: n>",
        "<Scope agent:writer acting as user:alice>",
        "<ScopeReader agent:writer acting as user:alice>",
        f"<MemoryStore {Path(store.location).name}>",
        "<MemoryTools of writer acting as user:alice>",
        f"<History of 1:\n  {shelf.history()[0]!r}>",
    ]
    assert repr(memories_sdk.DERIVED) == "DERIVED"
    assert str(memory) == "[n] [plan] — SECRET"


def test_values_are_frozen(store: MemoryStore, alice: Principal) -> None:
    """What was read stays what it was; it can be compared, hashed and copied with a change."""
    memory = store.scope(acting_as=alice).create("n", "plan", "x", tags=["a"])
    for value in (memory, alice, ToolResult(ok=True, text=""), Agent(1, "a", 1)):
        field = dataclasses.fields(value)[0].name
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(value, field, None)
        assert dataclasses.replace(value) == value
        assert hash(dataclasses.replace(value)) == hash(value)


def test_pages_and_histories_are_sequences(store: MemoryStore, alice: Principal) -> None:
    """They can be indexed, sliced, compared and counted."""
    shelf = store.scope(acting_as=alice)
    for name in "abc":
        shelf.create(name, "plan", "")
    page, history = shelf.list(), shelf.history()
    assert [page[0].name, page[-1].name] == ["a", "c"]
    assert [it.name for it in page[1:]] == ["b", "c"]
    assert page == shelf.list()
    assert hash(page) == hash(shelf.list())
    assert page != list(page)
    assert [it.name for it in history[:2]] == ["c", "b"]
    assert (len(page), len(history), page[1] in page) == (3, 3, True)


CORE = """
import sys
for name in ("ipywidgets", "anywidget", "IPython"):
    sys.modules[name] = None
from memories_sdk import MemoryStore, MemoryTools
store = MemoryStore()
alice = store.principals.user("alice")
shelf = store.scope(acting_as=alice)
print(shelf.save("n", "plan", "# A").created)
print(MemoryTools(store, acting_as=alice).call("global_memory").text)
print(len(shelf._repr_html_()) > 0, len(shelf.get("n", "plan")._repr_html_()) > 0)
try:
    import memories_sdk.widgets
except ImportError as error:
    print(type(error).__name__, error.code, error.extra)
    print(error)
"""


def test_the_core_works_without_widgets() -> None:
    """Without the extra all but the widgets works; they name the line that installs it."""
    assert python(CORE).split("\n") == [
        "True",
        "Found 1 memory(ies) in global scope:",
        "- [n] [plan] — A",
        "True True",
        "MissingExtra missing_extra widgets",
        (
            "memories_sdk.widgets needs packages that are not installed."
            ' Install them with: pip install "memories-sdk[widgets]"'
        ),
    ]


def test_a_store_shows_itself_in_a_notebook(store: MemoryStore, alice: Principal) -> None:
    """Store, scope, page and memory have a table or a text, in which names cannot act."""
    shelf = store.scope(acting_as=alice)
    memory = shelf.create("<b>n</b>", "plan", "<script>x</script>*y*", summary="<i>s</i>")
    for value in (store, shelf, shelf.list(), memory):
        html = value._repr_html_()
        shield = '<div class="tex2jax_ignore mathjax_ignore">'  # no formula is typeset
        assert html.removeprefix(shield).startswith(("<p>", "<table>", "<article>"))
        assert html.startswith(shield)
        for tag in ("<b>", "<script", "<i>"):
            assert tag not in html
    assert "<em>y</em>" in memory._repr_html_()


def test_scope_and_memory_are_what_the_docstrings_say(store: MemoryStore, alice: Principal) -> None:
    """Verbs return the values of the list, so that no door has to look inside."""
    shelf = store.scope(acting_as=alice)
    assert isinstance(shelf, Scope)
    assert isinstance(shelf.create("n", "plan", ""), Memory)
    assert isinstance(shelf.save("n", "plan", ""), Saved)
    assert isinstance(shelf.list(), Page)
    assert isinstance(shelf.history(), History)
    assert isinstance(shelf.read_only(), ScopeReader)


@pytest.mark.parametrize(("side", "shelf"), [(MemoryReader, ScopeReader), (MemoryWriter, Scope)])
def test_a_side_has_the_verbs_of_the_shelf(side: type, shelf: type) -> None:
    """Names, signatures and defaults of a protocol are those of the class it stands for."""
    of_shelf, of_side = members(shelf), members(side)
    assert of_side.keys() <= of_shelf.keys()
    assert "get" in of_side or "save" in of_side
    for name, value in of_side.items():
        ours, theirs = (getattr(it, "fget", it) for it in (value, of_shelf[name]))
        assert signature(ours) == signature(theirs), name


def test_the_reading_side_is_whole_and_the_writing_side_apart() -> None:
    """A new verb that reads belongs to `MemoryReader`; no verb stands on both sides."""
    assert members(MemoryReader).keys() == members(ScopeReader).keys()
    assert not members(MemoryReader).keys() & members(MemoryWriter).keys()


if __name__ == "__main__":
    COMMITTED.write_text(public_api(), encoding="utf-8")
