"""The 14 routes of Spora: seven operations on the shelf of a principal, and on that of an agent.

Envelopes, codes and messages are those that its clients know. What it answered with a server error
has a code of its own here, and what is new changes nothing for who does not ask for it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Final

from memories_sdk.bound import parsed_id
from memories_sdk.edits import Edit
from memories_sdk.errors import NotFound
from memories_sdk.fields import checked_type, normal_name
from memories_sdk.memory import Memory, MemoryHead
from memories_sdk.pages import MAX_PAGE
from memories_sdk.scope import Unknown
from memories_sdk.server import description as say
from memories_sdk.server.calls import NUMBER, Call, draft
from memories_sdk.server.replies import NOT_MODIFIED, Answer, Refused, data
from memories_sdk.server.routes import SPORA, Route
from memories_sdk.wire import Json, memory_json

NAMED: Final = "named"
"""Stands for the id of the memory that `?name=` and `?type=` name."""


def listed(call: Call) -> Answer:
    """List the memories: all of them with their bodies, or one page where a page is asked for."""
    fields = call.fields
    heads = fields is not None and "content" not in fields
    if "limit" not in call.query and "cursor" not in call.query:
        return data({"memories": [_shown(each, fields) for each in _all(call, heads=heads)]})
    limit, cursor = call.number("limit", 50), call.query.get("cursor") or None
    found: Sequence[MemoryHead]
    if heads:
        page = call.scope.list(type=call.type, limit=limit, cursor=cursor)
        found, total, following = page, page.total, page.next_cursor
    else:
        whole = call.scope.read(type=call.type, limit=limit, cursor=cursor)
        found, total, following = whole.memories, whole.total, whole.next_cursor
    return data(
        {
            "memories": [_shown(each, fields) for each in found],
            "total": total,
            "next_cursor": following,
        }
    )


def created(call: Call) -> Answer:
    """Create a memory at the end of the list."""
    given = call.given
    name, type = given.get("name"), given.get("type")
    if name is None or (isinstance(name, str) and not name.strip()):
        raise Refused(422, "VALIDATION_ERROR", "name is required.")
    if not isinstance(type, str) or not type:
        raise Refused(422, "VALIDATION_ERROR", "type is required.")
    checked_type(type, call.vocabularies)
    values = draft(given)
    if "place" in given:
        values["order"] = given["place"]
    return one(call.scope.create(name, type, **values), 201)


def shown(call: Call) -> Answer:
    """Return a memory."""
    by_name = call.id == NAMED
    memory = call.scope.get(*named(call)) if by_name else call.scope.get_by_id(call.id)
    answer = one(memory)
    if call.has_seen(answer.headers["ETag"]):
        return Answer(status=NOT_MODIFIED, headers=answer.headers)
    return answer


def updated(call: Call) -> Answer:
    """Change fields of a memory; what is left out stays."""
    given = call.given
    for field in ("name", "type"):
        value = given.get(field)
        blank = value is None or (isinstance(value, str) and not value.strip())
        if field in given and (blank or (field == "type" and not isinstance(value, str))):
            call.scope.get_by_id(call.id)  # what is not there is not there, whatever was sent
            raise Refused(422, "VALIDATION_ERROR", f"{field} cannot be empty")
    values = draft(given) | {field: given[field] for field in ("name", "type") if field in given}
    if "order" in given:
        values["order"] = _integer(given["order"])
    return one(call.scope.update(call.id, **values, expected_version=call.expected_version))


def replaced(call: Call) -> Answer:
    """Replace a passage that stands exactly once, or several passages, all or none."""
    given = call.given
    edits = call.edits()
    if edits is None:
        if not given.get("find"):
            raise Refused(422, "VALIDATION_ERROR", "find is required.")
        if given.get("new_text") is None:
            raise Refused(
                422, "VALIDATION_ERROR", "new_text is required; an empty one deletes the passage."
            )
        edits = [Edit(given["find"], given["new_text"])]
    if given.get("type") is not None:
        checked_type(given["type"], call.vocabularies)
    try:
        return one(_replaced(call, edits))
    except NotFound:
        if call.id == NAMED:
            raise
        raise Refused(404, "REPLACE_NOT_FOUND", "Memory not found for replace.") from None


def deleted(call: Call) -> Answer:
    """Delete a memory; it can be restored."""
    expected = call.expected_version
    if call.id == NAMED:
        memory = call.scope.delete(*named(call), expected_version=expected)
    else:
        memory = call.scope.delete_by_id(call.id, expected_version=expected)
    return data({"deleted": True, "memory": memory_json(memory)})


def reordered(call: Call) -> Answer:
    """Number memories by where they stand in a list."""
    ids = call.given.get("order")
    if not isinstance(ids, list):
        raise _no_ids()
    if (asked := call.given.get("unknown")) is not None:
        call.scope.reorder(ids, unknown=asked)
        return data({"success": True})
    # Spora passed over what it did not know: for a principal such an id used up its number, for
    # an agent it did not.
    unknown: Unknown = "count"
    if call.scope.agent is not None:
        unknown = "skip"
        if not all(map(_is_id, ids)):
            raise _no_ids()
    known = [each if _is_id(each) else uuid.uuid4().hex for each in ids]
    call.scope.reorder(known, unknown=unknown)
    return data({"success": True})


def one(memory: Memory, status: int = 200) -> Answer:
    """Return a memory with the ETag of its version."""
    return data({"memory": memory_json(memory)}, status, {"ETag": f'"v{memory.version}"'})


def named(call: Call) -> tuple[str, str]:
    """Return the name and type of the memory that the query names."""
    return call.query.get("name", ""), call.query.get("type", "")


def _all(call: Call, *, heads: bool) -> Iterator[MemoryHead]:
    cursor: str | None = None
    while True:
        if heads:
            page = call.scope.list(type=call.type, limit=MAX_PAGE, cursor=cursor)
            cursor = page.next_cursor
            yield from page
        else:
            whole = call.scope.read(type=call.type, limit=MAX_PAGE, cursor=cursor)
            cursor = whole.next_cursor
            yield from whole.memories
        if cursor is None:
            return


def _shown(memory: MemoryHead, fields: tuple[str, ...] | None) -> Json:
    return memory_json(memory) if fields is None else memory_json(memory, fields)


def _replaced(call: Call, edits: list[Edit]) -> Memory:
    expected = call.expected_version
    if call.id == NAMED:
        return call.scope.replace(*named(call), edits=edits, expected_version=expected)
    name, type = call.given.get("name"), call.given.get("type")
    if name is not None or type is not None:
        memory = call.scope.get_by_id(call.id)
        said = memory.name if name is None else normal_name(name), type or memory.type
        if said != (memory.name, memory.type):
            raise Refused(409, "NAME_MISMATCH", "The memory has another name or type.")
        if expected is None:
            expected = memory.version  # renamed meanwhile, it would be another one
    return call.scope.replace_by_id(call.id, edits=edits, expected_version=expected)


def _integer(value: object) -> object:
    """Return a whole number that was sent as text or as 2.0; the scope judges anything else."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, str) and NUMBER.match(value) else value


