"""Values as JSON and back: what a server sends and a remote store reads. Pure.

The first keys of a memory are Spora's, in its order; what it did not know follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from uuid6 import UUID

from memories_sdk.attachments import AttachmentHead
from memories_sdk.draft import Draft
from memories_sdk.editor_drafts import EditorDraft
from memories_sdk.errors import (
    AnchorNotFound,
    AnchorNotUnique,
    EditConflict,
    InvalidInput,
    KeyReused,
    MemoriesError,
    QuotaExceeded,
    TooLong,
    UnknownType,
    WriteRefused,
)
from memories_sdk.guards import Concern
from memories_sdk.history import History, Revision
from memories_sdk.memory import Derived, Memory, MemoryHead, Unset
from memories_sdk.merge import Chunk, Merge
from memories_sdk.past import STATE_FIELDS, Adopted, Past
from memories_sdk.principals import Agent, Principal
from memories_sdk.results import Approval
from memories_sdk.search.hits import Hit, Hits
from memories_sdk.search.passages import Passage
from memories_sdk.search.recall import Recall, Recalled, Verdict

Json = dict[str, Any]

SPORA_KEYS: Final = (
    *("id", "principal_id", "agent_id", "scope", "type", "name", "summary", "content", "order"),
    *("created_at", "updated_at"),
)
MEMORY_KEYS: Final = (
    *SPORA_KEYS,
    *(name for name in MemoryHead.__dataclass_fields__ if name not in SPORA_KEYS),
)
"""What a memory is made of, in the order in which it is sent."""

_TIMES: Final = ("created_at", "updated_at", "expires_at")
_WRITTEN: Final[Mapping[str, Callable[[Any], str]]] = {
    "id": str,
    **dict.fromkeys(_TIMES, datetime.isoformat),
}


def memory_json(memory: MemoryHead, keys: Iterable[str] = MEMORY_KEYS) -> Json:
    """Return these of a memory's keys; one without a body sends none, an empty one is null."""
    values: Json = {}
    for key in keys:
        if key == "content":
            if isinstance(memory, Memory):
                values[key] = memory.content or None
            continue
        value, written = getattr(memory, key), _WRITTEN.get(key)
        values[key] = value if value is None or written is None else written(value)
    return values


def head_from(values: Mapping[str, Any]) -> MemoryHead:
    """Return the head of a memory that was sent, whether its body was sent or not."""
    return MemoryHead(**{name: _field(name, values) for name in MemoryHead.__dataclass_fields__})


def memory_from(values: Mapping[str, Any]) -> Memory:
    """Return a memory that was sent with its body."""
    content = values["content"] or ""
    fields = {name: _field(name, values) for name in MemoryHead.__dataclass_fields__}
    return Memory(**fields, content=content)


