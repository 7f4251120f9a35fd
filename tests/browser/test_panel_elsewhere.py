"""The panel outside JupyterLab: as a Voilà application, and in marimo."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

import nbformat
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETUP = """
from memories_sdk import MemoryStore, widgets
store = MemoryStore("{database}")
alice = store.principals.user("alice")
shelf = store.scope(acting_as=alice)
for each in ("one", "two", "three"):
    shelf.save(each, "plan", f"# The {{each}}")
"""
PANEL = "panel = widgets.MemoryPanel(store, acting_as=alice)\npanel"
MARIMO = """
import marimo
app = marimo.App()

@app.cell
def _():
    import marimo as mo
{setup}
    panel = mo.ui.anywidget(widgets.MemoryPanel(store, acting_as=alice))
    return mo, panel

@app.cell
def _(panel):
    panel

@app.cell
def _(mo, panel):
    mo.md(f"open: {{panel.selected or 'nothing'}}, type: {{panel.value['filter'] or 'any'}}")
"""
LONG = 90.0  # seconds until a server answers on a busy machine


@contextmanager
def serving(command: list[str], url: str, folder: Path) -> Iterator[None]:
    """Run a server until its page answers, and end it afterwards."""
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            wait_for(process, url, folder / "server.log")
            yield
        finally:
            process.terminate()
            process.wait(30)


def wait_for(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Wait until the server answers, or raise with what it logged."""
    last = time.monotonic() + LONG
    while process.poll() is None and time.monotonic() < last:
        try:
            urllib.request.urlopen(url, timeout=5).close()  # noqa: S310 -- our own server
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError(log.read_text("utf-8", "replace")[-4000:])


@pytest.fixture
def page(browser):
    """A page; afterwards none of our modules may have failed in it."""
    page = browser.new_page(viewport={"width": 1280, "height": 950})
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: "blob:" in (error.stack or "") and errors.append(str(error)))
    yield page
    page.close()
    assert errors == []


def port() -> int:
    """Return a port that nobody listens on now."""
    return sys.modules["browser_lab"].free_port()


def test_voila_serves_the_panel_as_an_application(lab, page, tmp_path) -> None:
    """No notebook around it: list, editor and preview work all the same."""
    if importlib.util.find_spec("voila") is None:
        pytest.skip("voila is not installed: pip install voila")
    database = tmp_path / "voila.db"
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(each) for each in (SETUP.format(database=database), PANEL)
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, tmp_path / "panel.ipynb")
    at = port()
    url = f"http://127.0.0.1:{at}"
    command = ["voila", "panel.ipynb", "--no-browser", f"--port={at}", "--Voila.ip=127.0.0.1"]
    with serving([*command, "--Voila.tornado_settings={}"], url, tmp_path):
        page.goto(url)
        lab.edit_and_move(page)
    lab.assert_done(database)


def test_marimo_runs_the_cells_that_read_the_panel(lab, page, tmp_path) -> None:
    """Through `mo.ui.anywidget`: what is chosen runs dependent cells, and what is typed stays."""
    if importlib.util.find_spec("marimo") is None:
        pytest.skip("marimo is not installed: pip install marimo")
    database = tmp_path / "marimo.db"
    setup = SETUP.format(database=database).replace("\n", "\n    ")
    (tmp_path / "panel.py").write_text(MARIMO.format(setup=setup), "utf-8")
    at = port()
    command = ["marimo", "run", "panel.py", "--headless", "--no-token", f"--port={at}"]
    url = f"http://127.0.0.1:{at}"
    with serving([*command, "--host=127.0.0.1"], url, tmp_path):
        page.goto(url)
        lab.edit_and_move(page)
        page.get_by_text(re.compile("open: [0-9a-f]{8}-.*, type: any")).wait_for()
        page.get_by_role("button", name="Preview").click()
        page.get_by_role("textbox", name="Body").click()
        page.keyboard.type("unsaved ")
        page.get_by_role("button", name="Plans").click()
        page.get_by_text(re.compile("open: .*, type: plan")).wait_for()
        assert "unsaved" in page.get_by_role("textbox", name="Body").inner_text()
    lab.assert_done(database)
