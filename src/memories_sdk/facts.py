"""The rules of facts: readable keys, short tags, and what a sloppy caller meant. Pure.

Source: the OpenWP memory system. It spelt a key for URLs (`%e5%b1%b1`) and changed texts when it
stored them; here a key stays readable in any script and a text stays as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice
from typing import Final

from memories_sdk.characters import reveal

MAX_FACT_TAGS: Final = 10
MAX_QUERY: Final = 120
LISTED: Final = 50
MAX_LISTED: Final = 200

_MARKUP: Final = re.compile(r"</?[A-Za-z!?][^<>]*>")
_HYPHENS: Final = re.compile("-{2,}")
_NOT_IN_A_TYPE: Final = re.compile(r"[^a-z0-9_-]+")
_SKIN_TONES: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_LATIN: Final = str.maketrans("ßøđðħ\u0131ĸłŋŧºª", "soddhiklntoa") | str.maketrans(
    {"æ": "ae", "œ": "oe", "þ": "th"}
)
"""Latin letters that Unicode does not take apart, with the ones OpenWP puts in their place."""


def readable_key(text: str) -> str:
    """Return the text as a key: words in lower case, joined by hyphens; empty if none is left.

    Latin accents are folded, any other script stays as it is written (NFC, case folded). Blanks,
    dots, slashes and dashes part words. HTML tags, other punctuation and what nobody can see go;
    pictures stay. A key is its own key.
    """
    text = _MARKUP.sub("", text).lower().translate(_LATIN).casefold()
    key: list[str] = []
    for each in unicodedata.normalize("NFD", text):
        # An accent goes from an e; the marks of й and が make letters of their own.
        if unicodedata.category(each)[0] != "M" or (key and not key[-1].isascii()):
            key.append(each if _may_stand(each) else _separator(each))
    return _HYPHENS.sub("-", unicodedata.normalize("NFC", "".join(key))).strip("-")


def readable_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the first ten tags, each one word in lower case, without repetitions.

    What is neither letter, digit, hyphen nor underscore goes, blanks too: `A b` and `ab` are one.
    """
    words = (folded("".join(filter(_may_stand, each))) for each in texts)
    return tuple(islice(dict.fromkeys(filter(None, words)), MAX_FACT_TAGS))


def cleaned_type(text: str) -> str:
    """Return the type that a text such as ` F a c t! ` means; it need not be one."""
    return _NOT_IN_A_TYPE.sub("", text.lower())


def cleaned_text(text: str) -> str:
    """Return the text of a fact: as it was written, without the blanks around it."""
    return text.strip()


def cleaned_query(text: str) -> str:
    """Return what to look for: one line of at most 120 characters."""
    return " ".join(text.split())[:MAX_QUERY].strip()


def folded(text: str) -> str:
    """Return the text without the difference between capital and small letters, in NFC."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def listed(limit: int | None) -> int:
    """Return how many facts to list: the size of the number, 50 for none or 0, at most 200."""
    return min(abs(limit or LISTED), MAX_LISTED)


def _separator(character: str) -> str:
    """Return what stands in the key for a character that may not: a hyphen, or nothing."""
    if character in "./" or character.isspace() or unicodedata.category(character) == "Pd":
        return "-"
    return ""


def _may_stand(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character in "-_"
    kind = unicodedata.category(character)
    if kind[0] not in "LN" and kind not in {"So", "Mn", "Mc"} and character not in _SKIN_TONES:
        return False
    # A filler counts as a letter and a selector as a mark: two keys would look the same.
    return reveal(character) == character and not "\ufe00" <= character <= "\ufe0f"
