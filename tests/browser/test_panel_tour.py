"""A walk through the panel in JupyterLab and in Notebook 7: each thing by mouse and by keyboard."""

from __future__ import annotations

import pytest

SETUP = """
from memories_sdk import DOCUMENTS, FACTS, MemoryStore, Vocabulary, widgets
RELEASES = Vocabulary("releases", {{"release_note": "Release notes"}})
store = MemoryStore(":memory:", vocabularies=(DOCUMENTS, FACTS, RELEASES))
alice, bob = (store.principals.user(each) for each in ("alice", "bob"))
lab = store.principals.group("lab", members=[alice, bob])
for agent in ("reader", "writer"):
    store.agents.create(agent, owner=alice)
shelf = store.scope(acting_as=alice)
plans = dict.fromkeys(("ship", "sail", "row"), "plan")
for name, type in ({{"tone": "context"}} | plans | {{"style": "documentation"}}).items():
    body = f"# The {{name}}\\n\\nA body of its own: {{name[::-1]}}."
    shelf.save(name, type, body, tags=[type[:3]])
shelf.move(shelf.get("style", "documentation").id, after=shelf.get("ship", "plan").id)
store.scope(acting_as=alice, principal=lab).save("shared", "plan", "# Ours")
{more}
panel = widgets.MemoryPanel(store, acting_as=alice)
panel
"""
REFUSING = """
from memories_sdk import NotFound
from memories_sdk.scope import Scope
move = Scope.move
def refuse(self, *args, **options):
    raise NotFound("It may not move.")
Scope.move = refuse
"""
ORDER = "print(*(head.name for head in shelf.list()))"


def opened(book, *cells: str, more: str = ""):
    """Open the panel with CELLS to ask the store with, and wait for its list."""
    notebook = book(SETUP.format(more=more), ORDER, *cells)
    notebook.run(0)
    notebook.page.get_by_role("option", name="tone").wait_for()
    return notebook


def wait_for_order(page, *names: str) -> None:
    """Wait until the list shows these names in this order."""
    page.wait_for_function(
        "names => [...document.querySelectorAll('[role=option] .msdk-name')]"
        ".map(e => e.innerText).join() === names.join()",
        arg=list(names),
    )


def words(found) -> list[str]:
    """Return what each of these elements says, in one line."""
    return [" ".join(text.split()) for text in found.all_inner_texts()]


def said(page, text: str) -> None:
    """Wait until the live region has said this to those who cannot see."""
    page.get_by_role("status").filter(has_text=text).first.wait_for(state="attached")


def drag(page, source, target) -> None:
    """Drag one row over another with the mouse: press, wander, let go."""
    start, end = source.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + 12, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(start["x"] + 14, start["y"] + start["height"] / 2 + 8)
    page.mouse.move(end["x"] + 14, end["y"] + end["height"] / 2, steps=8)
    page.mouse.up()


@pytest.mark.both
def test_who_acts_where_and_which_types(book) -> None:
    """Principals, scopes and types are chosen by click and by arrow; a closed shelf says so."""
    notebook = opened(
        book,
        "print(panel.principal_id == lab.id, panel.agent_id, panel.filter)",
        "shelf.save('tea', 'preference', 'green')\n"
        "shelf.save('two', 'release_note', 'text')\npanel.look()",
        "store.principals.remove_member(lab, alice)",
    )
    page = notebook.page
    who = page.get_by_role("radiogroup", name="Acting principal")
    where = page.get_by_role("radiogroup", name="Scope")
    assert words(who.get_by_role("radio")) == ["alice", "lab (group)"]

    where.get_by_role("radio", name="Agent: reader").click()
    page.get_by_text("No memories yet").wait_for()
    where.get_by_role("radio", name="Agent: reader").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    where.get_by_role("radio", name="Agent: writer", checked=True).wait_for()
    who.get_by_role("radio", name="alice").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_role("option", name="shared").wait_for()
    where.get_by_role("radio", name="Global", checked=True).wait_for()
    assert notebook.says(2) == "True None None"
    who.get_by_role("radio", name="alice").click()
    wait_for_order(page, "tone", "ship", "style", "sail", "row")

    chips = page.get_by_role("group", name="Type filter")
    labels = ["All 5", "Plans 3", "Docs 1", "Examples 0", "Context 1", "Release notes 0"]
    assert words(chips.get_by_role("button")) == labels
    notebook.run(3)
    chips.get_by_role("button", name="Preferences 1").wait_for()
    chips.get_by_role("button", name="Release notes 1").click()
    wait_for_order(page, "two")
    chips.get_by_role("button", name="Plans 3").focus()
    page.keyboard.press("Enter")
    wait_for_order(page, "ship", "sail", "row")
    chips.get_by_role("button", name="All 7").click()
    page.get_by_role("button", name="Group by type").focus()
    page.keyboard.press(" ")
    page.locator(".msdk-heading").first.wait_for()
    wait_for_order(page, "ship", "sail", "row", "style", "tone", "tea", "two")

    who.get_by_role("radio", name="lab (group)").click()
    page.get_by_role("option", name="shared").wait_for()
    notebook.run(4)
    closed = page.locator(".msdk-list").get_by_role("alert")
    closed.get_by_text("Caller does not control principal").wait_for()
    who.get_by_role("radio", name="alice").click()
    page.get_by_role("option", name="tone").wait_for()


