"""What the verbs of a shelf do to its memories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from held import START, stored
from uuid6 import UUID

from memories_sdk import (
    DERIVED,
    EditConflict,
    InvalidInput,
    Memory,
    MemoryHead,
    MemoryStore,
    NotFound,
    Principal,
    Scope,
)
from memories_sdk.errors import NameTaken

if TYPE_CHECKING:
    from conftest import MakeStore
    from held import Clock


@pytest.fixture
def store(make_store: MakeStore, clock: Clock) -> MemoryStore:
    """An empty store whose clock the test holds."""
    return make_store(clock=clock, durability="process")


@pytest.fixture(params=["beside the database", "behind a server"])
def shelf(request: pytest.FixtureRequest, store: MemoryStore, alice: Principal) -> Iterator[Scope]:
    """Alice's global shelf; from afar it behaves the same."""
    if request.param == "beside the database":
        yield store.scope(acting_as=alice)
        return
    address = request.getfixturevalue("address")
    secret = store.tokens.issue(alice, access="write").secret
    with MemoryStore(address, token=secret) as far:
        yield far.scope(acting_as=alice)


def names(heads: Iterable[MemoryHead]) -> list[str]:
    """Return the names in their order."""
    return [head.name for head in heads]


def test_save_creates_and_then_updates_the_same_memory(shelf: Scope, clock: Clock) -> None:
    """One name and type is one memory: the second save changes it and keeps its id."""
    first = shelf.save("tone", "context", "plain")
    clock.go_on(seconds=1)
    second = shelf.save("tone", "context", "plainer")
    assert (first.created, second.created) == (True, False)
    assert second.memory.id == first.memory.id
    assert (first.memory.version, second.memory.version) == (1, 2)
    assert shelf.get("tone", "context") == second.memory
    assert len(shelf.list()) == 1


def test_save_keeps_the_creation_time(shelf: Scope, clock: Clock) -> None:
    """An update moves `updated_at` alone."""
    shelf.save("t", "context", "1")
    clock.go_on(seconds=1)
    memory = shelf.save("t", "context", "2").memory
    assert memory.created_at == START
    assert memory.updated_at == START + timedelta(seconds=1)


def test_save_leaves_what_is_left_out(shelf: Scope) -> None:
    """A save of the body alone keeps summary, order, tags, pin and expiry."""
    expiry = START + timedelta(days=1)
    shelf.save(
        "n",
        "plan",
        "1",
        summary="Mine",
        order=7,
        tags=["a", "b"],
        pinned=True,
        expires_at=expiry,
    )
    memory = shelf.save("n", "plan", "2").memory
    assert memory.content == "2"
    assert (memory.summary, memory.order, memory.tags) == ("Mine", 7, ("a", "b"))
    assert (memory.pinned, memory.expires_at) == (True, expiry)


def test_save_keeps_the_body_when_content_is_left_out(shelf: Scope) -> None:
    """A save of tags alone does not blank the body."""
    shelf.save("n", "plan", "body")
    memory = shelf.save("n", "plan", tags=["x"]).memory
    assert (memory.content, memory.tags) == ("body", ("x",))


def test_save_needs_content_for_a_new_memory(shelf: Scope) -> None:
    """A forgotten body does not make an empty memory."""
    with pytest.raises(InvalidInput) as caught:
        shelf.save("n", "plan")
    assert caught.value.field == "content"
    assert shelf.counts()["plan"] == 0


def test_same_name_under_two_types_is_two_memories(shelf: Scope) -> None:
    """The type is part of a memory's identity."""
    shelf.save("n", "plan", "p")
    assert shelf.save("n", "context", "c").created
    assert shelf.get("n", "plan").content == "p"


def test_save_finds_a_name_in_any_unicode_form(shelf: Scope) -> None:
    """Composed and decomposed spellings, with blanks around, are one name."""
    shelf.save("café", "plan", "1")
    again = shelf.save(" cafe\u0301 ", "plan", "2")
    assert not again.created
    assert again.memory.name == "café"


