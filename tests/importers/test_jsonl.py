"""JSON lines: the whole past goes out and comes in, line by line, and nothing twice."""

from __future__ import annotations

import base64
import json
import random
import sqlite3
import stat
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memories_sdk import DERIVED, MemoryStore, Principal, Scope
from memories_sdk.errors import HistoryShortened, InvalidInput
from memories_sdk.importers import jsonl
from memories_sdk.importers.jsonl import PAGE, bring_in, export

if TYPE_CHECKING:
    from conftest import MakeStore

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
HEAD = {"format": "memories-sdk", "version": 1}


@pytest.fixture
def other(store: MemoryStore, bob: Principal) -> Scope:
    """An empty shelf of somebody else."""
    return store.scope(acting_as=bob)


def live(shelf: Scope) -> None:
    """Let a shelf have a past of every kind."""
    picture = shelf.attach(PNG, name="plot [1].png")
    shelf.save("voice", "context", f"British\r\n{picture.markdown}", tags=["a", "日"], pinned=True)
    shelf.save("voice", "context", "Scottish\u2028\ufeff")
    shelf.replace("voice", "context", find="Scottish", new_text="Welsh")
    for name in ("renamed", "deleted", "back", "cleared"):
        shelf.save(name, "plan", name, summary="" if name == "back" else DERIVED)
    renamed = shelf.get("renamed", "plan")
    shelf.update(renamed.id, name="now so", type="documentation", order=-5)
    shelf.save("renamed", "plan", "another one with the old name")
    shelf.delete("deleted", "plan")
    gone = shelf.delete("back", "plan")
    shelf.restore(gone.id)
    shelf.save("back", "plan", "changed", untrusted=True)
    shelf.save("cleared", "fact", "a fact", tags=["t"])
    shelf.clear(type="fact")
    shelf.move(renamed.id, before=gone.id)
    shelf.reorder([gone.id])
    shelf.save("soon", "plan", "x", expires_at=datetime(2126, 1, 1, tzinfo=UTC))
    shelf.redact("Welsh")
    shelf.save("voice", "context", summary=None)


def lines(path: Path) -> list[dict[str, object]]:
    """Return the records of a file, its head apart."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]


def write(path: Path, *records: object) -> Path:
    """Write a file of these records."""
    path.write_text("".join(json.dumps(each) + "\n" for each in (HEAD, *records)))
    return path


def memory(name: str = "a", **fields: object) -> dict[str, object]:
    """Return a record."""
    return {"kind": "memory", "type": "plan", "name": name, "content": name, **fields}


def test_out_and_in_and_out_is_the_same(
    store: MemoryStore, shelf: Scope, other: Scope, tmp_path: Path
) -> None:
    """Every version, who made it and when, what was deleted, and the pictures."""
    live(shelf)
    export(shelf, tmp_path / "first.jsonl")
    report = bring_in(other, tmp_path / "first.jsonl", conflict="fail")
    assert report.counts.keys() == {"created"}
    export(other, tmp_path / "second.jsonl")
    assert (tmp_path / "second.jsonl").read_bytes() == (tmp_path / "first.jsonl").read_bytes()
    assert store.verify() == []
    deleted = next(it for it in other.deleted() if it.name == "deleted")
    assert other.restore(deleted.memory_id).content == "deleted"
    assert other.restore(other.get("voice", "context").id, version=1).tags == ("a", "日")


def test_without_a_history_the_present_goes(shelf: Scope, other: Scope, tmp_path: Path) -> None:
    """A lighter file: no past, nothing deleted, and the same bytes again."""
    live(shelf)
    export(shelf, tmp_path / "first.jsonl", history=False)
    assert not [it for it in lines(tmp_path / "first.jsonl") if "history" in it or "deleted" in it]
    bring_in(other, tmp_path / "first.jsonl")
    export(other, tmp_path / "second.jsonl", history=False)
    assert (tmp_path / "second.jsonl").read_bytes() == (tmp_path / "first.jsonl").read_bytes()


def test_a_pruned_past_begins_where_it_is_known(shelf: Scope, other: Scope, tmp_path: Path) -> None:
    """What was forgotten is not made up."""
    for text in ("one", "two", "three"):
        shelf.save("a", "plan", text)
    shelf.prune(keep=1)
    export(shelf, tmp_path / "first.jsonl")
    (record,) = lines(tmp_path / "first.jsonl")
    assert [change["version"] for change in record["history"]] == [3, 2]
    bring_in(other, tmp_path / "first.jsonl")
    export(other, tmp_path / "second.jsonl")
    assert (tmp_path / "second.jsonl").read_bytes() == (tmp_path / "first.jsonl").read_bytes()


def test_nothing_of_anybody_else_is_in_it(shelf: Scope, other: Scope, tmp_path: Path) -> None:
    """No id, no owner, no key of a shelf, and no other principal's memory."""
    live(shelf)
    other.save("secret", "plan", "canary-4711")
    export(shelf, tmp_path / "out.jsonl")
    text = (tmp_path / "out.jsonl").read_text()
    assert "canary-4711" not in text
    for word in ('"id"', "principal", "agent_id", "scope", str(shelf.list()[0].id)):
        assert word not in text
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o600


