"""What the routes take and give, in the words of OpenAPI; schemas are made of the examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from memories_sdk.memory import (
    DOCUMENTS,
    FACTS,
    MAX_NAME,
    MAX_ORDER,
    MAX_SUMMARY,
    MAX_TAG,
    MAX_TAGS,
)
from memories_sdk.past import POLICIES
from memories_sdk.wire import MEMORY_KEYS, Json

ID: Final = "01a22f0c-f724-7322-853f-d1424b84dda0"
MOMENT: Final = "2026-12-01T09:30:00+00:00"

MEMORY: Final[Json] = {
    "id": ID,
    "principal_id": 1,
    "agent_id": None,
    "scope": "global",
    "type": "context",
    "name": "user_preferences",
    "summary": "Always answer in British English",
    "content": "Always answer in British English",
    "order": 1,
    "created_at": MOMENT,
    "updated_at": MOMENT,
    "version": 1,
    "summary_derived": True,
    "tags": ["style"],
    "pinned": False,
    "size": 32,
    "expires_at": None,
    "untrusted": False,
}
REVISION: Final[Json] = {
    "seq": 7,
    "memory_id": ID,
    "shelf": "global:1",
    "action": "update",
    "actor": "user:alice",
    "source": "rest",
    "at": MOMENT,
    "version": 2,
    "type": "context",
    "name": "user_preferences",
    "before": {"content": "Always answer in English"},
    "part_of": None,
    "undoes": None,
    "pruned": False,
}
PASSAGE: Final[Json] = {"field": "content", "start": 0, "end": 6, "text": "Always"}
HIT: Final[Json] = {"memory": MEMORY, "score": 0.83, "passages": [PASSAGE]}
RECALL: Final[Json] = {
    "items": [{"memory": MEMORY, "text": "Always …", "score": 0.83, "shortened": False}],
    "text": "[context/user_preferences] Always …",
    "context": 'MEMORY_CONTEXT=["[context/user_preferences] Always …"]',
    "report": [{"memory": MEMORY, "outcome": "included", "reason": "score 0.83"}],
}
CONCERN: Final[Json] = {
    "kind": "an access key",
    "field": "content",
    "shown": "sk-…",
    "certain": True,
    "refuse": False,
}
COUNTS: Final[Json] = {"plan": 2, "context": 1}
FACT: Final[Json] = {
    "id": ID,
    "type": "preference",
    "key": "reply-tone",
    "text": "Friendly and short",
    "tags": ["tone"],
    "value": {
        "text": "Friendly and short",
        "tags": ["tone"],
        "created_at": MOMENT,
        "updated_at": MOMENT,
    },
    "updated_at": MOMENT,
}
FACTS_PAGE: Final[Json] = {
    "enabled": True,
    "total": 1,
    "page": 1,
    "per_page": 100,
    "items": [FACT],
}
FACT_GONE: Final[Json] = {
    "success": True,
    "deleted": True,
    "type": "preference",
    "key": "reply-tone",
}
PRINCIPAL: Final[Json] = {"id": 1, "kind": "user", "name": "alice"}
SESSION: Final[Json] = {
    "user": PRINCIPAL,
    "principals": [PRINCIPAL],
    "agents": [{"id": 3, "name": "writer", "principal_id": 1}],
    "may_write": True,
    "csrf_token": None,
}

PICTURE: Final[Json] = {
    "id": ID,
    "name": "diagram.png",
    "media_type": "image/png",
    "size": 5120,
    "created_at": MOMENT,
    "markdown": f"![diagram.png](attachment:{ID})",
}
DRAFT: Final[Json] = {
    "key": "draft-1",
    "memory_id": None,
    "version": None,
    "name": "half a thought",
    "type": "plan",
    "summary": "",
    "tags": ["idea"],
    "content": "It could be that",
    "kept_at": MOMENT,
}
ARGUMENTS: Final[Json] = {"action": "delete", "name": "n", "type": "plan"}
APPROVAL: Final[Json] = {
    "tool": "memory",
    "arguments": ARGUMENTS,
    "description": "Memory delete: n (plan)",
    "preview": "agent:writer · plan · n",
    "id": ID,
    "shelf": "agent:3",
    "actor": "agent:writer",
    "version": 1,
    "state": "pending",
    "created_at": MOMENT,
    "expires_at": MOMENT,
    "decided_by": None,
    "decided_at": None,
    "answer": "",
}

_TEXT: Final = {"type": "string"}
_NAME: Final = {"type": "string", "minLength": 1, "maxLength": MAX_NAME}
_TYPE: Final = {"type": "string", "enum": [*DOCUMENTS.types, *FACTS.types]}
_ORDER: Final = {"type": "integer", "minimum": -MAX_ORDER, "maximum": MAX_ORDER}
_VERSION: Final = {"type": "integer", "minimum": 1, "description": "As If-Match: the one you saw."}
_UUID: Final = {"type": "string", "format": "uuid"}
_TAGS: Final = {
    "type": "array",
    "items": {"type": "string", "maxLength": MAX_TAG},
    "maxItems": MAX_TAGS,
}
_MOMENT: Final = {"type": ["string", "null"], "format": "date-time"}
_FIELDS: Final = {
    "content": {
        "type": ["string", "null"],
        "description": "Markdown, stored verbatim; at most 1 MiB.",
    },
    "summary": {
        "type": ["string", "null"],
        "maxLength": MAX_SUMMARY,
        "description": "One line; left out, it follows the body.",
    },
    "summary_derived": {"type": "boolean", "description": "True: let it follow the body again."},
    "tags": _TAGS,
    "pinned": {"type": "boolean"},
    "untrusted": {"type": "boolean"},
    "expires_at": _MOMENT,
}


def _body(
    properties: Mapping[str, Any], example: Mapping[str, Any], required: Iterable[str] = ()
) -> Json:
    schema: Json = {"type": "object", "properties": dict(properties), "example": dict(example)}
    return schema | ({"required": list(required)} if required else {})


CREATE: Final = _body(
    {"name": _NAME, "type": _TYPE, **_FIELDS, "place": _ORDER},
    {"name": "user_preferences", "type": "context", "content": "Always answer in British English"},
    ("name", "type"),
)
SAVE: Final = _body(
    {
        "name": _NAME,
        "type": _TYPE,
        **_FIELDS,
        "order": _ORDER,
        "new_order": _ORDER,
        "expected_version": _VERSION,
    },
    {"name": "user_preferences", "type": "context", "content": "Always answer in British English"},
    ("name", "type"),
)
UPDATE: Final = _body(
    {"name": _NAME, "type": _TYPE, **_FIELDS, "order": _ORDER, "expected_version": _VERSION},
    {"summary": "How to answer"},
)
REPLACE: Final = _body(
    {
        "find": {"type": "string", "description": "Must stand exactly once in the body."},
        "new_text": {"type": "string", "description": "Empty deletes the passage."},
        "edits": {
            "type": "array",
            "items": _body(
                {"find": _TEXT, "new_text": _TEXT},
                {"find": "British", "new_text": "Scottish"},
                ("find", "new_text"),
            ),
            "description": "Instead of find and new_text: several, all or none.",
        },
        "name": {"type": "string", "description": "Where sent, it must be the memory's."},
        "type": {"type": "string", "description": "Where sent, it must be the memory's."},
        "expected_version": _VERSION,
    },
    {"find": "British", "new_text": "Scottish"},
)
REORDER: Final = _body(
    {
        "order": {"type": "array", "items": _TEXT, "description": "Ids; the first gets number 1."},
        "unknown": {
            "type": "string",
            "enum": ["refuse", "skip", "count"],
            "description": "`refuse`: an unknown id refuses the call. Left out, it is passed over "
            "as in Spora: for a principal it uses up a number (`count`), for an agent it does not "
            "(`skip`). What is not named follows, except behind a number that was used up.",
        },
    },
    {"order": [ID]},
    ("order",),
)
MOVE: Final = _body({"before": _UUID, "after": _UUID, "expected_version": _VERSION}, {"before": ID})
RESTORE: Final = _body(
    {"version": {"type": ["integer", "null"], "minimum": 1}, "expected_version": _VERSION},
    {"version": 1},
)
UNDO: Final = _body({"seq": {"type": ["integer", "null"]}}, {"seq": 7})
REDACT: Final = _body({"text": {"type": "string", "minLength": 1}}, {"text": "hunter2"}, ("text",))
PRUNE: Final = _body({"keep": {"type": "integer", "minimum": 1}, "before": _MOMENT}, {"keep": 20})
_STATE: Final = {"name": _NAME, "type": _TYPE, **_FIELDS, "order": _ORDER}
_VERSION_KEPT: Final = {
    "state": {
        "type": ["object", "null"],
        "properties": _STATE,
        "required": ["name", "type", "content"],
        "description": "What the memory was from then on; null where it was deleted.",
    },
    "action": {
        "type": "string",
        "enum": [
            *("create", "update", "replace", "restore", "redact", "delete", "clear", "expire"),
        ],
    },
    "version": {"type": "integer", "minimum": 1},
    "actor": {"type": ["string", "null"], "description": "Kept beside the caller, as a source."},
    "source": {"type": ["string", "null"]},
    "at": _MOMENT,
}
_PAST: Final[Json] = {
    "created_at": MOMENT,
    "versions": [
        {
            "state": {"name": "tide", "type": "plan", "content": "High at nine."},
            "action": "create",
            "version": 1,
            "actor": "user:bob",
            "source": "notes",
            "at": MOMENT,
        }
    ],
}
ADOPT: Final = _body(
    {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "created_at": _MOMENT,
                    "versions": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"type": "object", "properties": _VERSION_KEPT},
                        "description": "Oldest first; the last is the present one.",
                    },
                },
                "required": ["versions"],
            },
        },
        "conflict": {
            "type": "string",
            "enum": list(POLICIES),
            "description": "Where another memory has the name: `skip` when left out.",
        },
        "dry_run": {"type": "boolean", "description": "True: tell, and write nothing."},
    },
    {"memories": [_PAST], "conflict": "rename"},
    ("memories",),
)
ADOPTED: Final[Json] = {
    "fate": "created",
    "name": "tide",
    "type": "plan",
    "memory_id": ID,
    "error": None,
}
SWITCH: Final = _body({"enabled": {"type": "boolean"}}, {"enabled": True}, ("enabled",))
RECALL_BODY: Final = _body(
    {
        "prompt": _TEXT,
        "limit": {"type": "integer", "minimum": 0, "maximum": 500},
        "max_chars": {"type": "integer", "minimum": 0, "maximum": 1_000_000},
        "type": {"type": ["string", "null"]},
        "tags": _TAGS,
        "min_relevance": {"type": "number", "minimum": 0, "maximum": 1},
        "max_chars_each": {"type": ["integer", "null"], "minimum": 1},
    },
    {"prompt": "Write my newsletter"},
)
INSPECT_BODY: Final = _body(
    {"type": _TYPE, "name": _TEXT, "content": _TEXT, "summary": _TEXT, "tags": _TAGS},
    {"type": "context", "content": "The key is sk-…"},
    ("type",),
)
FACT_BODY: Final = _body(
    {
        "type": {"type": "string", "enum": list(FACTS.types)},
        "key": _TEXT,
        "value": {"type": ["string", "object"], "description": "A text, or one with its tags."},
        "text": {"type": "string", "description": "Another word for value."},
        "tags": {"type": ["array", "string"], "items": _TEXT},
        "expected_version": _VERSION,
    },
    {"type": "preference", "key": "reply-tone", "value": "Friendly and short", "tags": ["tone"]},
    ("type", "key"),
)
DRAFT_BODY: Final = _body(
    {
        "type": _TYPE,
        "name": _TEXT,
        "content": _TEXT,
        "summary": _TEXT,
        "tags": {"type": "array", "items": _TEXT},
        "memory_id": {"type": ["string", "null"], "format": "uuid"},
        "version": {"type": ["integer", "null"], "minimum": 1},
    },
    {"type": "plan", "name": "half a thought", "content": "It could be that"},
    ("type",),
)
TRANSFER: Final = _body(
    {
        "principal_id": {"type": ["integer", "null"], "minimum": 1},
        "agent_id": {"type": ["integer", "null"], "minimum": 1},
        "expected_version": _VERSION,
    },
    {"principal_id": 12},
)
LOGIN: Final = _body({"token": _TEXT}, {"token": "mem_…"}, ("token",))


def _query(name: str, schema: Mapping[str, Any], description: str, example: object) -> Json:
    return {
        "name": name,
        "in": "query",
        "required": False,
        "schema": dict(schema),
        "description": description,
        "example": example,
    }


_LIMIT: Final = {"type": "integer", "minimum": 1, "maximum": 500}
PARAMETERS: Final[Mapping[str, Json]] = {
    "principal_id": _query(
        *("principal_id", {"type": "integer", "minimum": 1}),
        "As whom the caller acts; itself when left out.",
        1,
    ),
    "type": _query("type", _TEXT, "Only this type.", "context"),
    "type_of_name": _query(
        "type", _TEXT, "With `name`, the memory, where the id is `named`.", "context"
    ),
    "name": _query("name", _TEXT, "With `type`, one memory.", "user_preferences"),
    "ids": _query("ids", _TEXT, "Only these memories, by commas; at most 500.", ID),
    "limit": _query("limit", _LIMIT, "Most entries of a page.", 50),
    "cursor": _query("cursor", _TEXT, "`next_cursor` of the page before.", ""),
    "fields": _query(
        *("fields", _TEXT),
        f"Only these keys, parted by commas: {', '.join(MEMORY_KEYS)}.",
        "id,name,type,summary",
    ),
    "vocabularies": _query(
        *("vocabularies", _TEXT),
        "Which types: `documents` when left out; `facts`, or both parted by a comma.",
        "documents",
    ),
    "containing": _query("containing", _TEXT, "Only where this text stands.", ""),
    "skip": _query("skip", {"type": "integer", "minimum": 0}, "How many to pass over.", 0),
    "query": _query("query", _TEXT, "What to look for.", "British English"),
    "search": _query("search", _TEXT, "Another word for query.", ""),
    "tags": _query("tags", _TEXT, "Only memories with this; repeat it for several.", "style"),
    "since": _query("since", {"type": "integer", "minimum": 0}, "The last `seq` you saw.", 0),
    "page": _query("page", {"type": "integer"}, "From 1.", 1),
    "per_page": _query("per_page", {"type": "integer"}, "At most 200; 100 when left out.", 100),
    "type_of_fact": _query("type", _TEXT, "Only this type.", "preference"),
    "unused": _query(
        "unused", {"type": "string", "enum": ["true", "false"]}, "Only what no text names.", "true"
    ),
    "waiting": _query(
        *("waiting", {"type": "string", "enum": ["true", "false"]}),
        "Whether only those that nobody decided.",
        "true",
    ),
    "key": _query("key", _TEXT, "With `type`, one fact.", "reply-tone"),
}
"""Parameters behind the path, by the names under which routes list them."""

REFUSALS: Final[Mapping[str, tuple[int, str]]] = {
    "INVALID_JSON": (400, "Request body must be valid JSON."),
    "UNAUTHENTICATED": (401, "Authentication required."),
    "CSRF_TOKEN_MISSING": (403, "CSRF token is required."),
    "CSRF_INVALID": (403, "CSRF token is invalid."),
    "READ_ONLY": (403, "This token may only read."),
    "FORBIDDEN": (403, "Caller does not control principal #12."),
    "NOT_FOUND": (404, "Memory not found."),
    "REPLACE_NOT_FOUND": (404, "Memory not found for replace."),
    "REQUEST_TIMEOUT": (408, "The body took too long."),
    "NAME_TAKEN": (409, "A memory [user_preferences] (type=context) is there already."),
    "NAME_MISMATCH": (409, "The memory has another name or type."),
    "EDIT_CONFLICT": (409, "The memory changed: you saw version 1, it is at version 2."),
    "CONFLICT": (409, "Memory is switched off here; nothing was written."),
    "KEY_REUSED": (409, "The key 'b1946ac9' was used for another call; nothing was written."),
    "QUOTA_EXCEEDED": (409, "The quota of 1,000 memories is used up; nothing was written."),
    "REQUEST_TOO_LARGE": (413, "The body is larger than 8,388,608 bytes."),
    "BODY_ENCODED": (415, "A body with a Content-Encoding is not read."),
    "VALIDATION_ERROR": (422, "name is required."),
    "TYPE_NOT_ALLOWED": (
        422,
        "type 'memo' is not one of: plan, documentation, examples, context",
    ),
    "REPLACE_NOT_UNIQUE": (
        422,
        "find matches 2 > 1 occurrences; provide a unique substring.",
    ),
    "WRITE_REFUSED": (422, "Not stored: content seems to hold an access key."),
    "TOO_MANY_REQUESTS": (429, "Too many requests; wait a little."),
    "INTERNAL_SERVER_ERROR": (500, "An unexpected error occurred."),
    "STORE_BUSY": (503, "The store is not available; nothing was written."),
}
"""Status and message of each refusal, by its code."""
