"""Plugins that take part in the start: types, the opened store, routes. The example is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from zipfile import ZipFile

import pytest
from fastapi import APIRouter, FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from memories_sdk import (
    DOCUMENTS,
    FACTS,
    MemoriesError,
    MemoryStore,
    Principal,
    StorageError,
    Vocabulary,
    hooks,
)
from memories_sdk.errors import PluginFailed
from memories_sdk.hooks import Plugins, hookimpl
from memories_sdk.server import Caller, Limits, create_app

EXAMPLE = Path(__file__).parent.parent / "examples" / "plugin"
RECIPE = {"name": "soup", "text": "Water."}
MADE = "/plugins/recipes/"
COUNT = "/plugins/recipes/count"

pytestmark = pytest.mark.engines("sqlite-memory")


def install(monkeypatch: pytest.MonkeyPatch, plugin: object) -> None:
    """Pretend that an installed package brings a plugin."""
    monkeypatch.setattr(hooks, "_installed", lambda: (("mine", plugin),))


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages into which the example is installed, from the wheel of its project."""
    source = tmp_path_factory.mktemp("source") / "plugin"
    shutil.copytree(EXAMPLE, source)
    built = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "."]
    subprocess.run(built, cwd=source, check=True, capture_output=True)
    folder = tmp_path_factory.mktemp("packages")
    [wheel] = source.glob("*.whl")
    with ZipFile(wheel) as opened:
        opened.extractall(folder)
    return folder


