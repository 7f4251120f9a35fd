"""What a memory is, and what makes one valid: plain values and pure rules.

Nothing here knows a database, a notebook or a network. Limits and rules are those of the data
table in the design: names compare by code point after NFC, bodies are kept verbatim, a summary is
one line.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import Enum
from typing import Final, Literal, overload

from uuid6 import UUID

from memories_sdk import display, facts
from memories_sdk.characters import is_noncharacter
from memories_sdk.errors import (
    AnchorNotFound,
    AnchorNotUnique,
    InvalidInput,
    TooLong,
    UnknownType,
)
from memories_sdk.markdown import plain_text
from memories_sdk.principals import ScopeKind

MAX_NAME: Final = 200
MAX_SUMMARY: Final = 500
DERIVED_SUMMARY: Final = 200
MAX_TAGS: Final = 32
MAX_TAG: Final = 64
MAX_BODY_BYTES: Final = 1 << 20
MAX_ORDER: Final = 2**53 - 1
"""Largest order a JavaScript number holds exactly; the smallest is its negative."""

LONGEST_SPELLED: Final = 4_000
"""Longer names are refused unread: spelling them takes its time for each character."""

UNTRUSTED: Final = "(untrusted)"
"""What stands before a memory that a reader does not trust, wherever an agent reads it."""

COUNTED_MATCHES: Final = 10_000
SHOWN_MATCHES: Final = 10
SHOWN_NAMES: Final = 5


class Unset(Enum):
    """Marks an argument that was not given, so that None stays a value."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


class Derived(Enum):
    """Asks for a summary derived from the body, now and at each later change of the body."""

    DERIVED = "derived"

    def __repr__(self) -> str:
        return "DERIVED"


UNSET: Final = Unset.UNSET
DERIVED: Final = Derived.DERIVED


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A closed set of memory types, fixed in code, with the limits of their memories.

    Attributes:
        name: What the set is called.
        labels: Type to plural label, in the order in which types are offered.
        max_body: Largest body, in `unit`.
        unit: "bytes" (of UTF-8) or "characters".
        max_name: Longest name, in characters.
        spell_name: How a name is written, where it is more than NFC without blanks around it.
        spell_tags: The same for a list of tags.
        guarded: Whether a secret that a guard sees in a text is refused, and not only reported.
    """

    name: str
    labels: Mapping[str, str]
    max_body: int = MAX_BODY_BYTES
    unit: Literal["bytes", "characters"] = "bytes"
    max_name: int = MAX_NAME
    spell_name: Callable[[str], str] | None = None
    spell_tags: Callable[[Sequence[str]], Sequence[str]] | None = None
    guarded: bool = False

    @property
    def types(self) -> tuple[str, ...]:
        """The types in their declared order."""
        return tuple(self.labels)


DOCUMENTS: Final = Vocabulary(
    "documents",
    {"plan": "Plans", "documentation": "Docs", "examples": "Examples", "context": "Context"},
)
FACTS: Final = Vocabulary(
    "facts",
    {
        "preference": "Preferences",
        "constraint": "Constraints",
        "fact": "Facts",
        "workflow": "Workflows",
    },
    max_body=1_000,
    unit="characters",
    max_name=120,
    spell_name=facts.readable_key,
    spell_tags=facts.readable_tags,
    guarded=True,
)


@dataclass(frozen=True, slots=True)
class MemoryHead:
    """A memory without its body: what a list shows.

    Attributes:
        summary: One line, or None (or an empty text) when somebody wanted none.
        summary_derived: Whether the summary follows the body by itself.
        order: Place in its shelf; equal places are told apart by name, then id.
        version: 1 at first, one more with each change. Moving is not a change.
        size: Length of the body in bytes of UTF-8.
        created_at: UTC, to the microsecond; so are `updated_at` and `expires_at`.
        untrusted: Whether a reader marked it: agents then get it with a label, as quoted matter.
    """

    id: UUID
    scope: ScopeKind
    principal_id: int | None
    agent_id: int | None
    type: str
    name: str
    summary: str | None
    summary_derived: bool
    tags: tuple[str, ...]
    pinned: bool
    order: int
    version: int
    size: int
    expires_at: datetime | None
    created_at: datetime
    updated_at: datetime
    untrusted: bool

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} ({self.type}) v{self.version}>"

    def __str__(self) -> str:
        label = f"{UNTRUSTED} " if self.untrusted else ""
        return f"{label}[{self.name}] [{self.type}]" + (
            f" — {self.summary}" if self.summary else ""
        )


@dataclass(frozen=True, slots=True, repr=False)
class Memory(MemoryHead):
    """A named markdown document with a type, in one scope. A frozen value, read at one moment."""

    content: str

    def _repr_html_(self) -> str:
        return display.memory(self)


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save did: the memory as stored, and whether it is a new one."""

    memory: Memory
    created: bool


