"""Measure the panel in JupyterLab: `python -m bench.panel`. Needs Chromium; CHROMIUM says where.

What is compared is measured in turn in one page, so a machine that slows down slows both.
"""

from __future__ import annotations

import gzip
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

import lab  # noqa: E402 -- a neighbour of the browser tests, found by the line above

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STATIC: Final = ROOT / "src" / "memories_sdk" / "widgets" / "static"
ROUNDS: Final = 5
SHELL: Final = 8_000
WHOLE: Final = 200_000
RATIO: Final = 1.3
FRAMES: Final = 50
PROMPT: Final = 50
TOGETHER: Final = 3
SETUP: Final = """
import sqlite3
from IPython.display import display
from memories_sdk import MemoryStore, widgets
ran, connect = [], sqlite3.connect
def traced(*args, **options):
    connection = connect(*args, **options)
    connection.set_trace_callback(ran.append)
    return connection
sqlite3.connect = traced
store = MemoryStore("panel.db", durability="process")
few, many = (store.principals.user(name) for name in ("few", "many"))
for user, number in ((few, 100), (many, 10_000)):
    shelf = store.scope(acting_as=user)
    for index in range(number - shelf.list(limit=1).total):
        shelf.create(f"m{index:05d}", "context", f"# Text {index}")
"""
FEW: Final = "panel = widgets.MemoryPanel(store, acting_as=few)\npanel"
MANY: Final = "panel = widgets.MemoryPanel(store, acting_as=many)\npanel"
TWENTY: Final = "for _ in range(20):\n    display(widgets.MemoryPanel(store, acting_as=few))"
COUNTED: Final = "ran.clear()"
SAID: Final = 'print(sum(each.lstrip().startswith("UPDATE memories") for each in ran))'
PAINT: Final = """
([index, panels]) => new Promise((resolve) => {
  const cell = document.querySelectorAll(".jp-Notebook .jp-Cell")[index];
  const inSight = (root) => {
    const { top, bottom } = root.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const start = performance.now();
  let old = cell.querySelector(".msdk-root");
  const look = () => {
    if (old?.isConnected) return requestAnimationFrame(look);
    const there = [...cell.querySelectorAll(".msdk-waiting, .msdk-root")];
    const bare = there.filter((root) => !root.querySelector("[role=option]"));
    if (there.length < panels || bare.some(inSight)) return requestAnimationFrame(look);
    requestAnimationFrame(() => resolve(performance.now() - start));
  };
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.deselectAll();
  notebook.activeCellIndex = index;
  void jupyterapp.commands.execute("notebook:run-cell");
  requestAnimationFrame(look);
})
"""
REACH: Final = """
() => new Promise((resolve) => {
  const times = [];
  const next = () => {
    const bare = document.querySelector(".msdk-waiting");
    if (!bare) return resolve(times);
    const place = bare.parentElement;
    const start = performance.now();
    const look = () => {
      if (!place.querySelector("[role=option]")) return requestAnimationFrame(look);
      times.push(performance.now() - start);
      next();
    };
    place.scrollIntoView();
    requestAnimationFrame(look);
  };
  next();
})
"""
SCROLL: Final = """
() => new Promise((resolve) => {
  const view = document.querySelector("[role=listbox][aria-label=Memories]");
  const start = performance.now();
  let frames = 0;
  const step = (now) => {
    frames += 1;
    view.scrollTop += 97;
    if (now - start < 3000) requestAnimationFrame(step);
    else resolve(frames / ((now - start) / 1000));
  };
  requestAnimationFrame(step);
})
"""
KEYS: Final = """
() => {
  window.keyTimes = [];
  let pressed = 0;
  const body = document.querySelector(".msdk-root .cm-content");
  body.addEventListener("keydown", () => { pressed = performance.now(); }, true);
  new MutationObserver(() => {
    if (pressed) window.keyTimes.push(performance.now() - pressed);
    pressed = 0;
  }).observe(body, { childList: true, characterData: true, subtree: true });
}
"""
SENT: Final = """
() => {
  const send = WebSocket.prototype.send;
  window.moves = 0;
  WebSocket.prototype.send = function (data) {
    try {
      const text = typeof data === "string" ? data : new TextDecoder().decode(data);
      if (/"verb": ?"move"/.test(text)) window.moves += 1;
    } catch {
      window.moves = NaN; // counting must not keep a message back
    }
    return send.call(this, data);
  };
}
"""


class Figure(NamedTuple):
    """One line of the table."""

    what: str
    aim: str
    found: str
    met: bool


def main() -> None:
    """Measure, and print a table."""
    figures = sizes()
    if shutil.which(lab.CHROMIUM):
        with (
            tempfile.TemporaryDirectory() as home,
            lab.server(Path(home)) as running,
            lab.chromium() as browser,
        ):
            for part in (paints, together):
                try:
                    figures += part(browser, running)
                except lab.TooLate as late:  # what was measured before is printed all the same
                    figures.append(Figure(part.__name__, "", f"{late}".split("\n")[0], met=False))
    else:
        print(f"No browser at {lab.CHROMIUM}: only sizes are measured.\n")
    print("| panel | aim | found | |\n|---|--:|--:|---|")
    for what, aim, found, met in figures:
        print(f"| {what} | {aim} | {found} | {'met' if met else 'missed'} |")


