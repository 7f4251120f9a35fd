"""A markdown body as one line of plain text, as summaries and labels need it.

Every save derives a summary, so two readers share the work. A glance reads what most bodies begin
with: plain lines, headings, bullets and simple marks. Whatever it is not certain of goes to the
parser, which takes ten times as long; where both can read a text, they agree.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.common.utils import normalizeReference
from mdit_py_plugins.footnote import footnote_plugin

from memories_sdk.characters import cut_graphemes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markdown_it.utils import EnvType

MAX_NESTING: Final = 20
"""Levels of quotes and lists that are read. The cost of runs of `[` grows with it."""

MAX_READ: Final = 65_536
"""Characters of a body in which marks are understood."""

MAX_LAZY: Final = 60_000
"""Lines times levels of quotes that are read: at each level each line may go on with the quote."""

_LEAD: Final = 16_384
"""Characters after which the search for the first words of a text ends."""

_FRONT_MATTER: Final = re.compile(
    r"""---[ \t]*\r?\n
    ["'\w][^\n:]*:(?:[ \t\r][^\n]*)?\n  # a first key: two rules around a paragraph are none
    (?:[^\n]*\n)*?
    (?:---|\.\.\.)[ \t\r]*(?:\n|\Z)""",
    re.VERBOSE,
)


def plain_text(text: str, *, limit: int | None = None) -> str:
    """Read a markdown body as one line of text, without marks, tags and link targets.

    Link text, image labels, code and the addresses of autolinks stay, and so does what only looks
    like a tag (`x<y`, `Vec<String>`). Comments and what scripts and styles hold are left out, as
    is front matter unless there is nothing else.

    Args:
        text: Any text. What comes after its first `MAX_READ` characters keeps its marks.
        limit: Longest result in code points, cut between graphemes; the cost then depends on the
            limit and not on the length of the text. None reads the whole text.
    """
    head = text[:MAX_READ].removeprefix("\ufeff").replace("\x00", "")
    wanted = len(head) if limit is None else max(limit, 0)
    if quotes_cost_too_much(head):
        return cut_graphemes(_one_line(head[: 8 * wanted]), wanted).rstrip()
    front = _FRONT_MATTER.match(head, 0, _LEAD)
    line = _first_words(head[front.end() :] if front else head, wanted)
    if front and not line:
        line = _first_words(head, wanted)
    if limit is not None:
        return cut_graphemes(line, wanted).rstrip()
    return _one_line(f"{line} {text[MAX_READ:]}") if len(text) > MAX_READ else line


def lines_of(text: str) -> int:
    """Return how many line ends a text has, each kind of them."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def quotes_cost_too_much(text: str) -> bool:
    """Whether a few marks of quotes stand before so many lines that to parse them takes seconds."""
    lines = lines_of(text)
    if lines * MAX_NESTING <= MAX_LAZY or ">" not in text:
        return False
    deepest = max((it[0].count(">") for it in _QUOTES.finditer(text)), default=0)
    return lines * min(deepest, MAX_NESTING) > MAX_LAZY


_QUOTES: Final = re.compile(r"^[ \t>*+\-0-9.)]*>", re.MULTILINE)
"""The marks of quotes, and of lists between them, before the words of a line."""


def _first_words(text: str, wanted: int) -> str:
    """One line of more than WANTED characters, or of all that the text or its lead holds."""
    line = _glance(text, wanted)
    size = wanted + wanted // 2 + 64
    while line is None:
        lead = text[: _block_end(text, size)]
        line = _one_line(" ".join(_blocks(_parse(lead, text[len(lead) :]))))
        if len(line) > wanted or len(lead) == len(text) or size > _LEAD:
            break
        line = None
        size *= 4
    return line


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if line.isprintable():
        return line
    # The controls that are white space, such as tabs and separators, are left for split.
    return " ".join(_CONTROLS.sub("", text).split())


_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]")