@dataclass(frozen=True, slots=True)
class Edit:
    """One literal replacement: `find` must stand exactly once in the text."""

    find: str
    new_text: str


class Page(Sequence[MemoryHead]):
    """One page of a list, in list order: order, then name, then id.

    Attributes:
        total: How many memories match, on all pages.
        next_cursor: What to pass as `cursor` for the page after this, or None on the last.
    """

    __slots__ = ("_heads", "next_cursor", "total")

    def __init__(
        self, heads: Iterable[MemoryHead], *, total: int, next_cursor: str | None = None
    ) -> None:
        self._heads = tuple(heads)
        self.total = total
        self.next_cursor = next_cursor

    @overload
    def __getitem__(self, index: int) -> MemoryHead: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[MemoryHead, ...]: ...
    def __getitem__(self, index: int | slice) -> MemoryHead | tuple[MemoryHead, ...]:
        return self._heads[index]

    def __len__(self) -> int:
        return len(self._heads)

    def __iter__(self) -> Iterator[MemoryHead]:
        return iter(self._heads)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Page):
            return NotImplemented
        mine = (self._heads, self.total, self.next_cursor)
        return mine == (other._heads, other.total, other.next_cursor)

    def __hash__(self) -> int:
        return hash((self._heads, self.total, self.next_cursor))

    def __repr__(self) -> str:
        names = ", ".join(head.name for head in self._heads[:SHOWN_NAMES])
        more = ", …" if len(self._heads) > SHOWN_NAMES else ""
        return f"<Page {len(self)} of {self.total}: {names}{more}>"

    def _repr_html_(self) -> str:
        return display.page(self)


def checked_type(value: object, vocabularies: Iterable[Vocabulary]) -> Vocabulary:
    """Return the vocabulary that holds the type.

    Raises:
        UnknownType: None does; types are compared exactly.
    """
    known: list[str] = []
    for vocabulary in vocabularies:
        if isinstance(value, str) and value in vocabulary.labels:
            return vocabulary
        known += vocabulary.types
    raise UnknownType(value, known)


def normal_name(value: object, vocabulary: Vocabulary = DOCUMENTS) -> str:
    """Return the name in NFC without blanks around it, or as the vocabulary writes it.

    Raises:
        InvalidInput: It is not text, blank, or holds a control character, a line separator or a
            lone surrogate: each could forge a row of a list or be refused by an engine.
        TooLong: It is longer than the vocabulary's `max_name`.
    """
    text = unicodedata.normalize("NFC", _text(value, "name")).strip()
    if vocabulary.spell_name is not None and len(text) <= LONGEST_SPELLED:
        text = vocabulary.spell_name(text)
    if not text:
        raise InvalidInput(
            "name cannot be empty.", field="name", suggestion="Give the memory a short name."
        )
    _refuse_unprintable(text, "name")
    if len(text) > vocabulary.max_name:
        raise TooLong(
            "name",
            size=len(text),
            limit=vocabulary.max_name,
            unit="characters",
            suggestion="Keep the name short and put the rest into the body.",
        )
    return text


def normal_label(value: object, field: str) -> str:
    """Return a line that the history keeps, such as an actor or a source, without blanks around.

    Raises:
        InvalidInput: It is not text, blank, or holds what cannot be shown in one line.
        TooLong: It is longer than 200 characters.
    """
    text = _text(value, field).strip()
    if not text:
        raise InvalidInput(f"{field} cannot be empty.", field=field, suggestion="Leave it out.")
    _refuse_unprintable(text, field)
    if len(text) > MAX_NAME:
        raise TooLong(
            field,
            size=len(text),
            limit=MAX_NAME,
            unit="characters",
            suggestion="Name the run or the person, not the story.",
        )
    return text


