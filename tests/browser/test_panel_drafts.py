"""Nothing typed is lost: the kernel raises, hangs or dies, a tab closes, two people write."""

from __future__ import annotations

import pytest

SETUP = """
from memories_sdk import MemoryStore, widgets
store = MemoryStore("{name}.db", durability="process")
alice = store.principals.user("alice")
shelf = store.scope(acting_as=alice)
if not shelf.list():
    shelf.save("one", "plan", "text of one")
    shelf.save("two", "plan", "text of two")
"""
PANEL = "panel = widgets.MemoryPanel(store, acting_as=alice)\npanel"
DRAFTS = "print([(draft.name, draft.content) for draft in shelf.drafts()])"


@pytest.fixture
def cells(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """A store of this test's own, a panel on it, and what the store keeps unsaved."""
    return SETUP.format(name=request.node.name.replace("[", "-").strip("]")), PANEL, DRAFTS


def write(notebook, text: str, name: str = "one"):
    """Open the panel and a memory, type at the end of it, and return the body."""
    notebook.run(0)
    notebook.run(1)
    page = notebook.page
    page.get_by_role("option", name=name).click()
    page.locator("[data-editor=codemirror]").wait_for()
    body = page.get_by_role("textbox", name="Body")
    body.click()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)
    return body


def wait_for_draft(notebook, text: str) -> None:
    """Wait until the page holds no copy of its own: the kernel has confirmed the text."""
    notebook.page.wait_for_function(
        "() => !Object.keys(sessionStorage).some((key) => key.startsWith('memories-sdk.'))"
    )
    assert text in notebook.says(2)


def unsaved(page, name: str):
    """Return the line that offers an unsaved text."""
    return page.get_by_role("status").filter(has_text=f"Unsaved text of now in “{name}”")


@pytest.mark.both
def test_a_text_survives_kernel_and_tab_and_is_offered_again(book, cells) -> None:
    """Typed, never saved; the kernel is killed and the page closed. A new panel brings it back."""
    first = book(*cells)
    write(first, " and more")
    first.page.wait_for_timeout(900)  # the keys rest
    wait_for_draft(first, "text of one and more")
    first.server.end_kernels()
    first.page.close(run_before_unload=False)

    second = book(*cells)
    second.run(0)
    second.run(1)
    page = second.page
    unsaved(page, "one").get_by_role("button", name="Restore").click()
    body = page.get_by_role("textbox", name="Body")
    body.get_by_text("text of one and more").wait_for()
    page.get_by_text("Unsaved changes").wait_for()
    page.keyboard.press("Control+s")
    page.get_by_text("Saved now").wait_for()
    page.wait_for_function("() => !document.body.innerText.includes('Unsaved text of')")
    assert second.says(2) == "[]"


def test_a_text_survives_a_restart_of_the_server(lab, chromium, cells, tmp_path) -> None:
    """The server ends with its kernels while the text is unsaved; the next one offers it."""
    for restarted in (False, True):
        with lab.server(tmp_path) as running:
            page = chromium.new_page()
            notebook = lab.Book(page, running).open(running.write("drafts.ipynb", cells))
            if restarted:
                notebook.run(0)
                notebook.run(1)
                unsaved(page, "one").get_by_role("button", name="Restore").click()
                page.get_by_role("textbox", name="Body").get_by_text("and more").wait_for()
            else:
                write(notebook, " and more")
                page.wait_for_timeout(900)  # the keys rest
                wait_for_draft(notebook, "text of one and more")
            page.close(run_before_unload=False)


@pytest.mark.both
def test_what_is_typed_after_the_kernel_died_is_offered_when_the_cell_runs_again(
    book, cells
) -> None:
    """The page itself keeps the text until a kernel takes it; a reload does not lose it."""
    notebook = book(*cells)
    page = notebook.page
    write(notebook, " early")
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.session.kernel.shutdown()")
    page.get_by_role("textbox", name="Body").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" late")
    page.get_by_role("alert").get_by_text("Not connected").wait_for()
    page.wait_for_function(
        "() => Object.keys(sessionStorage).some((key) => key.startsWith('memories-sdk.'))"
    )
    page.on("dialog", lambda dialog: dialog.accept())  # the page warns of leaving
    page.reload()
    notebook._wait_for_kernel()
    notebook.run(0)
    notebook.run(1)
    unsaved(page, "one").get_by_role("button", name="Restore").click()
    page.get_by_role("textbox", name="Body").get_by_text("text of one early late").wait_for()
    wait_for_draft(notebook, "text of one early late")


def test_a_new_memory_that_was_never_saved_is_offered_and_can_be_discarded(book, cells) -> None:
    """Also one without a name; once discarded, it is nowhere."""
    notebook = book(*cells)
    page = notebook.page
    notebook.run(0)
    notebook.run(1)
    page.get_by_role("button", name="New memory").click()
    page.locator("[data-editor=codemirror]").wait_for()
    page.get_by_role("textbox", name="Body").click()
    page.keyboard.type("nameless")
    notebook.run(1)  # the cell runs again, in the same kernel
    unsaved(page, "a new memory").get_by_role("button", name="Discard").click()
    unsaved(page, "a new memory").wait_for(state="detached")
    assert notebook.says(2) == "[]"


