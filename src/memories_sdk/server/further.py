"""What Spora had no routes for: history and undo, search and recall, and every other verb."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memories_sdk.errors import InvalidInput
from memories_sdk.reader import MIN_RELEVANCE
from memories_sdk.server import description as say
from memories_sdk.server.calls import Call, check_texts, draft, moment
from memories_sdk.server.pasts import pasts
from memories_sdk.server.replies import Answer, data
from memories_sdk.server.routes import SPORA, Route
from memories_sdk.server.spora import SHELVES, one
from memories_sdk.wire import (
    adopted_json,
    concern_json,
    history_json,
    hits_json,
    memory_json,
    recall_json,
)


def saved(call: Call) -> Answer:
    """Create the memory of a name and type, or update it; what is left out stays."""
    given = call.given
    values = draft(given)
    if "order" in given:
        values["order"] = given["order"]
    if "new_order" in given:
        values["new_order"] = given["new_order"]
    done = call.scope.save(
        given.get("name", ""),
        given.get("type", ""),
        **values,
        expected_version=call.expected_version,
    )
    answer = one(done.memory, 201 if done.created else 200)
    return data(
        {"memory": memory_json(done.memory), "created": done.created},
        answer.status,
        answer.headers,
    )


def cleared(call: Call) -> Answer:
    """Delete all memories, or those of one type; one undo brings them back."""
    return data({"deleted": call.scope.clear(type=call.type)})


def counted(call: Call) -> Answer:
    """Count the memories of each type."""
    return data({"counts": call.scope.counts()})


def recent(call: Call) -> Answer:
    """List memories with their bodies, last changed first."""
    found = call.scope.recent(
        type=call.type,
        containing=call.query.get("containing", ""),
        limit=call.number("limit", 50),
        skip=call.number("skip", 0),
    )
    return data({"memories": [memory_json(each) for each in found.memories], "total": found.total})


def searched(call: Call) -> Answer:
    """Search, the best first."""
    hits = call.scope.search(
        call.query.get("query", ""),
        type=call.type,
        tags=_tags(call),
        limit=call.number("limit", 20),
        cursor=call.query.get("cursor") or None,
    )
    return data(hits_json(hits))


def recalled(call: Call) -> Answer:
    """Choose the memories to put before an agent with a prompt."""
    given = call.given
    for name in ("limit", "max_chars", "max_chars_each"):
        if type(given.get(name)) is float:
            raise InvalidInput(
                f"{name} must be a whole number.", field=name, suggestion=f"{name}: 8"
            )
    recall = call.scope.relevant_for_prompt(
        given.get("prompt", ""),
        given.get("limit", 8),
        given.get("max_chars", 1200),
        type=given.get("type"),
        tags=given.get("tags", ()),
        min_relevance=given.get("min_relevance", MIN_RELEVANCE),
        max_chars_each=given.get("max_chars_each"),
    )
    return data(recall_json(recall))


def inspected(call: Call) -> Answer:
    """Say what the guards find in texts, without storing them."""
    given = call.given
    texts = {name: given.get(name, "") for name in ("name", "content", "summary")}
    tags = given.get("tags", [])
    check_texts(texts, tags)
    found = call.scope.inspect(given.get("type", ""), **texts, tags=tags)
    return data({"concerns": [concern_json(each) for each in found]})


def history(call: Call) -> Answer:
    """List what happened on the shelf, to a memory of a name and type, or to some, newest first."""
    name = call.query.get("name") or None
    ids = call.query.get("ids")
    return data(
        history_json(
            call.scope.history(
                name,
                call.type,
                ids=None if ids is None else ids.split(",") if ids else [],
                limit=call.number("limit", 50),
                cursor=call.query.get("cursor") or None,
            )
        )
    )


def history_of(call: Call) -> Answer:
    """List what happened to a memory, newest first."""
    found = call.scope.history(
        id=call.id, limit=call.number("limit", 50), cursor=call.query.get("cursor") or None
    )
    return data(history_json(found))


def deleted(call: Call) -> Answer:
    """List the last revision of each memory that is gone."""
    return data(history_json(call.scope.deleted(limit=call.number("limit", 50))))


def changes(call: Call) -> Answer:
    """List what happened after a revision, oldest first: the change feed."""
    found = call.scope.changes(since=call.number("since", 0), limit=call.number("limit", 500))
    return data(history_json(found))


def transferred(call: Call) -> Answer:
    """Move a memory to another shelf of the caller's, under its id."""
    given = call.given
    principal, agent = given.get("principal_id"), given.get("agent_id")
    if any(each is not None and type(each) is not int for each in (principal, agent)):
        raise InvalidInput("to must be ids.", field="principal_id", suggestion="principal_id: 12")
    there = call.other(principal, agent)
    memory = call.scope.transfer(call.id, to=there, expected_version=call.expected_version)
    return one(memory)


