"""The server: who gets in, what they get, and that nothing it meets makes it stumble."""

from __future__ import annotations

import base64
import gzip
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount
from starlette.testclient import TestClient

from memories_sdk import FACTS, InvalidInput, MemoryStore, MemoryTools, Principal
from memories_sdk.server import Caller, Limits, create_app
from memories_sdk.server.beside import ROUTES as BESIDE
from memories_sdk.server.further import ROUTES as FURTHER
from memories_sdk.server.spora import ROUTES as SPORA
from memories_sdk.tokens import SESSION

if TYPE_CHECKING:
    from conftest import MakeStore

PATH = "/api/v1/memories"


@contextmanager
def client(
    store: MemoryStore, user: Principal | None = None, **options: object
) -> Iterator[TestClient]:
    """Talk to a server as a program of a user, who may write."""
    headers = {}
    if user is not None:
        secret = store.tokens.issue(user, access=options.pop("access", "write")).secret
        headers["Authorization"] = f"Bearer {secret}"
    with TestClient(create_app(store, **options), headers=headers) as found:
        yield found


def code(answer: object) -> tuple[int, str]:
    """Return the status and the code of a refusal."""
    return answer.status_code, answer.json()["error"]["code"]


def test_it_does_not_start_without_authentication(store: MemoryStore, alice: Principal) -> None:
    """A server that anybody may use is refused, and the words say what to do."""
    with pytest.raises(InvalidInput, match="memories token create"):
        create_app(store)
    token = store.tokens.issue(alice).token
    assert create_app(store) is not None
    store.tokens.revoke(token.id)
    with pytest.raises(InvalidInput):
        create_app(store)
    assert create_app(store, authenticate=lambda _: None) is not None


def test_it_mounts_into_another_application(store: MemoryStore, alice: Principal) -> None:
    """A host serves it under a path of its own, and the session cookie stays under that path."""
    secret = store.tokens.issue(alice, access="write").secret
    host = Starlette(routes=[Mount("/inside", create_app(store))])
    with TestClient(host) as browser:
        answer = browser.post("/inside/api/v1/session", json={"token": secret})
        cookie = answer.headers["set-cookie"]
        assert "Path=/inside;" in cookie
        for word in ("HttpOnly", "SameSite=Strict", "Secure"):
            assert f"; {word}" in cookie
        headers = {
            "Cookie": cookie.split(";")[0],
            "X-CSRF-Token": answer.json()["data"]["csrf_token"],
        }
        body = {"name": "n", "type": "plan"}
        assert browser.post(f"/inside{PATH}", json=body, headers=headers).status_code == 201
        assert browser.get("/elsewhere", headers=headers).status_code == 404


def test_a_proxy_may_take_its_prefix_off_or_leave_it(store: MemoryStore, alice: Principal) -> None:
    """Routes are found either way, and no prefix eats the beginning of a route's own path."""
    app = create_app(store, authenticate=lambda _: alice)
    for root, path in (("", PATH), ("/ap", PATH), ("/in", PATH), ("/in", f"/in{PATH}")):
        with TestClient(app, root_path=root) as http:
            assert http.get(path).json() == {"data": {"memories": []}}


def test_a_host_says_who_calls(store: MemoryStore, alice: Principal, bob: Principal) -> None:
    """Its word may be a user, a caller with less rights, a promise of either, or nothing."""
    users = {
        "alice": alice,
        "bob": Caller(bob, may_write=False),
        "carol": Caller(alice),
        "dave": Caller(alice, csrf="said"),
    }

    async def authenticate(request: Request) -> Principal | Caller | None:
        return users.get(request.headers.get("x-user", ""))

    with client(store, authenticate=authenticate) as http:
        body = {"name": "n", "type": "plan"}
        assert http.post(PATH, json=body, headers={"x-user": "alice"}).status_code == 201
        assert code(http.post(PATH, json=body, headers={"x-user": "bob"})) == (403, "READ_ONLY")
        assert code(http.get(PATH)) == (401, "UNAUTHENTICATED")
        for name in ("alice", "carol"):
            cross = {"x-user": name, "origin": "https://evil.example"}
            assert code(http.post(PATH, json=body, headers=cross)) == (403, "CSRF_INVALID")
        said = {"x-user": "dave", "origin": "https://front.example", "X-CSRF-Token": "said"}
        other = {"name": "m", "type": "plan"}
        assert code(http.post(PATH, json=other, headers={"x-user": "dave"}))[0] == 403
        assert http.post(PATH, json=other, headers=said).status_code == 201
        cross = {"x-user": "alice", "sec-fetch-site": "cross-site"}
        assert code(http.delete(f"{PATH}/x", headers=cross)) == (403, "CSRF_INVALID")
        own = {"x-user": "alice", "origin": "http://testserver", "sec-fetch-site": "same-origin"}
        assert http.delete(f"{PATH}/x", headers=own).status_code == 404
    with client(store, authenticate=lambda _: "alice") as http:
        assert code(http.get(PATH)) == (422, "VALIDATION_ERROR")


