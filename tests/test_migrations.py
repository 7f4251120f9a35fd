"""The way from an older file to this release's tables."""

from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, create_engine, inspect

from memories_sdk import MemoryStore, migrations
from memories_sdk.engines import shape
from memories_sdk.errors import SchemaMismatch, StorageError, StorageFull
from memories_sdk.tables import SCHEMA_VERSION, metadata

SCHEMAS = Path(__file__).parent / "schemas"
DUMPS = sorted(SCHEMAS.glob("version_*.sql"))


def made(path: Path, dump: Path) -> Path:
    """Make a file of an older release from its dump, in WAL mode as that release left it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump.read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode=WAL").fetchone()
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of the first release, in use."""
    return made(tmp_path / "old.db", SCHEMAS / "version_1_full.sql")


def schema(path: Path) -> dict[str, object]:
    """Return what a file's tables are, in a form in which equal ones are equal."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        found = inspect(connection)
        tables = {
            name: {
                "columns": [
                    {**each, "type": str(each["type"])} for each in found.get_columns(name)
                ],
                "key": found.get_pk_constraint(name),
                "foreign": found.get_foreign_keys(name),
                "unique": found.get_unique_constraints(name),
                "checks": found.get_check_constraints(name),
            }
            for name in sorted(found.get_table_names())
        }
        indexes = connection.exec_driver_sql(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        ).fetchall()
    engine.dispose()
    return tables | {name: " ".join(sql.replace('"', "").split()) for name, sql in indexes}


def rows(path: Path) -> dict[str, list[dict[str, object]]]:
    """Return the rows of all tables of a file."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return {
            table: [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]  # noqa: S608
            for (table,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            ).fetchall()
        }


def copies(path: Path) -> list[Path]:
    """Return what lies beside a file, but for what the engine put there."""
    ours = {path.name, f"{path.name}-wal", f"{path.name}-shm", f"{path.name}-turn"}
    return [each for each in path.parent.iterdir() if each.name not in ours]


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
def test_a_migrated_file_is_like_a_fresh_one(tmp_path: Path, dump: Path) -> None:
    """Tables, columns, keys, checks and indexes do not tell how old a file is."""
    old, fresh = made(tmp_path / "old.db", dump), tmp_path / "fresh.db"
    for path in (old, fresh):
        MemoryStore(path).close()
    assert schema(old) == schema(fresh)
    assert {table for table in schema(old) if not table.startswith("ix_")} == set(metadata.tables)


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
def test_a_migration_keeps_every_row(tmp_path: Path, dump: Path) -> None:
    """What an old column held, it holds afterwards; the proof of the file still holds."""
    path = made(tmp_path / "old.db", dump)
    before = rows(path)
    with MemoryStore(path) as store:
        assert store.verify() == []
    after = rows(path)
    assert after["memory_schema"] == [{"id": 1, "version": SCHEMA_VERSION}]
    for table, old in before.items():
        if table != "memory_schema":
            kept = old[0].keys() & after[table][0].keys() if old else set()
            assert [{k: row[k] for k in kept} for row in after[table]] == [
                {k: row[k] for k in kept} for row in old
            ]
            assert len(after[table]) == len(old)


def test_a_copy_of_the_old_file_stays_beside_it(old: Path) -> None:
    """The copy is whole, its owner's alone, and one that the old release opens."""
    before = rows(old)
    MemoryStore(old).close()
    (copy,) = copies(old)
    assert copy.name.startswith(f"old.before-v{SCHEMA_VERSION}-")
    assert copy.suffix == ".db"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert rows(copy) == before


def test_a_file_is_migrated_once(old: Path) -> None:
    """The second opening finds nothing to do and copies nothing."""
    for _ in range(2):
        MemoryStore(old).close()
    assert len(copies(old)) == 1


def test_what_history_knew_it_still_knows(old: Path) -> None:
    """A name that was given away, a deleted memory and a change to undo are found as before."""
    with MemoryStore(old) as store:
        shelf = store.scope(acting_as=store.principals.user("alice"))
        # A name leads to its last holder, and what a rename left behind to the renamed one.
        assert shelf.history("new_name", "documentation")[-1].name == "old_name"
        assert [each.name for each in shelf.deleted()] == ["gone"]
        assert shelf.history("gone", "examples")[0].action == "delete"
        shelf.restore(shelf.deleted()[0].memory_id)
        assert list(shelf.deleted()) == []
        assert store.verify() == []


