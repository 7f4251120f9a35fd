"""Where memories stand in their list: reorder and move."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from uuid6 import uuid7

from memories_sdk import InvalidInput, Memory, MemoryStore, NotFound, Principal, Scope

if TYPE_CHECKING:
    from conftest import MakeStore
    from uuid6 import UUID


@pytest.fixture
def five(shelf: Scope) -> dict[str, UUID]:
    """Five memories a…e, of two types in turn."""
    types = ("plan", "context")
    return {name: shelf.create(name, types[i % 2], name).id for i, name in enumerate("abcde")}


def names(shelf: Scope, type: str | None = None) -> str:
    """Return the one-letter names in list order."""
    return "".join(head.name for head in shelf.list(type=type))


def positions(shelf: Scope) -> list[int]:
    """Return the orders in list order."""
    return [head.order for head in shelf.list()]


def memories(shelf: Scope) -> list[Memory]:
    """Return all memories of the shelf."""
    return [shelf.get_by_id(head.id) for head in shelf.list()]


def test_reorder_puts_these_first_and_the_rest_behind(shelf: Scope, five: dict[str, UUID]) -> None:
    """What is not named keeps its order behind, and all are numbered 1…n."""
    shelf.reorder([five["d"], five["b"]])
    assert names(shelf) == "dbace"
    assert positions(shelf) == [1, 2, 3, 4, 5]


def test_reorder_of_nothing_numbers_the_shelf(shelf: Scope) -> None:
    """Ties and gaps go; the order stays."""
    for name, order in (("c", 9), ("b", 0), ("a", 0)):
        shelf.create(name, "plan", "", order=order)
    shelf.reorder([])
    assert names(shelf) == "abc"
    assert positions(shelf) == [1, 2, 3]


def test_moving_is_not_editing(shelf: Scope, five: dict[str, UUID]) -> None:
    """Neither reorder nor move touches version, body or `updated_at`."""

    def contents() -> set[tuple[object, ...]]:
        return {(it.id, it.version, it.updated_at, it.content) for it in memories(shelf)}

    before = contents()
    shelf.reorder(list(five.values())[::-1])
    shelf.move(five["a"], before=five["e"])
    assert names(shelf) == "aedcb"
    assert contents() == before


def test_reorder_refuses_an_id_named_twice(shelf: Scope, five: dict[str, UUID]) -> None:
    """Two places for one memory could mean either; nothing is moved."""
    with pytest.raises(InvalidInput):
        shelf.reorder([five["e"], five["d"], five["e"]])
    with pytest.raises(InvalidInput):
        shelf.reorder([five["e"], str(five["e"])])
    assert names(shelf) == "abcde"


def test_reorder_refuses_unknown_and_foreign_ids(
    store: MemoryStore, shelf: Scope, five: dict[str, UUID], bob: Principal
) -> None:
    """One id that is not on the shelf refuses the whole call, foreign or unknown alike."""
    theirs = store.scope(acting_as=bob)
    foreign = theirs.create("x", "plan", "")
    messages = set()
    for stranger in (foreign.id, uuid7(), "no id"):
        with pytest.raises(NotFound) as caught:
            shelf.reorder([five["e"], stranger])
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert names(shelf) == "abcde"
    assert theirs.get_by_id(foreign.id) == foreign


def test_an_unknown_id_may_be_passed_over(shelf: Scope, five: dict[str, UUID]) -> None:
    """Passed over it leaves no gap and no tie; where a number is used up, the rest stays."""
    wanted = [five["e"], uuid7(), five["c"]]
    shelf.reorder(wanted, unknown="skip")
    assert (names(shelf), positions(shelf)) == ("ecabd", [1, 2, 3, 4, 5])
    shelf.reorder([five["d"]], unknown="count")
    assert (names(shelf), positions(shelf)) == ("decab", [1, 2, 3, 4, 5])
    shelf.reorder([five["b"], uuid7(), five["a"]], unknown="count")
    assert (names(shelf), positions(shelf)) == ("bdeac", [1, 1, 2, 3, 3])
    before = len(shelf.history())
    for unknown in ("skip", "count"):
        shelf.reorder([], unknown=unknown)
        shelf.reorder([uuid7()], unknown=unknown)
    assert len(shelf.history()) == before
    with pytest.raises(InvalidInput, match="refuse, skip or count"):
        shelf.reorder(wanted, unknown="ignore")


def test_a_reorder_that_missed_a_new_memory_keeps_it(shelf: Scope, five: dict[str, UUID]) -> None:
    """A list read before an insert still gives a defined order, without doubles."""
    ids = list(five.values())[::-1]
    shelf.create("f", "plan", "")
    shelf.reorder(ids)
    assert names(shelf) == "edcbaf"
    assert positions(shelf) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("moved", "side", "anchor", "expected"),
    [
        ("a", "after", "c", "bcade"),
        ("a", "after", "e", "bcdea"),
        ("e", "before", "a", "eabcd"),
        ("e", "before", "c", "abecd"),
        ("b", "before", "c", "abcde"),
        ("c", "after", "b", "abcde"),
        ("c", "before", "b", "acbde"),
    ],
)
def test_move_stands_right_next_to_its_neighbour(
    shelf: Scope, five: dict[str, UUID], moved: str, side: str, anchor: str, expected: str
) -> None:
    """Before or after, up or down; the others keep their order."""
    result = shelf.move(five[moved], **{side: five[anchor]})
    assert names(shelf) == expected
    assert positions(shelf) == [1, 2, 3, 4, 5]
    assert result == shelf.get_by_id(five[moved])


def test_move_is_right_in_a_filtered_list(shelf: Scope, five: dict[str, UUID]) -> None:
    """Who sees plans alone and drags one before another moves no hidden memory past it."""
    assert names(shelf, "plan") == "ace"
    shelf.move(five["e"], before=five["c"])
    assert names(shelf, "plan") == "aec"
    assert names(shelf, "context") == "bd"
    assert names(shelf) == "abecd"


def test_move_works_among_ties(shelf: Scope) -> None:
    """Equal orders are told apart by name and id; a move among them is exact."""
    ids = {name: shelf.create(name, "plan", "", order=0).id for name in "dbca"}
    assert names(shelf) == "abcd"
    shelf.move(ids["d"], after=ids["a"])
    assert names(shelf) == "adbc"
    shelf.move(ids["b"], before=ids["a"])
    assert names(shelf) == "badc"


def test_random_moves_agree_with_a_list(shelf: Scope) -> None:
    """A hundred moves give what the same moves give in a plain list."""
    choose = random.Random(7)  # noqa: S311 -- the same moves each time, nothing secret
    ids = {name: shelf.create(name, "plan", "", order=0).id for name in "abcdefgh"}
    expected = sorted(ids)
    for _ in range(100):
        moved, anchor = choose.sample(expected, 2)
        side = choose.choice(("before", "after"))
        expected.remove(moved)
        expected.insert(expected.index(anchor) + (side == "after"), moved)
        shelf.move(ids[moved], **{side: ids[anchor]})
        assert names(shelf) == "".join(expected)


@pytest.mark.parametrize("neighbours", [{}, {"before": 0, "after": 1}, {"before": None}])
def test_move_needs_one_neighbour(
    shelf: Scope, five: dict[str, UUID], neighbours: dict[str, int | None]
) -> None:
    """None and two are both no place."""
    named = {side: None if i is None else list(five.values())[i] for side, i in neighbours.items()}
    with pytest.raises(InvalidInput):
        shelf.move(five["c"], **named)


def test_move_next_to_itself_is_refused(shelf: Scope, five: dict[str, UUID]) -> None:
    """A memory is no neighbour of its own, in whichever form its id comes."""
    with pytest.raises(InvalidInput):
        shelf.move(five["c"], before=str(five["c"]))
    assert names(shelf) == "abcde"


def test_move_to_a_neighbour_elsewhere_is_refused(
    store: MemoryStore, shelf: Scope, five: dict[str, UUID], alice: Principal
) -> None:
    """A neighbour on another shelf, or none at all, moves nothing."""
    store.agents.create("writer", owner=alice)
    other = store.scope(acting_as=alice, agent="writer").create("x", "plan", "")
    for anchor in (other.id, uuid7()):
        with pytest.raises(NotFound):
            shelf.move(five["c"], before=anchor)
        with pytest.raises(NotFound):
            shelf.move(anchor, before=five["c"])
    assert names(shelf) == "abcde"


def test_shelves_are_numbered_apart(
    store: MemoryStore, shelf: Scope, five: dict[str, UUID], bob: Principal
) -> None:
    """Moving on one shelf renumbers no other."""
    theirs = store.scope(acting_as=bob)
    for name in "xyz":
        theirs.create(name, "plan", "", order=5)
    shelf.reorder([five["e"]])
    shelf.move(five["a"], after=five["d"])
    assert positions(theirs) == [5, 5, 5]


def test_many_memories_are_reordered_at_once(make_store: MakeStore) -> None:
    """More ids than an engine binds values for are one statement."""
    store = make_store("many.db", durability="process")
    shelf = store.scope(acting_as=store.principals.user("alice"))
    ids = [shelf.create(f"m{i:04}", "plan", "").id for i in range(1_200)]
    shelf.reorder(ids[::-1])
    assert shelf.list(limit=1)[0].name == "m1199"
