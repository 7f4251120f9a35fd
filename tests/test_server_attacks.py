"""The recorded attacks on access, made over HTTP on a running server; each test names its own.

The engines are told apart below: here they all lie behind the same door.
"""

from __future__ import annotations

import copy
import json
import logging
import pickle
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest
from held import stored
from served import served
from uuid6 import UUID

from memories_sdk import MemoryStore, MemoryTools
from memories_sdk.engines.sqlite import SqliteDatabase
from memories_sdk.errors import AccessDenied, InvalidInput, MemoriesError
from memories_sdk.importers import jsonl
from memories_sdk.server import Limits, beside, further, openwp
from memories_sdk.server.spora import ROUTES
from memories_sdk.wire import MEMORY_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memories_sdk import Principal
    from memories_sdk.server.routes import Route

pytestmark = pytest.mark.engines("sqlite-file")

PATH: Final = "/api/v1/memories"
CANARY: Final = "canary-4711"
NOWHERE: Final = "01a22f0c-f724-7322-853f-d1424b84dda0"
"""An id of nothing."""
EVERY: Final[tuple[Route, ...]] = (
    *ROUTES,
    *further.ROUTES,
    *beside.ROUTES,
    *openwp.Facts(None).routes(),
)
PNG: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6364f8"
    "cf500f000386018068d59f700000000049454e44ae426082"
)


class World:
    """A running server, and four people: alice and bob, and carol in alice's team.

    Attributes:
        mine: A memory on alice's own shelf, with the canary in it.
        hidden: Another one on the shelf of her agent a1.
        ours: A third one on the shelf of the team.
    """

    def __init__(self, store: MemoryStore, http: httpx.Client) -> None:
        self.store = store
        self.http = http
        users = map(store.principals.user, ("alice", "bob", "carol"))
        self.alice, self.bob, self.carol = users
        self.team = store.principals.group("team", owner=self.alice, members=[self.carol])
        owners = {"a1": self.alice, "a2": self.alice, "b1": self.bob, "t1": self.team}
        self.agents = {name: store.agents.create(name, owner=it) for name, it in owners.items()}
        body = f"all of {CANARY}"
        mine = store.scope(acting_as=self.alice)
        hidden = store.scope(acting_as=self.alice, agent="a1")
        ours = store.scope(acting_as=self.alice, principal=self.team)
        self.mine, self.hidden, self.ours = (
            str(shelf.create(f"{CANARY}-name", "plan", body, tags=[CANARY]).id)
            for shelf in (mine, hidden, ours)
        )
        store.scope(acting_as=self.bob).create("bobs", "plan", "nothing to hide")
        self._headers: dict[int, dict[str, str]] = {}

    def program(self, who: Principal, **rights: Any) -> dict[str, str]:
        """Return the headers of a new program of somebody's."""
        secret = self.store.tokens.issue(who, **{"access": "write"} | rights).secret
        return {"Authorization": f"Bearer {secret}"}

    def browser(self, who: Principal) -> dict[str, str]:
        """Return the headers of a browser that somebody has logged in."""
        secret = self.program(who)["Authorization"].removeprefix("Bearer ")
        answer = self.http.post("/api/v1/session", json={"token": secret})
        csrf = answer.json()["data"]["csrf_token"]
        return {"Cookie": answer.headers["set-cookie"].split(";")[0], "X-CSRF-Token": csrf}

    def ask(
        self, who: Principal, method: str, path: str, body: object = None, **query: object
    ) -> httpx.Response:
        """Send a request as a program of somebody's."""
        if who.id not in self._headers:
            self._headers[who.id] = self.program(who)
        sent = {"headers": self._headers[who.id], "params": query or None}
        return self.http.request(method, path, json=body, **sent)

    def names(self, who: Principal, path: str = PATH, **query: object) -> list[str]:
        """Return the names that somebody is shown."""
        listed = self.ask(who, "GET", path, **query).json()["data"]["memories"]
        return [each["name"] for each in listed]

    def shelf_of(self, agent: str) -> str:
        """Return the path of an agent's shelf."""
        return f"/api/v1/agents/{self.agents[agent].id}/memories"

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """See that the block changes no memory, and leaves no trace in the history."""
        before = stored(self.store)
        yield
        assert stored(self.store) == before


