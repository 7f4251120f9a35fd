"""What is kept beside memories: pictures, unsaved texts, and calls that wait for a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memories_sdk.approvals import MAX_LISTED, unknown_approval
from memories_sdk.principals import scope_key
from memories_sdk.results import Approval
from memories_sdk.server import description as say
from memories_sdk.server.calls import Call, check_texts
from memories_sdk.server.replies import NOT_MODIFIED, Answer, data
from memories_sdk.server.routes import SPORA, Route
from memories_sdk.server.spora import SHELVES
from memories_sdk.wire import approval_json, draft_json, picture_json


def pictures(call: Call) -> Answer:
    """List the pictures of the shelf, or those that no text names."""
    unused = call.query.get("unused") == "true"
    found = call.scope.attachments(unused=unused)
    return data({"attachments": [picture_json(each) for each in found]})


def attached(call: Call) -> Answer:
    """Keep a picture; the body is its bytes, which say what it is."""
    head = call.scope.attach(call.body, name=call.query.get("name") or "picture")
    return data({"attachment": picture_json(head)}, 201)


def picture(call: Call) -> Answer:
    """Give the bytes of a picture, as what they are and nothing else."""
    found = call.scope.attachment(call.id)
    etag = f'"{found.id}"'
    if call.has_seen(etag):
        return Answer(status=NOT_MODIFIED, headers={"ETag": etag})
    headers = {
        "Content-Type": found.media_type,
        "Content-Disposition": "inline",
        "Accept-Ranges": "none",
        "ETag": etag,
    }
    return Answer(raw=found.content, headers=headers)


def detached(call: Call) -> Answer:
    """Delete a picture."""
    call.scope.detach(call.id)
    return data({"deleted": True})


def drafts(call: Call) -> Answer:
    """List the caller's own unsaved texts."""
    return data({"drafts": [draft_json(each) for each in call.scope.drafts()]})


def draft_kept(call: Call) -> Answer:
    """Keep an unsaved text of the caller's."""
    given = call.given
    texts = {name: given.get(name, "") for name in ("name", "content", "summary")}
    tags = given.get("tags", [])
    check_texts(texts, tags)
    kept = call.scope.keep_draft(
        call.id,
        type=given.get("type", ""),
        **texts,
        tags=tags,
        memory_id=given.get("memory_id"),
        version=given.get("version"),
    )
    return data({"draft": draft_json(kept)})


def draft_dropped(call: Call) -> Answer:
    """Forget an unsaved text."""
    call.scope.drop_draft(call.id)
    return data({"deleted": True})


def approvals(call: Call) -> Answer:
    """List the calls of agents that wait for a person."""
    waiting = call.query.get("waiting") != "false"
    limit = most = call.number("limit", 50)
    if (shelves := _reached(call)) is not None and 0 < limit <= MAX_LISTED:
        most = MAX_LISTED  # what this token does not reach takes no place of what it does
    found = call.store.approvals.list(acting_as=call.caller.user, waiting=waiting, limit=most)
    shown = [each for each in found if shelves is None or each.shelf in shelves]
    return data({"approvals": [approval_json(each) for each in shown[:limit]]})


def approval(call: Call) -> Answer:
    """Show a call that waits, or waited."""
    return data({"approval": approval_json(_found(call))})


def granted(call: Call) -> Answer:
    """Carry out a call, exactly as it was shown."""
    _found(call)
    result = call.store.approvals.grant(call.id, acting_as=call.caller.user)
    return data({"text": result.text, "hint": result.hint, "data": result.data})


def refused(call: Call) -> Answer:
    """Decide that a call is not carried out."""
    _found(call)
    found = call.store.approvals.refuse(call.id, acting_as=call.caller.user)
    return data({"approval": approval_json(found)})


def _found(call: Call) -> Approval:
    found = call.store.approvals.get(call.id, acting_as=call.caller.user)
    if (shelves := _reached(call)) is not None and found.shelf not in shelves:
        raise unknown_approval()
    return found


def _reached(call: Call) -> set[str] | None:
    """Return the shelves that a caller reaches who may act as one principal alone, or None."""
    only = call.caller.principal
    if only is None:
        return None
    owned = {scope_key(agent_id=each.id) for each in call.store.agents.owned_by(only)}
    return owned | {scope_key(principal_id=only.id)}


_MADE: Final = ("CONFLICT", "QUOTA_EXCEEDED")


def _pictures(shelf: str) -> Iterator[Route]:
    """Yield the routes of pictures."""
    yield Route(
        *(SPORA, "GET", f"{shelf}/attachments", pictures, "List pictures"),
        query=("unused",),
        example={"data": {"attachments": [say.PICTURE]}},
    )
    yield Route(
        *(SPORA, "POST", f"{shelf}/attachments", attached, "Keep a picture"),
        writes=True,
        status=201,
        query=("name",),
        raw=True,
        example={"data": {"attachment": say.PICTURE}},
        refuses=_MADE,
    )
    yield Route(
        *(SPORA, "GET", f"{shelf}/attachments/{{id}}", picture, "Show a picture"),
        raw=True,
        refuses=("NOT_MODIFIED",),
    )
    yield Route(
        *(SPORA, "DELETE", f"{shelf}/attachments/{{id}}", detached, "Delete a picture"),
        writes=True,
        example={"data": {"deleted": True}},
        refuses=("CONFLICT",),
    )


def _drafts(shelf: str) -> Iterator[Route]:
    """Yield the routes of unsaved texts."""
    yield Route(
        *(SPORA, "GET", f"{shelf}/drafts", drafts, "List unsaved texts"),
        query=("vocabularies",),
        example={"data": {"drafts": [say.DRAFT]}},
    )
    yield Route(
        *(SPORA, "PUT", f"{shelf}/drafts/{{id}}", draft_kept, "Keep an unsaved text"),
        writes=True,
        query=("vocabularies",),
        body=say.DRAFT_BODY,
        example={"data": {"draft": say.DRAFT}},
        refuses=("TYPE_NOT_ALLOWED", "WRITE_REFUSED", *_MADE),
    )
    yield Route(
        *(SPORA, "DELETE", f"{shelf}/drafts/{{id}}", draft_dropped, "Forget an unsaved text"),
        writes=True,
        example={"data": {"deleted": True}},
        refuses=("CONFLICT",),
    )


_APPROVALS: Final = (
    Route(
        *(SPORA, "GET", "/approvals", approvals, "List approvals"),
        query=("waiting", "limit"),
        example={"data": {"approvals": [say.APPROVAL]}},
    ),
    Route(
        *(SPORA, "GET", "/approvals/{id}", approval, "Show an approval"),
        example={"data": {"approval": say.APPROVAL}},
    ),
    Route(
        *(SPORA, "POST", "/approvals/{id}/grant", granted, "Grant an approval"),
        writes=True,
        example={"data": {"text": "Deleted memory [n] (type=plan) from agent scope."}},
        refuses=("TYPE_NOT_ALLOWED", "WRITE_REFUSED", "NAME_TAKEN", "EDIT_CONFLICT", *_MADE),
    ),
    Route(
        *(SPORA, "POST", "/approvals/{id}/refuse", refused, "Refuse an approval"),
        writes=True,
        example={"data": {"approval": say.APPROVAL}},
        refuses=("CONFLICT",),
    ),
)
ROUTES: Final = (
    *(route for shelf in SHELVES for routes in (_pictures, _drafts) for route in routes(shelf)),
    *_APPROVALS,
)
