"""Tokens, by which callers of a server show who they are."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, delete, insert, or_, select, update

from memories_sdk.statements.terms import principals, tokens
from memories_sdk.wording import compiled

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
