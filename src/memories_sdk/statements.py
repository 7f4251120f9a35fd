"""Every statement the store runs, compiled once to text with named parameters.

Each statement on memories names the shelf in its predicate, by-id ones too: an id alone never
reaches a row.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from sqlalchemy import (
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    null,
    or_,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.dialects.sqlite import insert as insert_or_leave
from sqlalchemy.sql.elements import ColumnElement

from memories_sdk.history import ENDINGS
from memories_sdk.memory import MemoryHead
from memories_sdk.tables import REQUEST_TEXTS, metadata
from memories_sdk.wording import compiled, spelled

LAST_SEQ: Final = 2**63 - 1

principals = metadata.tables["principals"]
members = metadata.tables["members"]
agents = metadata.tables["agents"]
memories = metadata.tables["memories"]
bodies = metadata.tables["memory_bodies"]
revisions = metadata.tables["memory_revisions"]
shelves = metadata.tables["shelves"]
operations = metadata.tables["memory_operations"]
keys = metadata.tables["memory_keys"]
attachments = metadata.tables["attachments"]
drafts = metadata.tables["drafts"]
tokens = metadata.tables["tokens"]


def _word(text: str) -> ColumnElement[str]:
    return literal_column(f"'{text}'")


approvals = metadata.tables["approvals"]


_NONE: Final[ColumnElement[int]] = literal_column("0")
_shelf = memories.c.scope_key == bindparam("scope_key")
_alive = or_(memories.c.expires_at.is_(None), memories.c.expires_at > bindparam("now"))
_named = and_(
    memories.c.type == bindparam("type"),
    memories.c.name == bindparam("name"),
)
_sort = (memories.c.position, memories.c.name, memories.c.id)

_place: tuple[ColumnElement[object], ...] = tuple(
    bindparam(f"after_{column.name}") for column in _sort
)

HEAD_COLUMNS: Final = tuple(
    memories.c["position" if name == "order" else name] for name in MemoryHead.__dataclass_fields__
)
_whole = select(*HEAD_COLUMNS, bodies.c.content, memories.c.row).join(
    bodies, bodies.c.row == memories.c.row
)

GET: Final = compiled(_whole.where(_shelf, _named, _alive))
GET_BY_ID: Final = compiled(_whole.where(_shelf, memories.c.id == bindparam("id"), _alive))
GET_EXPIRED: Final = compiled(
    _whole.where(_shelf, _named, memories.c.expires_at <= bindparam("now"))
)


@cache
def everything(types: int) -> str:
    """Return the statement that reads the memories of `types` types, `type_0` and so on."""
    return compiled(_whole.where(_shelf, _alive, _among(types)).order_by(*_sort))


@cache
def listing(types: int, *, after: bool) -> str:
    """Return the statement of one page of `types` types; behind a cursor, `after_*` say where."""
    statement = select(*HEAD_COLUMNS).where(_shelf, _alive, _among(types)).order_by(*_sort)
    if after:
        statement = statement.where(tuple_(*_sort) > tuple_(*_place))
    return compiled(statement.limit(bindparam("limit")).offset(_NONE))


@cache
def reading(types: int, *, after: bool) -> str:
    """Return the statement of one page of `types` types with bodies, as `listing` does."""
    statement = _whole.where(_shelf, _alive, _among(types)).order_by(*_sort)
    if after:
        statement = statement.where(tuple_(*_sort) > tuple_(*_place))
    return compiled(statement.limit(bindparam("limit")).offset(_NONE))


@cache
def counting(types: int) -> str:
    """Return the statement that counts the memories of `types` types, by type."""
    counted = select(memories.c.type, func.count()).where(_shelf, _alive, _among(types))
    return compiled(counted.group_by(memories.c.type))


@cache
def total(types: int) -> str:
    """Return the statement that counts the memories of `types` types together."""
    return compiled(select(func.count()).select_from(memories).where(_shelf, _alive, _among(types)))


def _among(types: int) -> ColumnElement[bool]:
    """Return the test for one of `types` types; for none, any type passes."""
    if not types:
        return true()
    return memories.c.type.in_([bindparam(f"type_{index}") for index in range(types)])


@cache
def recent(types: int) -> str:
    """Return the statement of the memories of `types` types with bodies, last changed first."""
    latest = (memories.c.updated_at.desc(), memories.c.id.desc())
    statement = _whole.where(_shelf, _alive, _among(types)).order_by(*latest)
    return compiled(statement.limit(bindparam("limit")).offset(bindparam("skipped")))


USED: Final = compiled(
    select(func.count(), func.coalesce(func.sum(memories.c.size), _NONE)).where(_shelf)
)
LAST_POSITION: Final = compiled(select(func.max(memories.c.position)).where(_shelf))
INSERT: Final = compiled(
    insert(memories).values({c.name: bindparam(c.name) for c in memories.c if c.name != "row"})
)
INSERT_BODY: Final = compiled(
    insert(bodies).values({column.name: bindparam(column.name) for column in bodies.c})
)
_PLACED: Final = ("type", "name", "position")
_CONTAINED: Final = (
    "summary",
    "summary_derived",
    "tags",
    "pinned",
    "version",
    "size",
    "expires_at",
    "updated_at",
    "untrusted",
)


def _updating(names: tuple[str, ...]) -> str:
    values: dict[str, ColumnElement[object]] = {name: bindparam(f"new_{name}") for name in names}
    return compiled(
        update(memories).values(values).where(_shelf, memories.c.row == bindparam("row"))
    )


UPDATE: Final = _updating(_PLACED + _CONTAINED)
UPDATE_IN_PLACE: Final = _updating(_CONTAINED)
"""For a memory that keeps its name, type and place: naming them would rewrite their indexes."""

UPDATE_BODY: Final = compiled(
    update(bodies)
    .values(content=bindparam("content"), sha256=bindparam("sha256"))
    .where(bodies.c.row == bindparam("row"))
)
DELETE: Final = compiled(delete(memories).where(_shelf, memories.c.row == bindparam("row")))

SHELF_ORDER: Final = compiled(
    select(memories.c.id, memories.c.row).where(_shelf, _alive).order_by(*_sort)
)

# The plus keeps the planner on the row numbers of the list: walking the shelf for each of them
# would make a long reorder quadratic.
REORDER: Final = spelled(
    """
