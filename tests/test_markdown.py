"""A body shows as HTML that runs nothing, loads nothing and says what it leaves out."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mdit_py_plugins.gfm_autolink import index

from memories_sdk import markdown
from memories_sdk.markdown import (
    MAX_BRACKETS,
    MAX_CLOSING,
    MAX_HTML,
    MAX_IMAGES,
    MAX_SOURCE,
    SafeHtml,
    render_safe,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from xml.etree.ElementTree import Element

DATA = Path(__file__).parent / "data" / "markdown"
PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="
JPEG = "data:image/jpeg;base64,/9j/4AAQSkZJRg=="
GIF = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
WEBP = "data:image/webp;base64,UklGRiIAAABXRUJQVlA4IA=="

# The rules again, in other words than the module's: what may stand in the HTML of a body.
ATTRIBUTES = {
    "a": {"class", "href", "id", "rel", "target", "title"},
    "code": {"class"},
    "div": {"class"},
    "hr": {"class"},
    "img": {"alt", "src"},
    "input": {"checked", "class", "disabled", "type"},
    "li": {"class", "id"},
    "ol": {"class", "start"},
    "p": {"class"},
    "section": {"class"},
    "span": {"class"},
    "sup": {"class"},
    "td": {"class"},
    "th": {"class"},
    "ul": {"class"},
}
BARE = "blockquote br em h1 h2 h3 h4 h5 h6 pre s strong table tbody thead tr"
VALUES = {
    "class": r"((mem|language|markdown-alert|footnotes?|(contains-)?task-list)\S*( |$))*",
    "href": r"https?://[^\s\\@/?#]+([/?#][^\s\\]*)?|mailto:[^\s\\]+|#mem-[a-zA-Z0-9]+-fn(ref)?[0-9-]+",
    "id": r"mem-[a-zA-Z0-9]+-fn(ref)?[0-9-]+",
    "rel": "noopener noreferrer nofollow",
    "src": r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]*=*",
    "start": "[0-9]+",
    "target": "_blank",
    "type": "checkbox",
}


def parsed(markup: str) -> Element:
    """Return the tree a browser makes of the HTML."""
    return html5lib.parseFragment(markup, treebuilder="etree", namespaceHTMLElements=False)


def elements(markup: str, tag: str) -> list[Element]:
    """Return the elements of one kind."""
    return parsed(markup).findall(f".//{tag}")


def shown(markup: str) -> str:
    """Return the text a reader sees."""
    return "".join(parsed(markup).itertext())


def offences(markup: str) -> Iterator[str]:
    """Name everything in the HTML that has no business there."""
    for element in list(parsed(markup).iter())[1:]:
        if not isinstance(element.tag, str):
            yield "comment"
        elif element.tag not in BARE.split() and element.tag not in ATTRIBUTES:
            yield f"<{element.tag}>"
        for name, value in element.attrib.items():
            if name not in ATTRIBUTES.get(element.tag, ()):
                yield f"<{element.tag} {name}>"
            elif name in VALUES and not re.fullmatch(VALUES[name], value, re.IGNORECASE):
                yield f"{name}={value!r}"


def items(file: str) -> list:
    """Return the payloads of a data file."""
    return json.loads((DATA / file).read_text())["items"]


@pytest.mark.parametrize("item", items("hostile.json"), ids=lambda item: item["id"])
def test_hostile_bodies_stay_harmless(item: dict[str, str]) -> None:
    """Whatever a body holds, alone or inside other blocks, its HTML keeps to the list."""
    body = item["markdown"]
    line = body.replace("\n", " ")
    for around in (
        body,
        f"see {body}",
        f"> {line}",
        f"- {line}",
        f"# {line}",
        f"|a|\n|-|\n|{line}|",
    ):
        assert list(offences(render_safe(around))) == [], around


@pytest.mark.parametrize("item", items("hostile_html.json"), ids=lambda item: item["id"])
def test_the_second_layer_holds_alone(item: dict[str, str]) -> None:
    """Should the first layer ever write something dangerous, the second stops it."""
    assert list(offences(markdown._SHIELD.clean(item["html"]))) == []


@pytest.mark.parametrize(
    "markup", ["<p onclick=x>", "<b>", "<!-- x -->", "<a href=/x>", '<p class="jp-x">', "<p id=x>"]
)
def test_the_list_of_these_tests_objects(markup: str) -> None:
    """The judge above is no rubber stamp."""
    assert list(offences(markup))


def test_no_one_else_makes_safe_html() -> None:
    """Text becomes SafeHtml only by being rendered."""
    with pytest.raises(TypeError, match="render_safe"):
        SafeHtml("<script>launch()</script>", object())


def test_its_repr_tells_no_secret() -> None:
    """The repr is short, stable and without text of the memory."""
    assert repr(render_safe("secret")) == "<SafeHtml of 14 characters>"


@pytest.mark.parametrize("body", ["", "   \n\t\n"])
def test_an_empty_body_shows_nothing(body: str) -> None:
    """Nothing in, nothing out."""
    assert render_safe(body).strip() == ""


def test_html_shows_as_text() -> None:
    """Tags in a body are read, not obeyed."""
    assert shown(render_safe("Use <b>bold</b>")).strip() == "Use <b>bold</b>"


@pytest.mark.parametrize("character", ["\x00", "\ud800", "\x01", "\x85", "\uffff", "\U0010fffe"])
def test_what_html_cannot_hold_is_replaced(character: str) -> None:
    """Controls and the like show as the replacement character, in every form of preview."""
    assert shown(render_safe(f"a{character}b")).strip() == "a\ufffdb"
    assert "a\ufffdb" in shown(render_safe(f"a{character}b" + "x" * MAX_SOURCE))
    assert "\x01" not in render_safe("a&#1;b")


@pytest.mark.parametrize(
    "address",
    [
        "https://host.example",
        "HTTP://host.example:8888/lab?x=1#frag",
        "http://[::1]:8080/",
        "https://host.example/@me",
        "mailto:me@host.example?subject=hi",
        "mailto:me@host.example?cc=you@host.example&body=a%0Ab&",
    ],
)
def test_ordinary_links_open_in_another_tab(address: str) -> None:
    """Web and mail addresses stay links, without a way back to the opener."""
    (link,) = elements(render_safe(f"[name]({address})"), "a")
    assert link.get("href").lower() == address.lower()
    assert link.get("target") == "_blank"
    assert link.get("rel") == "noopener noreferrer nofollow"


@pytest.mark.parametrize(
    "address",
    [
        "javascript:launch()",
        "data:text/html,x",
        "file:///etc/passwd",
        "//host.example",
        "/logout",
        "docs/a.md",
        "#heading",
        "#mem-other-fn1",
        "https://me@host.example",
        "https://me%40host.example",
        "https://host.example\u200b.example",
        "https://host.example:99999",
        "https://1.2.3.999",
        "https://[::1",
        "https://:80",
        "https://host.example/" + "x" * 4096,
        "mailto:me@host.example?attach=/etc/passwd",
        "mailto:me@host.example?subject=x&attachment=/etc/passwd",
        "mailto:me%0aBcc:you@host.example",
    ],
)
def test_refused_links_keep_their_text(address: str) -> None:
    """A link that may not be followed loses its destination, keeps its text and looks different."""
    (link,) = elements(render_safe(f'[name]({address} "title")'), "a")
    assert link.text == "name"
    assert link.get("class") == "mem-blocked"
    assert link.get("href") is None


def test_a_link_to_a_note_of_the_same_document_stays() -> None:
    """Only ids that the renderer makes can be linked to, and those stay inside the document."""
    (link,) = elements(render_safe("[name](#mem-w7-fn1)", prefix="w7"), "a")
    assert (link.get("href"), link.get("target")) == ("#mem-w7-fn1", None)


def test_a_link_keeps_its_title() -> None:
    """A title is text, whatever quotes it holds."""
    (link,) = elements(render_safe("[a](https://host.example '\"<b>&')"), "a")
    assert link.get("title") == '"<b>&'


def test_a_remote_image_is_not_loaded() -> None:
    """An image from elsewhere shows as its label and a link that asks for a click."""
    markup = render_safe("![A *chart*](https://host.example/c.png)")
    assert not elements(markup, "img")
    assert shown(markup).strip() == "[image: A chart] https://host.example/c.png"
    (link,) = elements(markup, "a")
    assert link.get("href") == "https://host.example/c.png"


def test_an_image_in_a_link_makes_no_link_of_its_own() -> None:
    """A badge stays one link: nested ones would fall apart in a browser."""
    (link,) = elements(render_safe("[![build](https://a.example)](https://b.example)"), "a")
    assert link.get("href") == "https://b.example"
    assert shown(render_safe("[![](https://a.example)](https://b.example)")).strip() == (
        "[image: no text]"
    )


@pytest.mark.parametrize("data", [PNG, JPEG, GIF, WEBP])
def test_an_attachment_shows(data: str) -> None:
    """An image of a known kind comes from the attachments, not from the network."""
    markup = render_safe("![a](attachment:my%20id)", attachments={"my id": data})
    (image,) = elements(markup, "img")
    assert (image.get("src"), image.get("alt")) == (data, "a")


@pytest.mark.parametrize(
    "data",
    [
        "https://host.example/x.png",
        "data:image/svg+xml;base64,PHN2Zy8+",
        "data:image/png;base64,PHN2Zy8+",
        "data:image/jpeg;base64,iVBORw0KGgo=",
        "data:image/webp;base64,UklGRiIAAABBVkkg",
        "data:image/png,iVBORw0KGgo=",
        "data:text/html;base64,iVBORw0KGgo=",
        "",
    ],
)
def test_an_attachment_is_what_its_content_says(data: str) -> None:
    """What is no image of the four kinds, by its first bytes, shows as its label."""
    markup = render_safe("![chart](attachment:x)", attachments={"x": data})
    assert not elements(markup, "img")
    assert shown(markup).strip() == "[image: chart]"


def test_images_share_a_bounded_room() -> None:
    """One document embeds so much and no more; what is over says so, and the text still shows."""
    large = PNG.removesuffix("==") + "A" * (MAX_IMAGES // 2)
    markup = render_safe("![one](attachment:x) ![two](attachment:x) end", attachments={"x": large})
    assert len(elements(markup, "img")) == 1
    assert shown(markup).strip() == "[image: two, too large to show] end"
    assert len(markup) < MAX_HTML


def test_a_source_over_the_limit_shows_as_plain_text() -> None:
    """The limit counts bytes of UTF-8; the text that shows is the text, under a notice."""
    body = "# é\n" + "é" * (MAX_SOURCE // 2 - 2)
    assert len(body.encode()) == MAX_SOURCE + 1
    (notice,) = elements(render_safe(body), "p")
    assert notice.get("class") == "mem-notice"
    assert "65,537 bytes" in notice.text
    assert elements(render_safe(body), "code")[0].text == body
    assert elements(render_safe(body[:-1]), "h1")


@pytest.mark.parametrize(
    "body",
    ["[" * (MAX_BRACKETS + 1), "![" * (MAX_BRACKETS + 1), "https://a.b/" + ")" * (MAX_CLOSING + 1)],
    ids=["links", "images", "an address"],
)
def test_a_source_of_brackets_alone_shows_as_plain_text(body: str) -> None:
    """What would cost the parser seconds is shown as it stands; ordinary links are links."""
    markup = render_safe(body)
    assert "more brackets" in elements(markup, "p")[0].text
    assert elements(markup, "code")[0].text == body
    many = "[a](https://a.b/c_(d)) " * 2_000
    assert len(elements(render_safe(many), "a")) == 2_000


@pytest.mark.parametrize(
    ("body", "excess"),
    [
        ("- a\n* b\n" * 5_100, "lines than"),
        ("> " * 20 + "a\n" + "b\n" * 4_000, "lines in its quotes"),
        ("- > " * 15 + "a\n" + "b\r" * 5_000, "lines in its quotes"),
        ("|a" * 600 + "|\n" + "|-" * 600 + "|\n" + "b\n" * 100, "cells in its tables"),
        ("> |a|b|c|d\n> -|-|-|-\n" + "> b\n" * 9_000, "cells in its tables"),
    ],
)
def test_a_source_that_grows_in_the_parser_shows_as_plain_text(body: str, excess: str) -> None:
    """Lines that count at each level, or in each column, cost far more than their bytes."""
    markup = render_safe(body)
    assert f"more {excess}" in elements(markup, "p")[0].text
    assert elements(markup, "code")[0].text == body.replace("\r", "\n")


def test_long_quotes_lists_and_tables_are_shown() -> None:
    """What people write stays far below those bounds."""
    assert len(elements(render_safe("> a\n" * 9_000), "blockquote")) == 1
    assert len(elements(render_safe("- a\r\n" * 9_000), "li")) == 9_000
    table = "|a|b|c|d|\n|-|-|-|-|\n" + "|1|2|3|4|\n" * 3_000
    assert len(elements(render_safe(table), "td")) == 12_000


class Reader:
    """Counts the characters that the plugin for bare addresses reads."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.read = 0
        self.scheme = index._PROTO_RE
        patch.setattr(index, "_PROTO_RE", self)
        for name in ("match_any_email", "match_http", "match_www"):
            patch.setattr(index, name, partial(self.match, getattr(index, name)))

    def search(self, text: str) -> re.Match[str] | None:
        """Seek a scheme at the end of a text, as the plugin does: from its beginning."""
        self.read += len(text)
        return self.scheme.search(text)

    def match(self, matching: Callable[..., object], text: str, *rest: object) -> object:
        """Seek the end of an address, which may be the next blank."""
        self.read += len(re.match(r"[^ \t\r\n\0\v\f]*", text)[0])
        return matching(text, *rest)