def test_again_brings_nothing_twice(shelf: Scope, other: Scope, tmp_path: Path) -> None:
    """A second run, under any choice, finds everything there."""
    live(shelf)
    export(shelf, tmp_path / "out.jsonl")
    bring_in(other, tmp_path / "out.jsonl")
    before = list(other.list()), list(other.history())
    for conflict in ("skip", "overwrite", "rename"):
        again = bring_in(other, tmp_path / "out.jsonl", conflict=conflict)
        assert again.counts.keys() == {"unchanged", "skipped"}
        assert again.counts["skipped"] == len(other.deleted())
    assert (list(other.list()), list(other.history())) == before


class Interrupted(Exception):
    """Somebody pulls the plug."""


def test_an_interrupted_import_is_resumed(
    store: MemoryStore, alice: Principal, bob: Principal, tmp_path: Path
) -> None:
    """Whenever it stops, the second run brings the rest, and no record twice."""
    path = write(tmp_path / "in.jsonl", *(memory(f"m{number}") for number in range(1_000)))
    shelf = store.scope(acting_as=alice)

    def stop(done: int, _total: int | None) -> None:
        if done >= 600:
            raise Interrupted

    with pytest.raises(Interrupted):
        bring_in(shelf, path, conflict="rename", progress=stop)
    assert shelf.list().total == 600
    report = bring_in(shelf, path, conflict="rename")
    assert report.counts == {"unchanged": 600, "created": 400}
    whole = store.scope(acting_as=bob)
    bring_in(whole, path)
    names = [[it.name for it in each.list(limit=500)] for each in (shelf, whole)]
    assert names[0] == names[1]
    assert len(shelf.history(limit=500)) == 500
    assert shelf.list().total == 1_000


def test_progress_tells_done_and_total(shelf: Scope, tmp_path: Path) -> None:
    """A bar knows where it ends."""
    path = write(tmp_path / "in.jsonl", *(memory(f"m{number}") for number in range(450)))
    heard: list[tuple[int, int | None]] = []
    bring_in(shelf, path, progress=lambda *each: heard.append(each))
    assert heard == [(200, 450), (400, 450), (450, 450)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "no JSON object"),
        (b"[]", "no JSON object"),
        (b'{"kind": "memory", "kind": "memory"}', "no JSON object"),
        (b'{"kind": "memory", "order": NaN}', "no JSON object"),
        (b"[" * 100_000, "no JSON object"),
        (b'{"kind": "\xe9"}', "no JSON object"),
        (b"cos\nsystem", "no JSON object"),
        (json.dumps({"kind": "spell"}).encode(), "not known"),
        (json.dumps(memory(principal_id=2)).encode(), "no key 'principal_id'"),
        (json.dumps(memory(agent_id=2)).encode(), "no key 'agent_id'"),
        (json.dumps(memory(id="x")).encode(), "no key 'id'"),
        (json.dumps(memory(scope="agent")).encode(), "no key 'scope'"),
        (json.dumps(memory(type="novel")).encode(), "not one of"),
        (json.dumps(memory(content=None)).encode(), "content must be text"),
        (json.dumps(memory(content="a\0b")).encode(), "NUL"),
        (json.dumps(memory(order="first")).encode(), "order must be"),
        (json.dumps(memory(tags="a")).encode(), "tags must be"),
        (json.dumps(memory(expires_at="soon")).encode(), "no time"),
        (json.dumps(memory(expires_at="2030-01-01")).encode(), "no time zone"),
        (json.dumps(memory(created_at=5)).encode(), "no time"),
        (json.dumps(memory(history=[])).encode(), "first version"),
        (json.dumps(memory(history="x")).encode(), "must be a list"),
        (json.dumps(memory(history=[{"before": {}, "owner": 2}])).encode(), "no key 'owner'"),
        (
            json.dumps(memory(history=[{"before": {}, "action": "hack"}])).encode(),
            "needs an action",
        ),
        (json.dumps({"kind": "picture", "name": "x", "content": "!"}).encode(), "base64"),
        (json.dumps({"kind": "picture", "name": "x", "content": "PHN2Zz4="}).encode(), "no PNG"),
    ],
)
def test_one_odd_record_does_not_stop_the_rest(
    shelf: Scope, tmp_path: Path, line: bytes, message: str
) -> None:
    """It is refused with its line and its reason, and nothing of it is stored."""
    path = write(tmp_path / "in.jsonl", memory("a"))
    with path.open("ab") as file:
        file.write(line + b"\n" + json.dumps(memory("z")).encode() + b"\n")
    report = bring_in(shelf, path)
    refused = [entry for entry in report.entries if entry.fate == "refused"]
    assert refused
    assert message in refused[0].detail
    assert refused[0].place == "line 3"
    assert [head.name for head in shelf.list()] == ["a", "z"]
    assert not shelf.attachments()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"format": "other", "version": 1}',
        "not json",
        '{"format": "memories-sdk"}',
        '{"format": "memories-sdk", "version": 2}',
    ],
)
def test_another_format_is_refused_whole(shelf: Scope, tmp_path: Path, text: str) -> None:
    """Neither a foreign file nor one of a later release is read half."""
    (tmp_path / "in.jsonl").write_text(text + "\n" + json.dumps(memory()) + "\n")
    with pytest.raises(InvalidInput):
        bring_in(shelf, tmp_path / "in.jsonl")
    assert shelf.list().total == 0


