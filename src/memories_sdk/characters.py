"""Characters as a reader sees them: where one ends, and which ones nobody can see.

Python knows the category of a code point but not where a grapheme ends. The rules of UAX #29 are
written out here, because a library for them is larger than this whole package. Where they need
tables that Python lacks, too much rather than too little stays together.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final


def cut_graphemes(text: str, limit: int) -> str:
    """Cut a text to at most LIMIT code points, never inside what a reader sees as one character.

    A single character longer than the limit leaves nothing.
    """
    end = max(limit, 0)
    if len(text) <= end:
        return text
    while end and _belong_together(text, end):
        end -= 1
    return text[:end]


_HANGUL: Final = re.compile(
    "[\u1100-\u115f\ua960-\ua97c][\u1100-\u11a7\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7c6]"
    "|[\u1160-\u11a7\uac00-\ud7a3\ud7b0-\ud7c6][\u1160-\u11ff\ud7b0-\ud7fb]"
    "|[\u11a8-\u11ff\ud7cb-\ud7fb][\u11a8-\u11ff\ud7cb-\ud7fb]"
)
"""Two parts of one syllable: first a leading consonant, then a vowel, then a trailing consonant."""

_PREPENDED: Final = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u1cf5\u1cf6\U000110bd\U000110cd\U000111c2"
    "\U000111c3\U0001193f\U00011941\U00011a3a\U00011a84-\U00011a89\U00011d46\U00011f02]"
)
"""Signs written before the character they belong to."""

_EXTENDING: Final = re.compile(
    "[\u0e33\u0eb3\u200c\u200d\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
"""What extends the character before it without being a mark: joiners, skin tones, tags."""

_VIRAMA: Final = 9
"""Canonical combining class of the signs that join two consonants."""


def _belong_together(text: str, at: int) -> bool:
    """Whether the code points before and after a place are parts of one grapheme."""
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return before == "\r" and after == "\n"
    if _extends(after):
        return True
    if _is_flag_half(before) and _is_flag_half(after):
        return _flag_halves_before(text, at) % 2 == 1
    return (
        _PREPENDED.match(before) is not None
        or _HANGUL.match(text, at - 1) is not None
        or (before == "\u200d" and after > "\x7f")
        or (after.isalpha() and _joins_next(text, at))
    )


def _extends(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" or _EXTENDING.match(character) is not None


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_halves_before(text: str, at: int) -> int:
    start = at
    while start and _is_flag_half(text[start - 1]):
        start -= 1
    return at - start


def _joins_next(text: str, at: int) -> bool:
    """Whether a virama stands among the signs right before a place."""
    while at and _extends(text[at - 1]):
        at -= 1
        if unicodedata.combining(text[at]) == _VIRAMA:
            return True
    return False


_PICTURE: Final = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe"
    "\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
    "[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
)
_SELECTOR: Final = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_INVISIBLE: Final = re.compile(
    # Joined pictures and the flags of regions are one emoji: kept.
    rf"(?P<emoji>{_PICTURE}(?:\u200d{_PICTURE})+"
    "|\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f)"
    # One selector chooses a shape; more of them can only carry hidden text.
    rf"|(?<={_SELECTOR}){_SELECTOR}"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    "\ud800-\udfff]"
    r"|\r(?!\n)"
)


_WORD: Final = re.compile(r"[^\W\d_]*[A-Za-z][^\W\d_]*")
_ALIKE: Final = re.compile(
    "(?:CYRILLIC|GREEK|COPTIC|ARMENIAN|CHEROKEE|LISU|FULLWIDTH|MATHEMATICAL|LATIN LETTER) "
)
"""Beginnings of the Unicode names of letters that are taken for ASCII ones."""


def reveal_letters(text: str) -> str:
    """Mark letters of another script inside a word with ASCII letters, as `x⟨U+0445⟩`.

    For cards, where a name that only looks like another one must not be taken for it. Words of
    one script alone stay, and so does every pair of scripts whose letters nobody confuses.
    """
    return _WORD.sub(lambda word: "".join(map(_marked, word[0])), text)


def _marked(letter: str) -> str:
    alike = not letter.isascii() and _ALIKE.match(unicodedata.name(letter, ""))
    return f"{letter}\u27e8U+{ord(letter):04X}\u27e9" if alike else letter


def is_noncharacter(character: str) -> bool:
    """Tell whether Unicode promises never to put this code point into a text."""
    code = ord(character)
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF  # noqa: PLR2004 -- as the standard has them


def reveal(text: str) -> str:
    """Show characters that cannot be seen as marks such as `⟨U+202E⟩`, for names and cards.

    These are controls, direction controls, zero widths, tags, fillers, lone surrogates and
    variation selectors after the first. Line breaks, tabs and what emoji are made of stay.
    """
    return _INVISIBLE.sub(
        lambda match: match["emoji"] or f"\u27e8U+{ord(match[0]):04X}\u27e9", text
    )
