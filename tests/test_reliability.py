"""Short runs of the program that tries to lose something: `make reliability` runs the long ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs LD_PRELOAD and a C compiler")

pytestmark = [pytest.mark.slow, LINUX]


def printed(*arguments: str) -> list[list[str]]:
    """Run the program and return the cells of the tables that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "reliability", *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    told = [line for line in done.stdout.splitlines() if ": " in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines] + [told]


def test_many_programs_lose_nothing() -> None:
    """On one file, no change is lost, doubled or torn, and no lock error reaches a caller."""
    *_, told = printed("crowd", "--programs", "6", "--seconds", "3")
    assert "errors that reached a caller: none;" in told
    assert any(line.startswith("lost, doubled or torn: 0") for line in told)


def test_killed_programs_lose_nothing() -> None:
    """What was acknowledged is there, and every file is whole."""
    rows = [row for row in printed("kills", "--kills", "60")[:-1] if row[1].isdigit()]
    assert sum(int(row[1]) for row in rows) >= 60
    assert {tuple(row[3:5]) for row in rows} == {("0", "0")}


def test_a_killed_import_is_resumed() -> None:
    """Whenever it is killed, the next run brings the rest, and no record twice."""
    rows = [row for row in printed("imports", "--records", "3000")[:-1] if row[2].isdigit()]
    for records, row in zip(("300", "3,000"), rows, strict=True):
        assert row[3:6] == [records] * 3
        assert row[6] == "0"
    assert len(rows[1][1].split(", ")) >= 3


def test_power_cuts_lose_nothing() -> None:
    """With the default durability a cut leaves an old or a new state, with all that was promised.

    That the other one loses saves proves that the cuts are real.
    """
    rows = [row for row in printed("cuts", "--cuts", "60")[:-1] if row[2].isdigit()]
    assert {row[4] for row in rows if row[0] == "full"} == {"nothing"}
    assert len([row for row in rows if row[0] == "full"]) == 3
    assert [row[4] for row in rows if row[0] == "process"] != ["nothing"]


def test_a_failing_call_leaves_the_old_or_the_new() -> None:
    """A crash, a full device or an error of it, at each system call of an operation."""
    rows = printed("calls", "--only", "save over")[:-1]
    (row,) = (row for row in rows if row[0] == "save over")
    assert int(row[1]) > 5
    good = {"old state", "new state, acknowledged", "new state, not acknowledged"}
    for cell in row[2:]:
        assert {each.split(" ", 1)[1] for each in cell.split("; ")} <= good


def test_a_redaction_is_done_or_not_and_says_which() -> None:
    """After its commit the log is emptied: that may fail, and is no failure of the redaction."""
    (row,) = (row for row in printed("calls", "--only", "redact")[:-1] if row[0] == "redact")
    crash, *errors = ({each.split(" ", 1)[1] for each in cell.split("; ")} for cell in row[2:])
    assert crash == {"old state", "new state, not acknowledged"}
    assert all(each == {"old state", "new state, acknowledged"} for each in errors)
