"""The four fact tools of an agent: remember, forget, list and clear.

Parameters, messages and codes are those of OpenWP, which hosts and models were made for. What it
did wrong is mended: a text is stored as it was written, tags that are not sent stay, and to clear
needs a person and can be undone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memories_sdk.arguments import Arguments
from memories_sdk.characters import reveal
from memories_sdk.errors import (
    InvalidInput,
    MemoriesError,
    MemoryOff,
    NotFound,
    TooLong,
    UnknownType,
    WriteRefused,
)
from memories_sdk.facts import cleaned_query, cleaned_text, cleaned_type, listed
from memories_sdk.fields import checked_type, normal_name
from memories_sdk.memory import FACTS, UNSET, Memory, Saved
from memories_sdk.policy import Wish
from memories_sdk.results import MAX_TEXT, Answer, Card, place
from memories_sdk.schemas import Definition
from memories_sdk.scope import Scope

EXPLICIT_REQUIRED: Final = "openwp_memory_explicit_required"


@dataclass(frozen=True, slots=True)
class FactTool:
    """One fact tool.

    Attributes:
        run: Carries out a call.
        card: Shows a call that would change something; None for a tool that only reads.
        wish: What the user must have wished for; None for a tool that only reads.
        refusal: What is said where the user did not.
        needs_approval: Whether a person must agree unless somebody decides otherwise.
    """

    description: str
    parameters: Mapping[str, object]
    run: Callable[[Scope, Arguments], Answer]
    card: Callable[[Scope, Arguments], Card] | None = None
    wish: Wish | None = None
    refusal: str = ""
    needs_approval: bool = False

    def definition(self, name: str) -> Definition:
        """Return what a model must know of it."""
        return Definition(
            name,
            self.description,
            self.parameters,
            reads=self.wish is None,
            destroys=self.wish is not None,
        )


def remember(
    scope: Scope,
    type: str | None,
    key: str | None,
    text: str | None,
    tags: Sequence[str] | None = None,
    *,
    expected_version: int | None = None,
) -> Saved:
    """Store a fact, without asking who wished for it: what a person does by hand.

    Type and key may be spelled sloppily. Blanks around the text go, nothing else of it does. No
    tags and an empty list leave the tags as they are: callers send both for "nothing to say".

    Raises:
        InvalidInput: A value is missing, too long or of no known type.
        WriteRefused: A guard saw a secret.
        MemoryOff: Memory is switched off on this shelf.
    """
    type, key, text = _checked(type, key, text)
    return scope.save(
        key, type, text, tags=list(tags) if tags else UNSET, expected_version=expected_version
    )


def item(memory: Memory) -> dict[str, object]:
    """Return a fact as OpenWP shows it, ready for JSON."""
    said = {"text": memory.content, "tags": list(memory.tags)}
    times = {
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
    }
    return {
        "id": str(memory.id),
        "type": memory.type,
        "key": memory.name,
        **said,
        "value": said | times,
        "updated_at": times["updated_at"],
        **({"untrusted": True} if memory.untrusted else {}),
    }


def refusal(error: MemoriesError) -> tuple[str, str]:
    """Return the code and message for an error: OpenWP's own where it had some, else ours."""
    if isinstance(error, _Refused):
        return error.reply
    for kind, field, code, message in _REPLIES:
        if isinstance(error, kind) and field in {None, getattr(error, "field", None)}:
            return code, message
    return error.code, error.message


_REPLIES: Final[Sequence[tuple[type[MemoriesError], str | None, str, str]]] = (
    (UnknownType, None, "openwp_memory_invalid_type", "Invalid memory type."),
    (TooLong, "name", "openwp_memory_key_too_long", "Memory key is too long."),
    (TooLong, "content", "openwp_memory_text_too_long", "Memory text exceeds maximum length."),
    (
        WriteRefused,
        None,
        "openwp_memory_secret_blocked",
        "Potential secret detected. Memory was not saved.",
    ),
    (MemoryOff, None, "openwp_memory_disabled", "Memory is disabled in settings."),
)


class _Refused(InvalidInput):
    """A call that OpenWP had words of its own for."""

    code = "fact_refused"

    def __init__(self, field: str, code: str, message: str) -> None:
        super().__init__(message, field=field)
        self.reply = (code, message)


def _checked(type: str | None, key: str | None, text: str | None) -> tuple[str, str, str]:
    """Return type, key and text as they are stored; the first that is wrong is refused."""
    type = cleaned_type(type or "")
    checked_type(type, (FACTS,))
    if key is None or not (name := _key(key)):
        raise _Refused("key", "openwp_memory_key_required", "Memory key is required.")
    if text is None or not (text := cleaned_text(text)):
        raise _Refused("value", "openwp_memory_text_required", "Memory text is required.")
    return type, name, text


def _key(key: str) -> str:
    """Return the key, or an empty text when there is nothing readable in it."""
    try:
        return normal_name(key, FACTS)
    except TooLong:
        raise
    except InvalidInput:
        return ""


def _identity(given: Arguments) -> tuple[str, str]:
    """Return type and key of the fact to forget."""
    type, key = cleaned_type(given.text("type") or ""), _key(given.text("key") or "")
    if type not in FACTS.types or not key:
        raise _Refused("key", "openwp_memory_invalid_delete", "Memory type and key are required.")
    return type, key


def _found(scope: Scope, type: str, key: str) -> Memory | None:
    try:
        return scope.get(key, type)
    except NotFound:
        return None


