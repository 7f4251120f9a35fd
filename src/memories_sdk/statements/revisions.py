"""The history of a shelf."""

from __future__ import annotations

from functools import cache
from typing import Final

from sqlalchemy import bindparam, exists, func, insert, literal_column, null, or_, select, update

from memories_sdk.history import ENDINGS
from memories_sdk.statements.memories import HEAD_COLUMNS
from memories_sdk.statements.terms import (
    COUNTED,
    ONE,
    ZERO,
    bodies,
    memories,
    revisions,
    schema,
    shelves,
    word,
)
from memories_sdk.wording import compiled

FACTS: Final = (
    "seq",
    "memory_id",
    "scope_key",
    "action",
    "actor",
    "source",
    "at",
    "version",
    "type",
    "name",
)
IMAGE: Final = ("before", "before_content", "redacted")
REVISION_COLUMNS: Final = tuple(revisions.c[name] for name in (*FACTS, *IMAGE, "part_of", "undoes"))
INSERT_REVISION: Final = compiled(
    insert(revisions).values({c.name: bindparam(c.name) for c in revisions.c if c.name != "seq"})
)
_last_seal = (
    select(revisions.c.seal)
    .where(revisions.c.scope_key == bindparam("scope_key"))
    .order_by(revisions.c.seq.desc())
    .limit(ONE)
    .offset(ZERO)
)
LAST_SEAL: Final = compiled(_last_seal)
_enabled = select(shelves.c.enabled).where(shelves.c.scope_key == bindparam("scope_key"))
_version = select(schema.c.version).where(schema.c.id == ONE)
BEGINNING: Final = compiled(
    select(*(each.scalar_subquery() for each in (_enabled, _last_seal, _version)))
)
"""What each write reads first, at the price of one statement."""
_last = revisions.alias("last")
STATES: Final = compiled(
    select(
        *HEAD_COLUMNS,
        bodies.c.content,
        memories.c.scope_key,
        bodies.c.sha256,
        select(_last.c.after)
        .where(_last.c.memory_id == memories.c.id)
        .order_by(_last.c.seq.desc())
        .limit(ONE)
        .offset(ZERO)
        .scalar_subquery(),
    ).join(bodies, bodies.c.row == memories.c.row)
)
WHOLE_LINK = select(*(revisions.c[name] for name in (*FACTS, *IMAGE, "after", "seal")))
CHAIN: Final = compiled(WHOLE_LINK.order_by(revisions.c.scope_key, revisions.c.seq))
_newest = select(func.max(_last.c.seq)).group_by(_last.c.scope_key)
HEADS: Final = compiled(
    select(revisions.c.scope_key, revisions.c.seal)
    .where(revisions.c.seq.in_(_newest))
    .order_by(revisions.c.scope_key)
)
WRITES: Final = compiled(
    select(revisions.c.at)
    .where(revisions.c.scope_key == COUNTED, revisions.c.part_of.is_(None))
    .order_by(revisions.c.seq.desc())
    .limit(bindparam("limit"))
    .offset(ZERO)
)
HISTORY: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(
        revisions.c.scope_key == bindparam("scope_key"), revisions.c.seq < bindparam("before_seq")
    )
    .order_by(revisions.c.seq.desc())
    .limit(bindparam("limit"))
    .offset(ZERO)
)
# The plus keeps the planner on the revisions of the memory; it would walk all of the shelf's.
_of_shelf = literal_column("+memory_revisions.scope_key") == bindparam("scope_key")
_history_of = (
    select(*REVISION_COLUMNS)
    .where(_of_shelf, revisions.c.seq < bindparam("before_seq"))
    .order_by(revisions.c.seq.desc())
    .limit(bindparam("limit"))
    .offset(ZERO)
)


@cache
def history_of(ids: int) -> str:
    """Return the statement of one page of the revisions of `ids` memories, `id_0` and so on."""
    named = revisions.c.memory_id.in_([bindparam(f"id_{index}") for index in range(ids)])
    return compiled(_history_of.where(named))


LAST_NAMED: Final = compiled(
    select(revisions.c.memory_id)
    .where(
        revisions.c.scope_key == bindparam("scope_key"),
        revisions.c.type == bindparam("type"),
        revisions.c.name == bindparam("name"),
        revisions.c.named == ONE,
    )
    .order_by(revisions.c.seq.desc())
    .limit(ONE)
    .offset(ZERO)
)
_later = revisions.alias("later")
DELETED: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(
        revisions.c.scope_key == bindparam("scope_key"),
        # Of all endings, and few others; the engine's index holds just these.
        revisions.c.after.is_(None),
        revisions.c.action.in_([word(name) for name in ENDINGS]),
        ~exists().where(
            _later.c.memory_id == revisions.c.memory_id, _later.c.seq > revisions.c.seq
        ),
    )
    .order_by(revisions.c.seq.desc())
    .limit(bindparam("limit"))
    .offset(ZERO)
)
_mine = revisions.c.scope_key == bindparam("scope_key")
LAST_CHANGE: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(
        _mine,
        revisions.c.part_of.is_(None),
        revisions.c.undoes.is_(None),
        revisions.c.action.not_in([word("redact"), word("prune")]),
        ~exists().where(_later.c.undoes == revisions.c.seq),
    )
    .order_by(revisions.c.seq.desc())
    .limit(ONE)
    .offset(ZERO)
)
PARTS: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(_mine, or_(revisions.c.seq == bindparam("seq"), revisions.c.part_of == bindparam("seq")))
    .order_by(revisions.c.seq.desc())
)
IMAGES: Final = compiled(
    select(*(revisions.c[name] for name in (*FACTS, *IMAGE))).where(
        _mine, or_(revisions.c.before.is_not(None), revisions.c.before_content.is_not(None))
    )
)
REWRITE_IMAGE: Final = compiled(
    update(revisions)
    .values({name: bindparam(f"new_{name}") for name in IMAGE})
    .where(_mine, revisions.c.seq == bindparam("at_seq"))
)
CHANGES: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(revisions.c.scope_key == bindparam("scope_key"), revisions.c.seq > bindparam("since"))
    .order_by(revisions.c.seq)
    .limit(bindparam("limit"))
    .offset(ZERO)
)
# No texts: an image belongs to whoever reads the shelf itself.
NOTICES: Final = compiled(
    select(
        *(revisions.c[name] for name in FACTS),
        *(null().label(name) for name in IMAGE),
        revisions.c.part_of,
        revisions.c.undoes,
    )
    .where(revisions.c.scope_key == bindparam("scope_key"), revisions.c.seq > bindparam("since"))
    .order_by(revisions.c.seq)
    .limit(bindparam("limit"))
    .offset(ZERO)
)
NEWEST: Final = compiled(select(func.max(revisions.c.seq)))
NEWEST_OF_SHELF: Final = compiled(select(func.max(revisions.c.seq)).where(_mine))

# A memory is on one shelf at a time; the last arrival of its id says on which one it was last.
LAST_ARRIVAL: Final = compiled(
    select(revisions.c.scope_key)
    .where(revisions.c.memory_id == bindparam("id"), revisions.c.action == word("arrive"))
    .order_by(revisions.c.seq.desc())
    .limit(ONE)
    .offset(ZERO)
)
