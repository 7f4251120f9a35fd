"""Who is known to a store: users and groups, agents and their owners."""

from __future__ import annotations

from collections.abc import Sequence

from memories_sdk.bound import missing_agent
from memories_sdk.errors import AccessDenied, InvalidInput, NotFound
from memories_sdk.fields import normal_name
from memories_sdk.history import LAST_SEQ
from memories_sdk.principals import (
    ROLES,
    Agent,
    Principal,
    PrincipalKind,
    Role,
    denied,
    may_control,
    may_see,
)
from memories_sdk.rows import from_time
from memories_sdk.statements import people as sql
from memories_sdk.visit import Setting, persistent


class Principals:
    """Users and groups: `store.principals`."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._database = setting.database

    def user(self, name: str) -> Principal:
        """Return the user of that name, created on first need."""
        return self._ensure("user", name)

    def group(
        self,
        name: str,
        *,
        members: Sequence[Principal] = (),
        owner: Principal | None = None,
    ) -> Principal:
        """Return the group of that name, created on first need, with these users in it.

        Args:
            name: The group.
            members: Users to add, with the role member; roles that exist stay.
            owner: Who owns it; in a new group the first member when left out.
        """
        group = self._ensure("group", name)
        roles = self.roles(group)
        if owner is None and not roles and members:
            owner, *members = members
        if owner is not None:
            self.add_member(group, owner, role="owner")
        for member in members:
            if member not in roles and member != owner:
                self.add_member(group, member)
        return group

    @persistent
    def add_member(self, group: Principal, user: Principal, *, role: Role = "member") -> None:
        """Put a user into a group, or give the user another role there.

        Raises:
            InvalidInput: The role is unknown, or the two are not a group and a user.
            NotFound: One of them does not exist.
        """
        if role not in ROLES:
            raise InvalidInput(
                f"role {role!r} is not one of: {', '.join(ROLES)}", field="role", suggestion=""
            )
        if self.known(group).kind != "group" or self.known(user).kind != "user":
            raise InvalidInput(
                "add_member takes a group and a user.", suggestion="Groups hold users only."
            )
        with self._database.write() as connection:
            connection.execute(
                sql.SET_ROLE, {"group_id": group.id, "user_id": user.id, "role": role}
            )

    @persistent
    def remove_member(self, group: Principal, user: Principal) -> None:
        """Take a user out of a group; open scopes of the group refuse the user from then on."""
        with self._database.write() as connection:
            connection.execute(sql.REMOVE_MEMBER, {"group_id": group.id, "user_id": user.id})

    def roles(self, group: Principal) -> dict[Principal, Role]:
        """Return the users of a group with their roles, by name."""
        with self._database.read() as connection:
            rows = connection.execute(sql.MEMBERS, {"group_id": group.id}).fetchall()
        return {Principal(*row[:3]): row[3] for row in rows}

    def visible_to(self, caller: Principal) -> list[Principal]:
        """Return whom the caller may act as: itself first, then its groups by name."""
        if not isinstance(caller, Principal):
            raise not_a_principal("caller", caller)
        with self._database.read() as connection:
            rows = connection.execute(sql.VISIBLE_GROUPS, {"user_id": caller.id}).fetchall()
        groups = [Principal(*row) for row in rows]
        ids = {group.id for group in groups}
        return [each for each in (caller, *groups) if may_see(caller, each.id, ids)]

    def everyone(self) -> list[Principal]:
        """Return all principals: users by name, then groups by name."""
        with self._database.read() as connection:
            return [Principal(*row) for row in connection.execute(sql.PRINCIPALS).fetchall()]

    def known(self, principal: Principal) -> Principal:
        """Return the principal as it is stored.

        Raises:
            AccessDenied: There is none of that id; also for a value that is no principal of
                this store, since a forged one and a foreign one look the same.
        """
        if not isinstance(principal, Principal):
            raise not_a_principal("acting_as", principal)
        with self._database.read() as connection:
            row = connection.execute(sql.PRINCIPAL, {"id": _row_id(principal.id)}).fetchone()
        if row is None or Principal(*row) != principal:
            raise denied(principal.id)
        return principal

    def get(self, id: int) -> Principal:
        """Return the principal with that id.

        Raises:
            NotFound: There is none.
        """
        with self._database.read() as connection:
            row = connection.execute(sql.PRINCIPAL, {"id": _row_id(id)}).fetchone()
        if row is None:
            raise NotFound(f"Principal #{id} not found.")
        return Principal(*row)

    @persistent
    def _ensure(self, kind: PrincipalKind, name: str) -> Principal:
        key: dict[str, object] = {"kind": kind, "name": normal_name(name)}
        with self._database.read() as connection:
            row = connection.execute(sql.PRINCIPAL_NAMED, key).fetchone()
        if row is None:
            now: dict[str, object] = {"now": from_time(self._setting.now())}
            with self._database.write() as connection:
                connection.execute(sql.INSERT_PRINCIPAL, key | now)
                row = connection.execute(sql.PRINCIPAL_NAMED, key).fetchone()
        return Principal(*row)


class Agents:
    """Agents and their owners: `store.agents`."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._database = setting.database

    @persistent
    def create(self, name: str, *, owner: Principal) -> Agent:
        """Create an agent that belongs to a principal.

        Raises:
            NameTaken: The principal has one of that name.
        """
        name = normal_name(name)
        Principals(self._setting).known(owner)
        parameters = {
            "principal_id": owner.id,
            "name": name,
            "now": from_time(self._setting.now()),
        }
        with self._database.write(taken=f"{owner} has an agent {name!r} already.") as connection:
            id = connection.execute(sql.INSERT_AGENT, parameters).lastrowid
        return Agent(int(id or 0), name, owner.id)

    def ensure(self, name: str, *, owner: Principal) -> Agent:
        """Return the agent of that name and owner, created on first need."""
        name = normal_name(name)
        for agent in self.owned_by(owner):
            if agent.name == name:
                return agent
        return self.create(name, owner=owner)

    def get(self, agent: Agent | str | int, *, owner: Principal) -> Agent:
        """Return an agent of a principal by value, name or id.

        Raises:
            NotFound: It does not exist, or belongs to somebody else now.
        """
        with self._database.read() as connection:
            if isinstance(agent, str):
                key = {"principal_id": owner.id, "name": normal_name(agent)}
                row = connection.execute(sql.AGENT_NAMED, key).fetchone()
            else:
                id = agent.id if isinstance(agent, Agent) else agent
                row = connection.execute(sql.AGENT, {"id": _row_id(id)}).fetchone()
        if row is None or row[2] != owner.id:
            raise missing_agent(agent.name if isinstance(agent, Agent) else str(agent))
        return Agent(*row)

    def seen_by(self, id: int, caller: Principal) -> Agent:
        """Return the agent with that id, of any principal that the caller may act as.

        Raises:
            NotFound: It does not exist, or belongs to nobody of them.
        """
        owners = {each.id for each in Principals(self._setting).visible_to(caller)}
        with self._database.read() as connection:
            row = connection.execute(sql.AGENT, {"id": _row_id(id)}).fetchone()
        if row is None or row[2] not in owners:
            raise missing_agent(str(id))
        return Agent(*row)

    def owned_by(self, owner: Principal) -> list[Agent]:
        """Return the agents of a principal, by name."""
        if not isinstance(owner, Principal):
            raise not_a_principal("owner", owner)
        with self._database.read() as connection:
            rows = connection.execute(sql.AGENTS_OF, {"principal_id": owner.id}).fetchall()
        return [Agent(*row) for row in rows]

    @persistent
    def transfer(self, agent: Agent, *, to: Principal, acting_as: Principal) -> Agent:
        """Give an agent to another principal; its own memories go with it.

        The caller must control both sides: its own principal, or a group in which it is owner
        or admin.

        Raises:
            AccessDenied: The caller does not control one of the two.
            NotFound: There is no such agent.
            NameTaken: The new owner has an agent of that name.
        """
        taken = f"{to} has an agent {agent.name!r} already."
        with self._database.write(taken=taken) as connection:
            row = connection.execute(sql.AGENT, {"id": agent.id}).fetchone()
            if row is None:
                raise missing_agent(agent.name)
            for side in (row[2], to.id):
                member = {"group_id": side, "user_id": acting_as.id}
                role = connection.execute(sql.ROLE, member).fetchone()
                if not may_control(acting_as, side, role and role[0]):
                    raise AccessDenied(
                        f"{acting_as} does not control principal #{side}.",
                        suggestion="Only its user, or an owner or admin of the group, may do that.",
                    )
            connection.execute(sql.TRANSFER_AGENT, {"id": agent.id, "to": to.id})
        return Agent(row[0], row[1], to.id)


def not_a_principal(field: str, value: object) -> InvalidInput:
    """Return the refusal of a value that is no principal."""
    return InvalidInput(
        f"{field} must be a Principal, not a value of type {type(value).__name__}.",
        field=field,
        suggestion='Get one with store.principals.user("name").',
    )


def _row_id(value: object) -> int:
    """Return an id as the engine takes it; one that no row can have becomes 0, which none has."""
    return value if type(value) is int and 0 < value <= LAST_SEQ else 0