_WORDS: Final = r"(?![-+=\#>:]|[0-9]{1,9}[.)](?:[ \t]|$))\S.*"
_BOX: Final = r"(?:\[[ xX]\][ ]+)?"
_LINE: Final = re.compile(
    rf"""(?P<blank>[ \t]*)$
    | [ ]{{0,3}}\#{{1,6}}[ \t]+(?P<heading>(?!.*\#[ \t]*$)\S.*)
    | [0-9]{{1,9}}[.)][ ]{{1,4}}{_BOX}(?P<number>{_WORDS})
    | [ ]{{0,3}}[-*+][ ]{{1,4}}{_BOX}(?P<bullet>{_WORDS})
    | [ ]{{0,3}}(?P<text>{_WORDS})""",
    re.VERBOSE,
)
"""A line whose kind is certain, whatever stands below it."""

_PLAIN: Final = r"[^\\`*_\[\]<&~|]"
_LABELLED: Final = rf"(?![\^!])({_PLAIN}+)\]\([a-z]+:[^\s\\`()\[\]<>]*\)"
# Each branch begins with its own character, so that the search skips all others at once.
_MARK: Final = re.compile(
    rf"""`(?![\s`])([^`]*[^\s`])`(?!`)
    | \*(?<!\*\*)(\*?)(?=[^\W_])({_PLAIN}*(?:[^\W_]|(?!\s){_PLAIN}(?=\*+(?:[ \t]|$))))\*\2(?!\*)
    | \[{_LABELLED}
    | !\[{_LABELLED}""",
    re.VERBOSE,
)
"""Code, emphasis and a link that are certain; their text is the last group."""

_SPECIAL: Final = re.compile(r"[\\`*_\[\]<&~|]")
_UNCERTAIN: Final = re.compile(r"[\\`*\[\]<~|]|&[#A-Za-z]|(?<![^\W_])_|_(?![^\W_])")


def _glance(text: str, wanted: int) -> str | None:
    """One line of more than WANTED characters or of the whole text; None takes the parser."""
    window = text[: 8 * wanted + 1000]
    whole = len(window) == len(text)
    if "\r" in window:
        window = window.replace("\r\n", "\n").replace("\r", "\n")
    lines = window.split("\n")
    torn = "" if whole else lines.pop()
    read: list[str] = []
    size, above = 0, "blank"
    for line in lines:
        match = _LINE.fullmatch(line)
        kind = match.lastgroup if match else None
        # Below a line of text a number is text too, unless that line belongs to a list.
        if not match or not kind or (kind == "number" and above == "text"):
            return None
        words = _without_marks(match[kind])
        if words is None:
            return None
        read.append(words)
        size += len(words)
        above = kind
        if size > wanted:
            break
    found = _one_line("\n".join(read))
    return found if len(found) > wanted or (len(read) == len(lines) and not torn) else None


def _without_marks(line: str) -> str | None:
    if not _SPECIAL.search(line):
        return line
    words: list[str] = []
    between: list[str] = []
    end = 0
    for mark in _MARK.finditer(line):
        between.append(line[end : mark.start()])
        words += between[-1], mark[mark.lastindex or 0]
        end = mark.end()
    between.append(line[end:])
    rest = " ".join(between)
    # The quick search first: it spares the careful one where all marks are read.
    if _SPECIAL.search(rest) and _UNCERTAIN.search(rest):
        return None
    return "".join([*words, between[-1]])


_BLOCK_END: Final = re.compile(r"\n[ \t]*(?=[\r\n#>|*+-]|[0-9]{1,9}[.)])")
_DEFINITION: Final = re.compile(r"\n {0,3}\[(\^?)([^\[\]\n]{1,200})\]:")
_TARGET: Final = {"href": "", "title": ""}


def _block_end(text: str, size: int) -> int:
    """Where a block seems to end next after SIZE characters, so that no mark is torn apart."""
    end = _BLOCK_END.search(text, size, size + 1000)
    return end.start() + 1 if end else size + 1000


