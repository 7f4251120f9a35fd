"""What the server promises: tools agree, nothing acknowledged is lost, nobody gets around it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from served import served
from starlette.testclient import TestClient

from memories_sdk import MemoryStore, MemoryTools, Principal, ToolResult
from memories_sdk.policy import APPROVAL
from memories_sdk.server import Limits, beside, create_app, further, openwp
from memories_sdk.server.metrics import meter
from memories_sdk.server.spora import ROUTES

PATH = "/api/v1/memories"


def program(store: MemoryStore, user: Principal, **rights: Any) -> dict[str, str]:
    """Return the headers of a user's program."""
    secret = store.tokens.issue(user, **{"access": "write"} | rights).secret
    return {"Authorization": f"Bearer {secret}"}


# Names and types of a small world, so that doors meet at the same rows.
NAMES = st.sampled_from(["a", "b", "é", "x/y"])
TYPES = st.sampled_from(["plan", "context"])
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
ACTS = st.lists(
    st.tuples(st.sampled_from(["tool save", "tool replace", "tool delete", "create", "update",
                               "replace", "delete"]), NAMES, TYPES, TEXTS),
    max_size=12,
)  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "owner"), [("memory", "alice"), ("global_memory", "alice"), ("global_memory", "lab")]
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS)
def test_tool_and_server_agree_on_every_row(
    tool: str, owner: str, acts: list[tuple[str, str, str, str]]
) -> None:
    """Whatever was done through either door, both show the same rows, and so does the scope.

    On an agent's own shelf, on its owner's, and on that of a group which owns it.
    """
    with MemoryStore(":memory:") as store:
        alice = store.principals.user("alice")
        lab = store.principals.group("lab", members=[alice])
        whose = {"alice": alice, "lab": lab}[owner]
        agent = store.agents.create("writer", owner=whose)
        tools = MemoryTools(store, acting_as=alice, agent=agent)
        own = tool == "memory"
        path = f"/api/v1/agents/{agent.id}/memories" if own else PATH
        with TestClient(create_app(store, authenticate=lambda _: alice)) as http:
            http.params = {"principal_id": whose.id}
            for act in acts:
                do(partial(tools.call, tool), http, path, *act)
            rows = http.get(path).json()["data"]["memories"]
            listed = tools.call(tool, {"action": "list"}).text
            heads = re.findall(r"^- \[(.*?)\] \[(.*?)\]", listed, re.MULTILINE)
            assert heads == [(row["name"], row["type"]) for row in rows]
            for row in rows:
                said = tools.call(tool, {"action": "get", "name": row["name"], "type": row["type"]})
                assert said.text.endswith(f"\n\n{row['content'] or ''}")
            kept = store.scope(acting_as=alice, principal=whose, agent=agent if own else None)
            assert [str(each.id) for each in kept.list()] == [row["id"] for row in rows]


def do(
    tool: Callable[..., ToolResult],
    http: TestClient,
    path: str,
    act: str,
    name: str,
    type: str,
    text: str,
) -> None:
    """Do one thing through one of the doors; refusals are part of life."""
    named = {"name": name, "type": type}
    if act.startswith("tool"):
        more = {"content": text, "find": text or "-", "new_text": "z"}
        call = {"action": act.split()[1], **named, **more}
        tool(call, approved=True)
        return
    if act == "create":
        answer = http.post(path, json=named | {"content": text})
    else:
        shown = http.get(f"{path}/named", params=named)
        if shown.status_code == 404:
            return
        one = f"{path}/{shown.json()['data']['memory']['id']}"
        answer = {
            "update": lambda: http.put(one, json={"name": text or "q", "content": text}),
            "replace": lambda: http.post(f"{one}/replace", json={"find": "z", "new_text": text}),
            "delete": lambda: http.delete(one),
        }[act]()
    assert answer.status_code < 500


FACTS = st.lists(
    st.tuples(
        st.sampled_from(["remember_memory", "forget_memory", "POST", "DELETE"]),
        st.sampled_from(["preference", "fact"]),
        st.sampled_from(["tone", "home-town"]),
        TEXTS.filter(str.strip),
    ),
    max_size=12,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=FACTS)
def test_tool_and_server_agree_on_every_fact(acts: list[tuple[str, str, str, str]]) -> None:
    """The routes of OpenWP show what its tools wrote, and the other way round."""
    with MemoryStore(":memory:") as store:
        alice = store.principals.user("alice")
        tools = MemoryTools(store, acting_as=alice, policy=APPROVAL)
        with TestClient(create_app(store, authenticate=lambda _: alice)) as http:
            for act, type, key, value in acts:
                fact = {"type": type, "key": key, "value": value}
                if act in {"POST", "DELETE"}:
                    assert http.request(act, "/openwp/v1/memory", json=fact).status_code != 500
                else:
                    tools.call(act, fact, approved=True)
            rows = http.get("/openwp/v1/memory").json()["items"]
        listed = tools.call("list_memory", {}).data
        assert listed is not None
        assert listed["items"] == rows
        kept = store.scope(acting_as=alice).list()
        assert {each.name for each in kept} == {row["key"] for row in rows}


