"""Finding what says the same in other words, by an embedder that the user brings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from memories_sdk import InvalidInput, MemoryStore, Scope
from memories_sdk.search.embedding import Kind

MEANINGS = (
    {"dog", "hound", "puppy", "canine"},
    {"car", "automobile", "vehicle"},
    {"angry", "furious", "upset"},
)


class _Toy:
    """Knows three meanings; counts what it is asked."""

    id = "toy-1"
    dim = 4

    def __init__(self) -> None:
        self.asked: list[tuple[Kind, str]] = []

    def embed(self, texts: Sequence[str], *, kind: Kind) -> list[list[float]]:
        self.asked += [(kind, text) for text in texts]
        return [self._vector(set(text.lower().replace(".", " ").split())) for text in texts]

    def memories(self) -> list[str]:
        return [text for kind, text in self.asked if kind == "memory"]

    def _vector(self, words: set[str]) -> list[float]:
        return [*(float(bool(words & meaning)) for meaning in MEANINGS), 0.0]


@pytest.fixture
def toy() -> _Toy:
    """A model that knows three meanings."""
    return _Toy()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A place for a store."""
    return tmp_path / "memories.db"


@pytest.fixture
def store(file: Path, toy: _Toy) -> Iterator[MemoryStore]:
    """A store with the model."""
    with MemoryStore(file, embedder=toy) as store:
        yield store


@pytest.fixture
def shelf(store: MemoryStore) -> Scope:
    """A shelf with three memories."""
    shelf = _shelf(store)
    shelf.save("pet", "context", "The hound sleeps.")
    shelf.save("drive", "context", "An automobile waits outside.")
    shelf.save("plain", "context", "Nothing of note.")
    return shelf


def _shelf(store: MemoryStore, name: str = "alice") -> Scope:
    return store.scope(acting_as=store.principals.user(name))


def _vectors(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("SELECT count(*) FROM memory_vectors").fetchone()[0])


def test_other_words_find_what_means_the_same(shelf: Scope) -> None:
    """A memory without a word of the query is found by its meaning, in search and in recall."""
    assert [hit.memory.name for hit in shelf.search("puppy")] == ["pet"]
    assert [item.memory.name for item in shelf.relevant_for_prompt("my vehicle").items] == ["drive"]


def test_without_an_embedder_nothing_changes(file: Path, shelf: Scope) -> None:
    """A store without the embedder answers by words alone, from the same file."""
    shelf.search("puppy")
    with MemoryStore(file) as plain:
        assert not _shelf(plain).search("puppy")
        assert [hit.memory.name for hit in _shelf(plain).search("hound")] == ["pet"]


def test_the_report_says_what_meaning_did(shelf: Scope) -> None:
    """The report names the meaning's part, and the item carries it."""
    recall = shelf.relevant_for_prompt("puppy")
    assert recall.items[0].near == pytest.approx(1)
    assert "(meaning 1.00)" in recall.report[0].reason


def test_words_count_beside_the_meaning(shelf: Scope) -> None:
    """What shares word and meaning stands before what shares the meaning alone."""
    shelf.save("puppy", "context", "A puppy of its own.")
    assert [hit.memory.name for hit in shelf.search("puppy")] == ["puppy", "pet"]


def test_share_one_ranks_by_meaning_alone(file: Path, toy: _Toy) -> None:
    """The share of the meaning is the user's to choose."""
    with MemoryStore(file, embedder=toy, meaning=1.0) as store:
        shelf = _shelf(store)
        shelf.save("words", "context", "Puppy furious.")
        shelf.save("sense", "context", "The hound.")
        hits = shelf.search("hound, or words with a puppy")
        assert hits[0].memory.name == "sense"


def test_a_text_is_embedded_once(file: Path, toy: _Toy, shelf: Scope) -> None:
    """Vectors are made by the first search, kept in the file, and not made again."""
    assert not toy.memories()
    shelf.search("puppy")
    assert len(toy.memories()) == 3
    shelf.search("vehicle")
    other = _Toy()
    with MemoryStore(file, embedder=other) as second:
        assert [hit.memory.name for hit in _shelf(second).search("puppy")] == ["pet"]
    assert len(toy.memories()) == 3
    assert not other.memories()


def test_only_what_changed_is_embedded_again(toy: _Toy, shelf: Scope) -> None:
    """A new text is embedded, a new place or tag-free touch of the same text is not."""
    shelf.search("puppy")
    toy.asked.clear()
    shelf.save("pet", "context", "The automobile sleeps.")
    shelf.save("plain", "context", "Nothing of note.", pinned=True)
    assert [hit.memory.name for hit in shelf.search("puppy")] == []
    assert {hit.memory.name for hit in shelf.search("vehicle")} == {"pet", "drive"}
    assert toy.memories() == ["pet\nThe automobile sleeps."]


def test_a_delete_takes_the_vector_along(file: Path, shelf: Scope) -> None:
    """No vector of a deleted memory stays in the file."""
    shelf.search("puppy")
    shelf.delete("pet", "context")
    assert _vectors(file) == 2
    assert not shelf.search("puppy")


