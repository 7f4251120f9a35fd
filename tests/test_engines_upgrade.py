"""The way from older tables on a server to this release's."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from alembic.migration import MigrationContext
from sqlalchemy import MetaData, NullPool, create_engine, inspect, select
from typer.testing import CliRunner

from memories_sdk import MemoryStore, migrations
from memories_sdk.cli.app import app
from memories_sdk.engines import opened, shape
from memories_sdk.errors import SchemaMismatch, StorageError
from memories_sdk.tables import SCHEMA_VERSION, index_metadata, server_metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine

DUMPS = sorted((Path(__file__).parent / "schemas").glob("version_*.sql"))
FULL = next(dump for dump in DUMPS if dump.stem == "version_1_full")
pytestmark = pytest.mark.engines("postgresql", "mariadb")


@pytest.fixture
def url(where: Callable[[str], str]) -> Iterator[str]:
    """The URL of a database without any table; afterwards it is one for stores again."""
    place = where("memories.db")
    with engine_of(place) as engine:
        drop_all(engine)
        yield place
        drop_all(engine)
    MemoryStore(place).close()


@contextmanager
def engine_of(url: str) -> Iterator[Engine]:
    """Lend an engine of SQLAlchemy's for the database of a store."""
    scheme, _, rest = url.partition("://")
    driver = {"postgresql": "postgresql+psycopg", "mariadb": "mysql+pymysql"}[scheme]
    engine = create_engine(f"{driver}://{rest}", isolation_level="AUTOCOMMIT", poolclass=NullPool)
    yield engine
    engine.dispose()


def drop_all(engine: Engine) -> None:
    """Take away every table."""
    found = MetaData()
    found.reflect(engine)
    found.drop_all(engine)


def carry(dump: Path, url: str, folder: Path) -> None:
    """Make the tables that a saved file has, with all their rows, as the server keeps such tables.

    No release with schema 1 knew a server; what a server alone has is therefore made as it is now.
    """
    file = folder / "old.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(dump.read_text(encoding="utf-8"))
    saved = create_engine(f"sqlite:///{file}")
    old = MetaData()
    old.reflect(saved)
    with engine_of(url) as engine, saved.connect() as source, engine.connect() as target:
        name = target.dialect.name
        now = shape.shaped(name, collation="utf8mb4_nopad_bin")
        for table in old.tables.values():
            shape._shape(table, name, "utf8mb4_nopad_bin")
        for column in old.tables["memory_revisions"].columns:
            if column.name in now.tables["memory_revisions"].columns:  # in an index by now
                column.type = now.tables["memory_revisions"].columns[column.name].type
        old.create_all(target)
        beside = [*server_metadata.tables, *index_metadata.tables]
        now.create_all(target, [now.tables[each] for each in beside])
        for table in old.sorted_tables:
            if rows := [dict(row) for row in source.execute(select(table)).mappings()]:
                target.execute(table.insert(), rows)
            if name == "postgresql" and (key := table.autoincrement_column) is not None:
                newest = f"SELECT coalesce(max({key.name}), 0) + 1 FROM {table.name}"  # noqa: S608
                named = f"pg_get_serial_sequence('{table.name}', '{key.name}')"
                target.exec_driver_sql(f"SELECT setval({named}, ({newest}), false)")
    saved.dispose()


def tables(url: str) -> dict[str, object]:
    """Return what the tables are, in a form in which equal ones are equal."""
    with engine_of(url) as engine, engine.connect() as connection:
        found = inspect(connection)
        return {
            name: {
                "columns": {
                    each["name"]: (str(each["type"]), each["nullable"], plain_default(each))
                    for each in found.get_columns(name)
                },
                "collations": {
                    each["name"]: getattr(each["type"], "collation", None)
                    for each in found.get_columns(name)
                },
                "key": found.get_pk_constraint(name)["constrained_columns"],
                "foreign": unordered(found.get_foreign_keys(name)),
                "unique": unordered(found.get_unique_constraints(name)),
                "checks": unordered(found.get_check_constraints(name)),
                "indexes": unordered(found.get_indexes(name)),
            }
            for name in found.get_table_names()
        }


def plain_default(column: dict[str, object]) -> str | None:
    """Return the default of a column; of a numbered one, only that it has one."""
    default = column["default"]
    return "numbered" if default and "nextval" in str(default) else default and str(default)


def unordered(found: list[dict[str, object]]) -> list[str]:
    """Return descriptions whose order says nothing."""
    return sorted(str(sorted(each.items(), key=lambda item: item[0])) for each in found)


