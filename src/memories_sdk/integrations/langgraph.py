"""A shelf as the store of LangGraph: what a graph keeps for good, people see and curate.

```python
graph = builder.compile(store=ShelfStore(store.scope(acting_as=alice)))
```

An item is a memory: its namespace and key are the name, `notes/alice/reader` for the key `reader`
in `("notes", "alice")`, and its value is the body, as JSON. A body that a person wrote as plain
text is the value `{"content": …}`. The value of a memory that a person marked untrusted begins
with a note that says so, under the key `(untrusted)`; it is no part of the body.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote

from memories_sdk.document_tools import UNTRUSTED_NOTE
from memories_sdk.errors import NotFound
from memories_sdk.integrations import Extra, heads
from memories_sdk.memory import UNTRUSTED, Memory, MemoryHead
from memories_sdk.pages import MAX_PAGE
from memories_sdk.scope import Scope

with Extra("langgraph", "langgraph", "langchain_core"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        validate_op_namespace,
    )

Namespace = tuple[str, ...]


class ShelfStore(BaseStore):
    """A store of LangGraph over one shelf; its loop never waits for the database.

    A search with a query is that of the shelf: by words, and by meaning where the store has an
    embedder. Without one, items come in the order of the shelf's list. All of an item can be found,
    whatever `index=` says, and none expires by `ttl`. What LangGraph's own store tests make of that
    stands in `docs/langgraph.md`.

    Args:
        scope: The shelf.
        type: The type of the memories that items are.
    """

    __slots__ = ("_scope", "_type")

    def __init__(self, scope: Scope, *, type: str = "context") -> None:
        self._scope = scope
        self._type = type

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out several operations: what reads sees the state before what writes.

        Raises:
            InvalidNamespaceError: A label is no text, empty, or has a dot; nothing was carried out.
        """
        ordered = list(ops)
        for op in ordered:
            validate_op_namespace(op)
        results: list[Result] = [
            None if isinstance(op, PutOp) else self._read(op) for op in ordered
        ]
        last = {(op.namespace, op.key): op for op in ordered if isinstance(op, PutOp)}
        for op in last.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out several operations in a worker thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        msg = f"unknown operation: {type(op).__name__}"
        raise ValueError(msg)

    def _get(self, op: GetOp) -> Item | None:
        try:
            memory = self._scope.get(_name(op.namespace, op.key), self._type)
        except NotFound:
            return None
        return Item(**_item(memory))

    def _put(self, op: PutOp) -> None:
        name = _name(op.namespace, op.key)
        if op.value is not None:
            told = {name: each for name, each in op.value.items() if name != UNTRUSTED}
            body = json.dumps(told, ensure_ascii=False, indent=1)
            self._scope.save(name, self._type, body)
            return
        try:
            self._scope.delete(name, self._type)
        except NotFound:
            return

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = tuple(op.namespace_prefix)  # callers pass lists too
        found = self._hits(op.query) if op.query else self._all(prefix)
        items = (
            SearchItem(**_item(memory), score=score)
            for memory, score in found
            if _place(memory.name)[0][: len(prefix)] == prefix
        )
        wanted = (item for item in items if _matches(item.value, op.filter or {}))
        return list(itertools.islice(wanted, op.offset, op.offset + op.limit))

    def _hits(self, query: str) -> Iterable[tuple[Memory, float | None]]:
        """Yield what the search of the shelf finds, the best first."""
        cursor = None
        while True:
            page = self._scope.search(query, type=self._type, limit=MAX_PAGE, cursor=cursor)
            for hit in page:
                if (memory := self._whole(hit.memory)) is not None:
                    yield memory, hit.score
            if (cursor := page.next_cursor) is None:
                return

    def _all(self, prefix: Namespace) -> Iterable[tuple[Memory, float | None]]:
        for head in heads(self._scope, type=self._type):
            inside = _place(head.name)[0][: len(prefix)] == prefix
            if inside and (memory := self._whole(head)) is not None:
                yield memory, None

    def _whole(self, head: MemoryHead) -> Memory | None:
        """Return a memory of a list, or None when somebody deleted it since."""
        try:
            return self._scope.get_by_id(head.id)
        except NotFound:
            return None

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        found = {_place(head.name)[0] for head in heads(self._scope, type=self._type)}
        conditions = op.match_conditions or ()
        kept = {
            namespace[: op.max_depth]
            for namespace in found
            if all(_fits(namespace, condition) for condition in conditions)
        }
        return sorted(kept)[op.offset : op.offset + op.limit]


def _name(namespace: Namespace, key: str) -> str:
    parts = (quote(part, safe=_SAFE, errors=_HALVES) for part in (*namespace, key))
    # A blank at either end of a name is trimmed: two keys would be one item.
    return re.sub(r"^ +| +$", lambda blanks: quote(blanks[0]), "/".join(parts))


def _place(name: str) -> tuple[Namespace, str]:
    *namespace, key = (unquote(part, errors=_HALVES) for part in name.split("/"))
    return tuple(namespace), key


_HALVES: Final = "surrogatepass"
"""How half a character, which a key may hold, is written and read."""


_SAFE: Final = " !#$&'()*+,:;=?@[]{}~"


def _item(memory: Memory) -> dict[str, Any]:
    namespace, key = _place(memory.name)
    return {
        "namespace": namespace,
        "key": key,
        "value": {**_label(memory), **_value(memory.content)},
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }


def _label(memory: Memory) -> dict[str, str]:
    """Return what an agent is told of an untrusted memory, as a part of its value."""
    return {UNTRUSTED: UNTRUSTED_NOTE} if memory.untrusted else {}


def _value(body: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"content": body}


_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def _matches(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_compares(_at(value, name), condition) for name, condition in wanted.items())


def _at(value: Mapping[str, Any], name: str) -> object:
    """Return what stands under a name, or under a path of names with dots between."""
    if name in value:
        return value[name]
    outer, dot, inner = name.partition(".")
    below = value.get(outer)
    return _at(below, inner) if dot and isinstance(below, Mapping) else None


def _compares(value: object, condition: object) -> bool:
    if not isinstance(condition, Mapping) or not any(str(it).startswith("$") for it in condition):
        return value == condition
    for sign, other in condition.items():
        if sign not in _COMPARE:
            msg = f"unknown comparison: {sign}"
            raise ValueError(msg)
        try:
            if not _COMPARE[sign](value, other):
                return False
        except TypeError:
            return False  # a text is neither more nor less than a number
    return True


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    path: Sequence[str] = condition.path
    if len(namespace) < len(path):
        return False
    end = namespace[: len(path)]
    if condition.match_type == "suffix":
        end = namespace[len(namespace) - len(path) :]
    return all(wanted in {"*", part} for wanted, part in zip(path, end, strict=True))
