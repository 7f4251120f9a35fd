"""A server as it runs: whom it warns, what it finishes, what it logs, and when it is ready."""

from __future__ import annotations

import logging
import shlex
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import served
from starlette.testclient import TestClient
from typer.testing import CliRunner

from memories_sdk import MemoryStore, Principal, Scope
from memories_sdk.cli.app import app
from memories_sdk.server import Limits, beside, create_app, further, openwp
from memories_sdk.server.serving import LOOPBACK, PORT, serve
from memories_sdk.server.sessions import PATH as SESSION
from memories_sdk.server.spora import ROUTES

PATH = "/api/v1/memories"


def program(store: MemoryStore, user: Principal) -> dict[str, str]:
    """Return the headers of a user's program."""
    secret = store.tokens.issue(user, access="write").secret
    return {"Authorization": f"Bearer {secret}"}


@pytest.mark.parametrize(
    ("host", "warned"),
    [
        *((LOOPBACK, False), ("127.8.9.1", False), ("::1", False), ("localhost", False)),
        *(("0.0.0.0", True), ("::", True), ("192.168.1.5", True), ("memories.example", True)),  # noqa: S104
    ],
)
def test_an_address_that_others_reach_is_warned_of(
    store: MemoryStore,
    alice: Principal,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    host: str,
    *,
    warned: bool,
) -> None:
    """Loudly, at the start, and naming what could be read on the way; this machine is not."""
    store.tokens.issue(alice)
    listened: list[str] = []
    monkeypatch.setattr("uvicorn.run", lambda _, **options: listened.append(options["host"]))
    serve(store, host=host)
    said = capsys.readouterr().err
    assert listened == [host]
    assert (f"WARNING: {host} can be reached from other machines" in said) is warned
    assert ("tokens and memories can be read on the way" in said) is warned


def test_it_listens_to_this_machine_unless_told_otherwise(
    store: MemoryStore, alice: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default is safe, and no line of the framework's own names what was asked for."""
    store.tokens.issue(alice)
    seen: dict[str, Any] = {}
    monkeypatch.setattr("uvicorn.run", lambda _, **options: seen.update(options))
    serve(store)
    assert (seen["host"], seen["access_log"], seen["server_header"]) == (LOOPBACK, False, False)


def commands_of(document: str) -> list[list[str]]:
    """Return the words of each command in the first block of a document."""
    text = (Path(__file__).parent.parent / "docs" / document).read_text("utf-8")
    block = text.partition("```sh\n")[2].partition("```")[0].replace("\\\n", "")
    return [words for line in block.splitlines() if (words := shlex.split(line))]


@pytest.mark.engines("sqlite-file")
def test_the_first_steps_of_the_documents_lead_there(store: MemoryStore) -> None:
    """Every command of the page works as it stands there, for who has an empty store."""
    secret, ran = "", 0
    with ExitStack() as ending:
        url = ""
        for program, *words in commands_of("serving.md"):
            if words == ["serve"]:
                url = ending.enter_context(served(store)).url
            elif program == "memories":
                ids = [str(each.id) for each in store.tokens.all()]
                given = [ids[0] if each == "ID" else each for each in words]
                done = CliRunner().invoke(app, given, env={"MEMORIES_URL": store.location})
                assert done.exit_code == 0, done.output
                secret = done.stdout.strip() if "create" in words else secret
            elif program == "curl":
                (_, header, address), body = words[:3], words[4:] or None
                name, _, value = header.replace("$TOKEN", secret).partition(": ")
                address = address.replace(f"http://{LOOPBACK}:{PORT}", url)
                sent = {"headers": {name: value}, "timeout": 60}
                sent |= {"content": body[0]} if body else {}
                answer = httpx.request("POST" if body else "GET", address, **sent)
                assert answer.is_success, answer.text
                assert "alice" in answer.text or "tone" in answer.text
                ran += 1
        assert ran == 4
        assert httpx.get(address, **sent).status_code == 401


@pytest.mark.engines("sqlite-file")
def test_what_is_under_way_is_finished(
    store: MemoryStore, alice: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told to stop in the middle of a request, it answers that one first."""
    headers = program(store, alice)
    under_way, go_on = threading.Event(), threading.Event()

    def slow(_: Scope) -> dict[str, int]:
        under_way.set()
        assert go_on.wait(60)
        return {"plan": 7}

    monkeypatch.setattr(Scope, "counts", slow)
    with served(store) as server, ThreadPoolExecutor() as pool:
        url = f"{server.url}{PATH}/counts"
        answer = pool.submit(httpx.get, url, headers=headers, timeout=60)
        assert under_way.wait(60)
        server.should_exit = True
        assert server.stopping.wait(60)
        go_on.set()
        assert answer.result(60).json() == {"data": {"counts": {"plan": 7}}}


def test_it_is_ready_as_long_as_the_store_answers(store: MemoryStore, alice: Principal) -> None:
    """Without its database the process lives and says that it cannot serve; nobody is told more."""
    with TestClient(create_app(store, authenticate=lambda _: alice)) as http:
        ready, live = "/health/ready", "/health/live"
        assert http.get(ready).json() == http.get(live).json() == {"status": "ok"}
        store.close()
        gone = http.get(ready)
        assert (gone.status_code, gone.json()) == (503, {"status": "unavailable"})
        assert http.get(live).json() == {"status": "ok"}
        answer = http.get(PATH)
        assert answer.status_code == 503
        assert (
            answer.json()["error"]["message"] == "The store is not available; nothing was written."
        )


def test_no_log_holds_what_was_sent(
    store: MemoryStore, alice: Principal, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the route, and however it ends: no body, query, name, id, header or token."""
    canary = "canary-4711"
    id = str(store.scope(acting_as=alice).create("n", "plan", "x").id)
    agent = store.agents.create("writer", owner=alice).id
    headers = program(store, alice)
    limits = Limits(rate=0, failures=10**6)
    facts = openwp.Facts(None).routes()
    text = dict.fromkeys(
        ("name", "key", "content", "value", "summary", "query", "prompt", "find", "token", "text"),
        canary,
    )
    with (
        caplog.at_level(logging.DEBUG),
        TestClient(create_app(store, limits=limits), raise_server_exceptions=False) as http,
    ):
        for route in (*further.ROUTES, *beside.ROUTES, *facts, *ROUTES):
            path = (route.family.prefix + route.path).replace("{agent_id}", str(agent))
            for one in (id, canary):
                http.request(
                    route.method,
                    path.replace("{id}", one),
                    params={"name": canary, "query": canary, "cursor": canary, "type": "plan"},
                    json={"type": "plan", **text},
                    headers=headers | {"Idempotency-Key": canary, "X-Memories-Source": canary},
                )
        http.post(f"/api/v1{SESSION}", json={"token": canary})
        http.get(PATH, headers={"Authorization": f"Bearer {canary}", "Host": f"{canary}.example"})
        http.get(f"/{canary}")
    # The client's own log names addresses; the server's must not.
    logged = [it for it in caplog.records if it.name.startswith(("memories_sdk", "uvicorn"))]
    lines = "\n".join(logging.Formatter().format(each) for each in logged)
    assert len(logged) > 2 * len(further.ROUTES)
    secret = headers["Authorization"].removeprefix("Bearer ")
    assert not [each for each in (canary, id, secret) if each in lines]
