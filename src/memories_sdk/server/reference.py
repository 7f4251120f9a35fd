"""Writes the reference of the routes: `python -m memories_sdk.server.reference docs/rest.md`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from memories_sdk.principals import Principal
from memories_sdk.server.app import create_app
from memories_sdk.store import MemoryStore
from memories_sdk.wire import Json

INTRODUCTION = """# REST reference

Made of the server's own description by `python -m memories_sdk.server.reference docs/rest.md`; the
same as JSON is at `/openapi.json` of a running server.

A program sends `Authorization: Bearer mem_…`, as `memories token create` printed it. A browser logs
in with a token at `POST /api/v1/session`, is given a cookie that no script can read, and repeats
`csrf_token` of the answer in `X-CSRF-Token` (under `/openwp/v1` in `X-WP-Nonce`) with each write.

Successes are `{"data": …}`, refusals `{"error": {"code", "message", …}}`; the routes of OpenWP
answer as it did. Each route below `/api/v1/memories` is there a second time below
`/api/v1/agents/{agent_id}/memories`, for the agent's own shelf.
"""


def page(described: Json) -> str:
    """Return the reference as markdown."""
    parts = [INTRODUCTION, *_routes(described), "## Refusals\n", *_refusals(described)]
    return "\n".join(parts).rstrip() + "\n"


def _routes(described: Json) -> Iterator[str]:
    tag = None
    for path, item in sorted(described["paths"].items(), key=_place):
        if "{agent_id}" in path:
            continue
        for method, operation in item.items():
            if tag != (tag := operation["tags"][0]):
                yield f"## {_TITLES[tag]}\n"
            yield from _route(f"{method.upper()} {path}", operation)


_TITLES = {"spora": "Memories", "openwp": "Facts, as in OpenWP", "health": "Health"}


def _place(entry: tuple[str, Json]) -> tuple[int, str]:
    operation = next(iter(entry[1].values()))
    return list(_TITLES).index(operation["tags"][0]), entry[0]


def _route(name: str, operation: Json) -> Iterator[str]:
    yield f"### `{name}`\n"
    yield f"{operation.get('description') or operation['summary']}\n"
    for parameter in operation.get("parameters", ()):
        where = f"{parameter['in']} `{parameter['name']}`"
        yield f"- {where}: {parameter['description']}"
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        yield f"- body: {', '.join(f'`{name}`' for name in body['schema']['properties'])}, as in"
        yield f"  `{_compact(body['example'])}`"
    codes = []
    for status, answer in operation["responses"].items():
        if status < "400":
            continue
        examples = answer.get("content", {}).get("application/json", {}).get("examples", {})
        codes += [code for code in examples if code not in _COMMON]
    if codes:
        yield f"- refused with: {', '.join(f'`{code}`' for code in codes)}"
    yield ""


_COMMON = (
    *("UNAUTHENTICATED", "TOO_MANY_REQUESTS", "STORE_BUSY", "INTERNAL_SERVER_ERROR"),
    *("FORBIDDEN", "CSRF_TOKEN_MISSING", "CSRF_INVALID", "READ_ONLY", "KEY_REUSED"),
    *("INVALID_JSON", "REQUEST_TIMEOUT", "REQUEST_TOO_LARGE", "BODY_ENCODED"),
    *("VALIDATION_ERROR", "NOT_FOUND"),
)
"""Refusals that nearly every route has; they are told once."""


def _refusals(described: Json) -> Iterator[str]:
    yield "| status | code | for example |"
    yield "|---|---|---|"
    found: dict[str, tuple[str, str]] = {}
    for path, item in described["paths"].items():
        for operation in item.values():
            for status, answer in operation["responses"].items():
                content = answer.get("content", {}).get("application/json", {})
                for code, example in content.get("examples", {}).items():
                    if not path.startswith("/openwp"):
                        found[code] = (status, example["value"]["error"]["message"])
    for code, (status, message) in sorted(found.items(), key=lambda it: (it[1][0], it[0])):
        yield f"| {status} | `{code}` | {message} |"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def main() -> None:
    """Write the page to the file that is named."""
    with MemoryStore(":memory:") as store:
        nobody = Principal(0, "user", "nobody")
        described = create_app(store, authenticate=lambda _: nobody).openapi()
    Path(sys.argv[1]).write_text(page(described), encoding="utf-8")


if __name__ == "__main__":
    main()
