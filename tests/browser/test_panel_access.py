"""The panel for everybody: no barrier in any theme, by touch, narrow, or without motion."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path

import pytest

AXE = Path(__file__).parents[2] / "widgets" / "node_modules" / "axe-core" / "axe.min.js"
STYLE = """
* { transition: none !important; animation: none !important; }
body { height: 100vh !important; }
"""
"""No colour is on its way to another. And JupyterLab's body has no height and hides what overflows:
axe takes all that stands in it for hidden, and looks at none of it."""
SEEN = 20
"""Texts of which every scene has more."""
NAMED_SHORT = "label-content-name-mismatch"
"""A row is named by its memory alone, and described by the rest. Axe asks for all that stands on
it, its time and summary too: rows would be told apart late, and a voice have to say it all."""
THEMES = ["JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast"]
SETUP = """
from memories_sdk import MemoryStore, MemoryTools, widgets
store = MemoryStore(":memory:")
alice = store.principals.user("alice")
store.principals.group("lab", members=[alice])
for name in ("reader", "writer"):
    store.agents.create(name, owner=alice)
shelf = store.scope(acting_as=alice)
shelf.save("tone", "context", "# Tone\\n\\n- *kind*\\n- `plain`\\n\\n> quiet\\n\\n"
           "```python\\n# note\\nreturn 'a' + 1\\n```\\n\\n[x](https://example.org)",
           tags=["style"], pinned=True)
