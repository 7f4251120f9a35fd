"""Properties of the pure rules: names, tags, edits, histories, keys and cursors."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from uuid6 import UUID

from memories_sdk import (
    DERIVED,
    DOCUMENTS,
    Edit,
    InvalidInput,
    Memory,
    MemoryHead,
    MemoryStore,
    NotFound,
    Scope,
)
from memories_sdk.edits import COUNTED_MATCHES, apply_edits
from memories_sdk.errors import AnchorNotFound, AnchorNotUnique
from memories_sdk.fields import (
    byte_size,
    derived_summary,
    normal_content,
    normal_name,
    normal_summary,
    normal_tags,
)
from memories_sdk.history import Revision, rewind
from memories_sdk.memory import DERIVED_SUMMARY, MAX_ORDER, MAX_TAG, MAX_TAGS
from memories_sdk.pages import cursor_behind, place_of
from memories_sdk.principals import Principal, may_control, may_see, scope_key, spora_key
from memories_sdk.rows import from_time, to_time

ANY_TEXT = st.text(st.characters(), max_size=60) | st.text(
    st.sampled_from("aAée\u0301\u0300ﬁ \t\n\0\u2028\u00a0\u200b\ud800\U0001f468\u200d\U0001f1e6"),
    max_size=20,
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
HEAD = MemoryHead(
    id=UUID(int=1),
    scope="global",
    principal_id=1,
    agent_id=None,
    type="plan",
    name="n",
    summary=None,
    summary_derived=True,
    tags=(),
    pinned=False,
    order=1,
    version=1,
    size=0,
    expires_at=None,
    created_at=NOW,
    updated_at=NOW,
    untrusted=False,
)
SMALL_TEXT = st.text("ab\n", max_size=12)


@given(ANY_TEXT)
@example("A\u030a")  # composes
@example("\u212b")  # changes under NFC
@example(" \u0301a")  # a mark behind a blank that goes
def test_a_normal_name_is_normal(text: str) -> None:
    """What is taken is in NFC, trimmed, one line, within its limit, and its own normal form."""
    try:
        name = normal_name(text)
    except InvalidInput:
        return
    assert normal_name(name) == name
    assert unicodedata.is_normalized("NFC", name)
    assert name == name.strip()
    assert 1 <= len(name) <= DOCUMENTS.max_name
    assert not {unicodedata.category(it) for it in name} & {"Cc", "Cs", "Zl", "Zp"}
    assert len(name.splitlines()) == 1
    name.encode()


@given(ANY_TEXT)
def test_canonically_equal_texts_are_one_name(text: str) -> None:
    """The decomposed spelling, with blanks around, gives the same name or the same refusal."""

    def outcome(text: str) -> str:
        try:
            return normal_name(text)
        except InvalidInput as error:
            return error.code

    assert outcome(f"  {unicodedata.normalize('NFD', text)}\t") == outcome(text)


@given(ANY_TEXT)
def test_a_body_loses_nothing_but_lone_surrogates(text: str) -> None:
    """What comes back is the text without the halves of characters, or a refusal of NUL."""
    expected = "".join(it for it in text if not "\ud800" <= it <= "\udfff")
    if "\0" in text:
        with pytest.raises(InvalidInput):
            normal_content(text)
    else:
        assert normal_content(text) == expected
        assert byte_size(expected) == len(expected.encode())


@given(ANY_TEXT)
def test_a_written_summary_is_normal(text: str) -> None:
    """One line, trimmed, single blanks, and its own normal form."""
    try:
        summary = normal_summary(text)
    except InvalidInput:
        return
    assert normal_summary(summary) == summary
    assert summary == " ".join(summary.split())
    assert len(summary.splitlines()) <= 1


@given(st.text(max_size=400) | st.text("*_#`[]()<>!-\n a", max_size=300))
def test_a_derived_summary_can_be_kept(text: str) -> None:
    """It is one line of at most 200 characters that would pass as a written one, or None."""
    summary = derived_summary(text)
    if summary is not None:
        assert 1 <= len(summary) <= DERIVED_SUMMARY
        assert len(summary.splitlines()) == 1
        assert summary == summary.strip()


@given(st.lists(ANY_TEXT, max_size=40))
def test_normal_tags_are_normal(texts: list[str]) -> None:
    """No tag is blank or doubled; they stand in their first order and are their own normal form."""
    try:
        tags = normal_tags(texts)
    except InvalidInput:
        return
    assert normal_tags(tags) == tags
    assert len(set(tags)) == len(tags) <= MAX_TAGS
    assert all(0 < len(it) <= MAX_TAG and it == it.strip() for it in tags)
    wanted = [unicodedata.normalize("NFC", it).strip() for it in texts]
    assert list(tags) == list(dict.fromkeys(it for it in wanted if it))


def places(content: str, find: str) -> list[int]:
    """Return every start of a passage, the plain way; places that overlap count apart."""
    return [i for i in range(len(content) - len(find) + 1) if content[i : i + len(find)] == find]


@given(SMALL_TEXT, st.text("ab\n", min_size=1, max_size=3), SMALL_TEXT)
@example("aaa", "aa", "b")
@example("abab", "aba", "")
def test_an_edit_agrees_with_the_plain_way(content: str, find: str, new_text: str) -> None:
    """Exactly one place is replaced; none and several are counted and placed right."""
    starts = places(content, find)
    try:
        result = apply_edits(content, [Edit(find, new_text)])
    except AnchorNotFound:
        assert starts == []
    except AnchorNotUnique as error:
        refusal = error
    else:
        assert len(starts) == 1
        assert result == content.replace(find, new_text, 1)
        return
    if starts:
        lines = content.split("\n")
        before = [sum(len(it) + 1 for it in lines[: line - 1]) for line, _ in refusal.positions]
        found = [it + column - 1 for it, (_, column) in zip(before, refusal.positions, strict=True)]
        assert refusal.count == len(starts) > 1
        assert found == starts[:10]


@given(SMALL_TEXT, st.lists(st.builds(Edit, st.text("ab", min_size=1, max_size=2), SMALL_TEXT)))
def test_edits_are_made_in_turn(content: str, edits: list[Edit]) -> None:
    """A list gives what its edits give one by one; the error names the first that fails."""
    assume(edits)
    expected, failed = content, None
    for index, edit in enumerate(edits):
        if len(places(expected, edit.find)) != 1:
            failed = index
            break
        expected = expected.replace(edit.find, edit.new_text)
    if failed is None:
        assert apply_edits(content, edits) == expected
    else:
        with pytest.raises((AnchorNotFound, AnchorNotUnique)) as caught:
            apply_edits(content, edits)
        assert caught.value.edit == failed


def test_counting_ends_at_its_bound() -> None:
    """A hostile passage in a large body is counted up to 10,000 places and no further."""
    with pytest.raises(AnchorNotUnique) as caught:
        apply_edits("a" * 500_000, [Edit("aa", "b")])
    assert caught.value.count == COUNTED_MATCHES


ID = UUID(int=7)
FIELDS = ("name", "content", "summary", "order")


class Model:
    """One memory's life, kept twice: as revisions, and as the list of all its states."""

    def __init__(self) -> None:
        self.states: dict[int, dict[str, object] | None] = {}
        self.revisions: list[Revision] = []
        self.version = 0
        self.state: dict[str, object] | None = None

    def record(self, action: Any, before: dict[str, object]) -> None:
        """Add a revision in front."""
        revision = Revision(
            seq=len(self.revisions) + 1,
            memory_id=ID,
            shelf="global:1",
            action=action,
            actor="user:alice",
            source=None,
            at=NOW,
            version=self.version,
            type="plan",
            name="n",
            before=before,
        )
        self.revisions.insert(0, revision)

    def step(self, kind: str, values: dict[str, object]) -> None:
        """Live on by one change, where it makes sense."""
        if self.state is None:
            past = next((it for it in reversed(list(self.states.values())) if it), None)
            self.version += 1
            self.state = dict.fromkeys(FIELDS, 0) | values if past is None else dict(past)
            self.record("create" if past is None else "restore", {})
        elif kind == "delete":
            gone, self.state = self.state, None
            self.version += 1
            self.record("delete", gone)
        elif kind == "move":
            self.record("move", {"order": self.state["order"]})
            return
        else:
            new = self.state | values
            changed = {name for name in FIELDS if new[name] != self.state[name]}
            before = {name: self.state[name] for name in changed}
            self.version += 1
            self.state = new
            self.record("update", before)
        self.states[self.version] = None if self.state is None else dict(self.state)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["update", "update", "delete", "move"]),
        st.dictionaries(st.sampled_from(FIELDS), st.integers(0, 3), max_size=3),
    ),
    min_size=1,
    max_size=12,
)


