"""The committed bundles: made from these sources, small enough, and free of addresses."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDGETS = ROOT / "widgets"
STATIC = ROOT / "src" / "memories_sdk" / "widgets" / "static"
MANIFEST = json.loads((STATIC / "manifest.json").read_text("utf-8"))


def sha256(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_bundles_are_made_from_these_sources() -> None:
    """A change in widgets/ without a rebuild fails here, on a machine without Node too."""
    names = ["build.mjs", "package-lock.json"]
    names += [f"src/{path.name}" for path in (WIDGETS / "src").iterdir()]
    lines = [f"{name}\0{sha256(WIDGETS / name)}\n" for name in sorted(names)]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert digest == MANIFEST["sources"], "stale: run `make bundles` and commit the result"


def test_bundles_are_those_of_the_manifest() -> None:
    """Nobody edited a bundle by hand."""
    found = {path.name: sha256(path) for path in STATIC.glob("*.js")}
    assert found == MANIFEST["bundles"]


def test_the_shell_is_small() -> None:
    """The shell is stored in every saved notebook and evaluated once per widget: 8 kB at most."""
    assert (STATIC / "shell.js").stat().st_size <= 8_000


def test_the_whole_panel_is_small() -> None:
    """All that crosses the comm, CodeMirror included: 200 kB gzipped at most."""
    packed = sum(len(gzip.compress(path.read_bytes(), 9)) for path in STATIC.glob("*.js"))
    assert packed <= 200_000


@pytest.mark.parametrize("name", ["shell.js", "ui.js"])
def test_bundles_of_ours_name_no_host(name: str) -> None:
    """Nothing is fetched from anywhere; the only address is the name of the SVG language."""
    text = (STATIC / name).read_text("utf-8")
    assert set(re.findall(r"https?://[^\"'`\s)]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_bundles_write_no_html() -> None:
    """Texts go in as text: no innerHTML, no inline handler, no eval."""
    for name in ("shell.js", "ui.js"):
        text = (STATIC / name).read_text("utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, f"{word} in {name}"


def test_the_lock_records_no_address() -> None:
    """Where packages come from is each machine's own business."""
    lock = json.loads((WIDGETS / "package-lock.json").read_text("utf-8"))
    assert [name for name, entry in lock["packages"].items() if "resolved" in entry] == []
