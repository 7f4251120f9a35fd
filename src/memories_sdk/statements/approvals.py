"""Calls that wait for a person."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    and_,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert as insert_or_leave

from memories_sdk.statements.terms import ONE, ZERO, agents, approvals, members, word
from memories_sdk.wording import compiled

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
_undecided = approvals.c.state == word("pending")
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
    .offset(ZERO)
)
APPROVALS_WAITING: Final = compiled(
    select(approvals)
    .where(_theirs, _undecided, _in_time)
    .order_by(approvals.c.created_at, approvals.c.id)
    .limit(bindparam("limit"))
    .offset(ZERO)
)
COUNT_APPROVALS: Final = compiled(
    select(func.count()).select_from(approvals).where(_theirs, _undecided, _in_time)
)
APPROVAL_OF_CALL: Final = compiled(
    select(approvals)
    .where(approvals.c.call == bindparam("call"), approvals.c.scope_key == bindparam("scope_key"))
    .order_by(approvals.c.created_at.desc(), approvals.c.id.desc())
    .limit(ONE)
    .offset(ZERO)
)
APPROVAL_FOR: Final = compiled(select(approvals).where(approvals.c.waiting == bindparam("waiting")))
INSERT_APPROVAL: Final = compiled(
    insert_or_leave(approvals)
    .values({column.name: bindparam(column.name) for column in approvals.c})
    .on_conflict_do_nothing()
)
EXPIRE_APPROVALS: Final = compiled(
    update(approvals)
    .values(state=word("expired"), **_emptied)
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
    .where(_request, _theirs, approvals.c.state == word("granted"))
)
_of_shelf = approvals.c.scope_key == bindparam("scope_key")
FORGET_REQUESTS: Final = (
    compiled(delete(approvals).where(_of_shelf, _undecided)),
    compiled(update(approvals).values(answer=null()).where(_of_shelf)),
)
"""What a redaction does to the requests of a shelf: they hold texts of its memories."""
