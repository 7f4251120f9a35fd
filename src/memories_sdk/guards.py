"""The secret guard: tells credentials by their shape, and leaves the words about them alone. Pure.

A shape is a known prefix with enough behind it, a private key in armour, a signed token, a password
in an address or an assignment, or a run of characters that nobody would type. "Never mail a
password" is advice and no secret. Nothing here proves that a text is clean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from memories_sdk.characters import reveal


@dataclass(frozen=True, slots=True)
class Concern:
    """What a guard found in a text that is about to be stored.

    Attributes:
        kind: What it is, for a sentence: "an access key".
        field: Where: "name", "content", "summary" or "tags".
        shown: How it begins, never the whole of it; may be empty.
        certain: False where only the name of a credential stands, without one.
        refuse: Refuse the write on any shelf. By default only a guarded vocabulary refuses it, and
            any other takes it and reports.
    """

    kind: str
    field: str
    shown: str = ""
    certain: bool = True
    refuse: bool = False

    def __str__(self) -> str:
        return f"{self.field} seems to hold {self.kind}" + (
            f" ({self.shown})" if self.shown else ""
        )


def secrets(texts: Mapping[str, str]) -> list[Concern]:
    """Return a concern for each kind of secret in each of these texts, by field."""
    found = {(field, kind): shown for field, text in texts.items() for kind, shown in _in(text)}
    return [
        Concern(kind, field, shown, certain=kind != _NAME) for (field, kind), shown in found.items()
    ]


def contains_secret(text: str) -> bool:
    """Tell whether a text holds something in the shape of a credential."""
    return next(_in(text), None) is not None


_PREFIXED: Final = {
    # Lengths are the least that the issuers give out, or a little less.
    "sk-": "(?i:sk-(?:[a-z0-9_]{1,20}-){0,6}[a-z0-9_]{16,})",
    "akia": "AKIA[A-Z0-9]{16}(?![A-Za-z0-9])|akia(?=[a-z]{0,15}[0-9])[a-z0-9]{16}(?![a-z0-9])",
    "asia": "ASIA[A-Z0-9]{16}(?![A-Za-z0-9])",
    "gh": "gh[opsru]_[A-Za-z0-9]{20,}",
    "github_pat_": r"github_pat_\w{20,}",
    "gl": r"gl(?:agent|cbt|dt|ft|imt|pat|ptt|rt|soat)-[\w-]{16,}",
    "xox": r"xox[a-z]-[\w-]{10,}",
    "xapp-": r"xapp-\d-[\w-]{10,}",
    "hooks.slack.com/": r"hooks\.slack\.com/services/T\w+/B\w+/\w{16,}",
    "aiza": r"AIza[\w-]{35}",
    "ya29.": r"ya29\.[\w-]{20,}",
    "gocspx-": r"GOCSPX-[\w-]{20,}",
    "k_live_": "[prs]k_live_[A-Za-z0-9]{10,}",
    "k_test_": "[prs]k_test_[A-Za-z0-9]{10,}",
    "whsec_": "whsec_[A-Za-z0-9+/]{20,}",
    "sg.": r"SG\.[\w-]{16,}\.[\w-]{16,}",
    "npm_": "npm_[A-Za-z0-9]{30,}",
    "pypi-age": r"pypi-AgE[\w-]{20,}",
    "hf_": "hf_[A-Za-z0-9]{30,}",
    "gsk_": "gsk_[A-Za-z0-9]{30,}",
    "dop_v1_": "dop_v1_[a-f0-9]{40,}",
    "dckr_pat_": r"dckr_pat_[\w-]{20,}",
    "shp": "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "sq0": r"sq0[a-z]{3}-[\w-]{20,}",
    "lin_api_": "lin_api_[A-Za-z0-9]{30,}",
    "dapi": "dapi[a-f0-9]{32}",
    "atatt3": r"ATATT3[\w-]{20,}",
    "age-secret-key-": "AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    ":aa": r"[0-9]{8,10}:AA[\w-]{32,}",
}
_KEYS: Final = tuple(
    (hint, re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})")) for hint, pattern in _PREFIXED.items()
)
_SIGNED: Final = re.compile(r"(?<![\w-])eyJ[\w-]{7,}\.(?:[\w-]{10,}\.[\w-]{10,}|eyJ[\w-]{7,}\.)")
_ARMOUR: Final = re.compile("BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY")
_ADDRESS: Final = re.compile(
    r"(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,100}:([^\s/@]{3,200})@", re.IGNORECASE
)
_BEARER: Final = re.compile(r"(?:basic|bearer) +([\w.~+/-]{16,}=*)", re.IGNORECASE)

_NAME: Final = "the field of a credential"

# As programs spell it; "api key" with a blank is a word like any other.
_FIELDS: Final = tuple(
    f"{first}{sign}{last}"
    for first, last in (("api", "key"), ("access", "token"), ("auth", "token"))
    for sign in ("", "_", "-")
)
_FIELD: Final = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(_FIELDS)})(?![a-z0-9])")
_VALUE: Final = r"[\"']?(?P<sign> ?(?:=>|:=|=|:) ?| is )[\"']?(?P<value>[^\s\"',;]{6,200})"
_ASSIGNED: Final = tuple(
    (hint, re.compile(hint + rest + _VALUE))
    for hint, rest in (
        ("pass", "(?:code|phrase|word|wd)"),
        ("pwd", ""),
        ("secret", "(?:[ _-]?key)?"),
        ("token", ""),
        ("credential", "s?"),
        # Any other key may be one of music, of a map or of a table.
        *((kind, "[ _-]?key") for kind in ("access", "account", "api", "encryption", "private")),
    )
)
_PLACEHOLDER: Final = re.compile(
    r"[<$%{*\[(]|x{4}|\.{3}|changeme|env\b|example|password|placeholder|redacted|secret|token|vault"
    r"|your",
    re.IGNORECASE,
)
_NOT_RANDOM: Final = re.compile(r"https?://\S*|base64,\S*|sha(?:1|256|384|512)[-:]\S*")
"""An address, a picture in a text, the digest of a file: long and no secret."""

_PARTS: Final = re.compile(r"[^A-Za-z0-9]+")
_SIGNS: Final = frozenset("!#&*+?^~")
_HIDDEN: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""What nobody sees, and what would split a key for us and not for whoever copies it."""

