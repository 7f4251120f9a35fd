"""Front matter: nothing of the user's is written anew, and what goes in comes out."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memories_sdk.errors import InvalidInput
from memories_sdk.importers.front_matter import join, split

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
pieces = st.sampled_from(
    ["---", "---\n", "--- \r\n", "\ufeff", "memory:", "  order: 3\n", "a: b\n", "\n", "\r\n", "..."]
)
bodies = st.lists(pieces | texts, max_size=8).map("".join)
fields = st.fixed_dictionaries(
    {"order": st.integers(-(2**53), 2**53)},
    optional={
        "name": texts,
        "summary": st.none() | texts,
        "tags": st.lists(texts, max_size=4),
        "pinned": st.just(value=True),
        "expires_at": st.datetimes().map(lambda moment: moment.isoformat() + "+00:00"),
    },
)


@given(bodies, fields)
@example("---\nname: other\n---\nx", {"order": 1})
@example("x\n---\ny", {"order": 1})
@example("---", {"order": 1})
@example("--- \n", {"order": 1})
@example("\ufeff---\na: b\n---", {"order": 1, "summary": "Note: a colon # and a \U0001f600"})
@example("---\nmemory:\n  order: 4\n---\nx", {"order": 1, "tags": ["no", "null", "1e3"]})
@example("---\r\ntitle: T\r\n---\r\nbody\r\n", {"order": 1})
def test_what_is_joined_is_split_again(body: str, ours: dict[str, object]) -> None:
    """Any body and any fields come back to the letter."""
    found = split(join(body, ours))
    assert (found.content, dict(found.fields)) == (body, ours)


@given(bodies)
@example("---\nmemory: {}\n---\n")
def test_no_fields_add_nothing_that_stays(body: str) -> None:
    """A body without fields comes back to the letter too."""
    assert split(join(body, {})).content == body


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_users_lines_stay_as_they_are(end: str) -> None:
    """Comments, quotes, order, odd blanks and line ends of the user are not touched."""
    block = ["# mine", "title:   'T'   # why", "list: [ a,b ]", "date: 2026-1-2"]
    body = end.join(["---", *block, "---", "text", ""])
    written = join(body, {"order": 2, "tags": ["x"]})
    ours = end.join(["memory:", "  order: 2", '  tags: ["x"]', ""])
    assert written == body.replace(f"---{end}text", f"{ours}---{end}text")


def test_an_edit_by_hand_is_read() -> None:
    """Whoever moves our key, or writes it in another way of YAML, is understood."""
    found = split("---\nmemory: {order: 3, tags: [a, b]}\ntitle: T\n---\nbody")
    assert found == ("---\ntitle: T\n---\nbody", {"order": 3, "tags": ["a", "b"]}, {"title": "T"})


def test_an_unquoted_colon_is_read() -> None:
    """It is the commonest mistake in front matter, and no reason to refuse a file."""
    found = split("---\nmemory:\n  order: 3\n  summary: Note: do not\n---\nbody")
    assert found.fields == {"order": 3, "summary": "Note: do not"}
    assert split("---\ndescription: Note: do not\n---\nx").user == {"description": "Note: do not"}


@pytest.mark.parametrize(
    "block",
    [
        "memory: 16 GB",
        "memory:",
        "memory:\n  id: 3",
        "memory:\n  principal_id: 3\n  order: 1",
        "memory:\n  owner: bob\n  order: 1",
        "memory:\n  reviewed: true\n  version: 9",
        "memory: !!python/object/apply:os.system [id]",
        "memory: &a [*a]",
    ],
)
def test_a_key_of_another_meaning_is_the_users(block: str) -> None:
    """What is not ours stays in the body: no file names an owner or an id."""
    text = f"---\n{block}\n---\nbody"
    assert split(text)[:2] == (text, {})


def test_what_is_ours_and_unreadable_is_refused() -> None:
    """Dropping it in silence would lose the fields."""
    with pytest.raises(InvalidInput):
        split("---\nmemory:\n  - [\n---\nbody")
