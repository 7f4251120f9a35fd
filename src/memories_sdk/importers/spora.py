"""From Spora: a table `memories` of its schema 1 or 2, on SQLite, MySQL or MariaDB.

Owners are mapped: a user's memories go to the shelf of the user of that name, a group's to the
group's, and an agent's own to the agent's. Spora's own migration drops the owners and refuses, or
loses, what belongs to agents.

```python
from memories_sdk.importers import spora

print(spora.bring_in(store, "spora.db", dry_run=True))
spora.bring_in(store, "spora.db", types={"release": "plan"})
```
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Any, Final

from memories_sdk.errors import Conflict, InvalidInput, MemoriesError
from memories_sdk.importers.bringing import Entry, Item, Progress, Report, bring
from memories_sdk.importers.foreign import Row, Source, moment
from memories_sdk.memory import MAX_NAME, MAX_SUMMARY, Vocabulary
from memories_sdk.past import single
from memories_sdk.principals import Principal
from memories_sdk.scope import Scope
from memories_sdk.store import MemoryStore

TABLE: Final = "memories"
TYPE: Final = "context"
PAGE: Final = 500
_NAMES: Final = ("username", "name", "display_name", "email")


class AlreadyImported(Conflict):
    """This database was brought to this store before."""

    code = "already_imported"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memories a part of the table holds.

    Attributes:
        wanted: The columns that tell its rows from the others.
        user: The user that owns it, or acts for the group.
        group: The group that owns it, or None.
        agent: The agent whose own they are, or None.
    """

    wanted: Mapping[str, object]
    user: str
    group: str | None = None
    agent: str | None = None

    def __str__(self) -> str:
        owner = f"user:{self.user}" if self.group is None else f"group:{self.group}"
        return owner if self.agent is None else f"{owner}, agent:{self.agent}"


@dataclass(slots=True)
class Migration:
    """What an import did.

    Attributes:
        version: The schema that was found, 1 or 2.
        found: How many rows the table has.
        reports: What became of the rows of each owner.
    """

    version: int
    found: int
    reports: dict[str, Report] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[str]:
        """How many rows had each fate."""
        return sum((each.counts for each in self.reports.values()), Counter())

    @property
    def complete(self) -> bool:
        """Whether every row of the table is accounted for, and none was refused."""
        return self.counts.total() == self.found and not self.counts["refused"]

    def __str__(self) -> str:
        lines = [f"Spora schema {self.version}, {self.found:,} rows"]
        return "\n".join(lines + [f"{owner}: {it}" for owner, it in self.reports.items()])


def bring_in(
    store: MemoryStore,
    place: str | os.PathLike[str],
    *,
    users: Mapping[int, str] | None = None,
    types: Mapping[str, str] | Callable[[Row], str] | None = None,
    zone: tzinfo = UTC,
    strict: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    listener: Callable[[Entry], None] | None = None,
) -> Migration:
    """Bring all memories of a Spora database to a store, each to its owner.

    Users, groups, members and agents are made where they are missing. Where a name is taken by
    another memory, the one that comes gets a number behind its name: nothing is lost.

    Args:
        store: Where they go.
        place: A path of an SQLite file, or a URL.
        users: Names for user ids, where the database has no table of users, or another is meant.
        types: For schema 1, which has none: the type by the name of a memory, or a function of
            its row; "context" for the rest.
        zone: Where Spora's clock stood: its times carry no zone.
        strict: Refuse as Spora's own migration does, when schema 1 holds rows of agents.
        resume: Go on with an import that was interrupted.
        dry_run: Tell what would become of each row, and write nothing.
        progress: Called after each batch.
        listener: Called with what became of each row.

    Raises:
        InvalidInput: There is no such table.
        AlreadyImported: It was brought here before, and it is not to be resumed.
        Conflict: `strict` refuses it.
    """
    with Source(place) as source, ExitStack() as opened:
        version = _version(source)
        if strict and version == 1:
            _refuse_agents(source)
        owners = list(_owners(source, version, users or {}))
        mark = f"spora {source.name}"
        if not resume:
            _refuse_twice(store, owners, mark)
        target = opened.enter_context(MemoryStore(":memory:")) if dry_run else store
        done = Migration(version, source.count(TABLE))
        for owner in owners:
            reading = _Reading(source, owner, version, types, zone)
            shelf = _shelf(store, owner, mark) if dry_run else None
            shelf = shelf or _made(target, owner, mark)
            done.reports[str(owner)] = bring(
                shelf,
                reading.finder(shelf.vocabularies),
                conflict="skip" if resume else "rename",
                dry_run=dry_run,
                total=done.found,
                progress=progress,
                listener=listener,
            )
        return done


