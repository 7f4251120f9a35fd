"""Version 2: an indexed history, keys of writes, marks, pictures, drafts, vectors, tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    """Lead the tables from version 1 to version 2."""
    _index_history(op)
    _keep_operations(op)
    _mark_the_untrusted(op)
    _keep_pictures_by_shelf(op)
    _keep_drafts(op)
    _queue_approvals(op)
    _keep_vectors(op)
    _issue_tokens(op)
    _keep_keys(op)


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
        ["scope_key", "after", "seq"],
        sqlite_where=sa.text("after IS NULL"),
    )


def _keep_operations(op: Operations) -> None:
    op.create_table(
        "memory_operations",
        sa.Column("scope_key", sa.Text(), nullable=False),
        sa.Column("caller", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scope_key", "caller", "key", name="pk_memory_operations"),
    )
    # Without its old column, a program of the first release that is still running is refused
    # by the engine, instead of writing revisions that lack what version 2 needs.
    op.drop_index("ix_memory_revisions_scope_key_operation", "memory_revisions")
    op.drop_column("memory_revisions", "operation")


def _mark_the_untrusted(op: Operations) -> None:
    column = sa.Column("untrusted", sa.Integer(), nullable=False, server_default=sa.text("0"))
    op.add_column("memories", column)


def _keep_pictures_by_shelf(op: Operations) -> None:
    op.drop_table("attachments")  # no release before this one put anything there
    op.create_table(
        "attachments",
        sa.Column("scope_key", sa.Text(), nullable=False),
        sa.Column("id", sa.LargeBinary(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scope_key", "id", name="pk_attachments"),
    )


def _keep_keys(op: Operations) -> None:
    op.create_table(
        "memory_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("kept", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_memory_keys"),
    )


def _keep_drafts(op: Operations) -> None:
    op.create_table(
        "drafts",
        sa.Column("caller_id", sa.Integer(), nullable=False),
        sa.Column("scope_key", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.LargeBinary(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("caller_id", "scope_key", "key", name="pk_drafts"),
        sa.ForeignKeyConstraint(
            ["caller_id"],
            ["principals.id"],
            name="fk_drafts_caller_id",
            ondelete="CASCADE",
        ),
    )


def _queue_approvals(op: Operations) -> None:
    op.drop_table("approvals")  # version 1 made it and never wrote to it
    op.create_table(
        "approvals",
        sa.Column("id", sa.LargeBinary(), nullable=False),
        sa.Column("principal_id", sa.Integer(), nullable=False),
        sa.Column("agent_id", sa.Integer(), nullable=True),
        sa.Column("scope_key", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        *(
            sa.Column(name, sa.Text(), nullable=name in {"source", "waiting"})
            for name in (
                *("tool", "arguments", "description", "preview", "actor", "source"),
                *("call", "effect", "waiting", "state"),
            )
        ),
        sa.Column("created_at", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.Integer(), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_at", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_approvals"),
        sa.CheckConstraint(
            "state IN ('pending', 'granted', 'refused', 'stale', 'expired')",
            name="ck_approvals_state",
        ),
        sa.UniqueConstraint("waiting", name="uq_approvals_waiting"),
        sa.ForeignKeyConstraint(
            ["principal_id"], ["principals.id"], name="fk_approvals_principal_id"
        ),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name="fk_approvals_agent_id"),
    )
    op.create_index("ix_approvals_call", "approvals", ["call"])
    op.create_index("ix_approvals_principal_id_state", "approvals", ["principal_id", "state"])


def _keep_vectors(op: Operations) -> None:
    op.create_table(
        "memory_vectors",
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("embedder", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("row", "embedder", name="pk_memory_vectors"),
        sa.ForeignKeyConstraint(
            ["row"], ["memories.row"], name="fk_memory_vectors_row", ondelete="CASCADE"
        ),
    )


def _issue_tokens(op: Operations) -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("principal_id", sa.Integer(), nullable=True),
        sa.Column("access", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("session_of", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.Integer(), nullable=True),
        sa.Column("revoked_at", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        *(
            sa.ForeignKeyConstraint(
                [column], [target], name=f"fk_tokens_{column}", ondelete="CASCADE"
            )
            for column, target in (
                ("user_id", "principals.id"),
                ("principal_id", "principals.id"),
                ("session_of", "tokens.id"),
            )
        ),
        sa.CheckConstraint("access IN ('read', 'write')", name="ck_tokens_access"),
    )