def test_a_browser_repeats_its_token(store: MemoryStore, alice: Principal) -> None:
    """The cookie alone writes nothing, and a logout ends the session for good."""
    with client(store, alice) as http:
        secret = http.headers.pop("Authorization").removeprefix("Bearer ")
        answer = http.post("/api/v1/session", json={"token": secret})
        cookie = {"Cookie": answer.headers["set-cookie"].split(";")[0]}
        csrf = {"X-CSRF-Token": answer.json()["data"]["csrf_token"]}
        body = {"name": "n", "type": "plan"}
        assert http.get(PATH, headers=cookie).status_code == 200
        missing = http.post(PATH, json=body, headers=cookie)
        assert code(missing) == (403, "CSRF_TOKEN_MISSING")
        wrong = http.post(PATH, json=body, headers=cookie | {"X-CSRF-Token": b"\xe9"})
        assert code(wrong) == (403, "CSRF_INVALID")
        assert http.post(PATH, json=body, headers=cookie | csrf).status_code == 201
        seen = http.get("/api/v1/session", headers=cookie).json()["data"]
        assert (seen["user"]["name"], seen["csrf_token"]) == ("alice", csrf["X-CSRF-Token"])
        as_token = {"Authorization": f"Bearer {cookie['Cookie'].partition('=')[2]}"}
        assert code(http.get(PATH, headers=as_token)) == (401, "UNAUTHENTICATED")
        assert http.delete("/api/v1/session", headers=cookie | csrf).status_code == 200
        assert code(http.get(PATH, headers=cookie)) == (401, "UNAUTHENTICATED")


def test_no_other_site_logs_a_person_in(store: MemoryStore, alice: Principal) -> None:
    """On the shelf of somebody else, a person would write what only that one should not read."""
    with client(store, alice) as http:
        secret = http.headers.pop("Authorization").removeprefix("Bearer ")
        # As a form without scripts can send it.
        form = {"Content-Type": "text/plain", "Sec-Fetch-Site": "cross-site"}
        body = json.dumps({"token": secret, "x": "="})
        for foreign in (form, {"Origin": "https://evil.example"}, {"Origin": "null"}):
            answer = http.post("/api/v1/session", content=body, headers=foreign)
            assert code(answer) == (403, "CSRF_INVALID")
            assert "set-cookie" not in answer.headers
        own = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
        assert http.post("/api/v1/session", content=body, headers=own).status_code == 200


def test_a_session_is_made_by_the_server_alone(store: MemoryStore, alice: Principal) -> None:
    """A secret that was there before the login is not the one after it, and none is two's."""
    with client(store, alice) as http:
        secret = http.headers.pop("Authorization").removeprefix("Bearer ")
        given = "mem_" + "A" * 64
        sent = {"Cookie": f"__Host-memories_session={given}"}
        assert code(http.get(PATH, headers=sent)) == (401, "UNAUTHENTICATED")
        logins = [
            http.post("/api/v1/session", json={"token": secret}, headers=sent).headers["set-cookie"]
            for _ in range(3)
        ]
        assert len(set(logins)) == 3
        assert not [each for each in logins if given in each or secret in each]
        # The name alone keeps a browser from taking one of a neighbouring site: no other counts.
        assert all(each.startswith("__Host-memories_session=mem_") for each in logins)
        assert all("; Path=/; " in each and each.endswith("; Secure") for each in logins)
        lesser = {"Cookie": logins[0].split(";")[0].removeprefix("__Host-")}
        assert code(http.get(PATH, headers=lesser)) == (401, "UNAUTHENTICATED")
        # A token is no cookie: what a program holds opens no browser.
        sent = {"Cookie": f"__Host-memories_session={secret}"}
        assert code(http.get(PATH, headers=sent)) == (401, "UNAUTHENTICATED")


def test_a_session_that_is_over_is_over(make_store: MakeStore) -> None:
    """A cookie that is played again after its end, or after its token's, opens nothing."""
    now = datetime(2026, 12, 1, tzinfo=UTC)
    store = make_store(durability="process", clock=lambda: now)
    issued = store.tokens.issue(store.principals.user("alice"), access="write")
    with client(store) as http:
        first, second = (
            {"Cookie": answer.headers["set-cookie"].split(";")[0]}
            for answer in (
                http.post("/api/v1/session", json={"token": issued.secret}) for _ in range(2)
            )
        )
        assert http.get(PATH, headers=first).status_code == 200
        now += SESSION
        assert code(http.get(PATH, headers=first)) == (401, "UNAUTHENTICATED")
        now -= SESSION
        assert http.get(PATH, headers=second).status_code == 200
        store.tokens.revoke(issued.token.id)
        assert code(http.get(PATH, headers=second)) == (401, "UNAUTHENTICATED")


def test_a_whole_network_is_one_guesser(store: MemoryStore, alice: Principal) -> None:
    """Who has a line has 2^64 addresses of the newer kind; they share one count."""
    store.tokens.issue(alice)
    app = create_app(store, limits=Limits(failures=1))
    wrong = {"Authorization": "Bearer mem_wrong"}
    statuses = []
    for host in ("2001:db8::1", "2001:db8::2:2", "2001:db8:0:1::1", "192.0.2.1", "192.0.2.2"):
        with TestClient(app, client=(host, 1)) as http:
            statuses.append(http.get(PATH, headers=wrong).status_code)
    assert statuses == [401, 429, 401, 401, 401]


def test_a_token_reaches_what_it_is_for(
    store: MemoryStore, alice: Principal, bob: Principal, lab: Principal
) -> None:
    """One for reading writes nothing; one for a group reaches nothing but the group."""
    store.scope(acting_as=alice).create("mine", "plan", "x")
    store.scope(acting_as=alice, principal=lab).create("ours", "plan", "x")
    own = store.agents.create("own", owner=alice)
    crew = store.agents.create("crew", owner=lab)
    secret = store.tokens.issue(alice, principal=lab).secret
    with client(store, bob) as http:
        http.headers["Authorization"] = f"Bearer {secret}"
        names = [each["name"] for each in http.get(PATH).json()["data"]["memories"]]
        assert names == ["ours"]
        mine = http.get(PATH, params={"principal_id": alice.id})
        assert code(mine) == (403, "FORBIDDEN")
        assert http.get(f"/api/v1/agents/{crew.id}/memories").status_code == 200
        assert code(http.get(f"/api/v1/agents/{own.id}/memories")) == (404, "NOT_FOUND")
        seen = http.get("/api/v1/session").json()["data"]
        assert [each["name"] for each in seen["principals"]] == ["lab"]
        assert [each["name"] for each in seen["agents"]] == ["crew"]


