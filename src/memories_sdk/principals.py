"""Who owns shelves and who may act: plain values and pure rules.

A *principal* is an ownership identity, one per user and one per group. The *caller* is a
user-principal; it may act as any principal of its *visible set*: itself and its groups. An
*agent* belongs to exactly one principal. A *shelf* is either global (keyed by a principal) or an
agent's own (keyed by the agent).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from memories_sdk.errors import AccessDenied

PrincipalKind = Literal["user", "group"]
Role = Literal["owner", "admin", "member"]
ScopeKind = Literal["global", "agent"]

ROLES: tuple[Role, ...] = ("owner", "admin", "member")
CONTROLLING_ROLES: frozenset[Role] = frozenset({"owner", "admin"})


@dataclass(frozen=True, slots=True)
class Principal:
    """An ownership identity. Its id is of its own space, shared with neither users nor agents."""

    id: int
    kind: PrincipalKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent and the principal that owned it when this value was read."""

    id: int
    name: str
    principal_id: int

    def __str__(self) -> str:
        return f"agent:{self.name}"


def scope_key(*, principal_id: int | None = None, agent_id: int | None = None) -> str:
    """Return the key of a shelf: `global:<principal>` or `agent:<agent>`.

    Raises:
        ValueError: Not exactly one of the two ids was given.
    """
    if (principal_id is None) == (agent_id is None):
        msg = "a shelf belongs to exactly one principal or one agent"
        raise ValueError(msg)
    return f"global:{principal_id}" if agent_id is None else f"agent:{agent_id}"


def spora_key(
    scope: ScopeKind, *, principal_id: int | None, agent_id: int | None, type: str, name: str
) -> str:
    """Return the five-part key by which Spora knows a memory, e.g. `global:12:0:plan:release`.

    The name stands last, so a colon in it is unambiguous. Source: Spora's generated `scope_key`.
    """
    return f"{scope}:{principal_id or 0}:{agent_id or 0}:{type}:{name}"


def may_see(caller: Principal, principal_id: int, groups: Collection[int]) -> bool:
    """Tell whether `caller` may act as the principal: itself, or one of its `groups` (ids).

    Any role in a group is enough to read and write its memories. A group never acts by itself.
    """
    if caller.kind != "user":
        return False
    return principal_id == caller.id or principal_id in groups


def may_control(caller: Principal, principal_id: int, role: Role | None) -> bool:
    """Tell whether `caller` may give away what the principal owns.

    True for its own principal, and for a group in which its `role` is owner or admin.
    """
    if caller.kind != "user":
        return False
    return principal_id == caller.id or role in CONTROLLING_ROLES


def chosen(visible: Iterable[Principal], wanted: int | str) -> Principal:
    """Return the one of a visible set that has this id, this name, or is written like this.

    Raises:
        AccessDenied: None of them has.
    """
    for each in visible:
        if wanted in (each.id, each.name, str(each)):
            return each
    raise denied(wanted)


def denied(wanted: int | str) -> AccessDenied:
    """Return the one refusal for a principal that is foreign or does not exist."""
    told = f"#{wanted}" if isinstance(wanted, int) else repr(wanted)
    return AccessDenied(
        f"Caller does not control principal {told}.",
        suggestion="store.principals.visible_to(caller) lists the principals it may act as.",
    )
