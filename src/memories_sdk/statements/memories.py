"""The memories of a shelf, their bodies and their order."""

from __future__ import annotations

from functools import cache
from typing import Final

from sqlalchemy import and_, bindparam, delete, func, insert, or_, select, true, tuple_, update
from sqlalchemy.dialects.sqlite import insert as insert_or_leave
from sqlalchemy.sql.elements import ColumnElement

from memories_sdk.memory import MemoryHead
from memories_sdk.statements.terms import COUNTED, ONE, ZERO, bodies, memories, shelves
from memories_sdk.wording import compiled, spelled

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
WHOLE = select(*HEAD_COLUMNS, bodies.c.content, memories.c.row).join(
    bodies, bodies.c.row == memories.c.row
)

GET: Final = compiled(WHOLE.where(_shelf, _named, _alive))
GET_AT_ALL: Final = compiled(WHOLE.where(_shelf, _named))
GET_BY_ID: Final = compiled(WHOLE.where(_shelf, memories.c.id == bindparam("id"), _alive))
GET_EXPIRED: Final = compiled(
    WHOLE.where(_shelf, _named, memories.c.expires_at <= bindparam("now"))
)


@cache
def everything(types: int) -> str:
    """Return the statement that reads the memories of `types` types, `type_0` and so on."""
    return compiled(WHOLE.where(_shelf, _alive, _among(types)).order_by(*_sort))


@cache
def listing(types: int, *, after: bool) -> str:
    """Return the statement of one page of `types` types; behind a cursor, `after_*` say where."""
    statement = select(*HEAD_COLUMNS).where(_shelf, _alive, _among(types)).order_by(*_sort)
    if after:
        statement = statement.where(tuple_(*_sort) > tuple_(*_place))
    return compiled(statement.limit(bindparam("limit")).offset(ZERO))


@cache
def reading(types: int, *, after: bool) -> str:
    """Return the statement of one page of `types` types with bodies, as `listing` does."""
    statement = WHOLE.where(_shelf, _alive, _among(types)).order_by(*_sort)
    if after:
        statement = statement.where(tuple_(*_sort) > tuple_(*_place))
    return compiled(statement.limit(bindparam("limit")).offset(ZERO))


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
    statement = WHOLE.where(_shelf, _alive, _among(types)).order_by(*latest)
    return compiled(statement.limit(bindparam("limit")).offset(bindparam("skipped")))


USED: Final = compiled(
    select(func.count(), func.coalesce(func.sum(memories.c.size), ZERO)).where(
        memories.c.scope_key == COUNTED
    )
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

PLACE: Final = compiled(select(*_sort).where(_shelf, _alive, memories.c.id == bindparam("id")))
PREVIOUS: Final = compiled(
    select(memories.c.id)
    .where(_shelf, _alive, tuple_(*_sort) < tuple_(*_place))
    .order_by(*(column.desc() for column in _sort))
    .limit(ONE)
    .offset(ZERO)
)
NEXT: Final = compiled(
    select(memories.c.id)
    .where(_shelf, _alive, tuple_(*_sort) > tuple_(*_place))
    .order_by(*_sort)
    .limit(ONE)
    .offset(ZERO)
)
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
ENABLED: Final = compiled(
    select(shelves.c.enabled).where(shelves.c.scope_key == bindparam("scope_key"))
)
SWITCH: Final = compiled(
    insert_or_leave(shelves)
    .values(scope_key=bindparam("scope_key"), enabled=bindparam("enabled"))
    .on_conflict_do_update(index_elements=["scope_key"], set_={"enabled": bindparam("enabled")})
)
ELSEWHERE: Final = compiled(
    select(memories.c.row).where(
        memories.c.scope_key != bindparam("scope_key"), memories.c.id == bindparam("id")
    )
)
