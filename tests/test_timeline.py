"""What was done can be taken back, blotted out or forgotten, and the record stays whole."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memories_sdk import Conflict, InvalidInput, MemoryStore, NotFound
from memories_sdk.errors import OldPagesRemain
from memories_sdk.search import searcher
from memories_sdk.timeline import MARK


@pytest.fixture
def shelf(store, alice):
    """A shelf with three memories."""
    scope = store.scope(acting_as=alice)
    for name in ("a", "b", "c"):
        scope.create(name, "plan", f"body of {name}", tags=["t"])
    return scope


def state(scope):
    """All that a reader sees, but for versions and times."""
    return [
        (
            head.name,
            head.type,
            head.summary,
            head.tags,
            head.pinned,
            scope.get_by_id(head.id).content,
        )
        for head in scope.list()
    ]


CHANGES = {
    "create": lambda s: s.create("d", "plan", "new"),
    "save": lambda s: s.save("a", "plan", "other", tags=["x", "y"], pinned=True),
    "save with order": lambda s: s.save("c", "plan", order=-5),
    "rename": lambda s: s.update(s.get("a", "plan").id, name="z", type="context"),
    "replace": lambda s: s.replace("b", "plan", find="body", new_text="soul"),
    "delete": lambda s: s.delete("b", "plan"),
    "clear": lambda s: s.clear(),
    "move": lambda s: s.move(s.get("a", "plan").id, after=s.get("c", "plan").id),
    "move to the front": lambda s: s.move(s.get("c", "plan").id, before=s.get("a", "plan").id),
    "reorder": lambda s: s.reorder([s.get("c", "plan").id, s.get("b", "plan").id]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_undo_takes_back_any_change(store, shelf, change):
    """After an undo, a reader sees what was there before, whatever the change was."""
    before = state(shelf)
    change(shelf)
    assert state(shelf) != before
    shelf.undo()
    assert state(shelf) == before
    assert store.verify() == []


def test_undo_goes_further_back_each_time(shelf):
    """Undos take back one change after the other, down to the first; then there is none."""
    states = [state(shelf)]
    for change in ("save", "move", "delete", "clear"):
        {**CHANGES, "delete": lambda s: s.delete("c", "plan")}[change](shelf)
        states.append(state(shelf))
    for expected in reversed(states[:-1]):
        shelf.undo()
        assert state(shelf) == expected
    for _ in range(3):
        shelf.undo()
    assert state(shelf) == []
    with pytest.raises(NotFound):
        shelf.undo()


def test_undo_of_a_named_change_refuses_when_something_came_after(shelf):
    """An undo button of a moment ago never takes back somebody else's later change."""
    shelf.delete("a", "plan")
    seq = shelf.history(limit=1)[0].seq
    shelf.create("late", "plan", "x")
    before = state(shelf)
    with pytest.raises(Conflict):
        shelf.undo(seq=seq)
    assert state(shelf) == before


def names(scope):
    """Return the names on a shelf in their order."""
    return [head.name for head in scope.list()]


@pytest.mark.parametrize("gone", ["a", "b", "c"])
@pytest.mark.parametrize("again", ["undo", "restore"])
def test_what_comes_back_stands_among_its_neighbours(shelf, gone, again):
    """Also when the shelf was numbered anew since: its old number would stand elsewhere."""
    for number in range(4):
        shelf.create(f"front {number}", "plan", "x")
    before = names(shelf)
    id = shelf.delete(gone, "plan").id
    for head in [each for each in shelf.list() if each.name.startswith("front")]:
        shelf.move(head.id, before=shelf.list()[0].id)
    if again == "undo":
        for _ in range(4):
            shelf.undo()
        shelf.undo()
        assert names(shelf) == before
    else:
        shelf.restore(id)
        assert [name for name in names(shelf) if name in ("a", "b", "c")] == ["a", "b", "c"]
        shelf.undo()
        assert gone not in names(shelf)


def test_what_comes_back_keeps_its_number_while_that_says_where_it_stood(shelf):
    """A restore numbers nothing anew without need."""
    memory = shelf.delete("b", "plan")
    shelf.create("d", "plan", "x")
    assert shelf.restore(memory.id).order == memory.order
    assert names(shelf) == ["a", "b", "c", "d"]


def test_undo_says_what_it_took_back(shelf):
    """Undo returns the parts of the change, and its own revisions say what they undo."""
    shelf.clear()
    undone = shelf.undo()
    assert [(part.action, part.name) for part in undone] == [
        ("clear", "c"),
        ("clear", "b"),
        ("clear", "a"),
    ]
    assert {revision.undoes for revision in shelf.history(limit=3)} == {undone[-1].seq}


def test_undo_stays_on_its_shelf(store, shelf, bob):
    """A change on another shelf is not taken back."""
    other = store.scope(acting_as=bob)
    shelf.save("a", "plan", "mine")
    other.create("theirs", "plan", "x")
    shelf.undo()
    assert shelf.get("a", "plan").content == "body of a"
    assert other.get("theirs", "plan").content == "x"


LEAK = "hunter2-correct-horse-battery"


@pytest.fixture
def leaked(shelf):
    """The shelf after a secret went through body, summary, tags, history and a deleted memory."""
    shelf.save("a", "plan", f"key: {LEAK}\nrest")
    shelf.save("a", "plan", "clean again", summary=f"was {LEAK}")
    shelf.save("b", "plan", f"still here: {LEAK}", tags=[LEAK])
    shelf.create("d", "plan", LEAK)
    shelf.delete("d", "plan")
    return shelf


