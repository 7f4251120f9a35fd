"""Brings records to a shelf, a batch at a time, and tells what became of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from memories_sdk.errors import MemoriesError, NameTaken
from memories_sdk.past import Adopted, Fate, Past, Policy
from memories_sdk.scope import Scope

BATCH: Final = 200
"""Records of one transaction: an interruption loses at most so many, and takes none twice."""

KEPT: Final = 1_000
"""Entries that a report keeps; all are counted, and all are told to a listener."""

Progress = Callable[[int, int | None], None]
"""Hears how many records are done, and of how many if that is known."""


@dataclass(frozen=True, slots=True)
class Item:
    """A record that was found.

    Attributes:
        place: Where, for the report: a file, or a line of one.
        past: What it holds, or None when it cannot be read.
        error: Why it cannot be read.
        note: What was guessed about it, for the report.
        fate: What became of it already, when it is no memory; with `type` and `name`.
    """

    place: str
    past: Past | None = None
    error: MemoriesError | None = None
    note: str = ""
    fate: Fate = "refused"
    type: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of a record.

    Attributes:
        fate: See `past.Adopted`.
        detail: Why it was refused, or what was guessed; may be empty.
    """

    place: str
    fate: str
    type: str | None
    name: str | None
    detail: str = ""

    def __str__(self) -> str:
        what = "" if self.name is None else f" [{self.name}] (type={self.type})"
        return f"{self.fate}: {self.place}{what}" + (f": {self.detail}" if self.detail else "")


@dataclass(slots=True)
class Report:
    """What an import did.

    Attributes:
        dry_run: Whether nothing was written.
        counts: How many records had each fate.
        entries: What became of each record: the first thousand. Where there are more, those that
            need a look are kept rather than those that went in.
    """

    dry_run: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    entries: list[Entry] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many records there were."""
        return self.counts.total()

    @property
    def complete(self) -> bool:
        """Whether no record was refused."""
        return not self.counts["refused"]

    def add(self, entry: Entry) -> None:
        """Count an entry, and keep it as far as there is room."""
        self.counts[entry.fate] += 1
        if len(self.entries) < KEPT:
            self.entries.append(entry)
        elif entry.fate not in ("created", "unchanged"):
            self._make_room(entry)

    def _make_room(self, entry: Entry) -> None:
        for place in range(len(self.entries) - 1, -1, -1):
            if self.entries[place].fate in ("created", "unchanged"):
                del self.entries[place]
                self.entries.append(entry)
                return

    def __str__(self) -> str:
        counted = ", ".join(f"{count:,} {fate}" for fate, count in sorted(self.counts.items()))
        records = "record" if self.total == 1 else "records"
        foretold = ", dry run" if self.dry_run else ""
        return f"{self.total:,} {records}{foretold}: {counted or 'nothing found'}"


def bring(
    shelf: Scope,
    items: Callable[[bool], Iterable[Item]],
    *,
    conflict: Policy = "skip",
    dry_run: bool = False,
    total: int | None = None,
    progress: Progress | None = None,
    listener: Callable[[Entry], None] | None = None,
) -> Report:
    """Bring records to a shelf and return what became of them.

    What cannot be read, or is refused, does not stop the rest. A record that is here already is
    left alone, so an import that was interrupted is resumed by starting it again.

    Args:
        shelf: Where they go.
        items: Finds the records, anew at each call; told whether nothing shall be written.
        conflict: See `Scope.adopt`. With "fail" all records are looked at before any is written.
        dry_run: Tell what would become of each, and write nothing.
        total: How many there are, if that is known.
        progress: Called after each batch.
        listener: Called with each entry.

    Raises:
        NameTaken: There is a conflict and it shall fail; nothing was written.
    """
    if conflict == "fail" and not dry_run:
        bring(shelf, items, conflict=conflict, dry_run=True)
    report = Report(dry_run=dry_run)
    claimed: set[tuple[str, str]] = set()
    for batch in _batches(items(dry_run)):
        for entry in _entries(shelf, batch, conflict=conflict, claimed=claimed, dry_run=dry_run):
            report.add(entry)
            if listener is not None:
                listener(entry)
        if progress is not None:
            progress(report.total, total)
    return report


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _entries(
    shelf: Scope,
    batch: list[Item],
    *,
    conflict: Policy,
    claimed: set[tuple[str, str]],
    dry_run: bool,
) -> Iterator[Entry]:
    pasts = [item.past for item in batch if item.past is not None]
    done = iter(shelf.adopt(pasts, conflict=conflict, dry_run=dry_run) if pasts else [])
    for item in batch:
        if item.past is None:
            detail = "" if item.error is None else item.error.message
            yield Entry(item.place, item.fate, item.type, item.name, detail)
            continue
        adopted = next(done)
        if dry_run:
            adopted = _foreseen(adopted, conflict, claimed)
        detail = item.note if adopted.error is None else adopted.error.message
        yield Entry(item.place, adopted.fate, adopted.type, adopted.name, detail)


def _foreseen(adopted: Adopted, conflict: Policy, claimed: set[tuple[str, str]]) -> Adopted:
    """Return what would become of a record whose name an earlier one of this run takes."""
    key = (adopted.type, adopted.name)
    if adopted.fate not in ("created", "renamed"):
        return adopted
    if key not in claimed:
        claimed.add(key)
        return adopted
    if conflict == "fail":
        raise NameTaken(
            f"Two records are called [{adopted.name}] (type={adopted.type}).",
            suggestion="Choose to skip, overwrite or rename.",
        )
    fates: dict[Policy, Fate] = {"skip": "skipped", "overwrite": "updated", "rename": "renamed"}
    return replace(adopted, fate=fates[conflict])