def moved(call: Call) -> Answer:
    """Put a memory right before or right after another one."""
    given = call.given
    memory = call.scope.move(
        call.id,
        before=given.get("before"),
        after=given.get("after"),
        expected_version=call.expected_version,
    )
    return one(memory)


def restored(call: Call) -> Answer:
    """Bring back a deleted memory, or an earlier version of one that is there."""
    memory = call.scope.restore(
        call.id, version=call.given.get("version"), expected_version=call.expected_version
    )
    return one(memory)


def adopted(call: Call) -> Answer:
    """Take in memories that were kept elsewhere, with their pasts, as one change."""
    given = call.given
    done = call.scope.adopt(
        pasts(given.get("memories"), call.vocabularies),
        conflict=given.get("conflict", "skip"),
        dry_run=given.get("dry_run") is True,
    )
    return data({"adopted": [adopted_json(each) for each in done]})


def undone(call: Call) -> Answer:
    """Take back the last change of the shelf, all of its parts."""
    return data(history_json(call.scope.undo(seq=call.given.get("seq"))))


def redacted(call: Call) -> Answer:
    """Blot out a text in the shelf and in all of its history."""
    text = call.given.get("text", "")
    check_texts({"text": text}, [])
    return data({"found": call.scope.redact(text)})


def pruned(call: Call) -> Answer:
    """Forget what old revisions overwrote."""
    keep = call.given.get("keep")
    if keep is not None and type(keep) is not int:
        raise InvalidInput("keep must be a whole number.", field="keep", suggestion="keep: 20")
    return data({"emptied": call.scope.prune(keep=keep, before=moment(call.given, "before"))})


def switched(call: Call) -> Answer:
    """Switch memory on or off on this shelf, for everybody."""
    on = call.given.get("enabled")
    if not isinstance(on, bool):
        raise InvalidInput(
            "enabled must be true or false.", field="enabled", suggestion="enabled: true"
        )
    call.scope.switch(on=on)
    return data({"enabled": on})


def state(call: Call) -> Answer:
    """Say whether memory is switched on here."""
    return data({"enabled": call.scope.enabled})


def _tags(call: Call) -> tuple[str, ...]:
    return tuple(filter(None, call.request.query_params.getlist("tags")))


_PAGE: Final = ("limit", "cursor", "vocabularies")
_EDIT: Final = ("EDIT_CONFLICT", "CONFLICT", "QUOTA_EXCEEDED")