def test_a_token_for_reading_writes_nothing(store: MemoryStore, alice: Principal) -> None:
    """Every route that changes something is marked as one that does."""
    store.scope(acting_as=alice).create("n", "plan", "x")
    before = len(store.scope(acting_as=alice).history())
    agent = store.agents.create("a", owner=alice)
    with client(store, alice, access="read") as http:
        for route in (*SPORA, *FURTHER, *BESIDE):
            path = f"/api/v1{route.path}".replace("{agent_id}", str(agent.id)).replace("{id}", "x")
            answer = http.request(route.method, path, json={} if route.body else None)
            if route.writes:
                assert code(answer) == (403, "READ_ONLY"), route
            assert answer.status_code != 500, route
        for method, path in (("POST", "/openwp/v1/memory"), ("DELETE", "/openwp/v1/memory/x")):
            assert http.request(method, path).json()["code"] == "READ_ONLY"
    assert len(store.scope(acting_as=alice).history()) == before
    reading = {
        (route.method, route.path) for route in (*SPORA, *FURTHER, *BESIDE) if not route.writes
    }
    assert {path.rsplit("/", 1)[1] for method, path in reading if method != "GET"} == {
        "recall",
        "inspect",
    }


def test_guessing_is_slowed_down(store: MemoryStore, alice: Principal) -> None:
    """After some wrong tokens an address waits; who has a right one goes on."""
    with client(store, alice, limits=Limits(failures=3)) as http:
        wrong = {"Authorization": "Bearer mem_wrong"}
        statuses = [http.get(PATH, headers=wrong).status_code for _ in range(5)]
        assert statuses == [401, 401, 401, 429, 429]
        assert http.get(PATH).status_code == 200
        login = http.post("/api/v1/session", json={"token": "mem_wrong"})
        assert code(login) == (429, "TOO_MANY_REQUESTS")
        assert int(login.headers["retry-after"]) > 0


def test_one_caller_cannot_take_all_of_the_server(
    store: MemoryStore, alice: Principal, bob: Principal
) -> None:
    """Beyond its rate a caller is told to wait; another one does not notice."""
    with client(store, alice, limits=Limits(rate=0.1)) as http:
        statuses = [http.get(PATH).status_code for _ in range(3)]
        assert statuses == [200, 429, 429]
        other = {"Authorization": f"Bearer {store.tokens.issue(bob).secret}"}
        assert http.get(PATH, headers=other).status_code == 200


def test_a_body_is_bounded(store: MemoryStore, alice: Principal) -> None:
    """Too large, whether it says so or comes in pieces without a length: 413, nothing stored."""
    with client(store, alice, limits=Limits(body=1000)) as http:
        large = json.dumps({"name": "n", "type": "plan", "content": "x" * 2000})
        assert code(http.post(PATH, content=large)) == (413, "REQUEST_TOO_LARGE")
        pieces = (b"x" * 100 for _ in range(50))
        assert code(http.post(PATH, content=pieces)) == (413, "REQUEST_TOO_LARGE")
        assert http.get(PATH).json() == {"data": {"memories": []}}


@pytest.mark.parametrize(
    "body",
    [
        *("{", "{'a': 1}", "{}{}", "NaN", '{"a": 1, "a": 2}', '{"name": "\\ud800"}', "\ufeff{}"),
        "[" * 100_000,
        '{"a": ' * 30 + "1" + "}" * 30,
        b"\xff\xfe{\x00}\x00",
    ],
    ids=repr,
)
def test_what_is_no_json_is_refused(
    store: MemoryStore, alice: Principal, body: str | bytes
) -> None:
    """A lenient reader would guess, and two readers guess differently."""
    with client(store, alice) as http:
        assert code(http.post(PATH, content=body)) == (400, "INVALID_JSON")


@pytest.mark.parametrize(
    "body",
    [
        "5",
        "null",
        '"x"',
        "[]",
        "true",
        '{"order": ' + "9" * 5000 + "}",
        '{"a": 9223372036854775808}',
    ],
)
def test_a_body_is_an_object(store: MemoryStore, alice: Principal, body: str) -> None:
    """What the seed answered with a server error has a code."""
    with client(store, alice) as http:
        assert code(http.post(PATH, content=body)) == (422, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    "value", ["abc", "0", "-4", "12.7", "1e2", " 1", "1 OR 1=1", "9" * 30, "True", "[]"]
)
def test_a_malformed_principal_never_becomes_another(
    store: MemoryStore, alice: Principal, value: str
) -> None:
    """Refused, and not taken for the caller's own."""
    with client(store, alice) as http:
        answer = http.get(PATH, params={"principal_id": value})
        assert code(answer) == (422, "VALIDATION_ERROR")


