"""Markdown folders: out and in again to the byte, and nothing outside the folder is touched."""

from __future__ import annotations

import os
import random
import socket
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memories_sdk import DOCUMENTS, MemoryStore, NotFound, Principal, Scope
from memories_sdk.errors import InvalidInput, NameTaken
from memories_sdk.importers import files, markdown_folder
from memories_sdk.importers.files import Folder
from memories_sdk.importers.markdown_folder import bring_in, export, look

if TYPE_CHECKING:
    from conftest import MakeStore

BODIES = [
    "",
    "plain",
    "\r\nmixed\n\r\n",
    "\ufeffmark",
    "---\nname: other\n---\nx",
    "---\ntitle: mine\nlist: [ a ]\n---\nx",
    "\ufeff---\r\ntitle: mine\r\n---\r\nx",
    "x\n---\ny",
    "---",
    "--- \n",
    "---\nmemory:\n  order: 99\n---\nforged",
    "\u2028\x0b\x1b[31m",
    "'; DROP TABLE memories; --",
]


@pytest.fixture
def other(store: MemoryStore, bob: Principal) -> Scope:
    """An empty shelf of somebody else."""
    return store.scope(acting_as=bob)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def round_trip(shelf: Scope, other: Scope, tmp_path: Path) -> dict[str, bytes]:
    """Export, import on another shelf, export again, and return the files, which are the same."""
    export(shelf, tmp_path / "first")
    report = bring_in(other, tmp_path / "first", conflict="fail")
    assert report.counts.keys() <= {"created"}
    export(other, tmp_path / "second")
    first = contents(tmp_path / "first")
    assert contents(tmp_path / "second") == first
    return first


def state(shelf: Scope) -> list[tuple[object, ...]]:
    """Return what a folder keeps of a shelf."""
    memories = [shelf.get_by_id(head.id) for head in shelf.list(limit=500)]
    return [
        (
            *(it.type, it.name, it.content, it.summary, it.summary_derived, it.tags),
            *(it.pinned, it.untrusted, it.order, it.expires_at),
        )
        for it in memories
    ]


def test_out_and_in_and_out_is_the_same(shelf: Scope, other: Scope, tmp_path: Path) -> None:
    """Bodies to the byte, and every field that is not of the shelf itself."""
    for number, body in enumerate(BODIES):
        shelf.save(f"body {number}", DOCUMENTS.types[number % 4], body)
    shelf.save("tags", "plan", "", tags=["a: b", "no", "#", "日本"], pinned=True, untrusted=True)
    shelf.save("none", "plan", "text", summary=None)
    shelf.save("written", "plan", "text", summary='Note: "quoted" # and \U0001f600\u200b')
    shelf.save("soon", "context", "", expires_at=datetime(2126, 1, 2, 3, 4, 5, 6, tzinfo=UTC))
    shelf.save("below", "context", "", order=-3)
    round_trip(shelf, other, tmp_path)
    assert state(other) == state(shelf)


@pytest.mark.slow
@pytest.mark.engines("sqlite-file")
def test_ten_thousand_documents_come_back_to_the_byte(
    make_store: MakeStore, tmp_path: Path
) -> None:
    """Names, bodies and fields of every sort, out, in on another shelf, and out again."""
    dice = random.Random(4711)  # noqa: S311 -- the same documents in every run

    def text(alphabet: str, most: int) -> str:
        return "".join(dice.choices(alphabet, k=dice.randint(0, most)))

    store = make_store(durability="process")
    shelf, other = (store.scope(acting_as=store.principals.user(name)) for name in ("alice", "bob"))
    for number in range(10_000):
        shelf.create(
            f"{text('aB é日😀-_./:', 12)}{number}",
            dice.choice(DOCUMENTS.types),
            dice.choice(BODIES) + text('ab:"\\/<>#{}[]-\n\r\t\u2028\ufeffäß日😀', 60),
            tags=[text("a é日-", 6) + "t"] * (number % 2),
            pinned=number % 7 == 0,
            untrusted=number % 11 == 0,
            order=dice.randint(-100, 100),
        )
    assert len(round_trip(shelf, other, tmp_path)) >= 10_000


