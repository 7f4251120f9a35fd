"""Version 2: an indexed history, keys of writes, marks, pictures, drafts, vectors, tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.operations import Operations

from memories_sdk.migrations.columns import (
    create_index,
    create_table,
    data,
    key,
    key_data,
    number,
    text,
)


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
    op.add_column("memory_revisions", number("named", null=True))
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
    create_index(
        op,
        "ix_memory_revisions_named",
        "memory_revisions",
        ["scope_key", "type", "name", "seq"],
        where="named = 1",
    )
    create_index(
        op,
        "ix_memory_revisions_endings",
        "memory_revisions",
        ["scope_key", "after", "seq"],
        where="after IS NULL",
    )


def _keep_operations(op: Operations) -> None:
    create_table(
        op,
        "memory_operations",
        key("scope_key"),
        number("caller"),
        key("key"),
        data("request"),
        text("outcome"),
        number("at"),
        sa.PrimaryKeyConstraint("scope_key", "caller", "key", name="pk_memory_operations"),
    )
    # Without its old column, a program of the first release that is still running is refused
    # by the engine, instead of writing revisions that lack what version 2 needs.
    op.drop_index("ix_memory_revisions_scope_key_operation", "memory_revisions")
    op.drop_column("memory_revisions", "operation")


def _mark_the_untrusted(op: Operations) -> None:
    op.add_column("memories", number("untrusted", default=0))


def _keep_pictures_by_shelf(op: Operations) -> None:
    op.drop_table("attachments")  # no release before this one put anything there
    create_table(
        op,
        "attachments",
        key("scope_key"),
        key_data("id"),
        text("media_type"),
        text("name"),
        number("size"),
        data("sha256"),
        data("content"),
        number("created_at"),
        sa.PrimaryKeyConstraint("scope_key", "id", name="pk_attachments"),
    )


def _keep_keys(op: Operations) -> None:
    create_table(
        op,
        "memory_keys",
        number("id"),
        data("salt"),
        data("kept"),
        sa.PrimaryKeyConstraint("id", name="pk_memory_keys"),
    )


def _keep_drafts(op: Operations) -> None:
    create_table(
        op,
        "drafts",
        number("caller_id"),
        key("scope_key"),
        key("key"),
        data("memory_id", null=True),
        number("version", null=True),
        text("fields"),
        number("kept_at"),
        sa.PrimaryKeyConstraint("caller_id", "scope_key", "key", name="pk_drafts"),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["principals.id"], name="fk_drafts_caller_id", ondelete="CASCADE"
        ),
    )


def _queue_approvals(op: Operations) -> None:
    op.drop_table("approvals")  # version 1 made it and never wrote to it
    create_table(
        op,
        "approvals",
        key_data("id"),
        number("principal_id"),
        number("agent_id", null=True),
        text("scope_key"),
        number("version", null=True),
        *(text(name) for name in ("tool", "arguments", "description", "preview", "actor")),
        text("source", null=True),
        key("call"),
        text("effect"),
        key("waiting", null=True),
        key("state"),
        number("created_at"),
        number("expires_at"),
        text("decided_by", null=True),
        number("decided_at", null=True),
        text("answer", null=True),
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
    create_index(op, "ix_approvals_call", "approvals", ["call"])
    create_index(op, "ix_approvals_principal_id_state", "approvals", ["principal_id", "state"])


def _keep_vectors(op: Operations) -> None:
    create_table(
        op,
        "memory_vectors",
        number("row"),
        key("embedder"),
        number("version"),
        data("digest"),
        data("vector"),
        sa.PrimaryKeyConstraint("row", "embedder", name="pk_memory_vectors"),
        sa.ForeignKeyConstraint(
            ["row"], ["memories.row"], name="fk_memory_vectors_row", ondelete="CASCADE"
        ),
    )


def _issue_tokens(op: Operations) -> None:
    create_table(
        op,
        "tokens",
        key_data("id"),
        data("digest"),
        number("user_id"),
        number("principal_id", null=True),
        text("access"),
        text("label"),
        key_data("session_of", null=True),
        number("created_at"),
        number("expires_at", null=True),
        number("revoked_at", null=True),
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