def test_redaction_reaches_every_copy_and_leaves_a_trace(store, leaked):
    """After a redaction the secret is nowhere on the shelf; that it happened is on record."""
    assert leaked.redact(LEAK) > 0
    shown = [leaked.get_by_id(head.id) for head in leaked.list()]
    everything = repr([(m.content, m.summary, m.tags) for m in shown])
    everything += repr([revision.before for revision in leaked.history(limit=500)])
    assert LEAK not in everything
    assert leaked.get("b", "plan").content == f"still here: {MARK}"
    assert leaked.history(limit=1)[0].action == "redact"
    assert leaked.restore(leaked.deleted()[0].memory_id).content == MARK
    assert store.verify() == []


def test_redaction_leaves_no_byte_in_the_file(tmp_path):
    """The secret cannot be read from the file, its log or its freed pages."""
    with MemoryStore(tmp_path / "store.db") as store:
        scope = store.scope(acting_as=store.principals.user("alice"))
        scope.save("long", "plan", ("x" * 5000 + LEAK) * 4)
        scope.save("long", "plan", "short")
        scope.save("kept", "plan", LEAK)
        scope.redact(LEAK)
        files = list(Path(tmp_path).iterdir())
        assert files
        assert not [file for file in files if LEAK.encode() in file.read_bytes()]


def test_redaction_says_where_old_pages_may_remain(tmp_path):
    """While another program reads, the log keeps what it holds: the text is gone, and we warn."""
    with MemoryStore(tmp_path / "m.db", timeout=0.05) as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        shelf.save("n", "plan", f"the key is {LEAK}")
        with store._database.read(snapshot=True) as reader:
            reader.execute("SELECT count(*) FROM memories").fetchall()
            with pytest.warns(OldPagesRemain, match="another program is reading"):
                assert shelf.redact(LEAK) > 0
        assert LEAK not in shelf.get("n", "plan").content
        assert shelf.redact(LEAK) == 0
    assert all(LEAK.encode() not in each.read_bytes() for each in tmp_path.iterdir())


def test_redaction_empties_the_search_index_too(tmp_path, monkeypatch):
    """Words of a shelf that is searched by an index on disk do not stay in it."""
    monkeypatch.setattr(searcher, "SMALL", 0)
    with MemoryStore(tmp_path / "store.db") as store:
        scope = store.scope(acting_as=store.principals.user("alice"))
        scope.save("kept", "plan", "the word xylofonkey stands here")
        assert scope.search("xylofonkey").total == 1
        scope.redact("xylofonkey")
        assert scope.search("xylofonkey").total == 0
        assert scope.search("stands").total == 1
        files = [file for file in tmp_path.iterdir() if b"xylofonkey" in file.read_bytes()]
        assert files == []


def test_redaction_of_nothing_is_refused(shelf):
    """An empty text would match everywhere."""
    with pytest.raises(InvalidInput):
        shelf.redact("")


def test_redaction_leaves_other_shelves_alone(store, leaked, bob):
    """The same text on another shelf stays."""
    other = store.scope(acting_as=bob)
    other.create("mine", "plan", LEAK)
    leaked.redact(LEAK)
    assert other.get("mine", "plan").content == LEAK


def test_pruning_by_count_keeps_the_newest_and_the_record(store, shelf):
    """Emptied revisions say that they were, the rest can be restored, and the chain holds."""
    for number in range(5):
        shelf.save("a", "plan", f"text {number}")
    memory = shelf.get("a", "plan")
    assert shelf.prune(keep=2) == 3
    history = list(shelf.history(id=memory.id))
    assert [revision.pruned for revision in history] == [False, False, True, True, True, False]
    assert shelf.restore(memory.id, version=4).content == "text 2"
    with pytest.raises(NotFound):
        shelf.restore(memory.id, version=2)
    assert store.verify() == []


def test_pruning_by_age_forgets_what_was_deleted_long_ago(make_store):
    """Only what is older than the moment goes; a deleted memory of that age is gone for good."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    times = [moment]
    store = make_store(clock=lambda: times[0])
    scope = store.scope(acting_as=store.principals.user("alice"))
    old, new = scope.create("old", "plan", "x"), scope.create("new", "plan", "y")
    scope.delete("old", "plan")
    times[0] += timedelta(days=30)
    scope.delete("new", "plan")
    assert scope.prune(before=moment + timedelta(days=1)) == 1
    assert scope.restore(new.id).content == "y"
    with pytest.raises(NotFound):
        scope.restore(old.id)


@pytest.mark.parametrize("arguments", [{}, {"keep": 0}, {"before": datetime(2026, 1, 1)}])  # noqa: DTZ001 - the naive time is the case
def test_pruning_says_what_it_needs(shelf, arguments):
    """Neither a limit, a limit of nothing, nor a time without a zone prunes anything."""
    with pytest.raises(InvalidInput):
        shelf.prune(**arguments)


def test_an_undo_far_back_gives_a_version_of_its_own(store, alice):
    """A memory that was deleted twice does not get a number that stood for something else."""
    shelf = store.scope(acting_as=alice)
    memory = shelf.create("n", "plan", "x")
    shelf.clear()
    shelf.restore(memory.id)
    shelf.clear()
    for _ in range(3):
        shelf.undo()
    versions = [each.version for each in shelf.history(id=memory.id)]
    assert versions == sorted(versions, reverse=True)
    assert len(set(versions)) == len(versions)
    assert store.verify() == []


def test_a_change_of_nothing_is_undone_like_any_other(store, alice):
    """The next undo meets the change before it, and not the same one again."""
    shelf = store.scope(acting_as=alice)
    shelf.create("n", "plan", "x")
    shelf.save("n", "plan", "x")
    shelf.undo()
    shelf.undo()
    assert list(shelf.list()) == []
