"""Which parts of a block of code are comments, strings, numbers and keywords.

One pass of one pattern, which reads each character once or twice whatever the text: a lexer of a
language knows more, but some of the common ones take seconds for four thousand hostile characters.
"""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS: Final = ("comment", "string", "number", "keyword")


class _Family(NamedTuple):
    """Languages that are alike: how their parts look, and their words in small letters."""

    parts: re.Pattern[str]
    words: frozenset[str]
    any_case: bool = False


def parts_of(code: str, language: str) -> Iterator[tuple[str | None, str]]:
    """Yield the text in pieces, each with what it is; of an unknown language it is one piece."""
    family = _FAMILIES.get(language.lower())
    end = 0
    for found in family.parts.finditer(code) if family else ():
        kind, text = found.lastgroup, found[0]
        if family and kind == "word":
            word = text.lower() if family.any_case else text
            kind = "keyword" if word in family.words else None
        if kind:
            if end < found.start():
                yield None, code[end : found.start()]
            yield kind, text
            end = found.end()
    if end < len(code):
        yield None, code[end:]


_QUOTE: Final = r"(?<![\w&<])'"
"""No apostrophe, and no lifetime of Rust's."""


def _family(comments: str, words: str, *, any_case: bool = False) -> _Family:
    parts = re.compile(
        rf"""(?P<comment>{comments})
        | (?P<string>\"\"\".*?(?:\"\"\"|\Z) | '''.*?(?:'''|\Z) | `(?:[^`\\]|\\.)*+`
            | "(?:[^"\\\n]|\\.)*+" | {_QUOTE}(?:[^'\\\n]|\\.)*+')
        # One without its end is read over, lest each mark in it begin the search anew.
        | `(?:[^`\\]|\\.)*+ | "(?:[^"\\\n]|\\.)*+ | {_QUOTE}(?:[^'\\\n]|\\.)*+
        | (?P<number>\b[0-9][\w.]*+)
        | (?P<word>[^\W\d]\w*+)""",
        re.DOTALL | re.VERBOSE,
    )
    return _Family(parts, frozenset(words.split()), any_case)


_HASH: Final = r"(?<![^\s(){};,])\#[^\n]*+"
_BLOCK: Final = r"/\*.*?(?:\*/|\Z)"
_LIKE_C: Final = """
    abstract as async await bool boolean break byte case catch char class const continue default
    defer delete do double else enum export extends extern false final finally float fn for from
    func function go if impl implements import in instanceof int interface let long loop match mod
    mut namespace new nil null package private protected pub public return self short signed sizeof
    static string struct super switch template this throw throws trait true try type typedef typeof
    undefined union unsafe unsigned use using var virtual void volatile where while with yield
"""
_LIKE_SHELL: Final = """
    alias and begin break case continue def do done elif else elsif end ensure esac exit export
    false fi for function if in include local module next nil no not null or raise require rescue
    return self set source super then true undef unless until when while yes yield
"""
_LIKE_SQL: Final = """
    add all alter and as asc begin between by case check commit constraint create cross default
    delete desc distinct drop else end exists foreign from full group having if in index inner
    insert into is join key left like limit not null offset on or order outer primary references
    returning right rollback select set table then union unique update using values view when where
    with
"""
_LIKE_C_FAMILY: Final = _family(rf"//[^\n]*+|{_BLOCK}", _LIKE_C)
_MEMBERS: Final = {
    "bash sh shell zsh ruby rb yaml yml toml r": _family(_HASH, _LIKE_SHELL),
    "c c++ cpp cs csharp go golang java javascript js jsx json kotlin php": _LIKE_C_FAMILY,
    "rs rust scala swift ts tsx typescript": _LIKE_C_FAMILY,
    "css": _family(_BLOCK, ""),
    "html xml": _family(r"<!--.*?(?:-->|\Z)", ""),
    "py python": _family(r"\#[^\n]*+", " ".join(keyword.kwlist)),
    "sql": _family(rf"--[^\n]*+|{_BLOCK}", _LIKE_SQL, any_case=True),
}
_FAMILIES: Final = {name: family for names, family in _MEMBERS.items() for name in names.split()}
