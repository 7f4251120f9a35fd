"""What one call wants of a memory: its fields, checked and normalised. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memories_sdk.errors import InvalidInput
from memories_sdk.fields import (
    byte_size,
    checked_order,
    checked_time,
    derived_summary,
    normal_content,
    normal_name,
    normal_summary,
    normal_tags,
)
from memories_sdk.memory import UNSET, Derived, Memory, Unset, Vocabulary


@dataclass(frozen=True, slots=True)
class Draft:
    """Fields to write. What is `UNSET` stays as it is, or takes its default in a new memory.

    Attributes:
        derived: The summary that the content would give, when content was given.
    """

    name: str | Unset = UNSET
    type: str | Unset = UNSET
    content: str | Unset = UNSET
    summary: str | Derived | Unset | None = UNSET
    order: int | Unset = UNSET
    tags: tuple[str, ...] | Unset = UNSET
    pinned: bool | Unset = UNSET
    expires_at: datetime | Unset | None = UNSET
    untrusted: bool | Unset = UNSET
    derived: str | None = None

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        *,
        name: str | Unset = UNSET,
        type: str | Unset = UNSET,
        content: str | Unset = UNSET,
        summary: str | Derived | Unset | None = UNSET,
        order: int | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        expires_at: datetime | Unset | None = UNSET,
        untrusted: bool | Unset = UNSET,
    ) -> Draft:
        """Return the draft of a memory of that vocabulary.

        Raises:
            InvalidInput: A value breaks its rule; see the functions of `memory`.
        """
        body = content if isinstance(content, Unset) else normal_content(content, vocabulary)
        written = isinstance(summary, Derived | Unset) or summary is None
        return cls(
            name=name if isinstance(name, Unset) else normal_name(name, vocabulary),
            type=type,
            content=body,
            summary=summary if written else normal_summary(summary),
            order=order if isinstance(order, Unset) else checked_order(order),
            tags=tags if isinstance(tags, Unset) else normal_tags(tags, vocabulary),
            pinned=_checked_flag(pinned, "pinned"),
            expires_at=expires_at if isinstance(expires_at, Unset) else checked_time(expires_at),
            untrusted=_checked_flag(untrusted, "untrusted"),
            derived=None if isinstance(body, Unset) else derived_summary(body),
        )

    @property
    def empty(self) -> bool:
        """Whether nothing is to be changed."""
        return self == Draft()

    def texts(self) -> dict[str, str]:
        """Return what a guard looks at: the texts that are given, by field; tags a line each."""
        given = {
            "name": self.name,
            "content": self.content,
            "summary": self.summary,
            "tags": UNSET if isinstance(self.tags, Unset) else "\n".join(self.tags),
        }
        return {field: text for field, text in given.items() if isinstance(text, str) and text}

    def moved(self, memory: Memory, vocabulary: Vocabulary) -> Draft:
        """Return the draft with all that the memory keeps, written as its new vocabulary does.

        Raises:
            InvalidInput: What it keeps breaks a rule there.
        """
        kept = Draft.of(vocabulary, name=memory.name, content=memory.content, tags=memory.tags)
        return replace(
            self,
            name=kept.name if isinstance(self.name, Unset) else self.name,
            content=kept.content if isinstance(self.content, Unset) else self.content,
            tags=kept.tags if isinstance(self.tags, Unset) else self.tags,
        )

    def applied(self, memory: Memory, now: datetime) -> Memory:
        """Return the memory with the draft's fields, one version on."""
        content = memory.content if isinstance(self.content, Unset) else self.content
        summary, derived = self._summary(memory, content)
        return self._put_on(memory, summary, derived, memory.version + 1, now)

    def begun(self, blank: Memory) -> Memory:
        """Return the new memory that `blank` becomes, at version 1.

        A blank summary is kept as an empty text and stops the derivation, as Spora has it.
        """
        summary, derived = self.derived, True
        if not isinstance(self.summary, Unset | Derived):
            summary, derived = self.summary, False
        return self._put_on(blank, summary, derived, 1, blank.updated_at)

    def _put_on(
        self,
        memory: Memory,
        summary: str | None,
        derived: bool,  # noqa: FBT001
        version: int,
        now: datetime,
    ) -> Memory:
        content = memory.content if isinstance(self.content, Unset) else self.content
        return replace(
            memory,
            name=memory.name if isinstance(self.name, Unset) else self.name,
            type=memory.type if isinstance(self.type, Unset) else self.type,
            content=content,
            size=byte_size(content),
            summary=summary,
            summary_derived=derived,
            order=memory.order if isinstance(self.order, Unset) else self.order,
            tags=memory.tags if isinstance(self.tags, Unset) else self.tags,
            pinned=memory.pinned if isinstance(self.pinned, Unset) else self.pinned,
            expires_at=memory.expires_at if isinstance(self.expires_at, Unset) else self.expires_at,
            untrusted=memory.untrusted if isinstance(self.untrusted, Unset) else self.untrusted,
            version=version,
            updated_at=now,
        )

    def _summary(self, memory: Memory, content: str) -> tuple[str | None, bool]:
        if isinstance(self.summary, Unset):
            if not memory.summary_derived or content == memory.content:
                return memory.summary, memory.summary_derived
            return self.derived, True
        if isinstance(self.summary, Derived):
            return self.derived if content != memory.content else derived_summary(content), True
        return self.summary or None, False


def _checked_flag(value: object, field: str) -> bool | Unset:
    if not isinstance(value, bool | Unset):
        raise InvalidInput(
            f"{field} must be True or False.", field=field, suggestion="Leave it out to keep it."
        )
    return value


def edited(memory: Memory, content: str, now: datetime) -> Memory:
    """Return the memory with another body, one version on; a derived summary follows it."""
    return Draft(content=content, derived=_follow(memory, content)).applied(memory, now)


def _follow(memory: Memory, content: str) -> str | None:
    return derived_summary(content) if memory.summary_derived else None
