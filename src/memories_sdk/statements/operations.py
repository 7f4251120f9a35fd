"""The writes of a shelf that were done under a key."""

from __future__ import annotations

from typing import Final

from sqlalchemy import and_, bindparam, delete, insert, select

from memories_sdk.statements.terms import operations
from memories_sdk.wording import compiled

_kept = and_(
    operations.c.scope_key == bindparam("scope_key"),
    operations.c.caller == bindparam("caller"),
    operations.c.key == bindparam("key"),
)
OPERATION: Final = compiled(select(operations.c.request, operations.c.outcome).where(_kept))
KEEP_OPERATION: Final = compiled(
    insert(operations).values({column.name: bindparam(column.name) for column in operations.c})
)
FORGET_OPERATIONS: Final = compiled(
    delete(operations).where(
        operations.c.scope_key == bindparam("scope_key"), operations.c.at < bindparam("before")
    )
)
