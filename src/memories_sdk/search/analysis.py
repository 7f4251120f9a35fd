"""The one text analyser: which words a text has, and what stands for a word in the index.

Every engine is fed by it, so that a search finds the same on all of them. A word is folded: width,
case, the accents of Latin, Greek and Cyrillic, the points of Arabic and Hebrew. English words are
stemmed for counting; what other languages inflect is bridged by pieces of four characters. Scripts
without blanks become overlapping pieces: Han and Kana of one and two characters, Hangul of two,
Thai, Lao, Khmer and Burmese of three.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from memories_sdk.search.common_words import COMMON, EMPTY, FREQUENT
from memories_sdk.search.topics import TOPICS

T = TypeVar("T")

VERSION: Final = 2
"""Raised with every change of what a text becomes: an index of another version is made anew."""

MAX_WORD: Final = 64
"""Characters of a word that count. Longer ones are keys and encoded data."""

PIECE: Final = 4

# Marks that Python does not count as letters but that belong to words, among them all signs of
# the Indic scripts: without them a Hindi word would fall apart at its vowels.
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09d7\u09e2\u09e3"
    "\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0ae2\u0ae3"
    "\u0b01-\u0b03\u0b3c-\u0b57\u0b62\u0b63\u0b82\u0bbe-\u0bd7\u0c00-\u0c04\u0c3c-\u0c56"
    "\u0c62\u0c63\u0c81-\u0c83\u0cbc-\u0cd6\u0ce2\u0ce3\u0d00-\u0d03\u0d3b-\u0d4d\u0d57"
    "\u0d62\u0d63\u0d81-\u0d83\u0dca-\u0ddf\u0df2\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e\u0f3f\u0f71-\u0f84"
    "\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d"
    "\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe00-\ufe0f\ufe20-\ufe2f"
)
_WORD: Final = re.compile(rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*")
_PLAIN: Final = str.maketrans(
    {chr(code): chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
)
"""Signs of ASCII to small letters, digits and blanks: a table and a split are the quickest way."""

_LOST: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670\u200c\u200d\ufe00-\ufe0f]"
)
"""What folding drops: accents, points, the Arabic stretch, joiners and selectors."""

_OWN_LETTERS: Final = str.maketrans(
    {
        "\u0131": "i",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
        "ħ": "h",
    }
)
"""Letters that Unicode takes for letters of their own, as they are typed without them."""

_HAN_KANA: Final = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_HANGUL: Final = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_RUN: Final = re.compile(
    rf"(?P<han>[{_HAN_KANA}]+)|(?P<hangul>[{_HANGUL}]+)|(?P<thai>[{_UNSPACED}]+)"
    rf"|(?P<other>[^{_HAN_KANA}{_HANGUL}{_UNSPACED}]+)"
)
_SIZES: Final = {"han": 2, "hangul": 2, "thai": 3}


class Word(NamedTuple):
    """A folded word, or piece of an unspaced script, and where it stands in the text."""

    text: str
    start: int
    end: int


def words(text: str) -> list[str]:
    """Return the folded words of a text in their order."""
    if text.isascii():
        plain = text.translate(_PLAIN).split()
        if max(map(len, plain), default=0) <= MAX_WORD:
            return plain
        return [word[:MAX_WORD] for word in plain]
    found: list[str] = []
    for word in _WORD.findall(text):
        if word.isascii():
            found.append(word.lower()[:MAX_WORD])
        else:
            found += _folded_word(word)
    return found


def placed_words(text: str) -> Iterator[Word]:
    """Yield the words of a text with their places; a word's pieces share its place."""
    for match in _WORD.finditer(text):
        if (word := match[0]).isascii():
            yield Word(word.lower()[:MAX_WORD], match.start(), match.end())
        elif _RUN.fullmatch(word) and len(run := fold(word)) == len(word):
            for piece, start, end in _pieces(run):
                yield Word(piece, match.start() + start, match.start() + end)
        else:
            for piece in _folded_word(word):
                yield Word(piece, match.start(), match.end())


def term(word: str) -> str:
    """Return what stands for a folded word in the index: the stem of an English one.

    Takes plural, past and progressive endings off. More endings, and Snowball's rules, found no
    more on any of the sets that README names.
    """
    return _TERMS[word]


def terms(words: Iterable[str]) -> Iterator[str]:
    """Return what stands for each of these folded words."""
    return map(_TERMS.__getitem__, words)


class _Found(dict[str, T]):
    """Words to what a function says of them, found once: an analysis asks for thousands."""

    def __init__(self, find: Callable[[str], T]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, word: str) -> T:
        if len(self) > _MOST_WORDS:
            self.clear()
        self[word] = found = self._find(word)
        return found


_MOST_WORDS: Final = 1 << 16