@pytest.fixture
def example(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the example one of the installed packages, for one test."""
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setattr(hooks, "_installed", hooks._installed.__wrapped__)  # found once a process
    monkeypatch.delitem(sys.modules, "memories_recipes", raising=False)


@pytest.fixture
def cookbook(request: pytest.FixtureRequest) -> Iterator[MemoryStore]:
    """A store that the example's plugin has heard of."""
    request.getfixturevalue("example")
    with MemoryStore(":memory:") as store:
        yield store


@contextmanager
def calling(
    store: MemoryStore, *, access: str = "write", **options: object
) -> Iterator[TestClient]:
    """Talk to the server of a store as the cook."""
    secret = store.tokens.issue(store.principals.user("cook"), access=access).secret
    headers = {"Authorization": f"Bearer {secret}"}
    with TestClient(create_app(store, **options), headers=headers) as client:
        yield client


def code(answer: object) -> tuple[int, str]:
    """Return the status and the code of a refusal."""
    return answer.status_code, answer.json()["error"]["code"]


def test_an_installed_package_takes_part_in_a_program_of_its_own(packages: Path) -> None:
    """A fresh interpreter finds the plugin by its entry point: types and cook are there."""
    program = (
        "from memories_sdk import MemoryStore\n"
        "with MemoryStore(':memory:') as store:\n"
        "    print(store.plugins.names(), store.principals.everyone()[0], len(store.vocabularies))"
    )
    path = os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "['secrets', 'recipes'] user:cook 3\n"


def test_the_example_hears_of_both_boots(cookbook: MemoryStore) -> None:
    """Its cook is there once the store is open; its routes are there once the server is made."""
    assert cookbook.plugins.names() == ["secrets", "recipes"]
    [cook] = cookbook.principals.everyone()
    assert cook.name == "cook"
    with calling(cookbook) as client:
        assert client.post(MADE, json=RECIPE).json() == {"version": 1}
        assert client.get(COUNT).json() == {"recipe": 1}
        assert "/count" in client.get("/plugins/recipes/openapi.json").json()["paths"]
    [made] = cookbook.scope(acting_as=cook).history()
    assert (made.actor, made.source) == ("user:cook", "recipes")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
@pytest.mark.parametrize("path", [COUNT, MADE, "/plugins/recipes/openapi.json", f"{MADE}nothing"])
def test_a_stranger_learns_nothing_of_a_plugin(
    cookbook: MemoryStore, headers: dict[str, str], path: str
) -> None:
    """Who proves nothing gets the server's refusal, whatever is asked for."""
    cookbook.tokens.issue(cookbook.principals.user("cook"))
    with TestClient(create_app(cookbook)) as client:
        assert code(client.get(path, headers=headers)) == (401, "UNAUTHENTICATED")
        assert code(client.post(path, json=RECIPE, headers=headers)) == (401, "UNAUTHENTICATED")


def test_who_may_only_read_writes_nothing_through_a_plugin(cookbook: MemoryStore) -> None:
    """A token for reading reaches the reading route alone."""
    with calling(cookbook, access="read") as client:
        assert code(client.post(MADE, json=RECIPE)) == (403, "READ_ONLY")
        assert client.get(COUNT).json() == {"recipe": 0}


def test_a_browser_repeats_its_token_to_a_plugin_too(cookbook: MemoryStore) -> None:
    """What a page of another site could make a browser send is refused; reading is not."""
    secret = cookbook.tokens.issue(cookbook.principals.user("cook"), access="write").secret
    with TestClient(create_app(cookbook, secure_cookie=False)) as browser:
        found = browser.post("/api/v1/session", json={"token": secret}).json()["data"]
        assert browser.get(COUNT).json() == {"recipe": 0}
        assert code(browser.post(MADE, json=RECIPE)) == (403, "CSRF_TOKEN_MISSING")
        wrong = {"X-CSRF-Token": "wrong"}
        assert code(browser.post(MADE, json=RECIPE, headers=wrong)) == (403, "CSRF_INVALID")
        right = {"X-CSRF-Token": found["csrf_token"]}
        assert browser.post(MADE, json=RECIPE, headers=right).status_code == 201


def test_a_hosts_user_writes_to_a_plugin_from_the_hosts_own_site(cookbook: MemoryStore) -> None:
    """The word of the host application counts, and its rule against other sites holds."""
    cook = cookbook.principals.user("cook")
    with TestClient(create_app(cookbook, authenticate=lambda _: cook)) as client:
        evil = {"Origin": "https://evil.example"}
        assert code(client.post(MADE, json=RECIPE, headers=evil)) == (403, "CSRF_INVALID")
        assert client.post(MADE, json=RECIPE).status_code == 201


def test_a_token_for_a_group_stays_in_it(cookbook: MemoryStore) -> None:
    """The caller that a plugin is told of names the one principal that the token is for."""
    cook = cookbook.principals.user("cook")
    kitchen = cookbook.principals.group("kitchen", members=[cook])
    secret = cookbook.tokens.issue(cook, principal=kitchen, access="write").secret
    headers = {"Authorization": f"Bearer {secret}"}
    with TestClient(create_app(cookbook), headers=headers) as client:
        assert client.post(MADE, json=RECIPE).status_code == 201
    assert cookbook.scope(acting_as=cook).list().total == 0
    assert cookbook.scope(acting_as=cook, principal=kitchen).list().total == 1


def test_a_plugin_gets_no_larger_body_than_the_server(cookbook: MemoryStore) -> None:
    """What one server bears holds below its plugins' paths."""
    with calling(cookbook, limits=Limits(body=100)) as client:
        large = {"name": "soup", "text": "x" * 100}
        assert code(client.post(MADE, json=large)) == (413, "REQUEST_TOO_LARGE")
        assert client.post(MADE, json=RECIPE).status_code == 201


def test_a_refusal_of_the_store_is_one_of_the_route(cookbook: MemoryStore) -> None:
    """A plugin translates no error: names that are too long, and paths that there are not."""
    with calling(cookbook) as client:
        nameless = {"name": " ", "text": ""}
        assert code(client.post(MADE, json=nameless)) == (422, "VALIDATION_ERROR")
        assert code(client.get(f"{MADE}nothing")) == (404, "NOT_FOUND")


class Routes:
    """A plugin that adds what its test says."""

    def __init__(self, add: Callable[[FastAPI, Callable[[Request], Caller]], object]) -> None:
        self.add = add

    @hookimpl
    def routes_registering(self, app: FastAPI, caller: Callable[[Request], Caller]) -> None:
        """Add it."""
        self.add(app, caller)


def add_a_router(app: FastAPI, caller: Callable[[Request], Caller]) -> None:
    """Add a route as FastAPI groups them."""
    router = APIRouter()
    router.add_api_route("/", lambda: "inside", methods=["GET", "POST"])
    app.include_router(router, prefix="/it")
    del caller


def add_an_application(app: FastAPI, caller: Callable[[Request], Caller]) -> None:
    """Add a whole application."""

    def inside(request: Request) -> PlainTextResponse:
        return PlainTextResponse(caller(request).user.name)

    app.mount("/it", Starlette(routes=[Route("/", inside, methods=["GET", "POST"])]))


@pytest.mark.parametrize("add", [add_a_router, add_an_application])
def test_no_kind_of_route_gets_around_the_gate(
    store: MemoryStore, bob: Principal, add: Callable[..., None]
) -> None:
    """However a plugin adds a route, the caller is proved before it runs."""
    store.plugins.register(Routes(add), name="mine")
    reader = {"Authorization": f"Bearer {store.tokens.issue(bob).secret}"}
    with TestClient(create_app(store)) as client:
        assert code(client.get("/plugins/mine/it/")) == (401, "UNAUTHENTICATED")
        assert client.get("/plugins/mine/it/", headers=reader).status_code == 200
        assert code(client.post("/plugins/mine/it/", headers=reader)) == (403, "READ_ONLY")


def test_a_plugin_opens_no_socket(store: MemoryStore, bob: Principal) -> None:
    """A page of any site may open one with the browser's cookies, and nothing is repeated."""

    async def talk(socket: object) -> None:
        await socket.accept()

    def add(app: FastAPI, caller: object) -> None:
        del caller
        app.router.routes.append(WebSocketRoute("/talk", talk))

    store.plugins.register(Routes(add), name="mine")
    headers = {"Authorization": f"Bearer {store.tokens.issue(bob).secret}"}
    with (
        TestClient(create_app(store), headers=headers) as client,
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/plugins/mine/talk"),
    ):
        pass


def test_what_a_plugin_did_not_foresee_says_nothing(store: MemoryStore, bob: Principal) -> None:
    """The client gets the common envelope, without the words of the error."""

    def add(app: FastAPI, caller: object) -> None:
        del caller
        app.add_api_route("/", lambda: {}["index"])

    store.plugins.register(Routes(add), name="mine")
    headers = {"Authorization": f"Bearer {store.tokens.issue(bob).secret}"}
    with TestClient(create_app(store), headers=headers, raise_server_exceptions=False) as client:
        answer = client.get("/plugins/mine/")
        assert code(answer) == (500, "INTERNAL_SERVER_ERROR")
        assert "index" not in answer.text


@pytest.mark.usefixtures("example")
def test_chosen_vocabularies_stand_as_they_are() -> None:
    """Plugins offer types beside the usual ones, and none to a store that chose its own."""
    with MemoryStore(":memory:") as store, MemoryStore(":memory:", vocabularies=[FACTS]) as chosen:
        assert [each.name for each in store.vocabularies] == ["documents", "facts", "recipes"]
        assert chosen.vocabularies == (FACTS,)


def test_without_plugins_the_types_are_documents_and_facts(store: MemoryStore) -> None:
    """Nothing changes for who installed nothing."""
    assert store.vocabularies == (DOCUMENTS, FACTS)


@pytest.mark.usefixtures("example")
def test_a_store_behind_a_server_has_plugins_on_both_sides(
    address: str, store: MemoryStore
) -> None:
    """The plugin's type crosses the line; the cook, whom a client cannot make, is the server's."""
    cook = store.principals.user("cook")
    secret = store.tokens.issue(cook, access="write").secret
    with MemoryStore(address, token=secret) as far:
        assert far.plugins.names() == ["secrets", "recipes"]
        far.scope(acting_as=cook).save("soup", "recipe", "Water.")
    assert store.scope(acting_as=cook).get("soup", "recipe").content == "Water."
    bob = store.tokens.issue(store.principals.user("bob")).secret
    with MemoryStore(address, token=bob) as far:
        assert [it.name for it in far.principals.everyone()] == ["bob"]


class Failing:
    """A plugin that cannot start, whichever hook it is asked by."""

    def __init__(self) -> None:
        self.opened: list[MemoryStore] = []

    @hookimpl
    def store_opening(self, store: MemoryStore) -> None:
        """Fail, and remember the store."""
        self.opened.append(store)
        raise OSError("no licence")


def test_a_plugin_that_fails_at_the_start_leaves_no_open_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error names the plugin and the hook, and the connection is closed."""
    install(monkeypatch, failing := Failing())
    with pytest.raises(PluginFailed, match=r"'mine' failed .* store_opening: no licence") as failed:
        MemoryStore(":memory:")
    assert (failed.value.plugin, failed.value.code) == ("mine", "plugin_failed")
    assert isinstance(failed.value.__cause__, OSError)
    with pytest.raises(StorageError):
        failing.opened.pop().principals.everyone()


def test_a_plugin_that_fails_hangs_up_on_a_server(
    address: str, store: MemoryStore, bob: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store behind a server is closed as one beside its database is."""
    secret = store.tokens.issue(bob).secret
    install(monkeypatch, failing := Failing())
    with pytest.raises(PluginFailed, match="'mine'"):
        MemoryStore(address, token=secret)
    assert failing.opened.pop()._line._client.is_closed


def test_a_plugin_whose_routes_fail_leaves_no_server(store: MemoryStore, bob: Principal) -> None:
    """There is no application without the routes, and the store, which is the host's, works on."""

    def add(*_: object) -> None:
        raise OSError("no licence")

    store.tokens.issue(bob)
    store.plugins.register(Routes(add), name="mine")
    with pytest.raises(PluginFailed, match=r"'mine' failed .* routes_registering: no licence"):
        create_app(store)
    assert bob in store.principals.everyone()


class Types:
    """A plugin that offers what its test says."""

    def __init__(self, offered: Callable[[], object]) -> None:
        self.offered = offered

    @hookimpl
    def register_types(self) -> object:
        """Offer it."""
        return self.offered()


def late() -> Iterator[Vocabulary]:
    """Fail at the second of two vocabularies."""
    yield Vocabulary("recipes", {"recipe": "Recipes"})
    raise OSError("no licence")


@pytest.mark.parametrize(
    ("offered", "words"),
    [
        (lambda: [Vocabulary("plans", {"plan": "Plans"})], "twice: plan"),
        (lambda: ["recipe"], "no Vocabulary"),
        (late, "register_types: no licence"),
    ],
)
def test_types_that_cannot_stand_keep_the_store_shut(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, offered: Callable[[], object], words: str
) -> None:
    """A type in two vocabularies would leave open which rules hold; no file is left behind."""
    install(monkeypatch, Types(offered))
    with pytest.raises(PluginFailed, match=f"'mine' .*{words}"):
        MemoryStore(tmp_path / "memories.db")
    assert list(tmp_path.iterdir()) == []


def test_a_plugin_without_types_offers_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that returns nothing adds nothing."""
    install(monkeypatch, Types(lambda: None))
    with MemoryStore(":memory:") as store:
        assert store.vocabularies == (DOCUMENTS, FACTS)


class Unknown:
    """A plugin for another release: there is no such hook."""

    @hookimpl
    def memory_dreamed(self) -> None:
        """Wait for a hook that never comes."""


class Wrapping:
    """A plugin that wraps a hook, which nothing here would call."""

    @hookimpl(wrapper=True)
    def write_guard(self) -> Iterator[None]:
        """Look at nothing."""
        yield


@pytest.mark.parametrize(
    ("plugin", "words"), [(Unknown, "memory_dreamed"), (Wrapping, "cannot be wrapped")]
)
def test_a_plugin_that_would_never_run_is_refused(
    monkeypatch: pytest.MonkeyPatch, plugin: type, words: str
) -> None:
    """It would be a guard that lets everything through; registered by hand, it is not kept."""
    plugins = Plugins()
    with pytest.raises(Exception, match=words):
        plugins.register(plugin())
    assert plugins.names() == ["secrets"]
    install(monkeypatch, plugin())
    with pytest.raises(PluginFailed, match=f"'mine' cannot be registered: .*{words}"):
        Plugins()


class Unmade:
    """The class of a plugin that cannot be made."""

    def __init__(self) -> None:
        raise OSError("no licence")


def test_an_installed_plugin_that_cannot_be_made_is_not_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error names the entry point and what it names."""
    point = EntryPoint("mine", f"{__name__}:Unmade", hooks.GROUP)
    monkeypatch.setattr(hooks, "entry_points", lambda *, group: [point] * (group == hooks.GROUP))
    monkeypatch.setattr(hooks, "_installed", hooks._installed.__wrapped__)
    with pytest.raises(MemoriesError, match=r"'mine' cannot be loaded from .*Unmade"):
        MemoryStore(":memory:")
