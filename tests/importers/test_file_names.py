"""File names: valid on every system, one for each name, and back."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories_sdk.fields import normal_name
from memories_sdk.importers.file_names import distinct, folded, name_of, stem_of

AWKWARD = [
    *("CON", "con.md", "NUL", "COM1", "LPT9", "AUX.txt", "a.", ".hidden", "-rf", 'a*?<>|"'),
    *("...", "a/b", "../../etc/passwd", "C:\\x", "%41", "100%", "x\u202egpj.elif", "ad\u200bmin"),
    *("😀" * 40, "a" * 200, "é" * 200, "~", "con", "Con.", "a\u00a0b", "\u3000x\u3000y"),
]
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
names = st.text(min_size=1, max_size=200).filter(
    lambda text: (
        text.strip()
        and not any(unicodedata.category(each) in {"Cc", "Cs", "Zl", "Zp"} for each in text)
    )
)


def check(name: str) -> None:
    """Assert that a name gets a stem that every system takes."""
    stem = stem_of(name)
    assert stem
    assert not set(stem) & set('<>:"/\\|?*\0')
    assert all(each == " " or each.isprintable() for each in stem)
    assert stem[0] not in ". "
    assert stem[-1] not in ". "
    assert not RESERVED.match(stem)
    assert len(f"{stem}~99.md".encode()) <= 200


@pytest.mark.parametrize("name", AWKWARD, ids=lambda name: f"{name[:8]!a}-{len(name)}")
def test_an_awkward_name_gets_a_file(name: str) -> None:
    """No path is left, nothing invisible, and nothing that one of the systems refuses."""
    check(name)


@given(names)
def test_any_name_gets_a_file_and_comes_back(name: str) -> None:
    """The stem tells the name, unless it had to be cut: then it ends with a digest."""
    name = normal_name(name)
    check(name)
    stem = stem_of(name)
    assert name_of(stem) == name or re.search("~[0-9a-f]{8}$", stem)


@given(names)
def test_any_stem_is_a_name(stem: str) -> None:
    """Whatever somebody calls a file can be read back."""
    assert name_of(stem)


@pytest.mark.parametrize(
    "pair", [("Plan", "plan"), ("a/b", "a_b"), ("a:b", "a_b"), ("x.", "x"), ("ﬁle", "FILE")]
)
def test_two_names_never_share_a_file(pair: tuple[str, str]) -> None:
    """Also where the system does not tell capital from small letters."""
    taken: set[str] = set()
    for name in pair:
        taken.add(folded(distinct(stem_of(name), taken.__contains__)))
    assert len(taken) == 2