@pytest.fixture
def world(store: MemoryStore) -> Iterator[World]:
    """The server and its people."""
    store.tokens.issue(store.principals.user("keeper"))
    with (
        served(store, limits=Limits(rate=0, failures=10**6)) as server,
        httpx.Client(base_url=server.url, timeout=60) as http,
    ):
        yield World(store, http)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and the code of a refusal that shows nothing."""
    assert CANARY not in answer.text
    return answer.status_code, answer.json()["error"]["code"]


def filled(route: Route, id: str, agent: int) -> str:
    """Return the path of a route with what it names."""
    path = route.family.prefix + route.path
    return path.replace("{id}", id).replace("{agent_id}", str(agent))


# By id ---------------------------------------------------------------------------------------

BY_ID: Final[dict[str, tuple[str, str, object]]] = {
    "idor-01 get": ("GET", "", None),
    "idor-02 update": ("PUT", "", {"content": "stolen"}),
    "replace": ("POST", "/replace", {"find": "all", "new_text": "stolen"}),
    "idor-04 delete": ("DELETE", "", None),
    "history": ("GET", "/history", None),
    "idor-06 restore": ("POST", "/restore", {"version": 1}),
    "move": ("POST", "/move", {"after": str(UUID(int=1))}),
    "take": ("POST", "/transfer", {}),
}


def test_idor_01_02_04_06_a_foreign_id_is_an_unknown_one(world: World) -> None:
    """By whichever verb and prefix, in a status, words and headers that tell nothing apart."""
    empty = '{"data":{"revisions":[],"next_cursor":null}}'
    shelves = (PATH, world.shelf_of("b1"), world.shelf_of("a1"))
    with world.unchanged():
        for verb, (method, tail, body) in BY_ID.items():
            for path in shelves:
                answers = [
                    world.ask(world.bob, method, f"{path}/{id}{tail}", body)
                    for id in (world.mine, world.hidden, world.ours, NOWHERE)
                ]
                assert len({(it.status_code, it.text, tuple(it.headers)) for it in answers}) == 1
                # What never was has no history, which is no error on one's own shelf.
                silent = verb == "history" and path != shelves[-1]
                assert answers[0].text == empty if silent else answers[0].status_code == 404, verb


def test_no_list_of_ids_reaches_a_foreign_memory(world: World) -> None:
    """Neither in an order, nor as a neighbour, nor as the memory that an unsaved text is about."""
    (own,) = world.ask(world.bob, "GET", PATH).json()["data"]["memories"]
    for id in (world.mine, world.ours, NOWHERE):
        with world.unchanged():
            strict = {"order": [id, own["id"]], "unknown": "refuse"}
            assert refusal(world.ask(world.bob, "PATCH", f"{PATH}/reorder", strict))[0] == 404
            for side in ("before", "after"):
                move = world.ask(world.bob, "POST", f"{PATH}/{own['id']}/move", {side: id})
                assert refusal(move) == (404, "NOT_FOUND")
            revisions = world.ask(world.bob, "GET", f"{PATH}/history", ids=id).json()["data"]
            assert revisions["revisions"] == []
            kept = {"type": "plan", "memory_id": id, "version": 1}
            world.ask(world.bob, "PUT", f"{PATH}/drafts/d1", kept)
        assert CANARY not in world.ask(world.bob, "GET", f"{PATH}/drafts").text
    lenient = world.ask(world.bob, "PATCH", f"{PATH}/reorder", {"order": [world.mine, own["id"]]})
    assert lenient.json() == {"data": {"success": True}}
    assert world.ask(world.alice, "GET", f"{PATH}/{world.mine}").json()["data"]["memory"]["order"]


def test_no_condition_and_no_lesser_method_tells_more(world: World) -> None:
    """A tag, a head or a repeated key asks nothing of a foreign memory that its id does not."""
    headers = world.program(world.bob)
    for method, more in (
        ("HEAD", {}),
        ("GET", {"If-None-Match": "*"}),
        ("GET", {"If-None-Match": '"v1"'}),
        ("PUT", {"If-Match": '"v1"'}),
        ("PUT", {"If-Match": "*"}),
        ("DELETE", {"If-Match": '"v9"'}),
        ("DELETE", {"Idempotency-Key": "k"}),
    ):
        said = set()
        for id in (world.mine, world.hidden, world.ours, NOWHERE):
            body = {"content": "stolen"} if method == "PUT" else None
            sent = {"headers": headers | more, "json": body}
            answer = world.http.request(method, f"{PATH}/{id}", **sent)
            said.add((answer.status_code, answer.text, answer.headers.get("etag")))
        assert len(said) == 1, (method, more)
        assert said.pop()[0] == 404


def test_a_key_of_somebody_else_repeats_nothing(world: World) -> None:
    """The same write under the same key is each caller's own, and gives no foreign answer."""
    key = {"Idempotency-Key": "the-same"}
    body = {"name": "n", "type": "context", "content": "x"}
    made = [
        world.http.post(PATH, json=body, headers=world.program(who) | key)
        for who in (world.alice, world.bob)
    ]
    assert [it.status_code for it in made] == [201, 201]
    first, second = (it.json()["data"]["memory"] for it in made)
    assert first["id"] != second["id"]
    assert (first["principal_id"], second["principal_id"]) == (world.alice.id, world.bob.id)


def test_facts_of_others_are_reached_by_none_of_the_four_routes(world: World) -> None:
    """Where each caller has their own, no id, key or clearing touches those of somebody else."""
    path = "/openwp/v1/memory"
    sent = {"type": "fact", "key": "k", "value": CANARY}
    item = world.ask(world.alice, "POST", path, sent).json()["item"]
    gone = [world.ask(world.bob, "DELETE", f"{path}/{id}").text for id in (item["id"], NOWHERE)]
    assert gone[0] == gone[1]
    named = world.ask(world.bob, "DELETE", path, type="fact", key="k").json()
    assert named["deleted"] is False
    assert world.ask(world.bob, "DELETE", path).json()["deleted_count"] == 0
    for query in ({}, {"search": CANARY}, {"type": "fact"}):
        found = world.ask(world.bob, "GET", path, **query)
        assert (found.json()["total"], CANARY in found.text) == (0, False)
    assert world.ask(world.alice, "GET", path).json()["items"] == [item]