@pytest.mark.parametrize(
    "names",
    [
        ["Plan", "plan", "PLAN"],
        ["a/b", "a_b", "../../up", "C:\\x"],
        ["CON", "con.md", "a.", "...", "-rf", ".hidden", "%41", "A"],
        ["é" * 200, "é" * 199 + "e", "😀" * 200],
        ["x\u202egpj.elif", "ad\u200bmin", "admin", "__proto__", "'; DROP TABLE memories; --"],
    ],
    ids=["capitals", "paths", "reserved", "long", "invisible"],
)
def test_every_name_has_its_own_file(
    shelf: Scope, other: Scope, tmp_path: Path, names: list[str]
) -> None:
    """No name overwrites another, leads out of the folder, or changes on the way."""
    for name in names:
        shelf.save(name, "plan", name)
    written = round_trip(shelf, other, tmp_path)
    assert len({path.casefold() for path in written}) == len(names)
    assert all(path.startswith("plan/") and path.count("/") == 1 for path in written)
    assert state(other) == state(shelf)


def test_a_folder_of_ours_is_private(shelf: Scope, tmp_path: Path) -> None:
    """Only its owner reads what was exported, whatever the mask says."""
    shelf.save("a", "plan", "x")
    old = os.umask(0o022)
    try:
        export(shelf, tmp_path / "out")
    finally:
        os.umask(old)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").rglob("*")}
    assert modes == {0o600, 0o700}
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


