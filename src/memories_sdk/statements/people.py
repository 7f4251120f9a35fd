"""Principals, members of groups, agents and their owners."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.dialects.sqlite import insert as insert_or_leave

from memories_sdk.statements.terms import agents, members, principals
from memories_sdk.wording import compiled

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
TRANSFER_AGENT: Final = compiled(
    update(agents).values(principal_id=bindparam("to")).where(agents.c.id == bindparam("id"))
)