def test_idor_07_an_export_holds_ones_own_alone(world: World, tmp_path: Path) -> None:
    """All that a program can fetch, by pages, by name or by id, is its own shelf."""
    secret = world.program(world.bob)["Authorization"].removeprefix("Bearer ")
    place = tmp_path / "out.jsonl"
    with MemoryStore(str(world.http.base_url), token=secret) as far:
        jsonl.export(far.scope(acting_as=world.bob), place)
        with pytest.raises(AccessDenied):
            jsonl.export(far.scope(acting_as=world.bob, principal=world.alice), place)
    assert CANARY not in place.read_text("utf-8")
    assert "nothing to hide" in place.read_text("utf-8")
    foreign, unknown = (
        world.ask(world.bob, "GET", f"{PATH}/named", name=name, type="plan")
        for name in (f"{CANARY}-name", "no-such-name")
    )
    assert foreign.status_code == unknown.status_code == 404
    told = foreign.json()["error"]["message"].replace(f"{CANARY}-name", "no-such-name")
    assert told == unknown.json()["error"]["message"]
    one = world.ask(world.bob, "GET", f"{PATH}/{world.mine}", fields="content")
    assert refusal(one) == (404, "NOT_FOUND")


def test_idor_08_pictures_stay_on_their_shelf(world: World) -> None:
    """Nobody puts one on a foreign shelf, sees one there, or takes it away."""
    path = f"{PATH}/attachments"
    headers = {who: world.program(who) for who in (world.alice, world.bob)}
    made = world.http.post(path, content=PNG, headers=headers[world.alice])
    one = f"{path}/{made.json()['data']['attachment']['id']}"
    for method in ("GET", "DELETE"):
        answers = {world.ask(world.bob, method, it).text for it in (one, f"{path}/{NOWHERE}")}
        assert len(answers) == 1
    assert world.ask(world.bob, "GET", path).json() == {"data": {"attachments": []}}
    sent = {"content": PNG, "headers": headers[world.bob]}
    there = world.http.post(path, params={"principal_id": world.alice.id}, **sent)
    assert refusal(there) == (403, "FORBIDDEN")
    there = world.http.post(f"{world.shelf_of('a1')}/attachments", **sent)
    assert refusal(there) == (404, "NOT_FOUND")
    assert world.ask(world.alice, "GET", one).content == PNG


def test_idor_09_10_an_id_counts_on_its_own_shelf_alone(world: World) -> None:
    """For its owner too: neither between two agents, nor between an agent and its owner."""
    with world.unchanged():
        for shelf, id in (
            (world.shelf_of("a2"), world.hidden),
            (world.shelf_of("a1"), world.mine),
            (PATH, world.hidden),
            (PATH, world.ours),
        ):
            for method, tail, body in BY_ID.values():
                answer = world.ask(world.alice, method, f"{shelf}/{id}{tail}", body)
                assert CANARY not in answer.text
                assert answer.status_code == 404 or answer.json()["data"]["revisions"] == []


# Who somebody says to be ---------------------------------------------------------------------


NO_PRINCIPALS: Final = (
    *("0", "-1", "True", "true", "1.0", "1e0", "[]", "{}", "null", " 1", "1 OR 1=1", "\u0967"),
    *("9" * 30, "0x1", "+1", "01", "1,2", "\x00"),
)


def test_idor_12_what_is_no_principal_becomes_none(world: World) -> None:
    """Refused on every route, and never rounded to somebody; an absent or empty one is oneself."""
    with world.unchanged():
        for value in NO_PRINCIPALS:
            for path in (PATH, world.shelf_of("b1"), f"{PATH}/{world.mine}", f"{PATH}/search"):
                answer = world.ask(world.bob, "GET", path, principal_id=value, query="x")
                assert refusal(answer) == (422, "VALIDATION_ERROR"), value
            new = {"name": "n", "type": "plan"}
            answer = world.ask(world.bob, "POST", PATH, new, principal_id=value)
            assert refusal(answer) == (422, "VALIDATION_ERROR"), value
    assert world.names(world.bob) == world.names(world.bob, principal_id="") == ["bobs"]


def test_idor_13_the_number_of_one_thing_opens_no_other(world: World) -> None:
    """An agent's id may be a principal's too: each counts only where its own kind is asked for."""
    people = {each.id for each in world.store.principals.everyone()}
    agents = {each.id for each in world.agents.values()}
    assert people & agents
    for number in sorted(people | agents):
        as_principal = world.ask(world.bob, "GET", PATH, principal_id=number)
        as_agent = world.ask(world.bob, "GET", f"/api/v1/agents/{number}/memories")
        assert as_principal.status_code == (200 if number == world.bob.id else 403)
        own = number == world.agents["b1"].id
        assert as_agent.status_code == (200 if own else 404)
        assert CANARY not in as_principal.text + as_agent.text
        shared = world.ask(world.alice, "GET", PATH, user_id=number, agent_id=number)
        assert [it["id"] for it in shared.json()["data"]["memories"]] == [world.mine]