def _parse(lead: str, rest: str) -> Sequence[Token]:
    """Parse the beginning of a text. The rest is only searched for what the lead refers to."""
    labels = _DEFINITION.findall(rest) if "[" in lead else []
    notes = {f":{label}": -1 for mark, label in labels if mark}
    links = {normalizeReference(label): _TARGET for mark, label in labels if not mark}
    env: EnvType = {"references": links, "footnotes": {"refs": notes, "list": {}}}
    return _READER.parse(lead, env)


def _blocks(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield token.content if token.children is None else inline_text(token.children)
        elif token.type in {"code_block", "fence"}:
            yield token.content
        elif token.type == "html_block":
            yield html.unescape(_HTML.sub(_instead_of_tag, token.content))


def inline_text(children: Sequence[Token]) -> str:
    """Return the words, code and labels of one block, without tags and what scripts hold."""
    words: list[str] = []
    left = Counter(child.content.lower() for child in children if child.type == "html_inline")
    hidden_until = ""
    for child in children:
        if child.type != "html_inline":
            words.append("" if hidden_until else _child_text(child))
            continue
        tag = child.content.lower()
        left[tag] -= 1
        if tag == hidden_until:
            hidden_until = ""
        elif not hidden_until:
            words.append(_HTML.sub(_instead_of_tag, child.content))
            # One that is never closed hides nothing: prose may speak of <script>.
            opened = _HIDING.match(tag)
            end = f"</{opened[1]}>" if opened else ""
            hidden_until = end if left[end] else ""
    return "".join(words)


def _child_text(child: Token) -> str:
    if child.type in {"hardbreak", "softbreak"}:
        return " "
    return inline_text(child.children or []) if child.type == "image" else child.content


_HIDING: Final = re.compile(r"<(script|style)\b")
_HTML: Final = re.compile(
    r"""<!--.*?(?:-->|\Z)
    | <(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)
    | <\?.*?(?:\?>|\Z) | <!\[CDATA\[.*?(?:\]\]>|\Z) | <![A-Z][^<>]*>
    | </?(?P<name>[A-Z][A-Z0-9-]*)(?:[^<>"']|"[^"<]*"|'[^'<]*')*+>""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_BREAKING: Final = frozenset({*block_names, "br", "pre", "textarea"})
_PHRASING_TAGS: Final = """
    a abbr acronym audio b bdi bdo big button canvas cite code data datalist del dfn em embed font i
    img input ins kbd label map mark math meter noscript object output picture progress q rp rt ruby
    s samp script select slot small source span strike strong style sub sup svg template time tt u
    var video wbr
"""
_PHRASING: Final = frozenset(_PHRASING_TAGS.split())


def _instead_of_tag(tag: re.Match[str]) -> str:
    """Nothing, or a blank where words end, or the tag itself when HTML has no such element."""
    name = (tag["name"] or "").lower()
    if name in _BREAKING:
        return " "
    return "" if not name or "-" in name or name in _PHRASING else tag[0]


class Markdown(MarkdownIt):
    """A parser that refuses no link: a refused one would leave its brackets and target as text."""

    # The name is the parser's.
    def validateLink(self, _url: str) -> bool:  # noqa: N802
        """Accept every destination; whoever shows it decides."""
        return True


def _reader() -> MarkdownIt:
    extensions = {"alerts": True, "strikethrough_single_tilde": True, "tasklists": True}
    reader = Markdown("commonmark", {"html": True, "maxNesting": MAX_NESTING, **extensions})
    reader.enable(["strikethrough", "table"]).use(footnote_plugin, inline=False)
    # Notes are read where they stand, and pieces of text need not be joined.
    reader.disable(["footnote_tail", "text_join"])
    reader.core.ruler.at("inline", _parse_marked)
    return reader


def _parse_marked(state: StateCore) -> None:
    """Parse the blocks that hold a mark; the others are text as they stand."""
    for token in state.tokens:
        if token.type == "inline" and _SPECIAL.search(token.content):
            token.children = []
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        elif token.type == "inline":
            token.children = None


_READER: Final = _reader()
