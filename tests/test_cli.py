"""The command line: answers, JSON shapes, exit codes, help, and what a refusal looks like."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest

pytest.importorskip("typer", reason="install the extra `cli`")

from typer.testing import CliRunner, Result

from memories_sdk import Memory, MemoryStore
from memories_sdk.cli.app import app
from memories_sdk.cli.refusals import ADVICE, EXIT_CODES, exit_code
from memories_sdk.cli.shapes import ErrorShape, MemoryShape
from memories_sdk.cli.shell import COMMANDS
from memories_sdk.errors import MemoriesError

ROOT = Path(__file__).parent.parent
Run = Callable[..., Result]

# For each command a call that works in the world of `run`.
CALLS: dict[str, list[str]] = {
    "list": ["list"],
    "get": ["get", "voice"],
    "history": ["history", "voice"],
    "search": ["search", "British"],
    "recall": ["recall", "British English"],
    "save": ["save", "new", "--type", "plan", "--content", "text"],
    "edit": ["edit", "voice"],
    "replace": ["replace", "voice", "--find", "British", "--with", "Scottish"],
    "delete": ["delete", "voice"],
    "restore": ["restore", "gone"],
    "import": ["import", "{folder}/wild"],
    "import-spora": ["import-spora", "{folder}/spora.db"],
    "export": ["export", "{folder}/out"],
    "sync": ["sync", "{folder}/mirror"],
    "principals list": ["principals", "list"],
    "principals add": ["principals", "add", "dora"],
    "principals remove-member": ["principals", "remove-member", "lab", "bob"],
    "agents list": ["agents", "list"],
    "agents add": ["agents", "add", "reader"],
    "agents transfer": ["agents", "transfer", "writer", "lab"],
    "verify": ["verify"],
    "doctor": ["doctor"],
    "backup": ["backup", "{folder}/copy.db"],
    "eval": ["eval", "{folder}/questions.jsonl"],
    "mcp": ["mcp", "--agent", "writer"],
    "migrate": ["migrate"],
    "serve": ["serve"],
    "token create": ["token", "create", "alice", "--write", "--label", "notebook"],
    "token list": ["token", "list"],
    "token revoke": ["token", "revoke", "{token}"],
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call the program as alice, in a store that holds a little of everything."""
    place = tmp_path / "memories.db"
    with MemoryStore(place, durability="process") as store:
        alice, bob = store.principals.user("alice"), store.principals.user("bob")
        store.principals.group("lab", owner=alice, members=[bob])
        store.agents.create("writer", owner=alice)
        shelf = store.scope(acting_as=alice)
        shelf.save("voice", "context", "Answer in British English.\r\n")
        shelf.save("gone", "plan", "old")
        shelf.delete("gone", "plan")
        token = store.tokens.issue(alice).token
    # The servers run in tests of their own; here they would never end.
    monkeypatch.setattr("anyio.run", lambda *_, **__: None)
    monkeypatch.setattr("uvicorn.run", lambda *_, **__: None)
    (tmp_path / "questions.jsonl").write_text('{"question": "British?", "evidence": ["voice"]}\n')
    with closing(sqlite3.connect(tmp_path / "spora.db")) as connection, connection:
        columns = "id, user_id, name, summary, content, 'order'"
        connection.execute(f"CREATE TABLE memories ({columns})")
        connection.execute("INSERT INTO memories VALUES (1, 2, 'tone', NULL, 'text', 0)")
    (tmp_path / "wild").mkdir()
    (tmp_path / "wild" / "progress.md").write_text("Half done.")
    monkeypatch.setenv("MEMORIES_URL", str(place))
    monkeypatch.setenv("MEMORIES_USER", "alice")
    monkeypatch.setenv("EDITOR", editor("Answer in Welsh."))
    monkeypatch.delenv("VISUAL", raising=False)

    def call(*arguments: str, text: str | bytes | None = None) -> Result:
        filled = [each.replace("{folder}", str(tmp_path)) for each in arguments]
        filled = [each.replace("{token}", str(token.id)) for each in filled]
        return CliRunner().invoke(app, filled, input=text, prog_name="memories")

    return call


def editor(text: str) -> str:
    """Return an editor that writes this text."""
    program = "import pathlib, sys; pathlib.Path(sys.argv[2]).write_text(sys.argv[1])"
    return f"{sys.executable} -c '{program}' '{text}'"


