"""The shared corpus: hostile bodies, features that must stay, inputs that make renderers slow."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from typing import TYPE_CHECKING

import html5lib
import pytest
from selectolax.lexbor import LexborHTMLParser

from memories_sdk.markdown import MAX_HTML, MAX_SOURCE, plain_text, render_safe

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

WRAPS = ["raw", "inline", "quote", "item", "cell", "heading", "afterhtml"]


def load(shared: Path, name: str) -> ModuleType:
    """Import a module of the checker without leaving byte code in the shared folder."""
    path = shared / "security" / "checker" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"shared_{name}", path)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setitem(sys.modules, spec.name, module)  # its dataclass looks itself up
        spec.loader.exec_module(module)
    return module


def items(shared: Path, file: str) -> list[dict]:
    """Return the items of a file of the shared material, which is never empty."""
    found = json.loads((shared / "security" / file).read_text())["items"]
    assert found
    return found


@pytest.fixture(scope="module")
def checker(shared: Path) -> ModuleType:
    """The judges."""
    return load(shared, "checker")


@pytest.mark.slow
@pytest.mark.parametrize("wrap", WRAPS)
def test_no_hostile_body_leaves_the_allow_list(
    shared: Path, checker: ModuleType, wrap: str
) -> None:
    """Two independent parsers find nothing in the HTML but what a body may show."""
    findings = {
        item["id"]: found
        for item in items(shared, "corpus.json")
        if (found := checker.judge_dom(str(render_safe(checker.WRAPS[wrap](item["payload"])))))
    }
    assert findings == {}


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("wrap", ["raw", "inline"])
def test_no_hostile_body_acts_in_a_browser(shared: Path, checker: ModuleType, wrap: str) -> None:
    """In a real page nothing runs, loads, submits, covers the page or takes over a name."""
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("no Chromium: apt-get install chromium")
    browser = checker.Browser(chromium)
    try:
        findings = {
            item["id"]: found
            for item in items(shared, "corpus.json")
            if (found := judged(checker, browser, checker.WRAPS[wrap](item["payload"])))
        }
    finally:
        browser.close()
    assert findings == {}


@pytest.mark.slow
def test_no_body_makes_html_that_a_parser_objects_to(shared: Path) -> None:
    """What is shown parses without a single error, so that no two browsers read it differently."""
    errors = {}
    for item in [*items(shared, "corpus.json"), *items(shared, "features.json")]:
        parser = html5lib.HTMLParser(namespaceHTMLElements=False)
        parser.parseFragment(str(render_safe(item.get("payload") or item["markdown"])))
        if parser.errors:
            errors[item["id"]] = parser.errors
    assert errors == {}


def judged(checker: ModuleType, browser: object, body: str) -> list[str]:
    """Return what a body does; a finding counts when it is there on a fresh page too."""
    markup = str(render_safe(body))
    found = checker.judge_browser(browser, markup)
    return found and checker.judge_browser(browser, markup, wait=40, isolate=True)


def test_the_judges_object_to_what_is_bad(checker: ModuleType) -> None:
    """A clean result means something."""
    assert all(checker.judge_dom(bad) for bad in checker.BAD)
    assert not any(checker.judge_dom(good) for good in checker.GOOD)


def test_every_feature_stays(shared: Path) -> None:
    """What people write in memories still shows as they meant it."""
    missing = {}
    features = items(shared, "features.json")
    assert len(features) >= 61
    for item in features:
        body = LexborHTMLParser(f"<body>{render_safe(item['markdown'])}</body>").body
        lost = [rule for rule in item["must"] if not body.css(rule)]
        lost += [text for text in item["text"] if text not in body.text()]
        lost += [rule for rule in item["must_not"] if body.css(rule)]
        if lost:
            missing[item["id"]] = lost
    assert missing == {}


@pytest.mark.slow
def test_slow_inputs_end_and_stay_small(shared: Path) -> None:
    """What makes naive renderers slow or huge gives bounded HTML and a bounded line."""
    dos = load(shared, "dos")
    builders = {unit[0]: unit for unit in dos.UNITS}
    for item in items(shared, "dos_inputs.json"):
        unit = builders[item["id"].removeprefix("dos-")]
        markup = render_safe(dos.build(*unit, MAX_SOURCE // 4))
        assert len(markup.encode()) <= MAX_HTML, item["id"]
        assert len(plain_text(dos.build(*unit, 1 << 20), limit=200)) <= 200, item["id"]
