"""How a refusal is told: one line, or JSON, on the error output, and an exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from memories_sdk.characters import reveal
from memories_sdk.errors import (
    AccessDenied,
    Conflict,
    InvalidInput,
    MemoriesError,
    NotFound,
    StorageError,
    UnknownType,
)
from memories_sdk.wire import error_details

EXIT_CODES: Final = {
    0: "done",
    1: "refused for a reason that has no code of its own here",
    2: "the call cannot be carried out as it is written",
    3: "not there, or not yours",
    4: "you may not act as that principal",
    5: "the stored state does not allow it any more: a stale version, a name that is taken",
    6: "the database could not do it; nothing was written",
    7: "done in part, or damage was found: the answer says what",
    130: "interrupted; what was reported as written stays",
}
USAGE: Final = 2
PARTLY: Final = 7
INTERRUPTED: Final = 130
_CODES: Final = (
    (InvalidInput, USAGE),
    (NotFound, 3),
    (AccessDenied, 4),
    (Conflict, 5),
    (StorageError, 6),
    (MemoriesError, 1),
    (FileNotFoundError, 3),  # behind ours: some of them are OSErrors too
    (OSError, USAGE),
)

ADVICE: Final = {
    "list() shows what is on this shelf.": "memories list shows what is here.",
    "deleted() lists what can return.": "memories history shows what was deleted.",
    "store.agents.owned_by(principal) lists the agents of a principal.": (
        "memories agents list shows them."
    ),
    "store.tokens.all() lists them.": "memories token list shows them.",
    "store.principals.visible_to(caller) lists the principals it may act as.": (
        "memories principals list shows whom you may act as."
    ),
    "Follow next_cursor for more.": "Follow --cursor for more.",
    "history(id=…) lists the versions that can be restored.": (
        "memories history shows the versions that can be restored."
    ),
    "Name the version to go back to; history(id=…) lists them.": (
        "Add --version, the one to go back to; memories history shows them."
    ),
    "Name another folder, or choose to overwrite files of the same name.": (
        "Name another folder, or add --overwrite."
    ),
    "Name another file, or choose to overwrite it.": "Name another file, or add --overwrite.",
    "Look whether the folder is complete, then allow deletions.": (
        "Look whether the folder is complete, then add --allow-deletions."
    ),
    "If that was interrupted, choose to resume it.": "If that was interrupted, add --resume.",
    'Name the prefix of the site, such as "wp_".': "Add --prefix, such as --prefix wp_.",
}
"""What to do in words of the command line, where a suggestion speaks of Python."""


def refuse(error: Exception, *, as_json: bool) -> int:
    """Tell a refusal and return its exit code."""
    message = one_line(getattr(error, "message", str(error)))
    if isinstance(error, MemoriesError):
        advice = one_line(ADVICE.get(error.suggestion, error.suggestion))
        if isinstance(error, UnknownType):
            advice = near(error.value, error.allowed) or advice
        _tell(
            *(error.code, message, advice),
            as_json=as_json,
            retryable=error.retryable,
            details=error_details(error),
        )
    else:
        code = "not_found" if isinstance(error, FileNotFoundError) else "file"
        _tell(code, _of_file(error), "", as_json=as_json)
    return exit_code(error)


def misused(message: str, command: str) -> None:
    """Tell in JSON that a call does not follow the help of its command."""
    _tell("usage", one_line(message), f"{command} --help", as_json=True)


def exit_code(error: BaseException) -> int:
    """Return the exit code of a refusal."""
    return next(code for kind, code in _CODES if isinstance(error, kind))


def one_line(text: str) -> str:
    """Return a text in one line, its invisible characters shown."""
    return " ".join(reveal(text).split())


def near(name: str, names: Iterable[str]) -> str:
    """Return a suggestion of those of the names that look like a mistyped one, if any do."""
    found = get_close_matches(name, names, n=3)
    return f"Did you mean {' or '.join(map(one_line, found))}?" if found else ""


def _tell(
    code: str,
    message: str,
    suggestion: str,
    *,
    as_json: bool,
    retryable: bool = False,
    details: Mapping[str, object] = MappingProxyType({}),
) -> None:
    if as_json:
        facts = {
            "code": code,
            "message": message,
            "suggestion": suggestion,
            "retryable": retryable,
            "details": dict(details),
        }
        print(json.dumps({"error": facts}), file=sys.stderr)
        return
    stop = "" if message.endswith((".", "!", "?")) else "."
    print(f"memories: {code}: {message}{stop} {suggestion}".rstrip(), file=sys.stderr)


def _of_file(error: Exception) -> str:
    """Return what a system says of a file, without its number for it."""
    reason = getattr(error, "strerror", None)
    place = getattr(error, "filename", None)
    told = str(error) if reason is None else reason if place is None else f"{place}: {reason}"
    return one_line(told)
