"""What every test may use: the shared material, a store on each engine, three principals."""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import hypothesis
import pytest
from held import Clock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from memories_sdk import MemoryStore, MemoryTools, Principal, Scope

ROOT = Path(__file__).parent.parent
REQUIRE_ALL = bool(os.environ.get("MEMORIES_REQUIRE_ALL"))

SERVERS = {"postgresql": "MEMORIES_TEST_POSTGRES", "mariadb": "MEMORIES_TEST_MYSQL"}
"""Engines on a server, with the variable that holds the URL of a database of an empty server."""
EMBEDDED = ("sqlite-file", "sqlite-memory")
ENGINES = (*EMBEDDED, *(name for name, variable in SERVERS.items() if os.environ.get(variable)))

# A deadline would fail a good test on a busy machine.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=10, derandomize=True)
hypothesis.settings.load_profile("untimed")


class MakeStore(Protocol):
    """What the fixture `make_store` gives."""

    def __call__(self, name: str = "memories.db", **options: object) -> MemoryStore:
        """Open a store that is closed after the test; the same NAME opens the same file again."""
        ...


class Places:
    """Databases on one server for the stores of one test at a time, emptied for the next.

    Args:
        engine: A name of `SERVERS`.
        url: Of any database there.
        options: What the stores of PostgreSQL have in their URLs, `&` before each.
    """

    def __init__(self, engine: str, url: str, options: str = "") -> None:
        from sqlalchemy import create_engine  # noqa: PLC0415 -- as MemoryStore below

        self.url = url
        self.postgresql = engine == "postgresql"
        driver = "postgresql+psycopg" if self.postgresql else "mysql+pymysql"
        plain = f"{driver}://{url.partition('://')[2]}"
        self.engine = create_engine(plain, isolation_level="AUTOCOMMIT", pool_size=1)
        self.options = options
        self.prefix = f"memories_{os.getpid()}_{'own_' if options else ''}"
        self.made: list[str] = []
        self.taken: dict[str, str] = {}

    def run(self, *statements: str) -> None:
        """Run statements beside the stores."""
        with self.engine.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def named(self, name: str) -> str:
        """Return the URL of the store of that name."""
        if name not in self.taken:
            place = len(self.taken)
            if place == len(self.made):
                self.made.append(f"{self.prefix}{place}")
                kind = "SCHEMA" if self.postgresql else "DATABASE"
                self.run(f"CREATE {kind} {self.made[place]}")
            self.taken[name] = self.made[place]
        if self.postgresql:
            place = self.taken[name]
            search_path = f"options=-csearch_path%3D{place}"
            return f"{self.url}?application_name={place}&{search_path}{self.options}"
        return f"{self.url.rpartition('/')[0]}/{self.taken[name]}"

    def empty(self) -> None:
        """Take away what a test wrote. To truncate all tables would take longer than most tests."""
        from memories_sdk.engines.shape import shaped  # noqa: PLC0415

        shape = shaped("mysql")
        names = [it.name for it in reversed(shape.sorted_tables) if it.name != "memory_schema"]
        for place in self.taken.values():
            some = "SELECT '{0}' WHERE EXISTS (SELECT 1 FROM {1}.{0})"
            held = " UNION ALL ".join(some.format(name, place) for name in names)
            with self.engine.connect() as connection:
                full = {name for (name,) in connection.exec_driver_sql(held)}
            for name in names:
                if name in full:
                    self.run(f"DELETE FROM {place}.{name}")  # noqa: S608 -- names of ours
                    if (key := shape.tables[name].autoincrement_column) is not None:
                        self.run(self.counting_anew(f"{place}.{name}", key.name))
        self.taken.clear()

    def counting_anew(self, table: str, key: str) -> str:
        """Return the statement after which new rows are numbered from 1."""
        if self.postgresql:
            return f"ALTER SEQUENCE {table}_{key}_seq RESTART"
        return f"ALTER TABLE {table} AUTO_INCREMENT = 1"

    def remove(self) -> None:
        """Take away all that was made."""
        for place in self.made:
            kind = f"SCHEMA {place} CASCADE" if self.postgresql else f"DATABASE {place}"
            self.run(f"DROP {kind}")
        self.engine.dispose()


