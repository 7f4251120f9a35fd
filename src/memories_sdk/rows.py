"""Turns rows into frozen values and back: times, ids, tags and before-images."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import SafeUUID

from uuid6 import UUID

from memories_sdk.attachments import Attachment, AttachmentHead
from memories_sdk.editor_drafts import EditorDraft
from memories_sdk.encryption import Cipher
from memories_sdk.history import Revision, image_digest, seal
from memories_sdk.memory import Memory, MemoryHead
from memories_sdk.principals import scope_key
from memories_sdk.results import Approval
from memories_sdk.tables import REQUEST_TEXTS, ApprovalRow

Row = Sequence[Any]
Parameters = dict[str, object]

HEAD: Final = len(MemoryHead.__dataclass_fields__)
"""Columns of a head; the body stands behind them."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
IMAGE_FIELDS: Final = (
    "type",
    "name",
    "summary",
    "summary_derived",
    "tags",
    "pinned",
    "order",
    "expires_at",
    "untrusted",
    "content",
)
"""The fields that a before-image may hold, and that a restore brings back."""


def _open(kind: type[object]) -> type[Any]:
    """Return a twin of a frozen class whose fields can be set.

    Filling a twin and then giving it the frozen class takes a sixth of the time of the frozen
    initialiser, which a page of a list would pay fifty times.
    """
    members = {
        "__slots__": (),
        "__setattr__": object.__setattr__,
        # Both or neither: with one of them left to the frozen class each assignment is slow.
        "__delattr__": object.__delattr__,
    }
    return type(f"Open{kind.__name__}", (kind,), members)


_UNKNOWN: Final = SafeUUID.unknown
_new: Final = object.__new__
_OpenId: Final = _open(UUID)
_OpenHead: Final = _open(MemoryHead)
_OpenMemory: Final = _open(Memory)


def to_head(row: Row, cipher: Cipher | None) -> MemoryHead:
    """Return the head of a memory from a row of `HEAD_COLUMNS`."""
    head = _new(_OpenHead)
    _fill(head, row)
    if cipher is not None and head.summary:
        head.summary = cipher.open(head.summary, *place_of(head, "summary"))
    head.__class__ = MemoryHead
    sealed: MemoryHead = head
    return sealed


def to_memory(row: Row, cipher: Cipher | None) -> Memory:
    """Return a memory from a row of `HEAD_COLUMNS`, the body and what else stands there."""
    memory = _new(_OpenMemory)
    _fill(memory, row[:HEAD])
    memory.content = row[HEAD]
    if cipher is not None:
        memory.content = cipher.open(memory.content, *place_of(memory, "content"))
        if memory.summary:
            memory.summary = cipher.open(memory.summary, *place_of(memory, "summary"))
    memory.__class__ = Memory
    sealed: Memory = memory
    return sealed


def to_text(row: Row, cipher: Cipher | None) -> tuple[MemoryHead, str]:
    """Return the head and the body of a memory from a row that `to_memory` takes."""
    head = to_head(row[:HEAD], cipher)
    content: str = row[HEAD]
    if cipher is not None:
        content = cipher.open(content, *place_of(head, "content"))
    return head, content


def place_of(memory: MemoryHead, field: str) -> tuple[str, str, str]:
    """Return where a sealed text of a memory belongs: no other row can show it."""
    key = scope_key(principal_id=memory.principal_id, agent_id=memory.agent_id)
    return field, key, memory.id.hex


def sealed_summary(memory: MemoryHead, cipher: Cipher | None) -> str | None:
    """Return the summary as it is stored."""
    if cipher is None or not memory.summary:
        return memory.summary
    return cipher.seal(memory.summary, *place_of(memory, "summary"))


def sealed_content(memory: Memory, cipher: Cipher | None) -> str:
    """Return the body as it is stored."""
    if cipher is None:
        return memory.content
    return cipher.seal(memory.content, *place_of(memory, "content"))


def _fill(head: Any, row: Row) -> None:  # noqa: ANN401
    (
        id,
        head.scope,
        head.principal_id,
        head.agent_id,
        head.type,
        head.name,
        head.summary,
        derived,
        tags,
        pinned,
        head.order,
        head.version,
        head.size,
        expires,
        created,
        updated,
        untrusted,
    ) = row
    head.id = to_id(id)
    head.summary_derived = derived == 1
    head.tags = () if tags == "[]" else tuple(json.loads(tags))
    head.pinned = pinned == 1
    head.expires_at = None if expires is None else to_time(expires)
    head.created_at = since = to_time(created)
    head.updated_at = since if updated == created else to_time(updated)
    head.untrusted = untrusted == 1