@given(STEPS, st.data())
def test_a_rewind_finds_every_state_there_ever_was(
    steps: list[tuple[str, dict[str, object]]], data: st.DataObject
) -> None:
    """From the present, or from the last delete, each version comes back as it was."""
    model = Model()
    for kind, values in steps:
        model.step(kind, values)
    target = data.draw(st.integers(1, model.version))
    expected = model.states[target]
    start = model.state or {}
    if expected is None and target != model.version:
        with pytest.raises(NotFound):
            rewind(start, model.version, model.revisions, target)
    elif expected is not None:
        assert rewind(start, model.version, model.revisions, target) == expected


LIFE: dict[str, Callable[[Scope, Memory, int], object]] = {
    "save": lambda shelf, it, i: shelf.save(it.name, it.type, f"{i}" * i, tags=[f"{i}"]),
    "retype": lambda shelf, it, i: shelf.update(it.id, type=DOCUMENTS.types[i % 4], pinned=True),
    "rename": lambda shelf, it, i: shelf.update(it.id, name=f"{it.id} {i}", pinned=False),
    "summary": lambda shelf, it, i: shelf.update(it.id, summary=["Mine", None, DERIVED][i % 3]),
    "replace": lambda shelf, it, i: shelf.replace_by_id(it.id, edits=[Edit(it.content, f"{i} é")]),
    "delete": lambda shelf, it, _: shelf.delete_by_id(it.id),
    "move": lambda shelf, it, _: shelf.move(it.id, before=shelf.list()[-1].id),
    "back": lambda shelf, it, _: shelf.restore(it.id, version=1),
}


