"""Bad input is refused by kind, with words that help, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple

import pytest
from uuid6 import uuid7

from memories_sdk import (
    AccessDenied,
    Agent,
    Edit,
    EditConflict,
    InvalidInput,
    MemoriesError,
    Memory,
    MemoryStore,
    NotFound,
    Principal,
    Scope,
    Vocabulary,
)
from memories_sdk.errors import NameTaken, TooLong, UnknownType
from memories_sdk.memory import MAX_ORDER

if TYPE_CHECKING:
    from conftest import MakeStore

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001 -- what a caller without a time zone passes
BEYOND = datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))
FOREIGN_CURSORS = ["", "x", "é", "W10=", "WzEsMiwzXQ==", 5, b"x", "9" * 400]
Call = Callable[[Scope, Memory], object]


class Bad(NamedTuple):
    """A call that is refused: what it does, the class of its error, and the field it names."""

    call: Call
    error: type[MemoriesError]
    field: str | None = None


TABLE: dict[str, Bad] = {
    # Names
    "blank name": Bad(lambda it, _: it.save(" \t", "plan", "x"), InvalidInput, "name"),
    "empty name": Bad(lambda it, _: it.create("", "plan", "x"), InvalidInput, "name"),
    "name of strange blanks": Bad(
        lambda it, _: it.create("\u00a0\u3000", "plan", "x"), InvalidInput, "name"
    ),
    "name with NUL": Bad(lambda it, _: it.save("a\0b", "plan", "x"), InvalidInput, "name"),
    "name with a line break": Bad(lambda it, _: it.save("a\nb", "plan", "x"), InvalidInput, "name"),
    "name with a line separator": Bad(
        lambda it, _: it.save("a\u2028b", "plan", "x"), InvalidInput, "name"
    ),
    "name with an escape": Bad(lambda it, _: it.save("\x1b[1m", "plan", "x"), InvalidInput, "name"),
    "name with a lone surrogate": Bad(
        lambda it, _: it.save("a\ud800", "plan", "x"), InvalidInput, "name"
    ),
    "name of 201 characters": Bad(lambda it, _: it.save("é" * 201, "plan", "x"), TooLong, "name"),
    "fact name of 121 characters": Bad(
        lambda it, _: it.save("é" * 121, "fact", "x"), TooLong, "name"
    ),
    "name is None": Bad(lambda it, _: it.save(None, "plan", "x"), InvalidInput, "name"),
    "name is a number": Bad(lambda it, _: it.get(7, "plan"), InvalidInput, "name"),
    "new name blank": Bad(lambda it, m: it.update(m.id, name=" "), InvalidInput, "name"),
    "new name too long for the new type": Bad(
        lambda it, m: it.update(m.id, type="fact", name="n" * 121), TooLong, "name"
    ),
    # Types
    "unknown type": Bad(lambda it, _: it.save("n", "note", "x"), UnknownType, "type"),
    "type in capitals": Bad(lambda it, _: it.save("n", "Plan", "x"), UnknownType, "type"),
    "padded type": Bad(lambda it, _: it.get("n", " plan"), UnknownType, "type"),
    "type is None": Bad(lambda it, _: it.create("n", None, "x"), UnknownType, "type"),
    "type is a list": Bad(lambda it, _: it.save("n", ["plan"], "x"), UnknownType, "type"),
    "type with a lone surrogate": Bad(lambda it, _: it.list(type="\ud800"), UnknownType, "type"),
    "new type unknown": Bad(lambda it, m: it.update(m.id, type="note"), UnknownType, "type"),
    "history without a type": Bad(lambda it, _: it.history("n"), UnknownType, "type"),
    "clear of an unknown type": Bad(lambda it, _: it.clear(type="note"), UnknownType, "type"),
    # Bodies
    "body with NUL": Bad(lambda it, _: it.save("n", "plan", "a\0"), InvalidInput, "content"),
    "body of 1,001 characters for a fact": Bad(
        lambda it, _: it.save("n", "fact", "é" * 1_001), TooLong, "content"
    ),
    "body over one mebibyte": Bad(
        lambda it, _: it.save("n", "plan", "é" * (2**19 + 1)), TooLong, "content"
    ),
    "body is None": Bad(lambda it, _: it.save("n", "plan", None), InvalidInput, "content"),
    "body is bytes": Bad(lambda it, m: it.update(m.id, content=b"x"), InvalidInput, "content"),
    "body missing": Bad(lambda it, _: it.save("new", "plan"), InvalidInput, "content"),
    # Summaries
    "summary of 501 characters": Bad(
        lambda it, m: it.update(m.id, summary="é" * 501), TooLong, "summary"
    ),
    "summary with NUL": Bad(
        lambda it, _: it.save("n", "plan", "x", summary="a\0"), InvalidInput, "summary"
    ),
    "summary is a number": Bad(lambda it, m: it.update(m.id, summary=7), InvalidInput, "summary"),
    # Tags, order, pin, expiry
    "tags are one text": Bad(lambda it, m: it.update(m.id, tags="a"), InvalidInput, "tags"),
    "tags are None": Bad(lambda it, m: it.update(m.id, tags=None), InvalidInput, "tags"),
    "tag is a number": Bad(lambda it, m: it.update(m.id, tags=[7]), InvalidInput, "tag"),
    "tag with a line break": Bad(lambda it, m: it.update(m.id, tags=["a\nb"]), InvalidInput, "tag"),
    "tag of 65 characters": Bad(lambda it, m: it.update(m.id, tags=["t" * 65]), TooLong, "tag"),
    "33 tags": Bad(lambda it, m: it.update(m.id, tags=map(str, range(33))), TooLong, "tags"),
    "order is text": Bad(lambda it, m: it.update(m.id, order="7"), InvalidInput, "order"),
    "order is a half": Bad(lambda it, m: it.update(m.id, order=7.5), InvalidInput, "order"),
    "order is None": Bad(lambda it, m: it.update(m.id, order=None), InvalidInput, "order"),
    "order is True": Bad(lambda it, m: it.update(m.id, order=True), InvalidInput, "order"),
    "order too large": Bad(
        lambda it, m: it.update(m.id, order=MAX_ORDER + 1), InvalidInput, "order"
    ),
    "order too small": Bad(
        lambda it, _: it.create("new", "plan", "", order=-(2**70)), InvalidInput, "order"
    ),
    "order of a door too large": Bad(
        lambda it, _: it.save("new", "plan", "", new_order=2**70), InvalidInput, "order"
    ),
    "pin is a number": Bad(lambda it, m: it.update(m.id, pinned=1), InvalidInput, "pinned"),
    "pin is None": Bad(lambda it, m: it.update(m.id, pinned=None), InvalidInput, "pinned"),
    "expiry without a zone": Bad(
        lambda it, m: it.update(m.id, expires_at=NAIVE), InvalidInput, "expires_at"
    ),
    "expiry is text": Bad(
        lambda it, m: it.update(m.id, expires_at="2026-01-01"), InvalidInput, "expires_at"
    ),
    "expiry beyond the calendar": Bad(
        lambda it, m: it.update(m.id, expires_at=BEYOND), InvalidInput, "expires_at"
    ),
    # Versions
    "stale version": Bad(
        lambda it, m: it.update(m.id, pinned=True, expected_version=1), EditConflict
    ),
    "version from the future": Bad(
        lambda it, m: it.delete_by_id(m.id, expected_version=2**70), EditConflict
    ),
    "version zero": Bad(
        lambda it, m: it.update(m.id, pinned=True, expected_version=0),
        InvalidInput,
        "expected_version",
    ),
    "version is text": Bad(
        lambda it, _: it.save("n", "plan", "x", expected_version="1"),
        InvalidInput,
        "expected_version",
    ),
    "version is True": Bad(
        lambda it, _: it.delete("n", "plan", expected_version=True),
        InvalidInput,
        "expected_version",
    ),
    "restore of version zero": Bad(lambda it, m: it.restore(m.id, version=0), InvalidInput),
    "restore of a version that never was": Bad(
        lambda it, m: it.restore(m.id, version=2**70), NotFound
    ),
    # Ids and names that are not there
    "unknown id": Bad(lambda it, _: it.update(uuid7(), content="x"), NotFound),
    "id is no id": Bad(lambda it, _: it.delete_by_id("../../etc"), NotFound),
    "id is None": Bad(lambda it, _: it.get_by_id(None), NotFound),
    "id with a lone surrogate": Bad(lambda it, _: it.get_by_id("\ud800" * 36), NotFound),
    "unknown name": Bad(lambda it, _: it.delete("nobody", "plan"), NotFound),
    "taken name": Bad(lambda it, _: it.create("n", "plan", "x"), NameTaken),
    # Edits
    "find is a number": Bad(
        lambda it, _: it.replace("n", "plan", find=7, new_text="x"), InvalidInput, "find"
    ),
    "find is None": Bad(
        lambda it, _: it.replace("n", "plan", find=None, new_text="x"), InvalidInput, "find"
    ),
    "new text is None": Bad(
        lambda it, m: it.replace_by_id(m.id, find="x", new_text=None), InvalidInput, "new_text"
    ),
    "edit with a number": Bad(
        lambda it, m: it.replace_by_id(m.id, edits=[Edit("body", 7)]), InvalidInput, "new_text"
    ),
    "edits are one text": Bad(
        lambda it, m: it.replace_by_id(m.id, edits="body"), InvalidInput, "edits"
    ),
    "edits are pairs": Bad(
        lambda it, m: it.replace_by_id(m.id, edits=[("body", "x")]), InvalidInput, "edits"
    ),
    # Pages
    "limit zero": Bad(lambda it, _: it.list(limit=0), InvalidInput, "limit"),
    "limit too large": Bad(lambda it, _: it.list(limit=501), InvalidInput, "limit"),
    "limit is True": Bad(lambda it, _: it.history(limit=True), InvalidInput, "limit"),
    "limit is text": Bad(lambda it, _: it.deleted(limit="5"), InvalidInput, "limit"),
    "limit of changes negative": Bad(lambda it, _: it.changes(limit=-1), InvalidInput, "limit"),
    "changes since yesterday": Bad(
        lambda it, _: it.changes(since="yesterday"), InvalidInput, "since"
    ),
    "changes since too far": Bad(lambda it, _: it.changes(since=2**70), InvalidInput, "since"),
    # Moves
    "ids are one text": Bad(lambda it, m: it.reorder(str(m.id)), InvalidInput, "ids"),
    "ids are a set": Bad(lambda it, m: it.reorder({m.id}), InvalidInput, "ids"),
    "ids with a number": Bad(lambda it, m: it.reorder([m.id, 7]), NotFound),
}


@pytest.mark.parametrize("case", TABLE)
def test_bad_input_is_refused_by_kind_and_changes_nothing(shelf: Scope, case: str) -> None:
    """Each refusal has a class, a code and a suggestion, names the field, and stores nothing."""
    shelf.create("n", "plan", "one")
    memory = shelf.save("n", "plan", "body").memory
    before = list(shelf.history())
    bad = TABLE[case]
    with pytest.raises(bad.error) as caught:
        bad.call(shelf, memory)
    assert type(caught.value) is bad.error
    assert caught.value.code
    assert caught.value.message
    assert caught.value.suggestion
    assert bad.field is None or caught.value.field == bad.field
    assert list(shelf.history()) == before
    assert [shelf.get_by_id(head.id) for head in shelf.list()] == [memory]


@pytest.mark.parametrize("cursor", FOREIGN_CURSORS, ids=lambda it: f"{it!r:.10}")
def test_a_foreign_cursor_is_refused(shelf: Scope, cursor: object) -> None:
    """What is no cursor of this list is told, instead of starting somewhere."""
    with pytest.raises(InvalidInput) as caught:
        shelf.list(cursor=cursor)
    assert caught.value.field == "cursor"
    if cursor != 5:
        with pytest.raises(InvalidInput):
            shelf.history(cursor=cursor)


def test_limits_are_inclusive(shelf: Scope) -> None:
    """What is exactly as long as allowed is taken, counted in characters."""
    memory = shelf.create(
        "é" * 200, "plan", "x", summary="é" * 500, tags=[f"{i:064}" for i in range(32)]
    )
    assert (len(memory.name), len(memory.summary), len(memory.tags)) == (200, 500, 32)
    assert shelf.create("é" * 120, "fact", "é" * 1_000).size == 2_000
    assert shelf.update(memory.id, order=MAX_ORDER).order == MAX_ORDER
    assert shelf.update(memory.id, order=-MAX_ORDER).order == -MAX_ORDER
    assert shelf.list(limit=500).total == 2


def test_names_are_measured_after_normalising(shelf: Scope) -> None:
    """Two hundred letters with accents of their own are two hundred characters once composed."""
    assert len(shelf.create("e\u0301" * 200, "plan", "").name) == 200


def test_tags_are_trimmed_and_told_apart(shelf: Scope) -> None:
    """Blanks, doubles and other Unicode forms of one tag go; the order stays."""
    memory = shelf.create(
        "n", "plan", "", tags=[" b", "a", "", "  ", "cafe\u0301", "b", "café", "A"]
    )
    assert memory.tags == ("b", "a", "café", "A")


def test_a_written_summary_is_one_line(shelf: Scope) -> None:
    """Breaks and runs of blanks become one blank; halves of characters go."""
    assert shelf.create("n", "plan", "", summary=" a \n\t b\u2028c\ud800 ").summary == "a b c"


def test_a_document_name_too_long_for_a_fact_stays_a_document(shelf: Scope) -> None:
    """A change of type checks the name that the memory keeps."""
    memory = shelf.create("n" * 121, "plan", "x")
    with pytest.raises(TooLong):
        shelf.update(memory.id, type="fact")
    assert shelf.get_by_id(memory.id) == memory


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\0", "\ud800", "n" * 201, None, 7])
def test_names_of_principals_and_agents_follow_the_rules_of_names(
    store: MemoryStore, alice: Principal, name: object
) -> None:
    """A blank user is nobody, and no name breaks a line of a list."""
    for make in (
        store.principals.user,
        store.principals.group,
        lambda it: store.agents.create(it, owner=alice),
        lambda it: store.agents.ensure(it, owner=alice),
    ):
        with pytest.raises(InvalidInput) as caught:
            make(name)
        assert caught.value.field == "name"
    assert store.principals.everyone() == [alice]
    assert store.agents.owned_by(alice) == []


def test_a_principal_is_one_in_any_unicode_form(store: MemoryStore, alice: Principal) -> None:
    """A user, a group and an agent are found again however their name is typed."""
    assert store.principals.user(" Zoe\u0301 ") == store.principals.user("Zoé")
    assert store.principals.group("Zoé").kind == "group"
    assert store.principals.group("Zoé") != store.principals.user("Zoé")
    writer = store.agents.ensure("Zoé", owner=alice)
    assert store.agents.ensure(" Zoe\u0301", owner=alice) == writer
    assert store.agents.get("Zoe\u0301 ", owner=alice) == writer


def test_an_agents_name_is_unique_per_owner(
    store: MemoryStore, alice: Principal, bob: Principal
) -> None:
    """Two principals may each have a writer; one principal has one."""
    first = store.agents.create("writer", owner=alice)
    assert store.agents.create("writer", owner=bob) != first
    with pytest.raises(NameTaken):
        store.agents.create("writer", owner=alice)


def test_a_transfer_to_an_owner_with_an_agent_of_that_name_is_refused(
    store: MemoryStore, alice: Principal, lab: Principal
) -> None:
    """The agent stays where it is."""
    store.agents.create("writer", owner=lab)
    mine = store.agents.create("writer", owner=alice)
    with pytest.raises(NameTaken):
        store.agents.transfer(mine, to=lab, acting_as=alice)
    assert store.agents.get("writer", owner=alice) == mine


def test_unknown_principals_and_agents_are_not_found(
    store: MemoryStore, alice: Principal, bob: Principal
) -> None:
    """An id that nobody has is told, whatever its size."""
    for id in (999, 0, -1, 2**70):
        with pytest.raises(NotFound):
            store.principals.get(id)
    with pytest.raises(NotFound):
        store.agents.transfer(Agent(999, "ghost", alice.id), to=bob, acting_as=alice)
    assert store.principals.get(alice.id) == alice


def test_members_are_users_of_groups(
    store: MemoryStore, alice: Principal, bob: Principal, lab: Principal
) -> None:
    """Roles are three, and a group holds no group."""
    with pytest.raises(InvalidInput, match="role"):
        store.principals.add_member(lab, bob, role="king")
    with pytest.raises(InvalidInput):
        store.principals.add_member(alice, bob)
    with pytest.raises(InvalidInput):
        store.principals.add_member(lab, lab)
    with pytest.raises(AccessDenied):
        store.principals.add_member(lab, replace(bob, id=99))
    assert store.principals.roles(lab) == {alice: "owner", bob: "member"}


def test_the_first_member_of_a_new_group_owns_it(
    store: MemoryStore, alice: Principal, bob: Principal
) -> None:
    """A group has an owner from the start; naming it again changes no role."""
    zoo = store.principals.group("zoo", members=[bob, alice])
    assert store.principals.roles(zoo) == {alice: "member", bob: "owner"}
    store.principals.add_member(zoo, alice, role="admin")
    assert store.principals.group("zoo", members=[alice, bob]) == zoo
    assert store.principals.roles(zoo) == {alice: "admin", bob: "owner"}


@pytest.mark.parametrize(
    "vocabularies",
    [
        [],
        [Vocabulary("none", {})],
        [Vocabulary("one", {"a": "A"}), Vocabulary("two", {"a": "A"})],
    ],
)
def test_vocabularies_hold_each_type_once(vocabularies: list[Vocabulary]) -> None:
    """A type in two vocabularies would have two limits."""
    with pytest.raises(InvalidInput) as caught:
        MemoryStore(":memory:", vocabularies=vocabularies)
    assert caught.value.field == "vocabularies"


def test_a_store_can_have_a_vocabulary_of_its_own(make_store: MakeStore) -> None:
    """Its limits and its order of types hold, and no other type is taken."""
    recipes = Vocabulary("recipes", {"soup": "Soups", "cake": "Cakes"}, max_body=5, max_name=4)
    store = make_store("own.db", vocabularies=[recipes])
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.save("pea", "soup", "é" * 2)
    with pytest.raises(TooLong):
        shelf.save("pea", "soup", "é" * 3)
    with pytest.raises(TooLong):
        shelf.save("lemon", "cake", "")
    with pytest.raises(UnknownType, match="soup, cake"):
        shelf.save("pea", "plan", "")
    assert shelf.counts() == {"soup": 1, "cake": 0}


def test_an_expiry_may_lie_at_the_end_of_the_calendar(shelf: Scope) -> None:
    """The last moment there is, is kept exactly."""
    end = datetime.max.replace(tzinfo=UTC)
    memory = shelf.create("n", "plan", "", expires_at=end)
    assert shelf.get("n", "plan") == memory
    assert memory.expires_at == end
