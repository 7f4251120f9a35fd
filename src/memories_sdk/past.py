"""A memory as it was kept elsewhere, with its past: what an importer hands to a shelf. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from uuid6 import UUID

from memories_sdk.draft import Draft
from memories_sdk.errors import InvalidInput, MemoriesError
from memories_sdk.fields import checked_type, checked_version, normal_label, normal_name
from memories_sdk.history import ENDINGS, Action, Revision
from memories_sdk.memory import UNSET, Memory, Vocabulary

Policy = Literal["skip", "overwrite", "rename", "fail"]
"""What to do where a memory of that name and type is there and is another one."""

POLICIES: Final[tuple[Policy, ...]] = ("skip", "overwrite", "rename", "fail")

Fate = Literal["created", "updated", "renamed", "unchanged", "skipped", "refused"]

STATE_FIELDS: Final = (
    "type",
    "name",
    "content",
    "summary",
    "tags",
    "pinned",
    "untrusted",
    "order",
    "expires_at",
)
"""What a version is made of."""


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a memory, and the change that led to it.

    Attributes:
        draft: The state, checked and normalised; None where the memory was gone.
        actor: Who made the change; None for whoever adopts it. So are `source` and `at`.
    """

    draft: Draft | None
    action: Action = "create"
    version: int = 1
    actor: str | None = None
    source: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """A memory to adopt.

    Attributes:
        versions: At least one, oldest first; the last is the present one.
        created_at: When it was made; the time of its first version when None.
    """

    versions: tuple[Version, ...]
    created_at: datetime | None = None

    @property
    def name(self) -> str:
        """The name that it has, or had last."""
        return str(self.last.name)

    @property
    def type(self) -> str:
        """The type that it has, or had last."""
        return str(self.last.type)

    @property
    def gone(self) -> bool:
        """Whether it was deleted."""
        return self.versions[-1].draft is None

    @property
    def last(self) -> Draft:
        """Its last state."""
        return next(each.draft for each in reversed(self.versions) if each.draft is not None)


class Step(NamedTuple):
    """One change of a memory that is adopted: what was before, and what came of it."""

    version: Version
    before: Memory | None
    after: Memory | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Adopted:
    """What became of a memory that a shelf was to adopt.

    Attributes:
        fate: "created", "updated" (another was overwritten; its history keeps it), "renamed",
            "unchanged" (the same is there), "skipped" or "refused".
        name: The name it has here.
        id: Its id here, or None when it is not here.
        error: Why it was refused or skipped.
    """

    fate: Fate
    name: str
    type: str
    id: UUID | None = None
    error: MemoriesError | None = None


def version_of(
    vocabularies: Sequence[Vocabulary],
    fields: Mapping[str, Any],
    *,
    action: Action = "create",
    version: int = 1,
    actor: str | None = None,
    source: str | None = None,
    at: datetime | None = None,
) -> Version:
    """Return a version with these fields, checked as a save would check them.

    Raises:
        InvalidInput: A value breaks its rule.
    """
    vocabulary = checked_type(fields.get("type"), vocabularies)
    return Version(
        Draft.of(vocabulary, **{name: fields.get(name, UNSET) for name in STATE_FIELDS}),
        action=action,
        version=checked_version(version) or 1,
        actor=None if actor is None else normal_label(actor, "actor"),
        source=None if source is None else normal_label(source, "source"),
        at=at,
    )


def single(
    vocabularies: Sequence[Vocabulary],
    fields: Mapping[str, Any],
    *,
    created_at: datetime | None = None,
    updated_at: datetime | None = None,
) -> Past:
    """Return a memory of which only the present state is known.

    Raises:
        InvalidInput: A value breaks its rule.
    """
    version = version_of(vocabularies, fields, at=updated_at or created_at)
    return Past((version,), created_at)


def walk_back(
    state: Mapping[str, object], revisions: Iterable[Revision]
) -> Iterator[tuple[Revision, dict[str, object] | None]]:
    """Yield each change of a memory with the state that it led to, newest first.

    It ends where the memory began, or where the history was pruned. A move is no change.

    Args:
        state: The present state, or the last one of a memory that is gone.
        revisions: Of that memory, newest first.
    """
    now: dict[str, object] | None = dict(state)
    for revision in revisions:
        if revision.action == "move":
            continue
        if revision.action in ENDINGS:
            yield revision, None
            now = dict(revision.before)
        else:
            yield revision, now
            # Any other change without a before-image overwrote nothing that is still known.
            began = revision.action in ("create", "arrive") or (
                revision.action == "restore" and not revision.before
            )
            now = None if began else {**(now or {}), **revision.before}
        if revision.pruned:
            return


def same(memory: Memory, past: Past) -> bool:
    """Tell whether a memory is what the record's present state would make of it."""
    applied = exactly(past.last, past.last.applied(memory, memory.updated_at))
    return replace(applied, version=memory.version) == memory


def exactly(draft: Draft, memory: Memory) -> Memory:
    """Return the memory with the draft's summary to the letter: an empty one is not none."""
    return replace(memory, summary=draft.summary) if isinstance(draft.summary, str) else memory


def other_name(name: str, number: int, vocabulary: Vocabulary) -> str:
    """Return the name with a number behind it, within the limit of names."""
    ending = f" ({number})"
    return normal_name(name[: vocabulary.max_name - len(ending)] + ending, vocabulary)


def checked_policy(value: str) -> Policy:
    """Return the policy.

    Raises:
        InvalidInput: It is none.
    """
    for policy in POLICIES:
        if value == policy:
            return policy
    raise InvalidInput(
        f"conflict {value!r} is not one of: {', '.join(POLICIES)}",
        field="conflict",
        suggestion="skip leaves what is there alone.",
    )
