"""What each field of a memory may hold: rules that return a value as it is stored, or refuse it.

Names compare by code point after NFC, bodies are kept verbatim, a summary is one line. Pure.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from memories_sdk.characters import is_noncharacter
from memories_sdk.errors import InvalidInput, TooLong, UnknownType
from memories_sdk.markdown import plain_text
from memories_sdk.memory import (
    DERIVED_SUMMARY,
    DOCUMENTS,
    MAX_NAME,
    MAX_ORDER,
    MAX_SUMMARY,
    MAX_TAG,
    MAX_TAGS,
    Vocabulary,
)

LONGEST_SPELLED: Final = 4_000
"""Longer names are refused unread: spelling them takes its time for each character."""


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
    text = unicodedata.normalize("NFC", checked_text(value, "name")).strip()
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
    text = checked_text(value, field).strip()
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
    text = _without_surrogates(checked_text(value, "content"))
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
    text = " ".join(_without_surrogates(checked_text(value, "summary")).split())
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
            f"tags must be a list of texts, not {kind_of(value)}.",
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
    tag = unicodedata.normalize("NFC", checked_text(value, "tag")).strip()
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
            f"order must be an integer, not {kind_of(value)}.",
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


def byte_size(text: str) -> int:
    """Return the length of the text in bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def checked_text(value: object, field: str) -> str:
    """Return the value, which must be text.

    Raises:
        InvalidInput: It is none.
    """
    if not isinstance(value, str):
        raise InvalidInput(
            f"{field} must be text, not {kind_of(value)}.",
            field=field,
            suggestion="Pass a str.",
        )
    return value


def kind_of(value: object) -> str:
    """Say of what kind a value is that should have been another."""
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