def test_idor_16_17_no_field_says_whose_it_is(world: World) -> None:
    """Owner, id, version and times of a memory are the server's, whatever a body or header says."""
    claims = {"principal_id": world.alice.id, "agent_id": world.agents["a1"].id, "scope": "agent"}
    claims |= {"id": world.mine, "version": 99, "created_at": "1970-01-01T00:00:00+00:00"}
    claims |= {"user_id": 1, "owner": "alice", "is_admin": True, "scope_key": "global:1"}
    headers = world.program(world.bob) | {
        "X-Principal": str(world.alice.id),
        "X-Forwarded-User": "alice",
        "X-User-Id": str(world.alice.id),
        "From": "alice@example",
    }
    body = {"name": "n", "type": "plan", "content": "x"} | claims
    made = world.http.post(PATH, json=body, headers=headers).json()["data"]["memory"]
    put = world.http.put(f"{PATH}/{made['id']}", json=body | {"content": "y"}, headers=headers)
    changed = put.json()["data"]["memory"]
    for memory, version in ((made, 1), (changed, 2)):
        assert memory["id"] == made["id"] != world.mine
        assert (memory["principal_id"], memory["agent_id"]) == (world.bob.id, None)
        assert (memory["scope"], memory["version"]) == ("global", version)
        assert memory["created_at"] == made["created_at"] > "2000"
    assert world.names(world.alice) == [f"{CANARY}-name"]


# What leaks from one to another ---------------------------------------------------------------


def test_idor_20_neighbours_of_an_id_lead_nowhere(world: World) -> None:
    """Who makes memories around those of somebody else does not find theirs by counting."""
    made = []
    for number in range(5):
        for who in (world.bob, world.alice, world.alice, world.bob):
            new = {"name": f"{CANARY if who == world.alice else 'b'}-{number}-{len(made)}"}
            answer = world.ask(who, "POST", PATH, new | {"type": "plan"})
            made.append(UUID(answer.json()["data"]["memory"]["id"]))
    own = {id for index, id in enumerate(made) if index % 4 in {0, 3}}
    guesses = {UUID(int=id.int + step) for id in own for step in (-2, -1, 1, 2)} - own
    for guess in guesses:
        answer = world.ask(world.bob, "GET", f"{PATH}/{guess}")
        assert refusal(answer) == (404, "NOT_FOUND")
    # Nothing but the moment is shared between two of them.
    assert len({id.int >> 30 & 0xFFFFFFFF for id in made}) == len(made)


def test_idor_21_a_cursor_says_only_where(world: World) -> None:
    """One of somebody else's list or search positions among one's own memories."""
    for number in range(4):
        new = {"name": f"{CANARY}-{number}", "type": "plan", "content": "nothing"}
        world.ask(world.alice, "POST", PATH, new)
    for path, query in ((PATH, {}), (f"{PATH}/search", {"query": "nothing"})):
        page = world.ask(world.alice, "GET", path, limit=1, **query).json()["data"]
        taken = world.ask(world.bob, "GET", path, limit=9, cursor=page["next_cursor"], **query)
        assert CANARY not in taken.text
        assert taken.json()["data"]["total"] == 1
    history = world.ask(world.alice, "GET", f"{PATH}/history", limit=1).json()["data"]
    taken = world.ask(world.bob, "GET", f"{PATH}/history", cursor=history["next_cursor"])
    assert CANARY not in taken.text


def test_idor_23_requests_side_by_side_cross_nowhere(world: World) -> None:
    """Identity is each request's own: no thread of the server answers with another one's text."""
    people = (world.alice, world.bob, world.carol)
    headers = {who: world.program(who) for who in people}

    def turn(number: int) -> bool:
        who = people[number % 3]
        sent = {"headers": headers[who]}
        body = {"name": f"n{number % 5}", "type": "context", "content": f"of-{who.name} {number}"}
        saved = world.http.put(PATH, json=body, **sent)
        found = world.http.get(f"{PATH}/search", params={"query": f"of {number}"}, **sent)
        listed = world.http.get(PATH, **sent)
        assert {saved.status_code, found.status_code, listed.status_code} <= {200, 201}
        told = saved.text + found.text + listed.text
        return any(f"of-{each.name} " in told for each in people if each != who)

    with ThreadPoolExecutor(9) as pool:
        assert sum(pool.map(turn, range(180))) == 0


def test_idor_25_the_work_tells_no_foreign_id_from_a_missing_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both run the same statements with the same steps, but for the few that look at the owner."""
    world.names(world.bob)  # from now on he has a token
    for verb, (method, tail, body) in BY_ID.items():
        works = []
        for id in (world.mine, NOWHERE):
            with counted(monkeypatch) as work:
                world.ask(world.bob, method, f"{PATH}/{id}{tail}", body)
            works.append(work)
        (foreign, steps), (unknown, fewer) = works
        assert [VALUES.sub("?", it) for it in foreign] == [VALUES.sub("?", it) for it in unknown]
        assert len(foreign) >= 3, verb
        assert 0 <= len(steps) - len(fewer) <= 5, verb


VALUES: Final = re.compile(r"x'[0-9a-f]*'|[0-9]{9,}")
"""Ids and times in a statement."""


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[list[str], list[int]]]:
    """Collect the statements that run in the block, and the steps that SQLite takes for them."""
    statements: list[str] = []
    steps: list[int] = []
    lend, lent = SqliteDatabase.lend, []

    def watched(database: SqliteDatabase) -> sqlite3.Connection:
        connection = lend(database)
        connection.set_trace_callback(statements.append)
        connection.set_progress_handler(lambda: steps.append(1), 1)
        lent.append(connection)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(SqliteDatabase, "lend", watched)
        yield statements, steps
    for connection in lent:
        connection.set_trace_callback(None)
        connection.set_progress_handler(None, 0)


def test_idor_26_what_is_sent_of_a_memory_leads_to_no_other(world: World) -> None:
    """Plain values under known keys; and no route of a caller's own shelves shows a foreign one."""
    for memory in world.ask(world.alice, "GET", PATH).json()["data"]["memories"]:
        assert memory.keys() == set(MEMORY_KEYS)
        assert not [it for it in memory.values() if isinstance(it, dict)]
        assert memory["tags"] == [CANARY]
    foreign = (f"all of {CANARY}", world.mine, world.hidden, world.ours, "team")
    asked = {"query": CANARY, "prompt": CANARY, "name": f"{CANARY}-name", "type": "plan"}
    for route in EVERY:
        if route.writes or route.raw:
            continue
        for id in (world.mine, "named"):
            path = filled(route, id, world.agents["b1"].id)
            answer = world.ask(world.bob, route.method, path, asked, **asked)
            assert not [it for it in foreign if it in answer.text], route.path


