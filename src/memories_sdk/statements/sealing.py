"""What seals the texts of a store, and all texts to seal anew."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, select, update
from sqlalchemy.dialects.sqlite import insert as insert_or_leave

from memories_sdk.statements.memories import WHOLE
from memories_sdk.statements.revisions import IMAGE, WHOLE_LINK
from memories_sdk.statements.terms import (
    ONE,
    ZERO,
    approvals,
    drafts,
    keys,
    memories,
    operations,
    revisions,
)
from memories_sdk.tables import REQUEST_TEXTS
from memories_sdk.wording import compiled

KEY: Final = compiled(select(keys.c.salt, keys.c.kept).where(keys.c.id == ONE))
_key = insert_or_leave(keys).values(id=ONE, salt=bindparam("salt"), kept=bindparam("kept"))
FIRST_KEY: Final = compiled(_key.on_conflict_do_nothing())
SET_KEY: Final = compiled(
    _key.on_conflict_do_update(
        index_elements=["id"], set_={"salt": bindparam("salt"), "kept": bindparam("kept")}
    )
)
ANY_REVISION: Final = compiled(select(revisions.c.seq).limit(ONE).offset(ZERO))
# Those that follow read and write all shelves: a store gets another key as a whole.
ALL_ROWS: Final = compiled(select(memories.c.row))
ALL_SHELVES: Final = compiled(select(revisions.c.scope_key).distinct())
ALL_SEQS: Final = compiled(select(revisions.c.seq).order_by(revisions.c.scope_key, revisions.c.seq))
WHOLE_ROW: Final = compiled(WHOLE.where(memories.c.row == bindparam("row")))
UPDATE_SUMMARY: Final = compiled(
    update(memories)
    .values(summary=bindparam("new_summary"))
    .where(memories.c.row == bindparam("row"))
)
LINK: Final = compiled(WHOLE_LINK.where(revisions.c.seq == bindparam("seq")))
UPDATE_LINK: Final = compiled(
    update(revisions)
    .values({name: bindparam(f"new_{name}") for name in (*IMAGE, "after", "seal")})
    .where(revisions.c.seq == bindparam("at_seq"))
)
_RESEALED: Final = (*REQUEST_TEXTS, "call", "waiting")
EVERY_REQUEST: Final = compiled(select(approvals.c.id, *(approvals.c[name] for name in _RESEALED)))
RESEAL_REQUEST: Final = compiled(
    update(approvals)
    .values({name: bindparam(f"new_{name}") for name in _RESEALED})
    .where(approvals.c.id == bindparam("at_id"))
)
EVERY_OPERATION: Final = compiled(
    select(*(operations.c[name] for name in ("scope_key", "caller", "key", "request")))
)
RESEAL_OPERATION: Final = compiled(
    update(operations)
    .values(request=bindparam("new_request"))
    .where(
        operations.c.scope_key == bindparam("scope_key"),
        operations.c.caller == bindparam("at_caller"),
        operations.c.key == bindparam("at_key"),
    )
)
EVERY_DRAFT: Final = compiled(
    select(drafts.c.caller_id, drafts.c.scope_key, drafts.c.key, drafts.c.fields)
)
