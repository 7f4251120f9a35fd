"""A shelf beside a model of it: dictionaries and a list, driven through the same random lives."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import count

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from uuid6 import UUID

from memories_sdk import MemoryStore, NotFound
from memories_sdk.errors import (
    AnchorNotFound,
    AnchorNotUnique,
    EditConflict,
    KeyReused,
    NameTaken,
)

NAMES = st.sampled_from(["a", "b", "c", "d"])
TYPES = st.sampled_from(["plan", "context"])
BODIES = st.text("xyz \n", max_size=12)
TAGS = st.lists(st.sampled_from(["one", "two"]), unique=True, max_size=2).map(tuple)
PICK = st.integers(0, 1 << 16)

STEPS = 10_000
LIFE = 50


@dataclass(frozen=True)
class State:
    """What a memory is at one version."""

    name: str
    type: str
    content: str
    tags: tuple[str, ...] = ()
    pinned: bool = False


@dataclass
class Shelf:
    """The model: who is there, in which order, and what each was."""

    states: dict[UUID, State] = field(default_factory=dict)
    order: list[UUID] = field(default_factory=list)

    def named(self, name: str, type: str) -> UUID | None:
        """Return who has the name."""
        for id, state in self.states.items():
            if (state.name, state.type) == (name, type):
                return id
        return None

    def put(self, id: UUID, state: State) -> None:
        """Change a memory, or add it last."""
        if id not in self.states:
            self.order.append(id)
        self.states[id] = state

    def drop(self, id: UUID) -> None:
        """Take a memory away."""
        del self.states[id]
        self.order.remove(id)


class Lives(RuleBasedStateMachine):
    """Every verb of a shelf, in any order."""

    steps = count()
    taken = 0

    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryStore(":memory:")
        self.shelf = self.store.scope(acting_as=self.store.principals.user("alice"))
        self.model = Shelf()
        self.before: list[Shelf] = []
        """The shelf before each change that was not taken back."""
        self.versions: dict[UUID, dict[int, State]] = {}
        """What each memory was at each version at which it was there."""
        self.newest: dict[UUID, int] = {}
        self.keys = count()

    def teardown(self) -> None:
        """Prove the whole file, once a life."""
        assert self.store.verify() == []
        self.store.close()

    @initialize()
    def begin(self) -> None:
        """Start with one memory, so that few steps fall on an empty shelf."""
        self.save("a", "plan", "x", TAGS_NONE)

    def pick(self, number: int) -> UUID:
        """Return some memory that is there."""
        return self.model.order[number % len(self.model.order)]

    def change(self, act: Callable[[Shelf], object]) -> None:
        """Note a change in the model, so that it can be taken back."""
        self.before.append(deepcopy(self.model))
        act(self.model)

    @rule(name=NAMES, type=TYPES, content=BODIES, tags=TAGS)
    def save(self, name: str, type: str, content: str, tags: tuple[str, ...]) -> None:
        """Create or update by name."""
        known = self.model.named(name, type)
        saved = self.shelf.save(name, type, content, tags=tags)
        assert saved.created == (known is None)
        assert known in (None, saved.memory.id)
        pinned = known is not None and self.model.states[known].pinned
        state = State(name, type, content, tags, pinned)
        self.change(lambda model: model.put(saved.memory.id, state))

    @rule(name=NAMES, type=TYPES, content=BODIES)
    def create(self, name: str, type: str, content: str) -> None:
        """Create, unless the name is taken."""
        if self.model.named(name, type) is not None:
            with pytest.raises(NameTaken):
                self.shelf.create(name, type, content)
            return
        memory = self.shelf.create(name, type, content)
        assert memory.version == 1
        self.change(lambda model: model.put(memory.id, State(name, type, content)))

    @precondition(lambda self: self.model.order)
    @rule(number=PICK, name=NAMES, type=TYPES, pinned=st.booleans())
    def update(self, number: int, name: str, type: str, pinned: bool) -> None:  # noqa: FBT001
        """Rename and pin by id."""
        id = self.pick(number)
        if self.model.named(name, type) not in (None, id):
            with pytest.raises(NameTaken):
                self.shelf.update(id, name=name, type=type, pinned=pinned)
            return
        self.shelf.update(id, name=name, type=type, pinned=pinned)
        state = replace(self.model.states[id], name=name, type=type, pinned=pinned)
        self.change(lambda model: model.put(id, state))

    @precondition(lambda self: self.model.order)
    @rule(number=PICK, find=st.text("xyz ", min_size=1, max_size=2), new_text=BODIES)
    def replace(self, number: int, find: str, new_text: str) -> None:
        """Replace what stands exactly once, overlapping places counted."""
        id = self.pick(number)
        old = self.model.states[id]
        places = sum(old.content.startswith(find, at) for at in range(len(old.content)))
        if places != 1:
            with pytest.raises(AnchorNotUnique if places else AnchorNotFound):
                self.shelf.replace_by_id(id, find=find, new_text=new_text)
            return
        self.shelf.replace(old.name, old.type, find=find, new_text=new_text)
        state = replace(old, content=old.content.replace(find, new_text))
        self.change(lambda model: model.put(id, state))

    @precondition(lambda self: self.model.order)
    @rule(number=PICK)
    def delete(self, number: int) -> None:
        """Delete by id."""
        id = self.pick(number)
        self.shelf.delete_by_id(id)
        self.change(lambda model: model.drop(id))

    @rule(type=TYPES)
    def clear(self, type: str) -> None:
        """Delete all of a type."""
        gone = [id for id in self.model.order if self.model.states[id].type == type]
        assert self.shelf.clear(type=type) == len(gone)
        if gone:
            self.change(lambda model: [model.drop(id) for id in gone])

    @precondition(lambda self: len(self.model.order) > 1)
    @rule(number=PICK, other=PICK, after=st.booleans())
    def move(self, number: int, other: int, after: bool) -> None:  # noqa: FBT001
        """Drag one beside another."""
        id, anchor = self.pick(number), self.pick(other)
        if id == anchor:
            return
        self.shelf.move(id, **{"after" if after else "before": anchor})

        def moved(model: Shelf) -> None:
            model.order.remove(id)
            model.order.insert(model.order.index(anchor) + after, id)

        self.change(moved)

    @precondition(lambda self: self.model.order)
    @rule(numbers=st.lists(PICK, max_size=4))
    def reorder(self, numbers: list[int]) -> None:
        """Put some first."""
        first = list(dict.fromkeys(map(self.pick, numbers)))
        self.shelf.reorder(first)

        def reordered(model: Shelf) -> None:
            model.order = first + [id for id in model.order if id not in first]

        self.change(reordered)

    @precondition(lambda self: self.versions)
    @rule(number=PICK, version=st.integers(1, 8))
    def restore(self, number: int, version: int) -> None:
        """Go back to some version of some memory, deleted or not."""
        id = list(self.versions)[number % len(self.versions)]
        there = id in self.model.states
        state = self.versions[id].get(version)
        if state is None or version > self.newest[id]:
            with pytest.raises(NotFound):
                self.shelf.restore(id, version=version)
            return
        if self.model.named(state.name, state.type) not in (None, id):
            with pytest.raises(NameTaken):
                self.shelf.restore(id, version=version)
            return
        self.shelf.restore(id, version=version)
        if not there:
            self.place_again(id, state)
        elif state != self.model.states[id]:
            self.change(lambda model: model.put(id, state))

    def place_again(self, id: UUID, state: State) -> None:
        """Take from the shelf where a memory came back: among the others, who kept their order."""

        def returned(model: Shelf) -> None:
            model.states[id] = state
            seen = [head.id for head in self.shelf.list()]
            assert [each for each in seen if each != id] == model.order
            model.order = seen

        self.change(returned)

    @rule()
    def undo(self) -> None:
        """Take back the last change that was not taken back: all is as before it, the order too."""
        if not self.before:
            with pytest.raises(NotFound):
                self.shelf.undo()
            return
        self.shelf.undo()
        self.model = self.before.pop()

    @precondition(lambda self: self.model.order)
    @rule(number=PICK, behind=st.integers(1, 3))
    def write_late(self, number: int, behind: int) -> None:
        """Write from a version that is not current: nothing happens."""
        id = self.pick(number)
        old = max(1, self.newest[id] - behind)
        if old == self.newest[id]:
            return
        with pytest.raises(EditConflict) as caught:
            self.shelf.update(id, content="late", expected_version=old)
        assert caught.value.current == self.shelf.get_by_id(id)

    @rule(name=NAMES, type=TYPES, content=BODIES)
    def save_once(self, name: str, type: str, content: str) -> None:
        """Save under a key, twice, then something else under it."""
        shelf = self.shelf.once(f"key {next(self.keys)}")
        known = self.model.named(name, type)
        first = shelf.save(name, type, content)
        assert shelf.save(name, type, content) == first
        with pytest.raises(KeyReused):
            shelf.delete(name, type)
        old = self.model.states[known] if known is not None else State(name, type, "")
        self.change(lambda model: model.put(first.memory.id, replace(old, content=content)))

    @invariant()
    def holds(self) -> None:
        """The shelf is what the model says, and versions only rise."""
        type(self).taken += 1
        heads = list(self.shelf.list())
        assert [head.id for head in heads] == self.model.order
        for head in heads:
            state = self.model.states[head.id]
            assert (head.name, head.type, head.tags, head.pinned) == (
                *(state.name, state.type),
                *(state.tags, state.pinned),
            )
            known = self.versions.setdefault(head.id, {})
            newest = self.newest.get(head.id, 0)
            assert head.version >= newest
            if head.version in known:
                assert known[head.version] == state
            else:
                assert self.shelf.get_by_id(head.id).content == state.content
                known[head.version] = state
            self.newest[head.id] = head.version


TAGS_NONE: tuple[str, ...] = ()


@pytest.mark.slow
def test_a_shelf_lives_as_the_model_says() -> None:
    """Ten thousand random steps give what a few dictionaries would give."""
    Lives.taken = 0
    for _ in range(10):  # how many steps a life takes is left to chance
        run_state_machine_as_test(
            Lives,
            settings=settings(
                max_examples=(STEPS - Lives.taken) // LIFE + 40,
                stateful_step_count=LIFE,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                database=None,
                report_multiple_bugs=False,
            ),
        )
        if Lives.taken >= STEPS:
            break
    assert Lives.taken >= STEPS
