"""Unsaved texts: kept for their author alone, whatever state they are in."""

from __future__ import annotations

import pytest
from uuid6 import UUID

from memories_sdk.desk import MOST_DRAFTS
from memories_sdk.editor_drafts import MAX_DRAFT
from memories_sdk.errors import InvalidInput, TooLong, UnknownType, WriteRefused


def test_a_draft_survives_the_store(make_store) -> None:
    """It comes back as it was typed, from another connection."""
    store = make_store()
    shelf = store.scope(acting_as=store.principals.user("alice"))
    memory = shelf.create("n", "plan", "old")
    typed = {"name": " n ", "content": "new\r\n", "summary": "  ", "tags": (",", "a")}
    kept = shelf.keep_draft("k-1", type="plan", memory_id=memory.id, version=1, **typed)
    if store.location != ":memory:":
        store.close()
        store = make_store()
        shelf = store.scope(acting_as=store.principals.user("alice"))
    assert shelf.drafts() == (kept,)
    (draft,) = shelf.drafts()
    assert {field: getattr(draft, field) for field in typed} == typed
    assert (draft.memory_id, draft.version) == (memory.id, 1)


def test_a_key_names_one_draft_and_the_last_one_stands_first(shelf) -> None:
    """Keeping again replaces; another key is another text, also for the same memory."""
    shelf.keep_draft("a", type="plan", content="1")
    shelf.keep_draft("b", type="plan", content="2")
    shelf.keep_draft("a", type="plan", content="3")
    assert [(each.key, each.content) for each in shelf.drafts()] == [("a", "3"), ("b", "2")]
    shelf.drop_draft("a")
    shelf.drop_draft("a")
    assert [each.key for each in shelf.drafts()] == ["b"]


def test_nobody_else_sees_it(store, alice, bob, lab) -> None:
    """On a shared shelf, too, a draft is its author's."""
    hers, his = (store.scope(acting_as=one, principal=lab) for one in (alice, bob))
    hers.keep_draft("k", type="plan", content="hers")
    his.keep_draft("k", type="plan", content="his")
    assert [each.content for each in hers.drafts()] == ["hers"]
    his.drop_draft("k")
    assert [each.content for each in hers.drafts()] == ["hers"]
    assert store.scope(acting_as=alice).drafts() == ()


def test_it_is_no_memory(shelf) -> None:
    """No list, count, search, history or prompt knows it."""
    shelf.keep_draft("k", type="plan", name="sesame", content="sesame")
    assert shelf.list().total == 0
    assert len(shelf.search("sesame")) == 0
    assert shelf.relevant_for_prompt("sesame").as_context() == ""
    assert list(shelf.history()) == []


def test_a_text_that_cannot_be_saved_is_kept(shelf) -> None:
    """No name, too long, odd characters: nothing typed is lost for breaking a rule."""
    odd = "x" * 1_500_000 + "\0\ud800"
    shelf.keep_draft("k", type="plan", content=odd, summary="s" * 900)
    (draft,) = shelf.drafts()
    assert draft.content == odd[:-1]
    with pytest.raises(TooLong):
        shelf.keep_draft("k", type="plan", content="x" * (MAX_DRAFT + 1))


@pytest.mark.parametrize(
    "wrong",
    [
        *({"key": key} for key in ("", "a b", "x" * 65, 1, "é")),
        *({"content": 1}, {"tags": "a"}, {"tags": [1]}, {"version": 0}),
    ],
    ids=str,
)
def test_what_is_no_draft_is_refused(shelf, wrong) -> None:
    """Its key is plain and its fields are texts."""
    with pytest.raises(InvalidInput):
        shelf.keep_draft(**({"key": "k", "type": "plan"} | wrong))
    with pytest.raises(UnknownType):
        shelf.keep_draft("k", type="novel")
    assert shelf.drafts() == ()


def test_guards_are_asked(shelf) -> None:
    """What must not be stored as a memory is not stored as a draft."""
    with pytest.raises(WriteRefused):
        shelf.keep_draft("k", type="fact", content="my key is sk-ant-api03-" + "A1b2" * 24)


def test_a_redaction_reaches_drafts(shelf) -> None:
    """Whoever blots out a leaked secret means every copy."""
    shelf.keep_draft("k", type="plan", content="the sesame", tags=["sesame"])
    assert shelf.redact("sesame") == 1
    (draft,) = shelf.drafts()
    assert "sesame" not in draft.content + "".join(draft.tags)


def test_there_are_not_more_than_a_person_can_mean(shelf) -> None:
    """The oldest go."""
    for index in range(MOST_DRAFTS + 2):
        shelf.keep_draft(f"k{index}", type="plan", content=str(index))
    keys = {each.key for each in shelf.drafts()}
    assert (len(keys), "k0" in keys, "k101" in keys) == (MOST_DRAFTS, False, True)


def test_a_draft_of_a_memory_that_is_gone_stays(shelf) -> None:
    """It is what is left of the text."""
    memory = shelf.create("n", "plan", "x")
    shelf.keep_draft("k", type="plan", memory_id=str(memory.id), version=1, content="mine")
    shelf.delete_by_id(memory.id)
    assert shelf.drafts()[0].memory_id == UUID(str(memory.id))