@pytest.mark.engines("sqlite-file")
def test_an_export_asks_for_many_at_once(
    shelf: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory more is no statement more: bodies and histories are read by the page."""

    def statements(memories: int) -> int:
        bring_in(shelf, write(tmp_path / "in.jsonl", *map(memory, map(str, range(memories)))))
        asked = count()
        connect = sqlite3.connect

        def traced(*arguments: object, **options: object) -> sqlite3.Connection:
            connection = connect(*arguments, **options)
            connection.set_trace_callback(lambda _: next(asked))
            return connection

        with monkeypatch.context() as patched:
            patched.setattr(sqlite3, "connect", traced)
            with MemoryStore(str(tmp_path / "memories.db")) as store:
                opened = next(asked)
                again = store.scope(acting_as=store.principals.user("alice"))
                assert export(again, tmp_path / "out.jsonl", overwrite=True) == memories
                return next(asked) - opened

    few, many = statements(PAGE), statements(3 * PAGE)
    assert many < few + 30 < PAGE


@pytest.mark.engines("sqlite-memory")
@pytest.mark.parametrize("deleted", [False, True], ids=["kept", "deleted"])
@pytest.mark.parametrize("longest", range(1_400, 5_000, 400))
def test_a_history_longer_than_a_line_keeps_its_newest_versions(
    shelf: Scope,
    other: Scope,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    longest: int,
    deleted: bool,
) -> None:
    """What an export writes an import reads: it says what it left out, and goes round the same."""
    monkeypatch.setattr(jsonl, "LONGEST", longest)
    for number in range(12):
        memory = shelf.save("long", "plan", f"{number} " * 40).memory
        if number % 3 == 2:
            shelf.delete("long", "plan")
            shelf.restore(memory.id)
    if deleted:
        shelf.delete("long", "plan")
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    with pytest.warns(HistoryShortened, match=r"\[long\] \(type=plan\) is longer"):
        export(shelf, first)
    assert max(len(line) for line in first.read_bytes().splitlines()) <= longest
    assert bring_in(other, first).counts == {"created": 1}
    export(other, second)
    assert second.read_bytes() == first.read_bytes()


def test_an_export_is_whole_or_not_there(shelf: Scope, tmp_path: Path) -> None:
    """What stops on the way leaves no file that looks complete, and no half one."""
    live(shelf)
    calls = count()

    def fail(_: object) -> None:
        if next(calls) > 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        export(shelf, tmp_path / "out.jsonl", progress=lambda done, _: fail(done))
    assert list(tmp_path.glob(".*.tmp")) == []
    assert not (tmp_path / "out.jsonl").exists()
    (tmp_path / "out.jsonl").write_text("mine")
    with pytest.raises(InvalidInput, match="exists"):
        export(shelf, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == "mine"
    export(shelf, tmp_path / "out.jsonl", overwrite=True)
    assert lines(tmp_path / "out.jsonl")


@pytest.mark.slow
@pytest.mark.engines("sqlite-file")
def test_ten_thousand_records_come_back_to_the_byte(make_store: MakeStore, tmp_path: Path) -> None:
    """Bodies, names, tags and times of every sort, out, in, and out again."""
    source = random.Random(4711)  # noqa: S311 - the same records in every run
    alphabet = 'abc XYZ-_.:"\\/<>%#{}[]\n\r\t\u2028\u200b\ufeffäßé日本語😀\U000e0041'

    def text(most: int) -> str:
        return "".join(source.choices(alphabet, k=source.randint(0, most)))

    start = datetime(2020, 1, 1, tzinfo=UTC)
    records = []
    for number in range(10_000):
        made = start + timedelta(seconds=number, microseconds=source.randint(0, 999_999))
        tags = [f"tag {text(3).strip()}".split("\n")[0].split("\r")[0] for _ in range(number % 3)]
        records.append(
            memory(
                f"record {number}",
                type=source.choice(["plan", "documentation", "examples", "context"]),
                content=text(80),
                tags=[each for each in tags if each.isprintable()],
                order=source.randint(-100, 100),
                pinned=source.random() < 0.1,
                created_at=made.isoformat(),
                updated_at=(made + timedelta(days=1)).isoformat(),
            )
        )
    path = write(tmp_path / "in.jsonl", *records)
    shelves: list[Scope] = []
    for name in ("first", "second"):
        store = make_store(f"{name}.db", durability="process")
        shelves.append(store.scope(acting_as=store.principals.user("alice")))
        assert bring_in(shelves[-1], path).counts == {"created": 10_000}
        path = tmp_path / f"{name}.jsonl"
        export(shelves[-1], path)
    first, second = (tmp_path / f"{name}.jsonl" for name in ("first", "second"))
    assert second.read_bytes() == first.read_bytes()