def test_a_step_that_fails_leaves_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half-way, the file is the old one to the last row, and no copy fills the disk."""

    def fails(op: object) -> None:
        migrations.version_2.upgrade(op)
        op.execute("CREATE TABLE half (x)")
        op.execute("SELECT * FROM nowhere")

    before, tables = rows(old), schema(old)
    monkeypatch.setitem(migrations.STEPS, 2, fails)
    with pytest.raises(StorageError, match="nowhere"):
        MemoryStore(old)
    assert (rows(old), schema(old), copies(old)) == (before, tables, [])
    monkeypatch.undo()
    with MemoryStore(old) as store:
        assert store.verify() == []


def test_no_step_begins_without_its_copy(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk too full for the copy leaves the old file as it was."""

    def full(*_: object) -> None:
        raise StorageFull("No room.")

    before = rows(old)
    monkeypatch.setattr("memories_sdk.engines.sqlite.SqliteDatabase.copy", full)
    with pytest.raises(StorageFull):
        MemoryStore(old)
    assert rows(old) == before


OPENING = """
import sys
from memories_sdk import MemoryStore
sys.stdin.readline()
with MemoryStore(sys.argv[1]) as store:
    print(len(store.principals.everyone()), store.verify())
"""


def test_of_several_first_openers_one_migrates(old: Path) -> None:
    """Programs that start together on an old file all find the new tables, and one copy is made."""
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENING, str(old)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for opener in openers:
        opener.stdin.write("go\n")
        opener.stdin.flush()
    answers = [opener.communicate()[0].strip() for opener in openers]
    assert answers == ["3 []"] * 4
    assert len(copies(old)) == 1


def test_a_host_keeps_its_own_alembic(old: Path) -> None:
    """The table in which a host's Alembic counts its steps is neither read nor written."""
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.execute("INSERT INTO alembic_version VALUES ('of the host')")
        connection.commit()
    with MemoryStore(old) as store:
        assert store.verify() == []
    assert rows(old)["alembic_version"] == [{"version_num": "of the host"}]
    assert "alembic_version" not in metadata.tables


def test_a_host_program_makes_our_tables_in_its_file(tmp_path: Path) -> None:
    """Mounted in its metadata, they are made by its migrations, and a store signs them."""
    host = MetaData()
    Table("invoices", host, Column("id", Integer, primary_key=True))
    shape.mount(host, "sqlite")
    engine = create_engine(f"sqlite:///{tmp_path / 'host.db'}")
    host.create_all(engine)
    engine.dispose()
    MemoryStore(tmp_path / "fresh.db").close()
    for _ in range(2):
        with MemoryStore(tmp_path / "host.db") as store:
            store.scope(acting_as=store.principals.user("alice")).save("n", "plan", "x")
            assert store.verify() == []
    mounted, fresh = schema(tmp_path / "host.db"), schema(tmp_path / "fresh.db")
    assert mounted.keys() - fresh.keys() == {"invoices"}
    assert mounted.keys() >= fresh.keys()


def test_some_tables_without_a_signature_are_another_program_s(tmp_path: Path) -> None:
    """Only all of them are a host's; where one is missing, the file is left alone."""
    host = MetaData()
    shape.mount(host, "sqlite")
    host.remove(host.tables["tokens"])
    engine = create_engine(f"sqlite:///{tmp_path / 'host.db'}")
    host.create_all(engine)
    engine.dispose()
    with pytest.raises(SchemaMismatch, match="memory_schema"):
        MemoryStore(tmp_path / "host.db")


LOADED = """
import json, sys
from memories_sdk import MemoryStore
MemoryStore(sys.argv[1]).close()
print(json.dumps("alembic" in sys.modules))
"""


def test_alembic_is_loaded_only_for_a_step(old: Path, tmp_path: Path) -> None:
    """Whoever opens a file of this release does not pay for the way from an older one."""

    def loaded(path: Path) -> bool:
        run = [sys.executable, "-c", LOADED, str(path)]
        return json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)

    assert not loaded(tmp_path / "fresh.db")
    assert loaded(old)
    assert not loaded(old)
