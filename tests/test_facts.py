"""Facts: keys that stay readable, texts that stay as written, tags that stay when not sent."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memories_sdk import InvalidInput, MemoryStore, Principal, Scope
from memories_sdk.errors import TooLong
from memories_sdk.facts import (
    cleaned_query,
    cleaned_type,
    listed,
    readable_key,
    readable_tags,
)
from memories_sdk.memory import FACTS, LONGEST_SPELLED

if TYPE_CHECKING:
    from conftest import MakeStore


@pytest.fixture
def store(make_store: MakeStore) -> MemoryStore:
    """An empty store that does not wait for the device."""
    return make_store(durability="process")


@pytest.fixture
def shelf(store: MemoryStore, alice: Principal) -> Scope:
    """Alice's own shelf."""
    return store.scope(acting_as=alice)


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
