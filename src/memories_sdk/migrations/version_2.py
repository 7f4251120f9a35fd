"""Version 2: deleted memories and old names by index, readers' mark for untrusted memories."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    """Lead the tables from version 1 to version 2."""
    _index_history(op)
    _mark_the_untrusted(op)


def _index_history(op: Operations) -> None:
    op.add_column("memory_revisions", sa.Column("named", sa.Integer(), nullable=True))
    revisions = sa.table(
        "memory_revisions",
        *(sa.column(name) for name in ("action", "before", "named", "redacted")),
    )
    before = revisions.c.before
    renamed = sa.or_(before.like('%"name": %'), before.like('%"type": %'))
    # One whose before-image was forgotten may have been the one that gave the name.
    forgotten = sa.and_(before.is_(None), revisions.c.redacted.is_not(None))
    gave_a_name = sa.or_(
        revisions.c.action.in_(["create", "restore"]),
        sa.and_(revisions.c.action == "update", sa.or_(renamed, forgotten)),
    )
    op.execute(sa.update(revisions).where(gave_a_name).values(named=1))
    op.create_index(
        "ix_memory_revisions_named",
        "memory_revisions",
        ["scope_key", "type", "name", "seq"],
        sqlite_where=sa.text("named = 1"),
    )
    op.create_index(
        "ix_memory_revisions_endings",
        "memory_revisions",
        ["scope_key", "seq"],
        sqlite_where=sa.text("action IN ('delete', 'clear', 'expire')"),
    )


def _mark_the_untrusted(op: Operations) -> None:
    column = sa.Column("untrusted", sa.Integer(), nullable=False, server_default=sa.text("0"))
    op.add_column("memories", column)
