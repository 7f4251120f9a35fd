"""Characters as a reader sees them: where one ends, and which ones nobody can see."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import iter_graphemes  # comes with IPython and has tables of its own

from memories_sdk.characters import cut_graphemes, reveal, reveal_letters

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
PARTS = [
    *("a", "é", "中", " ", "\r", "\n", "\u0301", "\u0308", "\u200c", "\u200d", "\ufe0f"),
    *("\U0001f468", "\u2764", "\U0001f3fb", "\U0001f1e6", "\U0001f1ff", "\U0001f3f4", "\U000e0067"),
    *("\u1100", "\u1161", "\u11a8", "\uac00", "\uac01", "\u0915", "\u094d", "\u093c", "\u0e33"),
    *("\u0600", "\u0903", "\u0bbe", "\u0d4e", "\ua8f2", "\u302a", "\U000e007f"),
]


@pytest.mark.parametrize(
    "character",
    [
        "e\u0301",
        "q\u0323\u0307\u0308",
        FAMILY,
        SCOTLAND,
        "\U0001f1eb\U0001f1f7",
        "\U0001f44d\U0001f3fd",
        "\u2764\ufe0f",
        "1\ufe0f\u20e3",
        "\u1112\u1161\u11ab",
        "\ud558\u11ab",
        "\u0915\u094d\u0937",
        "\u0e01\u0e33",
        "\u0600\u0661",
        "\r\n",
    ],
    ids=ascii,
)
def test_a_cut_splits_no_character(character: str) -> None:
    """Wherever the limit falls inside a character, the whole of it goes; at its end it stays."""
    text = f"ab{character}cd"
    for limit in range(2, 2 + len(character)):
        assert cut_graphemes(text, limit) == "ab"
    assert cut_graphemes(text, 2 + len(character)) == f"ab{character}"


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("abc", 3, "abc"),
        ("abc", 2, "ab"),
        ("abc", 0, ""),
        ("abc", -1, ""),
        ("", 5, ""),
        ("한국어", 2, "한국"),
        ("中文字", 1, "中"),
        ("\U0001f600\U0001f600", 1, "\U0001f600"),
        ("\U0001f1eb\U0001f1f7\U0001f1ee\U0001f1f9", 3, "\U0001f1eb\U0001f1f7"),
        ("a" + "\u0301" * 300, 200, ""),
    ],
)
def test_a_cut_takes_as_much_as_fits(text: str, limit: int, kept: str) -> None:
    """Neighbours that only stand side by side part; one character too long leaves nothing."""
    assert cut_graphemes(text, limit) == kept


@settings(deadline=None, max_examples=500)
@given(
    st.lists(
        st.one_of(st.sampled_from(PARTS), st.characters(exclude_categories=["Cn", "Co", "Cs"]))
    ).map("".join),
    st.integers(0, 30),
)
def test_a_cut_falls_on_a_boundary_of_unicode(text: str, limit: int) -> None:
    """Every cut is one that UAX #29 allows."""
    kept = cut_graphemes(text, limit)
    assert len(kept) <= limit or kept == text
    assert text.startswith(kept)
    ends = {0}
    for grapheme in iter_graphemes(text):
        ends.add(max(ends) + len(grapheme))
    assert len(kept) in ends


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("user\u202egnp.exe", "user⟨U+202E⟩gnp.exe"),
        ("a\u200bb\ufeffc\u2060d\u00ade", "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+2060⟩d⟨U+00AD⟩e"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("\x00\x1b[31m\x7f\x85", "⟨U+0000⟩⟨U+001B⟩[31m⟨U+007F⟩⟨U+0085⟩"),
        ("x\U000e0041\U000e007f", "x⟨U+E0041⟩⟨U+E007F⟩"),
        ("a\u2028b\u2066c\u2069", "a⟨U+2028⟩b⟨U+2066⟩c⟨U+2069⟩"),
        ("a\ufe0f\ufe01\U000e0100", "a\ufe0f⟨U+FE01⟩⟨U+E0100⟩"),
        ("\u3164\u115f", "⟨U+3164⟩⟨U+115F⟩"),
        ("a\ud800", "a⟨U+D800⟩"),
        ("a\rb", "a⟨U+000D⟩b"),
    ],
    ids=ascii,
)
def test_invisible_characters_show(text: str, seen: str) -> None:
    """Nothing hides in a name: not direction, not width, not text made of tags or selectors."""
    assert reveal(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\u0430dmin", "\u0430⟨U+0430⟩dmin"),
        ("adm\u0456n and \uff41dmin", "adm\u0456⟨U+0456⟩n and \uff41⟨U+FF41⟩dmin"),
        ("\u1d00dmin", "\u1d00⟨U+1D00⟩dmin"),
        ("админ ελλάδα", "админ ελλάδα"),
        ("café 観測memo 5µm Ångström", "café 観測memo 5µm Ångström"),
    ],
    ids=ascii,
)
def test_letters_of_another_script_show_on_a_card(text: str, seen: str) -> None:
    """A name that only looks like another shows what it is; honest words in any script stay."""
    assert reveal_letters(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "plain name",
        "two\nlines\tand\r\nmore",
        f"family {FAMILY}",
        f"flag {SCOTLAND}",
        "\U0001f3f3\ufe0f\u200d\U0001f308 \u2764\ufe0f\u200d\U0001f525",
        "\U0001f642\u200d\u2194\ufe0f",
        "\U0001f469\U0001f3fd\u200d\U0001f4bb",
        "\u2764\ufe0f 1\ufe0f\u20e3 葛\U000e0100",
        "مرحبا שלום e\u0301",
    ],
    ids=ascii,
)
def test_visible_text_stays(text: str) -> None:
    """Scripts of all directions, line breaks and what emoji are made of are left alone."""
    assert reveal(text) == text


def test_no_control_or_format_character_escapes() -> None:
    """Every such character shows, save the ones that have a shape of their own."""
    shapes = {*"\t\n", *map(chr, range(0x0600, 0x0606)), *"\u06dd\u070f\u0890\u0891\u08e2"}
    shapes |= {"\U000110bd", "\U000110cd", *map(chr, range(0x13430, 0x13440))}
    kept = {
        chr(point)
        for point in range(0x110000)
        if unicodedata.category(chr(point)) in {"Cc", "Cf"} and reveal(chr(point)) == chr(point)
    }
    assert kept <= shapes
