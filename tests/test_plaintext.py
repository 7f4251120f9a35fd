"""A body as one line: what a summary is derived from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories_sdk import plaintext
from memories_sdk.plaintext import MAX_READ, plain_text

PIECES = json.loads((Path(__file__).parent / "data/markdown/pieces.json").read_text())["items"]
FLAG = "\U0001f1eb\U0001f1f7"

LINES = [
    "# Release checklist",
    "## 1. Before `merging`",
    "Ask **the reviewer** about snake_case, 2 & 3 and *more*.",
    "See the [guide](https://host.example/guide_v2) and ![a chart](https://host.example/c.png)!",
    "- Update the changelog",
    "  - **Scope:** all of it",
    "* [x] tag with `git tag v1`",
    "1. first",
    "2. second",
    "   indented",
    "    code",
    "",
    "",
    "> quoted",
    "| a | b |",
    "|---|---|",
    "```py",
    "```",
    "---",
    "===",
    "#",
    "-",
    "**2.** *a* *b*c `x``y` __z__",
    "a [ref] and [text][ref]",
    "[ref]: https://host.example",
    "<b>bold</b> &amp; x<y",
]


def certain(text: str) -> str | None:
    """Return what the glance reads, of the whole text."""
    return plaintext._glance(text, len(text))


def parsed(text: str) -> str:
    """Return what the parser reads."""
    return plaintext._one_line(" ".join(plaintext._blocks(plaintext._parse(text, ""))))


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("# Heading\n\n- item", "Heading item"),
        ("Heading\n===\n\n1. one\n2. two", "Heading one two"),
        ("*a* **b** ***c*** _d_ ~~e~~ `f` \\*g\\*", "a b c d e f *g*"),
        ("[text](https://host.example 'title') and ![a *chart*](c.png)", "text and a chart"),
        ("[![build](b.png)](/b) go", "build go"),
        ("see <https://host.example/x> now", "see https://host.example/x now"),
        ("see https://host.example/x_y now", "see https://host.example/x_y now"),
        ("| a | b |\n|---|---|\n| **1** | `2` |", "a b 1 2"),
        ("- [x] done\n- [ ] open", "done open"),
        ("> quoted\n>> twice", "quoted twice"),
        ("> [!NOTE]\n> careful", "Note careful"),
        ("```py\nx = 1\n```\n\n    y = 2", "x = 1 y = 2"),
        ("a[^1] b\n\n[^1]: note", "a b note"),
        ("[text][r] [r]\n\n[r]: https://host.example", "text r"),
        ("Fish &amp; chips &copy; &#35; &nbsp;x", "Fish & chips © # x"),
        ("a  \nb\\\nc\td\u00a0e\u2028f", "a b c d e f"),
        ("", ""),
        (" \n\t\u00a0\n", ""),
        ("---\n***\n", ""),
    ],
)
def test_marks_go_and_words_stay(body: str, line: str) -> None:
    """What a reader would read aloud stays; what only shapes it goes."""
    assert plain_text(body) == line
    assert plain_text(body, limit=200) == line


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("<p>Ask <b>before</b> merging</p>", "Ask before merging"),
        ("Ask <b>before</b> merging<br>now", "Ask before merging now"),
        ("<ul><li>a</li><li>b</li></ul>", "a b"),
        ("<a title='x>y' href=/z>link</a> <my-tag>x</my-tag>", "link x"),
        ("<!-- draft -->Final text", "Final text"),
        ("Final <!-- draft --> text", "Final text"),
        ("<!-- never closed\n\nFinal text", ""),
        ("<script>run()</script>after", "after"),
        ("before <script>run()</script>after", "before after"),
        ("<STYLE>p {}\n\nq {}</STYLE>\nafter", "after"),
        ("a <style>b</style> c <style>d", "a c d"),
        ("a <script>b <b>c</b></script>d", "a d"),
        ("Use the <script> tag", "Use the tag"),
        ("Close </script> here", "Close here"),
        ("<?php run() ?>after", "after"),
        ("<!DOCTYPE html>\nafter", "after"),
        ("<![CDATA[x]]>after", "after"),
        ("<br><hr>", ""),
        ("<div>Fish &amp; chips</div>", "Fish & chips"),
        ("when x<y the loop ends", "when x<y the loop ends"),
        ("a < b > c, x<5>y", "a < b > c, x<5>y"),
        ("Vec<String> and run <name>", "Vec<String> and run <name>"),
        ("`<b>` is a tag", "<b> is a tag"),
    ],
)
def test_tags_go_and_what_only_looks_like_one_stays(body: str, line: str) -> None:
    """Elements of HTML, comments and scripts go; comparisons and type parameters stay."""
    assert plain_text(body) == line
    assert plain_text(body, limit=200) == line


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("---\ntitle: x\ntags: [a]\n---\n\n# Body", "Body"),
        ("\ufeff---\r\ntitle: x\r\n---\r\nBody", "Body"),
        ("---\ntitle: x\n...\nBody", "Body"),
        ("---\ntitle: x\n---\n", "title: x"),
        ("---\ntitle: x\n", "title: x"),
        ("---\n\nBetween two rules\n\n---\n\nafter", "Between two rules after"),
        ("---\nBetween two rules\n\n---\n\nafter", "Between two rules after"),
    ],
)
def test_front_matter_is_skipped_unless_it_is_all(body: str, line: str) -> None:
    """A summary tells what the document says, not how it is filed."""
    assert plain_text(body) == line
    assert plain_text(body, limit=200) == line


@pytest.mark.parametrize("body", ["a\x00b", "a\ud800b", "a\x01b\x7f", "a\x80b\x9f", "a\x00\x1bb"])
def test_characters_that_are_no_text_are_dropped(body: str) -> None:
    """Controls and lone surrogates leave no trace, from whichever door they come."""
    assert plain_text(body) == "ab"


def test_tags_go_before_the_cut() -> None:
    """The limit counts what is left, not what was written."""
    assert plain_text(f"<i>{'z' * 199}</i>yx", limit=200) == "z" * 199 + "y"


@pytest.mark.parametrize(
    ("body", "limit", "line"),
    [
        ("k" * 200, 200, "k" * 200),
        ("é" * 250, 200, "é" * 200),
        ("ab" + FLAG * 3, 5, "ab" + FLAG),
        ("a\U0001f468\u200d\U0001f469\u200d\U0001f467b", 5, "a"),
        ("words here", 0, ""),
        ("words here", -1, ""),
        ("one two", 4, "one"),
    ],
)
def test_the_limit_cuts_between_characters(body: str, limit: int, line: str) -> None:
    """A cut takes whole graphemes, at most as many code points as asked for."""
    assert plain_text(body, limit=limit) == line


def test_blanks_do_not_use_up_the_limit() -> None:
    """Runs of blanks count as the one that stays of them."""
    assert plain_text(f"a{' ' * 5000}b\n\nc{' ' * 900}d", limit=20) == "a b c d"


def test_the_search_for_words_goes_on_past_what_has_none() -> None:
    """A long comment or a list of link targets before the text does not empty a summary."""
    assert plain_text(f"<!--{'x' * 9000}-->\n\nText *here*", limit=9) == "Text here"
    targets = "".join(f"[t{n}]: https://host.example/{n}\n" for n in range(200))
    assert plain_text(f"{targets}\nText *here*", limit=9) == "Text here"


def test_a_mark_that_ends_late_is_still_a_mark() -> None:
    """Only a part of a long body is parsed, but no link is torn apart by it."""
    link = f"[text](https://host.example/{'x' * 300})"
    assert plain_text(f"{'word ' * 50}~ {link} {'more ' * 400}", limit=256).endswith("~ text")


def test_targets_defined_below_are_found() -> None:
    """A reference near the start is a link also when its target stands at the very end."""
    filling = "\n\nfilling *text*" * 500
    body = f"see [the guide][g], [this] and *that*[^n]{filling}\n\n[g]: /x\n[this]: /y\n[^n]: z\n"
    assert plain_text(body, limit=29) == "see the guide, this and that"


def test_what_is_past_the_first_part_keeps_its_marks() -> None:
    """Reading a whole text stays bounded: all words are there, the last ones as written."""
    line = plain_text("*a* " * (MAX_READ // 4) + "*end*")
    assert line.startswith("a a")
    assert line.endswith("a *end*")


@pytest.mark.parametrize(
    "piece", ["word ", "*a* ", "![", "[a](", "<b>", "- ", "> ", "[x]: y\n", "&"]
)
def test_a_long_body_costs_no_more_than_a_short_one(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a limit the parser sees a bounded part of a body, however long and hostile it is."""
    seen: list[int] = []
    parse = plaintext._READER.parse
    monkeypatch.setattr(
        plaintext._READER, "parse", lambda text, env: seen.append(len(text)) or parse(text, env)
    )
    assert len(plain_text(piece * ((1 << 20) // len(piece)), limit=200)) <= 200
    assert sum(seen) < 40_000


@pytest.mark.parametrize(
    "body",
    [
        "Plain words, with punctuation: a - b; (c) 5 > 3!\nand a second line",
        "# 1. Heading\n\nText with `code`, **bold**, *soft* and **Key:** value",
        "- a\n  - b\n* [ ] c\n1. d\n2) e",
        "[text](https://host.example/a_b?c=*d) ![chart](https://host.example)",
        "snake_case & x\r\nnext",
    ],
)
def test_a_glance_is_enough_for_simple_bodies(body: str) -> None:
    """The usual body never meets the parser, which takes ten times as long."""
    assert certain(body) == parsed(body)


@settings(deadline=None, max_examples=600)
@given(st.lists(st.sampled_from(LINES), max_size=6).map("\n".join), st.integers(0), st.data())
def test_a_glance_reads_as_the_parser_does(body: str, at: int, data: st.DataObject) -> None:
    """Whatever the glance is certain of, also after a character changed, the parser confirms."""
    place = at % (len(body) + 1)
    body = body[:place] + data.draw(st.sampled_from(PIECES)) + body[place + 1 :]
    body = body.replace("\x00", "")
    line = certain(body)
    assert line is None or line == parsed(body)


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(st.text(st.characters()), st.lists(st.sampled_from(PIECES)).map("".join)),
    st.integers(0, 60),
)
def test_any_text_becomes_one_bounded_line(body: str, limit: int) -> None:
    """Any text gives one line: single blanks, no controls, no more than the limit."""
    for line in (plain_text(body), plain_text(body, limit=limit)):
        assert line == " ".join(line.split())
        assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in line)
        line.encode()
    assert len(plain_text(body, limit=limit)) <= limit


@settings(deadline=None)
@given(st.text(st.characters(categories=["L", "Nd"]), max_size=300), st.integers(1, 300))
def test_plain_words_stay_as_they_are(words: str, limit: int) -> None:
    """Reading what was read changes nothing, unless the words happen to be marks."""
    line = plain_text(words, limit=limit)
    assert plain_text(line, limit=limit) == line


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from([line for line in LINES if line and line[0] not in "`<["]), min_size=20
    )
)
def test_the_beginning_reads_as_the_whole_does(blocks: list[str]) -> None:
    """Parsing only a part gives the words that parsing all of it begins with."""
    body = "\n\n".join(blocks)
    assert plain_text(body, limit=60) == plaintext.cut_graphemes(plain_text(body), 60).rstrip()


def test_lines_under_many_quotes_are_read_with_their_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """At each level the parser would look at each line: seconds for a summary of few words."""
    monkeypatch.setattr(plaintext, "_READER", None)
    body = "> " * 20 + "a\n" + "b\n" * 30_000
    assert plain_text(body, limit=60) == " ".join([*">" * 20, "a", *"b" * 9])
