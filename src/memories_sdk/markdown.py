"""A markdown body as HTML that is safe to show.

It passes two independent layers. The first makes nothing dangerous: raw HTML is off, so it shows
as text, and rules of ours write links and images. The second, one shared `nh3.Cleaner`, lets
through exactly what the first writes. Parsing itself stays CommonMark with GitHub's extensions:
what the policy refuses loses its destination, never its text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Self, TypeAlias
from urllib.parse import unquote

import nh3
from markdown_it.common.utils import escapeHtml, unescapeAll
from mdit_py_plugins.gfm import gfm_plugin

from memories_sdk.characters import cut_graphemes, reveal
from memories_sdk.highlighting import KINDS, parts_of
from memories_sdk.plaintext import (
    MAX_NESTING,
    Markdown,
    inline_text,
    lines_of,
    plain_text,
    quotes_cost_too_much,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import EnvType

    _Rule: TypeAlias = Callable[[Token, "_Page"], str]

__all__ = ["SafeHtml", "cut_graphemes", "plain_text", "render_safe", "reveal"]

MAX_SOURCE: Final = 64 * 1024
"""Largest source that is rendered, in bytes of UTF-8; a longer one shows as plain text."""

MAX_HTML: Final = 1_000_000
"""Largest HTML that is shown, in bytes of UTF-8."""

MAX_IMAGES: Final = 750_000
"""Room for embedded images in one document, in characters, so that `MAX_HTML` leaves some text."""

MAX_COLOURED: Final = 20_000
"""Characters of code in one document whose parts are told apart; each may bring a tag."""

MAX_PLAIN: Final = 150_000
"""Characters shown of a plain text: at six bytes each, the longest escape, they fit `MAX_HTML`."""

MAX_URL: Final = 4096

MAX_BRACKETS: Final = 6_000
"""Opening brackets that are parsed: each may begin a link, whose end is sought."""

MAX_LINES: Final = 10_000
"""Lines that are parsed: each may be a block of its own, which costs what a long one does."""

MAX_CELLS: Final = 25_000
"""Cells of tables that are shown: a short row gets all that its heading has."""

MAX_CLOSING: Final = 10_000
"""Closing parentheses that are parsed in one word: the end of an address is sought among them."""

MAX_SOUGHT: Final = 4 * MAX_SOURCE
"""Characters of one document in which the ends of bare addresses are sought."""

_NO_HTML: Final = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
    )
    + "]"
)
"""Characters that a parser of HTML reports as errors."""

_SEAL: Final = object()


class SafeHtml(str):
    """HTML that passed both layers: only this module holds the seal that its making takes."""

    __slots__ = ()

    def __new__(cls, markup: str, seal: object) -> Self:
        """Refuse whoever does not hold the seal."""
        if seal is not _SEAL:
            raise TypeError("SafeHtml comes from render_safe alone")
        return super().__new__(cls, markup)

    def __repr__(self) -> str:
        """Tell the size alone: no text of a memory gets into a log."""
        return f"<SafeHtml of {len(self):,} characters>"


def render_safe(
    text: str, *, prefix: str = "m", attachments: Mapping[str, str] | None = None
) -> SafeHtml:
    """Render a markdown body as HTML that runs nothing and loads nothing.

    A source over `MAX_SOURCE`, one of brackets or of line ends and little else, one whose quotes or
    tables grow far beyond their text, or a result over `MAX_HTML` shows as plain text under a
    notice. A notice also says when deep nesting hides something.

    Args:
        text: Any text; what no HTML may hold shows as the replacement character: controls,
            noncharacters and lone surrogates.
        prefix: Makes the ids of this document unique on its page: 1 to 40 ASCII letters or digits.
        attachments: Data URLs of PNG, JPEG, GIF or WebP images by attachment id. An image whose
            source is `attachment:<id>` shows that one; any other image shows its label.

    Raises:
        ValueError: The prefix has another form.
    """
    if not re.fullmatch(r"[A-Za-z0-9]{1,40}", prefix):
        raise ValueError(f"prefix must be 1 to 40 ASCII letters or digits, not {prefix!r}")
    text = _NO_HTML.sub("\ufffd", text)
    size = len(text.encode())
    if size > MAX_SOURCE:
        return _as_plain(text, f"it has {size:,} bytes, and a preview ends at {MAX_SOURCE:,}")
    if excess := _excess(text):
        return _as_plain(text, f"it has more {excess} than a preview reads")
    env = {"page": _Page(prefix, attachments or {})}
    tokens = _WRITER.parse(text, env)
    markup = _WRITER.renderer.render(tokens, _WRITER.options, env)
    if _hides_something(tokens):
        markup = _notice("Some of this is nested too deep to be shown.") + markup
    markup = _NO_HTML.sub("\ufffd", _SHIELD.clean(markup))  # entities can name such characters too
    # The second layer knows hosts better: of an address with none it leaves a link to nowhere.
    markup = markup.replace('<a target="_blank"', '<a class="mem-blocked"')
    if len(markup.encode()) > MAX_HTML:
        return _as_plain(text, f"its HTML has over {MAX_HTML:,} bytes")
    return SafeHtml(markup, _SEAL)


def _excess(text: str) -> str:
    """Name what a text has so much of that to show it would take seconds; nothing as a rule."""
    if text.count("[") > MAX_BRACKETS or (
        text.count(")") > MAX_CLOSING
        and any(word.count(")") > MAX_CLOSING for word in text.split())
    ):
        return "brackets"
    if lines_of(text) > MAX_LINES:
        return "lines"
    if quotes_cost_too_much(text):
        return "lines in its quotes"
    return "cells in its tables" if "|" in text and _cells(text) > MAX_CELLS else ""


_OF_DELIMITERS: Final = "-|: \t>*+.)0123456789"
"""What a line may hold that stands below the heading of a table, be it in a quote or a list."""

_DASHES: Final = re.compile("-+")


def _cells(text: str) -> int:
    """Return how many cells the tables of a text may have at most."""
    cells = columns = 0
    for line in text.splitlines():
        if not line.strip(" \t>"):
            columns = 0
        elif "|" in line and not line.strip(_OF_DELIMITERS):
            columns = max(columns, len(_DASHES.findall(line)))
        cells += columns
    return cells


def _as_plain(text: str, reason: str) -> SafeHtml:
    notice = f"Shown as plain text: {reason}."
    if len(text) > MAX_PLAIN:
        notice += f" These are the first {MAX_PLAIN:,} of {len(text):,} characters."
    # Without <code> a parser would drop a newline that follows <pre>.
    markup = f"<pre><code>{escapeHtml(text[:MAX_PLAIN])}</code></pre>"
    return SafeHtml(_SHIELD.clean(_notice(notice) + markup), _SEAL)


def _notice(sentence: str) -> str:
    return f'<p class="mem-notice">{sentence}</p>\n'


def _hides_something(tokens: Sequence[Token]) -> bool:
    """Whether the parser left content out: it then ends a block of the last level at once."""
    return any(
        token.level >= MAX_NESTING - 1 and token.nesting == 1 and following.nesting == -1
        for token, following in pairwise(tokens)
    )


_LINK: Final = re.compile(
    r"""https?://[^\s/?\#@\\]+(?:[/?\#][^\s\\]*)?
    | mailto:(?![^?]*%[01])[^\s?\#@\\]+@[^\s?\#@\\]+
      (?:\?(?:(?:subject|body|cc|bcc)=[^\s\\&]*(?:&|$))*)?""",
    re.IGNORECASE | re.VERBOSE,
)
"""An address that may be opened.

One with a user before the host reads as another host. A mail takes no file along from an address,
and no further line of its head.
"""

_ID: Final = re.compile(r"mem-[A-Za-z0-9]{1,40}-fn(?:ref)?[0-9]{1,6}(?:-[0-9]{1,6})?")
_FRAGMENT: Final = re.compile(f"#{_ID.pattern}")
_LANGUAGE: Final = re.compile(r"[^\W_][\w+.#-]{0,31}")
_IMAGE: Final = re.compile(
    r"data:image/(?:png;base64,iVBORw0KGgo|jpeg;base64,/9j/|gif;base64,R0lGOD"
    r"|webp;base64,UklGR[g-v][A-Za-z0-9+/]{5}XRUJQ)[A-Za-z0-9+/]{0,1000000}={0,2}"
)
"""An embedded image. Each type begins with its own first bytes, so that the content decides."""


@dataclass(slots=True)
class _Page:
    """What the rules below know of the document they write, and where they are in it."""

    prefix: str
    attachments: Mapping[str, str]
    room: int = MAX_IMAGES
    code: int = MAX_COLOURED
    sought: int = 0
    in_link: bool = False


def _may_open(url: str) -> bool:
    return len(url) <= MAX_URL and _LINK.fullmatch(url) is not None


def _link_open(token: Token, page: _Page) -> str:
    page.in_link = True
    url = str(token.attrGet("href"))
    if _may_open(url):
        target = ' target="_blank"'
    elif url.startswith(f"#mem-{page.prefix}-fn") and _FRAGMENT.fullmatch(url):
        target = ""
    else:
        return '<a class="mem-blocked">'
    title = f' title="{escapeHtml(str(token.attrGet("title")))}"' if "title" in token.attrs else ""
    return f'<a href="{escapeHtml(url)}"{target}{title}>'


def _link_close(_token: Token, page: _Page) -> str:
    page.in_link = False
    return "</a>"


def _image(token: Token, page: _Page) -> str:
    source = str(token.attrGet("src"))
    label = escapeHtml(inline_text(token.children or [])) or "no text"
    scheme, _, name = source.partition(":")
    data = page.attachments.get(unquote(name), "") if scheme == "attachment" else source
    if _IMAGE.fullmatch(data):
        if len(data) <= page.room:
            page.room -= len(data)
            return f'<img src="{data}" alt="{label}">'
        label += ", too large to show"
    shown = f'<span class="mem-image">[image: {label}]</span>'
    if page.in_link or not _may_open(source):
        return shown
    address = escapeHtml(source[:120])
    return f'{shown} <a href="{escapeHtml(source)}" target="_blank">{address}</a>'


def _fence(token: Token, page: _Page) -> str:
    language = "".join(unescapeAll(token.info).split(maxsplit=1)[:1])
    mark = f' class="language-{language}"' if _LANGUAGE.fullmatch(language) else ""
    code = token.content
    if not mark or len(code) > page.code:
        return f"<pre><code{mark}>{escapeHtml(code)}</code></pre>\n"
    page.code -= len(code)
    shown = "".join(
        f'<span class="mem-{kind}">{escapeHtml(text)}</span>' if kind else escapeHtml(text)
        for kind, text in parts_of(code, language)
    )
    return f"<pre><code{mark}>{shown}</code></pre>\n"


def _cell_open(token: Token, _page: _Page) -> str:
    side = str(token.attrGet("style") or "").removeprefix("text-align:")
    return f'<{token.tag} class="mem-{side}">' if side else f"<{token.tag}>"


def _emphasis(token: Token, _page: _Page) -> str:
    # Nothing else bounds emphasis: 64 KB of it nest thousands of levels, which browsers rewrite.
    if token.level >= MAX_NESTING:
        return ""
    return f"</{token.tag}>" if token.nesting < 0 else f"<{token.tag}>"


def _footnote_ref(token: Token, page: _Page) -> str:
    number, note, reference = _footnote(token, page)
    link = f'<a href="#{note}" id="{reference}">[{number}]</a>'
    return f'<sup class="footnote-ref">{link}</sup>'


def _footnote_open(token: Token, page: _Page) -> str:
    return f'<li id="{_footnote(token, page)[1]}" class="footnote-item">'


def _footnote_anchor(token: Token, page: _Page) -> str:
    # The variation selector keeps the arrow from showing as an emoji.
    return f' <a href="#{_footnote(token, page)[2]}" class="footnote-backref">\u21a9\ufe0e</a>'


def _footnote(token: Token, page: _Page) -> tuple[int, str, str]:
    """Number of a footnote, its id, and the id of the reference meant by TOKEN."""
    number, again = token.meta["id"] + 1, token.meta.get("subId", 0)
    stem = f"mem-{page.prefix}-fn"
    return number, f"{stem}{number}", f"{stem}ref{number}" + (f"-{again}" if again else "")


_RULES: Final[Mapping[str, _Rule]] = {
    "fence": _fence,
    "footnote_anchor": _footnote_anchor,
    "footnote_open": _footnote_open,
    "footnote_ref": _footnote_ref,
    "image": _image,
    "link_close": _link_close,
    "link_open": _link_open,
    **dict.fromkeys(("td_open", "th_open"), _cell_open),
    **{f"{kind}_{side}": _emphasis for kind in ("em", "s", "strong") for side in ("open", "close")},
}


_BARE: Final = re.compile(r"(?:https?(?=://)|mailto(?=:)|xmpp(?=:)|www(?=\.))[^ \t\r\n\0\v\f]*")
"""What may be a bare address, to what the plugin takes for a blank: so far it reads."""

_BEFORE_BARE: Final = frozenset(" \t\r\n*_~(")


def _seek_address(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 -- the parser's form
    """Take a character that begins no bare address, before the plugin looks at it.

    At each colon the plugin reads all text since the last mark, and at each address it may begin
    all up to the next blank: hostile text would cost the square of its length.
    """
    mark = state.src[state.pos : state.pos + 1]
    if mark not in {":", "w"}:
        return False
    if not silent:
        scheme = "" if mark == "w" else _scheme(state.pending)
        if _may_begin(state, state.pos - len(scheme)):
            state.pending = state.pending.removesuffix(scheme)
            if state.pending:
                state.pushPending()
            state.pending = scheme
            return False
        state.append_pending(mark)
    state.pos += 1
    return True


def _scheme(text: str) -> str:
    return next((each for each in ("https", "http", "mailto", "xmpp") if text.endswith(each)), "")


def _may_begin(state: StateInline, place: int) -> bool:
    page: _Page = state.env["page"]
    if page.sought > MAX_SOUGHT or (place > 0 and state.src[place - 1] not in _BEFORE_BARE):
        return False
    address = _BARE.match(state.src, place, state.posMax)
    if address:
        page.sought += len(address[0])
    return address is not None


def _writer() -> MarkdownIt:
    options = {"html": False, "maxNesting": MAX_NESTING, "typographer": False, "xhtmlOut": False}
    writer = Markdown("commonmark", options).use(gfm_plugin)
    writer.inline.ruler.before("gfm_autolink_www", "seek_address", _seek_address)
    for name, rule in _RULES.items():
        writer.add_render_rule(name, _as_render_rule(rule))
    return writer


def _as_render_rule(rule: _Rule) -> Callable[..., str]:
    def render(
        _renderer: object, tokens: Sequence[Token], place: int, _options: object, env: EnvType
    ) -> str:
        return rule(tokens[place], env["page"])

    return render


_WRITER: Final = _writer()

_CHECKS: Final[Mapping[tuple[str, str], Callable[[str], object]]] = {
    ("a", "href"): lambda url: _may_open(url) or _FRAGMENT.fullmatch(url),
    ("a", "id"): _ID.fullmatch,
    ("code", "class"): re.compile(f"language-{_LANGUAGE.pattern}").fullmatch,
    ("img", "src"): _IMAGE.fullmatch,
    ("li", "id"): _ID.fullmatch,
    ("ol", "start"): re.compile("[0-9]{1,9}").fullmatch,
}


def _checked(tag: str, name: str, value: str) -> str | None:
    """Keep an attribute's value or drop it. Nothing here can raise."""
    check = _CHECKS.get((tag, name))
    return value if check is None or check(value) else None


_KEPT: Final = """
    a blockquote br code div em h1 h2 h3 h4 h5 h6 hr img input li ol p pre s section span strong sup
    table tbody td th thead tr ul
"""
_DROPPED_WHOLE: Final = """
    applet audio canvas embed head iframe math noembed noframes noscript object plaintext script
    select style svg template textarea title video xmp
"""
_ALERTS: Final = ("note", "tip", "important", "warning", "caution")
_SHIELD: Final = nh3.Cleaner(
    tags=set(_KEPT.split()),
    clean_content_tags=set(_DROPPED_WHOLE.split()),
    attributes={
        "*": set(),  # without it nh3 lets title and lang stay on every element
        "a": {"href", "id", "title"},
        "code": {"class"},
        "img": {"alt", "src"},
        "input": {"checked"},
        "li": {"id"},
        "ol": {"start"},
    },
    attribute_filter=_checked,
    allowed_classes={
        "a": {"footnote-backref", "mem-blocked"},
        "div": {"markdown-alert", *(f"markdown-alert-{kind}" for kind in _ALERTS)},
        "hr": {"footnotes-sep"},
        "input": {"task-list-item-checkbox"},
        "li": {"footnote-item", "task-list-item"},
        "ol": {"contains-task-list", "footnotes-list"},
        "p": {"markdown-alert-title", "mem-notice"},
        "section": {"footnotes"},
        "span": {"mem-image", *(f"mem-{kind}" for kind in KINDS)},
        "sup": {"footnote-ref"},
        "td": {"mem-center", "mem-left", "mem-right"},
        "th": {"mem-center", "mem-left", "mem-right"},
        "ul": {"contains-task-list"},
    },
    id_prefix="mem-",
    link_rel="noopener noreferrer nofollow",
    # A checkbox that cannot be an input of another type, whatever the markup says.
    set_tag_attribute_values={"input": {"type": "checkbox", "disabled": ""}},
    strip_comments=True,
    tag_attribute_values={"a": {"target": {"_blank"}}},
    url_relative=lambda url: url if _FRAGMENT.fullmatch(url) else None,
    url_schemes={"data", "http", "https", "mailto"},
)
"""The second layer. One cleaner serves all threads."""