_SHOWN: Final = 4
_SHORTEST: Final = 16
"""Least length of a key, in characters; shorter words are not looked at."""

_RANDOM: Final = 20
"""Least length of a run that is told to be random, in characters."""

_TURNS_IN_RANDOM: Final = 0.45
"""How often capitals, small letters and digits take turns in it; by chance it is 0.62."""

_TURNS_IN_VALUE: Final = 4


def _in(text: str) -> Iterator[tuple[str, str]]:
    """Yield each secret of a text as its kind and its beginning.

    Most texts hold none: a quick look for a few letters comes before each pattern.
    """
    if not text.isascii() and any(each in text for each in _HIDDEN):
        text = text.translate(dict.fromkeys(map(ord, _HIDDEN)))
    yield from _keys(" ".join(word for word in text.split() if len(word) >= _SHORTEST))
    yield from _named(text)
    if "PRIVATE KEY" in text and _ARMOUR.search(text):
        yield "a private key", ""
    if "://" in text and any(not _PLACEHOLDER.search(each) for each in _ADDRESS.findall(text)):
        yield "a password in an address", ""


def _keys(words: str) -> Iterator[tuple[str, str]]:
    """Yield what is a credential by itself."""
    small = words.lower()
    for hint, pattern in _KEYS:
        if hint in small:
            yield from (("an access key", _beginning(it[0])) for it in pattern.finditer(words))
    if "eyJ" in words and _SIGNED.search(words):
        yield "a signed token", "eyJ…"
    for word in words.split():
        if len(word) >= _RANDOM and _is_random(_NOT_RANDOM.sub(" ", word)):
            yield "a random text such as a key", _beginning(word)


def _named(text: str) -> Iterator[tuple[str, str]]:
    """Yield what is a credential by the name in front of it."""
    small = text.lower()
    if any(each in small for each in _FIELDS) and (field := _FIELD.search(small)):
        yield _NAME, field[0]
    if "bearer " in small or "basic " in small:
        yield from (("an access key", _beginning(it)) for it in _BEARER.findall(text) if _mixed(it))
    if len(small) != len(text):
        text = small  # some capitals have two small letters, which would shift the places
    for hint, pattern in _ASSIGNED:
        found = pattern.finditer(small) if hint in small else ()
        if any(_is_credential(text, match) for match in found):
            yield "a password or key", ""


def _is_credential(text: str, match: re.Match[str]) -> bool:
    """Tell whether what follows "password =" is one, and not a word about one."""
    value = text[slice(*match.span("value"))]
    if _PLACEHOLDER.search(value) or not _mixed(value):
        return False
    return "=" in match["sign"] or not _SIGNS.isdisjoint(value) or _turns(value) >= _TURNS_IN_VALUE


def _beginning(text: str) -> str:
    return f"{reveal(text[:_SHOWN])}…"


def _mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _is_random(word: str) -> bool:
    """Tell whether letters and digits change in a part as only chance would have them change."""
    return any(
        len(part) >= _RANDOM
        and not part.isalpha()
        and not part.islower()
        and not part.isupper()
        and _turns(part) / (len(part) - 1) >= _TURNS_IN_RANDOM
        for part in _PARTS.split(word)
    )


def _turns(text: str) -> int:
    """Return how often capitals, small letters and anything else take turns."""
    kinds = (2 * each.isupper() + each.islower() for each in text)
    return sum(one != other for one, other in pairwise(kinds))
