"""Keeps fields of a memory in the front matter of a markdown file, beside the user's own. Pure.

Ours stand under one key, `memory`, at the end of the block:

    ---
    title: what the user wrote stays as it was, to the byte
    memory:
      order: 3
      tags: ["style"]
    ---
    The body.

Lines are put in and taken out; nothing of the user's is ever written anew. A body that only looks
as if it began with front matter gets a block of its own in front.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from memories_sdk.errors import InvalidInput, MissingExtra

KEY: Final = "memory"
FIELDS: Final = ("name", "order", "summary", "tags", "pinned", "untrusted", "expires_at")
"""What may stand under the key, in the order in which it is written."""

LARGEST: Final = 64 * 1024
"""Most characters of a block; a longer one is text."""

BOM: Final = "\ufeff"

_BLOCK: Final = re.compile(
    r"(?P<open>---[ \t]*(?P<end>\r?\n))(?P<block>(?:.*\n)*?)(?P<close>---[ \t]*(?:\r?\n|\Z))"
)
_OURS: Final = re.compile(rf"^{KEY}:.*\n(?:[ \t]+.*\n|[ \t]*\r?\n)*", re.MULTILINE)
_WRITTEN: Final = re.compile(r" {2}(\w+): (.*?)\r?\n")
_LOOSE: Final = re.compile(r"[ \t]*([\w-]+):[ \t]+(.*?)[ \t]*\r?$")
_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]")


class Split(NamedTuple):
    """A file taken apart.

    Attributes:
        content: The body, with the user's own front matter.
        fields: Ours; empty where there are none.
        user: The user's own fields, as far as they can be read.
    """

    content: str
    fields: Mapping[str, Any]
    user: Mapping[str, Any]


def split(text: str) -> Split:
    """Take our fields out of a file.

    Raises:
        InvalidInput: There is a block of ours that cannot be read.
    """
    bom = BOM if text.startswith(BOM) else ""
    found = _BLOCK.match(text, len(bom))
    if found is None or len(found["block"]) > LARGEST:
        return Split(text, {}, {})
    block = found["block"]
    ours = list(_OURS.finditer(block))
    fields = _fields(ours[0][0]) if len(ours) == 1 else None
    if fields is None:
        return Split(text, {}, _mapping(block) or {})
    rest = block[: ours[0].start()] + block[ours[0].end() :]
    tail = text[found.end() :]
    if not rest.strip():
        return Split(tail, fields, {})  # a mark at the very start is the file's, not the body's
    return Split(f"{bom}{found['open']}{rest}{found['close']}{tail}", fields, _mapping(rest) or {})


def join(content: str, fields: Mapping[str, Any]) -> str:
    """Return the file of a body with these fields; `split` gives both back, to the letter."""
    if not fields:
        # What looks like a block of ours must not be taken for one.
        return content if split_is(content, content, {}) else _own(content, fields)
    merged = _merged(content, fields)
    return merged if merged is not None else _own(content, fields)


def split_is(text: str, content: str, fields: Mapping[str, Any]) -> bool:
    """Tell whether a file would be taken apart into these."""
    try:
        found = split(text)
    except InvalidInput:
        return False
    return (found.content, dict(found.fields)) == (content, dict(fields))


def _merged(content: str, fields: Mapping[str, Any]) -> str | None:
    start = len(BOM) if content.startswith(BOM) else 0
    found = _BLOCK.match(content, start)
    if found is None or not _mapping(found["block"]):
        return None
    place = found.start("close")
    text = content[:place] + _lines(fields, found["end"]) + content[place:]
    return text if split_is(text, content, fields) else None


def _own(content: str, fields: Mapping[str, Any]) -> str:
    lines = _lines(fields, "\n")
    return f"---\n{lines}---\n{content}"


def _lines(fields: Mapping[str, Any], end: str) -> str:
    given = [f"  {name}: {_quoted(fields[name])}" for name in FIELDS if name in fields]
    return "".join(f"{line}{end}" for line in (f"{KEY}:" if given else f"{KEY}: {{}}", *given))


def _quoted(value: object) -> str:
    """Return a value as YAML that no reader takes for another: texts are quoted always."""
    if isinstance(value, str):
        escaped = json.dumps(value, ensure_ascii=False)
        return _UNPRINTABLE.sub(lambda found: _escape(found[0]), escaped)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_quoted, value))}]"
    return json.dumps(value)


def _escape(character: str) -> str:
    return character if character.isprintable() else f"\\U{ord(character):08X}"


def _fields(part: str) -> dict[str, Any] | None:
    """Return the fields of our part of a block, or None when it is not ours.

    Raises:
        InvalidInput: It is, and cannot be read.
    """
    try:
        return _as_written(part)
    except ValueError:
        pass
    mapping = _yaml(part)
    value = _loose(part) if mapping is None else mapping.get(KEY)
    if not isinstance(value, dict) or not value.keys() <= set(FIELDS):
        return None
    if not value and "{}" not in part:
        raise InvalidInput("The front matter has a key `memory` that cannot be read.")
    return value


def _as_written(part: str) -> dict[str, Any]:
    """Return the fields of a part that is as we wrote it, without the time a YAML reader takes."""
    head, _, rest = part.partition("\n")
    if head.rstrip("\r") != f"{KEY}:" or not rest:
        raise ValueError
    found, place = {}, 0
    while place < len(rest):
        line = _WRITTEN.match(rest, place)
        if line is None or line[1] not in FIELDS:
            raise ValueError
        found[line[1]] = json.loads(line[2], parse_constant=_no_constant)
        place = line.end()
    return found


def _no_constant(text: str) -> None:
    raise ValueError(text)


def _mapping(block: str) -> dict[str, Any] | None:
    """Return the fields of a block, or None when there are none."""
    fields = _yaml(block)
    # Such as `description: Note: a colon that nobody quoted`.
    return (_loose(block) if fields is None else fields) or None


def _yaml(block: str) -> dict[str, Any] | None:
    """Return the fields of a block that is a YAML mapping, else None."""
    try:
        # Here, since a folder that only we wrote can be read without it.
        from ruamel.yaml import YAML  # noqa: PLC0415
        from ruamel.yaml.error import YAMLError  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtra("Front matter of other programs", "folders") from error
    try:
        value = YAML(typ="safe", pure=True).load(block)
    except (YAMLError, ValueError, RecursionError, OverflowError):
        return None
    return value if isinstance(value, dict) else None


def _loose(block: str) -> dict[str, Any]:
    """Return what stands in a block that is no YAML, line by line, as texts."""
    found: dict[str, Any] = {}
    for line in block.splitlines():
        if (match := _LOOSE.match(line)) is not None and match[2]:
            found[match[1]] = _value(match[2])
    return found


def _value(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError:
        return text.strip("\"'")
