"""What tests of the doors share: a store in a file, an agent's tools, a lock that is held."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from memories_sdk import MemoryStore, MemoryTools, Principal, Scope

TURNS = 300
EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """An empty store in a file, which does not wait for the device."""
    with MemoryStore(tmp_path / "memories.db", durability="process") as store:
        yield store


@pytest.fixture
def tools(store: MemoryStore, alice: Principal) -> MemoryTools:
    """The tools of alice's agent `writer`, whose user agrees to everything."""
    writer = store.agents.create("writer", owner=alice)
    return MemoryTools(store, acting_as=alice, agent=writer, ask=bool)


@pytest.fixture
def shelf(store: MemoryStore, alice: Principal, tools: MemoryTools) -> Scope:
    """Alice's global shelf."""
    assert tools
    return store.scope(acting_as=alice)


@contextmanager
def locked(store: MemoryStore) -> Iterator[None]:
    """Hold the lock for writing, as another program would."""
    with closing(sqlite3.connect(store.location, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.fixture
def turns_while_locked(store: MemoryStore) -> Callable[[Callable[[], Awaitable[object]]], object]:
    """Run a call that must wait for the lock, and let the loop turn many times meanwhile.

    The loop itself lets the lock go: a call that waited in the loop would wait for ever.
    """

    async def run(call: Callable[[], Awaitable[object]]) -> object:
        with locked(store):
            waiting = asyncio.ensure_future(call())
            for _ in range(TURNS):
                await asyncio.sleep(0.0005)
                assert not waiting.done(), waiting.result()
        return await waiting

    return lambda call: asyncio.run(run(call))


@pytest.fixture
def run_example(tmp_path: Path) -> Callable[[str], str]:
    """Run an example in a process of its own, in an empty folder, and return what it prints."""

    def run(name: str) -> str:
        done = subprocess.run(
            [sys.executable, "-W", "error", EXAMPLES / f"{name}.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (done.stderr, done.returncode) == ("", 0)
        return done.stdout

    return run
