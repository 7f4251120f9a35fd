"""Two changes of one text come together line by line, and a stale write shows both."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories_sdk import EditConflict
from memories_sdk.merge import MAX_LINES, merge

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e"]), max_size=9).map("".join)


@given(texts, texts, texts)
def test_a_merge_loses_no_line_of_any_side(base, yours, theirs):
    """The chunks, in order, give back each of the three texts."""
    chunks = merge(base, yours, theirs).chunks
    assert "".join(chunk.base for chunk in chunks) == base
    assert "".join(chunk.yours for chunk in chunks) == yours
    assert "".join(chunk.theirs for chunk in chunks) == theirs


@given(texts, texts)
def test_a_side_that_changed_nothing_gives_way(base, changed):
    """When one side left the text alone, the merge is the other, without a conflict."""
    for merged in (merge(base, changed, base), merge(base, base, changed)):
        assert merged.clean
        assert merged.text == changed


@given(texts, texts)
def test_the_same_change_twice_is_no_conflict(base, changed):
    """When both made the same of it, that is the merge."""
    merged = merge(base, changed, changed)
    assert merged.clean
    assert merged.text == changed


@given(texts, texts, texts)
def test_a_merge_does_not_depend_on_whose_side_it_is(base, yours, theirs):
    """Changing sides swaps the sides of the chunks and nothing else."""
    one, other = merge(base, yours, theirs), merge(base, theirs, yours)
    assert one.clean == other.clean
    assert [chunk.yours for chunk in one.chunks] == [chunk.theirs for chunk in other.chunks]


def test_changes_of_different_places_come_together():
    """Two edits apart from each other both stand in the merge."""
    merged = merge("one\ntwo\nthree\n", "ONE\ntwo\nthree\n", "one\ntwo\nTHREE\nfour\n")
    assert merged.clean
    assert merged.text == "ONE\ntwo\nTHREE\nfour\n"


def test_changes_of_one_place_clash_and_both_stay():
    """Where both changed the same lines, nothing is thrown away."""
    merged = merge("one\ntwo\n", "uno\ntwo\n", "eins\ntwo\n")
    assert not merged.clean
    assert merged.text == "uno\neins\ntwo\n"


def test_a_long_text_with_a_short_change_merges():
    """Common lines at both ends are found at any length."""
    lines = [f"line {number}\n" for number in range(MAX_LINES * 3)]
    yours = [*lines[:5], "mine\n", *lines[5:]]
    theirs = [*lines[:-5], "theirs\n", *lines[-5:]]
    merged = merge("".join(lines), "".join(yours), "".join(theirs))
    assert merged.clean
    assert merged.text.count("mine\n") == merged.text.count("theirs\n") == 1


@pytest.fixture
def changed(store, alice):
    """A shelf with a memory that is at version 2."""
    shelf = store.scope(acting_as=alice)
    shelf.create("n", "plan", "one\ntwo\nthree\n")
    shelf.save("n", "plan", "one\ntwo\nTHREE\n")
    return shelf


@pytest.mark.parametrize(
    "write",
    [
        lambda shelf: shelf.save("n", "plan", "ONE\ntwo\nthree\n", expected_version=1),
        lambda shelf: shelf.replace("n", "plan", find="one", new_text="ONE", expected_version=1),
        lambda shelf: shelf.update(
            shelf.get("n", "plan").id, content="ONE\ntwo\nthree\n", expected_version=1
        ),
    ],
    ids=["save", "replace", "update"],
)
def test_a_stale_write_carries_both_changes(changed, write):
    """A conflict gives the text that was seen, yours and theirs, and what they make together."""
    with pytest.raises(EditConflict) as refused:
        write(changed)
    difference = refused.value.difference
    assert difference.text == "ONE\ntwo\nTHREE\n"
    assert "".join(chunk.base for chunk in difference.chunks) == "one\ntwo\nthree\n"
    assert changed.get("n", "plan").content == "one\ntwo\nTHREE\n"


def test_a_stale_delete_or_a_passage_that_is_gone_has_no_difference(changed):
    """Without a body of yours there is nothing to compare; the current memory is there still."""
    for write in (
        lambda: changed.delete("n", "plan", expected_version=1),
        lambda: changed.replace("n", "plan", find="THREE", new_text="x", expected_version=1),
        lambda: changed.update(changed.get("n", "plan").id, pinned=True, expected_version=1),
        lambda: changed.save("n", "plan", "x", expected_version=7),
    ):
        with pytest.raises(EditConflict) as refused:
            write()
        assert refused.value.difference is None
        assert refused.value.current == changed.get("n", "plan")