def to_id(value: bytes) -> UUID:
    """Return the id from its sixteen bytes."""
    id = _new(_OpenId)
    id.int = int.from_bytes(value)
    id.is_safe = _UNKNOWN
    id.__class__ = UUID
    sealed: UUID = id
    return sealed


def to_time(microseconds: int) -> datetime:
    """Return the moment, in UTC."""
    return EPOCH + _MICROSECOND * microseconds


def from_time(moment: datetime) -> int:
    """Return microseconds since 1970, exactly: a float would round them."""
    return (moment - EPOCH) // _MICROSECOND


def columns(memory: Memory) -> Parameters:
    """Return the columns of a memory that its verbs may change, by name."""
    return {
        "type": memory.type,
        "name": memory.name,
        "summary": memory.summary,
        "summary_derived": int(memory.summary_derived),
        "tags": json.dumps(memory.tags, ensure_ascii=False) if memory.tags else "[]",
        "pinned": int(memory.pinned),
        "position": memory.order,
        "version": memory.version,
        "size": memory.size,
        "expires_at": None if memory.expires_at is None else from_time(memory.expires_at),
        "updated_at": from_time(memory.updated_at),
        "untrusted": int(memory.untrusted),
    }


def image(old: Memory, new: Memory | None) -> dict[str, object]:
    """Return the fields of `old` that differ in `new`; all of them when there is no `new`."""
    if new is None:
        created = {"created_at": old.created_at}
        return {name: getattr(old, name) for name in IMAGE_FIELDS} | created
    return {
        name: value for name in IMAGE_FIELDS if (value := getattr(old, name)) != getattr(new, name)
    }


def body_digest(content: str) -> bytes:
    """Return the SHA-256 of a body."""
    return hashlib.sha256(content.encode()).digest()


def keyed(digest: bytes, cipher: Cipher | None) -> bytes:
    """Return a digest as it is stored: keyed where texts are sealed."""
    return digest if cipher is None else cipher.keyed(digest)


def state_digest(values: Parameters, body: bytes, cipher: Cipher | None = None) -> bytes:
    """Return the SHA-256 of all that a version is, from its `columns`, its place excepted.

    The place may change without a revision of its own, when another memory is moved.
    """
    lasting = {name: values[name] for name in _LASTING}
    if values["untrusted"]:
        lasting["untrusted"] = 1  # only then: what was sealed before there was the mark still holds
    written = _written(lasting)
    return keyed(hashlib.sha256(written.encode() + b"\0" + body).digest(), cipher)


_LASTING: Final = (
    "expires_at",
    "name",
    "pinned",
    "summary",
    "summary_derived",
    "tags",
    "type",
    "version",
)
_written: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_entry(
    facts: Parameters,
    before: Mapping[str, object],
    after: bytes | None,
    previous: bytes,
    cipher: Cipher | None = None,
) -> dict[str, Any]:
    """Return the columns of a revision: its facts, its before-image, and its seal."""
    rest = {name: value for name, value in before.items() if name != "content"}
    image = _image(rest) if rest else None
    content = before.get("content")
    body = content if isinstance(content, str) else None
    digest = keyed(image_digest(image, body), cipher)
    if cipher is not None:
        image, body = sealed_image(facts, image, body, cipher)
    return facts | {
        "before": image,
        "before_content": body,
        "after": after,
        "redacted": None,
        "seal": seal(previous, list(facts.values()), digest, after),
    }


def sealed_image(
    facts: Mapping[str, object], before: str | None, content: str | None, cipher: Cipher
) -> tuple[str | None, str | None]:
    """Return a before-image as it is stored, bound to the revision of these facts."""
    place = _place_in_history(facts)
    return (
        None if before is None else cipher.seal(before, "before", *place),
        None if content is None else cipher.seal(content, "before content", *place),
    )


def opened_image(
    facts: Mapping[str, object], before: str | None, content: str | None, cipher: Cipher | None
) -> tuple[str | None, str | None]:
    """Return a before-image as it was before it was stored."""
    if cipher is None:
        return before, content
    place = _place_in_history(facts)
    return (
        None if before is None else cipher.open(before, "before", *place),
        None if content is None else cipher.open(content, "before content", *place),
    )


