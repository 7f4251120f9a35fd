"""Bodies are kept verbatim, and a replace changes one passage and nothing else."""

from __future__ import annotations

import pytest

from memories_sdk import Edit, InvalidInput, NotFound, Scope
from memories_sdk.errors import AnchorNotFound, AnchorNotUnique, TooLong
from memories_sdk.memory import MAX_BODY_BYTES

VERBATIM = {
    "blanks": "  line  \nnext\n\n\n",
    "line ends": "a\r\nb\rc\nd\u2028e\u0085f",
    "markup": "<b>&amp;</b> %41 {{x}} ${y} \\1 \\",
    "front matter": "---\ntitle: mine\n---\n\n# body",
    "decomposed": "cafe\u0301",
    "composed": "café",
    "controls": "\x01\x1b[31m\x7f\t",
    "byte order mark": "\ufeffstart",
    "astral": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U00020000",
    "quotes": "'\" -- ; DROP TABLE memories; %s :name ?",
    "empty": "",
}


@pytest.mark.parametrize("kind", VERBATIM)
def test_a_body_comes_back_as_it_was_given(shelf: Scope, kind: str) -> None:
    """Not one character of a body is trimmed, escaped, folded or normalised."""
    body = VERBATIM[kind]
    assert shelf.save("n", "plan", body).memory.content == body
    assert shelf.get("n", "plan").content == body
    assert shelf.get("n", "plan").size == len(body.encode())


def test_a_replace_changes_no_byte_outside_its_passage(shelf: Scope) -> None:
    """Trailing blanks and blank lines at the end survive an edit."""
    shelf.save("n", "plan", "line  \nnext\n\n\n")
    assert shelf.replace("n", "plan", find="next", new_text="next!").content == (
        "line  \nnext!\n\n\n"
    )
    assert shelf.get("n", "plan").content == "line  \nnext!\n\n\n"


def test_lone_surrogates_in_a_body_are_dropped(shelf: Scope) -> None:
    """No engine stores half a character.

    The case asks to refuse the body; the design drops the halves, as the seed did, and refuses
    them in names alone.
    """
    assert shelf.save("n", "plan", "a\ud800b\udfffc").memory.content == "abc"
    assert shelf.replace("n", "plan", find="b", new_text="\udc00é").content == "aéc"
    with pytest.raises(InvalidInput) as caught:
        shelf.save("n\ud800", "plan", "x")
    assert caught.value.field == "name"
    with pytest.raises(NotFound):
        shelf.get("n", "context")


def test_nul_is_refused_wherever_it_comes_in(shelf: Scope) -> None:
    """Engines cut or refuse a text at NUL, each in its own way: it never gets there."""
    with pytest.raises(InvalidInput, match="NUL"):
        shelf.save("n", "plan", "a\0b")
    shelf.save("n", "plan", "ab")
    with pytest.raises(InvalidInput, match="NUL"):
        shelf.replace("n", "plan", find="b", new_text="\0")
    assert shelf.get("n", "plan").content == "ab"


