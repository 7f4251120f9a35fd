"""What a model sent as arguments, turned into values or refused in words. Pure.

Models send null for what they leave out, numbers as text, text as numbers and whole objects as
JSON strings. What has one meaning is taken; what could mean two things is refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from memories_sdk.edits import Edit
from memories_sdk.errors import InvalidInput

MAX_DEPTH: Final = 20
MAX_JSON: Final = 8 << 20
INTEGER_BITS: Final = 64
INTEGER: Final = re.compile(r"[+-]?[0-9]{1,19}\Z")


class Arguments:
    """The arguments of one call, read by name. Null and absent are the same.

    Args:
        given: A mapping, the JSON text of one, or None for no arguments.

    Raises:
        InvalidInput: It is neither, or JSON that no strict parser takes.
    """

    def __init__(self, given: object) -> None:
        if isinstance(given, str):
            given = _parsed(given)
        if given is None:
            given = {}
        if not isinstance(given, Mapping):
            raise InvalidInput(
                f"arguments must be an object, not {_kind(given)}.",
                suggestion='For example {"action": "list"}.',
            )
        self._given = given

    @property
    def values(self) -> dict[str, object]:
        """All that was sent, unknown names included."""
        return dict(self._given)

    def has(self, name: str) -> bool:
        """Tell whether a value was sent."""
        return self._given.get(name) is not None

    def text(self, name: str) -> str | None:
        """Return a text, or None; a number becomes its text.

        Raises:
            InvalidInput: It is something else.
        """
        value = self._given.get(name)
        if value is None or isinstance(value, str):
            return value
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and value.bit_length() < INTEGER_BITS
        ):
            return str(value)
        if isinstance(value, float) and math.isfinite(value):
            return repr(value)
        raise InvalidInput(
            f"{name} must be text, not {_kind(value)}.", field=name, suggestion="Send a string."
        )

    def integer(self, name: str) -> int | None:
        """Return an integer, or None; a whole number as text or with `.0` is one.

        Raises:
            InvalidInput: It is something else, or has more than 64 bits.
        """
        value = self._given.get(name)
        if value is None:
            return None
        if isinstance(value, str) and INTEGER.match(value.strip()):
            value = int(value.strip())
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and value.bit_length() < INTEGER_BITS
        ):
            return value
        raise InvalidInput(
            f"{name} must be an integer, not {_kind(value)}.",
            field=name,
            suggestion="Send a whole number, or leave it out.",
        )

    def texts(self, name: str) -> list[str] | None:
        """Return a list of texts, or None for anything that is no list; numbers become texts.

        Raises:
            InvalidInput: Something in the list is neither.
        """
        value = self._given.get(name)
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = _parsed(value)
        if not isinstance(value, list | tuple):
            return None
        texts = (Arguments({name: each}).text(name) for each in value)
        return [text for text in texts if text is not None]

    def edits(self, name: str) -> Sequence[Edit] | None:
        """Return a list of edits, or None.

        Raises:
            InvalidInput: It is no list of objects with `find` and `new_text`.
        """
        value = self._given.get(name)
        if isinstance(value, str):
            value = _parsed(value)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise InvalidInput(
                f"{name} must be a list, not {_kind(value)}.",
                field=name,
                suggestion='For example [{"find": "old", "new_text": "new"}].',
            )
        return [self._edit(name, each) for each in value]

    def _edit(self, name: str, value: object) -> Edit:
        edit = Arguments(value)
        find, new_text = edit.text("find"), edit.text("new_text")
        if find is None or new_text is None:
            missing = "find" if find is None else "new_text"
            raise InvalidInput(
                f"{missing} is required in each of {name}.", field=name, suggestion="Add it."
            )
        return Edit(find, new_text)


def _parsed(text: str) -> object:
    if not text.strip():
        return None
    if len(text) > MAX_JSON or _depth(text) > MAX_DEPTH:
        raise InvalidInput(
            "arguments are too large or too deeply nested.", suggestion="Send a flat object."
        )
    try:
        return json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        place = getattr(error, "pos", None)
        where = "" if place is None else f" from character {place + 1} on"
        raise InvalidInput(
            f"arguments are not valid JSON{where}.", suggestion='For example {"action": "list"}.'
        ) from error


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) != len(pairs):
        msg = "a key stands twice"
        raise ValueError(msg)
    return values


def _no_constant(name: str) -> object:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def _finite(digits: str) -> float:
    if math.isinf(value := float(digits)):
        msg = f"{digits} is too large for JSON"
        raise ValueError(msg)
    return value


def _depth(text: str) -> int:
    """Return an upper bound of the nesting: brackets inside strings count too."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


_KINDS: Final = (
    (bool, "a truth value"),
    (str, "text"),
    (int | float, "a number"),
    (list | tuple, "a list"),
    (Mapping, "an object"),
)


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    for type_, words in _KINDS:
        if isinstance(value, type_):
            return words
    return f"a value of type {type(value).__name__}"