@pytest.mark.both
def test_the_list(book) -> None:
    """Moved, searched, chosen and pinned by mouse and by key, and told to those who only hear."""
    notebook = opened(
        book,
        "print(*(f'{head.name}:{head.type}' for head in shelf.list() if head.pinned))",
        REFUSING,
        "Scope.move = move",
        "print(*(head.name for head in store.scope(acting_as=alice, principal=lab).list()))",
    )
    page = notebook.page
    rows = page.get_by_role("listbox", name="Memories")
    option = rows.get_by_role("option")

    drag(page, option.nth(0), option.nth(2))
    wait_for_order(page, "ship", "style", "tone", "sail", "row")
    assert notebook.says(1) == "ship style tone sail row"
    page.get_by_role("button", name="Plans").click()
    wait_for_order(page, "ship", "sail", "row")
    drag(page, option.nth(0), option.nth(1))
    wait_for_order(page, "sail", "ship", "row")
    assert notebook.says(1) == "style tone sail ship row"
    page.get_by_role("button", name="All 5").click()
    wait_for_order(page, "style", "tone", "sail", "ship", "row")

    rows.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Alt+ArrowDown")
    said(page, "style moved to position 2 of 5")
    page.keyboard.press("m")
    page.keyboard.press("ArrowDown")
    said(page, "style, position 3 of 5")
    page.keyboard.press("Escape")
    said(page, "style put back to position 2 of 5")
    page.keyboard.press("m")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    said(page, "style moved to position 5 of 5")
    assert notebook.says(1) == "tone sail ship row style"

    notebook.run(3)
    drag(page, option.nth(0), option.nth(2))
    page.get_by_role("alert").get_by_text("It may not move.").wait_for()
    wait_for_order(page, "tone", "sail", "ship", "row", "style")
    notebook.run(4)

    search = page.get_by_role("searchbox", name="Search memories")
    for words, found in {"enot": "tone", "doc": "style", "SAIL": "sail"}.items():
        search.fill(words)
        wait_for_order(page, found)
    search.press("Escape")
    wait_for_order(page, "tone", "sail", "ship", "row", "style")

    rows.focus()
    page.keyboard.press("Home")
    page.keyboard.press("p")
    said(page, "tone pinned")
    page.keyboard.press("Shift+ArrowDown")
    bar = page.get_by_role("toolbar", name="Selected memories")
    bar.get_by_text("2 selected").wait_for()
    bar.get_by_role("combobox", name="Set kind").select_option("examples")
    page.get_by_text("2 memories changed.").wait_for()
    bar.get_by_role("button", name="Pin").click()
    page.get_by_text("2 memories pinned.").wait_for()
    assert notebook.says(2) == "tone:examples sail:examples"
    bar.get_by_role("combobox", name="Move to").select_option(label="lab")
    page.get_by_text("2 memories moved.").wait_for()
    assert notebook.says(5) == "shared tone sail"
    page.get_by_role("button", name="Undo").click()
    wait_for_order(page, "ship", "row", "style", "tone", "sail")
    option.nth(0).click(modifiers=["Control"])
    option.nth(2).click(modifiers=["Shift"])
    bar.get_by_text("3 selected").wait_for()
    bar.get_by_role("button", name="Remove").click()
    wait_for_order(page, "tone", "sail")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("option", name="style").wait_for()
    assert sorted(notebook.says(1).split()) == ["row", "sail", "ship", "style", "tone"]