def _stem(word: str) -> str:
    if word[-1] not in _ENDS or not (word.isascii() and word.isalpha()):
        return word
    word = _without_ending(_singular(word))
    if len(word) > _SHORT:
        word = word.removesuffix("e")
    if len(word) > _SHORT and word[-1] == "y":
        word = f"{word[:-1]}i"
    return word


def pieces(word: str) -> tuple[str, ...]:
    """Return the distinct pieces of four characters of a folded word with a blank on both sides.

    They find what the stem does not: typing errors, inflections and compounds of other languages.
    Pieces of unspaced scripts have none: they are pieces themselves.
    """
    return _PIECES[word]


def pieces_of(words: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Return the pieces of each of these folded words."""
    return map(_PIECES.__getitem__, words)


def _parted(word: str) -> tuple[str, ...]:
    if _RUN.match(word).lastgroup != "other":  # type: ignore[union-attr] # a word is not empty
        return ()
    padded = f" {word} "
    if len(padded) <= PIECE:
        return (padded,)
    return tuple(dict.fromkeys(padded[i : i + PIECE] for i in range(len(padded) - PIECE + 1)))


def weight(word: str) -> float:
    """Return how much a folded word says about a text, from 0.1 to 1.

    Frequent words of English say little; so does a single Han sign beside the pairs it is in, and
    a single Kana less.
    """
    if len(word) == 1 and (kind := _SIGN.match(word)):
        return 0.3 if kind.lastgroup == "han" else 0.1
    return _WEIGHTS.get(term(word), 1.0)


def topics(word: str) -> tuple[tuple[int, float], ...]:
    """Return the topics of a folded word; one that stands in several means each of them less."""
    return _MEANINGS[word]


def topics_of(words: Iterable[str]) -> Iterator[tuple[tuple[int, float], ...]]:
    """Return the topics of each of these folded words."""
    return map(_MEANINGS.__getitem__, words)


def is_empty(word: str) -> bool:
    """Whether a folded word only joins others."""
    return word in _EMPTY


@lru_cache(maxsize=16384)
def _folded_word(word: str) -> tuple[str, ...]:
    folded = fold(word)
    return tuple(piece for piece, _, _ in _pieces(folded))


def fold(text: str) -> str:
    """Return a text without what writers may leave out: width, case, accents and points."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _LOST.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", text).translate(_OWN_LETTERS)


def _pieces(word: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words and pieces of a run of folded letters, with their places in it."""
    for run in _RUN.finditer(word):
        text, start, kind = run[0], run.start(), run.lastgroup or ""
        size = _SIZES.get(kind)
        if size is None:
            for part in _WORD.finditer(text):  # folding may leave signs that are no letters
                yield part[0][:MAX_WORD], start + part.start(), start + part.end()
            continue
        if kind == "han":
            for at, character in enumerate(text, start):
                yield character, at, at + 1
        if len(text) < size and kind != "han":
            yield text, start, start + len(text)
        for at in range(len(text) - size + 1):
            yield text[at : at + size], start + at, start + at + size


def _singular(word: str) -> str:
    if len(word) <= _SHORT or word[-1] != "s":
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y" if len(word) > _SHORT + 1 else word
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word if word[-2] in "su" else word[:-1]


def _without_ending(word: str) -> str:
    if len(word) <= _SHORT + 1:
        return word
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORT and _VOWEL.search(stem):
            doubled = stem[-1] == stem[-2] and stem[-1] not in "lsz"
            return stem[:-1] if doubled else stem
    return word


_SHORT: Final = 3
"""Letters of the shortest stem."""

_ENDS: Final = frozenset("sgdey")
"""What the endings end with: most words are told by their last letter to have none."""

_SIGN: Final = re.compile(
    "(?P<kana>[\u3040-\u30ff\u31f0-\u31ff])|(?P<han>[\u3005-\u9fff\uf900-\ufaff])"
)
_VOWEL: Final = re.compile("[aeiouy]")
_TERMS: Final = _Found(_stem)
_PIECES: Final = _Found(_parted)
_WEIGHTS: Final = {
    **dict.fromkeys(map(term, COMMON.split()), 0.5),
    **dict.fromkeys(map(term, FREQUENT.split()), 0.3),
}
_EMPTY: Final = frozenset(EMPTY.split())


def _by_term() -> dict[str, tuple[tuple[int, float], ...]]:
    numbers: dict[str, list[int]] = {}
    for number, topic in enumerate(TOPICS.split(";")):
        for member in dict.fromkeys(map(term, topic.split())):
            numbers.setdefault(member, []).append(number)
    return {
        member: tuple((number, len(held) ** -0.5) for number in held)
        for member, held in numbers.items()
    }


_TOPICS: Final = _by_term()
_MEANINGS: Final = _Found(lambda word: _TOPICS.get(term(word), ()))
