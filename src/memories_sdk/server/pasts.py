"""Memories that come with their pasts: read from a body, and what became of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from memories_sdk.errors import InvalidInput
from memories_sdk.fields import checked_version
from memories_sdk.history import ENDINGS
from memories_sdk.memory import MAX_NAME, Vocabulary
from memories_sdk.past import Past, Version, version_of
from memories_sdk.server.calls import draft, moment

ACTIONS: Final = ("create", "update", "replace", "restore", "redact", "delete", "clear", "expire")
"""What may have happened to a memory where it was kept."""


def pasts(sent: object, vocabularies: Sequence[Vocabulary]) -> list[Past]:
    """Return the memories of a body.

    Raises:
        InvalidInput: They are no list of pasts, or a value breaks its rule.
    """
    return [_past(each, vocabularies) for each in _objects(sent, "memories")]


def _past(sent: Mapping[str, Any], vocabularies: Sequence[Vocabulary]) -> Past:
    versions = [_version(each, vocabularies) for each in _objects(sent.get("versions"), "versions")]
    if not versions or versions[0].draft is None:
        _refuse("versions", "versions must begin with a state.")
    return Past(tuple(versions), moment(sent, "created_at"))


def _version(sent: Mapping[str, Any], vocabularies: Sequence[Vocabulary]) -> Version:
    action, state = sent.get("action", "create"), sent.get("state")
    if action not in ACTIONS:
        _refuse("action", f"action must be one of: {', '.join(ACTIONS)}")
    if (state is None) != (action in ENDINGS):
        _refuse("state", "A version needs a state, and the end of a memory has none.")
    facts: dict[str, Any] = {
        "action": action,
        "version": checked_version(sent.get("version")) or 1,
        "source": _source(sent),
        "at": moment(sent, "at"),
    }
    if state is None:
        return Version(None, **facts)
    if not isinstance(state, dict):
        _refuse("state", "state must be an object.")
    named = {name: state[name] for name in ("name", "type", "order") if name in state}
    return version_of(vocabularies, draft(state) | named, **facts)


def _source(sent: Mapping[str, Any]) -> str | None:
    """Return where a change came from. Who made it stands there too: nobody proved it here."""
    said = [sent[name] for name in ("actor", "source") if sent.get(name) is not None]
    if not all(isinstance(each, str) for each in said):
        _refuse("actor", "actor and source must be texts.")
    return ", ".join(said)[:MAX_NAME].strip() or None


def _objects(value: object, field: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        _refuse(field, f"{field} must be a list of objects.")
    return value


def _refuse(field: str, message: str) -> NoReturn:
    raise InvalidInput(
        message, field=field, suggestion="The example at /openapi.json shows a memory's past."
    )
