"""Adopts memories that were kept elsewhere, with their past. Each call inside one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Any, Final, NamedTuple

from uuid6 import UUID

from memories_sdk.errors import InvalidInput, NameTaken
from memories_sdk.memory import Memory, Vocabulary
from memories_sdk.past import Adopted, Fate, Past, Policy, Step, exactly, other_name, same
from memories_sdk.shelf import Shelf, Stored

TRIES: Final = 1_000
"""Names that are tried before a record is refused."""


class Plan(NamedTuple):
    """What to do with a record: its fate, under which name, and what stands there now."""

    fate: Fate
    name: str
    stored: Stored | None = None


def plan(shelf: Shelf, past: Past, policy: Policy, vocabulary: Vocabulary) -> Plan:
    """Return what to do with a record.

    Raises:
        NameTaken: Another memory has the name and type, and the policy is "fail".
    """
    stored = shelf.find(past.name, past.type)
    if past.gone:
        kept = stored is not None or _is_known(shelf, past)
        return Plan("skipped" if kept else "created", past.name)
    if _expired(shelf, past):
        return Plan("skipped", past.name)
    if stored is None:
        return Plan("created", past.name)
    if same(stored.memory, past):
        return Plan("unchanged", past.name, stored)
    return _conflicting(shelf, past, policy, vocabulary, stored)


def carry_out(shelf: Shelf, past: Past, what: Plan, new_id: Callable[[], UUID]) -> Adopted:
    """Do what was planned, and tell what became of the record."""
    memory = None if what.stored is None else what.stored.memory
    if what.fate in ("created", "renamed"):
        memory = _tell(shelf, past, what.name, new_id())
    elif what.fate == "updated" and what.stored is not None:
        new = exactly(past.last, past.last.applied(what.stored.memory, shelf.now))
        memory = shelf.change(what.stored, new)
    return Adopted(what.fate, what.name, past.type, None if memory is None else memory.id)


def _conflicting(
    shelf: Shelf, past: Past, policy: Policy, vocabulary: Vocabulary, stored: Stored
) -> Plan:
    match policy:
        case "skip":
            return Plan("skipped", past.name, stored)
        case "overwrite":
            return Plan("updated", past.name, stored)
        case "rename":
            return _renamed(shelf, past, vocabulary)
    raise NameTaken(
        f"A memory [{past.name}] (type={past.type}) is there already.",
        suggestion="Choose to skip, overwrite or rename what is there.",
    )


def _renamed(shelf: Shelf, past: Past, vocabulary: Vocabulary) -> Plan:
    for number in count(2):
        name = other_name(past.name, number, vocabulary)
        stored = shelf.find(name, past.type)
        if stored is None:
            return Plan("renamed", name)
        if same(replace(stored.memory, name=past.name), past):
            return Plan("unchanged", name, stored)
        if number > TRIES:
            break
    raise InvalidInput(f"Too many memories are called {past.name!r}.", field="name")


def _is_known(shelf: Shelf, past: Past) -> bool:
    """Tell whether a memory that is gone was adopted before."""
    id = shelf.last_named(past.name, past.type)
    if id is None:
        return False
    ended = past.versions[-1]
    return any(
        (it.version, it.action, it.at) == (ended.version, ended.action, ended.at)
        for it in shelf.history(id, limit=1)
    )


def _expired(shelf: Shelf, past: Past) -> bool:
    expires = past.last.expires_at
    return isinstance(expires, datetime) and expires <= shelf.now


def _tell(shelf: Shelf, past: Past, name: str, id: UUID) -> Memory:
    """Write all versions of a memory, each as of its own moment and by its own actor."""
    blank = shelf.new(id, name, past.type)
    shelf.bury(name, past.type)
    since = past.created_at or past.versions[0].at or shelf.now
    lasting: dict[str, Any] = {"created_at": since}
    memory, there = blank, False
    steps: list[Step] = []
    for version in past.versions:
        at = version.at or shelf.now
        before = memory if there else None
        if (draft := version.draft) is None:
            steps.append(Step(version, before, None, at))
            there = False
            continue
        new = draft.begun(blank) if memory is blank else draft.applied(memory, at)
        if version is past.versions[-1]:
            new = replace(new, name=name)
        lasting |= {"version": version.version, "updated_at": at}
        memory, there = replace(exactly(draft, new), **lasting), True
        steps.append(Step(version, before, memory, at))
    shelf.adopt(steps)
    return memory