def normal_content(value: object, vocabulary: Vocabulary = DOCUMENTS) -> str:
    """Return the body as it will be stored: verbatim, but for lone surrogates, which go.

    Raises:
        InvalidInput: It is not text, or holds a NUL character.
        TooLong: It is larger than the vocabulary's `max_body`.
    """
    text = _without_surrogates(_text(value, "content"))
    if "\0" in text:
        raise InvalidInput(
            "content holds a NUL character, which not every engine can store.",
            field="content",
            suggestion=f"Remove it; the first is at character {text.index(chr(0)) + 1:,}.",
        )
    size = len(text) if vocabulary.unit == "characters" else byte_size(text)
    if size > vocabulary.max_body:
        raise TooLong(
            "content",
            size=size,
            limit=vocabulary.max_body,
            unit=vocabulary.unit,
            suggestion="Split it into several memories.",
        )
    return text


def normal_summary(value: object) -> str:
    """Return a written summary as one line, without blanks around it; blank gives an empty text.

    Raises:
        InvalidInput: It is not text, or holds a NUL or another control character.
        TooLong: It is longer than 500 characters.
    """
    text = " ".join(_without_surrogates(_text(value, "summary")).split())
    _refuse_unprintable(text, "summary")
    if len(text) > MAX_SUMMARY:
        raise TooLong(
            "summary",
            size=len(text),
            limit=MAX_SUMMARY,
            unit="characters",
            suggestion="A summary is one line; put the rest into the body.",
        )
    return text


def derived_summary(content: str) -> str | None:
    """Return the start of the body's plain text, at most 200 characters, or None if it has none.

    The cut falls on a grapheme, never inside an emoji sequence or a letter with its accents. A
    body of a single character has none: there is nothing to sum up.
    """
    if len(content) <= 1:
        return None
    return plain_text(content, limit=DERIVED_SUMMARY) or None


def normal_tags(value: object, vocabulary: Vocabulary = DOCUMENTS) -> tuple[str, ...]:
    """Return the tags in NFC and trimmed, without blanks and repetitions, in their given order.

    A vocabulary that writes tags in its own way also says how many it keeps.

    Raises:
        InvalidInput: It is no list of texts, or a tag holds a control character.
        TooLong: There are more than 32, or one is longer than 64 characters.
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(
            f"tags must be a list of texts, not {_kind(value)}.",
            field="tags",
            suggestion='For example tags=["style", "draft"].',
        )
    given = [_normal_tag(each) for each in value]
    spelled = given if vocabulary.spell_tags is None else vocabulary.spell_tags(given)
    tags = tuple(dict.fromkeys(filter(None, spelled)))
    if len(tags) > MAX_TAGS:
        raise TooLong(
            "tags", size=len(tags), limit=MAX_TAGS, unit="tags", suggestion="Keep the telling ones."
        )
    return tags


def _normal_tag(value: object) -> str:
    tag = unicodedata.normalize("NFC", _text(value, "tag")).strip()
    _refuse_unprintable(tag, "tag")
    if len(tag) > MAX_TAG:
        raise TooLong(
            "tag",
            size=len(tag),
            limit=MAX_TAG,
            unit="characters",
            suggestion="Tags are single words; use the summary for a sentence.",
        )
    return tag


def checked_order(value: object) -> int:
    """Return the order; any sign, at most 2**53 - 1 away from zero.

    Raises:
        InvalidInput: It is not an integer, or too large.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(
            f"order must be an integer, not {_kind(value)}.",
            field="order",
            suggestion="Leave it out to keep the place.",
        )
    if abs(value) > MAX_ORDER:
        raise InvalidInput(
            f"order must lie between -{MAX_ORDER} and {MAX_ORDER}.",
            field="order",
            suggestion="Use move or reorder to change places.",
        )
    return value