def _reading(shelf: str) -> Iterator[Route]:
    """Yield the routes that only read."""
    revisions = {"data": {"revisions": [say.REVISION], "next_cursor": None}}
    yield Route(
        *(SPORA, "GET", f"{shelf}/counts", counted, "Count memories by type"),
        query=("vocabularies",),
        example={"data": {"counts": say.COUNTS}},
    )
    yield Route(
        *(SPORA, "GET", f"{shelf}/recent", recent, "List memories by last change"),
        query=("type", "containing", "limit", "skip", "vocabularies"),
        example={"data": {"memories": [say.MEMORY], "total": 1}},
        refuses=("TYPE_NOT_ALLOWED",),
    )
    yield Route(
        *(SPORA, "GET", f"{shelf}/search", searched, "Search memories"),
        query=("query", "type", "tags", *_PAGE),
        example={"data": {"hits": [say.HIT], "total": 1, "next_cursor": None}},
        refuses=("TYPE_NOT_ALLOWED",),
    )
    yield Route(
        *(SPORA, "POST", f"{shelf}/recall", recalled, "Recall memories for a prompt"),
        query=("vocabularies",),
        body=say.RECALL_BODY,
        example={"data": say.RECALL},
        refuses=("TYPE_NOT_ALLOWED",),
    )
    yield Route(
        *(SPORA, "POST", f"{shelf}/inspect", inspected, "Look for secrets in texts"),
        query=("vocabularies",),
        body=say.INSPECT_BODY,
        example={"data": {"concerns": [say.CONCERN]}},
        refuses=("TYPE_NOT_ALLOWED", "WRITE_REFUSED"),
    )
    yield Route(
        *(SPORA, "GET", f"{shelf}/history", history, "List revisions of a shelf"),
        query=("name", "type", "ids", *_PAGE),
        example=revisions,
        refuses=("TYPE_NOT_ALLOWED",),
    )
    yield Route(
        *(SPORA, "GET", f"{shelf}/deleted", deleted, "List deleted memories"),
        query=("limit", "vocabularies"),
        example=revisions,
    )
    yield Route(
        *(SPORA, "GET", f"{shelf}/changes", changes, "Follow the changes of a shelf"),
        query=("since", "limit", "vocabularies"),
        example=revisions,
    )
    yield Route(
        *(SPORA, "GET", f"{shelf}/enabled", state, "Show whether memory is on"),
        example={"data": {"enabled": True}},
    )
    yield Route(
        *(SPORA, "GET", f"{shelf}/{{id}}/history", history_of, "List revisions of a memory"),
        query=_PAGE,
        example=revisions,
    )


def _writing(shelf: str) -> Iterator[Route]:
    """Yield the routes that write."""
    whole = {"data": {"memory": say.MEMORY}}
    for method, path, run, summary, body, example, refuses in (
        (
            *("PUT", "", saved, "Save a memory by name and type", say.SAVE),
            {"data": {"memory": say.MEMORY, "created": False}},
            ("TYPE_NOT_ALLOWED", "WRITE_REFUSED", *_EDIT),
        ),
        (
            *("DELETE", "", cleared, "Delete all memories", None),
            {"data": {"deleted": 2}},
            ("TYPE_NOT_ALLOWED", "CONFLICT"),
        ),
        (
            *("POST", "/undo", undone, "Undo the last change", say.UNDO),
            {"data": {"revisions": [say.REVISION], "next_cursor": None}},
            ("NAME_TAKEN", "CONFLICT", "QUOTA_EXCEEDED"),
        ),
        (
            *("POST", "/adopt", adopted, "Take in memories with their pasts", say.ADOPT),
            {"data": {"adopted": [say.ADOPTED]}},
            ("TYPE_NOT_ALLOWED", "WRITE_REFUSED", "NAME_TAKEN", "CONFLICT", "QUOTA_EXCEEDED"),
        ),
        (
            *("POST", "/redact", redacted, "Blot out a text", say.REDACT),
            {"data": {"found": 3}},
            ("CONFLICT",),
        ),
        (
            *("POST", "/prune", pruned, "Forget old revisions", say.PRUNE),
            {"data": {"emptied": 7}},
            ("CONFLICT",),
        ),
        (
            *("PUT", "/enabled", switched, "Switch memory on or off", say.SWITCH),
            {"data": {"enabled": True}},
            (),
        ),
        (*("POST", "/{id}/move", moved, "Move a memory", say.MOVE), whole, _EDIT),
        (
            *("POST", "/{id}/restore", restored, "Restore a memory", say.RESTORE),
            whole,
            ("NAME_TAKEN", *_EDIT),
        ),
        (
            *("POST", "/{id}/transfer", transferred, "Move to another shelf", say.TRANSFER),
            whole,
            ("TYPE_NOT_ALLOWED", "NAME_TAKEN", *_EDIT),
        ),
    ):
        yield Route(
            *(SPORA, method, f"{shelf}{path}", run, summary),
            writes=True,
            query=("type", "vocabularies") if run is cleared else ("vocabularies",),
            body=body,
            example=example,
            refuses=refuses,
        )


ROUTES: Final = tuple(
    route for shelf in SHELVES for routes in (_reading, _writing) for route in routes(shelf)
)
