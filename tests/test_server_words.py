"""The routes of Spora as they are specified: what each request of a table is answered with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from memories_sdk import MemoryStore, Principal
from memories_sdk.server import create_app

MEMORIES: Final = "/api/v1/memories"
AGENT: Final = "/api/v1/agents/{agent}/memories"
CREWS: Final = "/api/v1/agents/{crew}/memories"
ONE: Final = f"{MEMORIES}/{{id}}"

Case = tuple[str, str, str, Any]
"""Who asks, by which method, for which path, with which body: a text is sent as it stands."""

NEW: Final = {"name": "new", "type": "plan"}
EDIT: Final = {"find": "two", "new_text": "2"}
INVALID: Final = (422, "VALIDATION_ERROR")
ABSENT: Final = (404, "NOT_FOUND", "Memory not found.")
NO_NAME: Final = (*INVALID, "name is required.")
NO_TYPE: Final = (*INVALID, "type is required.")
NO_OBJECT: Final = (*INVALID, "Request body must be a JSON object.")
NO_JSON: Final = (400, "INVALID_JSON", "Request body must be valid JSON.")
NO_IDS: Final = (*INVALID, "order must be an array of memory IDs.")
EMPTY_NAME: Final = (*INVALID, "name cannot be empty")
EMPTY_TYPE: Final = (*INVALID, "type cannot be empty")
NO_FIND: Final = (*INVALID, "find is required.")
UNKNOWN_TYPE: Final = (
    422,
    "TYPE_NOT_ALLOWED",
    "type 'memo' is not one of: plan, documentation, examples, context",
)
NOT_REPLACED: Final = (404, "REPLACE_NOT_FOUND", "Memory not found for replace.")
TOO_OFTEN: Final = (
    422,
    "REPLACE_NOT_UNIQUE",
    "find matches 2 > 1 occurrences; provide a unique substring.",
)
TAKEN: Final = (409, "NAME_TAKEN", None)

REFUSED: Final[list[tuple[Case, tuple[int, str, str | None]]]] = [
    # The body is looked at before the shelf, and the principal before the body.
    (("alice", "POST", MEMORIES, {}), NO_NAME),
    (("alice", "POST", MEMORIES, ""), NO_NAME),
    (("alice", "POST", MEMORIES, " \n"), NO_NAME),
    (("alice", "POST", MEMORIES, NEW | {"name": None}), NO_NAME),
    (("alice", "POST", MEMORIES, NEW | {"name": " \t"}), NO_NAME),
    (("alice", "POST", MEMORIES, NEW | {"name": "\u3000"}), NO_NAME),
    (("alice", "POST", MEMORIES, {"type": "memo"}), NO_NAME),
    (("alice", "POST", MEMORIES, NEW | {"name": 5}), (*INVALID, None)),
    (("alice", "POST", MEMORIES, NEW | {"name": ["n"]}), (*INVALID, None)),
    (("alice", "POST", MEMORIES, {"name": "n"}), NO_TYPE),
    *((("alice", "POST", MEMORIES, NEW | {"type": it}), NO_TYPE) for it in ("", None, 5, True, [])),
    (("alice", "POST", MEMORIES, NEW | {"type": "memo"}), UNKNOWN_TYPE),
    (("alice", "POST", AGENT, NEW | {"type": "memo"}), UNKNOWN_TYPE),
    (("alice", "POST", MEMORIES, NEW | {"type": "Plan"}), (422, "TYPE_NOT_ALLOWED", None)),
    (("alice", "POST", MEMORIES, NEW | {"type": " plan"}), (422, "TYPE_NOT_ALLOWED", None)),
    (("alice", "POST", MEMORIES, NEW | {"content": 5}), (*INVALID, None)),
    (("alice", "POST", MEMORIES, NEW | {"content": ["x"]}), (*INVALID, None)),
    (("alice", "POST", MEMORIES, NEW | {"summary": 5}), (*INVALID, None)),
    (("alice", "POST", MEMORIES, NEW | {"summary": "s" * 501}), (*INVALID, None)),
    (("alice", "POST", MEMORIES, NEW | {"name": "n" * 201}), (*INVALID, None)),
    (("alice", "POST", MEMORIES, NEW | {"name": "a\nb"}), (*INVALID, None)),
    (("alice", "POST", MEMORIES, {"name": "one", "type": "plan"}), TAKEN),
    (("alice", "POST", MEMORIES, {"name": " one ", "type": "plan"}), TAKEN),
    *((("alice", "POST", MEMORIES, it), NO_OBJECT) for it in ("5", "null", "[]", '"x"', "true")),
    *((("alice", "POST", MEMORIES, it), NO_JSON) for it in ("{", "nul", '{"name":"\\ud800"}')),
    (("mallory", "POST", AGENT, {"name": "n"}), NO_TYPE),
    (("mallory", "POST", AGENT, NEW), ABSENT),
    (("mallory", "POST", AGENT, "{"), NO_JSON),
    # What is not on the shelf is not there, whatever is sent with it.
    *((("alice", method, f"{MEMORIES}/nope", {}), ABSENT) for method in ("GET", "PUT", "DELETE")),
    *((("mallory", method, ONE, {}), ABSENT) for method in ("GET", "PUT", "DELETE")),
    *((("alice", method, f"{AGENT}/{{id}}", {}), ABSENT) for method in ("GET", "PUT", "DELETE")),
    *((("bob", method, f"{CREWS}/{{id}}", {}), ABSENT) for method in ("GET", "PUT", "DELETE")),
    *((("bob", "GET", f"{MEMORIES}/{it}", None), ABSENT) for it in ("0", "-1", "9" * 40, "%20")),
    *((("bob", "GET", f"/api/v1/agents/{it}/memories", None), ABSENT) for it in ("0", "-1", "x")),
    (("bob", "GET", AGENT, None), ABSENT),
    (("alice", "PUT", f"{MEMORIES}/nope", {"name": ""}), ABSENT),
    (("alice", "PUT", f"{MEMORIES}/nope", {"type": "memo"}), ABSENT),
    (("alice", "PUT", f"{MEMORIES}/nope", {"order": None}), ABSENT),
    (("alice", "PUT", f"{MEMORIES}/nope", "{"), NO_JSON),
    *((("alice", "PUT", ONE, {"name": it}), EMPTY_NAME) for it in ("", "  ", None)),
    *((("alice", "PUT", ONE, {"type": it}), EMPTY_TYPE) for it in ("", "  ", None, 5, [])),
    (("alice", "PUT", ONE, {"name": "", "type": ""}), EMPTY_NAME),
    (("alice", "PUT", ONE, {"type": "memo"}), UNKNOWN_TYPE),
    (("alice", "PUT", ONE, {"name": "two"}), TAKEN),
    (("alice", "PUT", ONE, {"name": "three", "type": "context"}), TAKEN),
    *((("alice", "PUT", ONE, {"order": it}), (*INVALID, None)) for it in (None, "x", 2.5, True)),
    (("alice", "PUT", ONE, "[]"), NO_OBJECT),
    # Replacing has words of its own.
    (("alice", "POST", f"{ONE}/replace", {}), NO_FIND),
    (("alice", "POST", f"{ONE}/replace", EDIT | {"find": ""}), NO_FIND),
    (("alice", "POST", f"{ONE}/replace", EDIT | {"find": None}), NO_FIND),
    (("alice", "POST", f"{ONE}/replace", {"find": "two"}), (*INVALID, None)),
    (("alice", "POST", f"{ONE}/replace", EDIT | {"find": 5}), (*INVALID, None)),
    (("alice", "POST", f"{ONE}/replace", EDIT | {"type": "memo"}), UNKNOWN_TYPE),
    (
        ("alice", "POST", f"{ONE}/replace", EDIT | {"find": "TWO"}),
        (422, "REPLACE_NOT_UNIQUE", "find matches 0 occurrences."),
    ),
    (("alice", "POST", f"{ONE}/replace", EDIT), TOO_OFTEN),
    (("alice", "POST", f"{MEMORIES}/nope/replace", EDIT), NOT_REPLACED),
    (("mallory", "POST", f"{ONE}/replace", EDIT), NOT_REPLACED),
    (("alice", "POST", f"{AGENT}/{{id}}/replace", EDIT), NOT_REPLACED),
    (("alice", "POST", f"{MEMORIES}/nope/replace", {}), NO_FIND),
    # So has reordering.
    *(
        (("alice", "PATCH", f"{path}/reorder", sent), NO_IDS)
        for path in (MEMORIES, AGENT)
        for sent in ({}, *({"order": it} for it in (None, "x", 3, True, {"0": "x"})))
    ),
    (("alice", "PATCH", f"{MEMORIES}/reorder", {"order": ["{id}", "{id}"]}), (*INVALID, None)),
    (("mallory", "PATCH", f"{AGENT}/reorder", {"order": []}), ABSENT),
    (("alice", "PATCH", f"{MEMORIES}/reorder", "["), NO_JSON),
    # A type that there is not, in a list.
    *((("alice", "GET", f"{path}?type=memo", None), UNKNOWN_TYPE) for path in (MEMORIES, AGENT)),
]
"""What is refused, and in which words: None where the specification names none."""

METHODS: Final = (
    *(("GET", MEMORIES), ("POST", MEMORIES), ("PATCH", f"{MEMORIES}/reorder"), ("GET", ONE)),
    *(("PUT", ONE), ("POST", f"{ONE}/replace"), ("DELETE", ONE)),
)


@pytest.fixture
def world(store: MemoryStore, alice: Principal, bob: Principal) -> Iterator[tuple[Any, Any]]:
    """A client of a server whose host says who calls, and what paths and bodies name."""
    users = {"alice": alice, "bob": bob, "mallory": store.principals.user("mallory")}
    lab = store.principals.group("lab", owner=alice, members=[bob])
    shelf = store.scope(acting_as=alice)
    named = {
        "id": shelf.create("one", "plan", "one two two").id,
        "agent": store.agents.create("scout", owner=alice).id,
        "crew": store.agents.create("crew", owner=lab).id,
        "lab": lab.id,
    }
    shelf.create("two", "plan", "")
    shelf.create("three", "context", "")
    app = create_app(store, authenticate=lambda it: users.get(it.headers.get("x-user", "")))
    with TestClient(app) as http:

        def ask(who: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
            def filled(text: str) -> str:
                for name, value in named.items():
                    text = text.replace(f"{{{name}}}", str(value))
                return text

            sent = body if isinstance(body, str) or body is None else filled(json.dumps(body))
            headers = {"x-user": who}
            answer = http.request(method, filled(path), content=sent, headers=headers)
            return answer.status_code, answer.json()

        yield ask, named


def test_each_refusal_has_its_words(store: MemoryStore, alice: Principal, world: Any) -> None:
    """Status, code and message are those of the specification, and nothing is written."""
    ask, _ = world
    shelf = store.scope(acting_as=alice)
    before = len(shelf.history())
    for case, (status, code, message) in REFUSED:
        found, said = ask(*case)
        assert (found, said["error"]["code"]) == (status, code), case
        assert message in {None, said["error"]["message"]}, case
        assert said.keys() == {"error"}
    assert len(shelf.history()) == before
    assert len(REFUSED) > 100


def test_who_is_nobody_and_who_is_foreign_is_told_first(world: Any) -> None:
    """No caller, a wrong principal, a broken one: in this order, and before any body is read."""
    ask, _ = world
    for method, path in METHODS:
        broken = None if method == "GET" else "{"
        status, said = ask("", method, path, broken)
        assert (status, said["error"]["message"]) == (401, "Authentication required.")
        for asked, status, message in (
            ("{lab}", 403, "Caller does not control principal #"),
            ("987654", 403, "Caller does not control principal #987654."),
            ("12.7", 422, "principal_id must be a positive integer."),
        ):
            found, said = ask("mallory", method, f"{path}?principal_id={asked}", broken)
            assert (found, said["error"]["message"].startswith(message)) == (status, True)


def test_what_is_made_has_its_shape(world: Any) -> None:
    """Keys, nulls, trimmed names, numbers at the end of the shelf, and fields that are ignored."""
    ask, named = world
    assert ask("bob", "GET", MEMORIES) == (200, {"data": {"memories": []}})
    assert ask("alice", "GET", AGENT) == (200, {"data": {"memories": []}})
    claims = {"order": 99, "id": "x", "scope": "agent", "colour": "red"}
    status, said = ask("bob", "POST", CREWS, {"name": " first ", "type": "plan"} | claims)
    made = said["data"]["memory"]
    assert status == 201
    assert [*made][:11] == [
        *("id", "principal_id", "agent_id", "scope", "type", "name", "summary", "content"),
        *("order", "created_at", "updated_at"),
    ]
    owner = (made["scope"], made["principal_id"], made["agent_id"])
    assert owner == ("agent", None, named["crew"])
    assert [made[it] for it in ("name", "summary", "content", "order")] == ["first", None, None, 1]
    second = {"name": "b", "type": "context", "summary": " s ", "content": " c \n"}
    status, said = ask("bob", "POST", CREWS, second)
    other = said["data"]["memory"]
    assert [other[it] for it in ("summary", "content", "order")] == ["s", " c \n", 2]
    one = f"{CREWS}/{other['id']}"
    for change in ({}, {"colour": "red"}, {"scope": "global", "agent_id": 1}, ""):
        status, said = ask("bob", "PUT", one, change)
        assert (status, said["data"]["memory"]) == (200, other)
    for change, field, value in (
        ({"summary": None}, "summary", None),
        ({"content": None}, "content", None),
        ({"name": "c"}, "name", "c"),
        ({"type": "examples"}, "type", "examples"),
        ({"order": -4}, "order", -4),
    ):
        status, said = ask("bob", "PUT", one, change)
        assert (status, said["data"]["memory"][field]) == (200, value)
    listed = ask("bob", "GET", CREWS)[1]["data"]["memories"]
    assert [each["name"] for each in listed] == ["c", "first"]
    assert len(ask("bob", "GET", f"{CREWS}?type=")[1]["data"]["memories"]) == 2
    assert len(ask("bob", "GET", f"{CREWS}?type=plan")[1]["data"]["memories"]) == 1
    status, said = ask("bob", "DELETE", one)
    assert (status, said["data"]["deleted"]) == (200, True)
    assert ask("bob", "DELETE", one)[0] == 404
