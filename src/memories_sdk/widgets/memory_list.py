"""The memories of a shelf, in their order, by windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import traitlets
from uuid6 import UUID

from memories_sdk.errors import InvalidInput, MemoriesError
from memories_sdk.memory import Memory, MemoryHead
from memories_sdk.scope import Scope
from memories_sdk.search.hits import Hit
from memories_sdk.widgets._bridge import verb
from memories_sdk.widgets._place import Placed, revision_of

MAX_WINDOW: Final = 500
MAX_DELETED: Final = 200
MAX_HITS: Final = 200


@dataclass(frozen=True, slots=True)
class _Heads:
    """The heads of one shelf as they were at one place of the change feed."""

    key: str
    seq: int
    heads: tuple[MemoryHead, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """What a search found: for which shelf, state, words and type; heads, and passages by id."""

    asked: tuple[object, ...]
    heads: tuple[MemoryHead, ...]
    passages: Mapping[UUID, str]


@dataclass(frozen=True, slots=True)
class _Group:
    """The line above the memories of one type."""

    type: str
    label: str
    count: int


class MemoryList(Placed):
    """The memories of the open shelf: found by search, moved by mouse, touch or key.

    Attributes:
        filter: Only memories of this type; None for all.
        grouped: Whether memories of one type stand together under a heading.
        query: Only memories that a search for it finds, the best first, then those that hold all
            its words, or parts of words, in name, summary or tags. Never saved in a notebook.
        selected: Id of the memory that is open, or None.
    """

    filter = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    grouped = traitlets.Bool(default_value=False).tag(sync=True)
    query = traitlets.Unicode("")
    selected = traitlets.Unicode(None, allow_none=True).tag(sync=True)

    _heads: _Heads | None = None
    _found: _Found | None = None

    @verb("rows")
    def _rows(self, *, offset: int, limit: int) -> dict[str, object]:
        """Return the lines [offset, offset + limit) of the list: rows, and headings of groups."""
        start, size = max(0, offset), max(0, min(limit, MAX_WINDOW))
        if start == 0 and not self.grouped and not self.query.strip():
            return self._top(size)
        known = self._all()
        found, passages = self._matching(known)
        lines = self._lines(found)
        groups = [
            {"type": line.type, "start": index, "count": line.count}
            for index, line in enumerate(lines if self.grouped else ())
            if isinstance(line, _Group)
        ]
        return {
            "offset": start,
            "rows": [_line(each, passages) for each in lines[start : start + size]],
            "length": len(lines),
            "total": len(found),
            "all": len(known.heads),
            "groups": groups,
            "ranked": bool(self.query.strip()),
        }

    def _top(self, size: int) -> dict[str, object]:
        """Return the first rows in their own order: of a large shelf no more is read for them."""
        scope = self.scope
        page = scope.list(type=self.filter, limit=max(1, size))
        return {
            "offset": 0,
            "rows": [_line(head, {}) for head in page[:size]],
            "length": page.total,
            "total": page.total,
            "all": page.total if self.filter is None else sum(scope.counts().values()),
            "groups": [],
            "ranked": False,
        }

    @verb("ids")
    def _ids(self) -> list[dict[str, object]]:
        """Return id and version of all memories that match, in their order."""
        found, _ = self._matching(self._all())
        return [{"id": str(head.id), "version": head.version} for head in found]

    @verb("seek")
    def _seek(self, *, query: str) -> None:
        """Show only memories with these words."""
        self.query = query

    @verb("group")
    def _group(self, *, on: bool) -> None:
        """Put memories of one type together, or list all in their order."""
        self.grouped = on

    @verb("select")
    def _select(self, *, id: str | None) -> None:
        """Open that memory; None closes the open one."""
        self.selected = id

    @verb("move")
    def _move(
        self,
        *,
        id: str,
        before: str | None = None,
        after: str | None = None,
        expected_version: int | None = None,
    ) -> None:
        """Put a memory next to another one."""
        self.scope.move(id, before=before, after=after, expected_version=expected_version)
        self._touched()

    @verb("pin")
    def _pin(self, *, items: list[dict[str, object]], pinned: bool) -> dict[str, object]:
        """Pin memories, or let them go."""
        return self._each(
            items,
            lambda scope, id, version: scope.update(id, pinned=pinned, expected_version=version),
        )

    @verb("retype")
    def _retype(self, *, items: list[dict[str, object]], type: str) -> dict[str, object]:
        """Give memories another type."""
        return self._each(
            items, lambda scope, id, version: scope.update(id, type=type, expected_version=version)
        )

    @verb("remove")
    def _remove(self, *, items: list[dict[str, object]]) -> dict[str, object]:
        """Delete memories."""
        return self._each(
            items, lambda scope, id, version: scope.delete_by_id(id, expected_version=version)
        )

    @verb("bring_back")
    def _bring_back(self, *, ids: list[str]) -> dict[str, object]:
        """Restore deleted memories."""
        items: list[dict[str, object]] = [{"id": id, "version": 1} for id in ids]
        return self._each(items, lambda scope, id, _version: scope.restore(id))

    @verb("deleted")
    def _deleted(self) -> list[dict[str, object]]:
        """Return the memories of the shelf that are gone, the last ones first."""
        return [revision_of(each) for each in self.scope.deleted(limit=MAX_DELETED)]

    @verb("clear")
    def _clear(self, *, type: str | None) -> list[str]:
        """Delete all memories of that type, or of the shelf for None; return their ids."""
        scope = self.scope
        seq = self._seq()
        scope.clear(type=type)
        ids: list[str] = []
        while found := scope.changes(since=seq):
            ids += [str(each.memory_id) for each in found if each.action == "clear"]
            seq = found[-1].seq
        self._touched()
        return ids

    @verb("shelves")
    def _shelves(self) -> list[dict[str, object]]:
        """Return every shelf the caller may open, but the one that is open."""
        found: list[dict[str, object]] = []
        for principal in self._store.principals.visible_to(self._caller):
            found.append({"principal_id": principal.id, "agent_id": None, "name": principal.name})
            found += [
                {"principal_id": principal.id, "agent_id": agent.id, "name": agent.name}
                for agent in self._store.agents.owned_by(principal)
            ]
        here = (self.principal_id, self.agent_id)
        return [each for each in found if (each["principal_id"], each["agent_id"]) != here]

    @verb("shelve")
    def _shelve(
        self, *, items: list[dict[str, object]], principal_id: int, agent_id: int | None
    ) -> dict[str, object]:
        """Move memories to another shelf."""
        target = self._scope_of(principal_id, agent_id)
        return self._each(
            items,
            lambda scope, id, version: scope.transfer(id, to=target, expected_version=version),
        )

    @verb("fetch_back")
    def _fetch_back(
        self, *, ids: list[str], principal_id: int, agent_id: int | None
    ) -> dict[str, object]:
        """Move memories here from the shelf that they were moved to."""
        source = self._scope_of(principal_id, agent_id)
        items: list[dict[str, object]] = [{"id": id, "version": 1} for id in ids]
        return self._each(items, lambda scope, id, _version: source.transfer(id, to=scope))

    @verb("take_in")
    def _take_in(self, *, files: list[dict[str, object]], type: str) -> dict[str, object]:
        """Make a memory of each file; a folder that is named like a type gives that type."""
        scope = self.scope
        types = {each for vocabulary in scope.vocabularies for each in vocabulary.types}
        done: list[str] = []
        refused: list[str] = []
        for file in files:
            path, text = file.get("path"), file.get("text")
            if not isinstance(path, str) or not isinstance(text, str):
                raise InvalidInput("files must hold path and text.", field="files")
            *folders, last = path.strip("/").split("/")
            kind = next((each for each in reversed(folders) if each in types), type)
            try:
                made = scope.create(last.rpartition(".")[0] or last, kind, text)
            except MemoriesError as refusal:
                refused.append(f"{path}: {refusal.message}")
            else:
                done.append(str(made.id))
        self._touched()
        return {"done": done, "refused": refused}

    def _each(
        self,
        items: list[dict[str, object]],
        change: Callable[[Scope, str, int], object],
    ) -> dict[str, object]:
        """Change memories one by one; what one refuses does not stop the others."""
        scope = self.scope
        done: list[str] = []
        refused: list[str] = []
        versions: dict[str, int] = {}
        for item in items:
            id, version = item.get("id"), item.get("version")
            if not isinstance(id, str) or not isinstance(version, int):
                raise InvalidInput("items must hold id and version.", field="items")
            try:
                now = change(scope, id, version)
            except MemoriesError as refusal:
                refused.append(refusal.message)
            else:
                done.append(id)
                if isinstance(now, Memory):
                    versions[id] = now.version
        self._touched()
        return {"done": done, "refused": refused, "versions": versions}

    def _all(self) -> _Heads:
        scope = self.scope
        # Read first: a change during the listing then makes the next look read again.
        seq = self._seq()
        known = self._heads
        if known is None or (known.key, known.seq) != (scope.key, seq):
            heads: list[MemoryHead] = []
            cursor = None
            while True:
                page = scope.list(limit=MAX_WINDOW, cursor=cursor)
                heads += page
                cursor = page.next_cursor
                if cursor is None:
                    break
            known = self._heads = _Heads(scope.key, seq, tuple(heads))
        return known

    def _matching(self, known: _Heads) -> tuple[tuple[MemoryHead, ...], Mapping[UUID, str]]:
        """Return what filter and search let through, and the passages that a search found."""
        heads = known.heads
        if self.filter is not None:
            heads = tuple(head for head in heads if head.type == self.filter)
        words = self.query.casefold().split()
        if not words:
            return heads, {}
        asked = (known.key, known.seq, self.query, self.filter)
        if self._found is None or self._found.asked != asked:
            hits = self.scope.search(self.query, type=self.filter, limit=MAX_HITS)
            best = {hit.memory.id: hit.memory for hit in hits}
            # A word that is not typed to its end yet is in no index.
            rest = [head for head in heads if all(word in _text(head) for word in words)]
            merged = best | {head.id: head for head in rest if head.id not in best}
            self._found = _Found(asked, tuple(merged.values()), _passages(hits))
        return self._found.heads, self._found.passages

    def _lines(self, heads: tuple[MemoryHead, ...]) -> tuple[MemoryHead | _Group, ...]:
        if not self.grouped:
            return heads
        lines: list[MemoryHead | _Group] = []
        for vocabulary in self._store.vocabularies:
            for type, label in vocabulary.labels.items():
                of_type = [head for head in heads if head.type == type]
                lines += [_Group(type, label, len(of_type)), *of_type] if of_type else []
        return tuple(lines)


def row_of(head: MemoryHead) -> dict[str, object]:
    """Return what a row shows."""
    return {
        "id": str(head.id),
        "name": head.name,
        "type": head.type,
        "summary": head.summary or "",
        "tags": list(head.tags),
        "pinned": head.pinned,
        "updated": head.updated_at.isoformat(),
        "version": head.version,
    }


def _line(line: MemoryHead | _Group, passages: Mapping[UUID, str]) -> dict[str, object]:
    if isinstance(line, _Group):
        return {
            "id": f"group {line.type}",
            "heading": line.type,
            "label": line.label,
            "count": line.count,
        }
    return {**row_of(line), "found": passages.get(line.id)}


def _passages(hits: Iterable[Hit]) -> dict[UUID, str]:
    """Return the best passage of each body, as one line."""
    return {
        hit.memory.id: " ".join(passage.text.split())
        for hit in hits
        for passage in hit.passages[::-1]
        if passage.field == "content"
    }


def _text(head: MemoryHead) -> str:
    return " ".join((head.name, head.summary or "", *head.tags)).casefold()