def test_idor_27_nothing_served_tells_where_the_store_is(world: World) -> None:
    """No address, path, key, statement or digest, in whichever answer."""
    place = Path(world.store.location)
    with closing(sqlite3.connect(place)) as direct:
        digests = [digest.hex() for (digest,) in direct.execute("SELECT digest FROM tokens")]
    assert digests
    paths = {filled(it, world.mine, world.agents["a1"].id) for it in EVERY if it.method == "GET"}
    for path in sorted(paths | {"/openapi.json", "/health/ready", "/health/live", "/nowhere"}):
        for who in (world.alice, world.bob):
            told = world.ask(who, "GET", path, name="n", type="plan", query="x", since=0).text
            inner = (str(place), place.name, "SELECT ", "scope_key", "Traceback", *digests)
            assert not [it for it in inner if it in told], path


def test_idor_28_a_proof_taken_along_proves_what_it_does_now(world: World) -> None:
    """Copied into another client, a token or session is judged anew with each request."""
    issued = world.store.tokens.issue(world.carol, access="write")
    token = {"Authorization": f"Bearer {issued.secret}"}
    answer = world.http.post("/api/v1/session", json={"token": issued.secret})
    cookie = {"Cookie": answer.headers["set-cookie"].split(";")[0]}
    with MemoryStore(str(world.http.base_url), token=issued.secret) as far:
        shelf = far.scope(acting_as=world.carol, principal=world.team)
        for take in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"store\.scope"):
                take(shelf)
        with httpx.Client(base_url=world.http.base_url, timeout=60) as elsewhere:

            def asked() -> list[int]:
                query = {"principal_id": world.team.id}
                sent = (token, cookie)
                return [elsewhere.get(PATH, params=query, headers=it).status_code for it in sent]

            assert asked() == [200, 200]
            world.store.principals.remove_member(world.team, world.carol)
            assert asked() == [403, 403]
            with pytest.raises(AccessDenied):
                shelf.list()
            world.store.tokens.revoke(issued.token.id)
            assert asked() == [401, 401]


# Groups --------------------------------------------------------------------------------------


def test_group_02_who_was_removed_grants_nothing(world: World) -> None:
    """What their agent asked for before is not carried out at their word, and not theirs to see."""
    tools = MemoryTools(world.store, acting_as=world.carol, agent=world.agents["t1"])
    call = {"action": "delete", "name": f"{CANARY}-name", "type": "plan"}
    waiting = tools.call("global_memory", call).approval
    assert waiting is not None
    path = f"/api/v1/approvals/{waiting.id}"
    assert world.ask(world.carol, "GET", path).json()["data"]["approval"]["state"] == "pending"
    world.store.principals.remove_member(world.team, world.carol)
    with world.unchanged():
        for method, tail in (("POST", "/grant"), ("POST", "/refuse"), ("GET", "")):
            answers = {
                world.ask(world.carol, method, f"/api/v1/approvals/{id}{tail}").text
                for id in (waiting.id, NOWHERE)
            }
            assert len(answers) == 1
        assert world.ask(world.carol, "GET", "/api/v1/approvals").json()["data"]["approvals"] == []
        assert not tools.call("global_memory", call, approved=True).ok
    assert world.names(world.alice, principal_id=world.team.id) == [f"{CANARY}-name"]


def test_group_03_a_batch_ends_where_the_membership_ends(world: World) -> None:
    """Each write is whole: those before the removal stay, and those after it are refused."""
    statuses = []
    for number in range(10):
        if number == 5:
            world.store.principals.remove_member(world.team, world.carol)
        new = {"name": f"n{number}", "type": "context", "content": "x"}
        query = {"principal_id": world.team.id}
        statuses.append(world.ask(world.carol, "POST", PATH, new, **query).status_code)
    assert statuses == [201] * 5 + [403] * 5
    left = world.names(world.alice, principal_id=world.team.id, type="context")
    assert left == [f"n{number}" for number in range(5)]


def test_group_04_a_stranger_is_refused_by_every_route(world: World) -> None:
    """Naming the team, a user or nobody there is: the same refusal, and nothing is done."""
    with world.unchanged():
        for route in EVERY:
            if route.family.name != "spora":
                continue
            path = filled(route, world.ours, world.agents["b1"].id)
            told = set()
            for id in (world.team.id, world.alice.id, 987_654):
                answer = world.ask(world.bob, route.method, path, {}, principal_id=id)
                assert refusal(answer) == (403, "FORBIDDEN"), route
                told.add(answer.text.replace(f"#{id}", "#"))
            assert len(told) == 1


