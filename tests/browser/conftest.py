"""Fixtures of the browser tests: one server for all, a browser per file, a page for each."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

HERE = Path(__file__).parent


def _sibling(name: str):
    # With --import-mode=importlib a test module cannot import its neighbour by name.
    known = sys.modules.get(f"browser_{name}")
    if known is None:
        spec = importlib.util.spec_from_file_location(f"browser_{name}", HERE / f"{name}.py")
        known = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = known
        spec.loader.exec_module(known)
    return known


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that is marked `both` in JupyterLab and in Notebook 7."""
    if metafunc.definition.get_closest_marker("both"):
        metafunc.parametrize("app", ["lab", "notebooks"], indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what drives a page."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A Jupyter server of this run's own."""
    pytest.importorskip("playwright.sync_api")
    pytest.importorskip("jupyterlab")
    lab = _sibling("lab")
    if not shutil.which(lab.CHROMIUM):
        pytest.skip(f"no browser at {lab.CHROMIUM}: install chromium, or set CHROMIUM")
    with lab.server(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


# Not for the session: while it is open, Playwright refuses to start anywhere else in the process,
# and the tests of the markdown corpus have a browser of their own.
@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    """Chromium, for one file of tests."""
    pytest.importorskip("playwright.sync_api")
    lab = _sibling("lab")
    if not shutil.which(lab.CHROMIUM):
        pytest.skip(f"no browser at {lab.CHROMIUM}: install chromium, or set CHROMIUM")
    with lab.chromium() as running:
        yield running


@pytest.fixture(scope="module")
def browser(jupyter: object, chromium: object) -> object:  # noqa: ARG001 -- skipped where that is
    """Chromium, where a Jupyter server runs."""
    return chromium


@pytest.fixture
def lab() -> ModuleType:
    """The module that runs servers and opens notebooks."""
    return _sibling("lab")


@pytest.fixture
def app(request: pytest.FixtureRequest) -> str:
    """The front end of a test: JupyterLab, unless its `both` mark names Notebook 7 as well."""
    return getattr(request, "param", "lab")


@pytest.fixture
def book(jupyter, browser, app, request: pytest.FixtureRequest) -> Iterator[Callable[..., object]]:
    """Write and open a notebook in the front end of the test: `book(cell, cell, ...)`.

    Afterwards no page may have failed, or asked another host for anything.
    """
    lab = _sibling("lab")
    opened = []

    def make(*cells: str, width: int = 1280, **context: object):
        name = jupyter.write(f"{request.node.name.replace('[', '-').strip(']')}.ipynb", cells)
        page = browser.new_page(viewport={"width": width, "height": 950}, **context)
        page.set_default_timeout(20_000)
        opened.append(lab.Book(page, jupyter, app))
        return opened[-1].open(name)

    yield make
    for each in opened:
        each.page.close()
    jupyter.end_kernels()
    assert [error for each in opened for error in each.errors] == []
    assert [url for each in opened for url in each.foreign] == []
