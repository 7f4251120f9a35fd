"""Facts: keys that stay readable, texts that stay as written, tags that stay when not sent."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memories_sdk import InvalidInput, MemoryStore, Principal, Scope
from memories_sdk.errors import MemoryOff, TooLong
from memories_sdk.facts import (
    cleaned_query,
    cleaned_type,
    listed,
    readable_key,
    readable_tags,
)
from memories_sdk.fields import LONGEST_SPELLED
from memories_sdk.memory import FACTS
from memories_sdk.pages import Recent

if TYPE_CHECKING:
    from conftest import MakeStore


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Reply Tone", "reply-tone"),
        ("Façade & Åland", "facade-aland"),
        ("Œuvre Łódź straße", "oeuvre-lodz-strase"),
        ("v1.2/beta \u2013 final", "v1-2-beta-final"),
        ("snake_case", "snake_case"),
        ("Тон Йогурта", "тон-йогурта"),
        ("返信の調子", "返信の調子"),
        ("नमस्ते दुनिया", "नमस्ते-दुनिया"),
        ("go 🚀 now", "go-🚀-now"),
        ("a\u200bb\u202ec\u3164", "abc"),
        ("❤\ufe0f", "❤"),
        ("<em>Bold</em> 1 < 2", "bold-1-2"),
        ("a\tb\nc", "a-b-c"),
        ("...", ""),
    ],
)
def test_a_key_is_a_readable_slug_in_any_script(text: str, key: str) -> None:
    """Latin is folded to plain letters; every other script keeps its own."""
    assert readable_key(text) == key


@given(st.text())
@example("0\x80\u0300")
def test_a_key_is_its_own_key(text: str) -> None:
    """A key taken from a list finds its fact again, on every engine: NFC, one line, no edges."""
    key = readable_key(text)
    assert readable_key(key) == key
    assert unicodedata.is_normalized("NFC", key)
    assert key.isprintable() or not key
    assert not set(" ./<>") & set(key)
    assert not key.startswith("-")
    assert not key.endswith("-")


@given(st.lists(st.text(max_size=20), max_size=15))
@example(["\u0339:\u0334"])
def test_tags_are_their_own_tags(texts: list[str]) -> None:
    """Ten words at most, each once; cleaning them again changes nothing."""
    tags = readable_tags(texts)
    assert readable_tags(tags) == tags
    assert len(set(tags)) == len(tags) <= 10


def test_tags_keep_their_script() -> None:
    """A tag is one word in lower case; blanks and punctuation go."""
    assert readable_tags(["Ü bung", "SEO!", "seo", "", "тон"]) == ("übung", "seo", "тон")


def test_a_type_is_what_its_letters_say() -> None:
    """Blanks and punctuation around a type do not hide it; letters of another script do."""
    assert cleaned_type(" F a c t! ") == "fact"
    assert cleaned_type("fаct") == "fct"  # noqa: RUF001 -- the a is Cyrillic


def test_a_query_is_one_short_line() -> None:
    """What to look for is bounded, and a percent sign in it is a percent sign."""
    assert cleaned_query(" a \n b ") == "a b"
    assert cleaned_query("100%") == "100%"
    assert cleaned_query("x" * 119 + " yy") == "x" * 119


@pytest.mark.parametrize(
    ("limit", "size"), [(None, 50), (0, 50), (7, 7), (-7, 7), (200, 200), (10**9, 200)]
)
def test_a_list_is_bounded(limit: int | None, size: int) -> None:
    """Any number a model sends gives a list of some size between 1 and 200."""
    assert listed(limit) == size


def test_a_fact_is_stored_under_its_key_as_it_was_written(shelf: Scope) -> None:
    """Not a character of the text changes: what looks like markup or an escape stays."""
    text = "50%25 off for <b>all</b> & <script>x()</script> — 100%\n"
    saved = shelf.save("Blog Topic", "fact", text, tags=["SEO", "Müsli Bar"])
    assert saved.memory.name == "blog-topic"
    assert saved.memory.tags == ("seo", "müslibar")
    assert shelf.get("BLOG topic!", "fact").content == text


def test_two_spellings_of_a_key_are_one_fact(shelf: Scope) -> None:
    """The second save updates the first, and keeps the tags that it does not send."""
    first = shelf.save("Reply tone", "preference", "Friendly", tags=["style"]).memory
    second = shelf.save("reply-tone", "preference", "Formal")
    assert not second.created
    assert (second.memory.id, second.memory.tags) == (first.id, ("style",))


def test_the_rules_of_facts_are_for_facts_alone(shelf: Scope) -> None:
    """A document keeps the name and the tags that it was given."""
    memory = shelf.save("Blog Topic", "plan", "x", tags=["Müsli Bar"]).memory
    assert (memory.name, memory.tags) == ("Blog Topic", ("Müsli Bar",))


@pytest.mark.parametrize(
    ("name", "content", "field"),
    [
        ("k" * 121, "x", "name"),
        ("山" * 121, "x", "name"),
        ("k" * (LONGEST_SPELLED + 1), "x", "name"),
        ("!" * (LONGEST_SPELLED + 1), "x", "name"),
        ("k", "é" * 1_001, "content"),
    ],
)
def test_what_is_too_long_for_a_fact_is_refused(
    shelf: Scope, name: str, content: str, field: str
) -> None:
    """Limits count characters of what would be stored: 120 of the key, 1,000 of the text."""
    with pytest.raises(TooLong) as caught:
        shelf.save(name, "fact", content)
    assert caught.value.field == field
    assert shelf.list().total == 0


def test_the_longest_fact_is_stored(shelf: Scope) -> None:
    """At the limits nothing is refused, whatever it takes in bytes."""
    memory = shelf.save("山" * 120, "fact", "🚀" * 1_000).memory
    assert (len(memory.name), len(memory.content)) == (FACTS.max_name, FACTS.max_body)


@pytest.mark.parametrize("name", ["", " ", "!!!", "\u200b", "<b></b>"])
def test_a_key_of_nothing_is_refused(shelf: Scope, name: str) -> None:
    """A fact that nobody can name could never be forgotten."""
    with pytest.raises(InvalidInput, match="name cannot be empty"):
        shelf.save(name, "fact", "x")


def test_the_eleventh_tag_is_dropped(shelf: Scope) -> None:
    """Ten tags are kept, in their order; more are no reason to lose the fact."""
    memory = shelf.save("k", "fact", "x", tags=[f"t{n}" for n in range(14)]).memory
    assert memory.tags == tuple(f"t{n}" for n in range(10))


def test_a_document_that_becomes_a_fact_obeys_the_rules_of_facts(shelf: Scope) -> None:
    """Its name becomes a key, its tags are cleaned, and a long body is refused."""
    memory = shelf.create("Reply Tone", "context", "Friendly", tags=["Style Guide"])
    moved = shelf.update(memory.id, type="preference")
    assert (moved.name, moved.tags, moved.content) == ("reply-tone", ("styleguide",), "Friendly")
    assert moved.id == memory.id
    long = shelf.create("long", "context", "x" * 1_001)
    with pytest.raises(TooLong):
        shelf.update(long.id, type="fact")
    assert shelf.get("long", "context") == long


@pytest.fixture
def five(make_store: MakeStore) -> Scope:
    """A shelf of five memories whose clock ticks at each write."""
    moments = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in count())
    store = make_store("five.db", durability="process", clock=lambda: next(moments))
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.save("tone", "preference", "Friendly")
    shelf.save("topic", "fact", "Gardening", tags=["SEO"])
    shelf.save("food", "fact", "Mag M\u00fcsli, 100% Hafer")
    shelf.save("notes", "plan", "Gardening, friendly")
    shelf.save("review", "constraint", "Publish after review")
    return shelf


def names(recent: Recent) -> list[str]:
    """Return the names, in order."""
    return [memory.name for memory in recent.memories]


def test_recent_lists_the_last_changed_first(five: Scope) -> None:
    """A change brings a memory to the front; a move does not."""
    five.save("tone", "preference", "Formal")
    five.move(five.get("topic", "fact").id, before=five.get("tone", "preference").id)
    assert names(five.recent()) == ["tone", "review", "notes", "food", "topic"]
    assert five.recent().memories[0].content == "Formal"


def test_recent_comes_in_pages(five: Scope) -> None:
    """Pages do not overlap, and the total counts what is on all of them."""
    pages = [five.recent(limit=2, skip=skip) for skip in (0, 2, 4, 6)]
    assert [names(page) for page in pages] == [
        ["review", "notes"],
        ["food", "topic"],
        ["tone"],
        [],
    ]
    assert {page.total for page in pages} == {5}
    assert names(five.recent(containing="friendly", limit=1, skip=1)) == ["tone"]


@pytest.mark.parametrize(
    ("type", "containing", "found"),
    [
        (None, "friendly", ["notes", "tone"]),
        (None, "FRIENDLY", ["notes", "tone"]),
        (None, "M\u00dcSLI", ["food"]),
        (None, "Mu\u0308sli", ["food"]),
        (None, "seo", ["topic"]),
        (None, "evie", ["review"]),
        (None, "100%", ["food"]),
        (None, "%", ["food"]),
        (None, "_", []),
        (None, "created_at", []),
        ("fact", "friendly", []),
        ("fact", "", ["food", "topic"]),
    ],
)
def test_recent_looks_for_a_text_in_name_body_and_tags(
    five: Scope, type: str | None, containing: str, found: list[str]
) -> None:
    """Capital or small, in any script, and no character of it is special."""
    recent = five.recent(type=type, containing=containing)
    assert (names(recent), recent.total) == (found, len(found))


@pytest.mark.parametrize(
    "options", [{"limit": 0}, {"limit": 501}, {"skip": -1}, {"skip": True}, {"type": "note"}]
)
def test_recent_refuses_what_is_out_of_range(five: Scope, options: dict[str, object]) -> None:
    """A page is bounded, and a type that does not exist is no filter."""
    with pytest.raises(InvalidInput):
        five.recent(**options)


def test_what_is_switched_off_can_be_read_and_not_written(shelf: Scope) -> None:
    """Every verb that writes is refused and leaves no trace; reading goes on."""
    memory = shelf.create("n", "plan", "x")
    gone = shelf.create("gone", "fact", "x")
    shelf.delete_by_id(gone.id)
    history = list(shelf.history())
    shelf.switch(on=False)
    assert not shelf.enabled
    for write in (
        lambda: shelf.save("n", "plan", "y"),
        lambda: shelf.create("m", "plan", "y"),
        lambda: shelf.update(memory.id, content="y"),
        lambda: shelf.replace("n", "plan", find="x", new_text="y"),
        lambda: shelf.delete("n", "plan"),
        shelf.clear,
        lambda: shelf.reorder([memory.id]),
        lambda: shelf.restore(gone.id),
        shelf.undo,
        lambda: shelf.redact("x"),
        lambda: shelf.prune(keep=1),
    ):
        with pytest.raises(MemoryOff):
            write()
    assert shelf.get("n", "plan") == memory
    assert shelf.list().total == 1
    assert list(shelf.history()) == history
    shelf.switch(on=True)
    assert shelf.enabled
    assert shelf.save("n", "plan", "y").memory.version == 2


def test_a_switch_is_one_shelfs_own_and_lasts(
    make_store: MakeStore, engine: str, shelf: Scope, store: MemoryStore, alice: Principal
) -> None:
    """Other shelves stay on, every scope of the shelf is off, and so it is after a restart."""
    store.agents.create("writer", owner=alice)
    shelf.switch(on=False)
    assert store.scope(acting_as=alice, agent="writer").save("n", "plan", "x").created
    assert store.scope(acting_as=store.principals.user("bob")).save("n", "plan", "x").created
    with pytest.raises(MemoryOff):
        store.scope(acting_as=alice).save("n", "plan", "x")
    if engine == "sqlite-file":
        store.close()
        again = make_store()
        assert not again.scope(acting_as=again.principals.user("alice")).enabled