def test_an_agent_takes_its_shelf_along(world: World) -> None:
    """Given to the team, it opens to the team; taken out of it, to its new owner alone."""
    shelf, agents = world.shelf_of("a1"), world.store.agents
    people = (world.alice, world.carol, world.bob)

    def seen() -> list[int]:
        paths = (shelf, f"{shelf}/{world.hidden}")
        asked = [{world.ask(who, "GET", it).status_code for it in paths} for who in people]
        return [status for (status,) in asked]

    assert seen() == [200, 404, 404]
    given = agents.transfer(world.agents["a1"], to=world.team, acting_as=world.alice)
    assert seen() == [200, 200, 404]
    with pytest.raises(AccessDenied):
        agents.transfer(given, to=world.carol, acting_as=world.carol)
    agents.transfer(given, to=world.alice, acting_as=world.alice)
    assert seen() == [200, 404, 404]


def test_an_unsaved_text_is_its_writers_alone(world: World) -> None:
    """On a shelf that many share, nobody sees or takes away what another has not saved."""
    team = {"principal_id": world.team.id}
    draft = {"type": "plan", "name": "half", "content": CANARY}
    assert world.ask(world.carol, "PUT", f"{PATH}/drafts/d1", draft, **team).status_code == 200
    assert CANARY not in world.ask(world.alice, "GET", f"{PATH}/drafts", **team).text
    world.ask(world.alice, "DELETE", f"{PATH}/drafts/d1", **team)
    kept = world.ask(world.carol, "GET", f"{PATH}/drafts", **team).json()["data"]["drafts"]
    assert [each["content"] for each in kept] == [CANARY]


def test_group_07_what_a_group_leaves_falls_to_nobody(world: World) -> None:
    """No route ends a group, the engine keeps an owner of memories, and who left is a stranger."""
    for path in ("/api/v1/principals", "/api/v1/groups", f"/api/v1/principals/{world.team.id}"):
        for method in ("GET", "POST", "DELETE"):
            assert refusal(world.ask(world.alice, method, path)) == (404, "NOT_FOUND")
    with pytest.raises(MemoriesError), world.store._database.write() as connection:
        connection.execute("DELETE FROM principals WHERE id = :id", {"id": world.team.id})
    for who in (world.carol, world.alice):
        world.store.principals.remove_member(world.team, who)
    with world.unchanged():
        for who in (world.alice, world.bob, world.carol):
            answer = world.ask(who, "GET", PATH, principal_id=world.team.id)
            assert refusal(answer) == (403, "FORBIDDEN")
            for path in (f"{PATH}/{world.ours}", world.shelf_of("t1")):
                assert refusal(world.ask(who, "GET", path)) == (404, "NOT_FOUND")
            assert world.names(who).count(f"{CANARY}-name") == (who == world.alice)


def test_group_08_a_memory_of_nobody_is_shown_to_nobody(world: World) -> None:
    """Where one is forced into the file, no list, search or id leads to it."""
    key = {"id": UUID(world.mine).bytes}
    orphan = "UPDATE memories SET principal_id = NULL, scope_key = 'global:' WHERE id = :id"
    with closing(sqlite3.connect(world.store.location, isolation_level=None)) as direct:
        with pytest.raises(sqlite3.IntegrityError):
            direct.execute(orphan, key)
        direct.execute("PRAGMA ignore_check_constraints = ON")
        assert direct.execute(orphan, key).rowcount == 1
    for who in (world.alice, world.bob, world.carol):
        assert world.names(who) == (["bobs"] if who == world.bob else [])
        found = world.ask(who, "GET", f"{PATH}/search", query=CANARY).json()["data"]
        assert (found["hits"], found["total"]) == ([], 0)
        for shelf in (PATH, world.shelf_of("a1")):
            answer = world.ask(who, "GET", f"{shelf}/{world.mine}")
            assert refusal(answer) == (404, "NOT_FOUND")


def test_group_10_a_freed_agent_id_opens_no_old_shelf(world: World) -> None:
    """Who gets the next agent does not get what the last one of that number kept."""
    last = world.store.agents.create("last", owner=world.alice)
    old = f"/api/v1/agents/{last.id}/memories"
    with world.store._database.write() as connection:
        connection.execute("DELETE FROM agents WHERE id = :id", {"id": last.id})
    new = world.store.agents.create("last", owner=world.bob)
    assert new.id > last.id
    for who in (world.alice, world.bob):
        assert refusal(world.ask(who, "GET", old)) == (404, "NOT_FOUND")
    assert world.names(world.bob, f"/api/v1/agents/{new.id}/memories") == []


def test_group_11_no_group_is_reached_through_another(world: World) -> None:
    """Groups hold users only, so no chain or ring of them gives anybody anything."""
    principals = world.store.principals
    inner = principals.group("inner", owner=world.bob)
    for outer, member in ((world.team, inner), (inner, world.team), (inner, inner)):
        with pytest.raises(InvalidInput, match="users only"):
            principals.add_member(outer, member)
    answer = world.ask(world.bob, "GET", PATH, principal_id=world.team.id)
    assert refusal(answer) == (403, "FORBIDDEN")
    seen = world.ask(world.bob, "GET", "/api/v1/session").json()["data"]["principals"]
    assert [each["name"] for each in seen] == ["bob", "inner"]


