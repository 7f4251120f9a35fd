"""What stores are made to do, and how a shelf is compared with what it must be."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final

from memories_sdk import Edit, MemoriesError, MemoryStore, Scope

State = list[list[object]]
Verb = Callable[[Scope], object]

ROOT: Final = Path(__file__).parent.parent


def shelf_of(store: MemoryStore) -> Scope:
    """Return the shelf that everything happens on."""
    return store.scope(acting_as=store.principals.user("alice"))


def state(shelf: Scope) -> State:
    """Return what is on a shelf, in its order, ready for JSON."""
    return [
        [head.name, head.version, hash_of(shelf.get_by_id(head.id).content)]
        for head in shelf.list(limit=500)
    ]


def hash_of(content: str) -> str:
    """Return a body in short: how long it is, and its ends."""
    return f"{len(content)}:{content[:12]}:{content[-12:]}"


def fill(shelf: Scope, after: Callable[[], object] = lambda: None) -> None:
    """Put eight memories there, one of them deleted; call AFTER behind each change."""
    for name in "abcdefgh":
        shelf.save(name, "plan", "start " + f"old {name} " * 100)
        after()
    shelf.delete("h", "plan")
    after()


def _rest(shelf: Scope) -> list[str]:
    return [str(head.id) for head in shelf.list()]


OPERATIONS: Final[dict[str, Verb]] = {
    "save new": lambda shelf: shelf.save("new", "plan", "new " * 700),
    "save over": lambda shelf: shelf.save("a", "plan", "other " * 700),
    "replace": lambda shelf: shelf.replace("a", "plan", edits=[Edit("start", "end")]),
    "move": lambda shelf: shelf.move(_rest(shelf)[0], after=_rest(shelf)[-1]),
    "reorder": lambda shelf: shelf.reorder(_rest(shelf)[::-1]),
    "delete": lambda shelf: shelf.delete("b", "plan"),
    "clear": lambda shelf: shelf.clear(),
    "restore": lambda shelf: shelf.restore(str(shelf.deleted()[0].memory_id)),
    "undo": lambda shelf: shelf.undo(),
    "redact": lambda shelf: shelf.redact("old c"),
    "save once": lambda shelf: shelf.once("key").save("a", "plan", "once " * 200),
}


def any_write(shelf: Scope, random: Random, who: str) -> tuple[str, int, str] | None:
    """Do something that writes; return id, version and body of the memory, if it was about one."""
    name = f"n{random.randrange(12)}"
    dice = random.random()
    try:
        if dice < 0.5:
            memory = shelf.save(name, "plan", f"{who} {random.random()} " * random.randrange(1, 80))
            return str(memory.memory.id), memory.memory.version, memory.memory.content
        if dice < 0.75:
            found = shelf.get(name, "plan").content
            word = found.rsplit(" ", 2)[-2] if found.count(" ") > 1 else found
            memory2 = shelf.replace(name, "plan", find=word + found[-1:], new_text=f"{who}! ")
            return str(memory2.id), memory2.version, memory2.content
        if dice < 0.85:
            ids = [head.id for head in shelf.list()]
            random.shuffle(ids)
            shelf.reorder(ids[:4])
        elif dice < 0.95:
            ids = [head.id for head in shelf.list()]
            shelf.move(ids[0], after=ids[-1])
        else:
            gone = shelf.delete(name, "plan")
            return str(gone.id), gone.version + 1, ""
    except (MemoriesError, IndexError) as error:
        if isinstance(error, MemoriesError) and error.code in {"busy", "storage", "damaged"}:
            raise
    return None


def old_file(path: Path) -> None:
    """Make a file of the first release, in use."""
    dump = (ROOT / "tests" / "schemas" / "version_1_full.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump)
        connection.execute("PRAGMA journal_mode=WAL").fetchone()