@pytest.mark.parametrize("engine", ["sqlite-memory"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([*LIFE]), max_size=14))
def test_a_store_restores_every_state_there_ever_was(store: MemoryStore, verbs: list[str]) -> None:
    """Whatever a memory lives through, each of its versions can be brought back whole."""
    shelf = store.scope(acting_as=store.principals.user("alice"))
    shelf.clear()
    memory = shelf.create("n", "plan", "0")
    shelf.create("last", "plan", "")
    states: dict[int, Memory | None] = {1: memory}
    for step, verb in enumerate(verbs, 1):
        if states[max(states)] is None:
            shelf.restore(memory.id)
        else:
            LIFE[verb](shelf, shelf.get_by_id(memory.id), step)
        last = shelf.history(id=memory.id, limit=1)[0]
        states[last.version] = None if last.action == "delete" else shelf.get_by_id(memory.id)
    for version, state in states.items():
        if state is None:
            with pytest.raises(NotFound):
                shelf.restore(memory.id, version=version)
        else:
            restored = shelf.restore(memory.id, version=version)
            assert told(restored) == told(state)
            assert shelf.get_by_id(memory.id) == restored


def told(memory: Memory) -> Memory:
    """Return a memory without what a restore gives anew: its version, time and place."""
    return dataclasses.replace(memory, version=1, updated_at=NOW, order=0)