shelf.save("release", "plan", "1. freeze\\n2. sail")
shelf.replace("release", "plan", find="sail", new_text="ship")
shelf.save("gone", "plan", "text")
shelf.delete("gone", "plan")
shelf.save("style", "documentation", "text")
shelf.save("sample", "examples", "text")
shelf.save("tea", "preference", "green")
shelf.save("everything", "context", '''> [!WARNING]
> Shown beside a warning.

> [!TIP]
> A tip.

- [x] done
- [ ] to do

A note[^1], a [blocked](javascript:alert) link, ![far](https://example.org/x.png).

| a | b |
|--:|:-:|
| 1 | 2 |

[^1]: At the end.
''')
tools = MemoryTools(store, acting_as=alice, agent="writer")
tools.call("global_memory", {"action": "delete", "name": "sample", "type": "examples"})
shelf.keep_draft("k", type="plan", name="draft", content="typed")
panel = widgets.MemoryPanel(store, acting_as=alice)
panel
"""
THEIRS = 'shelf.save("release", "plan", "theirs")'
ORDER = "print(*(head.name for head in shelf.list()))"


def violations(page, where: str) -> list[str]:
    """Return what axe-core finds in the panel, one line each; it must have looked at its texts."""
    found = page.evaluate("axe.run('.msdk-root')")
    seen = [len(each["nodes"]) for each in found["passes"] if each["id"] == "color-contrast"]
    assert sum(seen) > SEEN, f"{where}: of {sum(seen)} texts alone axe knows the contrast"
    return [
        f"{where}: {each['id']}: {node['html'][:120]} {node.get('failureSummary', '')[:300]}"
        for each in found["violations"]
        for node in each["nodes"]
        if not (each["id"] == NAMED_SHORT and 'role="option"' in node["html"])
    ]


def list_and_editor(page):
    """Lead the panel through list and editor, and name each scene."""
    yield "list"
    page.get_by_role("option", name="tone").click()
    page.locator("[data-editor=codemirror]").wait_for()
    yield "editor"
    page.get_by_role("button", name="Side by side").click()
    page.get_by_role("heading", name="Tone").wait_for()
    page.get_by_role("button", name="Find and replace").click()
    yield "side by side"
    page.get_by_role("textbox", name="Body").click()
    page.keyboard.type("x")
    page.get_by_role("option", name="release").click()
    page.get_by_role("alertdialog").wait_for()
    yield "question"
    page.get_by_role("button", name="Discard them").click()


def past_and_conflict(page):
    """Lead the panel through history, bin, clearing and a conflict, and name each scene."""
    page.get_by_role("option", name="release").click()
    # What was open before may still be, for a moment.
    page.wait_for_function("document.querySelector('[aria-label=Name]').value === 'release'")
    page.get_by_role("button", name="History").click()
    page.locator(".msdk-revision").last.click()
    page.get_by_role("region", name="Difference").wait_for()
    yield "history"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Recently deleted").wait_for()
    yield "menu"
    page.get_by_role("menuitem", name="Recently deleted").click()
    page.get_by_role("button", name="Restore gone").wait_for()
    yield "recently deleted"
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Clear all").click()
    page.get_by_role("textbox", name="Type clear to confirm").wait_for()
    yield "clear all"
    page.get_by_role("button", name="Close").click()
    page.get_by_role("textbox", name="Body").click()
    page.keyboard.type("x")
    page.evaluate(
        """() => {
          jupyterapp.shell.currentWidget.content.activeCellIndex = 1;
          return jupyterapp.commands.execute("notebook:run-cell");
        }"""
    )
    page.get_by_role("button", name="Merge by hand").wait_for()
    yield "conflict"
    page.get_by_role("button", name="Merge by hand").click()
    page.get_by_role("region", name="Their version").wait_for()
    yield "merge"
    form = page.get_by_role("form", name="Memory editor")
    form.get_by_role("button", name="Save").click()
    form.get_by_text("Saved now").wait_for()


def many_and_none(page):
    """Lead the panel through selections, groups and emptiness, and name each scene."""
    page.get_by_role("option", name="style").click(modifiers=["Control"])
    page.get_by_role("toolbar", name="Selected memories").wait_for()
    page.get_by_role("button", name="Group by type").click()
    page.locator(".msdk-heading").first.wait_for()
    yield "several, grouped"
    page.get_by_role("radio", name="Agent: reader").click()
    page.get_by_text("No memories yet").wait_for()
    yield "empty"
    page.get_by_role("radio", name="Agent: reader").click()
    page.get_by_role("option", name="writer").wait_for()
    yield "agents"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="New memory").click()
    yield "new"


def rendered_and_waiting(page):
    """Lead the panel through all a body can show, approvals and an unsaved text."""
    page.get_by_role("button", name="Approvals, 1 waiting").click()
    page.get_by_role("button", name="Grant").wait_for()
    yield "approvals"
    page.get_by_role("button", name="Close").click()
    page.get_by_role("status").filter(has_text="Unsaved text of").wait_for()
    yield "unsaved text offered"
    page.get_by_role("button", name="Discard", exact=True).click()
    page.get_by_role("option", name="everything").click()
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("region", name="Rendered body").get_by_text("Shown beside").wait_for()
    yield "everything rendered"
    page.get_by_role("button", name="Preview").click()


SCENES = (rendered_and_waiting, list_and_editor, past_and_conflict, many_and_none)


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_no_violation(book, theme: str) -> None:
    """Names, roles, focus and contrast hold in each of the three themes, in every scene."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci in widgets/")
    notebook = book(SETUP, THEIRS)
    page = notebook.page
    notebook.command("apputils:change-theme", theme=theme)
    page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=theme)
    notebook.run(0)
    page.get_by_role("option", name="tone").wait_for()
    page.add_style_tag(content=STYLE)
    page.evaluate(AXE.read_text("utf-8"))
    found = []
    for scene in chain(*(scenes(page) for scenes in SCENES)):
        found += violations(page, scene)
    assert found == []


@pytest.mark.both
def test_a_finger_on_the_grip_moves_a_row_and_elsewhere_scrolls(book) -> None:
    """Touch works: the grip drags, the rest of the row stays free for scrolling."""
    notebook = book(SETUP, ORDER, has_touch=True)
    notebook.run(0)
    page = notebook.page
    page.get_by_role("option", name="tone").wait_for()
    touch = page.context.new_cdp_session(page)

    def swipe(start, end) -> None:
        box, to = start.bounding_box(), end.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        goal = to["y"] + to["height"] / 2
        touch.send(
            "Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]}
        )
        for step in range(1, 9):
            point = {"x": x, "y": y + (goal - y) * step / 8}
            touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    rows = page.get_by_role("listbox", name="Memories").get_by_role("option")
    swipe(rows.nth(0).locator(".msdk-summary"), rows.nth(2).locator(".msdk-summary"))
    assert notebook.says(1) == "tone release style sample tea everything"
    swipe(rows.nth(0).locator(".msdk-grip"), rows.nth(2).locator(".msdk-grip"))
    page.wait_for_function(
        "document.querySelector('[role=option] .msdk-name').innerText === 'release'"
    )
    assert notebook.says(1) == "release style tone sample tea everything"


