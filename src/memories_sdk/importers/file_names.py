"""Writes the name of a memory as one of a file, on any system, and reads it back. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

ENDING: Final = ".md"
LONGEST: Final = 180
"""Most bytes of a stem: systems take 255 with the ending, and sync programs add some."""

_DIGEST: Final = 8
_FORBIDDEN: Final = frozenset('<>:"/\\|?*%')
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)
_ESCAPE: Final = re.compile("%[0-9A-F]{2}")


def stem_of(name: str) -> str:
    """Return the stem for a name: what no system refuses stays, the rest is percent-encoded.

    `name_of` gives the name back, unless it was too long for a file: then the stem ends with `~`
    and a digest, and the name must be kept elsewhere.
    """
    stem = "".join(_escaped(each) if _is_awkward(each) else each for each in name)
    if stem[0] in ". " or _RESERVED.match(stem):
        stem = _escaped(stem[0]) + stem[1:]
    if stem[-1] in ". ":
        stem = stem[:-1] + _escaped(stem[-1])
    if len(stem.encode()) <= LONGEST:
        return stem
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    cut = stem.encode()[: LONGEST - _DIGEST - 1].decode(errors="ignore")
    return f"{re.sub('%.?$', '', cut)}~{digest}"


def name_of(stem: str) -> str:
    """Return the name that a stem was made from; any other stem is its own name."""
    if _ESCAPE.search(stem) is None:
        return stem
    try:
        return unquote_to_bytes(stem.encode()).decode()
    except UnicodeDecodeError:
        return stem


def distinct(stem: str, taken: Callable[[str], bool]) -> str:
    """Return the stem, with a number behind it where a system without capitals knows another."""
    number, found = 1, stem
    while taken(folded(found)):
        number += 1
        found = f"{stem}~{number}"
    return found


def folded(stem: str) -> str:
    """Return what a stem is to a system that does not tell capital from small letters."""
    return stem.casefold()


def _is_awkward(character: str) -> bool:
    return character in _FORBIDDEN or (character != " " and not character.isprintable())


def _escaped(character: str) -> str:
    # Every byte, not only what an address would escape: a dot or a letter may be the problem.
    encoded = character.encode()
    if len(encoded) == 1:
        return f"%{encoded[0]:02X}"
    return quote_from_bytes(encoded, safe="")