@dataclass(frozen=True, slots=True)
class _Reading:
    """The rows of one owner."""

    source: Source
    owner: Owner
    version: int
    types: Mapping[str, str] | Callable[[Row], str] | None
    zone: tzinfo

    def finder(self, vocabularies: tuple[Vocabulary, ...]) -> Callable[[bool], Iterator[Item]]:
        """Return what finds the rows, anew at each call."""
        return lambda _: self.items(vocabularies)

    def items(self, vocabularies: tuple[Vocabulary, ...]) -> Iterator[Item]:
        """Yield each row as a record."""
        for row in self.source.rows(TABLE, "order", "name", "id", **self.owner.wanted):
            place = f"row {row['id']}"
            try:
                yield self._item(row, place, vocabularies)
            except MemoriesError as error:
                yield Item(place, error=error)

    def _item(self, row: Row, place: str, vocabularies: tuple[Vocabulary, ...]) -> Item:
        fields, mended = _fields(row)
        fields["type"] = row["type"] if self.version > 1 else self._type(row)
        past = single(
            vocabularies,
            fields,
            created_at=moment(row.get("created_at"), self.zone),
            updated_at=moment(row.get("updated_at"), self.zone),
        )
        return Item(place, past, note=mended)

    def _type(self, row: Row) -> str:
        if callable(self.types):
            return self.types(row)
        return (self.types or {}).get(str(row["name"]), TYPE)


def _fields(row: Row) -> tuple[dict[str, Any], str]:
    """Return the fields of a row, and what had to be mended: Spora checks neither."""
    name = " ".join("".join(c if c.isprintable() else " " for c in str(row["name"])).split(" "))
    name = name.strip()[:MAX_NAME].strip() or f"unnamed {row['id']}"
    summary = row.get("summary")
    short = None if summary is None else " ".join(str(summary).replace("\0", " ").split())
    content = str(row.get("content") or "")
    fields = {
        "name": name,
        "content": content.replace("\0", "\ufffd"),
        "summary": None if short is None else short[:MAX_SUMMARY],
        "order": row.get("order") or 0,
    }
    mended = [
        f"its {what} was mended"
        for what, changed in (
            ("name", name != str(row["name"]).strip()),
            ("summary", short is not None and len(short) > MAX_SUMMARY),
            ("content", "\0" in content),
        )
        if changed
    ]
    return fields, ", ".join(mended)


def _version(source: Source) -> int:
    columns = source.columns(TABLE)
    if {"id", "name", "content", "principal_id", "scope", "type"} <= columns:
        return 2
    if {"id", "name", "content", "user_id"} <= columns:
        return 1
    raise InvalidInput(
        f"{source.shown} holds no table `memories` of Spora.",
        field="place",
        suggestion="Name the database of the Spora host itself.",
    )


def _refuse_agents(source: Source) -> None:
    found = source.groups(TABLE, "agent_id") if "agent_id" in source.columns(TABLE) else []
    if count := sum(rows for values, rows in found if values["agent_id"] is not None):
        raise Conflict(
            f"memories_000002 cannot run: {count} agent-scoped row(s) present in the legacy "
            "`memories` table.",
            suggestion="Back up and drop them first, or leave out strict: they are mapped then.",
        )


