"""Measure how the verbs fare as a store grows, on each engine: `python -m bench.growth`.

The same verbs run on stores of a thousand, a hundred thousand and a million memories in turn, so a
machine that slows down slows them all. The figure that counts is the last column: the largest store
beside the smallest. On the embedded engine, time is that of the processor, which other programs on
the machine hardly change; a server works in a process of its own, so there the clock on the wall
counts. Servers are those that MEMORIES_TEST_POSTGRES and MEMORIES_TEST_MYSQL name;
what is put there goes away again.

Rows are loaded by plain SQL into the tables that the package made: shelves of fifty, filled in
turn, one memory each, as they grow in real life. Their seals are blank.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Final

from bench.shelves import PER_SHELF, text
from sqlalchemy import (
    Column,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    insert,
)
from sqlalchemy import Text as LongText
from sqlalchemy.dialects.mysql import LONGTEXT

from memories_sdk import DOCUMENTS, MemoryStore, Scope
from memories_sdk.fields import byte_size
from memories_sdk.rows import body_digest

SIZES: Final = (1_000, 100_000, 1_000_000)
ROUNDS: Final = 200
VARIABLES: Final = {"postgresql": "MEMORIES_TEST_POSTGRES", "mariadb": "MEMORIES_TEST_MYSQL"}
BOUND: Final = 1.5
"""How much slower the largest store may be than the smallest."""

_START: Final = 1_780_000_000_000_000
_IDS: Final = {
    "sqlite": "id_of({0})",
    "postgresql": "decode(lpad(to_hex({0}), 32, '0'), 'hex')",
    "mysql": "UNHEX(LPAD(HEX({0}), 32, '0'))",
}
_PRINCIPALS: Final = (
    "INSERT INTO principals (kind, name, created_at)"
    " WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {shelves})"
    " SELECT 'user', 'user-' || v, {start} FROM n"
)
_MEMORIES: Final = (
    "INSERT INTO memories (id, scope_key, scope, principal_id, type, name, summary,"
    " summary_derived, tags, pinned, position, version, size, created_at, updated_at)"
    " SELECT {id}, 'global:' || p.id, 'global', p.id, t.type, t.name, t.summary, 1, '[]', 0,"
    " t.place, 1, t.size, {start}, {start}"
    " FROM growth_texts t CROSS JOIN principals p WHERE t.place = {place} ORDER BY p.id"
)
_BODIES: Final = (
    "INSERT INTO memory_bodies ({row}, content, sha256) SELECT m.{row}, t.content, t.sha256"
    " FROM memories m JOIN growth_texts t ON t.place = {place} WHERE m.{row} > {last}"
    " ORDER BY m.{row}"
)
_REVISIONS: Final = (
    "INSERT INTO memory_revisions (memory_id, scope_key, action, actor, at, version, type, name,"
    " after, seal, named) SELECT m.id, m.scope_key, 'create', 'user:loader', {start}, 1, m.type,"
    " m.name, t.sha256, t.sha256, 1"
    " FROM memories m JOIN growth_texts t ON t.place = {place} WHERE m.{row} > {last}"
    " ORDER BY m.{row}"
)

Verb = Callable[[Scope, int, int], object]
VERBS: Final[dict[str, Verb]] = {
    "get": lambda shelf, place, _: shelf.get(_name(place), _type(place)),
    "list, 50": lambda shelf, *_: shelf.list(limit=PER_SHELF),
    "save over": lambda shelf, place, turn: shelf.save(_name(place), _type(place), text(turn).body),
    "save new": lambda shelf, _, turn: shelf.save(f"new {turn}", "plan", text(turn).body),
    "search": lambda shelf, place, _: shelf.search(f"release plan {place} daily"),
}
BOUNDED: Final = ("get", "list, 50", "save over", "save new")


def main() -> None:
    """Print one table for each engine."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", choices=["sqlite", *VARIABLES], default="sqlite")
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options.add_argument("--rounds", type=int, default=ROUNDS)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stores:
        opened = []
        for size in given.sizes:
            url = stores.enter_context(_place(given.engine, Path(folder), size))
            store = stores.enter_context(MemoryStore(url, durability="process"))
            load(_plain(url), size)
            opened.append(store)
        embedded = given.engine == "sqlite"
        clock, kind = (time.process_time, "of CPU") if embedded else (time.perf_counter, "waited")
        times = measured(opened, given.sizes, given.rounds, clock)
    print(f"\n{given.engine}, milliseconds {kind}, medians of {given.rounds} calls\n")
    print(f"| verb | {' | '.join(f'{size:,}' for size in given.sizes)} | last / first |")
    print("|---" * (len(given.sizes) + 2) + "|")
    for verb, each in times.items():
        figures = " | ".join(f"{one * 1e3:.2f}" for one in each)
        missed = " !" if verb in BOUNDED and each[-1] > BOUND * each[0] else ""
        print(f"| {verb} | {figures} | {each[-1] / each[0]:.2f}{missed} |")