def test_a_document_may_be_one_mebibyte_and_no_byte_more(shelf: Scope) -> None:
    """The limit counts bytes of UTF-8; the error states size, limit and excess."""
    body = "é" * (MAX_BODY_BYTES // 2)
    assert shelf.save("n", "documentation", body).memory.size == MAX_BODY_BYTES
    with pytest.raises(TooLong) as caught:
        shelf.save("m", "documentation", body + "x")
    error = caught.value
    assert (error.size, error.limit, error.unit) == (1_048_577, 1_048_576, "bytes")
    assert "1,048,577" in error.message
    assert "1,048,576" in error.message
    assert "(1 too many)" in error.message


def test_a_replace_cannot_grow_a_body_past_its_limit(shelf: Scope) -> None:
    """The limit holds for the result of an edit too."""
    shelf.save("n", "fact", "x" * 1_000)
    with pytest.raises(TooLong):
        shelf.replace("n", "fact", edits=[Edit("x" * 1_000, "y" * 1_001)])
    assert shelf.get("n", "fact").content == "x" * 1_000


def test_overlapping_places_count(shelf: Scope) -> None:
    """`aa` stands twice in `aaa`: to replace one of them would be a guess."""
    shelf.save("a", "plan", "aaa")
    with pytest.raises(AnchorNotUnique) as caught:
        shelf.replace("a", "plan", find="aa", new_text="b")
    assert caught.value.count == 2
    memory = shelf.get("a", "plan")
    assert (memory.content, memory.version) == ("aaa", 1)


def test_an_ambiguous_passage_names_its_places(shelf: Scope) -> None:
    """Line and column of each place, from one, help to choose a longer passage."""
    shelf.save("m", "plan", "x\ny\n x\ny\n")
    with pytest.raises(AnchorNotUnique) as caught:
        shelf.replace("m", "plan", find="x\ny", new_text="z")
    assert caught.value.count == 2
    assert caught.value.positions == ((1, 1), (3, 2))
    assert "1:1, 3:2" in caught.value.suggestion


def test_many_places_are_counted_and_the_first_ten_named(shelf: Scope) -> None:
    """A refusal stays short, whatever the body holds."""
    shelf.save("m", "plan", "x\n" * 500)
    with pytest.raises(AnchorNotUnique) as caught:
        shelf.replace("m", "plan", find="x", new_text="z")
    assert caught.value.count == 500
    assert caught.value.positions == tuple((line, 1) for line in range(1, 11))
    assert caught.value.suggestion.count(":1") == 10


def test_another_unicode_form_is_not_matched_but_explained(shelf: Scope) -> None:
    """Nothing is normalised silently: the refusal says that the accents are written otherwise."""
    shelf.save("u", "plan", "cafe\u0301 au lait")
    with pytest.raises(AnchorNotFound) as caught:
        shelf.replace("u", "plan", find="café", new_text="tea")
    assert "canonically equivalent" in caught.value.suggestion
    assert shelf.get("u", "plan").content == "cafe\u0301 au lait"


def test_a_near_miss_is_explained(shelf: Scope) -> None:
    """A passage that differs in case, blanks or line ends gets a hint; any other gets none."""
    shelf.save("u", "plan", "One  two\nthree")
    hints = {}
    for find in ("one two", "two three", "four"):
        with pytest.raises(AnchorNotFound) as caught:
            shelf.replace("u", "plan", find=find, new_text="x")
        hints[find] = "only in case, blanks" in caught.value.suggestion
    assert hints == {"one two": True, "two three": True, "four": False}


@pytest.mark.parametrize(
    ("find", "body"), [("a.c", "abc"), ("A", "a"), ("[a-z]", "a"), ("\\n", "\n"), ("a", "")]
)
def test_a_passage_is_literal(shelf: Scope, find: str, body: str) -> None:
    """No pattern, no case folding, no escapes."""
    shelf.save("u", "plan", body)
    with pytest.raises(AnchorNotFound):
        shelf.replace("u", "plan", find=find, new_text="x")


def test_new_text_is_literal(shelf: Scope) -> None:
    """No back-references, and the passage may stand in its own replacement."""
    shelf.save("u", "plan", "my name")
    assert shelf.replace("u", "plan", find="name", new_text=r"\1 \g<0> name").content == (
        r"my \1 \g<0> name"
    )


def test_an_empty_new_text_deletes_the_passage(shelf: Scope) -> None:
    """To empty a body by an edit is allowed; the memory stays."""
    shelf.save("z", "plan", "gone")
    assert shelf.replace("z", "plan", find="gone", new_text="").content == ""
    assert shelf.get("z", "plan").size == 0


def test_a_missing_new_text_is_not_a_deletion(shelf: Scope) -> None:
    """A forgotten argument is refused; it never becomes the text None."""
    shelf.save("n", "plan", "keep drop")
    with pytest.raises(InvalidInput) as caught:
        shelf.replace("n", "plan", find=" drop")
    assert caught.value.field == "new_text"
    assert shelf.get("n", "plan").content == "keep drop"


@pytest.mark.parametrize("edits", [[], [Edit("", "x")]])
def test_a_replace_needs_a_passage(shelf: Scope, edits: list[Edit]) -> None:
    """An empty list or an empty `find` is a mistake, not a change of nothing."""
    shelf.save("n", "plan", "body")
    with pytest.raises(InvalidInput) as caught:
        shelf.replace("n", "plan", edits=edits)
    assert caught.value.field == "find"


def test_find_and_edits_exclude_each_other(shelf: Scope) -> None:
    """Two ways at once could mean two things."""
    shelf.save("n", "plan", "body")
    with pytest.raises(InvalidInput):
        shelf.replace("n", "plan", find="b", new_text="c", edits=[Edit("o", "0")])
    assert shelf.get("n", "plan").content == "body"


def test_edits_are_all_made_or_none(shelf: Scope) -> None:
    """When the second of two edits misses, the first is not made; the error names its index."""
    shelf.save("b", "plan", "one two three")
    with pytest.raises(AnchorNotFound) as caught:
        shelf.replace("b", "plan", edits=[Edit("one", "1"), Edit("four", "4")])
    assert caught.value.edit == 1
    memory = shelf.get("b", "plan")
    assert (memory.content, memory.version) == ("one two three", 1)


def test_later_edits_see_what_earlier_ones_did(shelf: Scope) -> None:
    """Edits are made in turn, as one change with one version."""
    shelf.save("b", "plan", "one two")
    memory = shelf.replace("b", "plan", edits=[Edit("one", "two"), Edit("two two", "2")])
    assert (memory.content, memory.version) == ("2", 2)


def test_a_replace_leaves_name_order_tags_and_written_summary(shelf: Scope) -> None:
    """An edit of the body is an edit of the body."""
    before = shelf.create("b", "plan", "one", summary="Mine", order=4, tags=["t"], pinned=True)
    after = shelf.replace_by_id(before.id, find="one", new_text="two")
    assert (after.name, after.order, after.tags, after.pinned) == ("b", 4, ("t",), True)
    assert after.summary == "Mine"
    assert after.content == "two"
