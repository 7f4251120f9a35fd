"""Shelves that hide something from somebody, and every verb that may try to get at it."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from uuid6 import UUID

from memories_sdk import Edit, MemoriesError, Memory, MemoryStore, Principal, Scope
from memories_sdk.attachments import picture_digest, picture_id
from memories_sdk.past import single

CANARY = "canary-4711"
UNKNOWN = UUID(int=4711)
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR a picture"

# Each verb tries to get at a memory with the caller's own shelf in hand. `it` is the wanted
# memory, `mine` one of the caller's own.
VERBS: dict[str, Callable[[Scope, Memory, Memory], object]] = {
    "list": lambda shelf, it, _: (shelf.list(), shelf.list(type=it.type)),
    "counts": lambda shelf, _it, _: shelf.counts(),
    "read": lambda shelf, it, _: (shelf.read(), shelf.read(type=it.type)),
    "get": lambda shelf, it, _: shelf.get(it.name, it.type),
    "get_by_id": lambda shelf, it, _: shelf.get_by_id(it.id),
    "recent": lambda shelf, it, _: (shelf.recent(), shelf.recent(containing=it.name)),
    "inspect": lambda shelf, it, _: shelf.inspect(it.type, name=it.name),
    "history": lambda shelf, it, _: (shelf.history(id=it.id), shelf.history()),
    "deleted": lambda shelf, _it, _: shelf.deleted(),
    "changes": lambda shelf, _it, _: shelf.changes(),
    "watch": lambda shelf, _it, mine: (
        shelf.save(mine.name, mine.type, "noticed") and next(shelf.watch(since=0))
    ),
    "search": lambda shelf, it, _: (shelf.search(CANARY), shelf.search(it.name)),
    "relevant_for_prompt": lambda shelf, it, _: shelf.relevant_for_prompt(
        f"{it.name} {CANARY}", min_relevance=0
    ),
    "read_only": lambda shelf, it, _: shelf.read_only().get_by_id(it.id),
    "save": lambda shelf, it, _: shelf.save(it.name, it.type, "stolen"),
    "once": lambda shelf, it, _: shelf.once("key").save(it.name, it.type, "stolen"),
    "create": lambda shelf, it, _: shelf.create(it.name, it.type, "stolen"),
    "update": lambda shelf, it, _: shelf.update(it.id, content="stolen"),
    "replace": lambda shelf, it, _: shelf.replace(it.name, it.type, find=CANARY, new_text="x"),
    "replace_by_id": lambda shelf, it, _: shelf.replace_by_id(it.id, edits=[Edit(CANARY, "x")]),
    "delete": lambda shelf, it, _: shelf.delete(it.name, it.type),
    "delete_by_id": lambda shelf, it, _: shelf.delete_by_id(it.id),
    "clear": lambda shelf, _it, _: shelf.clear(),
    "move": lambda shelf, it, mine: shelf.move(it.id, before=mine.id),
    "reorder": lambda shelf, it, mine: shelf.reorder([mine.id, it.id]),
    "transfer": lambda shelf, it, _: shelf.transfer(it.id, to=shelf),
    "restore": lambda shelf, it, _: shelf.restore(it.id, version=1),
    "adopt": lambda shelf, it, _: shelf.adopt(
        [single(shelf.vocabularies, {"name": it.name, "type": it.type, "content": "stolen"})],
        conflict="overwrite",
    ),
    "undo": lambda shelf, _it, _: shelf.undo(),
    "redact": lambda shelf, _it, _: shelf.redact(CANARY),
    "prune": lambda shelf, _it, _: shelf.prune(keep=1),
    "attach": lambda shelf, _it, _: shelf.attach(PICTURE, name="mine"),
    "attachment": lambda shelf, _it, _: shelf.attachment(picture_id(picture_digest(PICTURE))),
    "attachments": lambda shelf, _it, _: shelf.attachments(),
    "detach": lambda shelf, _it, _: shelf.detach(picture_id(picture_digest(PICTURE))),
    "keep_draft": lambda shelf, it, _: shelf.keep_draft("k", type=it.type, content="mine"),
    "drafts": lambda shelf, _it, _: shelf.drafts(),
    "drop_draft": lambda shelf, _it, _: shelf.drop_draft("k"),
    "switch": lambda shelf, _it, _: (shelf.switch(on=False), shelf.switch(on=True)),
}
WHOSE = ["another user's", "another agent's", "an agent's own", "a group's", "a same number's"]


def foreign_shelf(
    store: MemoryStore, whose: str, alice: Principal, lab: Principal, carol: Principal
) -> tuple[Scope, Scope]:
    """Return the shelf that hides something, and the shelf from which to look for it."""
    hers = store.scope(acting_as=carol)
    match whose:
        case "another user's":
            return store.scope(acting_as=alice), hers
        case "another agent's":
            store.agents.create("writer", owner=alice)
            return store.scope(acting_as=alice, agent="writer"), hers
        case "an agent's own":
            return store.scope(acting_as=carol, agent="mole"), hers
        case "a group's":
            return store.scope(acting_as=alice, principal=lab), hers
        case "a same number's":
            twin = store.agents.get("mole", owner=carol)
            assert twin.id == alice.id
            return store.scope(acting_as=alice), store.scope(acting_as=carol, agent=twin)
    raise ValueError(whose)


def hide(shelf: Scope) -> Memory:
    """Put a memory on a shelf whose every text but its name and type is a secret."""
    shelf.create("known", "plan", CANARY, summary=CANARY, tags=[CANARY])
    memory = shelf.save("known", "plan", f"two {CANARY}").memory
    gone = shelf.create("gone", "plan", CANARY)
    shelf.delete_by_id(gone.id)
    shelf.attach(PICTURE, name=CANARY)
    shelf.keep_draft("k", type="plan", content=CANARY, memory_id=memory.id)
    return memory


def state(shelf: Scope) -> object:
    """Return all that can be read of a shelf."""
    beside = shelf.attachments(), shelf.drafts()
    return [shelf.get_by_id(head.id) for head in shelf.list()], list(shelf.history()), beside


def texts(value: object) -> str:
    """Return everything a value tells, at any depth."""
    if dataclasses.is_dataclass(value):
        return " ".join(texts(getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return " ".join(texts(each) for each in [*value, *value.values()])
    if isinstance(value, Sequence | set | frozenset):
        return " ".join(texts(each) for each in value)
    if isinstance(value, BaseException):
        return f"{value} {texts(vars(value))} {texts(value.__cause__)}"
    return repr(value)


class Seen:
    """A shelf of which a version was seen: verbs that take one are called with that."""

    def __init__(self, shelf: Scope, version: int) -> None:
        self._shelf = shelf
        self._version = version

    def __getattr__(self, name: str) -> object:
        found = getattr(self._shelf, name)
        if name == "once":
            return lambda key: Seen(found(key), self._version)
        if callable(found) and "expected_version" in inspect.signature(found).parameters:
            return partial(found, expected_version=self._version)
        return found


def attempt(verb: str, shelf: Scope, memory: Memory, mine: Memory) -> object:
    """Try a verb and return what it gives or says."""
    try:
        return VERBS[verb](shelf, memory, mine)
    except MemoriesError as error:
        return error
