"""What the analyser makes of a text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories_sdk.search import analysis


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Last_Word, v2.0!", ["the", "last", "word", "v2", "0"]),
        ("don't", ["don", "t"]),
        ("oceanbase-blue-116", ["oceanbase", "blue", "116"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("İSTANBUL \u0131s\u0131", ["istanbul", "isi"]),
        ("ΕΛΛΆΔΑ Ελλάδα Οδυσσεύς", ["ελλαδα", "ελλαδα", "οδυσσευσ"]),
        ("Ёлка елка", ["елка", "елка"]),
        ("Łódź Ærø", ["lodz", "aero"]),
        ("\uff21\uff22\uff23 \ufb01ne", ["abc", "fine"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("العَرَبِيَّة", ["العربية"]),
        ("", []),
        ("!!! *** \n", []),
        (" \u0301\u0301 \u093e\u093e a", ["a"]),
        (f"{'k' * 70} {'K' * 70}\u2019", ["k" * 64, "k" * 64]),
    ],
)
def test_words_are_folded(text, words):
    """Case, width, accents and points do not tell words apart; signs end them."""
    assert analysis.words(text) == words


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("東京都", {"東", "京", "都", "東京", "京都"}),
        ("ひらがな", {"ひら", "らが", "がな"}),
        ("한국어는", {"한국", "국어", "어는"}),
        ("ภาษาไทย", {"ภาษ", "าไท", "ไทย"}),
        ("memory東京", {"memory", "東京"}),
    ],
)
def test_scripts_without_blanks_become_pieces(text, pieces):
    """A part of an unspaced run is found without knowing its words."""
    assert pieces <= set(analysis.words(text))


@pytest.mark.parametrize("text", ["café", "Ångström", "한국어", "ガイド", "Tiếng Việt", "ﷺ"])
def test_normal_forms_are_one(text):
    """A text means the same in every normal form of Unicode."""
    forms = {
        tuple(analysis.words(unicodedata.normalize(form, text))) for form in ("NFC", "NFD", "NFKC")
    }
    assert len(forms) == 1


@pytest.mark.parametrize(
    ("words", "term"),
    [
        (("plan", "plans", "planned", "planning"), "plan"),
        (("story", "stories"), "stori"),
        (("bake", "bakes", "baked", "baking"), "bak"),
        (("boss", "bosses"), "boss"),
        (("status",), "status"),
        (("php8",), "php8"),
        (("größe",), "größe"),
    ],
)
def test_english_endings_come_off(words, term):
    """The forms of an English word are one term; what is not English stays."""
    assert {analysis.term(word) for word in words} == {term}


@given(st.text())
def test_placed_words_are_the_words(text):
    """The words of a passage are those of the index, and lie inside the text."""
    placed = list(analysis.placed_words(text))
    assert [word.text for word in placed] == analysis.words(text) or not text.isascii()
    assert sorted(word.text for word in placed) == sorted(analysis.words(text))
    assert all(0 <= word.start < word.end <= len(text) for word in placed)


@given(st.text(max_size=200))
def test_any_text_has_clean_words(text):
    """No word holds a blank or the bar that parts classes, so analysed words can be joined."""
    for word in analysis.words(text):
        assert word
        assert " " not in word
        assert "|" not in word
        assert len(word) <= analysis.MAX_WORD


def test_pieces_cross_no_word():
    """Pieces bind to one word, with its ends."""
    assert analysis.pieces("roses") == (" ros", "rose", "oses", "ses ")
    assert analysis.pieces("at") == (" at ",)
    assert analysis.pieces("東京") == ()


def test_frequent_words_say_less():
    """A word of every conversation weighs less than a rare one, a single sign less than a pair."""
    assert analysis.weight("want") < analysis.weight("design") < analysis.weight("kubernetes")
    assert analysis.weight("の") < analysis.weight("京") < analysis.weight("東京")
