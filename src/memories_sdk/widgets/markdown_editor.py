"""Reading and editing one memory."""

from __future__ import annotations

import base64
import hashlib
from typing import TypedDict

import traitlets
from uuid6 import UUID

from memories_sdk.attachments import referred_to
from memories_sdk.edits import Edit, apply_edits
from memories_sdk.errors import InvalidInput, NotFound
from memories_sdk.history import rewind
from memories_sdk.markdown import SafeHtml, render_safe
from memories_sdk.memory import DERIVED, UNSET, Memory, Unset
from memories_sdk.widgets._bridge import Binary, verb
from memories_sdk.widgets._place import Placed, revision_of
from memories_sdk.widgets.memory_list import row_of
from memories_sdk.widgets.type_filter import types_of

FIELDS = frozenset({"name", "type", "content", "summary", "tags", "pinned"})


class Rendered(TypedDict):
    """A body as the page shows it. Nothing but `render_safe` makes what stands in `html`."""

    html: SafeHtml
    pictures: dict[str, str]


class MarkdownEditor(Placed):
    """The editor of one memory.

    Attributes:
        selected: Id of the memory that is open, or None.
        dirty: Whether a page holds edits that are not saved.
    """

    selected = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    dirty = traitlets.Bool(default_value=False).tag(sync=True)

    @verb("types")
    def _types(self) -> dict[str, object]:
        return types_of(self.scope)

    @verb("select")
    def _select(self, *, id: str | None) -> None:
        """Open that memory; None closes the open one."""
        self.selected = id

    @verb("note")
    def _note(self, *, dirty: bool) -> None:
        """Hear whether the page holds unsaved edits."""
        self.dirty = dirty

    @verb("open")
    def _open(self, *, id: str) -> dict[str, object]:
        """Return the memory with its body."""
        return doc_of(self.scope.get_by_id(id))

    @verb("create")
    def _create(
        self,
        *,
        key: str,
        name: str,
        type: str,
        content: str,
        tags: list[str],
        summary: str | None = None,
    ) -> dict[str, object]:
        """Create a memory; without a summary it is derived. Asked again by the same key: once."""
        made = self.scope.once(key).create(
            name, type, content, tags=tags, summary=UNSET if summary is None else summary
        )
        self._touched()
        return doc_of(made)

    @verb("save")
    def _save(
        self, *, id: str, changes: dict[str, object], expected_version: int
    ) -> dict[str, object]:
        """Change the fields named; a summary of null follows the body again."""
        if not changes.keys() <= FIELDS:
            raise InvalidInput(f"These are no fields: {', '.join(changes.keys() - FIELDS)}.")
        summary = changes.get("summary", UNSET)
        saved = self.scope.update(
            id,
            name=_text(changes, "name"),
            type=_text(changes, "type"),
            content=_text(changes, "content"),
            summary=DERIVED if summary is None else _text(changes, "summary"),
            tags=_tags(changes),
            pinned=_flag(changes, "pinned"),
            expected_version=expected_version,
        )
        self._touched()
        return doc_of(saved)

    @verb("delete")
    def _delete(self, *, id: str, expected_version: int) -> bool:
        """Delete the memory; `restore` brings it back."""
        self.scope.delete_by_id(id, expected_version=expected_version)
        self._touched()
        return True

    @verb("restore")
    def _restore(
        self, *, id: str, version: int | None = None, expected_version: int | None = None
    ) -> dict[str, object]:
        """Bring back a deleted memory, or an earlier version of one that is there."""
        back = self.scope.restore(id, version=version, expected_version=expected_version)
        self._touched()
        return doc_of(back)

    @verb("history")
    def _history(self, *, id: str, limit: int = 200) -> list[dict[str, object]]:
        """Return what happened to a memory, newest first; moves are left out."""
        found = self.scope.history(id=id, limit=limit)
        return [revision_of(each) for each in found if each.action != "move"]

    @verb("past")
    def _past(self, *, id: str, version: int) -> dict[str, object]:
        """Return the fields of a memory as they were at that version."""
        scope = self.scope
        memory = scope.get_by_id(id)
        now = {field: getattr(memory, field) for field in ("name", "type", "summary", "content")}
        revisions = scope.history(id=id, limit=500)
        past = rewind({**now, "tags": memory.tags}, memory.version, revisions, version)
        return {
            "name": past["name"],
            "type": past["type"],
            "content": past["content"],
            "summary": past["summary"] or "",
            "tags": _listed(past["tags"]),
        }

    @verb("rewrite")
    def _rewrite(self, *, text: str, find: str, new_text: str) -> str:
        """Return the text with the passage replaced; it must stand there exactly once."""
        return apply_edits(text, [Edit(find, new_text)])

    @verb("preview")
    def _preview(self, *, text: str) -> Rendered:
        """Render markdown as HTML that is safe to show, with stand-ins for the pictures.

        `pictures` has the id of each by the address of its stand-in: the page fetches each picture
        once, however often the text is rendered.
        """
        wanted = referred_to([text])
        known = {each.id for each in self.scope.attachments()} if wanted else set()
        stand_ins = {str(id): _stand_in(id) for id in wanted & known}
        html = render_safe(text, prefix=f"w{self.model_id[:12]}", attachments=stand_ins)
        return {"html": html, "pictures": {url: id for id, url in stand_ins.items()}}

    @verb("attach")
    def _attach(self, *, name: str, content: bytes) -> dict[str, object]:
        """Keep a picture and return what shows it in a body."""
        picture = self.scope.attach(content, name=name)
        return {"id": str(picture.id), "markdown": picture.markdown}

    @verb("picture")
    def _picture(self, *, id: str) -> Binary:
        """Return a picture."""
        found = self.scope.attachment(id)
        return Binary({"media_type": found.media_type}, found.content)

    @verb("keep")
    def _keep(
        self, *, key: str, memory_id: str | None, version: int | None, fields: dict[str, object]
    ) -> None:
        """Keep what was typed until it is saved."""
        if not fields.keys() <= FIELDS or not isinstance(type := fields.get("type"), str):
            raise InvalidInput("fields must be those of a memory.", field="fields")
        texts = {name: _plain(fields, name) for name in ("name", "content", "summary")}
        tags = _tags(fields)
        self.scope.keep_draft(
            key,
            type=type,
            tags=() if isinstance(tags, Unset) else tags,
            memory_id=memory_id,
            version=version,
            **texts,
        )

    @verb("drop")
    def _drop(self, *, key: str) -> None:
        """Forget what was typed."""
        self.scope.drop_draft(key)

    @verb("drafts")
    def _drafts(self) -> dict[str, object]:
        """Return what was typed here and not saved, without bodies, the last kept first.

        `place` is the same for the same person and shelf alone, in whatever kernel: by it the page
        tells whose unsaved text it holds.
        """
        scope = self.scope
        whose = (self._store.location, scope.caller, scope.key, scope.principal, scope.agent)
        return {
            "place": hashlib.sha256("\0".join(map(str, whose)).encode()).hexdigest()[:24],
            "drafts": [
                {"key": each.key, "name": each.name, "at": each.kept_at.isoformat()}
                for each in scope.drafts()
            ],
        }

    @verb("draft")
    def _draft(self, *, key: str) -> dict[str, object]:
        """Return one text with its body."""
        for each in self.scope.drafts():
            if each.key == key:
                return {
                    "memory_id": None if each.memory_id is None else str(each.memory_id),
                    "version": each.version,
                    "fields": {
                        "name": each.name,
                        "type": each.type,
                        "summary": each.summary,
                        "tags": list(each.tags),
                        "content": each.content,
                    },
                }
        raise NotFound("This text was saved or discarded elsewhere.")