def faults(value: Any, shape: Any, place: str = "$") -> list[str]:
    """Return where a JSON value has another shape than is documented."""
    if is_typeddict(shape):
        hints = get_type_hints(shape)
        if not isinstance(value, dict) or value.keys() != hints.keys():
            return [f"{place}: keys of {shape.__name__} expected, got {value!r}"]
        return [
            it for key, hint in hints.items() for it in faults(value[key], hint, f"{place}.{key}")
        ]
    kind, arguments = get_origin(shape), get_args(shape)
    if kind is list and isinstance(value, list):
        return [it for each in value for it in faults(each, arguments[0], f"{place}[]")]
    if kind is dict and isinstance(value, dict):
        return [it for each in value.values() for it in faults(each, arguments[1], f"{place}{{}}")]
    if arguments and kind not in (list, dict):
        return min((faults(value, each, place) for each in arguments), key=len)
    fits = shape is object or type(value) is shape or (shape is float and type(value) is int)
    return [] if fits else [f"{place}: {value!r} is no {shape}"]


each_command = pytest.mark.parametrize("name", COMMANDS)


def test_every_command_has_a_call() -> None:
    """A new command fails here until it is tried."""
    assert CALLS.keys() == COMMANDS.keys()


@each_command
def test_help_tells_what_it_does_with_examples(run: Run, name: str) -> None:
    """Whoever asks gets a sentence, every option with a word about it, and calls to copy."""
    result = run(*name.split(), "--help")
    assert result.exit_code == 0
    for example in COMMANDS[name].examples:
        assert f"memories {example}\n" in result.stdout
    assert "--json" in result.stdout


@each_command
def test_json_has_the_documented_shape(run: Run, name: str) -> None:
    """Programs find exactly the keys that the reference names, and nothing else is printed."""
    result = run(*CALLS[name], "--json")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert faults(json.loads(result.stdout), COMMANDS[name].shape) == []


@each_command
def test_text_answers_end_with_zero(run: Run, name: str) -> None:
    """Without --json the same call works and says something."""
    result = run(*CALLS[name])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout or name == "mcp"


@pytest.mark.parametrize(
    ("code", "error", "arguments"),
    [
        (2, "unknown_type", ["save", "a", "--type", "novel", "--content", "x"]),
        (2, "invalid", ["save", "a", "--type", "plan"]),
        (2, "anchor_not_found", ["replace", "voice", "--find", "z", "--with", ""]),
        (2, "invalid", ["save", "voice", "--type", "context"]),
        (3, "not_found", ["eval", "{folder}/missing.jsonl"]),
        (3, "not_found", ["save", "a", "--type", "plan", "--file", "{folder}/missing.md"]),
        (3, "not_found", ["import", "{folder}/missing"]),
        (3, "not_found", ["import-spora", "{folder}/missing.db"]),
        (3, "not_found", ["agents", "transfer", "writre", "lab"]),
        (3, "not_found", ["token", "revoke", "{folder}"]),
        (2, "invalid", ["import", "{folder}/wild", "--conflict", "merge"]),
        (2, "invalid", ["export", "{folder}/wild"]),
        (2, "file", ["save", "a", "--type", "plan", "--file", "{folder}"]),
        (3, "not_found", ["get", "vice"]),
        (3, "not_found", ["list", "--as", "nobody"]),
        (3, "not_found", ["list", "--agent", "nobody"]),
        (4, "access_denied", ["list", "--principal", "others"]),
        (5, "edit_conflict", ["delete", "voice", "--expected-version", "7"]),
        (6, "unavailable", ["list", "--store", "{folder}/no/such/folder.db"]),
    ],
)
def test_a_refusal_is_one_line_with_its_code(
    run: Run, code: int, error: str, arguments: list[str]
) -> None:
    """A refusal names its code in the line, in the JSON and in the exit code; nothing else."""
    told = run(*arguments)
    assert (told.exit_code, told.stdout) == (code, "")
    assert told.stderr.startswith(f"memories: {error}: ")
    assert told.stderr.count("\n") == 1
    programs = run(*arguments, "--json")
    assert (programs.exit_code, programs.stdout) == (code, "")
    refusal = json.loads(programs.stderr)["error"]
    assert faults(refusal, ErrorShape) == []
    assert refusal["code"] == error


def test_every_error_has_an_exit_code() -> None:
    """No refusal ends with a code that the help does not explain."""

    def kinds(kind: type[MemoriesError]) -> set[type[MemoriesError]]:
        return {kind}.union(*map(kinds, kind.__subclasses__()))

    codes = {exit_code(kind.__new__(kind)) for kind in kinds(MemoriesError)}
    assert codes == {1, 2, 3, 4, 5, 6}
    assert codes <= EXIT_CODES.keys()


def test_a_memory_is_told_whole() -> None:
    """A new field of a memory fails here until programs are told of it."""
    fields = {field.name for field in dataclasses.fields(Memory)}
    assert get_type_hints(MemoryShape).keys() == fields