def _place_in_history(facts: Mapping[str, object]) -> tuple[str, ...]:
    id = facts["memory_id"]
    return (
        str(facts["scope_key"]),
        id.hex() if isinstance(id, bytes) else "",
        str(facts["version"]),
        str(facts["action"]),
        str(facts["at"]),
    )


def to_revision(row: Row, cipher: Cipher | None) -> Revision:
    """Return a revision from a row of `REVISION_COLUMNS`."""
    seq, memory_id, shelf, action, actor, source, at, version, type_, name, *kept = row
    before, content, redacted, part_of, undoes = kept
    if cipher is not None:
        facts = {"memory_id": memory_id, "scope_key": shelf}
        facts |= {"version": version, "action": action, "at": at}
        before, content = opened_image(facts, before, content, cipher)
    image: dict[str, object] = json.loads(before) if before else {}
    if isinstance(tags := image.get("tags"), list):
        image["tags"] = tuple(tags)
    for field in ("expires_at", "created_at"):
        if isinstance(moment := image.get(field), int):
            image[field] = to_time(moment)
    if content is not None:
        image["content"] = content
    return Revision(
        seq,
        None if memory_id is None else to_id(memory_id),
        shelf,
        action,
        actor,
        source,
        to_time(at),
        version,
        type_,
        name,
        image,
        part_of,
        undoes,
        redacted is not None and not image,
    )


def to_attachment_head(row: Row) -> AttachmentHead:
    """Return a picture without its bytes from a row of `PICTURE_HEAD`."""
    id, name, media_type, size, created = row[:5]
    return AttachmentHead(to_id(id), name, media_type, size, to_time(created))


def to_attachment(row: Row) -> Attachment:
    """Return a picture from a row of `PICTURE_HEAD` and its bytes."""
    id, name, media_type, size, created, content = row[:6]
    return Attachment(to_id(id), name, media_type, size, to_time(created), bytes(content))


def to_draft(row: Row, opened: Callable[[str, str], str]) -> EditorDraft:
    """Return an unsaved text from a row of `DRAFT_COLUMNS`; `opened` reads its fields."""
    key, memory_id, version, fields, kept = row
    fields = opened(key, fields)
    typed = json.loads(fields)
    return EditorDraft(
        key=key,
        memory_id=None if memory_id is None else to_id(memory_id),
        version=version,
        name=typed["name"],
        type=typed["type"],
        summary=typed["summary"],
        tags=tuple(typed["tags"]),
        content=typed["content"],
        kept_at=to_time(kept),
    )


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return from_time(value)
    msg = f"no column form for {type(value).__name__}"
    raise TypeError(msg)


_image: Final = json.JSONEncoder(ensure_ascii=False, default=_plain).encode


class Request(NamedTuple):
    """A request for approval, with what its reader need not see."""

    approval: Approval
    id: bytes
    principal_id: int
    agent_id: int | None
    source: str | None
    effect: str


EMPTIED: Final = (None, "", "{}")
"""What stands there when nothing is kept any more."""


def sealed_part(value: str | None, cipher: Cipher | None, *place: str) -> str | None:
    """Return a part of a request as it is stored."""
    return value if cipher is None or value in EMPTIED else cipher.seal(str(value), *place)


def opened_part(value: str | None, cipher: Cipher | None, *place: str) -> str | None:
    """Return a part of a request as it was before it was stored."""
    return value if cipher is None or value in EMPTIED else cipher.open(str(value), *place)


def to_request(row: Row, now: datetime, cipher: Cipher | None) -> Request:
    """Return a request from a row of the approvals; one whose time is over is expired."""
    value = dict(zip(ApprovalRow.model_fields, row, strict=True))
    for name in REQUEST_TEXTS:
        value[name] = opened_part(value[name], cipher, name, bytes(value["id"]).hex())
    expires = to_time(value["expires_at"])
    late = value["state"] == "pending" and expires <= now
    approval = Approval(
        tool=value["tool"],
        arguments=json.loads(value["arguments"]),
        description=value["description"],
        preview=value["preview"],
        id=UUID(bytes=bytes(value["id"])),
        shelf=value["scope_key"],
        actor=value["actor"],
        version=value["version"],
        state="expired" if late else value["state"],
        created_at=to_time(value["created_at"]),
        expires_at=expires,
        decided_by=value["decided_by"],
        decided_at=None if value["decided_at"] is None else to_time(value["decided_at"]),
        answer=value["answer"] or "",
    )
    kept = (value[name] for name in Request._fields[2:])
    return Request(approval, bytes(value["id"]), *kept)
