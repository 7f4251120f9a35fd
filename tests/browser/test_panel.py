"""The panel in a real page: what a person does arrives in the store, and shows."""

from __future__ import annotations

import pytest

SETUP = """
from memories_sdk import MemoryStore, widgets
store = MemoryStore("{name}.db")
alice = store.principals.user("alice")
lab = store.principals.group("lab", members=[alice])
store.agents.create("writer", owner=alice)
shelf = store.scope(acting_as=alice)
kinds = {{"tone": "context", "release": "plan", "style": "documentation", "sample": "examples"}}
for name, type in kinds.items():
    shelf.save(name, type, f"# The {{name}}")
"""
PANEL = "panel = widgets.MemoryPanel(store, acting_as=alice)\npanel"
ORDER = "print(*(head.name for head in shelf.list()))"


@pytest.fixture
def setup(request: pytest.FixtureRequest) -> str:
    """A cell that fills a store of this test's own."""
    return SETUP.format(name=request.node.name.replace("[", "-").strip("]"))


def shown(page):
    """Return the names in the list, from the top."""
    return [text.strip() for text in page.locator("[role=option] .msdk-name").all_inner_texts()]


def wait_for_order(page, *names: str) -> None:
    """Wait until the list shows these names in this order."""
    page.wait_for_function(
        "names => [...document.querySelectorAll('[role=option] .msdk-name')]"
        ".map(e => e.innerText).join() === names.join()",
        arg=list(names),
    )


def drag(page, source, target) -> None:
    """Drag one row over another with the mouse, as a hand does: press, wander, let go."""
    start, end = source.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + 12, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(start["x"] + 14, start["y"] + start["height"] / 2 + 8)
    page.mouse.move(end["x"] + 14, end["y"] + end["height"] / 2, steps=8)
    page.mouse.up()


def test_drag_edit_and_save_are_read_back_through_the_sdk(book, setup) -> None:
    """A row dragged and a body edited in the page are what the store holds afterwards."""
    notebook = book(setup, PANEL, ORDER, 'print(shelf.get("tone", "context").content)')
    notebook.run(0)
    notebook.run(1)
    page = notebook.page
    rows = page.get_by_role("listbox", name="Memories").get_by_role("option")
    wait_for_order(page, "tone", "release", "style", "sample")

    drag(page, rows.nth(0), rows.nth(2))
    wait_for_order(page, "release", "style", "tone", "sample")
    assert notebook.says(2) == "release style tone sample"

    page.get_by_role("option", name="tone").click()
    form = page.get_by_role("form", name="Memory editor")
    body = form.get_by_role("textbox", name="Body")
    page.locator("[data-editor=codemirror]").wait_for()
    assert form.get_by_role("textbox", name="Name").input_value() == "tone"
    body.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nBe *kind*.")
    form.get_by_role("button", name="Save").click()
    page.get_by_text("Saved now").wait_for()
    assert notebook.says(3) == "# The tone\nBe *kind*."


def test_preview_delete_and_undo(book, setup) -> None:
    """The kernel renders the preview; a delete asks first and can be undone."""
    notebook = book(setup, PANEL, ORDER)
    notebook.run(0)
    notebook.run(1)
    page = notebook.page
    page.get_by_role("option", name="release").click()
    form = page.get_by_role("form", name="Memory editor")
    form.get_by_role("button", name="Preview").click()
    form.get_by_role("heading", name="The release").wait_for()
    form.get_by_role("button", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Yes, delete").click()
    wait_for_order(page, "tone", "style", "sample")
    assert notebook.says(2) == "tone style sample"
    page.get_by_role("button", name="Undo").click()
    wait_for_order(page, "tone", "release", "style", "sample")
    assert notebook.says(2) == "tone release style sample"


def test_keys_move_a_row_and_escape_puts_it_back(book, setup) -> None:
    """Everything the mouse does to the order, keys do too."""
    notebook = book(setup, PANEL, ORDER)
    notebook.run(0)
    notebook.run(1)
    page = notebook.page
    wait_for_order(page, "tone", "release", "style", "sample")
    page.get_by_role("listbox", name="Memories").focus()
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    page.get_by_role("status").filter(has_text="tone moved to position 3 of 4").wait_for()
    assert notebook.says(2) == "release style tone sample"
    page.get_by_role("listbox", name="Memories").focus()
    page.keyboard.press("Home")
    page.keyboard.press("m")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    wait_for_order(page, "release", "style", "tone", "sample")
    assert notebook.says(2) == "release style tone sample"


@pytest.mark.both
def test_keys_in_the_panel_never_reach_the_notebook(book, setup) -> None:
    """`d d` deletes no cell and Shift+Enter runs none, wherever in the panel the focus is."""
    notebook = book(setup, PANEL, ORDER)
    notebook.run(0)
    notebook.run(1)
    page = notebook.page
    page.get_by_role("option", name="tone").click()
    page.locator("[data-editor=codemirror]").wait_for()
    before = page.locator(".jp-InputPrompt").all_inner_texts()
    stops = page.locator(
        ".msdk-root :is(button, input, select, textarea, [tabindex]):not([tabindex='-1']):visible"
    )
    # The controls of the editor come a moment after its text.
    stops.nth(15).wait_for(state="attached")
    for index in range(stops.count()):
        stop = stops.nth(index)
        if stop.is_disabled():
            continue
        stop.focus()
        for key in ("d", "d", "x", "a", "Shift+Enter"):
            page.keyboard.press(key)
    assert notebook.cells() == 3
    assert page.locator(".jp-InputPrompt").all_inner_texts() == before
