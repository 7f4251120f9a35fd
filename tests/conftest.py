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

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from memories_sdk import MemoryStore, Principal

ROOT = Path(__file__).parent.parent
REQUIRE_ALL = bool(os.environ.get("MEMORIES_REQUIRE_ALL"))

# A deadline would fail a good test on a busy machine.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


class MakeStore(Protocol):
    """What the fixture `make_store` gives."""

    def __call__(self, name: str = "memories.db", **options: object) -> MemoryStore:
        """Open a store that is closed after the test; the same NAME opens the same file again."""
        ...


def pytest_report_header() -> list[str]:
    """Name the versions that most often explain a difference between two machines."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("sqlmodel", "sqlalchemy"))
    required = ["no test may skip: MEMORIES_REQUIRE_ALL is set"] if REQUIRE_ALL else []
    return [f"SQLite {sqlite3.sqlite_version}, {packages}", *required]


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


@pytest.fixture(params=["sqlite-file", "sqlite-memory"])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of the engine a test's stores live on."""
    return request.param


@pytest.fixture
def make_store(engine: str, tmp_path: Path) -> Iterator[MakeStore]:
    """Open stores on ENGINE with options of the test's own; all are closed afterwards."""
    # Imported here, a package that does not import fails its tests and not pytest itself.
    from memories_sdk import MemoryStore  # noqa: PLC0415

    with ExitStack() as stores:

        def make(name: str = "memories.db", **options: object) -> MemoryStore:
            where = ":memory:" if engine == "sqlite-memory" else tmp_path / name
            return stores.enter_context(MemoryStore(where, **options))

        yield make


@pytest.fixture
def store(make_store: MakeStore) -> MemoryStore:
    """An empty store."""
    return make_store()


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
