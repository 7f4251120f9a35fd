"""The program on a real terminal: a bar, a narrow character set, Ctrl-C, a closed pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="install the extra `cli`")
pty = pytest.importorskip("pty", reason="needs the terminals of a POSIX system")

SRC = Path(__file__).parent.parent / "src"
# As a shell starts it: whoever ran these tests may have told them to ignore Ctrl-C.
PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from memories_sdk.cli import main; main()"
)
NARROW = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of one's own, in a terminal of 80 columns."""
    for name, value in {
        "MEMORIES_URL": str(tmp_path / "memories.db"),
        "PYTHONPATH": str(SRC),
        "TERM": "xterm",
        "COLUMNS": "80",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("MEMORIES_USER", "NO_COLOR", "CI", "PYTHONIOENCODING", "VISUAL"):
        monkeypatch.delenv(name, raising=False)


def called(*arguments: str) -> list[str]:
    """Return the words that start the program."""
    return [sys.executable, "-c", PROGRAM, *arguments]


def piped(*arguments: str, first: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run the program with pipes, and FIRST before it."""
    start, switch, program, *rest = called(*arguments)
    return subprocess.run([start, switch, first + program, *rest], capture_output=True, check=False)


def on_terminal(*arguments: str, typed: bytes = b"", **environment: str) -> tuple[int, str]:
    """Run the program on a terminal, and return its exit code and all that was shown."""
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    with subprocess.Popen(
        called(*arguments),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | environment,
    ) as program:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # Linux tells so that the other side is closed
                break
            if not part:
                break
            shown += part
        os.close(ours)
    return program.returncode, shown.decode()


@pytest.fixture
def records(tmp_path: Path) -> str:
    """A file of some batches."""
    lines = [{"format": "memories-sdk", "version": 1}]
    lines += [
        {"kind": "memory", "type": "plan", "name": f"m{number}", "content": "x"}
        for number in range(450)
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return str(path)


def test_a_bar_is_shown_to_people_alone(records: str, tmp_path: Path) -> None:
    """On a terminal it moves and goes again; a pipe and a program get the answer alone."""
    code, shown = on_terminal("import", records)
    assert code == 0
    assert "Importing" in shown
    assert "100%" in shown
    last = shown.rpartition("\x1b[2K")[2]
    assert last.splitlines()[-1] == "450 records: 450 created"
    assert "Importing" not in last
    code, shown = on_terminal("import", records, "--json")
    assert json.loads(shown)["counts"] == {"unchanged": 450}
    done = piped("import", records)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"450 records: 450 unchanged\n"
    code, shown = on_terminal("export", str(tmp_path / "out"))
    assert "Exporting" in shown
    assert shown.endswith(f"450 memories in {tmp_path / 'out'}\r\n")


def test_guesses_are_shown_before_anything_is_written(tmp_path: Path) -> None:
    """On a terminal a person sees the types and agrees; a pipe has asked for it by its call."""
    wild = tmp_path / "wild"
    wild.mkdir()
    (wild / "progress.md").write_text("Half done.")
    code, shown = on_terminal("import", str(wild), typed=b"n\n")
    assert code == 130
    assert "progress.md → [progress] (type=" in shown
    assert "Bring them in with these types?" in shown
    assert json.loads(piped("list", "--json").stdout)["total"] == 0
    code, shown = on_terminal("import", str(wild), typed=b"y\n")
    assert code == 0
    assert shown.endswith("1 record: 1 created\r\n")
    code, shown = on_terminal("import", str(wild), "--type", "context", "--dry-run")
    assert "these types" not in shown
    assert piped("import", str(wild)).returncode == 0


def test_a_warning_is_a_sentence(tmp_path: Path) -> None:
    """It goes to the error output, and names no line of our code."""
    for number in range(4):
        piped("save", "long", "--type", "plan", "--content", f"{number} " * 40)
    short = "from memories_sdk.importers import jsonl; jsonl.LONGEST = 1_500;"
    done = piped("export", str(tmp_path / "out.jsonl"), first=short)
    assert done.returncode == 0
    assert done.stderr.decode() == (
        "memories: warning: The history of [long] (type=plan) is longer than a line may be: "
        "the file holds it from version 2 on.\n"
    )


def test_a_terminal_without_unicode_shows_escapes() -> None:
    """No traceback: what it cannot write is shown as an escape, and JSON stays JSON."""
    assert piped("save", "a", "--type", "plan", "--content", "Grüße 日 🗻").returncode == 0
    code, shown = on_terminal("get", "a", **NARROW)
    assert (code, shown) == (0, "Gr\\xfc\\xdfe \\u65e5 \\U0001f5fb\r\n")
    code, shown = on_terminal("get", "a", "--json", **NARROW)
    assert json.loads(shown)["content"] == "Grüße 日 🗻"
    code, shown = on_terminal("get", "ü", "--json", **NARROW)
    assert json.loads(shown)["error"]["code"] in {"not_found", "invalid"}


def test_a_pipe_gets_the_bytes_whatever_the_character_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body comes out as it went in, also where the locale knows ASCII alone."""
    assert piped("save", "a", "--type", "plan", "--content", "Grüße 日 🗻").returncode == 0
    for name, value in NARROW.items():
        monkeypatch.setenv(name, value)
    assert piped("get", "a").stdout == "Grüße 日 🗻".encode()


def test_ctrl_c_ends_with_130_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stops the program sees no traceback."""
    assert piped("save", "a", "--type", "plan", "--content", "x").returncode == 0
    monkeypatch.setenv("EDITOR", "sh -c 'kill -INT $PPID; exec sleep 60'")
    done = piped("edit", "a")
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr == b"memories: interrupted\n"


def test_a_reader_that_goes_away_is_no_fault() -> None:
    """`memories list | head -1` ends in silence."""
    with subprocess.Popen(
        called("history"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 0