def test_a_stale_write_is_told_what_changed(store: MemoryStore, alice: Principal) -> None:
    """An ETag goes out, `If-Match` comes back; a stale one gets the present state and texts."""
    with client(store, alice) as http:
        made = http.post(PATH, json={"name": "n", "type": "plan", "content": "one\nand\ntwo\n"})
        path = f"{PATH}/{made.json()['data']['memory']['id']}"
        etag = made.headers["etag"]
        assert etag == '"v1"'
        for seen in (etag, f"W/{etag}", f'"v7", {etag}', "*"):
            unchanged = http.get(path, headers={"If-None-Match": seen})
            assert (unchanged.status_code, unchanged.content) == (304, b"")
            assert unchanged.headers["etag"] == etag
        assert http.get(path, headers={"If-None-Match": '"v7"'}).status_code == 200
        assert http.put(path, json={"content": "ONE\nand\ntwo\n"}).headers["etag"] == '"v2"'
        stale = http.put(path, json={"content": "one\nand\nTWO\n"}, headers={"If-Match": etag})
        assert code(stale) == (409, "EDIT_CONFLICT")
        details = stale.json()["error"]["details"]
        assert details["current"]["content"] == "ONE\nand\ntwo\n"
        assert [chunk["side"] for chunk in details["difference"]] == ["theirs", "same", "yours"]
        for method, tail, body in (
            ("POST", "/replace", {"find": "two", "new_text": "2"}),
            ("DELETE", "", None),
            ("POST", "/restore", {"version": 1}),
        ):
            answer = http.request(method, path + tail, json=body, headers={"If-Match": etag})
            assert code(answer) == (409, "EDIT_CONFLICT")
        for bad in ("v1", 'W/"v1"', '"v0"', "1", "", '"v2" "v2"', '*, "v2"', '"x"v2"y"', "v2,"):
            answer = http.delete(path, headers={"If-Match": bad})
            assert code(answer) == (422, "VALIDATION_ERROR")
        assert http.delete(path, headers={"If-Match": "*"}).status_code == 200


def test_one_of_several_versions_is_enough(store: MemoryStore, alice: Principal) -> None:
    """`If-Match` may list what the caller would write over, in one line or in several."""
    shelf = store.scope(acting_as=alice)
    memory = shelf.create("n", "plan", "x")
    with client(store, alice) as http:
        path = f"{PATH}/{memory.id}"

        def put(match: str | list[str], target: str = path, **headers: str) -> tuple[int, int]:
            lines = [("If-Match", each) for each in ([match] if isinstance(match, str) else match)]
            version = shelf.get("n", "plan").version
            body = {"name": "n", "type": "plan", "content": f"y{version}"}
            sent = http.put(target, json=body, headers=[*lines, *headers.items()])
            return sent.status_code, shelf.get("n", "plan").version

        assert put('"v1", "v7"') == (200, 2)
        assert put('"v1",W/"v2","x", "v7"') == (409, 2)
        assert put(['"v9"', '"v2"']) == (200, 3)
        assert put('"v3" , "v9"', PATH) == (200, 4)
        key = {"Idempotency-Key": "k"}
        assert put('"v4", "v9"', **key) == (200, 5)
        again = {"name": "n", "type": "plan", "content": "y4"}
        once = http.put(path, json=again, headers={"If-Match": '"v4", "v9"', **key})
        assert (once.status_code, shelf.get("n", "plan").version) == (200, 5)


def test_any_version_is_one_that_there_is(store: MemoryStore, alice: Principal) -> None:
    """`If-Match: *` writes over whatever is there, and makes nothing where nothing is."""
    shelf = store.scope(acting_as=alice)
    body = {"name": "n", "type": "plan", "content": "y"}
    with client(store, alice) as http:
        anything = {"If-Match": "*"}
        assert code(http.put(PATH, json=body, headers=anything)) == (404, "NOT_FOUND")
        assert shelf.list().total == 0
        id = shelf.create("n", "plan", "x").id
        shelf.update(id, content="z")
        assert http.put(PATH, json=body, headers=anything).headers["etag"] == '"v3"'
        stale = http.put(PATH, json=body | {"expected_version": 1}, headers=anything)
        assert code(stale) == (409, "EDIT_CONFLICT")
        # A condition that no write of ours looks at is not passed over.
        for method, path in (("PUT", PATH), ("PUT", f"{PATH}/{id}"), ("DELETE", f"{PATH}/{id}")):
            answer = http.request(method, path, json=body, headers={"If-None-Match": "*"})
            assert code(answer) == (422, "VALIDATION_ERROR")
        assert shelf.get("n", "plan").version == 3


def test_of_a_repeated_parameter_the_last_counts(
    store: MemoryStore, alice: Principal, lab: Principal
) -> None:
    """As it did in Spora; only tags may be several."""
    store.scope(acting_as=alice).create("mine", "plan", "one", tags=["a"])
    with client(store, alice) as http:
        twice = [("principal_id", str(lab.id)), ("principal_id", str(alice.id))]
        assert [each["name"] for each in http.get(PATH, params=twice).json()["data"]["memories"]]
        assert not http.get(PATH, params=twice[::-1]).json()["data"]["memories"]
        tags = [("query", "one"), ("tags", "a"), ("tags", "b")]
        assert http.get(f"{PATH}/search", params=tags).json()["data"]["total"] == 0
        assert http.get(f"{PATH}/search", params=tags[:2]).json()["data"]["total"] == 1


def test_lists_have_pages_and_fields_for_who_asks(store: MemoryStore, alice: Principal) -> None:
    """Following the cursor gives each once; an old client gets all with their bodies."""
    shelf = store.scope(acting_as=alice)
    for number in range(7):
        shelf.create(f"n{number}", "plan", f"body {number}")
    shelf.create("fact", "fact", "not a document")
    with client(store, alice) as http:
        whole = http.get(PATH).json()["data"]["memories"]
        assert [each["content"] for each in whole] == [f"body {number}" for number in range(7)]
        for fields in (None, "name", "name,content"):
            met, cursor = [], ""
            while cursor is not None:
                params = {"limit": 3, "cursor": cursor} | ({"fields": fields} if fields else {})
                page = http.get(PATH, params=params).json()["data"]
                assert page["total"] == 7
                met += page["memories"]
                cursor = page["next_cursor"]
            assert [each["name"] for each in met] == [each["name"] for each in whole]
            assert fields is None or all(list(each) == fields.split(",") for each in met)
        assert http.get(PATH, params={"fields": "name"}).json()["data"]["memories"][6] == {
            "name": "n6"
        }
        both = http.get(PATH, params={"vocabularies": "documents,facts"}).json()["data"]
        assert len(both["memories"]) == 8
        wrong = {"limit": "0", "cursor": "x", "fields": "secret", "vocabularies": "all"}
        for name, value in (*wrong.items(), ("limit", "many")):
            assert code(http.get(PATH, params={name: value})) == (422, "VALIDATION_ERROR")


