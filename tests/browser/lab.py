"""A real Jupyter server and a real page: what the browser tests and the picture script drive."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import nbformat
from playwright.sync_api import TimeoutError as TooLate
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from playwright.sync_api import Browser, Error, Locator, Page

ROOT = Path(__file__).parents[2]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--font-render-hinting=none",
]
SLOW = 60_000  # ms; a kernel may start on a busy machine

App = Literal["lab", "notebooks"]


@dataclass(frozen=True)
class Server:
    """A running Jupyter server and the folder it serves."""

    url: str
    folder: Path

    def write(self, name: str, cells: Sequence[str]) -> str:
        """Write a notebook of code cells and return its name."""
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(each) for each in cells]
        )
        for index, cell in enumerate(notebook.cells):
            cell.id = f"cell-{index}"
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, self.folder / name)
        return name

    def end_kernels(self) -> None:
        """Shut down every kernel, so that the next notebook starts with a fresh one."""
        for session in json.loads(self._call("GET", "api/sessions")):
            self._call("DELETE", f"api/sessions/{session['id']}")

    def _call(self, method: str, path: str) -> bytes:
        request = urllib.request.Request(f"{self.url}/{path}", method=method)  # noqa: S310 -- our own server
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 -- our own server
            return answer.read()


@contextmanager
def server(folder: Path) -> Iterator[Server]:
    """Run JupyterLab and Notebook 7 on FOLDER, with no settings but their defaults."""
    notebooks = folder / "notebooks"
    notebooks.mkdir(exist_ok=True)
    port = free_port()
    log = (folder / "server.log").open("wb")
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--allow-root",
            "--ip=127.0.0.1",
            f"--port={port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={notebooks}",
            "--IdentityProvider.token=",
            "--ServerApp.disable_check_xsrf=True",
            "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ],
        env=environment(folder),
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    running = Server(f"http://127.0.0.1:{port}", notebooks)
    try:
        wait_for_answer(running, process, folder / "server.log")
        yield running
        running.end_kernels()
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def environment(folder: Path) -> Mapping[str, str]:
    """Return an environment in which nothing of the user's own Jupyter is read or written."""
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    # Lab would ask its own host for news.
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet), "utf-8")
    homes = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    return {
        **os.environ,
        **{name: str(folder / name.lower()) for name in homes},
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }


def wait_for_answer(running: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers, or raise with what it logged."""
    last = time.monotonic() + SLOW / 1000
    while process.poll() is None and time.monotonic() < last:
        try:
            running._call("GET", "api")
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(log.read_text("utf-8", "replace")[-4000:])


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Debian's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Book:
    """One notebook, open in JupyterLab or in Notebook 7."""

    def __init__(self, page: Page, running: Server, app: App = "lab") -> None:
        self.page = page
        self.server = running
        self.app = app
        self.errors: list[str] = []
        self.foreign: list[str] = []
        page.on("pageerror", self._fail)
        page.on("request", lambda request: self._note(request.url))

    def open(self, name: str) -> Book:
        """Open the notebook NAME and wait for its kernel."""
        path = f"lab/tree/{name}?reset" if self.app == "lab" else f"notebooks/{name}"
        self.page.goto(f"{self.server.url}/{path}")
        try:
            self._wait_for_kernel()
        except TooLate:  # now and then a kernel never connects; a fresh page gets another
            self.server.end_kernels()
            self.page.reload()
            self._wait_for_kernel()
        return self

    def _wait_for_kernel(self) -> None:
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=SLOW)
        self.page.wait_for_function(
            """() => {
              const open = window.jupyterapp?.shell.currentWidget;
              const kernel = open?.sessionContext?.session?.kernel;
              return kernel?.connectionStatus === "connected" && kernel.status === "idle";
            }""",
            timeout=SLOW,
        )

    def run(self, index: int) -> Locator:
        """Run one cell to its end and return its output area."""
        cell = self.cell(index)
        before = cell.locator(".jp-InputPrompt").first.inner_text()
        self.page.evaluate(
            """(index) => {
              const notebook = jupyterapp.shell.currentWidget.content;
              notebook.deselectAll();
              notebook.activeCellIndex = index;
              jupyterapp.commands.execute("notebook:run-cell");
            }""",
            index,
        )
        self.page.wait_for_function(
            r"""([index, before]) => {
              const cell = document.querySelectorAll(".jp-Notebook .jp-Cell")[index];
              const now = cell?.querySelector(".jp-InputPrompt")?.innerText ?? "";
              return /\[\d+\]/.test(now) && now !== before;
            }""",
            arg=[index, before],
            timeout=SLOW,
        )
        error = cell.locator("[data-mime-type='application/vnd.jupyter.error']")
        if error.count():
            raise AssertionError(error.first.inner_text())
        return cell.locator(".jp-OutputArea").first

    def start(self, index: int) -> None:
        """Run one cell, and wait until the kernel is busy with it."""
        self.page.evaluate(
            """(index) => {
              jupyterapp.shell.currentWidget.content.activeCellIndex = index;
              void jupyterapp.commands.execute("notebook:run-cell");
            }""",
            index,
        )
        self.page.wait_for_function(
            "jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'busy'"
        )

    def says(self, index: int) -> str:
        """Run one cell and return the text it printed."""
        return self.run(index).inner_text().strip()

    def cell(self, index: int) -> Locator:
        """Return a cell."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def cells(self) -> int:
        """Return how many cells there are."""
        return self.page.locator(".jp-Notebook .jp-Cell").count()

    def command(self, name: str, **args: object) -> None:
        """Carry out a command of the application."""
        self.page.evaluate(
            "([name, args]) => jupyterapp.commands.execute(name, args)", [name, args]
        )

    def _fail(self, error: Error) -> None:
        # The host has errors of its own; our modules are the only ones that come from a blob.
        if "blob:" in (error.stack or ""):
            self.errors.append(str(error))

    def _note(self, url: str) -> None:
        ours = urlsplit(self.server.url).netloc
        if not re.match(r"(data|blob|about):", url) and urlsplit(url).netloc != ours:
            self.foreign.append(url)


def edit_and_move(page: Page) -> None:
    """Do with the panel what it is for: move a row by key, edit and save a body, preview it."""
    page.get_by_role("option", name="one").wait_for()
    page.get_by_role("listbox", name="Memories").focus()
    page.keyboard.press("Alt+ArrowDown")
    page.get_by_text("one moved to position 2 of 3").wait_for(state="attached")
    page.get_by_role("option", name="three").click()
    page.locator("[data-editor=codemirror]").wait_for()
    page.get_by_role("textbox", name="Body").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" *sheep*")
    page.keyboard.press("Control+s")
    page.get_by_text("Saved now").wait_for()
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("heading", name="The three sheep").wait_for()


def assert_done(database: Path) -> None:
    """Read back what was done, from another process's point of view."""
    from memories_sdk import MemoryStore  # noqa: PLC0415 -- the page is tested without it too

    with MemoryStore(database) as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        assert [head.name for head in shelf.list()] == ["two", "one", "three"]
        assert shelf.get("three", "plan").content == "# The three *sheep*"