def sizes() -> list[Figure]:
    """Return what crosses the comm."""
    shell = (STATIC / "shell.js").stat().st_size
    packed = sum(len(gzip.compress(path.read_bytes(), 9)) for path in STATIC.glob("*.js"))
    return [
        Figure("shell of each widget, bytes", f"≤ {SHELL:,}", f"{shell:,}", shell <= SHELL),
        Figure("whole panel, bytes gzipped", f"≤ {WHOLE:,}", f"{packed:,}", packed <= WHOLE),
    ]


def opened(browser: Browser, running: lab.Server, name: str, *cells: str) -> lab.Book:
    """Open a notebook and run its first cell."""
    page = browser.new_page(viewport={"width": 1280, "height": 950})
    page.set_default_timeout(lab.SLOW)
    book = lab.Book(page, running).open(running.write(f"{name}.ipynb", [SETUP, *cells]))
    book.run(0)
    return book


def painted(book: lab.Book, cell: int, panels: int = 1) -> float:
    """Run a cell and return the milliseconds until all its panels in sight show their rows."""
    return float(book.page.evaluate(PAINT, [cell, panels]))


def paints(browser: Browser, running: lab.Server) -> list[Figure]:
    """Return how a large shelf compares with a small one, and what one panel does."""
    book = opened(browser, running, "paints", FEW, MANY, COUNTED, SAID)
    painted(book, 1)  # fetches the modules
    painted(book, 2)  # reads the shelf for the first time
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for cell, found in times.items():
            found.append(painted(book, cell))
    small, large = (statistics.median(times[cell]) for cell in (1, 2))
    book.page.locator(".msdk-root").first.evaluate("root => root.remove()")
    return [
        Figure(
            "first paint, 10,000 memories ÷ 100",
            f"≤ {RATIO}",
            f"{large / small:.2f} ({large:,.0f} ÷ {small:,.0f} ms)",
            large <= RATIO * small,
        ),
        *used(book),
    ]


def used(book: lab.Book) -> list[Figure]:
    """Return what scrolling, typing and moving a row cost on the large shelf."""
    page = book.page
    rate = float(page.evaluate(SCROLL))
    page.get_by_role("listbox", name="Memories").evaluate("view => { view.scrollTop = 0; }")
    page.get_by_role("option", name="m00000").click()
    page.locator("[data-editor=codemirror]").wait_for()
    page.get_by_role("textbox", name="Body").click()
    page.evaluate(KEYS)
    page.keyboard.type("the quick brown fox jumps over the lazy dog, twice a day", delay=20)
    keys = sorted(page.evaluate("window.keyTimes"))
    page.keyboard.press("Control+s")
    page.get_by_text("Saved now").wait_for()
    book.run(3)
    page.evaluate(SENT)
    page.get_by_role("listbox", name="Memories").focus()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("Alt+ArrowDown")
    page.wait_for_function("() => window.moves > 0 || Number.isNaN(window.moves)")
    sent = [str(page.evaluate("window.moves")), book.says(4)]
    worst = keys[int(len(keys) * 0.95)]
    return [
        Figure(
            "scrolling 10,000 rows, frames a second", f"≥ {FRAMES}", f"{rate:.0f}", rate >= FRAMES
        ),
        Figure(
            "from key to text, ms (median, 95th of a hundred)",
            f"< {PROMPT}",
            f"{statistics.median(keys):.0f}, {worst:.0f}",
            worst < PROMPT,
        ),
        Figure("messages for a move", "1", sent[0], sent[0] == "1"),
        Figure("statements for a move", "1", sent[1], sent[1] == "1"),
    ]


def together(browser: Browser, running: lab.Server) -> list[Figure]:
    """Return how twenty panels in a fresh page compare with one, and how those below come up."""
    times: dict[int, list[float]] = {1: [], 20: []}
    reached: list[float] = []
    for _ in range(3):
        for panels, cell in ((1, FEW), (20, TWENTY)):
            running.end_kernels()
            book = opened(browser, running, f"together-{panels}", cell)
            times[panels].append(painted(book, 1, panels))
            reached += book.page.evaluate(REACH)
            book.page.close()
    one, twenty = (min(times[panels]) for panels in (1, 20))
    typical, longest = statistics.median(reached), max(reached)
    return [
        Figure(
            "20 panels ÷ one, until those in sight show their rows",
            f"≤ {TOGETHER}",
            f"{twenty / one:.1f} ({twenty:,.0f} ÷ {one:,.0f} ms)",
            twenty <= TOGETHER * one,
        ),
        Figure(
            "another of the 20, from scrolled to until its rows, ms (median, longest)",
            f"≤ {one:,.0f}",
            f"{typical:.0f}, {longest:.0f}",
            longest <= one,
        ),
    ]


if __name__ == "__main__":
    main()