def checked_time(value: object) -> datetime | None:
    """Return a moment in UTC, or None for never.

    Raises:
        InvalidInput: It is no datetime, or one without a time zone, which could mean any moment,
            or one that UTC has no year for.
    """
    if value is None:
        return None
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise InvalidInput(
            "expires_at must be a datetime with a time zone.",
            field="expires_at",
            suggestion="For example datetime.now(UTC) + timedelta(days=7).",
        )
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(
            "expires_at lies outside the years 1 to 9999 in UTC.",
            field="expires_at",
            suggestion="Pass None for never.",
        ) from error


def checked_version(value: object) -> int | None:
    """Return the expected version, or None for "whatever it is now".

    Raises:
        InvalidInput: It is no positive integer.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(
            "expected_version must be a positive integer.",
            field="expected_version",
            suggestion="Pass the version of the memory you read, or leave it out.",
        )
    return value


def apply_edits(content: str, edits: Sequence[Edit]) -> str:
    """Return the text with each edit applied in turn, or raise and leave all of them out.

    Matching is literal: no pattern, no case folding, no normalising. Places that overlap count
    apart, up to 10,000 (more would make a hostile anchor quadratic).

    Raises:
        InvalidInput: No edit was given, or a `find` is empty.
        AnchorNotFound: A `find` stands nowhere in the text as the edits before it left it.
        AnchorNotUnique: A `find` stands at several places; names the first ten.
    """
    if not edits:
        raise InvalidInput("find cannot be empty.", field="find", suggestion="Name a passage.")
    for index, edit in enumerate(edits):
        content = _apply(content, edit, index)
    return content


def byte_size(text: str) -> int:
    """Return the length of the text in bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def head_of(memory: MemoryHead) -> MemoryHead:
    """Return the memory without its body."""
    return MemoryHead(*(getattr(memory, field.name) for field in fields(MemoryHead)))


def _apply(content: str, edit: Edit, index: int) -> str:
    if not isinstance(edit, Edit):
        raise InvalidInput(
            f"edits must be a list of Edit, not of {_kind(edit)}.",
            field="edits",
            suggestion='For example [Edit("old", "new")].',
        )
    find = _text(edit.find, "find")
    new_text = _text(edit.new_text, "new_text")
    if not find:
        raise InvalidInput("find cannot be empty.", field="find", suggestion="Name a passage.")
    starts = _starts(content, find)
    if not starts:
        raise AnchorNotFound(edit=index, suggestion=_near_miss(content, find))
    if len(starts) > 1:
        shown = [_position(content, start) for start in starts[:SHOWN_MATCHES]]
        raise AnchorNotUnique(len(starts), shown, edit=index)
    return content[: starts[0]] + new_text + content[starts[0] + len(find) :]


def _starts(content: str, find: str) -> list[int]:
    starts: list[int] = []
    start = content.find(find)
    while start >= 0 and len(starts) < COUNTED_MATCHES:
        starts.append(start)
        start = content.find(find, start + 1)
    return starts


def _near_miss(content: str, find: str) -> str:
    """Say why a passage that looks the same does not match; nothing is normalised silently."""
    if unicodedata.normalize("NFC", find) in unicodedata.normalize("NFC", content):
        return (
            "A canonically equivalent passage exists: its accents are written in another Unicode "
            "form. Copy the passage from the body as it is."
        )
    if " ".join(find.split()).casefold() in " ".join(content.split()).casefold():
        return "A passage differs from it only in case, blanks or line ends. Copy it exactly."
    return "Read the memory again and copy the passage exactly."


def _position(content: str, start: int) -> tuple[int, int]:
    line_start = content.rfind("\n", 0, start) + 1
    return content.count("\n", 0, start) + 1, start - line_start + 1


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(
            f"{field} must be text, not {_kind(value)}.",
            field=field,
            suggestion="Pass a str.",
        )
    return value


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


def _without_surrogates(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-8", "ignore").decode()


def _refuse_unprintable(text: str, field: str) -> None:
    if text.isascii() and text.isprintable():
        return
    for place, character in enumerate(text):
        if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or is_noncharacter(
            character
        ):
            raise InvalidInput(
                f"{field} holds the character U+{ord(character):04X} at place {place + 1}, "
                "which cannot be shown in one line.",
                field=field,
                suggestion="Remove line breaks, control characters and lone surrogates.",
            )