UPDATE memories SET position = place.position
FROM (SELECT listed.value AS row, listed.key + 1 AS position FROM json_each(:rows) AS listed)
  AS place
WHERE memories.row = place.row
  AND memories.position <> place.position
  AND +memories.scope_key = :scope_key
""",
    mysql="""
UPDATE memories JOIN json_each(:rows) AS place ON memories.row = place.value
SET memories.position = place.key + 1
WHERE memories.position <> place.key + 1 AND memories.scope_key = :scope_key
""",
)

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
_IMAGE: Final = ("before", "before_content", "redacted")
ENABLED: Final = compiled(
    select(shelves.c.enabled).where(shelves.c.scope_key == bindparam("scope_key"))
)
SWITCH: Final = compiled(
    insert_or_leave(shelves)
    .values(scope_key=bindparam("scope_key"), enabled=bindparam("enabled"))
    .on_conflict_do_update(index_elements=["scope_key"], set_={"enabled": bindparam("enabled")})
)

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

REVISION_COLUMNS: Final = tuple(
    revisions.c[name] for name in (*FACTS, *_IMAGE, "part_of", "undoes")
)
INSERT_REVISION: Final = compiled(
    insert(revisions).values({c.name: bindparam(c.name) for c in revisions.c if c.name != "seq"})
)
LAST_SEAL: Final = compiled(
    select(revisions.c.seal)
    .where(revisions.c.scope_key == bindparam("scope_key"))
    .order_by(revisions.c.seq.desc())
    .limit(literal_column("1"))
    .offset(_NONE)
    .offset(_NONE)
)
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
        .limit(literal_column("1"))
        .offset(_NONE)
        .offset(_NONE)
        .scalar_subquery(),
    ).join(bodies, bodies.c.row == memories.c.row)
)
_link = select(*(revisions.c[name] for name in (*FACTS, *_IMAGE, "after", "seal")))
CHAIN: Final = compiled(_link.order_by(revisions.c.scope_key, revisions.c.seq))
WRITES: Final = compiled(
    select(revisions.c.at)
    .where(revisions.c.scope_key == bindparam("scope_key"), revisions.c.part_of.is_(None))
    .order_by(revisions.c.seq.desc())
    .limit(bindparam("limit"))
    .offset(_NONE)
)
HISTORY: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(
        revisions.c.scope_key == bindparam("scope_key"), revisions.c.seq < bindparam("before_seq")
    )
    .order_by(revisions.c.seq.desc())
    .limit(bindparam("limit"))
    .offset(_NONE)
)
# The plus keeps the planner on the revisions of the memory; it would walk all of the shelf's.
_of_shelf = literal_column("+memory_revisions.scope_key") == bindparam("scope_key")
HISTORY_OF: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(
        revisions.c.memory_id == bindparam("id"),
        _of_shelf,
        revisions.c.seq < bindparam("before_seq"),
    )
    .order_by(revisions.c.seq.desc())
    .limit(bindparam("limit"))
    .offset(_NONE)
)
LAST_NAMED: Final = compiled(
    select(revisions.c.memory_id)
    .where(
        revisions.c.scope_key == bindparam("scope_key"),
        revisions.c.type == bindparam("type"),
        revisions.c.name == bindparam("name"),
        revisions.c.named == literal_column("1"),
    )
    .order_by(revisions.c.seq.desc())
    .limit(literal_column("1"))
    .offset(_NONE)
    .offset(_NONE)
)
_later = revisions.alias("later")
DELETED: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(
        revisions.c.scope_key == bindparam("scope_key"),
        # Of all endings, and few others; the engine's index holds just these.
        revisions.c.after.is_(None),
        revisions.c.action.in_([literal_column(f"'{name}'") for name in ENDINGS]),
        ~exists().where(
            _later.c.memory_id == revisions.c.memory_id, _later.c.seq > revisions.c.seq
        ),
    )
    .order_by(revisions.c.seq.desc())
    .limit(bindparam("limit"))
    .offset(_NONE)
)
_mine = revisions.c.scope_key == bindparam("scope_key")
LAST_CHANGE: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(
        _mine,
        revisions.c.part_of.is_(None),
        revisions.c.undoes.is_(None),
        revisions.c.action.not_in([literal_column("'redact'"), literal_column("'prune'")]),
        ~exists().where(_later.c.undoes == revisions.c.seq),
    )
    .order_by(revisions.c.seq.desc())
    .limit(literal_column("1"))
    .offset(_NONE)
    .offset(_NONE)
)
PARTS: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(_mine, or_(revisions.c.seq == bindparam("seq"), revisions.c.part_of == bindparam("seq")))
    .order_by(revisions.c.seq.desc())
)
IMAGES: Final = compiled(
    select(*(revisions.c[name] for name in (*FACTS, *_IMAGE))).where(
        _mine, or_(revisions.c.before.is_not(None), revisions.c.before_content.is_not(None))
    )
)
REWRITE_IMAGE: Final = compiled(
    update(revisions)
    .values({name: bindparam(f"new_{name}") for name in _IMAGE})
    .where(_mine, revisions.c.seq == bindparam("at_seq"))
)
CHANGES: Final = compiled(
    select(*REVISION_COLUMNS)
    .where(revisions.c.scope_key == bindparam("scope_key"), revisions.c.seq > bindparam("since"))
    .order_by(revisions.c.seq)
    .limit(bindparam("limit"))
    .offset(_NONE)
)
# No texts: an image belongs to whoever reads the shelf itself.
NOTICES: Final = compiled(
    select(
        *(revisions.c[name] for name in FACTS),
        *(null().label(name) for name in _IMAGE),
        revisions.c.part_of,
        revisions.c.undoes,
    )
    .where(revisions.c.scope_key == bindparam("scope_key"), revisions.c.seq > bindparam("since"))
    .order_by(revisions.c.seq)
    .limit(bindparam("limit"))
    .offset(_NONE)
)
NEWEST: Final = compiled(select(func.max(revisions.c.seq)))

# A memory is on one shelf at a time; the last arrival of its id says on which one it was last.
LAST_ARRIVAL: Final = compiled(
    select(revisions.c.scope_key)
    .where(revisions.c.memory_id == bindparam("id"), revisions.c.action == _word("arrive"))
    .order_by(revisions.c.seq.desc())
    .limit(literal_column("1"))
    .offset(_NONE)
)
ELSEWHERE: Final = compiled(
    select(memories.c.row).where(
        memories.c.scope_key != bindparam("scope_key"), memories.c.id == bindparam("id")
    )
)

PICTURE_HEAD: Final = tuple(
    attachments.c[name] for name in ("id", "name", "media_type", "size", "created_at")
)
_pictures = attachments.c.scope_key == bindparam("scope_key")
USED_BY_PICTURES: Final = compiled(
    select(func.coalesce(func.sum(attachments.c.size), _NONE)).where(_pictures)
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
        .where(_shelf, bodies.c.content.like(_names_picture))
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

KEY: Final = compiled(select(keys.c.salt, keys.c.kept).where(keys.c.id == literal_column("1")))
SET_KEY: Final = compiled(
    insert_or_leave(keys)
    .values(id=literal_column("1"), salt=bindparam("salt"), kept=bindparam("kept"))
    .on_conflict_do_update(
        index_elements=["id"], set_={"salt": bindparam("salt"), "kept": bindparam("kept")}
    )
)
ANY_REVISION: Final = compiled(select(revisions.c.seq).limit(literal_column("1")).offset(_NONE))
# Those that follow read and write all shelves: a store gets another key as a whole.
ALL_ROWS: Final = compiled(select(memories.c.row))
ALL_SHELVES: Final = compiled(select(revisions.c.scope_key).distinct())
ALL_SEQS: Final = compiled(select(revisions.c.seq).order_by(revisions.c.scope_key, revisions.c.seq))
WHOLE_ROW: Final = compiled(_whole.where(memories.c.row == bindparam("row")))
UPDATE_SUMMARY: Final = compiled(
    update(memories)
    .values(summary=bindparam("new_summary"))
    .where(memories.c.row == bindparam("row"))
)
LINK: Final = compiled(_link.where(revisions.c.seq == bindparam("seq")))
UPDATE_LINK: Final = compiled(
    update(revisions)
    .values({name: bindparam(f"new_{name}") for name in (*_IMAGE, "after", "seal")})
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

PRINCIPAL: Final = compiled(
    select(principals.c.id, principals.c.kind, principals.c.name).where(
        principals.c.id == bindparam("id")
    )
)
PRINCIPALS: Final = compiled(
    select(principals.c.id, principals.c.kind, principals.c.name).order_by(
        principals.c.kind.desc(), principals.c.name
    )
)
PRINCIPAL_NAMED: Final = compiled(
    select(principals.c.id, principals.c.kind, principals.c.name).where(
        principals.c.kind == bindparam("kind"), principals.c.name == bindparam("name")
    )
)
INSERT_PRINCIPAL: Final = compiled(
    insert_or_leave(principals)
    .values(kind=bindparam("kind"), name=bindparam("name"), created_at=bindparam("now"))
    .on_conflict_do_nothing()
)
VISIBLE_GROUPS: Final = compiled(
    select(principals.c.id, principals.c.kind, principals.c.name)
    .join(members, members.c.group_id == principals.c.id)
    .where(members.c.user_id == bindparam("user_id"))
    .order_by(principals.c.name)
)
ROLE: Final = compiled(
    select(members.c.role).where(
        members.c.group_id == bindparam("group_id"), members.c.user_id == bindparam("user_id")
    )
)
MEMBERS: Final = compiled(
    select(principals.c.id, principals.c.kind, principals.c.name, members.c.role)
    .join(members, members.c.user_id == principals.c.id)
    .where(members.c.group_id == bindparam("group_id"))
    .order_by(principals.c.name)
)
SET_ROLE: Final = compiled(
    insert_or_leave(members)
    .values({name: bindparam(name) for name in ("group_id", "user_id", "role")})
    .on_conflict_do_update(index_elements=["group_id", "user_id"], set_={"role": bindparam("role")})
)
REMOVE_MEMBER: Final = compiled(
    delete(members).where(
        members.c.group_id == bindparam("group_id"), members.c.user_id == bindparam("user_id")
    )
)
_agent = select(agents.c.id, agents.c.name, agents.c.principal_id)
AGENT: Final = compiled(_agent.where(agents.c.id == bindparam("id")))
AGENT_NAMED: Final = compiled(
    _agent.where(
        agents.c.principal_id == bindparam("principal_id"), agents.c.name == bindparam("name")
    )
)
AGENTS_OF: Final = compiled(
    _agent.where(agents.c.principal_id == bindparam("principal_id")).order_by(agents.c.name)
)
INSERT_AGENT: Final = compiled(
    insert(agents).values(
        principal_id=bindparam("principal_id"), name=bindparam("name"), created_at=bindparam("now")
    )
)
_user, _owner = principals.alias("user"), principals.alias("owner")
_session = tokens.alias("login")
_token = (
    select(
        *(tokens.c[name] for name in ("id", "access", "label", "created_at", "expires_at")),
        *(tokens.c[name] for name in ("revoked_at", "session_of")),
        *(table.c[name] for table in (_user, _owner) for name in ("id", "kind", "name")),
        tokens.c.digest,
    )
    .join(_user, _user.c.id == tokens.c.user_id)
    .outerjoin(_owner, _owner.c.id == tokens.c.principal_id)
)
TOKENS: Final = compiled(
    _token.where(tokens.c.session_of.is_(None)).order_by(tokens.c.created_at, tokens.c.id)
)
LIVE_TOKEN: Final = compiled(
    _token.outerjoin(_session, _session.c.id == tokens.c.session_of).where(
        tokens.c.id == bindparam("id"),
        tokens.c.revoked_at.is_(None),
        or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > bindparam("now")),
        _session.c.revoked_at.is_(None),
    )
)
TOKEN_EXISTS: Final = compiled(select(tokens.c.id).where(tokens.c.id == bindparam("id")))
INSERT_TOKEN: Final = compiled(insert(tokens).values({c.name: bindparam(c.name) for c in tokens.c}))
REVOKE_TOKEN: Final = compiled(
    update(tokens)
    .values(revoked_at=bindparam("now"))
    .where(tokens.c.id == bindparam("id"), tokens.c.revoked_at.is_(None))
)
FORGET_SESSIONS: Final = compiled(
    delete(tokens).where(tokens.c.session_of.is_not(None), tokens.c.expires_at <= bindparam("now"))
)
TRANSFER_AGENT: Final = compiled(
    update(agents).values(principal_id=bindparam("to")).where(agents.c.id == bindparam("id"))
)

# A request is for those who may act as its principal, as long as the agent that asked is theirs:
# what it shows of an agent's shelf goes with the agent.
_theirs = and_(
    or_(
        approvals.c.principal_id == bindparam("caller_id"),
        exists().where(
            members.c.group_id == approvals.c.principal_id,
            members.c.user_id == bindparam("caller_id"),
        ),
    ),
    or_(
        approvals.c.agent_id.is_(None),
        exists().where(
            agents.c.id == approvals.c.agent_id,
            agents.c.principal_id == approvals.c.principal_id,
        ),
    ),
)
_undecided = approvals.c.state == literal_column("'pending'")
_in_time = approvals.c.expires_at > bindparam("now")
_request = approvals.c.id == bindparam("id")
_emptied: Final = {
    "waiting": null(),
    "arguments": literal_column("'{}'"),
    "preview": literal_column("''"),
}

APPROVAL: Final = compiled(select(approvals).where(_request, _theirs))
APPROVALS: Final = compiled(
    select(approvals)
    .where(_theirs)
    .order_by(approvals.c.created_at.desc(), approvals.c.id.desc())
    .limit(bindparam("limit"))
    .offset(_NONE)
)
APPROVALS_WAITING: Final = compiled(
    select(approvals)
    .where(_theirs, _undecided, _in_time)
    .order_by(approvals.c.created_at, approvals.c.id)
    .limit(bindparam("limit"))
    .offset(_NONE)
)
COUNT_APPROVALS: Final = compiled(
    select(func.count()).select_from(approvals).where(_theirs, _undecided, _in_time)
)
APPROVAL_OF_CALL: Final = compiled(
    select(approvals)
    .where(approvals.c.call == bindparam("call"), approvals.c.scope_key == bindparam("scope_key"))
    .order_by(approvals.c.created_at.desc(), approvals.c.id.desc())
    .limit(literal_column("1"))
    .offset(_NONE)
)
APPROVAL_FOR: Final = compiled(select(approvals).where(approvals.c.waiting == bindparam("waiting")))
INSERT_APPROVAL: Final = compiled(
    insert_or_leave(approvals)
    .values({column.name: bindparam(column.name) for column in approvals.c})
    .on_conflict_do_nothing()
)
EXPIRE_APPROVALS: Final = compiled(
    update(approvals)
    .values(state=literal_column("'expired'"), **_emptied)
    .where(
        approvals.c.principal_id == bindparam("principal_id"),
        _undecided,
        approvals.c.expires_at <= bindparam("now"),
    )
)
DECIDE_APPROVAL: Final = compiled(
    update(approvals)
    .values(
        state=bindparam("new_state"),
        decided_by=bindparam("by"),
        decided_at=bindparam("now"),
        **_emptied,
    )
    .where(_request, _theirs, _undecided, _in_time)
)
ANSWER_APPROVAL: Final = compiled(
    update(approvals)
    .values(answer=bindparam("new_answer"))
    .where(_request, _theirs, approvals.c.state == literal_column("'granted'"))
)
_of_shelf = approvals.c.scope_key == bindparam("scope_key")
FORGET_REQUESTS: Final = (
    compiled(delete(approvals).where(_of_shelf, _undecided)),
    compiled(update(approvals).values(answer=null()).where(_of_shelf)),
)
"""What a redaction does to the requests of a shelf: they hold texts of its memories."""
