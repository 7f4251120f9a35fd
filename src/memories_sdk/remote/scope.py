"""Shelves behind a server: each verb becomes a request, and its answer the same value."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from datetime import datetime
from threading import Event
from typing import Any, Final, NoReturn

from uuid6 import UUID

from memories_sdk import wire
from memories_sdk.attachments import Attachment, AttachmentHead
from memories_sdk.bound import parsed_id
from memories_sdk.editor_drafts import EditorDraft, checked_key
from memories_sdk.edits import Edit
from memories_sdk.errors import InvalidInput, NotFound
from memories_sdk.fields import checked_version
from memories_sdk.guards import Concern
from memories_sdk.history import History
from memories_sdk.memory import UNSET, Memory, Page, Saved, Unset, Vocabulary
from memories_sdk.pages import MAX_PAGE, Bodies, Recent
from memories_sdk.past import Adopted, Past, Policy
from memories_sdk.principals import Agent, Principal, scope_key
from memories_sdk.reader import MIN_RELEVANCE, ScopeReader
from memories_sdk.remote.line import Line, Told, told
from memories_sdk.scope import Scope, Unknown
from memories_sdk.search.hits import Hits
from memories_sdk.search.recall import Recall
from memories_sdk.wire import Json

_HEAD: Final = ",".join(name for name in wire.MEMORY_KEYS if name != "content")


class RemoteReader(ScopeReader):
    """The reading half of a shelf behind a server."""

    def __init__(
        self,
        line: Line,
        *,
        caller: Principal,
        principal: Principal,
        agent: Agent | None,
        vocabularies: tuple[Vocabulary, ...],
        source: str | None,
    ) -> None:
        # Not the constructor of the reader beside a database: there is none here.
        self._line = line
        self._types_here = vocabularies
        self._source = source
        self.caller = caller
        self.principal = principal
        self.agent = agent
        self.kind = "global" if agent is None else "agent"
        self.key = (
            scope_key(principal_id=principal.id) if agent is None else scope_key(agent_id=agent.id)
        )

    @property
    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """The types this shelf takes, in the order in which they are offered."""
        return self._types_here

    @property
    def enabled(self) -> bool:
        """Whether memory is switched on here."""
        return self._ask("GET", "/enabled").one("enabled", bool)

    def list(self, *, type: str | None = None, limit: int = 50, cursor: str | None = None) -> Page:
        query = {"type": type, "limit": limit, "cursor": cursor, "fields": _HEAD}
        found = self._ask("GET", "", query)
        heads = found.each("memories", wire.head_from)
        return Page(heads, total=found.one("total", int), next_cursor=found["next_cursor"])

    def read(
        self, *, type: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Bodies:
        found = self._ask("GET", "", {"type": type, "limit": limit, "cursor": cursor})
        return Bodies(_memories(found), found.one("total", int), found["next_cursor"])

    def counts(self) -> dict[str, int]:
        return self._ask("GET", "/counts").one("counts", dict)

    def recent(
        self, *, type: str | None = None, containing: str = "", limit: int = 50, skip: int = 0
    ) -> Recent:
        query = {"type": type, "containing": containing, "limit": limit, "skip": skip}
        found = self._ask("GET", "/recent", query)
        return Recent(_memories(found), found.one("total", int))

    def get(self, name: str, type: str) -> Memory:
        return _memory(self._ask("GET", "/named", {"name": name, "type": type}))

    def get_by_id(self, id: UUID | str) -> Memory:
        return _memory(self._ask("GET", f"/{parsed_id(id)}"))

    def history(
        self,
        name: str | None = None,
        type: str | None = None,
        *,
        id: UUID | str | None = None,
        ids: Sequence[UUID | str] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> History:
        query = {"name": name, "type": type, "limit": limit, "cursor": cursor}
        if ids is not None:
            query["ids"] = ",".join(str(parsed_id(each)) for each in ids)
        tail = "/history" if id is None else f"/{parsed_id(id)}/history"
        return self._ask("GET", tail, query).read(wire.history_from)

    def deleted(self, *, limit: int = 50) -> History:
        return self._ask("GET", "/deleted", {"limit": limit}).read(wire.history_from)

    def search(
        self,
        query: str,
        *,
        type: str | None = None,
        tags: Sequence[str] = (),
        limit: int = 20,
        cursor: str | None = None,
    ) -> Hits:
        asked: Json = {"query": query, "type": type, "tags": list(tags)}
        asked |= {"limit": limit, "cursor": cursor}
        return self._ask("GET", "/search", asked).read(wire.hits_from)

    def relevant_for_prompt(
        self,
        prompt: str,
        limit: int = 8,
        max_chars: int = 1200,
        *,
        type: str | None = None,
        tags: Sequence[str] = (),
        min_relevance: float = MIN_RELEVANCE,
        max_chars_each: int | None = None,
    ) -> Recall:
        body = {
            "prompt": prompt,
            "limit": limit,
            "max_chars": max_chars,
            "type": type,
            "tags": list(tags),
            "min_relevance": min_relevance,
            "max_chars_each": max_chars_each,
        }
        return self._ask("POST", "/recall", body=body).read(wire.recall_from)

    def changes(self, *, since: int = 0, limit: int = MAX_PAGE) -> History:
        return self._ask("GET", "/changes", {"since": since, "limit": limit}).read(
            wire.history_from
        )

    def _tell(self, event: Event) -> bool:
        return False

    def inspect(
        self,
        type: str,
        *,
        name: str = "",
        content: str = "",
        summary: str = "",
        tags: Sequence[str] = (),
    ) -> Sequence[Concern]:
        body = {"type": type, "name": name, "content": content, "summary": summary}
        found = self._ask("POST", "/inspect", body=body | {"tags": list(tags)})
        return found.each("concerns", wire.concern_from)

    def _ask(
        self,
        method: str,
        tail: str,
        query: Mapping[str, object] | None = None,
        *,
        body: object = None,
        version: int | None = None,
    ) -> Told:
        headers = self._headers(version)
        whole = {**self._whose, **(query or {})}
        return self._line.ask(method, self._path + tail, query=whole, body=body, headers=headers)

    def _headers(self, version: int | None = None) -> dict[str, str]:
        headers = {}
        if (expected := checked_version(version)) is not None:
            headers["If-Match"] = f'"v{expected}"'
        if self._source is not None:
            headers["X-Memories-Source"] = self._source
        return headers

    @property
    def _path(self) -> str:
        return "/memories" if self.agent is None else f"/agents/{self.agent.id}/memories"

    @property
    def _whose(self) -> dict[str, object]:
        names = ",".join(vocabulary.name for vocabulary in self._types_here)
        return {"principal_id": self.principal.id, "vocabularies": names}


class RemoteScope(RemoteReader, Scope):
    """A shelf behind a server, with all its verbs."""

    def read_only(self) -> ScopeReader:
        return RemoteReader(
            self._line,
            caller=self.caller,
            principal=self.principal,
            agent=self.agent,
            vocabularies=self._types_here,
            source=self._source,
        )

    def save(
        self,
        name: str,
        type: str,
        content: str | Unset = UNSET,
        *,
        expected_version: int | None = None,
        **fields: Any,
    ) -> Saved:
        body = {"name": name, "type": type, **wire.fields_json(fields | {"content": content})}
        found = self._ask("PUT", "", body=body, version=expected_version)
        return Saved(_memory(found), created=found["created"])

    def create(self, name: str, type: str, content: str = "", **fields: Any) -> Memory:
        sent = wire.fields_json(fields | {"content": content})
        if "order" in sent:
            sent["place"] = sent.pop("order")
        return _memory(self._ask("POST", "", body={"name": name, "type": type, **sent}))

    def update(
        self, id: UUID | str, *, expected_version: int | None = None, **fields: Any
    ) -> Memory:
        tail, body = f"/{parsed_id(id)}", wire.fields_json(fields)
        return _memory(self._ask("PUT", tail, body=body, version=expected_version))

    def replace(
        self,
        name: str,
        type: str,
        *,
        find: str | Unset = UNSET,
        new_text: str | Unset = UNSET,
        edits: Sequence[Edit] | Unset = UNSET,
        expected_version: int | None = None,
    ) -> Memory:
        query = {"name": name, "type": type}
        body = _edits(find, new_text, edits)
        return _memory(
            self._ask("POST", "/named/replace", query, body=body, version=expected_version)
        )

    def replace_by_id(
        self,
        id: UUID | str,
        *,
        find: str | Unset = UNSET,
        new_text: str | Unset = UNSET,
        edits: Sequence[Edit] | Unset = UNSET,
        expected_version: int | None = None,
    ) -> Memory:
        tail, body = f"/{parsed_id(id)}/replace", _edits(find, new_text, edits)
        return _memory(self._ask("POST", tail, body=body, version=expected_version))

    def delete(self, name: str, type: str, *, expected_version: int | None = None) -> Memory:
        query = {"name": name, "type": type}
        return _memory(self._ask("DELETE", "/named", query, version=expected_version))

    def delete_by_id(self, id: UUID | str, *, expected_version: int | None = None) -> Memory:
        return _memory(self._ask("DELETE", f"/{parsed_id(id)}", version=expected_version))

    def clear(self, *, type: str | None = None) -> int:
        return self._ask("DELETE", "", {"type": type}).one("deleted", int)

    def move(
        self,
        id: UUID | str,
        *,
        before: UUID | str | None = None,
        after: UUID | str | None = None,
        expected_version: int | None = None,
    ) -> Memory:
        sides = {"before": before, "after": after}
        body = {side: str(each) for side, each in sides.items() if each is not None}
        tail = f"/{parsed_id(id)}/move"
        return _memory(self._ask("POST", tail, body=body, version=expected_version))

    def reorder(self, ids: Sequence[UUID | str], *, unknown: Unknown = "refuse") -> None:
        order = ids if isinstance(ids, str) else [str(each) for each in ids]
        self._ask("PATCH", "/reorder", body={"order": order, "unknown": unknown})

    def transfer(self, id: UUID | str, *, to: Scope, expected_version: int | None = None) -> Memory:
        if not isinstance(to, RemoteScope) or to._line is not self._line:
            raise InvalidInput(
                "to must be a shelf of the same store.",
                field="to",
                suggestion="For example store.scope(acting_as=alice, principal=lab).",
            )
        there = {"principal_id": to.principal.id, "agent_id": to.agent and to.agent.id}
        tail = f"/{parsed_id(id)}/transfer"
        return _memory(self._ask("POST", tail, body=there, version=expected_version))

    def restore(
        self,
        id: UUID | str,
        *,
        version: int | None = None,
        expected_version: int | None = None,
    ) -> Memory:
        tail, body = f"/{parsed_id(id)}/restore", {"version": version}
        return _memory(self._ask("POST", tail, body=body, version=expected_version))

    def undo(self, *, seq: int | None = None) -> History:
        return self._ask("POST", "/undo", body={"seq": seq}).read(wire.history_from)

    def redact(self, text: str) -> int:
        return self._ask("POST", "/redact", body={"text": text}).one("found", int)

    def prune(self, *, keep: int | None = None, before: datetime | None = None) -> int:
        body = {"keep": keep, "before": None if before is None else before.isoformat()}
        return self._ask("POST", "/prune", body=body).one("emptied", int)

    def switch(self, *, on: bool) -> None:
        self._ask("PUT", "/enabled", body={"enabled": on})

    def adopt(
        self, pasts: Sequence[Past], *, conflict: Policy = "skip", dry_run: bool = False
    ) -> builtins.list[Adopted]:
        body = {
            "memories": [wire.past_json(each) for each in pasts],
            "conflict": conflict,
            "dry_run": dry_run,
        }
        return self._ask("POST", "/adopt", body=body).each("adopted", wire.adopted_from)

    def attach(
        self, content: bytes, *, name: str = "picture", media_type: str | None = None
    ) -> AttachmentHead:
        answer = self._line.send(
            "POST",
            f"{self._path}/attachments",
            query={**self._whose, "name": name},
            headers=self._headers() | ({"Content-Type": media_type} if media_type else {}),
            content=content,
        )
        return told(answer).one("attachment", wire.picture_from)

    def attachment(self, id: UUID | str) -> Attachment:
        wanted = parsed_id(id)
        path = f"{self._path}/attachments/{wanted}"
        answer = self._line.send("GET", path, query=self._whose, headers=self._headers())
        head = next((each for each in self.attachments() if each.id == wanted), None)
        if head is None:
            raise NotFound("Attachment not found.", suggestion="attachments() lists them.")
        known = {name: getattr(head, name) for name in AttachmentHead.__dataclass_fields__}
        return Attachment(**known, content=answer.content)

    def attachments(self, *, unused: bool = False) -> tuple[AttachmentHead, ...]:
        found = self._ask("GET", "/attachments", {"unused": "true"} if unused else {})
        return tuple(found.each("attachments", wire.picture_from))

    def detach(self, id: UUID | str) -> None:
        self._ask("DELETE", f"/attachments/{parsed_id(id)}")

    def keep_draft(
        self,
        key: str,
        *,
        memory_id: UUID | str | None = None,
        tags: Sequence[str] = (),
        **fields: Any,
    ) -> EditorDraft:
        id = None if memory_id is None else str(memory_id)
        body = fields | {"memory_id": id, "tags": list(tags)}
        tail = f"/drafts/{checked_key(key)}"
        return self._ask("PUT", tail, body=body).one("draft", wire.draft_from)

    def drafts(self) -> tuple[EditorDraft, ...]:
        return tuple(self._ask("GET", "/drafts").each("drafts", wire.draft_from))

    def drop_draft(self, key: str) -> None:
        self._ask("DELETE", f"/drafts/{checked_key(key)}")

    def _headers(self, version: int | None = None) -> dict[str, str]:
        headers = super()._headers(version)
        if self._once_key is not None:
            headers["Idempotency-Key"] = self._once_key
        return headers


def only_there(what: str) -> NoReturn:
    """Refuse what is done where the server runs, and not over the line."""
    raise InvalidInput(f"{what} beside the database.", suggestion="Run it where the server runs.")


def _memory(found: Told) -> Memory:
    return found.one("memory", wire.memory_from)


def _memories(found: Told) -> tuple[Memory, ...]:
    return tuple(found.each("memories", wire.memory_from))


def _edits(find: str | Unset, new_text: str | Unset, edits: Sequence[Edit] | Unset) -> Json:
    sent = wire.fields_json({"find": find, "new_text": new_text})
    if not isinstance(edits, Unset):
        sent["edits"] = [{"find": each.find, "new_text": each.new_text} for each in edits]
    return sent
