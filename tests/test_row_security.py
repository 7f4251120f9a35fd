"""Row-level security on PostgreSQL: what hand-written SQL cannot reach past the package."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from memories_sdk import MemoryStore
from memories_sdk.engines import shape
from memories_sdk.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

THEIRS = "of bob alone"
GRANTED = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
    "GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
)
"""What docs/scaling.md says that an application needs."""

on_postgresql = pytest.mark.engines("postgresql")


@pytest.fixture
def walled(store, alice, bob) -> Iterator[MemoryStore]:
    """A store behind the wall; afterwards it is as other tests know it."""
    for who, body in ((alice, "of alice"), (bob, THEIRS)):
        store.scope(acting_as=who).save("n", "plan", "before")
        store.scope(acting_as=who).save("n", "plan", body)
    store.enable_rls()
    yield store
    with store._database.write() as connection:
        for table in shape.shaped("postgresql").tables:
            connection.run(f"DROP POLICY IF EXISTS memories_shelf ON {table}")
            connection.run(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
            connection.run(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")


@pytest.fixture
def application(walled, where, places) -> Iterator[str]:
    """The URL by which an application comes to the store, as a role that owns nothing."""
    url = where("memories.db")
    names = {"schema": url.rpartition("%3D")[2], "role": f"app_{os.getpid()}"}
    assert walled.verify() == []
    create = ("CREATE ROLE {role} LOGIN", *GRANTED)
    places("postgresql").run(*(statement.format_map(names) for statement in create))
    yield url.replace("//memories@", f"//{names['role']}@")
    drop = ("DROP OWNED BY {role}", "DROP ROLE {role}")
    places("postgresql").run(*(statement.format_map(names) for statement in drop))


@contextmanager
def by_hand(url: str, *, shelf: str | None = None):
    """Lend a connection that names one shelf, or none, until the block ends."""
    import psycopg  # noqa: PLC0415 -- an extra

    with psycopg.connect(url, autocommit=True) as connection, connection.transaction():
        if shelf is not None:
            connection.execute("SELECT set_config('memories.shelves', %s, true)", [shelf])
        yield connection


def rows(store, shelf: str) -> dict[str, list[object]]:
    """Return all rows of a shelf."""
    keyed = "SELECT * FROM {0} WHERE scope_key = %(shelf)s"
    led = "SELECT b.* FROM {0} b JOIN memories m USING (row) WHERE m.scope_key = %(shelf)s"
    with store._database.read() as connection:
        return {
            name: connection.run(
                (keyed if "scope_key" in table.columns else led).format(name), {"shelf": shelf}
            ).fetchall()
            for name, table in shape.shaped("postgresql").tables.items()
            if "scope_key" in table.columns or name == "memory_bodies"
        }


@on_postgresql
def test_a_store_behind_its_wall_works_as_before(application) -> None:
    """With the rights that the documentation names, every verb finds what it found before."""
    with MemoryStore(application) as store:
        use_all_of_it(store)


def use_all_of_it(store) -> None:
    """Use a store behind its wall: every verb finds what it found before."""
    alice, bob = (store.principals.user(name) for name in ("alice", "bob"))
    lab = store.principals.group("lab", owner=alice, members=[bob])
    shelf = store.scope(acting_as=alice)
    team = store.scope(acting_as=bob, principal=lab)
    memory = shelf.save("m", "plan", "roses").memory
    shelf.move(memory.id, before=shelf.get("n", "plan").id)
    assert [head.name for head in shelf.list()] == ["m", "n"]
    assert [hit.memory.name for hit in shelf.search("roses")] == ["m"]
    shelf.transfer(memory.id, to=store.scope(acting_as=alice, principal=lab))
    assert team.get("m", "plan").content == "roses"
    team.delete("m", "plan")
    team.undo()
    assert team.get("m", "plan").id == memory.id
    assert store.verify() == []


@on_postgresql
@pytest.mark.parametrize("table", ["memories", "memory_bodies", "memory_revisions"])
def test_who_names_no_shelf_sees_nothing(application, table: str) -> None:
    """A statement that forgets the shelf finds no row, and changes none."""
    with by_hand(application) as connection:
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)  # noqa: S608
        assert connection.execute(f"DELETE FROM {table}").rowcount == 0  # noqa: S608


@on_postgresql
def test_who_names_a_shelf_sees_that_one(application, alice) -> None:
    """One's own rows are there, so what is refused below is refused for the wall's sake."""
    with by_hand(application, shelf=f"global:{alice.id}") as connection:
        assert connection.execute("SELECT DISTINCT scope_key FROM memories").fetchall() == [
            (f"global:{alice.id}",)
        ]
        assert connection.execute("SELECT content FROM memory_bodies").fetchall() == [("of alice",)]
        mine = "UPDATE memories SET pinned = pinned"
        assert connection.execute(mine).rowcount == 1


ATTACKS = (
    # Reading.
    "SELECT * FROM memories JOIN memory_bodies USING (row) WHERE scope_key = '{theirs}'",
    "SELECT before_content FROM memory_revisions WHERE scope_key = '{theirs}'",
    "SET LOCAL row_security = off; SELECT content FROM memory_bodies",
    "COPY (SELECT content FROM memory_bodies) TO STDOUT",
    "COPY memory_bodies TO STDOUT",
    "CREATE TEMP VIEW seen AS SELECT content FROM memory_bodies; SELECT * FROM seen",
    "CREATE TEMP TABLE mine AS SELECT * FROM memory_bodies; SELECT * FROM mine",
    "CREATE TEMP TABLE child () INHERITS (memory_bodies); SELECT * FROM memory_bodies",
    "SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE tablename = 'memory_bodies'",
    # A cheap function of one's own is not asked before the policy is.
    (
        "CREATE FUNCTION pg_temp.tell(text) RETURNS bool COST 0.0000001 LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$;"
        " SELECT count(*) FROM memory_bodies WHERE pg_temp.tell(content)"
    ),
    # The wall asks for the table that it was built for, whatever bears its name later.
    (
        "CREATE TEMP TABLE memories AS SELECT {row} AS row, '{mine}' AS scope_key;"
        " SELECT content FROM memory_bodies"
    ),
    # Writing.
    "UPDATE memories SET summary = 'x' WHERE scope_key = '{theirs}'",
    "UPDATE memory_bodies SET content = 'x' WHERE row = {row}",
    "DELETE FROM memories WHERE scope_key = '{theirs}'",
    "DELETE FROM memory_revisions WHERE scope_key = '{theirs}'",
    "UPDATE memories SET scope_key = '{theirs}'",
    "UPDATE memory_bodies SET row = {row}",
    "INSERT INTO shelves (scope_key, enabled) VALUES ('{theirs}', 0)",
    (
        "INSERT INTO memories SELECT {row}, id, scope_key, scope, principal_id, agent_id, type,"
        " 'other', summary, summary_derived, tags, pinned, position, version, size, expires_at,"
        " created_at, updated_at, untrusted FROM memories ON CONFLICT (row) DO UPDATE SET name = ''"
    ),
    (
        "MERGE INTO memory_bodies b USING (SELECT {row}::bigint AS row) s ON b.row = s.row"
        " WHEN MATCHED THEN UPDATE SET content = 'x'"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.row, 'x', '')"
    ),
    "COPY shelves (scope_key, enabled) FROM STDIN",
    "TRUNCATE memory_bodies",
    "SELECT setval('memories_row_seq', 1)",
    # Tearing down.
    "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
    "DROP POLICY memories_shelf ON memories",
    "CREATE POLICY mine ON memories USING (true)",
    "CREATE RULE none AS ON INSERT TO memories DO INSTEAD NOTHING",
    (
        "CREATE FUNCTION pg_temp.peep() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN NULL; END $$; CREATE TRIGGER peep BEFORE INSERT ON memory_bodies"
        " FOR EACH ROW EXECUTE FUNCTION pg_temp.peep()"
    ),
    "SET LOCAL ROLE memories; SELECT content FROM memory_bodies",
    "SET SESSION AUTHORIZATION memories; SELECT content FROM memory_bodies",
)


@on_postgresql
def test_no_statement_reaches_a_foreign_row(application, walled, alice, bob) -> None:
    """Views, copies, functions, names that were taken, rights of others: none gets round it."""
    theirs, mine = f"global:{bob.id}", f"global:{alice.id}"
    before = rows(walled, theirs)
    row = before["memories"][0][0]
    assert THEIRS in str(before["memory_bodies"])
    for attack in ATTACKS:
        statements = attack.format(theirs=theirs, mine=mine, row=row)
        assert THEIRS not in told(application, mine, statements, theirs), attack
        assert rows(walled, theirs) == before, attack


def told(url: str, shelf: str, statements: str, planted: str) -> str:
    """Run statements as the application, and return all that the server said."""
    import psycopg  # noqa: PLC0415 -- an extra

    said: list[object] = []
    try:
        with by_hand(url, shelf=shelf) as connection:
            connection.add_notice_handler(lambda notice: said.append(notice.message_primary))
            if statements.startswith("COPY"):
                with connection.cursor() as cursor, cursor.copy(statements) as copy:
                    if statements.endswith("STDIN"):
                        copy.write(f"{planted}\t0\n")
                    else:
                        said += [bytes(block).decode() for block in copy]
                return repr(said)
            answer = connection.execute(statements)
            while answer.nextset():
                pass
            if answer.description is not None:
                said += answer.fetchall()
    except psycopg.Error as error:
        said.append(error)
    return repr(said)


@on_postgresql
def test_the_setting_is_the_role_s_own(application, bob) -> None:
    """The wall is for SQL that forgets a shelf: who may name any shelf sees any, as is written."""
    with by_hand(application, shelf=f"global:{bob.id}") as connection:
        assert connection.execute("SELECT content FROM memory_bodies").fetchall() == [(THEIRS,)]


@pytest.mark.engines("sqlite-memory", "mariadb")
def test_only_postgresql_has_the_wall(store):
    """Elsewhere the call is refused, rather than believed."""
    with pytest.raises(InvalidInput, match="PostgreSQL"):
        store.enable_rls()
