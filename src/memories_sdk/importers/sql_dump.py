"""Reads the rows of one table out of an SQL dump, such as mysqldump writes, statement by statement.

Not a parser of SQL: what is no INSERT into that table is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TextIO

from memories_sdk.errors import InvalidInput

CHUNK: Final = 1 << 20
LONGEST: Final = 256 * 1024 * 1024
"""Most characters of a statement."""

_TOKEN: Final = re.compile(
    r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`"""
    r"""|--[ \t][^\n]*\n|\#[^\n]*\n|/\*.*?\*/|;|[^'"`;\#/-]+|[\#/-](?!\Z)""",
    re.DOTALL,
)
_INSERT: Final = re.compile(
    r"\s*(?:INSERT|REPLACE)\s+(?:IGNORE\s+)?INTO\s+(?:`[^`]+`\.)?`?(?P<table>[\w$]+)`?\s*"
    r"(?:\((?P<columns>[^)]*)\)\s*)?VALUES\s*",
    re.IGNORECASE,
)
_CREATE: Final = re.compile(
    r"\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?`?(?P<table>[\w$]+)`?\s*\(", re.IGNORECASE
)
_COLUMN: Final = re.compile(r"^\s*`(\w+)`\s", re.MULTILINE)
_VALUE: Final = re.compile(
    r"""\s*(?:(?P<start>\()|(?P<end>\))|(?P<comma>,)|(?:_\w+\s*)?(?P<text>'(?:[^'\\]|\\.|'')*')"""
    r"""|0x(?P<hex>[0-9A-Fa-f]*)|(?P<null>NULL)|(?P<number>-?[0-9.]+(?:e[+-]?[0-9]+)?))""",
    re.DOTALL | re.IGNORECASE,
)
_ESCAPES: Final = {"0": "\0", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "Z": "\x1a"}
_ESCAPED: Final = re.compile(r"\\(.)|''", re.DOTALL)


def rows_of(path: Path, ending: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each row of the tables whose name has that ending, with the name of its table.

    Raises:
        InvalidInput: A statement on such a table cannot be read.
    """
    columns: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        for statement in statements(file):
            if (made := _CREATE.match(statement)) and made["table"].endswith(ending):
                columns[made["table"]] = _COLUMN.findall(statement)
            found = _INSERT.match(statement)
            if found is None or not found["table"].endswith(ending):
                continue
            table = found["table"]
            named = re.findall(r"[\w$]+", found["columns"] or "") or columns.get(table)
            if not named:
                raise InvalidInput(f"The dump does not say which columns {table} has.")
            for values in _values(statement, found.end()):
                if len(values) != len(named):
                    raise InvalidInput(f"A row of {table} has {len(values)} values.")
                yield table, dict(zip(named, values, strict=True))


def statements(file: TextIO) -> Iterator[str]:
    """Yield the statements of a dump, without comments, each without its semicolon."""
    parts: list[str] = []
    size = 0
    for piece in _pieces(file):
        if piece == ";":
            yield "".join(parts)
            parts, size = [], 0
        elif not piece.startswith(("--", "#", "/*")):
            parts.append(piece)
            size += len(piece)
        if size > LONGEST:
            raise InvalidInput("A statement in the dump is too long.")
    if rest := "".join(parts).strip():
        yield rest


def _pieces(file: TextIO) -> Iterator[str]:
    """Yield texts, comments, semicolons and what stands between them."""
    buffer, place, ended = "", 0, False
    while True:
        token = _TOKEN.match(buffer, place)
        if token is not None and (ended or token.end() < len(buffer)):
            place = token.end()
            yield token[0]
            continue
        if ended:
            return
        # The token may go on behind what was read.
        chunk = file.read(CHUNK)
        ended = not chunk
        buffer, place = buffer[place:] + (chunk or "\n"), 0
        if len(buffer) > LONGEST:
            raise InvalidInput("A text in the dump does not end.")


def _values(statement: str, place: int) -> Iterator[list[Any]]:
    row: list[Any] | None = None
    while place < len(statement.rstrip()):
        found = _VALUE.match(statement, place)
        if found is None or (row is None and not (found["start"] or found["comma"])):
            if row is None and statement[place:].lstrip()[:2].upper() == "ON":
                return  # ON DUPLICATE KEY UPDATE …
            raise InvalidInput(f"A row in the dump cannot be read (character {place:,}).")
        place = found.end()
        if found["start"]:
            row = []
        elif found["end"] and row is not None:
            yield row
            row = None
        elif row is not None and not found["comma"]:
            row.append(_value(found))


def _value(found: re.Match[str]) -> Any:  # noqa: ANN401 - whatever a column holds
    if found["text"] is not None:
        return _ESCAPED.sub(_unescaped, found["text"][1:-1])
    if found["hex"] is not None:
        return bytes.fromhex(found["hex"]).decode(errors="surrogateescape")
    if found["number"] is not None:
        number = found["number"]
        return int(number) if re.fullmatch("-?[0-9]+", number) else float(number)
    return None


def _unescaped(found: re.Match[str]) -> str:
    return "'" if found[1] is None else _ESCAPES.get(found[1], found[1])