def _field(name: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- a row of mixed types
    value = values[name]
    if name == "id":
        return UUID(value)
    if name == "tags":
        return tuple(value)
    return datetime.fromisoformat(value) if name in _TIMES and value is not None else value


def revision_json(revision: Revision) -> Json:
    """Return a revision."""
    values = {name: getattr(revision, name) for name in Revision.__dataclass_fields__}
    return values | {
        "memory_id": None if revision.memory_id is None else str(revision.memory_id),
        "at": revision.at.isoformat(),
        "before": {name: _plain(value) for name, value in revision.before.items()},
    }


def revision_from(values: Mapping[str, Any]) -> Revision:
    """Return a revision that was sent."""
    id = values["memory_id"]
    before = dict(values["before"])
    for name in _TIMES:
        if before.get(name) is not None:
            before[name] = datetime.fromisoformat(before[name])
    if "tags" in before:
        before["tags"] = tuple(before["tags"])
    known = {name: values[name] for name in Revision.__dataclass_fields__ if name in values}
    return Revision(
        **known
        | {
            "memory_id": None if id is None else UUID(id),
            "at": datetime.fromisoformat(values["at"]),
            "before": before,
        }
    )


def history_json(history: History) -> Json:
    """Return a page of revisions."""
    return {
        "revisions": [revision_json(each) for each in history],
        "next_cursor": history.next_cursor,
    }


def history_from(values: Mapping[str, Any]) -> History:
    """Return a page of revisions that was sent."""
    revisions = map(revision_from, values["revisions"])
    return History(revisions, next_cursor=values["next_cursor"])


def hits_json(hits: Hits) -> Json:
    """Return a page of hits."""
    found = [
        {
            "memory": memory_json(hit.memory),
            "score": hit.score,
            "passages": [_values(each) for each in hit.passages],
        }
        for hit in hits
    ]
    return {"hits": found, "total": hits.total, "next_cursor": hits.next_cursor}


def hits_from(values: Mapping[str, Any]) -> Hits:
    """Return a page of hits that was sent."""
    found = (
        Hit(
            head_from(hit["memory"]),
            hit["score"],
            tuple(Passage(**each) for each in hit["passages"]),
        )
        for hit in values["hits"]
    )
    return Hits(found, total=values["total"], next_cursor=values["next_cursor"])


def recall_json(recall: Recall) -> Json:
    """Return what was recalled, with the block for a prompt."""
    return {
        "items": [_values(each) | {"memory": memory_json(each.memory)} for each in recall.items],
        "text": recall.text,
        "context": recall.as_context(),
        "report": [_values(each) | {"memory": memory_json(each.memory)} for each in recall.report],
    }


def recall_from(values: Mapping[str, Any]) -> Recall:
    """Return what was recalled elsewhere."""
    items = (Recalled(**each | {"memory": head_from(each["memory"])}) for each in values["items"])
    report = (Verdict(**each | {"memory": head_from(each["memory"])}) for each in values["report"])
    return Recall(tuple(items), values["text"], tuple(report))


def concern_json(concern: Concern) -> Json:
    """Return what a guard found."""
    return _values(concern)


def concern_from(values: Mapping[str, Any]) -> Concern:
    """Return what a guard found elsewhere."""
    return Concern(**values)


def merge_json(difference: Merge) -> list[Json]:
    """Return two changes of one text, side by side."""
    return [_values(chunk) for chunk in difference.chunks]


def merge_from(chunks: list[Json]) -> Merge:
    """Return two changes that were sent."""
    return Merge(tuple(Chunk(**chunk) for chunk in chunks))


def past_json(past: Past) -> Json:
    """Return a memory with its past."""
    versions = [
        {
            "state": None if each.draft is None else draft_fields(each.draft),
            "action": each.action,
            "version": each.version,
            "actor": each.actor,
            "source": each.source,
            "at": _plain(each.at),
        }
        for each in past.versions
    ]
    return {"created_at": _plain(past.created_at), "versions": versions}


def draft_fields(draft: Draft) -> Json:
    """Return the fields that a draft sets."""
    return fields_json({name: getattr(draft, name) for name in STATE_FIELDS})


def fields_json(given: Mapping[str, Any]) -> Json:
    """Return the fields of a write that were given."""
    sent: Json = {
        name: _plain(value) for name, value in given.items() if not isinstance(value, Unset)
    }
    if isinstance(sent.get("summary"), Derived):
        del sent["summary"]
        sent["summary_derived"] = True
    if isinstance(sent.get("content"), str):
        # Half of a pair is no text: the shelf drops it, and JSON cannot send it.
        sent["content"] = sent["content"].encode("utf-8", "ignore").decode()
    return sent


def adopted_json(adopted: Adopted) -> Json:
    """Return what became of a memory that a shelf was to adopt."""
    return {
        "fate": adopted.fate,
        "name": adopted.name,
        "type": adopted.type,
        "memory_id": None if adopted.id is None else str(adopted.id),
        "error": None if adopted.error is None else error_json(adopted.error),
    }


def adopted_from(values: Mapping[str, Any]) -> Adopted:
    """Return what became of a memory that a shelf elsewhere was to adopt."""
    id, error = values["memory_id"], values["error"]
    return Adopted(
        values["fate"],
        values["name"],
        values["type"],
        None if id is None else UUID(id),
        None if error is None else error_from(error),
    )


def error_json(error: MemoriesError) -> Json:
    """Return an error; `error_from` makes the same one again."""
    details = error_details(error)
    said: Json = {
        "message": error.message,
        "kind": error.code,
        "suggestion": error.suggestion,
    }
    return said | ({"details": details} if details else {})


def error_details(error: MemoriesError) -> Json:
    """Return what a program needs, beside code and message, to make the same error again."""
    said = {name: value for name, value in vars(error).items() if name not in _SAID}
    return {name: _detail(value) for name, value in said.items() if value is not None}


def error_from(said: Mapping[str, Any]) -> MemoriesError:
    """Return the error that a server told of, of its own class again."""
    kind = _KINDS.get(said.get("kind", ""), MemoriesError)
    error: MemoriesError = kind.__new__(kind)
    error.message = str(said.get("message", ""))
    error.suggestion = str(said.get("suggestion", ""))
    error.args = (f"{error.message} {error.suggestion}".strip(),)
    details = said.get("details", {})
    for name in _DETAILS.get(kind, ()) + ("field",) * issubclass(kind, InvalidInput):
        value, restore = details.get(name), _RESTORED.get(name)
        setattr(error, name, value if value is None or restore is None else restore(value))
    return error


def _kinds(root: type[MemoriesError]) -> dict[str, type[MemoriesError]]:
    found = {root.code: root}
    for kind in root.__subclasses__():
        if kind.__module__ == root.__module__:
            found |= _kinds(kind)
    return found


_KINDS: Final = _kinds(MemoriesError)
_DETAILS: Final[Mapping[type[MemoriesError], tuple[str, ...]]] = {
    AnchorNotFound: ("edit",),
    AnchorNotUnique: ("count", "positions", "edit"),
    EditConflict: ("expected_version", "current", "difference"),
    KeyReused: ("key",),
    QuotaExceeded: ("quota", "limit"),
    TooLong: ("size", "limit", "unit"),
    UnknownType: ("value", "allowed"),
    WriteRefused: ("concerns",),
}
_SAID: Final = ("message", "suggestion", "reply")


def _detail(value: object) -> object:
    if isinstance(value, Memory):
        return memory_json(value)
    if isinstance(value, Merge):
        return merge_json(value)
    if isinstance(value, Concern):
        return concern_json(value)
    return [_detail(each) for each in value] if isinstance(value, tuple | list) else value


def picture_json(picture: AttachmentHead) -> Json:
    """Return a picture without its bytes."""
    return {
        "id": str(picture.id),
        "name": picture.name,
        "media_type": picture.media_type,
        "size": picture.size,
        "created_at": picture.created_at.isoformat(),
        "markdown": picture.markdown,
    }


def picture_from(values: Mapping[str, Any]) -> AttachmentHead:
    """Return a picture, without its bytes, that was sent."""
    known = {name: values[name] for name in ("name", "media_type", "size")}
    made = datetime.fromisoformat(values["created_at"])
    return AttachmentHead(id=UUID(values["id"]), created_at=made, **known)


def draft_json(draft: EditorDraft) -> Json:
    """Return an unsaved text."""
    return _sent(_values(draft))


def draft_from(values: Mapping[str, Any]) -> EditorDraft:
    """Return an unsaved text that was sent."""
    id = values["memory_id"]
    return EditorDraft(
        **dict(values)
        | {
            "memory_id": None if id is None else UUID(id),
            "tags": tuple(values["tags"]),
            "kept_at": datetime.fromisoformat(values["kept_at"]),
        }
    )


def approval_json(approval: Approval) -> Json:
    """Return a call that waits for a person."""
    return _sent({name: value for name, value in _values(approval).items() if name != "prompt"})


def approval_from(values: Mapping[str, Any]) -> Approval:
    """Return a call that waits, as it was sent."""
    found = dict(values)
    for name in ("created_at", "expires_at", "decided_at"):
        if found[name] is not None:
            found[name] = datetime.fromisoformat(found[name])
    return Approval(**found | {"id": UUID(found["id"])})


def principal_json(principal: Principal) -> Json:
    """Return a principal."""
    return _values(principal)


def principal_from(values: Mapping[str, Any]) -> Principal:
    """Return a principal that was sent."""
    return Principal(**values)


def agent_json(agent: Agent) -> Json:
    """Return an agent."""
    return _values(agent)


def agent_from(values: Mapping[str, Any]) -> Agent:
    """Return an agent that was sent."""
    return Agent(**values)


def _values(value: Any) -> Json:  # noqa: ANN401 -- any dataclass of the core
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def _sent(values: Json) -> Json:
    return {
        name: str(value) if isinstance(value, UUID) else _plain(value)
        for name, value in values.items()
    }


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


_RESTORED: Final[Mapping[str, Callable[[Any], object]]] = {
    "allowed": tuple,
    "concerns": lambda found: tuple(map(concern_from, found)),
    "current": memory_from,
    "difference": merge_from,
    "positions": lambda found: tuple(map(tuple, found)),
}