@pytest.mark.parametrize(
    "arguments",
    [["save", "a"], ["list", "--colour"], ["lst"], ["list", "--limit", "few"], ["token", "mak"]],
)
def test_wrong_usage_ends_with_two(run: Run, arguments: list[str]) -> None:
    """What does not follow the help is told by the parser; in JSON to whoever asked for JSON."""
    told = run(*arguments)
    assert (told.exit_code, told.stdout) == (2, "")
    assert "--help" in told.stderr
    programs = run(*arguments, "--json")
    assert (programs.exit_code, programs.stdout) == (2, "")
    refusal = json.loads(programs.stderr)["error"]
    assert faults(refusal, ErrorShape) == []
    assert refusal["code"] == "usage"
    assert refusal["suggestion"].startswith("memories ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["save", "voice", "--type", "context", "--content", "x"],
        ["replace", "voice", "--find", "British", "--with", "Scottish"],
        ["delete", "voice"],
        ["restore", "voice", "--type", "context", "--version", "1"],
    ],
    ids=lambda it: it[0],
)
def test_every_write_of_a_memory_takes_the_version_that_was_seen(
    run: Run, arguments: list[str]
) -> None:
    """A stale one is a conflict, and nothing is written; `edit` takes the one that it opened."""
    before = run("history", "--json").stdout
    assert run(*arguments, "--expected-version", "7").exit_code == 5
    assert run("history", "--json").stdout == before
    assert run(*arguments, "--expected-version", "1").exit_code == 0


def test_no_refusal_speaks_of_python(run: Run) -> None:
    """A suggestion names commands and options; each that is put so is still made somewhere."""
    source = "".join(
        " ".join(path.read_text("utf-8").split()) for path in (ROOT / "src").rglob("*.py")
    )
    for suggestion in ADVICE:
        assert source.count(suggestion) > 1, suggestion
    for arguments in (
        ["list", "--limit", "0"],
        ["restore", "nothing"],
        ["restore", "voice"],
        ["restore", "voice", "--version", "99"],
        ["list", "--principal", "others"],
        ["agents", "transfer", "writre", "lab"],
        ["token", "revoke", "x"],
        ["export", "{folder}/wild"],
    ):
        told = run(*arguments).stderr
        assert not re.search(r"\w\(|store\.|next_cursor|choose to", told), told


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["save", "a", "--type", "contxt", "--content", "x"], "Did you mean context"),
        (["list", "--as", "alcie"], "Did you mean alice?"),
        (["import", "{folder}/widl"], "Did you mean wild?"),
        (["import-spora", "{folder}/sproa.db"], "Did you mean spora.db?"),
        (["lst"], "Did you mean 'list'?"),
    ],
)
def test_a_typing_mistake_gets_a_suggestion(run: Run, arguments: list[str], hint: str) -> None:
    """Whoever mistypes a type, a user, a file or a command is told what is there."""
    assert hint in run(*arguments).stderr


def test_a_save_that_has_expired_already_says_so(run: Run) -> None:
    """Nobody believes a memory to be there that nothing shows, and its way back works."""
    for name, verb in (("it's", "Created"), ("voice", "Updated")):
        saved = run("save", name, "-t", "context", "--content", "x", "--expires", "2020-01-01")
        assert saved.stdout.startswith(f"{verb} [{name}] ")
        assert "It expired at 2020-01-01T00:00:00+00:00" in saved.stdout
        assert run("get", name).exit_code == 3
        back = shlex.split(saved.stdout.split("memories ")[-1])
        assert run(*back).exit_code == 0
        assert run("get", name).stdout == "x"
    later = run("save", "later", "-t", "context", "--content", "x", "--expires", "2999-01-01")
    assert "expired" not in later.stdout


@pytest.mark.parametrize("words", ["false", "no-such-editor", "'unclosed", "rm"])
def test_an_editor_that_fails_saves_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """However it fails, it is one line; a file is left behind only where a text is in it."""
    monkeypatch.setenv("EDITOR", words)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    told = run("edit", "voice")
    assert (told.exit_code, told.stdout) == (2, "")
    assert "failed; nothing was saved" in told.stderr
    assert list(tmp_path.glob("memories-*")) == []
    assert run("get", "voice").stdout_bytes == b"Answer in British English.\r\n"


def test_a_body_comes_out_to_the_byte(run: Run) -> None:
    """Carriage returns stay, and no line break is added."""
    assert run("get", "voice").stdout_bytes == b"Answer in British English.\r\n"


def test_a_body_goes_in_to_the_byte(run: Run, tmp_path: Path) -> None:
    """From a file and from the input alike; what is no UTF-8 is refused and not guessed."""
    body = "\ufeffé\r\nlast".encode()
    (tmp_path / "body.md").write_bytes(body)
    assert run("save", "a", "-t", "plan", "--file", "{folder}/body.md").exit_code == 0
    assert run("save", "b", "-t", "plan", "--file", "-", text=body).exit_code == 0
    assert run("get", "a").stdout_bytes == run("get", "b").stdout_bytes == body
    (tmp_path / "body.md").write_bytes("é".encode("latin-1"))
    refused = run("save", "a", "-t", "plan", "--file", "{folder}/body.md")
    assert refused.exit_code == 2
    assert "not UTF-8" in refused.stderr