def _is_id(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(parsed_id(value))
    except NotFound:
        return False


def _no_ids() -> Refused:
    return Refused(422, "VALIDATION_ERROR", "order must be an array of memory IDs.")


_LIST: Final = ("type", "limit", "cursor", "fields", "vocabularies")
_NAMED: Final = ("name", "type_of_name", "vocabularies")
_EDIT: Final = ("EDIT_CONFLICT", "CONFLICT")


def _routes(prefix: str) -> Iterator[Route]:
    """Yield the seven operations on the shelf behind a prefix."""
    one_of = f"{prefix}/{{id}}"
    whole = {"data": {"memory": say.MEMORY}}
    yield Route(
        *(SPORA, "GET", prefix, listed, "List memories"),
        query=_LIST,
        example={"data": {"memories": [say.MEMORY]}},
        refuses=("TYPE_NOT_ALLOWED",),
    )
    yield Route(
        *(SPORA, "POST", prefix, created, "Create a memory"),
        writes=True,
        status=201,
        query=("vocabularies",),
        body=say.CREATE,
        example=whole,
        refuses=("TYPE_NOT_ALLOWED", "WRITE_REFUSED", "NAME_TAKEN"),
    )
    yield Route(
        *(SPORA, "PATCH", f"{prefix}/reorder", reordered, "Reorder memories"),
        writes=True,
        query=("vocabularies",),
        body=say.REORDER,
        example={"data": {"success": True}},
        refuses=("CONFLICT",),
    )
    yield Route(
        *(SPORA, "GET", one_of, shown, "Show a memory"),
        query=_NAMED,
        example=whole,
        refuses=("TYPE_NOT_ALLOWED", "NOT_MODIFIED"),
    )
    yield Route(
        *(SPORA, "PUT", one_of, updated, "Update a memory"),
        writes=True,
        query=("vocabularies",),
        body=say.UPDATE,
        example=whole,
        refuses=("TYPE_NOT_ALLOWED", "WRITE_REFUSED", "NAME_TAKEN", *_EDIT),
    )
    yield Route(
        *(SPORA, "POST", f"{one_of}/replace", replaced, "Replace a passage"),
        writes=True,
        query=_NAMED,
        body=say.REPLACE,
        example=whole,
        refuses=(
            *("TYPE_NOT_ALLOWED", "REPLACE_NOT_UNIQUE", "REPLACE_NOT_FOUND", "WRITE_REFUSED"),
            *("NAME_MISMATCH", *_EDIT),
        ),
    )
    yield Route(
        *(SPORA, "DELETE", one_of, deleted, "Delete a memory"),
        writes=True,
        query=_NAMED,
        example={"data": {"deleted": True, "memory": say.MEMORY}},
        refuses=("TYPE_NOT_ALLOWED", *_EDIT),
    )


SHELVES: Final = ("/memories", "/agents/{agent_id}/memories")
"""The shelf of a principal, and that of an agent."""

ROUTES: Final = tuple(route for shelf in SHELVES for route in _routes(shelf))