def _remember(scope: Scope, given: Arguments) -> Answer:
    saved = remember(
        scope,
        given.text("type"),
        given.text("key"),
        given.text("value"),
        given.texts("tags"),
        expected_version=given.integer("expected_version"),
    )
    text = "Memory saved." if saved.created else "Memory updated."
    return Answer(text, {"created": saved.created, "item": item(saved.memory)})


def _remember_card(scope: Scope, given: Arguments) -> Card:
    type, key, text = _checked(given.text("type"), given.text("key"), given.text("value"))
    tags = given.texts("tags") or []
    old = _found(scope, type, key)
    parts = [_shown(scope, type, key), reveal(text)]
    if tags:
        parts.append(f"Tags: {', '.join(map(reveal, tags))}")
    if old is not None:
        parts.append(f"In place of version {old.version}:\n\n{reveal(old.content)}")
    return Card(f"Memory remember: {key} ({type})", "\n\n".join(parts))


def _forget(scope: Scope, given: Arguments) -> Answer:
    type, key = _identity(given)
    try:
        scope.delete(key, type, expected_version=given.integer("expected_version"))
    except NotFound:
        return Answer("Memory key not found.", {"deleted": False, "type": type, "key": key})
    return Answer("Memory deleted.", {"deleted": True, "type": type, "key": key})


def _forget_card(scope: Scope, given: Arguments) -> Card:
    type, key = _identity(given)
    preview = f"{_shown(scope, type, key)}\n\n{reveal(scope.get(key, type).content)}"
    return Card(f"Memory forget: {key} ({type})", preview)


def _list(scope: Scope, given: Arguments) -> Answer:
    sent = given.text("type")
    type = cleaned_type(sent or "")
    known = type in FACTS.types
    recent = scope.recent(
        type=type if known else None,
        containing=cleaned_query(given.text("query") or ""),
        limit=listed(given.integer("limit")),
    )
    data = {"total": recent.total, "items": [item(each) for each in recent.memories]}
    hint = f"There is no such type; all of {', '.join(FACTS.types)} are listed."
    return Answer(_lines(recent.memories, recent.total), data, hint if sent and not known else "")


def _lines(memories: Sequence[Memory], total: int) -> str:
    """Return a message and one line of JSON for each fact: no text can forge a line."""
    lines = ["Memory listed."]
    room = MAX_TEXT
    for memory in memories:
        fact: dict[str, object] = {
            "type": memory.type,
            "key": memory.name,
            "text": memory.content,
            "tags": list(memory.tags),
        }
        if memory.untrusted:
            fact = {"untrusted": True, **fact}
        line = json.dumps(fact, ensure_ascii=False).translate(_LINE_ENDS)
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    if left := total - (len(lines) - 1):
        lines.append(f"… and {left} more. Name a type or a query to see fewer.")
    return "\n".join(lines)


_LINE_ENDS: Final = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
"""What JSON leaves as it is and some readers take for the end of a line."""


def _clear(scope: Scope, given: Arguments) -> Answer:
    del given  # it has no parameters
    count = scope.clear()
    return Answer(
        f"All memory cleared. {count} record(s) deleted.",
        {"cleared": True, "deleted_count": count},
        "The user can undo this." if count else "",
    )


def _clear_card(scope: Scope, given: Arguments) -> Card:
    del given  # it has no parameters
    counts = {type: count for type, count in scope.counts().items() if count}
    preview = "\n".join(f"{FACTS.labels[type]}: {count}" for type, count in counts.items())
    line = f"Memory clear: all facts ({sum(counts.values())})"
    return Card(line, f"{place(_owner(scope))}\n\n{preview}")


def _shown(scope: Scope, type: str, key: str) -> str:
    return place(_owner(scope), type, key)


def _owner(scope: Scope) -> str:
    return str(scope.agent or scope.principal)


_TYPE: Final = {"type": "string", "enum": list(FACTS.types), "description": "Kind of fact."}
_KEY: Final = {
    "type": "string",
    "description": "Short readable key, unique per type, for example reply-tone.",
}


def _schema(properties: Mapping[str, object], required: Sequence[str]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


FACT_TOOLS: Final[Mapping[str, FactTool]] = {
    "remember_memory": FactTool(
        "Keep or update one fact about the user or the work. Only when the user asks for it.",
        _schema(
            {
                "type": _TYPE,
                "key": _KEY,
                "value": {
                    "type": "string",
                    "description": f"The fact itself, at most {FACTS.max_body:,} characters.",
                },
                "tags": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Up to ten words; left out, the tags stay.",
                },
            },
            ("type", "key", "value"),
        ),
        _remember,
        _remember_card,
        "remember",
        "Memory can be saved only when the user explicitly asks to remember it.",
    ),
    "forget_memory": FactTool(
        "Delete one fact. Only when the user asks to forget it.",
        _schema({"type": _TYPE, "key": _KEY}, ("type", "key")),
        _forget,
        _forget_card,
        "forget",
        "Memory can be deleted only when the user explicitly asks to forget it.",
    ),
    "list_memory": FactTool(
        "List what is remembered, last changed first.",
        _schema(
            {
                "type": _TYPE | {"description": "Only this kind."},
                "query": {
                    "type": "string",
                    "description": "Only facts whose key, text or tags hold this text.",
                },
                "limit": {"type": "integer", "description": "1 to 200; 50 when left out."},
            },
            (),
        ),
        _list,
    ),
    "clear_memory": FactTool(
        "Delete every fact. Only when the user asks to clear all of it; the user confirms.",
        _schema({}, ()),
        _clear,
        _clear_card,
        "clear",
        "Memory can be cleared only when the user explicitly asks to clear it.",
        needs_approval=True,
    ),
}