@pytest.mark.both
def test_the_editor_and_the_past(book) -> None:
    """Written, shown, replaced, guarded, deleted and brought back by mouse and by key."""
    notebook = opened(
        book,
        "found = shelf.get('tone', 'context')\n"
        "print([found.content, found.summary, found.summary_derived, *found.tags])",
    )
    page = notebook.page
    form = page.get_by_role("form", name="Memory editor")
    body = form.get_by_role("textbox", name="Body")
    page.get_by_role("listbox", name="Memories").focus()
    page.keyboard.press("Enter")
    page.locator("[data-editor=codemirror]").wait_for()
    summary = form.get_by_role("textbox", name="Summary")
    assert summary.get_attribute("placeholder").startswith("The tone")
    body.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("# Voice")
    page.keyboard.press("Enter")
    page.keyboard.type("plain and plain")
    form.get_by_text("23 characters").wait_for()
    summary.fill("How we write")
    form.get_by_role("textbox", name="Tags").fill("style, voice")
    form.get_by_role("button", name="Side by side").click()
    form.get_by_role("heading", name="Voice").wait_for()
    form.get_by_role("button", name="Preview").click()
    body.wait_for(state="hidden")
    form.get_by_role("button", name="Find and replace").click()
    form.get_by_role("textbox", name="Find").fill("plain")
    form.get_by_role("textbox", name="Put there").fill("kind")
    page.keyboard.press("Enter")
    form.get_by_text("provide a unique substring").wait_for()
    form.get_by_role("textbox", name="Find").fill("and plain")
    form.get_by_role("button", name="Replace", exact=True).click()
    form.get_by_text("Replaced.").wait_for()
    page.keyboard.press("Control+s")
    form.get_by_text("Saved now").wait_for()
    assert notebook.says(2) == ("['# Voice\\nplain kind', 'How we write', False, 'style', 'voice']")

    form.get_by_role("textbox", name="Name").fill("voice")
    page.get_by_role("option", name="ship").click()
    question = page.get_by_role("alertdialog")
    question.get_by_text("has unsaved changes").wait_for()
    page.keyboard.press("Escape")
    question.wait_for(state="detached")
    page.get_by_role("option", name="ship").click()
    question.get_by_role("button", name="Discard them").click()
    page.wait_for_function("document.querySelector('[aria-label=Name]').value === 'ship'")

    page.get_by_role("option", name="tone").click()
    page.wait_for_function("document.querySelector('[aria-label=Name]').value === 'tone'")
    form.get_by_role("button", name="History").click()
    versions = page.get_by_role("group", name="Versions").get_by_role("button")
    versions.nth(1).focus()
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Difference").get_by_text("The tone").first.wait_for()
    assert "alice created" in versions.nth(1).inner_text()
    page.get_by_role("button", name="Restore version 1").click()
    page.get_by_text("is as it was in version 1").wait_for()
    assert notebook.says(2).startswith("['# The tone")

    form.get_by_role("button", name="Delete").click()
    question.get_by_role("button", name="Yes, delete").click()
    page.get_by_role("option", name="tone").wait_for(state="detached")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("option", name="tone").wait_for()
    form.get_by_role("button", name="Delete").click()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.get_by_role("option", name="tone").wait_for(state="detached")
    page.get_by_role("button", name="More").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Restore tone").click()
    page.get_by_role("option", name="tone").wait_for()
    assert notebook.says(1) == "tone ship style sail row"


@pytest.mark.both
def test_making_clearing_and_meeting_others(book) -> None:
    """A memory is made and all are cleared by key or click; two who write are both asked."""
    notebook = opened(
        book,
        "mine, theirs = shelf, store.scope(acting_as=alice, actor='agent:writer')\n"
        "print(mine.get('new', 'context').content)",
        "theirs.save('new', 'context', 'theirs')\npanel.look()",
        "theirs.save('new', 'context', 'theirs again')\npanel.look()",
        "theirs.save('new', 'context', 'theirs at last')\npanel.look()",
        "print(panel.dirty, panel.selected == str(shelf.get('new', 'context').id))",
    )
    page = notebook.page
    form = page.get_by_role("form", name="Memory editor")
    body = form.get_by_role("textbox", name="Body")
    page.get_by_role("button", name="New memory").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.ariaLabel === 'Name'")
    page.locator("[data-editor=codemirror]").wait_for()
    page.keyboard.type("new")
    body.click()
    page.keyboard.type("mine")
    page.keyboard.press("Control+s")
    page.get_by_role("option", name="new").wait_for()
    assert notebook.says(2) == "mine"

    def write(text: str) -> None:
        body.click()
        page.keyboard.press("Control+End")
        page.keyboard.type(text)

    write(" and more")
    notebook.run(3)
    asked = page.get_by_role("alertdialog")
    asked.get_by_text("writer (agent) edited “new” while you were editing it").wait_for()
    assert notebook.says(6) == "True True"
    asked.get_by_role("button", name="Take theirs").click()
    body.get_by_text("theirs", exact=True).wait_for()
    write(" and mine")
    notebook.run(4)
    asked.get_by_role("button", name="Keep mine").click()
    form.get_by_text("Saved now").wait_for()
    assert notebook.says(2) == "theirs and mine"
    write(", still")
    notebook.run(5)
    asked.get_by_role("button", name="Merge by hand").press("Enter")
    form.get_by_role("region", name="Their version").get_by_text("theirs at last").wait_for()
    assert notebook.says(2) == "theirs at last"
    write(" and at last")
    page.keyboard.press("Control+s")
    form.get_by_text("Saved now").wait_for()
    assert notebook.says(2) == "theirs and mine, still and at last"
    assert notebook.says(6) == "False True"

    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Clear all").click()
    sure = page.get_by_role("textbox", name="Type clear to confirm")
    clear = page.get_by_role("button", name="Clear all")
    assert clear.is_disabled()
    sure.fill("clear")
    sure.press("Enter")
    page.get_by_text("No memories yet").wait_for()
    page.get_by_role("button", name="Write the first one").wait_for()
    assert notebook.says(1) == ""
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("option", name="sail").wait_for()
    assert len(notebook.says(1).split()) == 6