def test_save_tells_names_apart_by_code_point(shelf: Scope) -> None:
    """Case, accents and inner blanks make different names."""
    for name in ("Tone", "tone", "tóne", "to ne"):
        assert shelf.save(name, "plan", name).created
    assert shelf.get("tone", "plan").content == "tone"


def test_create_refuses_a_taken_name(shelf: Scope) -> None:
    """Create never overwrites."""
    shelf.create("n", "plan", "first")
    with pytest.raises(NameTaken):
        shelf.create("n", "plan", "second")
    assert shelf.get("n", "plan").content == "first"


def test_update_renames_and_retypes(shelf: Scope) -> None:
    """Name and type can change; the id stays."""
    memory = shelf.create("old", "plan", "x")
    changed = shelf.update(memory.id, name="new", type="context")
    assert (changed.id, changed.name, changed.type) == (memory.id, "new", "context")
    assert shelf.get("new", "context") == changed
    with pytest.raises(NotFound):
        shelf.get("old", "plan")


def test_update_refuses_a_taken_name(shelf: Scope, store: MemoryStore) -> None:
    """A colliding rename or change of type changes nothing."""
    shelf.create("a", "plan", "a")
    shelf.create("a", "context", "c")
    other = shelf.create("b", "plan", "b")
    before = stored(store)
    with pytest.raises(NameTaken):
        shelf.update(other.id, name="a")
    with pytest.raises(NameTaken):
        shelf.update(other.id, name="a", type="context", content="lost?")
    assert stored(store) == before


def test_update_without_fields_writes_nothing(shelf: Scope, store: MemoryStore) -> None:
    """Nothing to change: no version, no revision."""
    memory = shelf.create("n", "plan", "x")
    before = stored(store)
    assert shelf.update(memory.id) == memory
    assert stored(store) == before


def test_update_checks_a_kept_body_against_the_new_type(shelf: Scope) -> None:
    """A document of 2,000 characters cannot become a fact by a change of type."""
    memory = shelf.create("n", "plan", "x" * 2_000)
    with pytest.raises(InvalidInput):
        shelf.update(memory.id, type="fact")
    assert shelf.get_by_id(memory.id).type == "plan"


def test_every_change_counts_one_version(shelf: Scope) -> None:
    """Versions rise by one with each save, update and replace."""
    memory = shelf.create("n", "plan", "one")
    versions = [
        shelf.update(memory.id, pinned=True).version,
        shelf.save("n", "plan", "two").memory.version,
        shelf.replace("n", "plan", find="two", new_text="three").version,
        shelf.replace_by_id(memory.id, find="three", new_text="four").version,
    ]
    assert versions == [2, 3, 4, 5]


def test_get_by_id_takes_the_text_of_an_id(shelf: Scope) -> None:
    """Doors carry ids as text, with and without hyphens."""
    memory = shelf.create("n", "plan", "x")
    assert shelf.get_by_id(str(memory.id)) == memory
    assert shelf.get_by_id(memory.id.hex) == memory


STALE: dict[str, Callable[[Scope, Memory, int], object]] = {
    "save": lambda shelf, it, v: shelf.save(it.name, it.type, "mine", expected_version=v),
    "update": lambda shelf, it, v: shelf.update(it.id, pinned=True, expected_version=v),
    "replace": lambda shelf, it, v: shelf.replace(
        it.name, it.type, find="theirs", new_text="mine", expected_version=v
    ),
    "replace_by_id": lambda shelf, it, v: shelf.replace_by_id(
        it.id, find="theirs", new_text="mine", expected_version=v
    ),
    "delete": lambda shelf, it, v: shelf.delete(it.name, it.type, expected_version=v),
    "delete_by_id": lambda shelf, it, v: shelf.delete_by_id(it.id, expected_version=v),
    "restore": lambda shelf, it, v: shelf.restore(it.id, version=1, expected_version=v),
}


def test_every_verb_that_takes_a_version_is_tested() -> None:
    """A new verb with `expected_version` needs a row above."""
    verbs = {
        name
        for kind in Scope.__mro__
        for name, verb in vars(kind).items()
        if "expected_version" in getattr(verb, "__annotations__", {}) and name[0] != "_"
    }
    # Moving takes a version and makes none: test_narrowed_scopes.py has its row.
    # Transferring needs a second shelf: test_transfer.py has its test.
    assert verbs == STALE.keys() | {"move", "transfer"}


