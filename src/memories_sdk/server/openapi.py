"""The OpenAPI description, made of what the routes say of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from memories_sdk.server import description as say
from memories_sdk.server.authentication import COOKIE, SAFE
from memories_sdk.server.replies import Refused
from memories_sdk.server.routes import Route
from memories_sdk.wire import Json

ANYBODYS: Final = ("UNAUTHENTICATED", "TOO_MANY_REQUESTS", "STORE_BUSY", "INTERNAL_SERVER_ERROR")
CALLERS: Final = ("FORBIDDEN", "NOT_FOUND", "VALIDATION_ERROR")
WRITERS: Final = ("CSRF_TOKEN_MISSING", "CSRF_INVALID", "READ_ONLY", "KEY_REUSED", "CONFLICT")
BODIES: Final = ("INVALID_JSON", "REQUEST_TIMEOUT", "REQUEST_TOO_LARGE", "BODY_ENCODED")

_COMPONENTS: Final[Mapping[str, object]] = {
    "Memory": say.MEMORY,
    "Revision": say.REVISION,
    "Hit": say.HIT,
    "Recall": say.RECALL,
    "Concern": say.CONCERN,
    "Fact": say.FACT,
    "Session": say.SESSION,
    "Principal": say.PRINCIPAL,
    "Passage": say.PASSAGE,
    "Picture": say.PICTURE,
    "Draft": say.DRAFT,
    "Approval": say.APPROVAL,
}
_OPEN: Final = (*(id(each) for each in (say.COUNTS, say.REVISION["before"], say.ARGUMENTS)),)
"""Objects whose keys differ from one answer to the next."""

_NULLABLE: Final = frozenset(
    {"summary", "content", "source", "name", "type", "memory_id", "principal_id"}
)
"""Keys that may be null where their example is not."""


def operation(route: Route) -> Json:
    """Return the description of a route."""
    found: Json = {
        "summary": route.summary,
        "operationId": _operation_id(route),
        "parameters": [*_path(route), *_query(route), *_headers(route)],
        "responses": responses(route),
        "tags": [route.family.name],
        "description": (route.run.__doc__ or "").strip(),
        "security": [] if route.open else [{"bearer": []}, {"session": []}],
    }
    if route.body is not None:
        media = {"schema": route.body, "example": route.body["example"]}
        found["requestBody"] = {
            "required": "required" in route.body,
            "content": {"application/json": media},
        }
    elif route.raw and route.writes:
        picture = {"schema": {"type": "string", "contentMediaType": "image/png"}}
        found["requestBody"] = {"required": True, "content": {"image/png": picture}}
    return found


def responses(route: Route) -> Json:
    """Return the answers of a route by status, each with an example."""
    success: Json = {"schema": schema(route.example), "example": route.example}
    if route.otherwise is not None:
        shapes = {"one": route.example, "other": route.otherwise}
        success = {
            "schema": {"anyOf": [schema(each) for each in shapes.values()]},
            "examples": {name: {"value": each} for name, each in shapes.items()},
        }
    if route.raw and route.method in SAFE:
        picture = {"type": "string", "contentMediaType": "image/*"}
        kinds = ("image/png", "image/jpeg", "image/gif", "image/webp")
        given: Json = {kind: {"schema": picture} for kind in kinds}
    else:
        given = {"application/json": success}
    headers = {}
    if _has_etag(route):
        headers = {"ETag": {"schema": {"type": "string"}, "example": '"v1"'}}
    found: Json = {
        str(route.status): {
            "description": "Done.",
            "content": given,
            **({"headers": headers} if headers else {}),
        }
    }
    if route.status == CREATED or route.summary.startswith("Save"):
        found["201"] = found.get("201") or found["200"] | {"description": "Created."}
    by_status: dict[int, list[str]] = {}
    for code in refusals(route):
        if code == "NOT_MODIFIED":
            found["304"] = {"description": "The version you have is the present one."}
            continue
        by_status.setdefault(say.REFUSALS[code][0], []).append(code)
    for status, codes in sorted(by_status.items()):
        found[str(status)] = _refused(route, codes)
    return found


def refusals(route: Route) -> tuple[str, ...]:
    """Return the codes of all refusals that a route may answer with."""
    codes = list(ANYBODYS)
    if not route.open:
        codes += CALLERS
    if route.method not in SAFE:
        codes += [*WRITERS, *BODIES] if not route.open else [*BODIES, "VALIDATION_ERROR"]
    if route.family.name == "openwp":
        codes += ["CSRF_INVALID"]
    return tuple(dict.fromkeys((*codes, *route.refuses)))


def describe(app: FastAPI, routes: Iterable[Route]) -> None:
    """Give an application its description: of our routes, and of whatever else it answers."""

    def made() -> Json:
        if app.openapi_schema is None:
            found = get_openapi(
                title=app.title, version=app.version, summary=app.summary, routes=app.routes
            )
            found["paths"] = _paths(routes) | found["paths"]
            _tidy(found)
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = made  # type: ignore[method-assign]


def _paths(routes: Iterable[Route]) -> Json:
    found: Json = {}
    for route in routes:
        item = found.setdefault(route.family.prefix + route.path, {})
        item[route.method.lower()] = operation(route)
    return found


def _operation_id(route: Route) -> str:
    words = route.summary.lower().replace(",", "").split()
    kind = "agent_" if "{agent_id}" in route.path else ""
    return f"{route.family.name}_{kind}{'_'.join(words)}"


def schema(example: object) -> Json:
    """Return the schema of what an example shows."""
    for name, known in _COMPONENTS.items():
        if example is known:
            return {"$ref": f"#/components/schemas/{name}"}
    return _schema(example)


CREATED: Final = 201
_TYPES: Final = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))


def _schema(example: object) -> Json:
    if isinstance(example, Mapping):
        if id(example) in _OPEN:
            return {"type": "object"}
        properties = {name: _property(name, value) for name, value in example.items()}
        required = [name for name in properties if name != "content"]
        return {"type": "object", "properties": properties, "required": required}
    if isinstance(example, list):
        return {"type": "array", "items": schema(example[0])}
    for kind, name in _TYPES:
        if isinstance(example, kind):
            return {"type": name}
    return {}


def _property(name: str, value: object) -> Json:
    found = schema(value)
    if name in _NULLABLE and "type" in found:
        found["type"] = [found["type"], "null"]
    return found


def _refused(route: Route, codes: Iterable[str]) -> Json:
    examples = {}
    for code in codes:
        status, message = say.REFUSALS[code]
        answer = route.family.refusal(Refused(status, code, message))
        examples[code] = {"value": answer.content}
    name = "OpenWPError" if route.family.name == "openwp" else "Error"
    media = {"schema": {"$ref": f"#/components/schemas/{name}"}, "examples": examples}
    return {"description": ", ".join(examples), "content": {"application/json": media}}


_IDS: Final[Mapping[str, str]] = {
    "/approvals/": "The request.",
    "/attachments/": "The picture.",
    "/drafts/": "The key of the text.",
    "/memory/": "The fact.",
}


def _path(route: Route) -> list[Json]:
    found = []
    if "{agent_id}" in route.path:
        found.append(("agent_id", {"type": "string"}, "The agent.", "3"))
    if "{id}" in route.path:
        words = next((words for part, words in _IDS.items() if part in route.path), "The memory.")
        if "name" in route.query:
            words = "The memory; or `named`, for the one that `name` and `type` name."
        found.append(("id", {"type": "string"}, words, say.ID))
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": dict(kind),
            "description": words,
            "example": example,
        }
        for name, kind, words, example in found
    ]


def _query(route: Route) -> list[Json]:
    whose = () if route.open or route.path == "/session" else ("principal_id",)
    return [dict(say.PARAMETERS[name]) for name in (*whose, *route.query)]


def _headers(route: Route) -> list[Json]:
    found = []
    if route.writes:
        found.append(("Idempotency-Key", "b1946ac9", "Write once, however often this is sent."))
    deletes = route.method == "DELETE" and "EDIT_CONFLICT" in route.refuses
    if deletes or (route.body is not None and "expected_version" in route.body["properties"]):
        found.append(("If-Match", '"v1"', "Only if the memory is still at one of these versions."))
    if "NOT_MODIFIED" in route.refuses:
        found.append(("If-None-Match", '"v1"', "Only if the memory changed since."))
    return [
        {
            "name": name,
            "in": "header",
            "required": False,
            "schema": {"type": "string"},
            "description": words,
            "example": example,
        }
        for name, example, words in found
    ]


def _has_etag(route: Route) -> bool:
    example = route.example
    data = example.get("data") if isinstance(example, dict) else None
    return isinstance(data, dict) and "memory" in data and route.method != "DELETE"


def _tidy(found: Json) -> None:
    components = found.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas |= {name: _schema(example) for name, example in _COMPONENTS.items()}
    del schemas["Memory"]["required"]  # `fields=` leaves out what is not asked for
    said = {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "kind": {"type": "string"},
        "suggestion": {"type": "string"},
        "details": {"type": "object"},
    }
    error = {
        "type": "object",
        "properties": said,
        "required": ["code", "message", "suggestion"],
    }
    schemas["Error"] = {"type": "object", "properties": {"error": error}, "required": ["error"]}
    data = {"status": {"type": "integer"}, "suggestion": {"type": "string"}}
    openwp = {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "data": {"type": "object", "properties": data, "required": list(data)},
    }
    schemas["OpenWPError"] = {"type": "object", "properties": openwp, "required": list(openwp)}
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
    }
