"""The mirror, with both sides changed at random: no text that anybody wrote is ever lost."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memories_sdk import MemoryStore, NotFound, Scope
from memories_sdk.importers.mirror import TooManyDeletions, sync

NAMES = ("tide", "Ebb")
TYPES = ("plan",)
LINES = ("one", "two", "three", "four")


class BothSides(RuleBasedStateMachine):
    """A folder and a shelf that people and agents write to between two runs.

    Attributes:
        written: Every text that an agent saved, or that a run took from a file.
        unseen: Texts in files that no run took yet: theirs to lose who wrote them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.folder = self.place / "notes"
        self.folder.mkdir()
        self.store = MemoryStore(":memory:")
        self.texts = 0
        self.written: set[str] = set()
        self.unseen: dict[str, str] = {}

    @initialize()
    def begin(self) -> None:
        """Open the shelf."""
        self.shelf: Scope = self.store.scope(acting_as=self.store.principals.user("alice"))

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.store.close()
        shutil.rmtree(self.place)

    def text(self, line: int) -> str:
        """Return a text like no other, that differs from its neighbours in one line or more."""
        self.texts += 1
        lines = [*LINES]
        lines[line] = f"{lines[line]} {self.texts}"
        return "\n".join(lines) + "\n"

    def files(self) -> dict[str, str]:
        """Return the files of the folder."""
        found = sorted(self.folder.rglob("*.md"))
        return {path.relative_to(self.folder).as_posix(): path.read_text() for path in found}

    @rule(type=st.sampled_from(TYPES), name=st.sampled_from(NAMES), line=st.integers(0, 3))
    def write_file(self, type: str, name: str, line: int) -> None:
        """Somebody writes a file, or edits the body of one."""
        path = self.folder / type / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        head = ""
        if path.is_file():
            before = path.read_text()
            if before.startswith("---\nmemory:"):
                head = before[: before.index("---\n", 4) + 4]
        body = self.text(line)
        path.write_text(head + body)
        self.unseen[f"{type}/{name}.md"] = body

    @precondition(lambda self: self.files())
    @rule(data=st.data())
    def delete_file(self, data: st.DataObject) -> None:
        """Somebody deletes a file; what no run saw is theirs to lose."""
        place = data.draw(st.sampled_from(sorted(self.files())))
        (self.folder / place).unlink()
        self.unseen.pop(place, None)

    @precondition(lambda self: self.files())
    @rule(data=st.data(), name=st.sampled_from(NAMES))
    def rename_file(self, data: st.DataObject, name: str) -> None:
        """Somebody gives a file another name, where there is none of it."""
        place = data.draw(st.sampled_from(sorted(self.files())))
        target = (self.folder / place).with_name(f"{name}.md")
        if not target.exists():
            (self.folder / place).rename(target)
            if place in self.unseen:
                self.unseen[target.relative_to(self.folder).as_posix()] = self.unseen.pop(place)

    @rule(type=st.sampled_from(TYPES), name=st.sampled_from(NAMES), line=st.integers(0, 3))
    def save_memory(self, type: str, name: str, line: int) -> None:
        """An agent saves a memory."""
        body = self.text(line)
        self.shelf.save(name, type, body)
        self.written.add(body)

    @rule(
        type=st.sampled_from(TYPES),
        name=st.sampled_from(NAMES),
        lines=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    )
    def change_both(self, type: str, name: str, lines: tuple[int, int]) -> None:
        """Both sides write to the same one between two runs."""
        self.write_file(type, name, lines[0])
        self.save_memory(type, name, lines[1])

    @rule(type=st.sampled_from(TYPES), name=st.sampled_from(NAMES))
    def delete_memory(self, type: str, name: str) -> None:
        """An agent deletes a memory."""
        with suppress(NotFound):
            self.shelf.delete(name, type)

    @rule(prefer=st.sampled_from([None, "folder", "shelf"]))
    def bring_in_step(self, prefer: str | None) -> None:
        """A run: every text that it met is there afterwards, and the next finds nothing to do."""
        try:
            outcome = sync(self.shelf, self.folder, prefer=prefer)
        except TooManyDeletions:
            outcome = sync(self.shelf, self.folder, prefer=prefer, allow_deletions=True)
        assert set(self.unseen.values()) <= self.bodies()
        clashing = {step.path for step in outcome.conflicts}
        taken = [place for place in self.unseen if place not in clashing]
        self.written |= {self.unseen.pop(place) for place in taken}
        again = sync(self.shelf, self.folder, prefer=prefer)
        assert [step for step in again.steps if step.what != "conflict"] == []

    @invariant()
    def nothing_is_lost(self) -> None:
        """What was written stands in a file, in a memory, or in the history of one."""
        assert self.written <= self.bodies()

    def bodies(self) -> set[str]:
        """Return every text that can still be had."""
        found = {text.rpartition("---\n")[2] for text in self.files().values()}
        found |= {memory.content for memory in self.shelf.read(limit=500).memories}
        return found | {str(each.before.get("content")) for each in self.shelf.history(limit=500)}


BothSides.TestCase.settings = settings(
    max_examples=15,
    stateful_step_count=12,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestBothSides = BothSides.TestCase
