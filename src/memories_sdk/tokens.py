"""Tokens: what a program, or a browser after its login, proves itself with to a server.

A token says who acts, as whom, for how long, and whether it may write. Only a digest of its secret
is stored: whoever reads the database cannot use it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from uuid6 import UUID

from memories_sdk.errors import AccessDenied, InvalidInput, NotFound
from memories_sdk.fields import checked_time, normal_label
from memories_sdk.memory import UNSET, Unset
from memories_sdk.principals import Principal, denied
from memories_sdk.rows import from_time, to_time
from memories_sdk.statements import people
from memories_sdk.statements import tokens as sql
from memories_sdk.visit import Setting

Access = Literal["read", "write"]

PREFIX: Final = "mem_"
LIFETIME: Final = timedelta(days=90)
SESSION: Final = timedelta(hours=12)
SECRET_BYTES: Final = 32
LONGEST: Final = 200
"""Longer texts are no token of ours and are not even decoded."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is stored, without its secret.

    Attributes:
        user: Who acts with it.
        principal: The one principal it may act as; None for all that the user may act as.
        access: "read", or "write" for both.
        label: What it is for, in its owner's words; may be empty.
        expires_at: When it ends, or None for never.
        revoked_at: When it was taken back, or None.
        session_of: The token that a browser logged in with; None for one of a program.
    """

    id: UUID
    user: Principal
    principal: Principal | None
    access: Access
    label: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    session_of: UUID | None = None


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token and its secret, which is shown this once and kept nowhere."""

    token: Token
    secret: str = field(repr=False)


class Tokens:
    """The tokens of a store: `store.tokens`."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._database = setting.database

    def issue(
        self,
        user: Principal,
        *,
        principal: Principal | None = None,
        access: Access = "read",
        label: str = "",
        expires_at: datetime | Unset | None = UNSET,
    ) -> IssuedToken:
        """Make a token for a user.

        Args:
            user: Who acts with it.
            principal: The one principal it may act as; None for all that the user may act as.
            access: "read", or "write" for both.
            label: What it is for.
            expires_at: When it ends; 90 days from now when left out, None for never.

        Raises:
            AccessDenied: The user is a group, unknown, or not in that group.
            InvalidInput: A value breaks its rule.
        """
        if access not in ("read", "write"):
            raise InvalidInput(
                f"access must be 'read' or 'write', not {access!r}.", field="access", suggestion=""
            )
        self._check(user, principal)
        now = self._setting.now()
        ends = now + LIFETIME if isinstance(expires_at, Unset) else checked_time(expires_at)
        label = normal_label(label, "label") if label else ""
        token = Token(self._setting.new_id(), user, principal, access, label, now, ends, None)
        return self._add(token)

    def open_session(self, token: Token) -> IssuedToken:
        """Make the token of a browser that logged in with another one; it ends in 12 hours.

        It may do what the other may, and ends with it.
        """
        now = self._setting.now()
        ends = now + SESSION
        if token.expires_at is not None:
            ends = min(ends, token.expires_at)
        session = Token(
            self._setting.new_id(),
            *(token.user, token.principal, token.access, token.label),
            *(now, ends, None, token.session_of or token.id),
        )
        return self._add(session)

    def find(self, secret: str) -> Token | None:
        """Return the token with that secret, or None where it is wrong, over or taken back."""
        id, digest = _parts(secret)
        key = {"id": id, "now": from_time(self._setting.now())}
        with self._database.read() as connection:
            row = connection.execute(sql.LIVE_TOKEN, key).fetchone()
        # Compared in the same time whatever it is, and against something where there is nothing.
        known = hmac.compare_digest(bytes(32) if row is None else bytes(row[-1]), digest)
        return _token(row) if known and row is not None else None

    def all(self, *, user: Principal | None = None) -> list[Token]:
        """Return the tokens of programs, of one user or of everybody, the oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(sql.TOKENS).fetchall()
        tokens = [_token(row) for row in rows]
        return [each for each in tokens if user is None or each.user == user]

    def usable(self) -> bool:
        """Tell whether anybody could prove himself with a token now."""
        now = self._setting.now()
        return any(
            each.revoked_at is None and (each.expires_at is None or each.expires_at > now)
            for each in self.all()
        )

    def revoke(self, id: UUID | str) -> None:
        """Take a token back, and all sessions that were opened with it.

        Raises:
            NotFound: There is none of that id.
        """
        try:
            key = {"id": UUID(str(id)).bytes, "now": from_time(self._setting.now())}
        except ValueError:
            raise _unknown() from None
        with self._database.write() as connection:
            if connection.execute(sql.TOKEN_EXISTS, key).fetchone() is None:
                raise _unknown()
            connection.execute(sql.REVOKE_TOKEN, key)

    def _check(self, user: Principal, principal: Principal | None) -> None:
        with self._database.read() as connection:
            for each in filter(None, (user, principal)):
                row = connection.execute(people.PRINCIPAL, {"id": each.id}).fetchone()
                if row is None or Principal(*row) != each:
                    raise denied(each.id)
            if user.kind != "user":
                raise AccessDenied(
                    f"{user} never acts by itself.",
                    suggestion="Name a member as the user and the group as principal.",
                )
            if principal is not None and principal != user:
                member = {"group_id": principal.id, "user_id": user.id}
                if connection.execute(people.ROLE, member).fetchone() is None:
                    raise denied(principal.id)

    def _add(self, token: Token) -> IssuedToken:
        secret = secrets.token_bytes(SECRET_BYTES)
        values = {
            "id": token.id.bytes,
            "digest": hashlib.sha256(secret).digest(),
            "user_id": token.user.id,
            "principal_id": None if token.principal is None else token.principal.id,
            "access": token.access,
            "label": token.label,
            "session_of": None if token.session_of is None else token.session_of.bytes,
            "created_at": from_time(token.created_at),
            "expires_at": None if token.expires_at is None else from_time(token.expires_at),
            "revoked_at": None,
        }
        with self._database.write() as connection:
            connection.execute(sql.FORGET_SESSIONS, {"now": values["created_at"]})
            connection.execute(sql.INSERT_TOKEN, values)
        text = base64.urlsafe_b64encode(token.id.bytes + secret).decode()
        return IssuedToken(token, PREFIX + text)


def _parts(secret: str) -> tuple[bytes, bytes]:
    """Return the id in a secret and the digest of the rest; of no token at all, zeros."""
    text = secret.removeprefix(PREFIX)
    raw = b""
    if text != secret and len(secret) <= LONGEST:
        with suppress(ValueError, binascii.Error):
            raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    id, rest = raw[:16], raw[16:]
    return id.ljust(16, b"\0"), hashlib.sha256(rest).digest()


def _token(row: tuple[Any, ...]) -> Token:
    id, access, label, created, expires, revoked, session_of, *whose = row[:13]
    return Token(
        UUID(bytes=id),
        Principal(*whose[:3]),
        None if whose[3] is None else Principal(*whose[3:6]),
        access,
        label,
        to_time(created),
        None if expires is None else to_time(expires),
        None if revoked is None else to_time(revoked),
        None if session_of is None else UUID(bytes=session_of),
    )


def _unknown() -> NotFound:
    return NotFound("Token not found.", suggestion="store.tokens.all() lists them.")
