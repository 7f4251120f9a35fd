"""Take the pictures of the panel that README and the documentation show.

Usage: pictures.py [FOLDER]    (FOLDER is docs/images when left out)

The store has a fixed clock and counted ids, and the page a fixed clock, so that a picture changes
only with the panel.
"""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"

STORE = """
from datetime import UTC, datetime, timedelta
from itertools import count

from uuid6 import UUID

from memories_sdk import MemoryStore, widgets

now = datetime(2026, 11, 30, 12, tzinfo=UTC)
clock = [now - timedelta(days=20)]
ids = count(1)
store = MemoryStore(":memory:", clock=lambda: clock[0], ids=lambda: UUID(int=next(ids)))
alice = store.principals.user("alice")
for group in ("field-lab", "reading-circle"):
    store.principals.group(group, members=[alice])
for agent in ("archivist", "writer"):
    store.agents.create(agent, owner=alice)
shelf = store.scope(acting_as=alice)


def save(ago, name, type, content, **more):
    clock[0] = now - timedelta(hours=ago)
    shelf.save(name, type, content, **more)


save(0.1, "user_preferences", "context", '''Always answer in **British English**, shortly.

## Tone

- plain and kind
- no *marketing* words
- numbers with their units

> Write it as you would say it.

- [x] agreed with the field lab
- [ ] add examples for letters
''', tags=["style", "voice"], pinned=True)
save(2, "spring_survey", "plan", '''1. Count the plots
2. Two readings a day
3. Send the table on Friday''', tags=["survey"])
save(5, "sensor_names", "documentation",
     "A sensor is named by site, depth and side: `north-40-left`.", tags=["names", "sites"])
save(26, "letter_to_donors", "examples", "Dear friends, the greenhouse has its new roof.")
save(50, "glossary", "context", "Plot: four by four metres. Reading: one sensor, one minute.")
save(75, "weekly_review", "plan", "Every Friday: read what came in, close what is done.",
     tags=["routine"])
save(240, "table_format", "documentation", "One row a reading; times in UTC; missing is empty.",
     tags=["csv"])
save(300, "citation", "examples", "Müller, A. & Ng, L. (2026). Slow gardens. Field Notes 12(3).")
clock[0] = now
panel = widgets.MemoryPanel(store, acting_as=alice)
panel
"""


THEIRS = """
writer = store.scope(acting_as=alice, actor="agent:writer")
writer.replace("user_preferences", "context",
               find="plain and kind", new_text="plain, kind and brief")
writer.replace("spring_survey", "plan", find="Two readings", new_text="Three readings")
panel.look()
"""
ASK = """
from memories_sdk import MemoryTools
tools = MemoryTools(store, acting_as=alice, agent="archivist")
call = {"action": "delete", "name": "citation", "type": "examples"}
tools.call("global_memory", call)
tools.call("global_memory", {**call, "name": "glossary", "type": "context"})
panel.look()
"""


def main() -> None:
    """Write one picture for each theme, and one for each scene."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else lab.ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        lab.server(Path(home)) as running,
        lab.chromium() as browser,
    ):
        for name, (theme, scene, width) in PICTURES.items():
            book = opened(browser, running, theme, width)
            scene(book)
            book.page.mouse.move(0, 0)
            panel = book.page.locator(".msdk-root")
            panel.screenshot(path=folder / f"panel-{name}.png", animations="disabled")
            book.page.close()
            running.end_kernels()


def opened(browser: Browser, running: lab.Server, theme: str, width: int | None) -> lab.Book:
    """Open the panel in THEME, its output WIDTH wide."""
    page = browser.new_page(
        viewport={"width": 1420, "height": 900},
        device_scale_factor=2,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    page.clock.set_fixed_time(NOW)
    book = lab.Book(page, running).open(running.write("pictures.ipynb", [STORE, THEIRS, ASK]))
    book.command("apputils:change-theme", theme=theme)
    page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
    book.run(0)
    page.get_by_role("option", name="user_preferences").wait_for()
    if width is not None:
        page.locator(".msdk-root").evaluate("(el, px) => { el.style.width = `${px}px`; }", width)
    return book


def side_by_side(book: lab.Book) -> None:
    """A memory in the editor, with its preview."""
    choose(book, "user_preferences")
    book.page.get_by_role("button", name="Side by side").click()
    book.page.get_by_role("heading", name="Tone").wait_for()


def narrow(book: lab.Book) -> None:
    """The list where there is no room for more."""
    assert book.page.get_by_role("option", name="glossary").count()


def conflict(book: lab.Book) -> None:
    """Somebody else changed what is being edited."""
    choose(book, "user_preferences")
    book.page.get_by_role("textbox", name="Body").click()
    book.page.keyboard.press("Control+Home")
    book.page.keyboard.press("End")
    book.page.keyboard.type(" Sign with initials.")
    book.run(1)
    book.page.get_by_role("alertdialog").wait_for()


def history(book: lab.Book) -> None:
    """What happened to a memory, and what one version was."""
    book.run(1)
    choose(book, "spring_survey")
    book.page.get_by_role("button", name="History").click()
    book.page.locator(".msdk-revision").last.click()
    book.page.get_by_role("region", name="Difference").wait_for()


def approvals(book: lab.Book) -> None:
    """What agents ask for."""
    book.run(2)
    book.page.get_by_role("button", name="Approvals, 2 waiting").click()
    book.page.get_by_role("button", name="Grant").nth(1).wait_for()


def choose(book: lab.Book, name: str) -> None:
    """Open a memory."""
    book.page.get_by_role("option", name=name).click()
    book.page.locator("[data-editor=codemirror]").wait_for()


PICTURES = {
    "light": (LIGHT, side_by_side, None),
    "dark": (DARK, side_by_side, None),
    "narrow": (LIGHT, narrow, 360),
    "conflict": (LIGHT, conflict, None),
    "history": (DARK, history, None),
    "approvals": (LIGHT, approvals, None),
}


if __name__ == "__main__":
    main()