def test_a_redaction_takes_all_vectors_of_the_shelf(file: Path, shelf: Scope) -> None:
    """A vector tells of the text it was made of, so a redaction leaves none."""
    shelf.search("puppy")
    shelf.save("pet", "context", "Gone.")
    shelf.redact("hound")
    assert _vectors(file) == 0


def test_shelves_do_not_meet(store: MemoryStore, shelf: Scope, toy: _Toy) -> None:
    """A search embeds and finds nothing of another shelf."""
    other = _shelf(store, "bob")
    other.save("beast", "context", "A canine.")
    toy.asked.clear()
    assert [hit.memory.name for hit in other.search("puppy")] == ["beast"]
    assert toy.memories() == ["beast\nA canine."]
    assert [hit.memory.name for hit in shelf.search("puppy")] == ["pet"]


def test_a_filter_comes_before_the_meaning(shelf: Scope) -> None:
    """What the filter leaves out is not found by its meaning either."""
    assert not shelf.search("puppy", type="plan")


def test_large_shelves_are_found_by_meaning_too(shelf: Scope) -> None:
    """The same on a shelf that has an index in the file."""
    for number in range(600):
        shelf.save(f"filler {number}", "context", f"Entry {number} about paper.")
    assert [hit.memory.name for hit in shelf.search("puppy")] == ["pet"]
    assert [item.memory.name for item in shelf.relevant_for_prompt("vehicle").items] == ["drive"]
    shelf.save("late", "context", "The canine came last.")
    assert {hit.memory.name for hit in shelf.search("puppy")} == {"pet", "late"}


def test_another_writer_does_not_stop_a_search(file: Path, shelf: Scope) -> None:
    """While the file is locked, vectors are made for this process alone."""
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert [hit.memory.name for hit in shelf.search("puppy")] == ["pet"]
        writer.execute("ROLLBACK")


def test_another_model_makes_its_own(file: Path, shelf: Scope) -> None:
    """Vectors of one model are never compared with those of another."""
    shelf.search("puppy")
    other = _Toy()
    other.id = "toy-2"
    with MemoryStore(file, embedder=other) as second:
        _shelf(second).search("puppy")
    assert len(other.memories()) == 3
    assert _vectors(file) == 6


class _Wrong(_Toy):
    dim = 5


class _Endless(_Toy):
    def _vector(self, words: set[str]) -> list[float]:
        return [float("nan") for _ in (*MEANINGS, words)]


@pytest.mark.parametrize("embedder", [_Wrong(), _Endless()])
def test_a_broken_embedder_is_named(embedder: _Toy) -> None:
    """Vectors of another length or of no numbers are refused, not stored."""
    with MemoryStore(":memory:", embedder=embedder) as store:
        shelf = _shelf(store)
        shelf.save("pet", "context", "The hound sleeps.")
        with pytest.raises(InvalidInput, match="toy-1"):
            shelf.search("puppy")


@pytest.mark.parametrize("share", [-0.1, 1.5, True, "half", None])
def test_the_share_is_checked(share: float, toy: _Toy) -> None:
    """A share outside 0 to 1 is refused before the file is opened."""
    with pytest.raises(InvalidInput, match="meaning"):
        MemoryStore(":memory:", embedder=toy, meaning=share)


def test_the_small_model_of_the_extra() -> None:
    """The extra's model runs from installed packages and finds English paraphrases."""
    semantic = pytest.importorskip(
        "memories_sdk.semantic", reason="install memories-sdk[semantic]", exc_type=ImportError
    )
    with MemoryStore(":memory:", embedder=semantic.MiniLM()) as store:
        shelf = _shelf(store)
        shelf.save("shipping", "context", "The customer is unhappy with late parcels.")
        shelf.save("stack", "context", "Our database runs on PostgreSQL.")
        recall = shelf.relevant_for_prompt("delivery delays make clients angry")
        assert [item.memory.name for item in recall.items] == ["shipping"]
        assert recall == shelf.relevant_for_prompt("delivery delays make clients angry")


def test_the_small_model_leaves_other_scripts_to_the_words() -> None:
    """The extra's model reads English; a Chinese shelf ranks as it does without it."""
    semantic = pytest.importorskip(
        "memories_sdk.semantic", reason="install memories-sdk[semantic]", exc_type=ImportError
    )
    with (
        MemoryStore(":memory:", embedder=semantic.MiniLM()) as meaning,
        MemoryStore(":memory:") as plain,
    ):
        for store in (meaning, plain):
            shelf = _shelf(store)
            shelf.save("一", "context", "我妹妹喜欢在湖边散步。")
            shelf.save("二", "context", "服务器在星期五重启。")
        found, alone = (_shelf(store).search("妹妹喜欢什么") for store in (meaning, plain))
        assert [(hit.memory.name, hit.score) for hit in found] == [
            (hit.memory.name, hit.score) for hit in alone
        ]
        assert [hit.memory.name for hit in found][:1] == ["一"]