def pytest_report_header() -> list[str]:
    """Name the versions that most often explain a difference between two machines."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("sqlmodel", "sqlalchemy"))
    required = ["no test may skip: MEMORIES_REQUIRE_ALL is set"] if REQUIRE_ALL else []
    return [f"SQLite {sqlite3.sqlite_version}, {packages}", *required]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what has a store on every engine, or on those that its `engines` marker names."""
    own = any("engine" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "engine" in metafunc.fixturenames and not own:
        mark = metafunc.definition.get_closest_marker("engines")
        names = ENGINES if mark is None else [name for name in ENGINES if name in mark.args]
        metafunc.parametrize("engine", names, indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what reads the shared material, so that nobody forgets to."""
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.external)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that skips where all are required."""
    report = yield
    if not hasattr(report, "wasxfail"):
        refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a module that skips as a whole where all are required."""
    report = yield
    refuse_skip(report)
    return report


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn the report of a skip into one of a failure that says why."""
    if REQUIRE_ALL and report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason} (MEMORIES_REQUIRE_ALL forbids skips)"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of material that is tested against and never committed."""
    folder = Path(os.environ.get("MEMORIES_SHARED") or ROOT.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}: set MEMORIES_SHARED")
    return folder


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """The name of the engine a test's stores live on: one of `ENGINES`."""
    return request.param


@pytest.fixture(scope="session")
def places() -> Iterator[Callable[[str], Places]]:
    """The places for stores on each server."""
    servers: dict[str, Places] = {}

    def on(engine: str) -> Places:
        if engine not in servers:
            servers[engine] = Places(engine, os.environ[SERVERS[engine]])
        return servers[engine]

    yield on
    for each in servers.values():
        each.remove()


@pytest.fixture
def where(
    engine: str, tmp_path: Path, places: Callable[[str], Places]
) -> Iterator[Callable[[str], str]]:
    """The path or URL of the store of a NAME on ENGINE; it is empty at first."""
    if engine in SERVERS:
        taken = places(engine)
        yield taken.named
        taken.empty()
    elif engine == "sqlite-memory":
        yield lambda _name: ":memory:"
    else:
        yield lambda name: str(tmp_path / name)


@pytest.fixture
def make_store(where: Callable[[str], str]) -> Iterator[MakeStore]:
    """Open stores on ENGINE with options of the test's own; all are closed afterwards."""
    # Imported here, a package that does not import fails its tests and not pytest itself.
    from memories_sdk import MemoryStore  # noqa: PLC0415

    with ExitStack() as stores:

        def make(name: str = "memories.db", **options: object) -> MemoryStore:
            return stores.enter_context(MemoryStore(where(name), **options))

        yield make


@pytest.fixture
def clock() -> Clock:
    """The clock of a store that a test makes with it."""
    return Clock()


@pytest.fixture
def store(make_store: MakeStore) -> MemoryStore:
    """An empty store that does not wait for the device."""
    return make_store(durability="process")


@pytest.fixture
def alice(store: MemoryStore) -> Principal:
    """A user."""
    return store.principals.user("alice")


@pytest.fixture
def bob(store: MemoryStore) -> Principal:
    """Another user."""
    return store.principals.user("bob")


@pytest.fixture
def lab(store: MemoryStore, alice: Principal, bob: Principal) -> Principal:
    """A group that alice owns and bob is a member of."""
    return store.principals.group("lab", owner=alice, members=[bob])


@pytest.fixture
def shelf(store: MemoryStore, alice: Principal) -> Scope:
    """Alice's global shelf."""
    return store.scope(acting_as=alice)


@pytest.fixture
def tools(store: MemoryStore, alice: Principal) -> MemoryTools:
    """The tools of alice's agent `writer`."""
    from memories_sdk import MemoryTools  # noqa: PLC0415 -- as in `make_store`

    return MemoryTools(store, acting_as=alice, agent=store.agents.create("writer", owner=alice))


@pytest.fixture
def own(store: MemoryStore, alice: Principal, tools: MemoryTools) -> Scope:
    """The own shelf of alice's agent `writer`."""
    assert tools
    return store.scope(acting_as=alice, agent="writer")


@pytest.fixture
def address(store: MemoryStore, alice: Principal) -> Iterator[str]:
    """Where the store is served over HTTP."""
    from served import served  # noqa: PLC0415 -- of the server's extra; most tests need none

    store.tokens.issue(alice)
    with served(store) as server:
        yield server.url
