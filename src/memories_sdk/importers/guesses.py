"""Guesses the type of a document that does not say it, from where it stands. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

_INSTRUCTIONS: Final = frozenset(
    ("agents", "claude", "copilot-instructions", "gemini", "memory", "conventions", "rules")
)
_KINDS: Final = {"user": "context", "feedback": "context", "project": "context"}
"""How agents' own memory folders call what is context here."""

_WORDS: Final = (
    ("plan", ("plan", "plans", "progress", "roadmap", "task", "tasks", "todo", "milestones")),
    ("examples", ("example", "examples", "sample", "samples", "snippet", "snippets")),
    ("context", ("context", "preferences", "style", "user", "voice", "glossary", "decisions")),
    ("documentation", ("archive", "brief", "creative", "patterns", "reference", "reflection")),
)
_LINK: Final = re.compile(
    r"^[ \t]*[-*+][ \t]+\[[^\]\n]*\]\((?:\./)?(?P<path>[^)\s]+\.md)\)"
    "(?:[ \t]*[\u2014\u2013:-]+[ \t]*(?P<hook>.+))?$",
    re.MULTILINE,
)


class Guess(NamedTuple):
    """A type, and what it was guessed from."""

    type: str
    reason: str


def guess_type(path: Sequence[str], user: Mapping[str, Any], types: Sequence[str]) -> Guess:
    """Return the type of a document.

    Args:
        path: The way to it, without the ending.
        user: Its front matter.
        types: Those that the shelf takes.
    """
    if len(path) > 1 and path[0] in types:
        return Guess(path[0], "the folder it is in")
    said = user.get("type")
    if isinstance(said, str) and said in types:
        return Guess(said, "its front matter")
    if isinstance(said, str) and _KINDS.get(said) in types:
        return Guess(_KINDS[said], f"its front matter, {said}")
    name = path[-1]
    if name.lower() in _INSTRUCTIONS and "context" in types:
        return Guess("context", "a file of instructions")
    words = _words(name)
    for type, telling in _WORDS:
        if type in types and (found := [each for each in words if each in telling]):
            return Guess(type, f"the word {found[-1]} in its name")
    return Guess("documentation" if "documentation" in types else types[0], "nothing better")


def index_of(text: str) -> dict[str, str]:
    """Return what an index such as MEMORY.md says of each file that it links to."""
    return {found["path"]: (found["hook"] or "").strip() for found in _LINK.finditer(text)}


def _words(name: str) -> list[str]:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+", " ", name)
    return parted.lower().split() + [
        each for each in ("brief", "context", "patterns") if name.lower().endswith(each)
    ]