def test_an_order_is_a_whole_number(store: MemoryStore, alice: Principal) -> None:
    """Sent as text or with a nought behind the point, it is one; nothing else becomes one."""
    id = store.scope(acting_as=alice).create("n", "plan", "x").id
    with client(store, alice) as http:
        for sent, order in ((7, 7), ("5", 5), ("-3", -3), (2.0, 2), (0, 0)):
            answer = http.put(f"{PATH}/{id}", json={"order": sent})
            assert answer.json()["data"]["memory"]["order"] == order
        for sent in (2.5, 1e300, "2.5", "1_0", " 5", "\u0663", "", "x", True, None, [1], {}):
            answer = http.put(f"{PATH}/{id}", json={"order": sent})
            assert code(answer) == (422, "VALIDATION_ERROR"), sent
        assert http.get(f"{PATH}/{id}").json()["data"]["memory"]["order"] == 0


def test_a_part_of_a_list_goes_first(store: MemoryStore, alice: Principal) -> None:
    """What is not named follows in its old order; a number that is used up stays free."""
    agent = store.agents.create("writer", owner=alice)
    with client(store, alice) as http:
        for path in (PATH, f"/api/v1/agents/{agent.id}/memories"):
            ids = {}
            for name in "abc":
                made = http.post(path, json={"name": name, "type": "plan"}).json()
                ids[name] = made["data"]["memory"]["id"]

            def order(*wanted: str, path: str = path, ids: dict[str, str] = ids) -> list[object]:
                sent = {"order": [ids.get(each, each) for each in wanted]}
                answer = http.patch(f"{path}/reorder", json=sent)
                assert answer.json() == {"data": {"success": True}}
                rows = http.get(path).json()["data"]["memories"]
                return [(row["name"], row["order"]) for row in rows]

            assert order("c") == [("c", 1), ("a", 2), ("b", 3)]
            assert order() == order(str(UUID(int=1))) == [("c", 1), ("a", 2), ("b", 3)]
            counted = [("b", 2), ("c", 3), ("a", 4)]
            unknown = str(UUID(int=1))
            skipped = [("b", 1), ("c", 2), ("a", 3)]
            assert order(unknown, "b", "c", "a") == (counted if path == PATH else skipped)


def test_a_replace_that_names_nothing_checks_nothing(store: MemoryStore, alice: Principal) -> None:
    """A name and type that an old client leaves empty are none; others must be the memory's."""
    id = store.scope(acting_as=alice).create("n", "plan", "one").id
    path = f"{PATH}/{id}/replace"
    with client(store, alice) as http:
        for named, status in (
            ({"name": None, "type": None}, 200),
            ({"name": " n ", "type": "plan"}, 200),
            ({"name": "m"}, 409),
            ({"type": "context"}, 409),
            ({"type": "memo"}, 422),
            ({"name": ""}, 422),
        ):
            body = {"find": "one", "new_text": "one", **named}
            assert http.post(path, json=body).status_code == status, named