def load(engine: Engine, size: int) -> None:
    """Put so many memories on shelves of fifty, beside the package's own tables."""
    dialect = engine.dialect
    shelves = size // PER_SHELF
    row = dialect.identifier_preparer.quote("row")
    with engine.begin() as connection:
        if dialect.name == "mysql":
            connection.exec_driver_sql(
                "SET SESSION sql_mode = 'PIPES_AS_CONCAT', max_recursive_iterations = 4294967295"
            )
        texts = _texts()
        texts.create(connection)
        connection.execute(insert(texts), [_text_row(place) for place in range(1, PER_SHELF + 1)])
        start = {"start": _START}
        connection.exec_driver_sql(_PRINCIPALS.format(shelves=shelves, **start))
        for place in range(1, PER_SHELF + 1):
            newest = f"SELECT coalesce(max({row}), 0) FROM memories"  # noqa: S608 -- a name of ours
            last = connection.exec_driver_sql(newest).scalar_one()
            id = _IDS[dialect.name].format(f"{(place - 1) * shelves} + p.id")
            for statement in (_MEMORIES, _BODIES, _REVISIONS):
                connection.exec_driver_sql(
                    statement.format(id=id, place=place, last=last, row=row, **start)
                )
        texts.drop(connection)
    with engine.connect() as connection:
        for table in ("memories", "memory_bodies", "memory_revisions"):
            if dialect.name != "sqlite":  # it chooses no plan by counting
                connection.exec_driver_sql(f"ANALYZE {'TABLE ' * (dialect.name == 'mysql')}{table}")
    engine.dispose()


def measured(
    stores: Sequence[MemoryStore], sizes: Sequence[int], rounds: int, clock: Callable[[], float]
) -> dict[str, list[float]]:
    """Return the median seconds of each verb on each store."""
    times: dict[str, list[list[float]]] = {verb: [[] for _ in stores] for verb in VERBS}
    random = Random(1)  # noqa: S311 -- not for secrets
    for turn, (verb, call) in itertools.product(range(rounds), VERBS.items()):
        place = random.randrange(1, PER_SHELF + 1)
        for number in random.sample(range(len(stores)), len(stores)):
            store = stores[number]
            who = random.randrange(1, sizes[number] // PER_SHELF + 1)
            shelf = store.scope(acting_as=store.principals.user(f"user-{who}"))
            start = clock()
            call(shelf, place, turn)
            times[verb][number].append(clock() - start)
    return {verb: [statistics.median(each) for each in lists] for verb, lists in times.items()}


def _name(place: int) -> str:
    return f"release plan {place:04}"


def _type(place: int) -> str:
    return DOCUMENTS.types[place % len(DOCUMENTS.types)]


def _texts() -> Table:
    long = LongText().with_variant(LONGTEXT(), "mysql")
    return Table(
        "growth_texts",
        MetaData(),
        Column("place", Integer, primary_key=True),
        Column("type", String(50)),
        Column("name", String(50)),
        Column("summary", long),
        Column("size", Integer),
        Column("content", long),
        Column("sha256", LargeBinary),
    )


def _text_row(place: int) -> dict[str, object]:
    body, summary = text(place)
    return {
        "place": place,
        "type": _type(place),
        "name": _name(place),
        "summary": summary,
        "size": byte_size(body),
        "content": body,
        "sha256": body_digest(body),
    }


@contextmanager
def _place(engine: str, folder: Path, size: int) -> Iterator[str]:
    """Lend the URL of an empty database."""
    if engine == "sqlite":
        yield str(folder / f"{size}.db")
        return
    url = os.environ[VARIABLES[engine]]
    name = f"growth_{os.getpid()}_{size}"
    kind, cascade = ("SCHEMA", " CASCADE") if engine == "postgresql" else ("DATABASE", "")
    beside = _plain(url).execution_options(isolation_level="AUTOCOMMIT")
    with beside.connect() as connection:
        connection.exec_driver_sql(f"CREATE {kind} {name}")
    try:
        if engine == "postgresql":
            yield f"{url}?options=-csearch_path%3D{name}"
        else:
            yield f"{url.rpartition('/')[0]}/{name}"
    finally:
        with beside.connect() as connection:
            connection.exec_driver_sql(f"DROP {kind} {name}{cascade}")
        beside.dispose()


def _plain(url: str) -> Engine:
    """Return an engine of SQLAlchemy's for the database of a store."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        engine = create_engine(f"sqlite:///{url}")
        event.listen(engine, "connect", _number_ids)
        return engine
    driver = "postgresql+psycopg" if scheme == "postgresql" else "mysql+pymysql"
    return create_engine(f"{driver}://{rest}")


def _number_ids(connection: object, _: object) -> None:
    connection.create_function("id_of", 1, lambda number: number.to_bytes(16, "big"))  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