@pytest.mark.parametrize("width", [320, 480, 700, 1200])
def test_nothing_is_cut_off_at_any_width(book, width: int) -> None:
    """From 320 px on, no part of the panel reaches over its edge."""
    notebook = book(SETUP, ORDER)
    notebook.run(0)
    page = notebook.page
    page.get_by_role("option", name="tone").wait_for()
    page.evaluate(
        "width => { document.querySelector('.msdk-root').style.width = width + 'px'; }", width
    )
    page.get_by_role("option", name="tone").click()
    page.get_by_role("form", name="Memory editor").wait_for()
    over = page.evaluate(
        """() => {
          const edge = document.querySelector(".msdk-panel").getBoundingClientRect();
          const kinds = ".msdk-panel :is(button, input, select, .cm-editor)";
          const parts = document.querySelectorAll(kinds);
          return [...parts].filter((part) => {
            if (part.closest(".msdk-chips")) return false; // those scroll sideways
            const box = part.getBoundingClientRect();
            return box.width && (box.right > edge.right + 1 || box.left < edge.left - 1);
          }).map((part) => part.outerHTML.slice(0, 120));
        }"""
    )
    assert over == []
    if width < 640:
        page.get_by_role("button", name="Back to the list").click()
        page.get_by_role("listbox", name="Memories").wait_for()


def test_reduced_motion_is_respected(book) -> None:
    """Rows do not slide for those who asked for stillness."""
    notebook = book(SETUP, ORDER, reduced_motion="reduce")
    notebook.run(0)
    row = notebook.page.get_by_role("option", name="tone")
    assert row.evaluate("row => getComputedStyle(row).transitionDuration") in {"0s", "0s, 0s"}


def test_saved_notebook_keeps_no_memory_text_in_its_widget_state(book) -> None:
    """What Jupyter saves of a widget is its shell and a few ids, even when asked to save state."""
    notebook = book(SETUP, ORDER)
    notebook.run(0)
    page = notebook.page
    page.get_by_role("option", name="tone").click()
    page.get_by_role("searchbox", name="Search memories").fill("tone")
    state = page.evaluate(
        """async () => {
          const panel = jupyterapp.shell.currentWidget;
          const model = panel.content.model;
          await jupyterapp.commands.execute("docmanager:save");
          return JSON.stringify(model.toJSON().metadata);
        }"""
    )
    assert "kind" not in json.dumps(json.loads(state).get("widgets", {}))


def test_right_to_left_hosts_get_a_mirrored_panel(book) -> None:
    """The list stands at the reading side, and nothing reaches over the edge."""
    notebook = book(SETUP, ORDER)
    notebook.run(0)
    page = notebook.page
    page.get_by_role("option", name="tone").wait_for()
    page.evaluate("document.querySelector('.msdk-root').dir = 'rtl'")
    page.get_by_role("option", name="tone").click()
    editor = page.get_by_role("form", name="Memory editor").bounding_box()
    panel = page.locator(".msdk-panel").bounding_box()
    rows = page.get_by_role("listbox", name="Memories").bounding_box()
    assert editor["x"] < rows["x"]
    assert rows["x"] + rows["width"] <= panel["x"] + panel["width"] + 1
    assert editor["x"] >= panel["x"] - 1


def test_forced_colours_show_what_is_chosen(book) -> None:
    """Where the system takes all colours away, outlines tell the pressed from the others."""
    notebook = book(SETUP, ORDER, forced_colors="active")
    notebook.run(0)
    page = notebook.page
    page.get_by_role("option", name="tone").wait_for()
    chip = page.get_by_role("button", name="All", pressed=True)
    assert chip.evaluate("chip => getComputedStyle(chip).outlineStyle") == "solid"