def doc_of(memory: Memory) -> dict[str, object]:
    """Return what the editor opens."""
    return {**row_of(memory), "content": memory.content, "derived": memory.summary_derived}


def _stand_in(id: UUID) -> str:
    """Return the address of an empty picture that is another for each id: a GIF with a comment."""
    comment = str(id).encode()
    head = b"GIF89a\1\0\1\0\x80\0\0" + bytes(6) + b"!\xfe" + bytes([len(comment)]) + comment + b"\0"
    dot = b"!\xf9\4\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"
    return f"data:image/gif;base64,{base64.b64encode(head + dot).decode()}"


def _plain(fields: dict[str, object], name: str) -> str:
    value = fields.get(name, "")
    if isinstance(value, str):
        return value
    raise InvalidInput(f"{name} must be text.", field=name)


def _listed(tags: object) -> list[str]:
    return [str(tag) for tag in tags] if isinstance(tags, (list, tuple)) else []


def _text(changes: dict[str, object], field: str) -> str | Unset:
    value = changes.get(field, UNSET)
    if isinstance(value, (str, Unset)):
        return value
    raise InvalidInput(f"{field} must be text.", field=field)


def _tags(changes: dict[str, object]) -> list[str] | Unset:
    value = changes.get("tags", UNSET)
    if isinstance(value, Unset):
        return value
    if isinstance(value, list) and all(isinstance(tag, str) for tag in value):
        return value
    raise InvalidInput("tags must be a list of texts.", field="tags")


def _flag(changes: dict[str, object], field: str) -> bool | Unset:
    value = changes.get(field, UNSET)
    if isinstance(value, (bool, Unset)):
        return value
    raise InvalidInput(f"{field} must be true or false.", field=field)