@pytest.mark.parametrize("verb", STALE)
def test_a_stale_version_is_refused_with_the_current_memory(
    shelf: Scope, store: MemoryStore, verb: str
) -> None:
    """The conflict carries what is there now, and nothing is changed."""
    memory = shelf.create("n", "plan", "ours")
    current = shelf.save("n", "plan", "theirs").memory
    before = stored(store)
    with pytest.raises(EditConflict) as caught:
        STALE[verb](shelf, memory, 1)
    assert caught.value.expected_version == 1
    assert caught.value.current == current
    assert "version 1" in caught.value.message
    assert "version 2" in caught.value.message
    assert stored(store) == before


@pytest.mark.parametrize("verb", STALE)
def test_the_current_version_is_taken(shelf: Scope, verb: str) -> None:
    """The same call with the version that is there goes through."""
    shelf.create("n", "plan", "ours")
    current = shelf.save("n", "plan", "theirs").memory
    STALE[verb](shelf, current, 2)
    assert shelf.history(id=current.id)[0].version == 3


def test_save_with_a_version_never_creates(shelf: Scope) -> None:
    """Who saw a version saw a memory: when it is gone, that is a conflict."""
    with pytest.raises(EditConflict) as caught:
        shelf.save("gone", "plan", "x", expected_version=3)
    assert caught.value.current is None
    assert len(shelf.list()) == 0


def test_a_new_memory_goes_last_without_an_order(shelf: Scope) -> None:
    """A new memory takes the last order plus one, across all types."""
    assert shelf.create("a", "plan", "").order == 1
    shelf.create("b", "context", "", order=10)
    assert shelf.save("c", "examples", "").memory.order == 11


def test_a_new_memory_takes_the_given_order(shelf: Scope) -> None:
    """Any sign is allowed."""
    assert shelf.create("a", "plan", "", order=-3).order == -3
    assert shelf.update(shelf.get("a", "plan").id, order=5).order == 5


def test_save_without_order_keeps_the_place(shelf: Scope) -> None:
    """A curated place is never reset."""
    shelf.create("a", "plan", "", order=4)
    assert shelf.save("a", "plan", "new").memory.order == 4


def test_new_order_is_for_new_memories_alone(shelf: Scope) -> None:
    """`new_order` places a new memory and leaves an old one where it is."""
    assert shelf.save("a", "plan", "", new_order=0).memory.order == 0
    shelf.save("a", "plan", "", order=6)
    assert shelf.save("a", "plan", "", new_order=0).memory.order == 6
    assert shelf.save("b", "plan", "", order=2, new_order=0).memory.order == 2


def test_list_sorts_by_order_then_name_then_id(shelf: Scope) -> None:
    """The order is total: ties are told apart by name, by code point, then by id."""
    for name, order in (
        ("b", 0),
        ("a", 0),
        ("A", 0),
        ("é", 0),
        ("z", -1),
        ("\U0001d4b6", 0),
        ("\uffee", 0),
    ):
        shelf.create(name, "plan", "", order=order)
    first = shelf.create("a", "context", "", order=0)
    listed = shelf.list()
    assert names(listed) == ["z", "A", "a", "a", "b", "é", "\uffee", "\U0001d4b6"]
    assert listed[3].id == first.id
    assert shelf.list() == listed


def test_list_filters_by_type(shelf: Scope) -> None:
    """A type shows its memories alone; counts name every type in order."""
    shelf.create("a", "plan", "")
    shelf.create("b", "context", "")
    assert names(shelf.list(type="context")) == ["b"]
    assert shelf.list(type="examples").total == 0
    counts = shelf.counts()
    assert list(counts) == [
        *("plan", "documentation", "examples", "context"),
        *("preference", "constraint", "fact", "workflow"),
    ]
    assert {name for name, count in counts.items() if count} == {"plan", "context"}