@contextmanager
def serving(place: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `memories serve` at a port of its own choice; give it and its address."""
    command = [sys.executable, "-m", "memories_sdk", "serve", "--store", str(place), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = (re.search(r"http://[0-9.]+:[0-9]+", line) for line in process.stderr)
        base = next((match[0] for match in found if match), None)
        # A log that nobody reads would hold the server up once the pipe is full.
        drain = threading.Thread(target=deque, args=(process.stderr, 0))
        drain.start()
        try:
            assert base is not None, "the server did not start"
            yield process, base
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(timeout=60)
            drain.join()


class Writers:
    """Clients that write until the server goes away, and remember what it answered for."""

    def __init__(self, headers: dict[str, str]) -> None:
        self._headers = headers
        self._enough = threading.Semaphore(0)
        self.acknowledged: list[str] = []
        self.refused: set[int] = set()

    def run(self, base: str, meanwhile: Callable[[], object]) -> None:
        """Write from four threads; after twenty answers do MEANWHILE, and wait for the end."""
        threads = [threading.Thread(target=self._write, args=(base, each)) for each in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            assert self._enough.acquire(timeout=60)
        meanwhile()
        for thread in threads:
            thread.join()

    def _write(self, base: str, worker: int) -> None:
        with httpx.Client(base_url=base, headers=self._headers, timeout=30) as http:
            for number in range(10_000):
                name = f"n-{worker}-{number}"
                try:
                    answer = http.post(PATH, json={"name": name, "type": "plan"})
                except httpx.HTTPError:
                    return
                if answer.status_code == 201:
                    self.acknowledged.append(name)
                    self._enough.release()
                else:
                    self.refused.add(answer.status_code)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_every_acknowledged_write_survives_a_restart(tmp_path: Path, sign: signal.Signals) -> None:
    """Told to stop it finishes what is under way; killed, it loses nothing it answered for."""
    place = tmp_path / "memories.db"
    with MemoryStore(place) as store:
        headers = program(store, store.principals.user("alice"))
    writers = Writers(headers)
    for _ in range(2):
        with serving(place) as (process, base):
            writers.run(base, partial(process.send_signal, sign))
    with serving(place) as (_, base):
        found = httpx.get(base + PATH, headers=headers, params={"fields": "name"}, timeout=60)
        names = {each["name"] for each in found.json()["data"]["memories"]}
    assert set(writers.acknowledged) <= names
    # What was sent again under a name that was stored already is refused, and nothing else is.
    assert writers.refused <= {409}
    with MemoryStore(place) as store:
        assert store.verify() == []


def world(store: MemoryStore) -> tuple[Principal, Principal, str, str]:
    """Return alice and bob, an id of alice's and an id of her agent's memory."""
    alice, bob = store.principals.user("alice"), store.principals.user("bob")
    mine = store.scope(acting_as=alice).create("secret", "plan", "canary-4711")
    agent = store.agents.create("a1", owner=alice)
    store.agents.create("b1", owner=bob)
    other = store.scope(acting_as=alice, agent=agent).create("secret", "plan", "canary-4711")
    return alice, bob, str(mine.id), str(other.id)


BODIES: dict[str, Any] = {
    "PUT": {"content": "stolen"},
    "POST": {"find": "canary", "new_text": "x"},
}


@pytest.fixture
def http(store: MemoryStore) -> Iterator[TestClient]:
    """A server for programs, without limits."""
    store.tokens.issue(store.principals.user("keeper"))
    with TestClient(create_app(store, limits=Limits(rate=0, failures=10**6))) as client:
        yield client


def test_an_id_of_somebody_else_is_an_id_of_nobody(store: MemoryStore, http: TestClient) -> None:
    """Every route by id answers to a foreign id exactly as to one that does not exist."""
    alice, bob, mine, other = world(store)
    agent = store.agents.get("a1", owner=alice).id
    before = [len(store.scope(acting_as=alice).history()), mine]
    for route in [route for route in ROUTES if "{id}" in route.path]:
        answers = []
        for id in (mine, other, "01a22f0c-f724-7322-853f-d1424b84dda0"):
            path = f"/api/v1{route.path}".replace("{id}", id).replace("{agent_id}", str(agent))
            answer = http.request(
                route.method, path, json=BODIES.get(route.method), headers=program(store, bob)
            )
            answers.append((answer.status_code, answer.text))
        assert len(set(answers)) == 1, route.path
        assert answers[0][0] == 404
        assert "canary" not in answers[0][1]
    for tail in ("history", "transfer", "restore", "move"):
        method = "GET" if tail == "history" else "POST"
        texts = [
            http.request(method, f"{PATH}/{id}/{tail}", headers=program(store, bob), json={}).text
            for id in (mine, "01a22f0c-f724-7322-853f-d1424b84dda0")
        ]
        assert texts[0] == texts[1]
    assert [len(store.scope(acting_as=alice).history()), mine] == before


def test_an_id_is_valid_on_its_own_shelf_alone(store: MemoryStore, http: TestClient) -> None:
    """A global id is nothing on the agent's route, and the other way round, for the owner too."""
    alice, _, mine, other = world(store)
    agent = store.agents.get("a1", owner=alice)
    second = store.agents.create("a2", owner=alice)
    headers = program(store, alice)
    for path in (
        f"/api/v1/agents/{agent.id}/memories/{mine}",
        f"/api/v1/agents/{second.id}/memories/{other}",
        f"{PATH}/{other}",
    ):
        assert http.get(path, headers=headers).status_code == 404
        assert http.delete(path, headers=headers).status_code == 404


def test_a_spoofed_principal_reaches_nothing(store: MemoryStore, http: TestClient) -> None:
    """Neither in the query, nor in the body, nor as a header does a caller become another."""
    alice, bob, mine, _ = world(store)
    headers = program(store, bob)
    for method, path in (("GET", PATH), ("POST", PATH), ("GET", f"{PATH}/{mine}")):
        answer = http.request(method, path, params={"principal_id": alice.id}, headers=headers)
        assert answer.status_code == 403
    body = {"name": "n", "type": "plan", "principal_id": alice.id, "agent_id": 1, "scope": "agent",
            "id": mine, "version": 99, "created_at": "x"}  # fmt: skip
    spoof = headers | {"X-Principal": str(alice.id), "X-Forwarded-User": "alice"}
    made = http.post(PATH, json=body, headers=spoof).json()["data"]["memory"]
    assert (made["principal_id"], made["agent_id"], made["version"]) == (bob.id, None, 1)
    assert made["id"] != mine
    put = http.put(f"{PATH}/{made['id']}", json=body, headers=headers).json()["data"]["memory"]
    assert put["principal_id"] == bob.id


def test_who_leaves_a_group_leaves_with_nothing(
    store: MemoryStore, http: TestClient, alice: Principal, bob: Principal, lab: Principal
) -> None:
    """From the next request on: by token, by session, on the group's and its agents' shelves."""
    crew = store.agents.create("crew", owner=lab)
    everything = program(store, bob)
    only_lab = program(store, bob, principal=lab)
    session = http.post(
        "/api/v1/session", json={"token": everything["Authorization"].removeprefix("Bearer ")}
    )
    browser = {"Cookie": session.headers["set-cookie"].split(";")[0]}
    asked: list[Callable[[], httpx.Response]] = [
        lambda: http.get(PATH, params={"principal_id": lab.id}, headers=everything),
        lambda: http.get(PATH, params={"principal_id": lab.id}, headers=browser),
        lambda: http.get(PATH, headers=only_lab),
        lambda: http.get(f"/api/v1/agents/{crew.id}/memories", headers=everything),
    ]
    assert [ask().status_code for ask in asked] == [200, 200, 200, 200]
    store.principals.remove_member(lab, bob)
    assert [ask().status_code for ask in asked] == [403, 403, 403, 404]
    assert alice in store.principals.roles(lab)


def test_a_cursor_of_somebody_else_shows_only_ones_own(
    store: MemoryStore, http: TestClient
) -> None:
    """It positions inside the caller's own rows, and tells nothing of the other's."""
    alice, bob, _, _ = world(store)
    store.scope(acting_as=alice).create("z", "plan", "canary-4711")
    store.scope(acting_as=bob).create("own", "plan", "x")
    page = http.get(PATH, params={"limit": 1}, headers=program(store, alice)).json()["data"]
    assert page["next_cursor"]
    params = {"limit": 5, "cursor": page["next_cursor"]}
    answer = http.get(PATH, params=params, headers=program(store, bob))
    assert "canary" not in answer.text
    assert {each["name"] for each in answer.json()["data"]["memories"]} <= {"own"}


def test_a_token_never_travels_in_an_address(store: MemoryStore, http: TestClient) -> None:
    """One in the query is no token: addresses end in logs and histories."""
    alice, _, _, _ = world(store)
    secret = program(store, alice)["Authorization"].removeprefix("Bearer ")
    for name in ("token", "access_token", "authorization"):
        assert http.get(PATH, params={name: secret}).status_code == 401


def test_the_tables_stay_when_the_server_goes(tmp_path: Path) -> None:
    """Without server, widgets and all their packages the store is whole; coming back finds it."""
    place = tmp_path / "memories.db"
    with MemoryStore(place) as store:
        alice = store.principals.user("alice")
        headers = program(store, alice)
        with TestClient(create_app(store)) as http:
            http.post(PATH, json={"name": "n", "type": "plan", "content": "x"}, headers=headers)
    script = """
import sys
for name in ("fastapi", "starlette", "uvicorn", "httpx", "ipywidgets", "anywidget", "IPython"):
    sys.modules[name] = None
from memories_sdk import MemoryStore
with MemoryStore(sys.argv[1]) as store:
    shelf = store.scope(acting_as=store.principals.user("alice"))
    print(shelf.get("n", "plan").content, len(store.tokens.all()), store.verify())
    shelf.save("n", "plan", "y")
try:
    import memories_sdk.server
except ImportError as error:
    print(error.extra)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(place)],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert done.stdout.split("\n")[:2] == ["x 1 []", "server"]
    with MemoryStore(place) as store, TestClient(create_app(store)) as http:
        (row,) = http.get(PATH, headers=headers).json()["data"]["memories"]
        assert (row["content"], row["version"]) == ("y", 2)


def test_the_log_line_is_json(
    store: MemoryStore, alice: Principal, caplog: pytest.LogCaptureFixture
) -> None:
    """A machine reads it: method, pattern of the path, status, milliseconds, client."""
    heard: list[dict[str, object]] = []
    watchers = [lambda **facts: heard.append(facts)]
    app = create_app(store, authenticate=lambda _: alice, watchers=watchers)
    with caplog.at_level("INFO", "memories_sdk.server"), TestClient(app) as http:
        http.get(PATH)
    (line,) = [json.loads(it.message) for it in caplog.records if it.name == "memories_sdk.server"]
    assert line.keys() == {"method", "route", "status", "ms", "client"}
    assert (heard[0]["route"], heard[0]["status"]) == (PATH, 200)


def test_no_cookie_alone_changes_anything(store: MemoryStore, http: TestClient) -> None:
    """A form of another site can make a browser send the cookie: to no route that writes."""
    alice, _, mine, _ = world(store)
    agent = store.agents.get("a1", owner=alice).id
    secret = program(store, alice)["Authorization"].removeprefix("Bearer ")
    session = http.post("/api/v1/session", json={"token": secret})
    cookie = {"Cookie": session.headers["set-cookie"].split(";")[0]}
    before = len(store.scope(acting_as=alice).history())
    facts = openwp.Facts(None).routes()
    for route in (*ROUTES, *further.ROUTES, *beside.ROUTES, *facts):
        path = route.family.prefix + route.path
        path = path.replace("{agent_id}", str(agent)).replace("{id}", mine)
        for sent in (cookie, cookie | {"X-CSRF-Token": "0" * 64}):
            answer = http.request(route.method, path, headers=sent)
            # Reading needs no repeated token, except where OpenWP asked for it even then.
            refused = route.method != "GET" or route.family.name == "openwp"
            assert (answer.status_code == 403) is refused, (route.method, path)
    assert len(store.scope(acting_as=alice).history()) == before


def test_a_slow_body_is_not_waited_for(store: MemoryStore, alice: Principal) -> None:
    """A client that never finishes its request does not hold a place for long."""
    headers = program(store, alice)["Authorization"]
    with (
        served(store, limits=Limits(seconds=0.3)) as server,
        socket.create_connection(server.place, timeout=30) as line,
    ):
        head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: {headers}\r\n"
        line.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    assert b" 408 " in answer
    assert b"REQUEST_TIMEOUT" in answer


def test_figures_go_to_whoever_watches(store: MemoryStore, alice: Principal) -> None:
    """With OpenTelemetry set up, each answer is counted by method, route and status."""
    reader = InMemoryMetricReader()
    watch = meter(MeterProvider(metric_readers=[reader]))
    app = create_app(store, authenticate=lambda _: alice, watchers=[watch])
    with TestClient(app) as http:
        http.get(PATH)
        http.get(f"{PATH}/x")
    found = json.loads(reader.get_metrics_data().to_json())
    scopes = found["resource_metrics"][0]["scope_metrics"]
    (ours,) = [each for each in scopes if each["scope"]["name"] == "memories_sdk.server"]
    (figure,) = ours["metrics"]
    assert figure["name"] == "http.server.request.duration"
    points = [point["attributes"] for point in figure["data"]["data_points"]]
    assert [(it["http.route"], it["http.response.status_code"]) for it in points] == [
        (PATH, 200),
        (f"{PATH}/{{id}}", 404),
    ]