def _owners(source: Source, version: int, users: Mapping[int, str]) -> Iterator[Owner]:
    """Yield each owner that has rows, with the columns that tell its rows."""
    people = _names(source, "users", "user") | dict(users)
    keys = ["agent_id", "user_id"] if version == 1 else ["scope", "agent_id", "principal_id"]
    known = source.columns(TABLE)
    found = source.groups(TABLE, *(key for key in keys if key in known))
    agents = {row["id"]: row for row in source.rows("agents", "id")}
    principals = _principals(source, people)
    for wanted, _ in sorted(found, key=str):
        agent_id, user_id = wanted.get("agent_id"), wanted.get("user_id")
        principal_id = wanted.get("principal_id")
        agent = None
        if agent_id is not None:
            row = agents.get(agent_id, {})
            agent = str(row.get("name") or f"agent-{agent_id}")
            principal_id = row.get("principal_id", principal_id)
            user_id = user_id if user_id is not None else row.get("user_id")
        if principal_id is not None:
            user, group = principals.get(principal_id, (f"principal-{principal_id}", None))
        else:
            user, group = people.get(user_id) or _nameless(user_id), None
        yield Owner(wanted, user, group, agent)


def _nameless(user_id: object) -> str:
    return "unowned" if user_id is None else f"user-{user_id}"


def _principals(source: Source, people: Mapping[Any, str]) -> dict[Any, tuple[str, str | None]]:
    """Return for each principal the user, and the group that the user acts for."""
    if "principals" not in source.tables:
        return {}
    groups = _names(source, "groups", "group")
    members: dict[Any, Any] = {}
    table = next((it for it in ("group_members", "group_user") if it in source.tables), None)
    for row in source.rows(table, "role", "user_id") if table else ():
        if row.get("role") == "owner" or row["group_id"] not in members:
            members[row["group_id"]] = row["user_id"]
    found: dict[Any, tuple[str, str | None]] = {}
    for row in source.rows("principals", "id"):
        if row.get("group_id") is not None:
            group = row["group_id"]
            user = people.get(members.get(group)) or f"keeper of {groups.get(group, group)}"
            found[row["id"]] = user, groups.get(group) or f"group-{group}"
        else:
            found[row["id"]] = people.get(row.get("user_id")) or _nameless(row.get("user_id")), None
    return found


def _names(source: Source, table: str, kind: str) -> dict[Any, str]:
    """Return a name for each row: one that others have too gets its id behind it."""
    columns = source.columns(table)
    column = next((each for each in _NAMES if each in columns), None)
    if column is None:
        return {}
    rows = [(row["id"], str(row[column] or "").strip()) for row in source.rows(table, "id")]
    often = Counter(name for _, name in rows)
    return {id: name if name and often[name] == 1 else f"{name or kind}-{id}" for id, name in rows}


def _refuse_twice(store: MemoryStore, owners: list[Owner], mark: str) -> None:
    for owner in owners:
        shelf = _shelf(store, owner, mark)
        if shelf is not None and _is_marked(shelf, mark):
            raise AlreadyImported(
                f"Memories of {owner} were brought from this database before.",
                suggestion="If that was interrupted, choose to resume it.",
            )


def _is_marked(shelf: Scope, mark: str) -> bool:
    since = 0
    while changes := shelf.changes(since=since, limit=PAGE):
        if any(each.source == mark for each in changes):
            return True
        since = changes[-1].seq
    return False


def _shelf(store: MemoryStore, owner: Owner, mark: str) -> Scope | None:
    """Return the shelf of an owner, if all of it is there."""
    known = {(each.kind, each.name): each for each in store.principals.everyone()}
    user = known.get(("user", owner.user))
    principal = user if owner.group is None else known.get(("group", owner.group))
    if user is None or principal is None:
        return None
    if owner.agent is not None and not any(
        each.name == owner.agent for each in store.agents.owned_by(principal)
    ):
        return None
    return store.scope(
        acting_as=_acting(store, user, principal),
        principal=principal,
        agent=owner.agent,
        source=mark,
    )


def _made(store: MemoryStore, owner: Owner, mark: str) -> Scope:
    """Return the shelf of an owner, made where it is missing."""
    user = store.principals.user(owner.user)
    principal = user
    if owner.group is not None:
        principal = store.principals.group(owner.group, members=[user])
    agent = None if owner.agent is None else store.agents.ensure(owner.agent, owner=principal)
    acting = _acting(store, user, principal)
    return store.scope(acting_as=acting, principal=principal, agent=agent, source=mark)


def _acting(store: MemoryStore, user: Principal, principal: Principal) -> Principal:
    if principal.kind == "user":
        return principal
    members = store.principals.roles(principal)
    return user if user in members or not members else next(iter(members))