@given(st.integers(1, 3), st.integers(4, 9))
def test_a_rewind_past_the_known_history_is_not_found(known: int, target: int) -> None:
    """A cut history says so instead of giving half a state."""
    model = Model()
    for _ in range(9):
        model.step("update", {"content": known})
    cut = [it for it in model.revisions if it.version > target + 1]
    with pytest.raises(NotFound):
        rewind(model.state or {}, 9, cut, min(target, 8))


@given(st.integers(1), st.integers(1))
def test_shelves_never_share_a_key(first: int, second: int) -> None:
    """Principal and agent of the same number have different shelves, as have two of a kind."""
    assert scope_key(principal_id=first) != scope_key(agent_id=second)
    assert (scope_key(agent_id=first) == scope_key(agent_id=second)) == (first == second)


@pytest.mark.parametrize("ids", [{}, {"principal_id": 1, "agent_id": 1}])
def test_a_shelf_has_exactly_one_owner(ids: dict[str, int]) -> None:
    """None and two are both a mistake of ours, and raised as such."""
    with pytest.raises(ValueError, match="exactly one"):
        scope_key(**ids)


OWNERS = st.one_of(
    st.tuples(st.just("global"), st.integers(1, 99), st.none()),
    st.tuples(st.just("agent"), st.none(), st.integers(1, 99)),
)
IDENTITIES = st.tuples(OWNERS, st.sampled_from(DOCUMENTS.types), st.text("ab:0", min_size=1))


@given(IDENTITIES, IDENTITIES)
def test_the_five_part_key_tells_memories_apart(first: Any, second: Any) -> None:
    """Two keys are equal only for the same owner, type and name; colons in a name do no harm."""

    def key(identity: Any) -> str:
        (scope, principal_id, agent_id), type_, name = identity
        return spora_key(scope, principal_id=principal_id, agent_id=agent_id, type=type_, name=name)

    assert (key(first) == key(second)) == (first == second)


KINDS = st.sampled_from(["user", "group"])


@given(st.integers(1, 5), st.integers(1, 5), st.sets(st.integers(1, 5)), KINDS)
def test_only_a_user_acts_and_only_for_itself_and_its_groups(
    id: int, wanted: int, groups: set[int], kind: str
) -> None:
    """The visible set, and nothing but it; control needs a role above member."""
    caller = Principal(id, kind, "x")
    user = kind == "user"
    assert may_see(caller, wanted, groups) == (user and (wanted == id or wanted in groups))
    for role in ("owner", "admin", "member", None):
        rights = user and (wanted == id or role in {"owner", "admin"})
        assert may_control(caller, wanted, role) == rights


@given(
    st.integers(-MAX_ORDER, MAX_ORDER),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    st.uuids(),
)
def test_a_cursor_comes_back_as_the_place_it_was(order: int, name: str, id: UUID) -> None:
    """Any name survives the way out and back; a cursor is plain letters."""
    head = dataclasses.replace(HEAD, order=order, name=name, id=UUID(int=id.int))
    cursor = cursor_behind(head)
    assert cursor.isascii()
    assert place_of(cursor) == (order, name, id.bytes)


@given(st.text(max_size=40) | st.binary(max_size=40) | st.integers() | st.none())
def test_no_cursor_makes_a_list_raise_something_else(cursor: object) -> None:
    """A forged cursor is a place or a refusal."""
    try:
        place = place_of(cursor)
    except InvalidInput:
        return
    assert [type(it) for it in place] == [int, str, bytes]


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_moment_comes_back_to_the_microsecond(moment: datetime) -> None:
    """Integers keep what floats round."""
    assert to_time(from_time(moment)) == moment
    assert from_time(moment + timedelta(microseconds=1)) - from_time(moment) == 1