@pytest.mark.parametrize(
    "unit",
    [
        *("]:", "a:", "http:", "http://_ ", "data:text/html,", "www.", "mailto:", "mailto:a ("),
        *("(http://a<", "~www.a<", "(www.a_", "*xmpp:a@b/", "_https://a.b|", "~xmpp:"),
        *("http://a*<\xa0", "_www.a<\u2003", "http://a~<\x1c"),
    ],
)
def test_no_text_makes_the_search_for_addresses_long(
    monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    """What is read to find bare addresses stays in proportion to the text."""
    reader = Reader(monkeypatch)
    render_safe(unit * (MAX_SOURCE // len(unit)))
    assert reader.read <= 8 * MAX_SOURCE


def test_bare_addresses_become_links() -> None:
    """Wherever GitHub finds one: at the start, after a blank and after some marks."""
    body = (
        "www.a.b (http://a.b/c) *https://a.b?q=(x)* mailto:a@b.cd c@d.ef and ://a http: xhttp://a.b"
    )
    links = re.findall('href="([^"]+)"', str(render_safe(body)))
    assert links == [
        *("http://www.a.b", "http://a.b/c", "https://a.b?q=(x)"),
        *("mailto:a@b.cd", "mailto:c@d.ef"),
    ]


def test_plain_text_keeps_its_first_line_break() -> None:
    """A parser drops a line break that follows <pre>, so none may follow it."""
    body = "\n\n<b>" + "x" * MAX_SOURCE
    assert elements(render_safe(body), "code")[0].text == body


def test_html_over_the_limit_shows_as_plain_text() -> None:
    """A short source may not make a page of megabytes."""
    body = "[^a]" * 5_900 + "\n\n[^a]: x"
    markup = render_safe(body)
    assert "HTML has over 1,000,000 bytes" in elements(markup, "p")[0].text
    assert elements(markup, "code")[0].text == body


@pytest.mark.parametrize("character", ["&", "\u00a0", "<", '"', "\U0001f600"])
def test_plain_text_is_bounded_too(character: str) -> None:
    """Even a body of the largest size, escaped, stays within the limit and says what is missing."""
    markup = render_safe(character * (1 << 20))
    assert len(markup.encode()) <= MAX_HTML
    assert "the first 150,000 of 1,048,576 characters" in elements(markup, "p")[0].text


@pytest.mark.parametrize("mark", ["> ", "- ", "> - "])
def test_what_nests_too_deep_is_announced(mark: str) -> None:
    """The parser leaves out what is deeper than it goes; a reader is told."""
    markup = render_safe(mark * 25 + "deep")
    assert "deep" not in shown(markup).split("shown.")[1]
    assert elements(markup, "p")[0].get("class") == "mem-notice"


def test_ordinary_nesting_needs_no_notice() -> None:
    """Nine levels of lists show whole."""
    markup = render_safe("\n".join(f"{'  ' * level}- level {level}" for level in range(9)))
    assert "level 8" in shown(markup)
    assert "mem-notice" not in markup


@pytest.mark.parametrize("mark", ["*", "**", "~"])
def test_emphasis_does_not_nest_without_end(mark: str) -> None:
    """A browser rewrites what nests hundreds of levels; the text stays, the levels end."""
    body = f"{mark}a " * 900 + f"b{mark} " * 900
    markup = render_safe(body)
    assert shown(markup).count("a") == 900
    assert len(elements(markup, "em") + elements(markup, "strong") + elements(markup, "s")) <= 20


def test_code_keeps_its_language() -> None:
    """The first word after a fence is the class that a highlighter looks for."""
    (code,) = elements(render_safe('```c++ title="a"\nint x;\n```'), "code")
    assert (code.get("class"), "".join(code.itertext())) == ("language-c++", "int x;\n")


@pytest.mark.parametrize("info", ['x"onclick="y', "a/b", "-x", "x" * 33, "&quot;", ""])
def test_an_odd_language_is_dropped(info: str) -> None:
    """A class is built from word characters only."""
    (code,) = elements(render_safe(f"~~~ {info}\nx\n~~~"), "code")
    assert code.get("class") is None


def test_tables_align_by_class() -> None:
    """Alignment survives without style attributes."""
    markup = render_safe("| a | b | c | d |\n|:--|:-:|--:|---|\n| 1 | 2 | 3 | 4 |")
    sides = ["mem-left", "mem-center", "mem-right", None]
    assert [cell.get("class") for cell in elements(markup, "th")] == sides
    assert [cell.get("class") for cell in elements(markup, "td")] == sides


def test_task_boxes_are_inert() -> None:
    """A box shows its state and cannot be ticked."""
    boxes = elements(render_safe("- [x] done\n- [ ] open"), "input")
    assert [box.get("checked") for box in boxes] == ["", None]
    assert all(box.get("disabled") == "" and box.get("type") == "checkbox" for box in boxes)


def test_footnotes_find_each_other() -> None:
    """Each reference leads to its note and back; every id is there once."""
    markup = render_safe("a[^x] b[^x] c[^y]\n\n[^x]: one\n[^y]: two", prefix="w7")
    targets = [e.get("id") for e in parsed(markup).iter() if e.get("id")]
    notes = ["mem-w7-fn1", "mem-w7-fn2"]
    references = ["mem-w7-fnref1", "mem-w7-fnref1-1", "mem-w7-fnref2"]
    assert sorted(targets) == [*notes, *references]
    links = [link.get("href") for link in elements(markup, "a")]
    assert {link.removeprefix("#") for link in links} == set(targets)
    assert all(link.get("target") is None for link in elements(markup, "a"))


def test_ids_of_two_documents_never_meet() -> None:
    """A prefix of its own keeps each document's notes apart on one page."""
    ids = [
        {element.get("id") for element in parsed(render_safe("[^x]\n\n[^x]: y", prefix=p)).iter()}
        for p in ("a", "b")
    ]
    assert ids[0] & ids[1] == {None}


def test_no_link_holds_another() -> None:
    """A note or an image inside a link text never nests: nested links fall apart in a browser."""
    body = "[a[^x] ![i](https://c.example)](https://a.example) [![i](https://d.example)](/b)"
    body += "\n\n[^x]: y"
    for link in elements(render_safe(body), "a"):
        assert not link.findall(".//a")
    assert len(elements(render_safe(body), "a")) == render_safe(body).count("<a ")


@pytest.mark.parametrize("prefix", ["", "a-b", "a b", '"', "é", "a" * 41, "a\n"])
def test_other_prefixes_are_refused(prefix: str) -> None:
    """A prefix becomes part of attributes, so it is plain."""
    with pytest.raises(ValueError, match="prefix"):
        render_safe("x", prefix=prefix)


def test_threads_share_the_renderer() -> None:
    """Documents rendered at the same time do not mix."""
    bodies = [f"# {n}\n\n[l](https://host.example/{n}) x[^n]\n\n[^n]: {n}" for n in range(64)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(render_safe, bodies)) == [render_safe(body) for body in bodies]


PIECES = st.sampled_from(items("pieces.json"))


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(st.characters(), max_size=60), st.lists(PIECES, max_size=24).map("".join)))
def test_any_text_renders_within_the_list(body: str) -> None:
    """No text makes the renderer fail or write what the list forbids."""
    markup = render_safe(body)
    assert list(offences(markup)) == []
    assert "\x00" not in markup
    markup.encode()


SCHEMES = [
    "javascript:x",
    "java&Tab;script:x",
    "&#106;avascript:x",
    "JaVaScRiPt:x",
    "data:text/html,x",
    "vbscript:x",
    "//e.x",
    "data:image/svg+xml,x",
    "/logout",
    "https://u:p@h.x",
    "https://a.b\\@c",
    "http:\\\\a",
    "blob:x",
    "#x",
    "#mem-m-fn1",
    "?q",
    'https://a.b/"onclick="x',
    "ht\u200btps://a.b",
    "https:&#47;&#47;a.b",
    'mailto:a@b.c"x="y',
    "file:///x",
    "tel:1",
]
TAGS = [
    "script",
    "svg",
    "math",
    "style",
    "iframe",
    "img",
    "noscript",
    "template",
    "textarea",
    "form",
    "input",
    "base",
    "meta",
    "link",
    "object",
    "mglyph",
    "annotation-xml",
    "foreignObject",
    "animate",
    "plaintext",
    "select",
    "video",
    "use",
    "table",
    "a",
]
HANDLERS = [
    "onload=x",
    "onerror='x'",
    "href=javascript:x",
    "src=//e.x",
    "style=background:url(//e.x)",
    "id=document",
    "x",
    "name=cookie",
    "srcset='//e.x,1x'",
    "formaction=javascript:x",
    "class=jp-x",
    "slot=x",
    "data-commandlinker=x",
]
WRITTEN = [
    "<{0} {1}>",
    "</{0}/{1}>",
    "&lt;{0} {1}>",
    "<{0}\n{1}\n>",
    "<!--<{0} {1}>-->",
    "<{0} {1}",
]
PLACED = [
    *(
        "{tag}",
        "[{tag}]({url})",
        '[a](<{url}> "{tag}")',
        "![{tag}]({url})",
        "<{url}>",
        "{url} www.{tag}",
    ),
    *("[x]\n\n[x]: {url} '{tag}'\n", "```{tag}\n{tag}\n```\n", '~~~ a" {tag}\n{url}\n~~~\n'),
    *("[^{tag}]\n\n[^{tag}]: {url} {tag}\n", "|{tag}|{url}|\n|-|:-:|\n|{tag}|[a]({url})|\n"),
    *("[![{tag}]({url})]({url})", "> [!NOTE]\n> {tag} {url}\n", "- [ ] {tag}\n", "# {url} {tag}\n"),
]
ODD = [
    *"\u202e\u200b\x00\x0b\u2028\ufeff\\*_~`<>\"'&=",
    "\n\n",
    "    ",
    "&#0;",
    "]]>",
    "-->",
    "\ud800",
]
PIECES = st.builds(
    lambda place, tag, handler, written, url: place.format(
        tag=written.format(tag, handler), url=url
    ),
    *map(st.sampled_from, (PLACED, TAGS, HANDLERS, WRITTEN, SCHEMES)),
)
CUTS = st.lists(st.tuples(st.integers(0, 400), st.sampled_from(ODD) | st.just("")), max_size=5)


@settings(max_examples=400)
@given(pieces=st.lists(PIECES, min_size=1, max_size=4), cuts=CUTS)
def test_no_mixture_of_known_attacks_leaves_the_list(
    pieces: list[str], cuts: list[tuple[int, str]]
) -> None:
    """Known kinds of payload, mixed, nested, torn and mended, still show nothing that acts."""
    body = "".join(pieces)
    for place, odd in cuts:
        body = body[:place] + odd + body[place + (not odd) :]
    assert list(offences(render_safe(body))) == [], body
