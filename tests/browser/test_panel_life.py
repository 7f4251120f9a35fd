"""The panel over time: other writers, other views, large shelves, a kernel that goes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SETUP = """
from memories_sdk import MemoryStore, widgets
store = MemoryStore("{name}.db", durability="process")
alice = store.principals.user("alice")
bob = store.principals.user("bob")
lab = store.principals.group("lab", members=[bob, alice])
shelf = store.scope(acting_as=alice)
for each in ("one", "two", "three"):
    shelf.save(each, "plan", f"text of {{each}}")
"""
PANEL = "panel = widgets.MemoryPanel(store, acting_as=alice)\npanel"
ELSEWHERE = """
import sys
from memories_sdk import MemoryStore
with MemoryStore(sys.argv[1]) as store:
    shelf = store.scope(acting_as=store.principals.user("alice"), actor="agent:writer")
    shelf.save(sys.argv[2], "plan", "theirs")
"""


def save_elsewhere(notebook, name: str, memory: str) -> None:
    """Save a memory from a process of its own, as an agent would."""
    database = notebook.server.folder / f"{name}.db"
    subprocess.run([sys.executable, "-c", ELSEWHERE, str(database), memory], check=True)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """The name of this test, for its own database."""
    return request.node.name.replace("[", "-").strip("]")


@pytest.mark.both
def test_a_change_in_another_process_shows_by_itself(book, name: str) -> None:
    """Within two seconds, and the focus and an unsaved edit stay."""
    notebook = book(SETUP.format(name=name), PANEL, 'print(shelf.get("one", "plan").content)')
    page = notebook.page
    notebook.run(0)
    notebook.run(1)
    page.get_by_role("option", name="one").click()
    page.locator("[data-editor=codemirror]").wait_for()
    body = page.get_by_role("textbox", name="Body")
    body.click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" and mine")

    save_elsewhere(notebook, name, "four")
    page.get_by_role("option", name="four").wait_for(timeout=2_000)
    assert "and mine" in body.inner_text()
    assert body.evaluate("body => body === document.activeElement")

    save_elsewhere(notebook, name, "one")
    conflict = page.get_by_role("alertdialog")
    conflict.get_by_text("writer (agent) edited “one” while you were editing it.").wait_for()
    assert "and mine" in body.inner_text()
    assert notebook.says(2) == "theirs"
    conflict.get_by_role("button", name="Keep mine").click()
    page.get_by_text("Saved now").wait_for()
    assert notebook.says(2) == "text of one and mine"


@pytest.mark.both
def test_two_views_of_one_panel_stay_in_step(book, name: str) -> None:
    """What is chosen in one view is chosen in the other, and in Python."""
    notebook = book(
        SETUP.format(name=name),
        PANEL,
        "panel",
        "print(panel.principal_id == lab.id, panel.filter, panel.query)",
        "panel.filter = None",
    )
    page = notebook.page
    for index in (0, 1, 2):
        notebook.run(index)
    panels = page.locator(".msdk-root")
    first, second = panels.nth(0), panels.nth(1)
    second.get_by_role("option", name="one").wait_for()
    first.get_by_role("radio", name="lab").click()
    second.get_by_role("radio", name="lab", checked=True).wait_for()
    second.get_by_text("No memories yet").wait_for()
    second.get_by_role("button", name="Plans").click()
    first.get_by_role("button", name="Plans", pressed=True).wait_for()
    assert notebook.says(3) == "True plan"
    notebook.run(4)
    first.get_by_role("button", name="All", pressed=True).wait_for()


def test_a_membership_taken_away_shows_as_a_refusal(book, name: str) -> None:
    """Not as an empty list: the person learns why, and can go back to what is theirs."""
    notebook = book(
        SETUP.format(name=name),
        "widgets.MemoryPanel(store, acting_as=alice, principal=lab)",
        "store.principals.remove_member(lab, alice)",
    )
    page = notebook.page
    notebook.run(0)
    notebook.run(1)
    page.get_by_text("No memories yet").wait_for()
    notebook.run(2)
    alert = page.locator(".msdk-list").get_by_role("alert")
    alert.get_by_text("Caller does not control principal").wait_for()
    page.get_by_role("radio", name="alice").click()
    page.get_by_role("option", name="one").wait_for()


def test_ten_thousand_memories_scroll_and_move(book, name: str) -> None:
    """A large shelf draws a window of it, and a row moves from its top to its end."""
    fill = SETUP.format(name=name) + (
        "for index in range(10_000):\n    shelf.create(f'm{index:05d}', 'context', 'text')\n"
    )
    notebook = book(fill, PANEL, "print(shelf.list(limit=1)[0].name)")
    page = notebook.page
    notebook.run(0)
    notebook.run(1)
    page.get_by_role("option", name="one", exact=True).wait_for()
    assert page.locator(".msdk-row").count() < 60
    page.get_by_role("listbox", name="Memories").focus()
    page.keyboard.press("m")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_text("one moved to position 2 of 10,003").or_(
        page.get_by_text("one moved to position 2 of 10003")
    ).wait_for()
    assert notebook.says(2) == "two"
    page.get_by_role("listbox", name="Memories").focus()
    page.keyboard.press("End")
    page.get_by_role("option", name="m09999").wait_for()


@pytest.mark.both
def test_panels_far_from_sight_wait_until_they_are_scrolled_to(book, name: str) -> None:
    """Of twenty panels those near sight open, and each other one when it is scrolled to."""
    twenty = "for _ in range(20):\n    display(widgets.MemoryPanel(store, acting_as=alice))"
    notebook = book(SETUP.format(name=name), twenty)
    page = notebook.page
    notebook.run(0)
    notebook.run(1)
    lists = page.get_by_role("listbox", name="Memories")
    waiting = page.get_by_text("Opening memories…")
    lists.nth(2).get_by_role("option", name="one").wait_for()  # the window has no room for three
    assert waiting.count() > 10
    last = waiting.last
    place = last.bounding_box()
    last.evaluate("line => line.scrollIntoView()")
    lists.last.get_by_role("option", name="one").wait_for()
    assert lists.last.bounding_box()["height"] <= place["height"]
    assert lists.count() < 10
    lists.last.get_by_role("option", name="two").click()
    page.get_by_role("textbox", name="Body").last.get_by_text("text of two").wait_for()


@pytest.mark.both
def test_a_kernel_that_goes_shows_as_gone_and_nothing_typed_is_lost(book, name: str) -> None:
    """The panel says that it is not connected, and keeps the text."""
    notebook = book(SETUP.format(name=name), PANEL)
    page = notebook.page
    notebook.run(0)
    notebook.run(1)
    page.get_by_role("option", name="one").click()
    page.locator("[data-editor=codemirror]").wait_for()
    body = page.get_by_role("textbox", name="Body")
    body.click()
    page.keyboard.type("precious ")
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    page.get_by_role("alert").get_by_text("Not connected").wait_for()
    assert "precious" in body.inner_text()


def test_close_takes_the_panel_off_the_page(book, name: str) -> None:
    """A closed widget leaves nothing behind."""
    notebook = book(SETUP.format(name=name), PANEL, "panel.close()")
    page = notebook.page
    notebook.run(0)
    notebook.run(1)
    page.get_by_role("option", name="one").wait_for()
    notebook.run(2)
    page.locator(".msdk-root").wait_for(state="detached")


def test_parts_stand_alone_and_wire_together(book, name: str) -> None:
    """Four separate widgets, wired in Python, work as one panel."""
    notebook = book(
        SETUP.format(name=name),
        "rows = widgets.MemoryList(store, acting_as=alice)\nrows",
        "editor = widgets.MarkdownEditor(store, acting_as=alice)\n"
        "chips = widgets.TypeFilter(store, acting_as=alice)\n"
        "widgets.wire(rows, editor, chips)\neditor",
        "chips",
        'print(shelf.get("one", "plan").content)',
    )
    page = notebook.page
    for index in range(4):
        notebook.run(index)
    page.get_by_role("option", name="two").wait_for()
    page.get_by_role("option", name="one").click()
    form = page.get_by_role("form", name="Memory editor")
    form.get_by_role("textbox", name="Name").wait_for()
    page.locator("[data-widget=MarkdownEditor][data-editor=codemirror]").wait_for()
    form.get_by_role("textbox", name="Body").fill("changed")
    form.get_by_role("button", name="Save").click()
    page.get_by_text("Saved now").wait_for()
    assert notebook.says(4) == "changed"
    page.get_by_role("button", name="Docs").click()
    page.get_by_text("Nothing of type documentation yet").wait_for()


def test_traits_can_be_observed_and_linked(book, name: str) -> None:
    """`observe` hears in Python what was chosen in the page; `jslink` carries it on in the page."""
    notebook = book(
        SETUP.format(name=name),
        "import ipywidgets\n"
        "panel = widgets.MemoryPanel(store, acting_as=alice)\n"
        "seen, label = [], ipywidgets.Label('nothing yet')\n"
        "panel.observe(lambda change: seen.append(change.new), 'filter')\n"
        "ipywidgets.jslink((panel, 'filter'), (label, 'value'))\n"
        "ipywidgets.VBox([label, panel])",
        "print(seen)",
    )
    page = notebook.page
    notebook.run(0)
    notebook.run(1)
    page.get_by_role("button", name="Plans").click()
    page.locator(".widget-label").get_by_text("plan", exact=True).wait_for()
    assert notebook.says(2) == "['plan']"


def test_a_saved_notebook_shows_a_list_without_a_kernel(book, name: str) -> None:
    """The file holds names and types as plain HTML, and no body of a memory."""
    notebook = book(SETUP.format(name=name), PANEL)
    page = notebook.page
    notebook.run(0)
    notebook.run(1)
    page.get_by_role("option", name="one").click()
    page.locator("[data-editor=codemirror]").wait_for()
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
    saved = json.loads((notebook.server.folder / f"{name}.ipynb").read_text("utf-8"))
    (output,) = saved["cells"][1]["outputs"]
    shown = "".join(output["data"]["text/html"])
    assert "<li><strong>one</strong> (plan)</li>" in shown
    assert "text of one" not in json.dumps(saved["cells"][1]["outputs"])
    assert "text of one" not in json.dumps(saved["metadata"])
