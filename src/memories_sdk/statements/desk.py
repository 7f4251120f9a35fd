"""What lies on a shelf beside its memories: pictures and unsaved texts."""

from __future__ import annotations

from typing import Final

from sqlalchemy import and_, bindparam, delete, func, insert, literal_column, select, update
from sqlalchemy.dialects.sqlite import insert as insert_or_leave
from sqlalchemy.sql.elements import ColumnElement

from memories_sdk.statements.terms import (
    COUNTED,
    ZERO,
    attachments,
    bodies,
    drafts,
    memories,
    revisions,
)
from memories_sdk.wording import compiled

PICTURE_HEAD: Final = tuple(
    attachments.c[name] for name in ("id", "name", "media_type", "size", "created_at")
)
_pictures = attachments.c.scope_key == bindparam("scope_key")
USED_BY_PICTURES: Final = compiled(
    select(func.coalesce(func.sum(attachments.c.size), ZERO)).where(
        attachments.c.scope_key == COUNTED
    )
)
_picture = and_(_pictures, attachments.c.id == bindparam("id"))
ATTACH: Final = compiled(
    insert(attachments).values({column.name: bindparam(column.name) for column in attachments.c})
)
ATTACHED: Final = compiled(select(*PICTURE_HEAD).where(_picture))
ATTACHMENT: Final = compiled(select(*PICTURE_HEAD, attachments.c.content).where(_picture))
ATTACHMENTS: Final = compiled(
    select(*PICTURE_HEAD).where(_pictures).order_by(attachments.c.created_at, attachments.c.id)
)
DETACH: Final = compiled(delete(attachments).where(_picture))
_names_picture: ColumnElement[str] = literal_column("'%attachment:%'")
REFERRING: Final = (
    compiled(
        select(bodies.c.content)
        .join(memories, bodies.c.row == memories.c.row)
        .where(
            memories.c.scope_key == bindparam("scope_key"), bodies.c.content.like(_names_picture)
        )
    ),
    compiled(
        select(revisions.c.before_content).where(
            revisions.c.scope_key == bindparam("scope_key"),
            revisions.c.before_content.like(_names_picture),
        )
    ),
    compiled(
        select(drafts.c.fields).where(
            drafts.c.scope_key == bindparam("scope_key"), drafts.c.fields.like(_names_picture)
        )
    ),
)
"""Every text of a shelf that may name a picture, what can be restored included."""

PICTURES: Final = compiled(
    select(
        *PICTURE_HEAD, attachments.c.scope_key, attachments.c.sha256, attachments.c.content
    ).order_by(attachments.c.scope_key, attachments.c.id)
)

DRAFT_COLUMNS: Final = tuple(
    drafts.c[name] for name in ("key", "memory_id", "version", "fields", "kept_at")
)
_drafted = and_(
    drafts.c.caller_id == bindparam("caller_id"), drafts.c.scope_key == bindparam("scope_key")
)
KEEP_DRAFT: Final = compiled(
    insert_or_leave(drafts)
    .values({column.name: bindparam(column.name) for column in drafts.c})
    .on_conflict_do_update(
        index_elements=["caller_id", "scope_key", "key"],
        set_={name: bindparam(name) for name in ("memory_id", "version", "fields", "kept_at")},
    )
)
DRAFTS: Final = compiled(
    select(*DRAFT_COLUMNS).where(_drafted).order_by(drafts.c.kept_at.desc(), drafts.c.key)
)
DROP_DRAFT: Final = compiled(delete(drafts).where(_drafted, drafts.c.key == bindparam("key")))
ALL_DRAFTS: Final = compiled(
    select(drafts.c.caller_id, drafts.c.key, drafts.c.fields).where(
        drafts.c.scope_key == bindparam("scope_key")
    )
)
REWRITE_DRAFT: Final = compiled(
    update(drafts)
    .values(fields=bindparam("new_fields"))
    .where(_drafted, drafts.c.key == bindparam("at_key"))
)
