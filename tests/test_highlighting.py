"""Code in a preview shows which parts are comments, strings, numbers and keywords."""

from __future__ import annotations

import re

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories_sdk import highlighting
from memories_sdk.highlighting import KINDS, parts_of
from memories_sdk.markdown import MAX_COLOURED, render_safe

LANGUAGES = sorted(highlighting._FAMILIES)
MARKS = [*"'\"`\\/*#-<>!a1_. \n", "/*", "*/", "<!--", "-->", "'''", "if"]


def told(code: str, language: str) -> list[tuple[str, str]]:
    """Return the parts that are told apart."""
    return [(kind, text) for kind, text in parts_of(code, language) if kind]


@pytest.mark.parametrize(
    ("language", "code", "parts"),
    [
        ("python", "if x: # it's", [("keyword", "if"), ("comment", "# it's")]),
        ("py", "'''a\nb''' 1_0.5e3", [("string", "'''a\nb'''"), ("number", "1_0.5e3")]),
        ("js", r"let a = `x\n${y}`", [("keyword", "let"), ("string", r"`x\n${y}`")]),
        ("c++", '/* if\n */ "\\""', [("comment", "/* if\n */"), ("string", '"\\""')]),
        ("rust", "fn f<'a>(x: &'a u8)", [("keyword", "fn")]),
        ("yaml", "a: don't # why", [("comment", "# why")]),
        ("sh", "echo $# a#b # c", [("comment", "# c")]),
        ("SQL", "Select 1 -- one", [("keyword", "Select"), ("number", "1"), ("comment", "-- one")]),
        ("html", "<!-- a --> <b>", [("comment", "<!-- a -->")]),
        ("css", "a { b: 1 } /* open", [("number", "1"), ("comment", "/* open")]),
        ("python", "x = 'open\nif y", [("keyword", "if")]),
        ("unknown", "if 1", []),
    ],
)
def test_parts_are_told_apart(language: str, code: str, parts: list[tuple[str, str]]) -> None:
    """By the rules of the family that a language is of; of an unknown one nothing is said."""
    assert told(code, language) == parts


@given(st.sampled_from(LANGUAGES), st.text() | st.lists(st.sampled_from(MARKS)).map("".join))
def test_no_character_is_lost(language: str, code: str) -> None:
    """The pieces together are the code, and only the known kinds are said."""
    pieces = list(parts_of(code, language))
    assert "".join(text for _, text in pieces) == code
    assert {kind for kind, _ in pieces} <= {None, *KINDS}


def test_a_preview_shows_the_kinds() -> None:
    """Each part is an element of its own, whose text is escaped."""
    markup = str(render_safe('```js\nif (a < "<b>") 7 // &\n```'))
    tree = html5lib.parseFragment(markup, treebuilder="etree", namespaceHTMLElements=False)
    shown = [(it.get("class"), it.text) for it in tree.iter("span")]
    assert shown == [
        ("mem-keyword", "if"),
        ("mem-string", '"<b>"'),
        ("mem-number", "7"),
        ("mem-comment", "// &"),
    ]
    assert "".join(tree.itertext()).strip() == 'if (a < "<b>") 7 // &'


def test_long_code_is_shown_plainly() -> None:
    """A document tells the parts of so much code and no more: tags cost many times their text."""
    block = "```js\n" + "1 " * (MAX_COLOURED // 2 - 1) + "\n```\n\n"
    assert len(re.findall("mem-number", render_safe(block * 2))) == MAX_COLOURED // 2 - 1
