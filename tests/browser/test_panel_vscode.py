"""The panel as VS Code draws it: by its Jupyter extension's own renderer, in its themes."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

HOST = Path(__file__).parent / "vscode"
BUILT = HOST / "built" / "host.js"
REQUIRE = HOST / "node_modules" / "requirejs" / "require.js"
ANYWIDGET = Path(sys.prefix) / "share" / "jupyter" / "nbextensions" / "anywidget" / "index.js"
THEMES = {
    "vscode-dark": {
        "editor-background": "rgb(31, 31, 31)",
        "editor-foreground": "rgb(204, 204, 204)",
        "foreground": "rgb(204, 204, 204)",
        "focusBorder": "rgb(0, 120, 212)",
    },
    "vscode-light": {
        "editor-background": "rgb(255, 255, 255)",
        "editor-foreground": "rgb(59, 59, 59)",
        "foreground": "rgb(59, 59, 59)",
        "focusBorder": "rgb(0, 95, 184)",
    },
}
SETUP = """
from IPython.display import display
from memories_sdk import MemoryStore, widgets
store = MemoryStore({database!r}, durability="process")
alice = store.principals.user("alice")
shelf = store.scope(acting_as=alice)
for each in ("one", "two", "three"):
    shelf.save(each, "plan", f"# The {{each}}")
display(widgets.MemoryPanel(store, acting_as=alice))
"""
PARTS = """
parts = [widgets.PrincipalPicker, widgets.TypeFilter, widgets.MemoryList, widgets.MarkdownEditor]
made = [part(store, acting_as=alice) for part in parts]
widgets.wire(*made)
for each in made:
    display(each)
"""


@pytest.fixture(params=THEMES)
def theme(request: pytest.FixtureRequest) -> str:
    """The class that VS Code gives a page's body."""
    return request.param


@pytest.fixture
def page(jupyter, browser, theme):
    """A page of VS Code's webview, connected to a kernel; nothing may fail in it or leave it."""
    if not BUILT.is_file():
        pytest.skip(f"no {BUILT}: run npm ci and npm run build in {HOST}")
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.set_default_timeout(20_000)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if foreign(request.url) else None)
    page.route("**/host/anywidget.js", lambda route: route.fulfill(path=ANYWIDGET))
    page.goto(f"{jupyter.url}/login")  # any page of the server: its kernels take no other's calls
    variables = "".join(f"--vscode-{name}: {value};" for name, value in THEMES[theme].items())
    page.set_content(
        f'<!doctype html><html lang="en" style="{variables}"><title>Notebook</title>'
        f'<body class="{theme}" style="background: var(--vscode-editor-background)">'
        "<main></main></body></html>"
    )
    page.add_script_tag(path=REQUIRE)
    page.evaluate("url => requirejs.config({ baseUrl: url })", f"{jupyter.url}/host")
    page.add_script_tag(path=BUILT)
    page.evaluate("url => connect(url, document.querySelector('main'))", jupyter.url)
    yield page
    page.evaluate("kernel.shutdown()")
    page.close()
    assert wrong == []


def foreign(url: str) -> bool:
    """Whether a request leaves this machine."""
    parts = urlsplit(url)
    return parts.scheme not in {"blob", "data"} and parts.hostname != "127.0.0.1"


def test_vs_code_shows_the_panel_in_its_own_colours(lab, page, theme: str, tmp_path: Path) -> None:
    """List, editor and preview work, and the light colours of ipywidgets do not show through."""
    database = str(tmp_path / "memories.db")
    page.evaluate("code => run(code)", SETUP.format(database=database))
    lab.edit_and_move(page)
    colours = page.locator(".msdk-root").evaluate(
        "root => [getComputedStyle(root.querySelector('.msdk-panel')).backgroundColor,"
        " getComputedStyle(root).color]"
    )
    wanted = THEMES[theme]
    assert colours == [wanted["editor-background"], wanted["editor-foreground"]]
    page.evaluate("code => run(code)", PARTS)
    page.locator("[data-widget=MemoryList]").get_by_role("option", name="two").click()
    editor = page.locator("[data-widget=MarkdownEditor]")
    editor.get_by_role("textbox", name="Body").get_by_text("The two").wait_for()
    assert page.get_by_role("radiogroup", name="Acting principal").count() == 2
    assert page.get_by_role("group", name="Type filter").count() == 2
    lab.assert_done(Path(database))