def test_no_answer_tells_how_it_is_made(
    store: MemoryStore,
    alice: Principal,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An unforeseen error is logged with its trace, and the client gets a code and no more."""
    monkeypatch.setattr("memories_sdk.scope.Scope.read", lambda *_, **__: 1 / 0)
    with client(store, alice) as http:
        answer = http.get(PATH)
        assert code(answer) == (500, "INTERNAL_SERVER_ERROR")
        assert "ZeroDivision" not in answer.text
        assert "ZeroDivisionError" in caplog.text
        assert answer.headers["x-content-type-options"] == "nosniff"
    store.close()
    closed = client(store, authenticate=lambda _: alice)
    with closed as http, caplog.at_level(logging.CRITICAL):
        answer = http.get(PATH)
        assert code(answer) == (503, "STORAGE_UNAVAILABLE")
        assert http.get("/health/ready").status_code == 503
        assert http.get("/health/live").status_code == 200


def test_the_log_holds_no_text(
    store: MemoryStore, alice: Principal, caplog: pytest.LogCaptureFixture
) -> None:
    """One line of JSON for each request: no body, no query, no name, no id, no token."""
    canary = "canary-4711"
    with caplog.at_level(logging.INFO, "memories_sdk"), client(store, alice) as http:
        made = http.post(PATH, json={"name": canary, "type": "plan", "content": canary})
        http.get(f"{PATH}/search", params={"query": canary})
        http.get(f"{PATH}/{made.json()['data']['memory']['id']}")
        http.get(f"/{canary}")
        token = http.headers["Authorization"].removeprefix("Bearer ")
    lines = [record.message for record in caplog.records if record.name == "memories_sdk.server"]
    assert [json.loads(line)["route"] for line in lines] == [
        PATH,
        f"{PATH}/search",
        f"{PATH}/{{id}}",
        "-",
    ]
    assert {json.loads(line)["status"] for line in lines} == {200, 201, 404}
    for text in (canary, token, made.json()["data"]["memory"]["id"]):
        assert text not in "".join(lines)


def test_foreign_names_of_the_server_are_refused(store: MemoryStore, alice: Principal) -> None:
    """A page that makes its own name point at this machine gets nothing out of it."""
    with client(store, alice, hosts=["memories.example"]) as http:
        for host, status in {
            "evil.example": 421,
            "evil.example:8000": 421,
            "127.0.0.1.evil.example": 421,
            "localhost:8000": 200,
            "127.0.0.1:8000": 200,
            "[::1]:8000": 200,
            "Memories.Example": 200,
        }.items():
            assert http.get(PATH, headers={"Host": host}).status_code == status, host


def test_no_other_site_may_read(store: MemoryStore, alice: Principal) -> None:
    """Whatever origin asks, no answer lets a browser hand it over."""
    with client(store, alice) as http:
        for origin in ("null", "https://evil.example"):
            for method in ("GET", "OPTIONS"):
                answer = http.request(method, PATH, headers={"Origin": origin})
                assert not [name for name in answer.headers if name.startswith("access-control")]


def test_facts_of_the_whole_site(store: MemoryStore, alice: Principal, bob: Principal) -> None:
    """One store for all who may act as the site; half a name clears nothing."""
    site = store.principals.group("site", owner=alice)
    shelf = store.scope(acting_as=alice, principal=site, vocabularies=[FACTS])
    shelf.create("tone", "preference", "Short")
    path = "/openwp/v1/memory"
    with client(store, bob, site=site) as http:
        assert http.get(path).json()["code"] == "openwp_rest_capability_denied"
        secret = store.tokens.issue(alice, access="write").secret
        http.headers["Authorization"] = f"Bearer {secret}"
        assert http.get(path).json()["total"] == 1
        for half in ({"type": "preference"}, {"key": "tone"}, {"type": "", "key": ""}):
            answer = http.delete(path, params=half)
            assert (answer.status_code, answer.json()["code"]) == (
                422,
                "openwp_memory_invalid_delete",
            )
        gone = http.delete(path, params={"type": "preference", "key": "tone"})
        assert gone.json() == {
            "success": True,
            "deleted": True,
            "type": "preference",
            "key": "tone",
        }
        shelf.switch(on=False)
        answer = http.post(path, json={"type": "fact", "key": "k", "value": "v"})
        assert (answer.status_code, answer.json()["code"]) == (409, "openwp_memory_disabled")
        assert http.get(path).json()["enabled"] is False


def test_a_fact_is_taken_as_openwp_took_it(store: MemoryStore, alice: Principal) -> None:
    """Text where there is no value, and refusals in its own envelope, for a wrong route too."""
    path = "/openwp/v1/memory"
    with client(store, alice) as http:
        sent = {"type": "fact", "key": "k", "value": None, "text": "t"}
        assert http.post(path, json=sent).json()["item"]["text"] == "t"
        both = sent | {"value": "v"}
        assert http.post(path, json=both).json()["item"]["text"] == "v"
        typed = http.post(path, json=sent | {"type": "note"}).json()
        assert typed["code"] == "openwp_memory_invalid_type"
        assert typed["data"]["suggestion"].endswith("preference, constraint, fact, workflow.")
        for method, place, status in (("PUT", path, 405), ("GET", f"{path}/x/y", 404)):
            answer = http.request(method, place)
            assert answer.status_code == answer.json()["data"]["status"] == status
            assert answer.json().keys() == {"code", "message", "data"}


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_a_write_asked_for_again_happens_once(store: MemoryStore, alice: Principal) -> None:
    """After a lost answer the same key gives the first result; another call may not have it."""
    with client(store, alice) as http:
        body, key = {"name": "n", "type": "plan", "content": "x"}, {"Idempotency-Key": "k1"}
        first, again = (http.post(PATH, json=body, headers=key) for _ in range(2))
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json() == again.json()
        other = http.post(PATH, json=body | {"name": "m"}, headers=key)
        assert code(other) == (409, "KEY_REUSED")
        assert len(http.get(PATH).json()["data"]["memories"]) == 1


def test_a_picture_is_what_its_bytes_are(
    store: MemoryStore, alice: Principal, bob: Principal
) -> None:
    """Sent with a fixed type, to its owner alone; a program in disguise is not taken."""
    with client(store, alice) as http:
        path = f"{PATH}/attachments"
        said = {"Content-Type": "text/html"}
        made = http.post(path, content=PNG, headers=said, params={"name": "a.png"})
        assert made.status_code == 201
        one = f"{path}/{made.json()['data']['attachment']['id']}"
        shown = http.get(one)
        assert (shown.content, shown.headers["content-type"]) == (PNG, "image/png")
        assert shown.headers["x-content-type-options"] == "nosniff"
        assert shown.headers["accept-ranges"] == "none"
        part = http.get(one, headers={"Range": "bytes=0-3"})
        assert (part.status_code, part.content) == (200, PNG)
        assert "sandbox" in shown.headers["content-security-policy"]
        assert http.get(one, headers={"If-None-Match": shown.headers["etag"]}).status_code == 304
        assert len(http.get(path).json()["data"]["attachments"]) == 1
        svg = http.post(path, content=b"<svg onload=alert(1)>")
        assert code(svg) == (422, "VALIDATION_ERROR")
        other = {"Authorization": f"Bearer {store.tokens.issue(bob).secret}"}
        foreign = http.get(one, headers=other)
        unknown = http.get(f"{path}/{UUID(int=1)}", headers=other)
        assert foreign.json() == unknown.json()
        assert foreign.status_code == unknown.status_code == 404
        assert http.delete(one).status_code == 200
        assert http.get(one).status_code == 404


def test_a_person_decides_over_http(store: MemoryStore, alice: Principal, bob: Principal) -> None:
    """A call waits, is shown, granted once; nobody else sees it."""
    agent = store.agents.create("writer", owner=alice)
    tools = MemoryTools(store, acting_as=alice, agent=agent)
    store.scope(acting_as=alice, agent=agent).create("n", "plan", "x")
    waiting = tools.call("memory", {"action": "delete", "name": "n", "type": "plan"}).approval
    assert waiting is not None
    path = f"/api/v1/approvals/{waiting.id}"
    with client(store, alice) as http:
        other = {"Authorization": f"Bearer {store.tokens.issue(bob, access='write').secret}"}
        only = store.tokens.issue(
            alice, principal=store.principals.group("lab", owner=alice), access="write"
        )
        for headers in (other, {"Authorization": f"Bearer {only.secret}"}):
            listed = http.get("/api/v1/approvals", headers=headers).json()
            assert listed == {"data": {"approvals": []}}
            assert http.get(path, headers=headers).status_code == 404
            assert http.post(f"{path}/grant", headers=headers).status_code == 404
            assert http.post(f"{path}/refuse", headers=headers).status_code == 404
        (shown,) = http.get("/api/v1/approvals").json()["data"]["approvals"]
        assert (shown["state"], shown["id"]) == ("pending", str(waiting.id))
        assert "Deleted memory [n]" in http.post(f"{path}/grant").json()["data"]["text"]
        assert code(http.post(f"{path}/grant")) == (409, "CONFLICT")
        assert http.get(path).json()["data"]["approval"]["state"] == "granted"
    assert store.scope(acting_as=alice, agent=agent).list().total == 0


def test_a_narrow_token_is_shown_all_that_waits_within_its_reach(
    store: MemoryStore, alice: Principal, lab: Principal
) -> None:
    """However much waits elsewhere, and no more than it asks for."""
    for owner in (alice, lab):
        agent = store.agents.create("writer", owner=owner)
        store.scope(acting_as=alice, principal=owner).create("a", "plan", "x")
        store.scope(acting_as=alice, principal=owner).create("b", "plan", "x")
        tools = MemoryTools(store, acting_as=alice, agent=agent)
        for name in "ab":
            tools.call("global_memory", {"action": "delete", "name": name, "type": "plan"})
    narrow = store.tokens.issue(alice, principal=lab).secret
    with client(store, alice) as http:
        http.headers["Authorization"] = f"Bearer {narrow}"
        for limit, count in ((1, 1), (2, 2), (500, 2)):
            answer = http.get("/api/v1/approvals", params={"limit": limit}).json()
            shown = answer["data"]["approvals"]
            assert [each["shelf"] for each in shown] == [f"global:{lab.id}"] * count
        for limit in (0, -1, 501):
            answer = http.get("/api/v1/approvals", params={"limit": limit})
            assert code(answer) == (422, "VALIDATION_ERROR")


def asked(http: TestClient, method: str, tail: str, **rest: object) -> object:
    """Return what a route gives."""
    answer = http.request(method, PATH + tail, **rest)
    assert answer.status_code in {200, 201}, answer.text
    return answer.json()["data"]


def test_every_further_verb_has_a_route(store: MemoryStore, alice: Principal) -> None:
    """Save, history, restore, undo, search and recall answer as the scope does."""
    with client(store, alice) as http:
        ask = partial(asked, http)
        made = ask("PUT", "", json={"name": "n", "type": "plan", "content": "British English"})
        assert made["created"] is True
        id = made["memory"]["id"]
        saved = ask("PUT", "", json={"name": "n", "type": "plan", "tags": ["style"]})
        assert (saved["created"], saved["memory"]["version"]) == (False, 2)
        ask("PUT", "", json={"name": "m", "type": "plan", "content": "other"})
        assert ask("GET", "/named", params={"name": "n", "type": "plan"})["memory"]["id"] == id
        assert ask("GET", "/counts")["counts"]["plan"] == 2
        assert ask("GET", "/recent", params={"limit": 1})["total"] == 2
        assert ask("GET", "/search", params={"query": "British"})["hits"][0]["memory"]["id"] == id
        assert "British" in ask("POST", "/recall", json={"prompt": "British English"})["context"]
        assert ask("POST", "/inspect", json={"type": "plan", "content": "x"}) == {"concerns": []}
        moved = ask("POST", f"/{id}/move", json={"after": ask("GET", "")["memories"][1]["id"]})
        assert moved["memory"]["order"] == 2
        assert len(ask("GET", f"/{id}/history")["revisions"]) == 3
        assert len(ask("GET", "/history", params={"name": "n", "type": "plan"})["revisions"]) == 3
        assert ask("DELETE", "", params={"type": "plan"}) == {"deleted": 2}
        assert len(ask("GET", "/deleted")["revisions"]) == 2
        assert len(ask("POST", "/undo")["revisions"]) == 2
        ask("DELETE", f"/{id}")
        assert ask("POST", f"/{id}/restore")["memory"]["name"] == "n"


def test_a_shelf_is_kept_over_http(store: MemoryStore, alice: Principal) -> None:
    """Redacting, pruning, the switch, unsaved texts and a move to another shelf."""
    lab = store.principals.group("lab", owner=alice)
    id = str(store.scope(acting_as=alice).create("n", "plan", "British English").id)
    with client(store, alice) as http:
        ask = partial(asked, http)
        ask("PUT", f"/{id}", json={"content": "British English"})
        ask("PUT", f"/{id}", json={"content": "British English!"})
        assert ask("POST", "/redact", json={"text": "British"})["found"] > 0
        assert ask("POST", "/prune", json={"keep": 1})["emptied"] > 0
        assert ask("PUT", "/enabled", json={"enabled": False}) == {"enabled": False}
        refused = http.post(PATH, json={"name": "x", "type": "plan"})
        assert code(refused) == (409, "MEMORY_DISABLED")
        assert ask("GET", "/enabled") == {"enabled": False}
        ask("PUT", "/enabled", json={"enabled": True})
        draft = {"type": "plan", "name": "half"}
        assert ask("PUT", "/drafts/d1", json=draft)["draft"]["name"] == "half"
        assert [each["key"] for each in ask("GET", "/drafts")["drafts"]] == ["d1"]
        ask("DELETE", "/drafts/d1")
        there = ask("POST", f"/{id}/transfer", json={"principal_id": lab.id})
        assert there["memory"]["principal_id"] == lab.id
        assert ask("GET", "/changes", params={"since": 0, "limit": 5})["revisions"]


def test_a_path_has_its_own_methods(store: MemoryStore, alice: Principal) -> None:
    """What is read can be asked for its head alone; another method is told what there is."""
    id = store.scope(acting_as=alice).create("n", "plan", "x").id
    with client(store, alice) as http:
        head = http.head(f"{PATH}/{id}")
        assert (head.status_code, head.headers["etag"]) == (200, '"v1"')
        for method, path, allowed in (
            ("PATCH", f"{PATH}/{id}", "DELETE, GET, HEAD, OPTIONS, PUT"),
            ("GET", f"{PATH}/{id}/replace", "OPTIONS, POST"),
            ("TRACE", PATH, "DELETE, GET, HEAD, OPTIONS, POST, PUT"),
        ):
            answer = http.request(method, path)
            assert code(answer) == (405, "METHOD_NOT_ALLOWED")
            assert sorted(answer.headers["allow"].split(", ")) == allowed.split(", ")
            asked = http.options(path, headers={"Authorization": ""})
            assert (asked.status_code, asked.content) == (204, b"")
            assert asked.headers["allow"] == allowed
        assert http.head("/health/live").status_code == http.head("/health/ready").status_code
        # A word that names a route of another method is an id here, as in the seed.
        assert code(http.get(f"{PATH}/reorder")) == (404, "NOT_FOUND")
        assert http.get(f"{PATH}/%7Bid%7D").json()["error"]["message"] == "Memory not found."
        for path in (f"{PATH}/", "/api/v1//memories", f"{PATH}/{id}/no/such", "/", "/api/v1"):
            answer = http.get(path)
            assert answer.json()["error"]["message"] == "There is no such route."


def test_a_body_is_read_as_it_was_sent(store: MemoryStore, alice: Principal) -> None:
    """A compressed one could grow without end; what a client says of the type changes nothing."""
    body = json.dumps({"name": "n", "type": "plan"})
    with client(store, alice) as http:
        packed = gzip.compress(body.encode())
        answer = http.post(PATH, content=packed, headers={"Content-Encoding": "gzip"})
        assert code(answer) == (415, "BODY_ENCODED")
        for kind in ("text/plain", "application/x-www-form-urlencoded", "no/such; charset=latin-1"):
            headers = {"Content-Type": kind, "Content-Encoding": "identity"}
            made = http.post(PATH, content=body, headers=headers)
            assert made.status_code == 201
            http.delete(f"{PATH}/{made.json()['data']['memory']['id']}")


def test_every_refusal_says_what_to_do(store: MemoryStore, alice: Principal) -> None:
    """Code, message and suggestion, whoever turns the request away and at whichever door."""
    id = store.scope(acting_as=alice).create("n", "plan", "x x").id
    facts = "/openwp/v1/memory"
    with client(store, alice) as http:
        for method, path, sent in (
            ("GET", "/nowhere", {}),
            ("PATCH", PATH, {}),
            ("GET", PATH, {"headers": {"Authorization": "Basic x"}}),
            ("GET", PATH, {"headers": {"Host": "evil.example"}}),
            ("GET", PATH, {"params": {"principal_id": 99}}),
            ("GET", PATH, {"params": {"limit": "x"}}),
            ("GET", PATH, {"params": {"cursor": "x"}}),
            ("GET", f"{PATH}/x", {}),
            ("GET", "/api/v1/agents/9/memories", {}),
            ("GET", "/api/v1/approvals/x", {}),
            ("GET", f"{PATH}/attachments/x", {}),
            ("POST", PATH, {"content": "{"}),
            ("POST", PATH, {"content": "[]"}),
            ("POST", PATH, {"json": {}}),
            ("POST", PATH, {"json": {"name": "n", "type": "memo"}}),
            ("POST", PATH, {"json": {"name": "n", "type": "plan"}}),
            ("POST", PATH, {"json": {"name": "m" * 201, "type": "plan"}}),
            ("PUT", f"{PATH}/{id}", {"json": {"name": ""}}),
            ("PUT", f"{PATH}/{id}", {"json": {}, "headers": {"If-Match": "x"}}),
            ("PUT", f"{PATH}/{id}", {"json": {"content": ""}, "headers": {"If-Match": '"v9"'}}),
            ("POST", f"{PATH}/{id}/replace", {"json": {}}),
            ("POST", f"{PATH}/{id}/replace", {"json": {"find": "x", "new_text": ""}}),
            ("POST", f"{PATH}/x/replace", {"json": {"find": "x", "new_text": ""}}),
            ("PATCH", f"{PATH}/reorder", {"json": {}}),
            ("PUT", f"{PATH}/enabled", {"json": {}}),
            ("POST", f"{PATH}/recall", {"json": {"limit": 1.5}}),
            ("POST", "/api/v1/session", {"json": {"token": "x"}}),
            ("GET", facts, {"headers": {"Authorization": "Basic x"}}),
            ("POST", facts, {"json": {"type": "x", "key": "k", "value": "v"}}),
            ("POST", facts, {"json": {"type": "fact", "key": "k", "value": "v", "tags": 5}}),
            ("DELETE", f"{facts}/x", {}),
        ):
            answer = http.request(method, path, **sent)
            assert answer.status_code >= 400
            said = answer.json()
            error = said.get("error", said)
            advice = error.get("suggestion") or error.get("data", {}).get("suggestion")
            assert all((error["code"], error["message"], advice)), (method, path, said)
