"""Stores whose tables are in parts, on PostgreSQL: the same behaviour, each shelf in one part."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from conftest import SERVERS, Places
from test_history import *  # noqa: F403 -- the same tests, on parts
from test_semantic import _Toy
from test_transfer import *  # noqa: F403

from memories_sdk import InvalidInput, MemoryStore, NotFound
from memories_sdk.engines import partitions
from memories_sdk.engines.server import ServerConnection
from memories_sdk.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARTS = 3
pytestmark = pytest.mark.engines("postgresql")


@pytest.fixture(scope="session")
def places() -> Iterator[Callable[[str], Places]]:
    """The places for stores in parts; what the other tests have is whole."""
    made: list[Places] = []

    def on(engine: str) -> Places:
        if not made:
            made.append(Places(engine, os.environ[SERVERS[engine]], f"&partitions={PARTS}"))
        return made[0]

    yield on
    for each in made:
        each.remove()


@pytest.fixture
def full(make_store) -> MemoryStore:
    """A store with six shelves that have a row in each table in parts."""
    store = make_store(embedder=_Toy())
    for number in range(6):
        shelf = store.scope(acting_as=store.principals.user(f"user {number}"))
        shelf.save("n", "plan", "a hound")
        shelf.attach(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR picture")
        assert [hit.memory.name for hit in shelf.search("dog")] == ["n"]
    return store


def test_each_shelf_lies_in_one_part(full, where, places) -> None:
    """Its memories, bodies, vectors, history and pictures go to the part of the same number."""
    schema = where("memories.db").partition("search_path%3D")[2].partition("&")[0]
    parts = defaultdict(set)
    with places("postgresql").engine.connect() as connection:
        for table in partitions.PARTED:
            rows = f"SELECT scope_key, tableoid::regclass::text FROM {schema}.{table}"  # noqa: S608
            for key, part in connection.exec_driver_sql(rows):
                parts[key].add((table, part.rpartition("_")[2]))
    assert len(parts) == 6
    for found in parts.values():
        assert {table for table, _ in found} == set(partitions.PARTED)
        assert len({part for _, part in found}) == 1
    assert len({part for found in parts.values() for _, part in found}) > 1
    assert full.verify() == []


def test_a_verb_looks_into_one_part(full, monkeypatch) -> None:
    """Every statement of reading, writing and searching a shelf names the key of its part.

    What was deleted may be on another shelf by now, so all parts are looked into for that.
    """
    said: list[tuple[str, dict[str, object]]] = []
    run = ServerConnection.run

    def heard(self, text, parameters=None):
        said.append((text, dict(parameters or {})))
        return run(self, text, parameters or {})

    shelf = full.scope(acting_as=full.principals.user("user 1"))
    with monkeypatch.context() as patch:
        patch.setattr(ServerConnection, "run", heard)
        shelf.save("n", "plan", "an automobile")
        shelf.save("new", "plan", "a puppy", tags=["t"])
        shelf.replace("new", "plan", find="puppy", new_text="hound")
        shelf.move(shelf.get("n", "plan").id, after=shelf.get("new", "plan").id)
        shelf.list()
        shelf.search("dog")
        shelf.relevant_for_prompt("Who barks?")
        shelf.history()
        shelf.changes(since=0)
        shelf.delete("new", "plan")
    # The second name is one that the planner made up.
    name = re.compile(rf"\bon ({'|'.join(partitions.PARTED)})_(\d)\b")
    seen = set()
    with full._database.write() as connection:
        for text, parameters in said:
            if text.lstrip().startswith(("SELECT", "INSERT INTO memor", "UPDATE", "DELETE")):
                plan = connection.run(f"EXPLAIN {text}", parameters).fetchall()
                touched = set(name.findall("\n".join(line for (line,) in plan)))
                assert len({part for _, part in touched}) <= 1, text
                seen |= {table for table, _ in touched}
    assert seen >= {"memories", "memory_bodies", "memory_vectors", "memory_revisions"}


def test_texts_are_sealed_anew_in_every_part(make_store) -> None:
    """A new key reaches the bodies of all shelves."""
    store = make_store()
    people = [store.principals.user(f"user {number}") for number in range(6)]
    for who in people:
        store.scope(acting_as=who).save("n", "plan", f"of {who.name}")
    store.rekey(bytes(range(32)))
    assert store.verify() == []
    reopened = make_store(key=bytes(range(32)))
    for who in people:
        assert reopened.scope(acting_as=who).get("n", "plan").content == f"of {who.name}"
    with store._database.read() as connection:
        stored = connection.run("SELECT content FROM memory_bodies").fetchall()
    assert not any("of user" in content for (content,) in stored)


def test_an_id_comes_back_to_one_shelf_alone(store, shelf, team) -> None:
    """No unique key spans the parts: of two who bring one memory back at once, one is refused."""
    for turn in range(5):
        id = shelf.save(f"n{turn}", "plan", "x").memory.id
        shelf.transfer(id, to=team)
        team.delete(f"n{turn}", "plan")
        with ThreadPoolExecutor(2) as pool:
            tries = [pool.submit(each.restore, id) for each in (shelf, team)]
        refused = [each.exception() for each in tries]
        assert [type(each) for each in refused if each is not None] == [Conflict]
        assert sum(_has(each, id) for each in (shelf, team)) == 1
    assert store.verify() == []


def _has(shelf, id) -> bool:
    try:
        return bool(shelf.get_by_id(id))
    except NotFound:
        return False


def test_a_part_by_name_is_behind_the_wall_too(where) -> None:
    """Whoever reads a part past its table sees nothing that was not named either."""
    with MemoryStore(where("walled.db")) as store:
        store.scope(acting_as=store.principals.user("alice")).save("n", "plan", "x")
        store.enable_rls()
        assert store.verify() == []
        with store._database.write() as connection:
            forced = connection.run(
                "SELECT count(*) FROM pg_class WHERE relforcerowsecurity AND relispartition"
                " AND relkind = 'r' AND relnamespace = current_schema()::regnamespace"
            )
            assert forced.fetchone() == (PARTS * len(partitions.PARTED),)
            role = f"parts_{os.getpid()}"
            schema = connection.run("SELECT current_schema()").fetchone()[0]
            for statement in (
                f"CREATE ROLE {role}",
                f"GRANT USAGE ON SCHEMA {schema} TO {role}",
                f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}",
                f"SET LOCAL ROLE {role}",
                "SET LOCAL memories.shelves = 'global:0'",
            ):
                connection.run(statement)
            for table in partitions.PARTED:
                for part in range(PARTS):
                    found = connection.run(f"SELECT count(*) FROM {table}_{part}")  # noqa: S608
                    assert found.fetchone() == (0,)
            connection.run("RESET ROLE")
            connection.run(f"DROP OWNED BY {role}")
            connection.run(f"DROP ROLE {role}")
            for table in connection.run(
                "SELECT tablename FROM pg_policies WHERE schemaname = current_schema()"
            ).fetchall():
                connection.run(f"DROP POLICY memories_shelf ON {table[0]}")
                connection.run(f"ALTER TABLE {table[0]} NO FORCE ROW LEVEL SECURITY")
                connection.run(f"ALTER TABLE {table[0]} DISABLE ROW LEVEL SECURITY")


@pytest.mark.parametrize("asked", [2, 0])
def test_what_is_there_is_never_parted_otherwise(store, where, asked: int) -> None:
    """Another number is refused, and none takes what is there."""
    assert store.verify() == []
    url = where("memories.db").replace(f"partitions={PARTS}", f"partitions={asked}")
    if asked:
        with pytest.raises(InvalidInput, match=f"{PARTS} parts"):
            MemoryStore(url)
    else:
        with MemoryStore(url) as other:
            shelf = other.scope(acting_as=other.principals.user("alice"))
            assert shelf.save("n", "plan", "x").created


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://h/x?partitions=1",
        "postgresql://h/x?partitions=2000",
        "mysql://h/x?partitions=4",
    ],
)
def test_parts_that_cannot_be_are_refused(url: str) -> None:
    """Nothing is opened for a number that helps nobody, or on an engine that has foreign keys."""
    with pytest.raises(InvalidInput, match=r"partitions=|part no table"):
        MemoryStore(url)
