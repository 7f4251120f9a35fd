"""The four routes of OpenWP: facts, listed, stored, and deleted one by one or all together.

Its errors had no status and came out as 500; here each has one.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request

from memories_sdk import fact_tools
from memories_sdk.arguments import Arguments
from memories_sdk.errors import AccessDenied, InvalidInput
from memories_sdk.facts import LISTED, MAX_LISTED, cleaned_query, cleaned_type
from memories_sdk.memory import FACTS
from memories_sdk.principals import Principal
from memories_sdk.scope import Scope
from memories_sdk.server import description as say
from memories_sdk.server.authentication import Caller, check_csrf
from memories_sdk.server.calls import Call
from memories_sdk.server.replies import Answer, Refused, openwp_refusal
from memories_sdk.server.routes import SPORA_CSRF, Family, Route

NONCE: Final = "x-wp-nonce"
PER_PAGE: Final = 2 * LISTED


def check(request: Request, caller: Caller) -> None:
    """Refuse a browser that does not repeat its token; here also when it only reads."""
    try:
        check_csrf(caller, request.headers.get(NONCE) or request.headers.get(SPORA_CSRF))
    except Refused:
        raise Refused(403, "openwp_rest_nonce_invalid", "Invalid nonce.") from None


def refusal(error: Exception) -> Answer:
    """Say an error in the words of OpenWP."""
    if isinstance(error, Refused) and error.status in _CODES:
        code, message = _CODES[error.status]
        kept = error.code.startswith("openwp") or error.code == "READ_ONLY"
        if not kept:
            error = Refused(error.status, code, message, headers=error.headers)
    if isinstance(error, AccessDenied):
        error = Refused(403, *_CODES[403])
    return openwp_refusal(error)


_DENIED: Final = (
    "openwp_rest_capability_denied",
    "You do not have permission for this endpoint.",
)
_CODES: Final = {401: _DENIED, 403: _DENIED}
OPENWP: Final = Family("openwp", "/openwp/v1", refusal, check)


class Facts:
    """The facts that the routes serve.

    Args:
        site: Whose they are, as in OpenWP, which has one store for all; None for the caller's own.
    """

    def __init__(self, site: Principal | None) -> None:
        self._site = site

    def listed(self, call: Call) -> Answer:
        """List facts, last changed first."""
        page = max(abs(call.number("page", 1)), 1)
        size = min(abs(call.number("per_page", 0)) or PER_PAGE, MAX_LISTED)
        type = cleaned_type(call.query.get("type", ""))
        scope = self._shelf(call)
        found = scope.recent(
            type=type if type in FACTS.types else None,
            containing=cleaned_query(call.query.get("query") or call.query.get("search") or ""),
            limit=size,
            skip=min((page - 1) * size, _LAST),
        )
        items = [fact_tools.item(each) for each in found.memories]
        head = {"enabled": scope.enabled, "total": found.total, "page": page, "per_page": size}
        return Answer(head | {"items": items})

    def stored(self, call: Call) -> Answer:
        """Store a fact, new or in the place of the one of its type and key."""
        sent = Arguments(call.given)
        value, tags = call.given.get("value"), call.given.get("tags")
        if value is None:
            value = call.given.get("text")
        if isinstance(value, dict):
            tags = value.get("tags", tags)
            value = value.get("text")
        saved = fact_tools.remember(
            self._shelf(call),
            sent.text("type"),
            sent.text("key"),
            Arguments({"value": value}).text("value"),
            _tags(tags),
            expected_version=call.expected_version,
        )
        item = fact_tools.item(saved.memory)
        return Answer({"success": True, "created": saved.created, "item": item})

    def deleted(self, call: Call) -> Answer:
        """Delete the fact with an id; it can be restored."""
        memory = self._shelf(call).delete_by_id(call.id, expected_version=call.expected_version)
        return Answer({"success": True, "deleted": True, "type": memory.type, "key": memory.name})

    def cleared(self, call: Call) -> Answer:
        """Delete the fact of a type and key, or all facts where neither is named."""
        named = {
            name: call.query.get(name) or call.given.get(name)
            for name in ("type", "key")
            if name in call.query or name in call.given
        }
        tool = "forget_memory" if named else "clear_memory"
        seen = {"expected_version": call.expected_version} if named else {}
        answer = fact_tools.FACT_TOOLS[tool].run(self._shelf(call), Arguments(named | seen))
        return Answer({"success": True, **(answer.data or {})})

    def routes(self) -> tuple[Route, ...]:
        """Return the four routes."""
        return (
            Route(
                *(OPENWP, "GET", "/memory", self.listed, "List facts"),
                query=("page", "per_page", "type_of_fact", "query", "search"),
                example=say.FACTS_PAGE,
            ),
            Route(
                *(OPENWP, "POST", "/memory", self.stored, "Store a fact"),
                writes=True,
                body=say.FACT_BODY,
                example={"success": True, "created": True, "item": say.FACT},
                refuses=("CONFLICT",),
            ),
            Route(
                *(OPENWP, "DELETE", "/memory/{id}", self.deleted, "Delete a fact"),
                writes=True,
                example=say.FACT_GONE,
                refuses=("CONFLICT",),
            ),
            Route(
                *(OPENWP, "DELETE", "/memory", self.cleared, "Delete one fact, or all"),
                writes=True,
                query=("type_of_fact", "key"),
                example={"success": True, "cleared": True, "deleted_count": 2},
                otherwise=say.FACT_GONE,
                refuses=("CONFLICT",),
            ),
        )

    def _shelf(self, call: Call) -> Scope:
        return call.shelf((FACTS,), self._site)


_LAST: Final = 2**62


def _tags(value: Any) -> list[str] | None:  # noqa: ANN401 -- as it came from JSON
    """Return a list of tags, or None for nothing; a text is parted at its commas."""
    if isinstance(value, str):
        return [each for each in value.split(",") if each.strip()]
    if value is not None and not isinstance(value, list):
        raise InvalidInput(
            "tags must be a list of texts.", field="tags", suggestion='For example ["tone"].'
        )
    return Arguments({"tags": value}).texts("tags")