def rows(url: str) -> dict[str, list[dict[str, object]]]:
    """Return the rows of all tables."""
    found = MetaData()
    with engine_of(url) as engine, engine.connect() as connection:
        found.reflect(connection)
        return {name: all_of(connection, found, name) for name in found.tables}


def all_of(connection: Connection, found: MetaData, name: str) -> list[dict[str, object]]:
    """Return the rows of a table, in the order of its key."""
    table = found.tables[name]
    statement = select(table).order_by(*table.primary_key.columns)
    return [dict(row) for row in connection.execute(statement).mappings()]


def migrate(url: str) -> None:
    """Do what `memories migrate` does."""
    opened(url, timeout=30, durability="full", migrating=True).close()


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
def test_a_migrated_server_is_like_a_fresh_one(url: str, dump: Path, tmp_path: Path) -> None:
    """Columns, types, collations, keys, checks and indexes are the same; every row is kept."""
    MemoryStore(url).close()
    fresh = tables(url)
    with engine_of(url) as engine:
        drop_all(engine)
    carry(dump, url, tmp_path)
    before = rows(url)
    with pytest.raises(SchemaMismatch, match="memories migrate"):
        MemoryStore(url)
    done = CliRunner().invoke(app, ["migrate", "--store", url, "--json"], prog_name="memories")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["schema"] == SCHEMA_VERSION
    assert tables(url) == fresh
    after = rows(url)
    assert after["memory_schema"] == [{"id": 1, "version": SCHEMA_VERSION}]
    for table in before.keys() - {"memory_schema"}:
        names = before[table][0].keys() & after[table][0].keys() if before[table] else set()
        assert [{name: row[name] for name in names} for row in after[table]] == [
            {name: row[name] for name in names} for row in before[table]
        ]
    with MemoryStore(url) as store:
        assert store.verify() == []


def test_what_history_knew_a_server_still_knows(url: str, tmp_path: Path) -> None:
    """A name that was given away, a deleted memory and a new one are found as before."""
    carry(FULL, url, tmp_path)
    migrate(url)
    with MemoryStore(url) as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        assert shelf.history("new_name", "documentation")[-1].name == "old_name"
        assert [each.name for each in shelf.deleted()] == ["gone"]
        shelf.restore(shelf.deleted()[0].memory_id)
        assert shelf.save("fresh", "plan", "x").created
        assert store.verify() == []


def test_a_host_keeps_its_own_alembic_on_a_server(url: str, tmp_path: Path) -> None:
    """The table in which a host's Alembic counts its steps is neither read nor written."""
    carry(FULL, url, tmp_path)
    with engine_of(url) as engine, engine.connect() as connection:
        host = MigrationContext.configure(connection)
        host._ensure_version_table()
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('of the host')")
        migrate(url)
        MemoryStore(url).close()
        assert host.get_current_revision() == "of the host"


def broken(op: object) -> None:
    """Take the step to version 2, and fail behind half of it."""
    migrations.version_2._index_history(op)
    migrations.version_2._keep_operations(op)
    migrations.version_2._keep_pictures_by_shelf(op)
    op.execute("SELECT * FROM nowhere")


@pytest.mark.engines("postgresql")
def test_a_step_that_fails_on_postgresql_leaves_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half-way, the tables are the old ones to the last row."""
    carry(FULL, url, tmp_path)
    before = tables(url), rows(url)
    monkeypatch.setitem(migrations.STEPS, 2, broken)
    with pytest.raises(StorageError, match="nowhere") as caught:
        migrate(url)
    assert "Nothing was changed" in str(caught.value.suggestion)
    assert (tables(url), rows(url)) == before


def test_a_step_that_failed_is_taken_again(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it broke off, no store opens; the next call ends what was begun, and no row is lost."""
    MemoryStore(url).close()
    fresh = tables(url)
    with engine_of(url) as engine:
        drop_all(engine)
    carry(FULL, url, tmp_path)
    before = rows(url)
    with monkeypatch.context() as patch:
        patch.setitem(migrations.STEPS, 2, broken)
        for _ in range(2):
            with pytest.raises(StorageError, match="nowhere") as caught:
                migrate(url)
            assert "migrate again" in str(caught.value.suggestion)
    with pytest.raises(SchemaMismatch, match="memories migrate"):
        MemoryStore(url)
    migrate(url)
    assert tables(url) == fresh
    assert [row["content"] for row in rows(url)["memory_bodies"]] == [
        row["content"] for row in before["memory_bodies"]
    ]
    with MemoryStore(url) as store:
        assert store.verify() == []