def test_edit_saves_what_the_editor_leaves(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change is saved as a new version; no change is none."""
    assert "version 2" in run("edit", "voice").stdout
    assert run("get", "voice").stdout == "Answer in Welsh."
    monkeypatch.setenv("EDITOR", "true")
    assert json.loads(run("edit", "voice", "--json").stdout)["changed"] is False


def test_edit_keeps_the_text_that_clashes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else's change in the same place wins, and yours is in a file that is named."""
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "from memories_sdk import MemoryStore\n"
        f"store = MemoryStore({str(tmp_path / 'memories.db')!r})\n"
        "alice = store.principals.user('alice')\n"
        "store.scope(acting_as=alice).save('voice', 'context', 'Answer in Irish.')\n"
        "pathlib.Path(sys.argv[1]).write_text('Answer in Welsh.')\n"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    result = run("edit", "voice")
    assert result.exit_code == 5
    kept = Path(result.stderr.split("Your text is in ")[1].rstrip(".\n"))
    assert kept.read_text() == "Answer in Welsh."
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert run("get", "voice").stdout == "Answer in Irish."


@pytest.mark.parametrize("ending", ["zip", "tar", "tar.gz", "7z"])
def test_an_archive_is_not_opened(run: Run, tmp_path: Path, ending: str) -> None:
    """What could be a bomb is refused unread: whoever trusts it unpacks it."""
    (tmp_path / f"bomb.{ending}").write_bytes(b"PK\x03\x04")
    result = run("import", f"{{folder}}/bomb.{ending}")
    assert result.exit_code == 2
    assert "is an archive" in result.stderr


def test_a_dry_run_shows_what_was_guessed(run: Run) -> None:
    """Whoever imports a folder sees each type, and why, before anything is written."""
    told = run("import", "{folder}/wild", "--dry-run")
    assert "progress.md [progress] (type=plan): type by the word progress" in told.stdout
    assert "progress" not in run("list").stdout


def test_an_import_that_refuses_a_record_ends_with_seven(run: Run, tmp_path: Path) -> None:
    """The rest is in, the answer names what is not, and --report tells of each record."""
    (tmp_path / "wild" / "bad.md").write_bytes(b"\xff\xfe")
    result = run("import", "{folder}/wild", "--report", "{folder}/report.jsonl")
    assert result.exit_code == 7
    assert "refused: bad.md: It is UTF-16" in result.stdout
    told = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text().splitlines()]
    assert [entry["fate"] for entry in told] == ["refused", "created"]


def test_a_name_of_two_types_is_not_guessed(run: Run) -> None:
    """Where several memories have the name, the answer says which types to choose from."""
    run("save", "voice", "-t", "plan", "--content", "sing")
    result = run("get", "voice")
    assert result.exit_code == 2
    assert "--type plan or context" in result.stderr
    assert run("get", "voice", "-t", "plan").stdout == "sing"


def test_a_misspelt_name_gets_the_near_one(run: Run) -> None:
    """Who mistypes is told what is there."""
    assert "Did you mean voice?" in run("get", "voise").stderr


def test_reading_makes_nobody(run: Run) -> None:
    """A mistyped user is refused and not created."""
    run("list", "--as", "alcie")
    assert "alcie" not in run("principals", "list").stdout


def test_mcp_answers_on_its_output(run: Run) -> None:
    """A host that starts the program speaks to it by input and output; nothing else is there."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    assert run("list").exit_code == 0
    done = subprocess.run(
        [sys.executable, "-m", "memories_sdk", "mcp", "--agent", "writer"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[0])
    assert answer["result"]["capabilities"]["tools"] is not None


def test_damage_ends_with_seven(run: Run, tmp_path: Path) -> None:
    """A script sees by the exit code that the store is not as it was written."""
    with sqlite3.connect(tmp_path / "memories.db") as connection:
        connection.execute("UPDATE memory_bodies SET content = 'forged'")
    connection.close()
    assert run("doctor").exit_code == 7
    result = run("verify", "--json")
    assert result.exit_code == 7
    assert json.loads(result.stdout)["findings"]


def test_the_reference_is_current() -> None:
    """What docs/cli.md says is what the commands say."""
    checked = subprocess.run(
        [sys.executable, ROOT / "tools" / "cli_reference.py", "--check"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


def test_without_the_extra_it_says_what_to_install() -> None:
    """No traceback: one line with the command to run."""
    program = "import sys; sys.modules['typer'] = None; from memories_sdk.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert 'pip install "memories-sdk[cli]"' in done.stderr
