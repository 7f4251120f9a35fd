"""Take the pictures of the panel that the documentation shows.

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
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}

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


def main() -> None:
    """Write one picture for each theme."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else lab.ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        lab.server(Path(home)) as running,
        lab.chromium() as browser,
    ):
        for name, theme in THEMES.items():
            take(browser, running, theme, folder / f"panel-{name}.png")
            running.end_kernels()


def take(browser: Browser, running: lab.Server, theme: str, picture: Path) -> None:
    """Open the panel in THEME, with a memory in the editor, and write PICTURE."""
    page = browser.new_page(
        viewport={"width": 1420, "height": 900},
        device_scale_factor=2,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    page.clock.set_fixed_time(NOW)
    book = lab.Book(page, running).open(running.write("pictures.ipynb", [STORE]))
    book.command("apputils:change-theme", theme=theme)
    page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
    book.run(0)
    page.get_by_role("option", name="user_preferences").click()
    page.locator("[data-editor=codemirror]").wait_for()
    page.get_by_role("button", name="Side by side").click()
    page.get_by_role("heading", name="Tone").wait_for()
    page.mouse.move(0, 0)
    page.locator(".msdk-panel").screenshot(path=picture, animations="disabled")
    page.close()


if __name__ == "__main__":
    main()
