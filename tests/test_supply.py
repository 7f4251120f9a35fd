"""What the project is made of: audited where that can be, and listed for a release."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent


def tool(name: str) -> ModuleType:
    """Import a script."""
    spec = importlib.util.spec_from_file_location(f"tool_{name}", ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_package_that_nobody_looked_up_is_not_counted_as_sound() -> None:
    """pip-audit finds no fault with what its service does not know; the report says so."""
    answer = {
        "dependencies": [
            {"name": "a", "version": "1", "vulns": [{"id": "ADVISORY-1"}]},
            {"name": "b", "version": "1", "vulns": []},
            {"name": "c", "skip_reason": "not found"},
        ]
    }
    report = tool("audit").of_pip_audit(json.dumps(answer))
    assert report == (2, 1, ["a: ADVISORY-1"])


@pytest.mark.parametrize(
    ("script", "said", "failed"),
    [
        ("print('{}')", "NOT AUDITED", False),
        ("print('no json')", "NOT AUDITED", False),
        ('print(\'{"dependencies": [{"name": "a", "vulns": [{"id": "X"}]}]}\')', "a: X", True),
        ('print(\'{"dependencies": [{"name": "a", "vulns": []}]}\')', "1 packages audited", False),
    ],
)
def test_a_closed_network_is_seen_and_an_advisory_fails(
    capsys: pytest.CaptureFixture[str], script: str, said: str, *, failed: bool
) -> None:
    """Only an advisory ends a build; whatever was not asked about stands in capitals."""
    audit = tool("audit")
    assert audit.told("half", (sys.executable, "-c", script), audit.of_pip_audit) is failed
    assert said in capsys.readouterr().out
    assert audit.told("half", ("no-such-program",), audit.of_npm) is False
    assert "NOT AUDITED" in capsys.readouterr().out


def test_the_bill_of_materials_lists_every_locked_package(tmp_path: Path) -> None:
    """Names, versions and hashes of all that a release brings along, the same bytes each time."""
    for name in ("one", "two"):
        command = [sys.executable, "tools/sbom.py", str(tmp_path / name)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    text = (tmp_path / "one").read_text("utf-8")
    assert text == (tmp_path / "two").read_text("utf-8")
    listed = {each["purl"]: each["hashes"] for each in json.loads(text)["components"]}
    lock = (ROOT / "requirements" / "runtime.txt").read_text("utf-8")
    locked = {
        f"pkg:pypi/{n}@{v}" for n, v in re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock, re.MULTILINE)
    }
    assert len(locked) > 5
    assert {purl for purl in listed if purl.startswith("pkg:pypi")} == locked
    assert any(purl.startswith("pkg:npm/%40codemirror/view@") for purl in listed)
    assert all(listed.values())
    assert "http" not in text


@pytest.mark.parametrize("name", ["widgets/package-lock.json", "requirements/dev.txt"])
def test_a_lock_with_an_address_is_refused(tmp_path: Path, name: str) -> None:
    """Funding links count too: no lock says where anything comes from."""
    check = tool("check_files")
    path = tmp_path / name
    path.parent.mkdir()
    path.write_text('{"funding": {"url": "https://host.example"}}')
    assert any("names an address" in fault for fault in check.faults_of(path))
    path.write_text("name==1.0")
    assert list(check.faults_of(path)) == []


def test_a_merge_half_done_is_refused(tmp_path: Path) -> None:
    """A script with marks in it passes every check of Python and breaks where it runs."""
    path = tmp_path / "run"
    path.write_text("a\n" + "<" * 7 + " HEAD\nb\n")
    assert any("merge" in fault for fault in tool("check_files").faults_of(path))