def test_a_narrower_scope_sees_its_types_alone(
    store: MemoryStore, alice: Principal, shelf: Scope
) -> None:
    """A door with one vocabulary neither sees nor reaches the other's memories."""
    fact = shelf.create("f", "fact", "x")
    documents = store.scope(acting_as=alice, vocabularies=store.vocabularies[:1])
    assert documents.list().total == 0
    assert "fact" not in documents.counts()
    with pytest.raises(NotFound):
        documents.get_by_id(fact.id)
    with pytest.raises(InvalidInput):
        documents.get("f", "fact")
    assert documents.clear() == 0
    assert shelf.list().total == 1


def test_pages_give_each_memory_once_while_others_are_added(shelf: Scope) -> None:
    """Following cursors over 200 memories meets all of them, whatever is added meanwhile."""
    wanted = {shelf.create(f"m{i:03}", "plan", "", order=i % 7).id for i in range(200)}
    seen: list[UUID] = []
    cursor = None
    while True:
        page = shelf.list(limit=33, cursor=cursor)
        assert len(page) <= 33
        assert page.total >= 200
        seen += [head.id for head in page]
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
        shelf.create(f"early {cursor}"[:100], "plan", "", order=-1)
        shelf.create(f"late {cursor}"[:100], "plan", "", order=99)
    assert len(seen) == len(set(seen))
    assert wanted <= set(seen)


def test_the_last_page_has_no_cursor(shelf: Scope) -> None:
    """A page that ends exactly at the end says so."""
    for i in range(4):
        shelf.create(f"{i}", "plan", "")
    first = shelf.list(limit=2)
    last = shelf.list(limit=2, cursor=first.next_cursor)
    assert first.next_cursor is not None
    assert (len(last), last.total, last.next_cursor) == (2, 4, None)
    assert shelf.list(limit=4).next_cursor is None


def test_heads_carry_the_size_and_no_body(shelf: Scope) -> None:
    """A head says how large the body is, in bytes of UTF-8, without holding it."""
    shelf.create("n", "plan", "né")
    (head,) = shelf.list()
    assert head.size == 3
    assert not hasattr(head, "content")


def test_summary_is_derived_and_follows_the_body(shelf: Scope) -> None:
    """Saves and replaces derive it anew."""
    memory = shelf.create("n", "plan", "# First\n\nbody")
    assert (memory.summary, memory.summary_derived) == ("First body", True)
    assert shelf.save("n", "plan", "Second").memory.summary == "Second"
    assert shelf.replace("n", "plan", find="Second", new_text="*Third*").summary == "Third"


def test_a_written_summary_stays(shelf: Scope) -> None:
    """What a person wrote is never overwritten by a derivation."""
    memory = shelf.create("n", "plan", "body", summary="  By\thand \n")
    assert (memory.summary, memory.summary_derived) == ("By hand", False)
    memory = shelf.save("n", "plan", "other").memory
    assert (memory.summary, memory.summary_derived) == ("By hand", False)


def test_summary_can_be_cleared(shelf: Scope) -> None:
    """None and blanks mean no summary, and stop the derivation."""
    memory = shelf.create("n", "plan", "body")
    for cleared in (None, "", "  "):
        changed = shelf.update(memory.id, summary=cleared)
        assert (changed.summary, changed.summary_derived) == (None, False)
    assert shelf.save("n", "plan", "other").memory.summary is None


def test_summary_can_be_derived_again(shelf: Scope) -> None:
    """`DERIVED` gives the summary back to the body, at once and from then on."""
    memory = shelf.create("n", "plan", "body", summary="By hand")
    memory = shelf.update(memory.id, summary=DERIVED)
    assert (memory.summary, memory.summary_derived) == ("body", True)
    assert shelf.save("n", "plan", "new", summary=DERIVED).memory.summary == "new"
    assert shelf.save("n", "plan", "newer").memory.summary == "newer"


def test_summary_is_none_for_an_empty_body(shelf: Scope) -> None:
    """Nothing to say is None, not an empty text."""
    assert shelf.create("n", "plan", "").summary is None
    assert shelf.create("m", "plan", "<br><hr>").summary is None


def test_summary_is_cut_between_graphemes(shelf: Scope) -> None:
    """A family emoji of five code points is never cut in two."""
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    summary = shelf.create("n", "plan", family * 80).summary
    assert summary == family * 40