def test_group_12_a_twin_of_a_name_is_somebody_else(world: World) -> None:
    """Whoever is called almost like alice sees none of hers, and who calls is told by the token."""
    twins = ["Alice", "ALICE", "a\u200blice", "\u0430lice", "alice2", "ali\u0441e", "al\u00edce"]
    for name in twins:
        try:
            twin = world.store.principals.user(name)
        except InvalidInput:
            continue  # nobody can be called so
        assert twin.id != world.alice.id
        assert world.names(twin) == []
        headers = world.program(twin) | {"X-Forwarded-User": "alice"}
        told = world.http.get(PATH, headers=headers, params={"principal": "alice"})
        assert told.json() == {"data": {"memories": []}}
        answer = world.ask(twin, "GET", PATH, principal_id=world.alice.id)
        assert refusal(answer) == (403, "FORBIDDEN")
    assert world.names(world.alice) == [f"{CANARY}-name"]


# Requests ------------------------------------------------------------------------------------


def test_http_01_no_page_of_another_site_changes_anything(world: World) -> None:
    """A cookie alone, or with a wrong token, is refused by every route that changes something."""
    browser = world.browser(world.alice)
    cookie = {"Cookie": browser["Cookie"]}
    wrong = [cookie, cookie | {"X-CSRF-Token": "0" * 64}, cookie | {"X-CSRF-Token": ""}]
    of_others = world.browser(world.bob)["X-CSRF-Token"]
    wrong.append(cookie | {"X-CSRF-Token": of_others, "X-WP-Nonce": of_others})
    with world.unchanged():
        for route in EVERY:
            if not route.writes:
                continue
            path = filled(route, world.mine, world.agents["a1"].id)
            for headers in wrong:
                answer = world.http.request(route.method, path, headers=headers)
                assert answer.status_code == 403, route
        form = {"Content-Type": "application/x-www-form-urlencoded"} | cookie
        assert world.http.post(PATH, content="name=n&type=plan", headers=form).status_code == 403
    new = {"name": "n", "type": "plan"}
    assert world.http.post(PATH, json=new, headers=browser).status_code == 201


def test_http_02_a_name_that_is_not_the_servers_is_refused(world: World) -> None:
    """A page whose name was made to point here cannot read with what the browser holds."""
    headers = world.program(world.alice)
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example"):
        answer = world.http.get(PATH, headers=headers | {"Host": host})
        assert refusal(answer) == (421, "UNKNOWN_HOST")
    assert world.http.get(PATH, headers=headers).status_code == 200


def test_http_03_forbidden_and_unknown_are_one_answer(world: World) -> None:
    """For a memory, an agent, a picture, an approval and a principal alike."""
    nobody = 987_654
    path = f"{PATH}/attachments"
    made = world.http.post(path, content=PNG, headers=world.program(world.alice))
    picture = made.json()["data"]["attachment"]["id"]
    tools = MemoryTools(world.store, acting_as=world.alice, agent=world.agents["a1"])
    call = {"action": "delete", "name": f"{CANARY}-name", "type": "plan"}
    waiting = tools.call("memory", call).approval
    assert waiting is not None
    for foreign, unknown in (
        (f"{PATH}/{world.mine}", f"{PATH}/{NOWHERE}"),
        (f"{PATH}/{world.mine}", f"{PATH}/no-id"),
        (world.shelf_of("a1"), f"/api/v1/agents/{nobody}/memories"),
        (f"{world.shelf_of('a1')}/{world.hidden}", f"/api/v1/agents/{nobody}/memories/{NOWHERE}"),
        (world.shelf_of("t1"), "/api/v1/agents/no-id/memories"),
        (f"{path}/{picture}", f"{path}/{NOWHERE}"),
        (f"/api/v1/approvals/{waiting.id}", f"/api/v1/approvals/{NOWHERE}"),
    ):
        answers = [world.ask(world.bob, "GET", path) for path in (foreign, unknown)]
        assert {refusal(it) for it in answers} == {(404, "NOT_FOUND")}
        assert answers[0].text == answers[1].text
    told = [
        world.ask(world.bob, "GET", PATH, principal_id=id).text.replace(str(id), "")
        for id in (world.alice.id, nobody)
    ]
    assert told[0] == told[1]


def test_a_session_is_the_servers_own(world: World) -> None:
    """One that was there before the login, that ended, or that is a token, opens nothing."""
    browser = world.browser(world.alice)
    given = {"Cookie": f"{browser['Cookie'].partition('=')[0]}=mem_{'A' * 64}"}
    token = world.program(world.alice)["Authorization"].removeprefix("Bearer ")
    as_cookie = {"Cookie": f"{browser['Cookie'].partition('=')[0]}={token}"}
    as_token = {"Authorization": f"Bearer {browser['Cookie'].partition('=')[2]}"}
    login = world.http.post("/api/v1/session", json={"token": token}, headers=given)
    assert given["Cookie"].partition("=")[2] not in login.headers["set-cookie"]
    for headers in (given, as_cookie, as_token):
        assert refusal(world.http.get(PATH, headers=headers)) == (401, "UNAUTHENTICATED")
    assert world.http.get(PATH, headers=browser).status_code == 200
    world.http.delete("/api/v1/session", headers=browser)
    assert refusal(world.http.get(PATH, headers=browser)) == (401, "UNAUTHENTICATED")