def test_a_draft_on_an_old_version_meets_the_new_one(book, cells) -> None:
    """Somebody saved meanwhile: restoring shows both, and overwrites neither."""
    other = 'shelf.save("one", "plan", "theirs")'
    first = book(*cells, other)
    write(first, " and mine")
    first.page.wait_for_timeout(900)
    wait_for_draft(first, "text of one and mine")
    first.server.end_kernels()
    first.page.close(run_before_unload=False)

    notebook = book(*cells, other)
    page = notebook.page
    for cell in (0, 3, 1):
        notebook.run(cell)
    unsaved(page, "one").get_by_role("button", name="Restore").click()
    conflict = page.get_by_role("alertdialog")
    conflict.get_by_text("edited “one” while you were editing it").wait_for()
    assert page.get_by_role("textbox", name="Body").inner_text() == "text of one and mine"
    conflict.get_by_role("button", name="Keep mine").click()
    page.get_by_text("Saved now").wait_for()
    assert notebook.says(2) == "[]"


@pytest.mark.both
def test_two_kernels_editing_one_memory_lose_nothing(book, cells) -> None:
    """Both type, both save: the second sees both texts and merges; no word is gone."""
    content = 'print(shelf.get("one", "plan").content)'
    left, right = book(*cells, content), book(*cells, content)
    write(left, " left")
    write(right, " right")
    left.page.keyboard.press("Control+s")
    left.page.get_by_text("Saved now").wait_for()
    conflict = right.page.get_by_role("alertdialog")
    conflict.get_by_role("button", name="Merge by hand").click()
    theirs = right.page.get_by_role("region", name="Their version")
    theirs.get_by_text("text of one left").wait_for()
    body = right.page.get_by_role("textbox", name="Body")
    assert body.inner_text() == "text of one right"
    body.click()
    right.page.keyboard.press("Control+End")
    right.page.keyboard.type(" and left")
    right.page.keyboard.press("Control+s")
    right.page.get_by_text("Saved now").wait_for()
    left.page.get_by_role("textbox", name="Body").get_by_text("right and left").wait_for()
    assert left.says(3) == right.says(3) == "text of one right and left"


def test_the_second_of_two_saves_at_once_is_refused_and_shows_both(book, cells) -> None:
    """Where no news of the first came in between, the kernel itself keeps the second from it."""
    content = 'print(shelf.get("one", "plan").content)'
    deaf = "type(panel).look = lambda self: None"
    left, right = book(*cells, content, deaf), book(*cells, content, deaf)
    write(left, " left")
    write(right, " right")
    right.run(4)
    left.page.keyboard.press("Control+s")
    left.page.get_by_text("Saved now").wait_for()
    right.page.get_by_role("textbox", name="Body").click()
    right.page.keyboard.press("Control+s")
    conflict = right.page.get_by_role("alertdialog")
    conflict.get_by_text("Nothing of yours was saved or lost").wait_for()
    assert right.page.get_by_role("textbox", name="Body").inner_text() == "text of one right"
    assert left.says(3) == "text of one left"


def test_a_kernel_that_raises_says_so_and_the_text_stays(book, cells) -> None:
    """An error inside the kernel is a line in the panel; saving again works once it is mended."""
    break_it = (
        "from memories_sdk.scope import Scope\nupdate = Scope.update\n"
        "def broken(self, *args, **options):\n    raise RuntimeError('a bug')\n"
        "Scope.update = broken"
    )
    notebook = book(*cells, break_it, "Scope.update = update")
    page = notebook.page
    body = write(notebook, " and more")
    notebook.run(3)
    body.click()
    page.keyboard.press("Control+s")
    page.get_by_role("alert").get_by_text("The kernel could not do this").wait_for()
    assert body.inner_text() == "text of one and more"
    page.get_by_text("Unsaved changes").wait_for()
    notebook.run(4)
    body.click()
    page.keyboard.press("Control+s")
    page.get_by_text("Saved now").wait_for()


HANG = """
import time
from pathlib import Path
with panel._turn, other._turn:
    while not Path("{go}").exists():
        time.sleep(0.1)
"""


def test_a_kernel_that_hangs_shows_as_silent_and_saves_once_it_is_free(book, cells) -> None:
    """Half a minute in a cell: typing goes on, the panels say that nobody answers, all is kept."""
    # JupyterLab lets widgets answer beside a running cell; holding the panels' turns stops that.
    notebook = book(
        *cells,
        "other = widgets.MemoryPanel(store, acting_as=alice)\nother",
        HANG.format(go="hung_enough"),
        "print(*(head.name for head in shelf.list()))",
    )
    page = notebook.page
    write(notebook, " and")
    notebook.run(3)
    one, other = (notebook.cell(index).locator(".msdk-root") for index in (1, 3))
    other.get_by_role("button", name="New memory").click()
    other.get_by_role("textbox", name="Name").fill("three")
    notebook.start(4)
    for panel, body in ((other, "text of three"), (one, " more")):
        panel.get_by_role("textbox", name="Body").click()
        page.keyboard.press("Control+End")
        page.keyboard.type(body)
        page.keyboard.press("Control+s")
    for panel in (one, other):
        panel.get_by_role("alert").get_by_text("Not connected").wait_for(timeout=40_000)
        panel.get_by_text("Unsaved changes").wait_for(timeout=60_000)  # both have given up
    assert one.get_by_role("textbox", name="Body").inner_text() == "text of one and more"
    (notebook.server.folder / "hung_enough").touch()
    one.get_by_text("Saved now").wait_for(timeout=40_000)
    one.get_by_role("alert").wait_for(state="detached")
    # The first try came through after the page had given up; a second one is the same write.
    other.get_by_role("option", name="three").wait_for()
    other.get_by_role("button", name="Save").click()
    other.get_by_text("Saved now").wait_for()
    assert notebook.says(5) == "one two three"
    assert notebook.says(2) == "[]"