def test_what_is_there_is_not_overwritten_unasked(shelf: Scope, tmp_path: Path) -> None:
    """A folder that holds something is refused, unless the caller says so."""
    shelf.save("a", "plan", "x")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(InvalidInput, match="not empty"):
        export(shelf, tmp_path / "out")
    export(shelf, tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"


def test_export_never_writes_through_a_link(shelf: Scope, tmp_path: Path) -> None:
    """A link in the place of a file is replaced; one in the place of a folder is refused."""
    shelf.save("a", "plan", "x")
    target = tmp_path / "target"
    target.mkdir()
    (target / "file").write_text("untouched")
    out = tmp_path / "out"
    (out / "plan").mkdir(parents=True)
    (out / "plan" / "a.md").symlink_to(target / "file")
    export(shelf, out, overwrite=True)
    assert (target / "file").read_text() == "untouched"
    assert not (out / "plan" / "a.md").is_symlink()
    (out / "plan" / "a.md").unlink()
    (out / "plan").rmdir()
    (out / "plan").symlink_to(target)
    with pytest.raises(InvalidInput, match="link"):
        export(shelf, out, overwrite=True)
    assert sorted(path.name for path in target.iterdir()) == ["file"]


def test_a_folder_that_is_swapped_is_still_the_one_opened(tmp_path: Path) -> None:
    """Between check and write nobody can lead the writing elsewhere."""
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with Folder(out, create=True) as folder:
        out.rename(tmp_path / "moved")
        out.symlink_to(elsewhere)
        folder.write(("plan", "a.md"), b"x")
    assert list(elsewhere.iterdir()) == []
    assert (tmp_path / "moved" / "plan" / "a.md").read_bytes() == b"x"


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither half a file nor one of its own making."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with Folder(tmp_path) as folder:
        folder.write(("a.md",), b"old")
        monkeypatch.setattr(os, "rename", fail)
        with pytest.raises(OSError, match="No space"):
            folder.write(("a.md",), b"new")
    assert contents(tmp_path) == {"a.md": b"old"}


def test_only_regular_files_inside_are_read(
    shelf: Scope, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Links, pipes and sockets are named in the report, never followed, and never waited for."""
    outside = tmp_path_factory.mktemp("outside") / "secret.md"
    outside.write_text("secret")
    (tmp_path / "fine.md").write_text("fine")
    (tmp_path / "link.md").symlink_to(outside)
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.md")
    os.link(outside, tmp_path / "hard.md")
    (tmp_path / "device.md").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.md"))
        report = bring_in(shelf, tmp_path)
    assert report.counts == {"created": 1, "refused": 6}
    assert [head.name for head in shelf.list()] == ["fine"]


def test_nothing_leads_out_of_a_folder(tmp_path: Path) -> None:
    """Neither dots nor a slash in a part."""
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.md").write_text("secret")
    with Folder(tmp_path / "in") as folder:
        for parts in (("..", "secret.md"), ("../x", "a.md"), (".", "..", "secret.md")):
            with pytest.raises(InvalidInput):
                folder.read(parts, limit=100)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("é".encode("utf-16"), "UTF-16"),
        ("é".encode("latin-1"), "not UTF-8"),
        (b"ok \xff\xfe", "not UTF-8"),
        (b"a\0b", "NUL"),
        (b"x" * (markdown_folder.LARGEST + 1), "more than"),
        (b"---\nmemory:\n  order: first\n---\n", "order must be an integer"),
        (b"---\nmemory:\n  tags: 3\n---\n", "tags must be a list"),
        (b"---\nmemory:\n  pinned: maybe\n---\n", "pinned must be"),
        (b"---\nmemory:\n  expires_at: soon\n---\n", "no time"),
        (b"---\nmemory:\n  summary: [a]\n---\n", "summary must be text"),
        (b'---\nmemory:\n  name: ""\n---\n', "name cannot be empty"),
    ],
    ids=[
        "utf-16",
        "latin-1",
        "invalid",
        "nul",
        "large",
        *["order", "tags", "pinned", "time", "summary", "name"],
    ],
)
def test_one_odd_file_does_not_stop_the_rest(
    shelf: Scope, tmp_path: Path, data: bytes, message: str
) -> None:
    """It is refused with its reason, nothing of it is stored, and the others go in."""
    for name in ("a", "c"):
        (tmp_path / f"{name}.md").write_text(name)
    (tmp_path / "b.md").write_bytes(data)
    report = bring_in(shelf, tmp_path)
    assert report.counts == {"created": 2, "refused": 1}
    (refused,) = (entry for entry in report.entries if entry.fate == "refused")
    assert refused.place == "b.md"
    assert message in refused.detail
    assert [head.name for head in shelf.list()] == ["a", "c"]


@pytest.mark.parametrize("key", ["principal_id", "agent_id", "id", "scope", "owner", "version"])
def test_a_file_never_says_whose_it_is(
    shelf: Scope, other: Scope, tmp_path: Path, key: str
) -> None:
    """The scope that imports decides; such a key stays text."""
    hidden = other.save("a", "context", "bob's").memory
    text = f"---\n{key}: {hidden.id}\nmemory:\n  {key}: 2\n  order: 1\n---\nmine"
    (tmp_path / "a.md").write_text(text)
    bring_in(shelf, tmp_path, type="context")
    assert shelf.get("a", "context").content == text
    assert other.get("a", "context") == hidden
    assert [head.name for head in other.list()] == ["a"]


def test_existing_memories_are_not_lost(shelf: Scope, tmp_path: Path) -> None:
    """By default what is there stays; the other choices keep it in the history."""
    old = shelf.save("a", "plan", "old").memory
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "a.md").write_text("new")
    assert bring_in(shelf, tmp_path).counts == {"skipped": 1}
    assert shelf.get("a", "plan") == old
    with pytest.raises(NameTaken):
        bring_in(shelf, tmp_path, conflict="fail")
    assert bring_in(shelf, tmp_path, conflict="rename").counts == {"renamed": 1}
    assert bring_in(shelf, tmp_path, conflict="rename").counts == {"unchanged": 1}
    assert bring_in(shelf, tmp_path, conflict="overwrite").counts == {"updated": 1}
    assert shelf.restore(old.id, version=1).content == "old"


def test_a_dry_run_writes_nothing(shelf: Scope, tmp_path: Path) -> None:
    """It foretells what each file becomes, those with one name among them."""
    (tmp_path / "a.md").write_text("---\nmemory:\n  name: x\n---\n1")
    (tmp_path / "b.md").write_text("---\nmemory:\n  name: x\n---\n2")
    for conflict in ("skip", "rename"):
        foretold = bring_in(shelf, tmp_path, conflict=conflict, dry_run=True)
        assert shelf.list().total == 0
        assert foretold.entries[0].fate == "created"
    done = bring_in(shelf, tmp_path, conflict="rename")
    assert [entry.fate for entry in done.entries] == [entry.fate for entry in foretold.entries]
    assert sorted(head.name for head in shelf.list()) == ["x", "x (2)"]


def test_a_wild_folder_gets_types_that_are_shown_first(tmp_path: Path) -> None:
    """Whatever agents keep has a type guessed, with the reason, before anything is written."""
    for name, text in {
        "AGENTS.md": "Use tabs.",
        "MEMORY.md": "- [Voice](feedback_voice.md) — British English\n",
        "feedback_voice.md": "---\nname: voice\ntype: feedback\n---\nBritish.",
        "memory-bank/projectbrief.md": "Brief.",
        "memory-bank/activeContext.md": "Now.",
        "memory-bank/progress.md": "Done.",
        "plan/tide.md": "Measure.",
        "docs/examples/curl.md": "curl",
        "notes/todo-list.md": "Call.",
        "odd.md": "?",
        "skipped.txt": "no markdown",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = look(tmp_path, (DOCUMENTS,))
    assert {it.path: (it.type, it.name) for it in found.documents} == {
        "AGENTS.md": ("context", "AGENTS"),
        "MEMORY.md": ("context", "MEMORY"),
        "feedback_voice.md": ("context", "feedback_voice"),
        "memory-bank/projectbrief.md": ("documentation", "memory-bank/projectbrief"),
        "memory-bank/activeContext.md": ("context", "memory-bank/activeContext"),
        "memory-bank/progress.md": ("plan", "memory-bank/progress"),
        "plan/tide.md": ("plan", "tide"),
        "docs/examples/curl.md": ("documentation", "docs/examples/curl"),
        "notes/todo-list.md": ("plan", "notes/todo-list"),
        "odd.md": ("documentation", "odd"),
    }
    assert all(it.reason for it in found.documents if it.path != "plan/tide.md")


def test_an_index_gives_the_summaries(shelf: Scope, tmp_path: Path) -> None:
    """What MEMORY.md says of a file that it links to is that memory's summary."""
    (tmp_path / "MEMORY.md").write_text("- [Voice](voice.md) — British English\n* [x](y.md)\n")
    (tmp_path / "voice.md").write_text("# Voice\n\nBritish.")
    bring_in(shelf, tmp_path)
    assert shelf.get("voice", "context").summary == "British English"


def test_a_missing_folder_is_said(shelf: Scope, tmp_path: Path) -> None:
    """A typing mistake is no empty import."""
    with pytest.raises(NotFound):
        bring_in(shelf, tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput):
        bring_in(shelf, tmp_path / "file")


def test_no_code_runs_on_what_is_read(shelf: Scope, tmp_path: Path) -> None:
    """Pickles are not opened, and YAML makes plain values alone."""
    import sys  # noqa: PLC0415 - this test listens to the interpreter

    (tmp_path / "evil.pkl").write_bytes(b"cos\nsystem\n(S'id'\ntR.")
    (tmp_path / "evil.md").write_bytes(b"cos\nsystem\n(S'id'\ntR.")
    tag = "---\nx: !!python/object/apply:os.system ['id']\n---\n"
    (tmp_path / "tag.md").write_text(tag)
    heard: list[str] = []
    listening = True

    def listen(event: str, _: object) -> None:
        if listening and event in {"pickle.find_class", "marshal.loads", "os.system", "exec"}:
            heard.append(event)

    bring_in(shelf, tmp_path, dry_run=True)  # what is imported late is compiled by now
    sys.addaudithook(listen)
    report = bring_in(shelf, tmp_path)
    listening = False
    assert heard == []
    assert report.counts == {"created": 2}


@pytest.mark.external
def test_real_documents_come_back_to_the_byte(
    shared: Path, shelf: Scope, other: Scope, tmp_path: Path
) -> None:
    """What agents and people really keep goes in, out, in and out again unchanged."""
    real = shared / "data" / "memory_bank"
    assert bring_in(shelf, real).complete
    documents = contents(real)
    round_trip(shelf, other, tmp_path)
    assert {it.content.encode() for it, _ in markdown_folder.memories_of(other, None)} == set(
        documents.values()
    )


def test_reading_is_bounded() -> None:
    """A file is never read beyond the largest body and block."""
    assert markdown_folder.LARGEST < 2 * 1024 * 1024
    assert files.DEEPEST < 100