def test_a_token_reaches_no_further_than_it_was_made_for(world: World) -> None:
    """One for reading writes on no route; one for a group opens nothing beside the group's."""
    reading = world.program(world.alice, access="read")
    with world.unchanged():
        for route in EVERY:
            if route.writes:
                path = filled(route, world.mine, world.agents["a1"].id)
                answer = world.http.request(route.method, path, headers=reading, json={})
                assert (answer.status_code, "READ_ONLY" in answer.text) == (403, True), route
    narrow = world.program(world.alice, principal=world.team)
    shown = world.http.get(PATH, headers=narrow).json()["data"]["memories"]
    assert [each["id"] for each in shown] == [world.ours]
    for path, query, refused in (
        (PATH, {"principal_id": world.alice.id}, (403, "FORBIDDEN")),
        (f"{PATH}/{world.mine}", {}, (404, "NOT_FOUND")),
        (world.shelf_of("a1"), {}, (404, "NOT_FOUND")),
    ):
        assert refusal(world.http.get(path, headers=narrow, params=query)) == refused


def test_http_07_no_other_origin_may_read(world: World) -> None:
    """Whatever asks for it, no answer lets a browser hand its content to another site."""
    headers = world.program(world.alice)
    for origin in ("null", "https://evil.example"):
        preflight = {"Origin": origin, "Access-Control-Request-Method": "GET"}
        for answer in (
            world.http.get(PATH, headers=headers | {"Origin": origin}),
            world.http.options(PATH, headers=preflight),
        ):
            assert not [it for it in answer.headers if it.startswith("access-control")]
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_http_08_no_address_holds_a_secret(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """A token in the query is none; none is logged, and none travels on as a referrer."""
    headers = world.program(world.alice)
    secret = headers["Authorization"].removeprefix("Bearer ")
    with caplog.at_level(logging.DEBUG):
        for name in ("token", "access_token", "authorization", "api_key"):
            answer = world.http.get(PATH, params={name: secret})
            assert refusal(answer) == (401, "UNAUTHENTICATED")
        answer = world.http.get(PATH, headers=headers)
    assert answer.headers["referrer-policy"] == "no-referrer"
    # What `memories serve` says: uvicorn's line for each request is off, but for who tests it.
    ours = [it for it in caplog.records if it.name.startswith(("memories_sdk", "uvicorn.error"))]
    assert len(ours) >= 5
    assert secret not in "\n".join(logging.Formatter().format(each) for each in ours)


# Search and lists ----------------------------------------------------------------------------


def test_search_06_15_figures_are_those_of_ones_own_shelf(world: World) -> None:
    """Scores, totals, counts and the cursor's page tell nothing of what others keep."""
    query = {"query": "nothing to hide"}
    paths = (PATH, f"{PATH}/search", f"{PATH}/counts", f"{PATH}/recent", f"{PATH}/changes")

    def seen() -> list[str]:
        return [world.ask(world.bob, "GET", it, limit=5, since=0, **query).text for it in paths]

    before = seen()
    for number in range(20):
        new = {"name": f"n{number}", "type": "plan", "content": "nothing to hide " * number}
        world.ask(world.alice, "POST", PATH, new)
        world.ask(world.alice, "POST", world.shelf_of("a1"), new)
    assert seen() == before


def test_search_07_08_a_shelf_is_named_whole_or_not_at_all(world: World) -> None:
    """Numbers that begin alike are two shelves, and an empty name widens to nobody else's."""
    for number in range(11):
        world.store.agents.create(f"more{number}", owner=world.bob)
    shelves = {each.id for each in world.store.agents.owned_by(world.bob)}
    assert {id // 10 for id in shelves} & {each.id for each in world.agents.values()}
    for id in sorted(shelves):
        shelf = f"/api/v1/agents/{id}/memories"
        assert world.names(world.bob, shelf) == []
        assert world.ask(world.bob, "DELETE", shelf).json() == {"data": {"deleted": 0}}
    for agent in ("", "%20", "%25", "*", "0", "-1", "null"):
        with world.unchanged():
            for method in ("GET", "DELETE"):
                answer = world.ask(world.bob, method, f"/api/v1/agents/{agent}/memories")
                assert refusal(answer) == (404, "NOT_FOUND")
    for query in ("", CANARY, "%", "all of"):
        found = world.ask(world.bob, "GET", f"{PATH}/search", query=query)
        assert CANARY not in found.text
    assert world.ask(world.bob, "DELETE", PATH).json() == {"data": {"deleted": 1}}
    assert world.names(world.alice) == [f"{CANARY}-name"]


def test_privacy_06_a_remote_store_brings_no_more_than_its_token_opens(world: World) -> None:
    """All that bob can reach with every verb's door, taken together, is bob's."""
    secret = world.program(world.bob)["Authorization"].removeprefix("Bearer ")
    with MemoryStore(str(world.http.base_url), token=secret) as far:
        assert [it.name for it in far.principals.everyone()] == ["bob"]
        shelf = far.scope(acting_as=world.bob)
        taken = [*map(repr, shelf.read().memories), repr(shelf.history()), repr(shelf.changes())]
        assert json.loads(json.dumps(taken))
        assert CANARY not in "".join(taken)
        for owner, agent in ((world.alice, None), (world.team, None), (world.alice, "a1")):
            with pytest.raises(MemoriesError):
                far.scope(acting_as=world.bob, principal=owner, agent=agent).list()
